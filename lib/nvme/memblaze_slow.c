/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of hosts that took longer than a threshold, log page D1h of Memblaze drives that were
 * told to keep them (feature D0h). Reading changes nothing.
 *
 * All ones: no reading. All zero: a valid "none". Of a form other than version 1 no entry is shown.
 *
 * Source: the vendor's part of nvme-cli (plugins/memblaze).
 */
#include <string.h>

#include "lib/base/le.h"
#include "lib/nvme/tables.h"

#define REF "Memblaze log page D1h, "

#define HEADER	     4u
#define ENTRY_SIZE   64u
#define ENTRIES_MAX  1024u
#define SIZE_MAX_LOG (HEADER + ENTRIES_MAX * ENTRY_SIZE)
/* What one command can return of a controller that knows no offset in a log page. */
#define ENTRIES_WITHOUT_OFFSET 63u
#define VERSION_KNOWN	       1u

static uint32_t size_of(const struct em_nvme_ctx *ctx)
{
	return ctx->log_offset ? SIZE_MAX_LOG : HEADER + ENTRIES_WITHOUT_OFFSET * ENTRY_SIZE;
}

/* An entry without a time ends the list: what stands behind it is of no reading. */
static bool get_entry(const uint8_t *page, size_t len, unsigned index, uint8_t *entry)
{
	size_t at = HEADER;

	if (len < HEADER || em_le32(page) != VERSION_KNOWN)
		return false;
	for (unsigned i = 0; i <= index; i++, at += ENTRY_SIZE)
		if (at + ENTRY_SIZE > len || em_le64(page + at) == 0)
			return false;
	memcpy(entry, page + at - ENTRY_SIZE, ENTRY_SIZE);
	return true;
}

static bool get_time(const uint8_t *entry, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	(void)len;
	return em_memblaze_time(em_le64(entry), text);
}

#define ENTRY(name, at, width, title, of, says)                                                    \
	{                                                                                          \
		.key = name, .offset = (at), .len = (width), .type = EM_UINT, .label = title,      \
		.unit = of, .help = says, .ref = REF "bytes at " #at " of an entry",               \
	}
#define PART(kind, name, at, low, count, title, says)                                              \
	{                                                                                          \
		.key = name, .offset = (at), .len = 4, .type = kind, .shift = (low),               \
		.bits = (count), .label = title, .unit = "", .help = says,                         \
		.ref = REF "bytes at " #at " of an entry, " #count " bits from " #low,             \
	}

static const struct em_field entry_fields[] = {
	ENTRY("timestamp_ms", 0, 8, "Drive's clock", "milliseconds",
	      "The drive's clock when it noted the command."),
	EM_MEMBLAZE_TIME_ROW(0, 8, get_time, REF "bytes at 0 of an entry"),
	ENTRY("latency_us", 8, 4, "Latency", "microseconds", "How long the command took."),
	ENTRY("queue", 12, 4, "Queue", "", "Submission queue of the command."),
	PART(EM_UINT, "opcode", 16, 0, 8, "Opcode", "Opcode of the command."),
	ENTRY("nsid", 20, 4, "Namespace", "", "Namespace that the command was for."),
	ENTRY("slba", 24, 8, "Block", "", "First logical block of the command."),
	{
		.key = "blocks",
		.offset = 32,
		.len = 4,
		.type = EM_UINT,
		.bits = 16,
		.flags = EM_RAISE_ONE,
		.label = "Blocks",
		.unit = "",
		.help = "How many logical blocks it was about; of a read or a write.",
		.ref = REF "bytes at 32 of an entry, 16 bits from 0",
	},
	PART(EM_UINT, "command_id", 16, 12, 16, "Command", "Identifier of the command."),
	PART(EM_BOOL, "fua", 32, 28, 1, "FUA", "Force Unit Access was asked for."),
	PART(EM_BOOL, "limited_retry", 32, 29, 1, "Limited retry", "Limited Retry was asked for."),
	PART(EM_UINT, "fuse", 16, 8, 2, "Fused", "Fused operation field of the command."),
	PART(EM_UINT, "psdt", 16, 10, 2, "PSDT", "PRP or SGL field of the command."),
	PART(EM_UINT, "directive_type", 32, 16, 8, "Directive", "Directive type of the command."),
	PART(EM_UINT, "protection", 32, 24, 4, "Protection",
	     "Protection information field of the command."),
};

static const struct em_field fields[] = {
	{
		.key = "version",
		.offset = 0,
		.len = 4,
		.type = EM_UINT,
		.label = "Version",
		.unit = "",
		.help = "Version of the page's form; of another one than 1 no entry is shown.",
		.ref = REF "bytes at 0",
	},
};

static const struct em_group groups[] = {
	{
		.key = "commands",
		.index_key = "entry",
		.stride = ENTRY_SIZE,
		.count = ENTRIES_MAX,
		.entry = get_entry,
		.fields = entry_fields,
		.field_count = EM_COUNT(entry_fields),
	},
};

const struct em_page em_page_memblaze_slow = {
	.key = "memblaze_slow_commands",
	.title = "Memblaze, slow commands",
	.code = 0xd1,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = HEADER + ENTRY_SIZE,
	.max_size = SIZE_MAX_LOG,
	.size_of = size_of,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "Memblaze log page D1h",
};
