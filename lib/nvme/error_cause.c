/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nvme/error_cause.h"

#include "lib/base/cleanup.h"
#include "lib/nvme/status.h"

#define TYPE(code) ((code) >> 8)

/* What its type does not say. */
static const struct {
	uint16_t code;
	enum em_error_cause cause;
} exceptions[] = {
	{ 0x004, EM_CAUSE_UNCLEAR }, /* data transfer: memory, bus or drive */
	{ 0x006, EM_CAUSE_DEVICE },  /* internal error */
	{ 0x01c, EM_CAUSE_DEVICE },  /* sanitize failed */
	{ 0x022, EM_CAUSE_UNCLEAR }, /* transport */
	{ 0x285, EM_CAUSE_HOST },    /* a compare that found other data was made to find out */
	{ 0x286, EM_CAUSE_LOCKED },  { 0x287, EM_CAUSE_HOST }, /* a block that nobody wrote */
	{ 0x300, EM_CAUSE_DEVICE },			       /* the path inside the subsystem */
	{ 0x360, EM_CAUSE_UNCLEAR }, /* the controller met an error of the path */
};

/* Generic and command specific: a code of the table that is no exception is about the question. */
static enum em_error_cause judge_type(uint16_t code)
{
	bool known = em_status_find(code)->code == code && code != 0x000;

	switch (TYPE(code)) {
	case 0:
	case 1:
		return known ? EM_CAUSE_HOST : EM_CAUSE_UNCLEAR;
	case 2:
		return EM_CAUSE_DEVICE;
	case 3:
		return known ? EM_CAUSE_HOST : EM_CAUSE_UNCLEAR;
	default:
		return EM_CAUSE_UNCLEAR;
	}
}

enum em_error_cause em_error_judge(uint16_t word)
{
	uint16_t code = EM_STATUS_CODE(word);

	for (size_t i = 0; i < EM_COUNT(exceptions); i++)
		if (exceptions[i].code == code)
			return exceptions[i].cause;
	return judge_type(code);
}

const char *em_error_cause_name(enum em_error_cause cause)
{
	static const char *const names[EM_CAUSE_COUNT] = {
		[EM_CAUSE_UNCLEAR] = "unclear",
		[EM_CAUSE_HOST] = "host",
		[EM_CAUSE_DEVICE] = "device",
		[EM_CAUSE_LOCKED] = "locked",
	};

	return names[cause];
}
