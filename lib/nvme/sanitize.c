/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sanitize Status, log page 81h.
 *
 * All ones: no reading. All zero: a valid "never sanitized".
 */
#include "lib/base/le.h"
#include "lib/nvme/tables.h"

#define REF "NVMe Base 2.0, Sanitize Status log page (81h), "

#define PROGRESS_WHOLE 65536u
#define STATE_OFFSET   2
#define STATE_MASK     0x07
#define IN_PROGRESS    2

static const struct em_name states[] = {
	{ 0, "never" },
	{ 1, "completed" },
	{ IN_PROGRESS, "in_progress" },
	{ 3, "failed" },
	{ 4, "completed_no_deallocate" },
	EM_NAMES_END,
};

static const struct em_name actions[] = {
	{ 1, "exit_failure" }, { 2, "block_erase" }, { 3, "overwrite" },
	{ 4, "crypto_erase" }, EM_NAMES_END,
};

static uint32_t parts_done(const uint8_t *page, uint32_t of)
{
	return (em_le16(page) * of + PROGRESS_WHOLE / 2) / PROGRESS_WHOLE;
}

static bool percent(const uint8_t *page, size_t len, em_u128 *ret)
{
	(void)len;
	*ret = parts_done(page, 100);
	return true;
}

static bool permille(const uint8_t *page, size_t len, em_u128 *ret)
{
	(void)len;
	*ret = parts_done(page, 1000);
	return true;
}

#define ESTIMATE(name, at, title, what)                                                            \
	{                                                                                          \
		.key = name, .offset = (at), .len = 4, .type = EM_UINT,                            \
		.flags = EM_ONES_ABSENT | EM_NO_HISTORY, .label = title, .unit = "seconds",        \
		.help = what " is estimated to take; absent when the drive has no estimate.",      \
		.ref = REF "bytes at " #at,                                                        \
	}
#define ESTIMATE_SINCE_1_4(name, at, title, what)                                                  \
	{                                                                                          \
		.key = name, .offset = (at), .len = 4, .type = EM_UINT,                            \
		.flags = EM_ONES_ABSENT | EM_NO_HISTORY, .since = EM_VER(1, 4), .label = title,    \
		.unit = "seconds",                                                                 \
		.help = what " without deallocating afterwards is estimated to take; absent when " \
			     "the drive has no estimate.",                                         \
		.ref = REF "bytes at " #at,                                                        \
	}

static const struct em_field fields[] = {
	{
		.key = "state",
		.offset = STATE_OFFSET,
		.len = 2,
		.type = EM_ENUM,
		.bits = 3,
		.names = states,
		.label = "State",
		.unit = "",
		.help = "How the most recent sanitize operation stands.",
		.ref = REF "bytes 3:2 bits 2:0",
	},
	{
		.key = "percent",
		.offset = 0,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = percent,
		.gate_offset = STATE_OFFSET,
		.gate_mask = STATE_MASK,
		.gate_value = IN_PROGRESS,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_sanitize_percent",
		.label = "Done",
		.unit = "percent",
		.help = "How much of the running sanitize operation is done; absent when none is "
			"running.",
		.ref = REF "bytes 1:0",
	},
	{
		.key = "progress_permille",
		.offset = 0,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_DERIVED | EM_NO_HISTORY,
		.derive = permille,
		.gate_offset = STATE_OFFSET,
		.gate_mask = STATE_MASK,
		.gate_value = IN_PROGRESS,
		.label = "Done, finer",
		.unit = "permille",
		.help = "The same in thousandths: one percent may take hours.",
		.ref = REF "bytes 1:0",
	},
	{
		.key = "action",
		.offset = 4,
		.len = 4,
		.type = EM_ENUM,
		.bits = 3,
		.flags = EM_ZERO_ABSENT | EM_NO_HISTORY,
		.names = actions,
		.label = "Action",
		.unit = "",
		.help = "What the most recent sanitize command asked for; absent when there was "
			"none.",
		.ref = REF "bytes 7:4 bits 2:0",
	},
	{
		.key = "global_data_erased",
		.offset = STATE_OFFSET,
		.len = 2,
		.type = EM_BOOL,
		.shift = 8,
		.bits = 1,
		.flags = EM_NO_HISTORY,
		.label = "All erased",
		.unit = "",
		.help = "No user data was written since the drive was made or last sanitized.",
		.ref = REF "bytes 3:2 bit 8",
	},
	{
		.key = "overwrite_passes_completed",
		.offset = STATE_OFFSET,
		.len = 2,
		.type = EM_UINT,
		.shift = 3,
		.bits = 5,
		.flags = EM_NO_HISTORY,
		.label = "Passes done",
		.unit = "",
		.help = "Passes of an overwrite that are complete.",
		.ref = REF "bytes 3:2 bits 7:3",
	},
	{
		.key = "command_dword_10",
		.offset = 4,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_DERIVED | EM_NO_HISTORY,
		.label = "Command dword 10",
		.unit = "",
		.help = "Dword 10 of the most recent sanitize command, as a number.",
		.ref = REF "bytes 7:4",
	},
	ESTIMATE("overwrite_estimate_seconds", 8, "Overwrite takes", "Time that an overwrite"),
	ESTIMATE("block_erase_estimate_seconds", 12, "Block erase takes",
		 "Time that a block erase"),
	ESTIMATE("crypto_erase_estimate_seconds", 16, "Crypto erase takes",
		 "Time that a crypto erase"),
	ESTIMATE_SINCE_1_4("overwrite_no_deallocate_estimate_seconds", 20,
			   "Overwrite, kept allocated, takes", "Time that an overwrite"),
	ESTIMATE_SINCE_1_4("block_erase_no_deallocate_estimate_seconds", 24,
			   "Block erase, kept allocated, takes", "Time that a block erase"),
	ESTIMATE_SINCE_1_4("crypto_erase_no_deallocate_estimate_seconds", 28,
			   "Crypto erase, kept allocated, takes", "Time that a crypto erase"),
};

const struct em_page em_page_sanitize = {
	.key = "sanitize",
	.title = "Sanitize",
	.table = "sanitize",
	.code = 0x81,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = 512,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.ref = "NVMe Base 2.0, Sanitize Status log page (81h)",
};
