/* SPDX-License-Identifier: Apache-2.0 */
/* One page of a drive, read now for whoever asks, whatever the plan says. */
#include <errno.h>
#include <string.h>
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"
#include "lib/base/clock.h"
#include "lib/base/le.h"

/* Identify Controller and most log pages fit. */
#define LOG_LENGTH	512u
#define IDENTIFY_LENGTH 4096u
#define NSID_ALL	0xffffffffu

static const struct em_page *table_of(const struct em_command *command)
{
	static const enum em_page_how how[EM_COMMAND_COUNT] = {
		[EM_COMMAND_IDENTIFY] = EM_BY_IDENTIFY,
		[EM_COMMAND_LOG] = EM_BY_LOG,
		[EM_COMMAND_FEATURE] = EM_BY_FEATURE,
	};
	/* The current, the default and the saved value of a feature have one form. */
	uint8_t specific_max = command->kind == EM_COMMAND_FEATURE ? 2 : 0;

	if (command->offset || command->specific > specific_max)
		return NULL;
	return em_page_find_code(how[command->kind], command->page);
}

static uint32_t usual_length(const struct em_command *command, const struct em_drive_snap *drive)
{
	const struct em_page *page = table_of(command);

	if (command->kind == EM_COMMAND_FEATURE)
		return page ? page->beside : 0;
	if (command->kind == EM_COMMAND_IDENTIFY)
		return IDENTIFY_LENGTH;
	return page ? em_page_size(page, &drive->ctx) : LOG_LENGTH;
}

static void read_command(const struct em_call *call, const struct em_drive_snap *drive,
			 struct em_command *ret)
{
	const struct em_arg *args = call->args;

	ret->kind = (enum em_command_kind)args[EM_COMMAND_ARG_KIND].number;
	ret->page = (uint8_t)args[EM_COMMAND_ARG_PAGE].number;
	ret->specific = (uint8_t)args[EM_COMMAND_ARG_LSP].number;
	ret->id = (uint16_t)args[EM_COMMAND_ARG_LSI].number;
	ret->offset = args[EM_COMMAND_ARG_OFFSET].number;
	ret->consume = args[EM_COMMAND_ARG_CONSUME].number;
	ret->nsid = args[EM_COMMAND_ARG_NSID].given ? (uint32_t)args[EM_COMMAND_ARG_NSID].number
		    : ret->kind == EM_COMMAND_LOG   ? NSID_ALL
						    : 0;
	ret->len = args[EM_COMMAND_ARG_LENGTH].given ? (uint32_t)args[EM_COMMAND_ARG_LENGTH].number
						     : usual_length(ret, drive);
}

static json_t *hex_json(const struct em_blob *data)
{
	static const char digits[] = "0123456789abcdef";
	json_t *text;
	char *hex;

	if (!data)
		return json_null();
	hex = malloc((size_t)data->len * 2 + 1);
	if (!hex)
		return NULL;
	for (uint32_t i = 0; i < data->len; i++) {
		hex[2 * i] = digits[data->data[i] >> 4];
		hex[2 * i + 1] = digits[data->data[i] & 15];
	}
	text = json_stringn(hex, (size_t)data->len * 2);
	free(hex);
	return text;
}

/* A vendor's page means something on that vendor's drives only. */
static bool is_known_of(const struct em_drive_snap *drive, const struct em_page *page)
{
	enum { FIRST_OF_VENDORS = 0xc0 };

	return (page->how != EM_BY_LOG && page->how != EM_BY_FEATURE) ||
	       page->code < FIRST_OF_VENDORS ||
	       drive->pages[EM_PAGE_MEMBLAZE].status != EM_READ_UNSUPPORTED;
}

static json_t *page_json(const struct em_drive_snap *drive, const struct em_page *page,
			 const struct em_blob *data)
{
	if (!data || em_page_check(page, data->data, data->len) != EM_PAGE_VALID)
		return json_null();
	return em_json_values(page, data, &drive->ctx);
}

static json_t *values_json(const struct em_drive_snap *drive, const struct em_command *command,
			   const struct em_command_answer *answer)
{
	const struct em_page *page = answer->read.data ? table_of(command) : NULL;
	struct em_blob *dword;
	uint8_t bytes[4];
	json_t *values;

	if (!page || !is_known_of(drive, page))
		return json_null();
	if (page->how != EM_BY_FEATURE)
		return page_json(drive, page, answer->read.data);
	em_put_le32(bytes, answer->result);
	dword = em_blob_new(bytes, sizeof(bytes));
	values = page_json(drive, page, dword);
	em_blob_unref(dword);
	return values;
}

static json_t *answer_json(const struct em_drive_snap *drive, const struct em_order *order)
{
	const struct em_command *command = &order->command;
	const struct em_command_answer *answer = &order->answer;
	const struct em_blob *data = answer->read.data;

	/* clang-format off */
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:s, s:o, s:i, s:o, s:I, s:o, s:i, s:o, s:o}",
			 "drive", drive->id, "device", drive->device, "serial", drive->serial,
			 "state", em_drive_state_name(drive->state),
			 "kind", em_command_name(command->kind),
			 "page", (int)command->page, "nsid", (json_int_t)command->nsid,
			 "status", em_read_status_name(answer->read.status),
			 "status_detail", em_json_status_detail(&answer->read),
			 "nvme_status", (int)answer->read.nvme_status,
			 "read_at", em_json_time(answer->read.read_us),
			 "duration_us", (json_int_t)answer->duration_us,
			 "result", answer->read.status == EM_READ_OK
				? json_integer(answer->result) : json_null(),
			 "length", data ? (int)data->len : 0, "data", hex_json(data),
			 "values", values_json(drive, command, answer));
	/* clang-format on */
}

void em_handle_command(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	struct em_order order = { .kind = EM_ORDER_COMMAND };

	if (!drive)
		return;
	read_command(call, drive, &order.command);
	if (!em_call_give(call, &order, drive, EM_DRIVE_WAIT_US, reply))
		return;
	if (order.answer.not_allowed)
		em_reply_problem(reply, call, 400, "%s",
				 order.command.consume
					 ? "ember-broker does not let such a command pass."
					 : "ember-broker reads only pages that reading leaves as "
					   "they are, with the numbers that fit them. consume=true "
					   "(emberctl: --consume) reads any page.");
	else
		em_reply_json(reply, answer_json(drive, &order));
	em_blob_unref(order.answer.read.data);
}
