/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error Information, log page 01h.
 *
 * As long as Identify says; newest entry first. All ones: no reading. All zero: a valid "none".
 */
#include <stdio.h>

#include "lib/base/le.h"
#include "lib/nvme/error_cause.h"
#include "lib/nvme/status.h"
#include "lib/nvme/tables.h"

#define REF "NVMe Base 2.0, Error Information log page (01h), "

#define ENTRY_SIZE  64u
#define ENTRIES_MAX 256u
/* What one command can return of a controller that knows no offset in a log page. */
#define ENTRIES_WITHOUT_OFFSET 64u

#define COMMAND_ID 10 /* offsets that more than one row reads */
#define STATUS	   12
#define PARAMETER  14

static unsigned entries_present(const struct em_nvme_ctx *ctx)
{
	unsigned entries = ctx->known && ctx->error_entries ? ctx->error_entries : ENTRIES_MAX;

	return ctx->log_offset || entries < ENTRIES_WITHOUT_OFFSET ? entries
								   : ENTRIES_WITHOUT_OFFSET;
}

static uint32_t size_of(const struct em_nvme_ctx *ctx)
{
	return entries_present(ctx) * ENTRY_SIZE;
}

static bool is_unused(const uint8_t *entry)
{
	return em_le64(entry) == 0;
}

static bool command_id(const uint8_t *entry, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	uint16_t id = em_le16(entry + COMMAND_ID);

	(void)len;
	if (id == UINT16_MAX)
		return false;
	snprintf(text, EM_VALUE_TEXT_SIZE, "0x%04x", id);
	return true;
}

/* The phase tag stands where a status word of Linux begins. */
static const struct em_status *status_of(const uint8_t *entry)
{
	return em_status_find(em_le16(entry + STATUS) >> 1);
}

static bool status_name(const uint8_t *entry, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	(void)len;
	snprintf(text, EM_VALUE_TEXT_SIZE, "%s", status_of(entry)->name);
	return true;
}

static bool status_text(const uint8_t *entry, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	(void)len;
	snprintf(text, EM_VALUE_TEXT_SIZE, "%s", status_of(entry)->text);
	return true;
}

static bool cause(const uint8_t *entry, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	(void)len;
	snprintf(text, EM_VALUE_TEXT_SIZE, "%s",
		 em_error_cause_name(em_error_judge(em_le16(entry + STATUS) >> 1)));
	return true;
}

static bool parameter_byte(const uint8_t *entry, size_t len, em_u128 *ret)
{
	(void)len;
	if (em_le16(entry + PARAMETER) == UINT16_MAX)
		return false;
	*ret = entry[PARAMETER];
	return true;
}

static bool parameter_bit(const uint8_t *entry, size_t len, em_u128 *ret)
{
	(void)len;
	if (em_le16(entry + PARAMETER) == UINT16_MAX)
		return false;
	*ret = entry[PARAMETER + 1] & 7;
	return true;
}

static const struct em_name transports[] = {
	{ 1, "rdma" }, { 2, "fc" }, { 3, "tcp" }, { 254, "intra_host" }, EM_NAMES_END,
};

static const struct em_field entry_fields[] = {
	{
		.key = "error_count",
		.offset = 0,
		.len = 8,
		.type = EM_UINT,
		.label = "Error",
		.unit = "",
		.help = "Number of the error over the life of the controller, from 1.",
		.ref = REF "bytes 7:0",
	},
	{
		.key = "status",
		.offset = STATUS,
		.len = 2,
		.type = EM_TEXT,
		.flags = EM_DERIVED,
		.derive_text = status_name,
		.label = "Status",
		.unit = "",
		.help = "Name of the status that the command ended with.",
		.ref = REF "bytes 13:12",
	},
	{
		.key = "cause",
		.offset = STATUS,
		.len = 2,
		.type = EM_TEXT,
		.flags = EM_DERIVED,
		.derive_text = cause,
		.label = "Cause",
		.unit = "",
		.help = "Who is to blame: device (media, data or the drive itself), host (a wrong "
			"question, a stopped command, a state that a host made), locked (a range "
			"that a key locks: no media error), unclear (of the vendor, reserved, or "
			"of the path between them).",
		.ref = REF "bytes 13:12",
	},
	{
		.key = "sqid",
		.offset = 8,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ONES_ABSENT,
		.label = "Queue",
		.unit = "",
		.help = "Submission queue of the command, 0 for admin commands; absent when no "
			"command is to blame.",
		.ref = REF "bytes 9:8",
	},
	{
		.key = "cmdid",
		.offset = COMMAND_ID,
		.len = 2,
		.type = EM_TEXT,
		.derive_text = command_id,
		.label = "Command",
		.unit = "",
		.help = "Identifier of the command, in hexadecimal; absent when no command is to "
			"blame.",
		.ref = REF "bytes 11:10",
	},
	{
		.key = "nsid",
		.offset = 24,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Namespace",
		.unit = "",
		.help = "Namespace that the command was for, 4294967295 for all; absent when for "
			"none.",
		.ref = REF "bytes 27:24",
	},
	{
		.key = "lba",
		.offset = 16,
		.len = 8,
		.type = EM_UINT,
		.flags = EM_ONES_ABSENT,
		.label = "Block",
		.unit = "",
		.help = "First logical block with the error, where the status is about one.",
		.ref = REF "bytes 23:16",
	},
	{
		.key = "sct",
		.offset = STATUS,
		.len = 2,
		.type = EM_UINT,
		.shift = 9,
		.bits = 3,
		.label = "Status type",
		.unit = "",
		.help = "Status code type.",
		.ref = REF "bytes 13:12 bits 11:9",
	},
	{
		.key = "sc",
		.offset = STATUS,
		.len = 2,
		.type = EM_UINT,
		.shift = 1,
		.bits = 8,
		.label = "Status code",
		.unit = "",
		.help = "Status code.",
		.ref = REF "bytes 13:12 bits 8:1",
	},
	{
		.key = "dnr",
		.offset = STATUS,
		.len = 2,
		.type = EM_BOOL,
		.shift = 15,
		.bits = 1,
		.label = "Final",
		.unit = "",
		.help = "Do Not Retry: the same command will fail again.",
		.ref = REF "bytes 13:12 bit 15",
	},
	{
		.key = "more",
		.offset = STATUS,
		.len = 2,
		.type = EM_BOOL,
		.shift = 14,
		.bits = 1,
		.label = "More",
		.unit = "",
		.help = "The status said that this log has more about it.",
		.ref = REF "bytes 13:12 bit 14",
	},
	{
		.key = "retry_delay",
		.offset = STATUS,
		.len = 2,
		.type = EM_UINT,
		.shift = 12,
		.bits = 2,
		.flags = EM_ZERO_ABSENT,
		.label = "Retry delay",
		.unit = "",
		.help = "Which of Identify's command retry delays to wait before a new try; absent "
			"when none.",
		.ref = REF "bytes 13:12 bits 13:12",
	},
	{
		.key = "status_text",
		.offset = STATUS,
		.len = 2,
		.type = EM_TEXT,
		.flags = EM_DERIVED,
		.derive_text = status_text,
		.label = "Meaning",
		.unit = "",
		.help = "The status as a sentence.",
		.ref = REF "bytes 13:12",
	},
	{
		.key = "phase_tag",
		.offset = STATUS,
		.len = 2,
		.type = EM_UINT,
		.bits = 1,
		.label = "Phase",
		.unit = "",
		.help = "Phase tag that the completion was posted with.",
		.ref = REF "bytes 13:12 bit 0",
	},
	{
		.key = "parameter_error_location",
		.offset = PARAMETER,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ONES_ABSENT,
		.label = "Parameter",
		.unit = "",
		.help = "Byte (bits 7:0) and bit (bits 10:8) of the command that the error is "
			"about; absent when about none.",
		.ref = REF "bytes 15:14",
	},
	{
		.key = "parameter_error_byte",
		.offset = PARAMETER,
		.len = 2,
		.type = EM_UINT,
		.bits = 8,
		.flags = EM_DERIVED,
		.derive = parameter_byte,
		.label = "Byte",
		.unit = "",
		.help = "Byte of the command that the error is about; absent when about none.",
		.ref = REF "bytes 15:14 bits 7:0",
	},
	{
		.key = "parameter_error_bit",
		.offset = PARAMETER,
		.len = 2,
		.type = EM_UINT,
		.shift = 8,
		.bits = 3,
		.flags = EM_DERIVED,
		.derive = parameter_bit,
		.label = "Bit",
		.unit = "",
		.help = "Bit of that byte; absent when the error is about none.",
		.ref = REF "bytes 15:14 bits 10:8",
	},
	{
		.key = "command_specific",
		.offset = 32,
		.len = 8,
		.type = EM_UINT,
		.label = "Command specific",
		.unit = "",
		.help = "More about the error, by the command's own rules.",
		.ref = REF "bytes 39:32",
	},
	{
		.key = "vendor_log_page",
		.offset = 28,
		.len = 1,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Vendor log",
		.unit = "",
		.help = "Log page of the vendor with more about the error; absent when none.",
		.ref = REF "byte 28",
	},
	{
		.key = "transport",
		.offset = 29,
		.len = 1,
		.type = EM_ENUM,
		.flags = EM_ZERO_ABSENT,
		.names = transports,
		.label = "Transport",
		.unit = "",
		.help = "Transport of an error that is about one; absent when it is not, and on "
			"PCIe.",
		.ref = REF "byte 29",
	},
	{
		.key = "transport_specific",
		.offset = 40,
		.len = 2,
		.type = EM_UINT,
		.gate_offset = 29,
		.gate_mask = 0xff,
		.label = "Transport specific",
		.unit = "",
		.help = "More about the error, by the transport's own rules.",
		.ref = REF "bytes 41:40",
	},
};

static const struct em_group groups[] = {
	{
		.key = "entries",
		.index_key = "entry",
		.offset = 0,
		.stride = ENTRY_SIZE,
		.count = ENTRIES_MAX,
		.present = entries_present,
		.unused = is_unused,
		.unused_key = "unused_entries",
		.fields = entry_fields,
		.field_count = EM_COUNT(entry_fields),
	},
};

const struct em_page em_page_errors = {
	.key = "errors",
	.title = "Error log",
	.code = 0x01,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = ENTRY_SIZE,
	.max_size = ENTRY_SIZE * ENTRIES_MAX,
	.size_of = size_of,
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "NVMe Base 2.0, Error Information log page (01h)",
};
