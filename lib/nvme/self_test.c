/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device Self-test, log page 06h.
 *
 * All ones: no reading. All zero: a valid "none": no test runs, and no entry names a test.
 */
#include "lib/nvme/tables.h"

#define REF "NVMe Base 2.0, Device Self-test log page (06h), "

#define RESULT(status) ((status)&0x0f)
#define RESULT_PASSED  0
#define RESULT_FATAL   5 /* an error of the drive kept the test from its end */
#define RESULT_FAILED  6
#define RESULT_SEGMENT 7 /* failed, and the segment is known */
#define RESULT_UNUSED  0x0f
#define RESULTS_OFFSET 4
#define RESULT_SIZE    28
#define RESULT_COUNT   20
#define VALID_NSID     0x01 /* Valid Diagnostic Information */
#define VALID_LBA      0x02
#define VALID_SCT      0x04
#define VALID_SC       0x08

static const struct em_name tests[] = {
	{ 1, "short" },
	{ 2, "extended" },
	{ 14, "vendor" },
	EM_NAMES_END,
};

static const struct em_name results[] = {
	{ 0, "passed" },
	{ 1, "aborted_by_command" },
	{ 2, "aborted_by_reset" },
	{ 3, "aborted_by_namespace_removal" },
	{ 4, "aborted_by_format" },
	{ 5, "fatal_error" },
	{ 6, "failed_unknown_segment" },
	{ 7, "failed_segment" },
	{ 8, "aborted_unknown" },
	{ 9, "aborted_by_sanitize" },
	EM_NAMES_END,
};

/*
 * The specification's mark is result Fh. Drives that never ran a test also leave zeros: result 0 of
 * test 0, and there is no test 0. Test 0 with a failure stays visible, as "reserved_0".
 */
static bool is_unused(const uint8_t *entry)
{
	return RESULT(entry[0]) == RESULT_UNUSED || entry[0] == 0;
}

/* The newest test that came to its end: one that somebody or something aborted says nothing. */
static bool last_passed(const uint8_t *page, size_t len, em_u128 *ret)
{
	for (size_t i = 0; i < RESULT_COUNT; i++) {
		size_t at = RESULTS_OFFSET + i * RESULT_SIZE;

		if (at + RESULT_SIZE > len)
			return false;
		if (is_unused(page + at))
			continue;
		switch (RESULT(page[at])) {
		case RESULT_PASSED:
			*ret = 1;
			return true;
		case RESULT_FATAL:
		case RESULT_FAILED:
		case RESULT_SEGMENT:
			*ret = 0;
			return true;
		}
	}
	return false;
}

static const struct em_field entry_fields[] = {
	{
		.key = "test",
		.offset = 0,
		.len = 1,
		.type = EM_ENUM,
		.shift = 4,
		.bits = 4,
		.names = tests,
		.label = "Test",
		.unit = "",
		.help = "Kind of self-test.",
		.ref = REF "result entry byte 0 bits 7:4",
	},
	{
		.key = "result_code",
		.offset = 0,
		.len = 1,
		.type = EM_UINT,
		.bits = 4,
		.label = "Code",
		.unit = "",
		.help = "How the test ended, as the drive's number; 0 is success.",
		.ref = REF "result entry byte 0 bits 3:0",
	},
	{
		.key = "result",
		.offset = 0,
		.len = 1,
		.type = EM_ENUM,
		.bits = 4,
		.flags = EM_DERIVED,
		.names = results,
		.label = "Result",
		.unit = "",
		.help = "How the test ended.",
		.ref = REF "result entry byte 0 bits 3:0",
	},
	{
		.key = "segment",
		.offset = 1,
		.len = 1,
		.type = EM_UINT,
		.gate_offset = 0,
		.gate_mask = 0x0f,
		.gate_value = RESULT_SEGMENT,
		.label = "Segment",
		.unit = "",
		.help = "First segment that failed; only for a test that knows it.",
		.ref = REF "result entry byte 1",
	},
	{
		.key = "power_on_hours",
		.offset = 4,
		.len = 8,
		.type = EM_UINT,
		.label = "At",
		.unit = "hours",
		.help = "Power-on hours of the drive when the test ended.",
		.ref = REF "result entry bytes 11:4",
	},
	{
		.key = "nsid",
		.offset = 12,
		.len = 4,
		.type = EM_UINT,
		.gate_offset = 2,
		.gate_mask = VALID_NSID,
		.label = "Namespace",
		.unit = "",
		.help = "Namespace that the failing block is in.",
		.ref = REF "result entry bytes 15:12",
	},
	{
		.key = "failing_lba",
		.offset = 16,
		.len = 8,
		.type = EM_UINT,
		.gate_offset = 2,
		.gate_mask = VALID_LBA,
		.label = "Failing block",
		.unit = "",
		.help = "A logical block that made the test fail.",
		.ref = REF "result entry bytes 23:16",
	},
	{
		.key = "sct",
		.offset = 24,
		.len = 1,
		.type = EM_UINT,
		.bits = 3,
		.gate_offset = 2,
		.gate_mask = VALID_SCT,
		.label = "Status type",
		.unit = "",
		.help = "Status code type of the error or condition.",
		.ref = REF "result entry byte 24",
	},
	{
		.key = "sc",
		.offset = 25,
		.len = 1,
		.type = EM_UINT,
		.gate_offset = 2,
		.gate_mask = VALID_SC,
		.label = "Status code",
		.unit = "",
		.help = "Status code of the error or condition.",
		.ref = REF "result entry byte 25",
	},
};

static const struct em_group groups[] = {
	{
		.key = "results",
		.offset = RESULTS_OFFSET,
		.stride = RESULT_SIZE,
		.count = RESULT_COUNT,
		.unused = is_unused,
		.unused_key = "unused_entries",
		.fields = entry_fields,
		.field_count = EM_COUNT(entry_fields),
	},
};

static const struct em_field fields[] = {
	{
		.key = "in_progress",
		.offset = 0,
		.len = 1,
		.type = EM_BOOL,
		.bits = 4,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_selftest_in_progress",
		.label = "Running",
		.unit = "",
		.help = "A device self-test is running.",
		.ref = REF "byte 0 bits 3:0",
	},
	{
		.key = "running_test",
		.offset = 0,
		.len = 1,
		.type = EM_ENUM,
		.bits = 4,
		.flags = EM_ZERO_ABSENT | EM_DERIVED,
		.names = tests,
		.label = "Running test",
		.unit = "",
		.help = "Kind of the self-test that is running; absent when none is.",
		.ref = REF "byte 0 bits 3:0",
	},
	{
		.key = "percent",
		.offset = 1,
		.len = 1,
		.type = EM_UINT,
		.bits = 7,
		.gate_offset = 0,
		.gate_mask = 0x0f,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_selftest_percent",
		.label = "Done",
		.unit = "percent",
		.help = "How much of the running self-test is done; absent when none is running.",
		.ref = REF "byte 1 bits 6:0",
	},
	{
		.key = "last_passed",
		.offset = RESULTS_OFFSET,
		.len = 1,
		.type = EM_BOOL,
		.flags = EM_DERIVED,
		.derive = last_passed,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_selftest_last_passed",
		.label = "Last passed",
		.unit = "",
		.help = "The newest self-test that came to its end passed; absent when none did "
			"come there.",
		.ref = REF "result entry byte 0 bits 3:0",
	},
};

const struct em_page em_page_selftest = {
	.key = "selftest",
	.title = "Device self-test",
	.code = 0x06,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = 564,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "NVMe Base 2.0, Device Self-test log page (06h)",
};
