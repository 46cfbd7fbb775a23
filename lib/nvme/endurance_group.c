/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Endurance Group Information, log page 09h. The log specific identifier names the group.
 *
 * All ones: no reading. All zero: no reading (a group without spare and without threshold tells
 * nothing).
 */
#include "lib/nvme/tables.h"

#define REF  "NVMe Base 2.0, Endurance Group Information log page (09h), "
#define GIGA 1000000000u

static const struct em_name warnings[] = {
	{ 0, "spare_below_threshold" },
	{ 2, "reliability_degraded" },
	{ 3, "media_read_only" },
	EM_NAMES_END,
};

#define COUNTED(name, at, title, what)                                                             \
	{                                                                                          \
		.key = name, .offset = (at), .len = 16, .type = EM_UINT, .label = title,           \
		.unit = "", .help = what, .ref = REF "bytes at " #at,                              \
	}
#define VOLUME(name, at, title, what)                                                              \
	{                                                                                          \
		.key = name, .offset = (at), .len = 16, .type = EM_UINT, .scale = GIGA,            \
		.label = title, .unit = "bytes", .help = what, .ref = REF "bytes at " #at,         \
	}
#define PERCENT(name, at, title, what)                                                             \
	{                                                                                          \
		.key = name, .offset = (at), .len = 1, .type = EM_UINT, .label = title,            \
		.unit = "percent", .help = what, .ref = REF "byte " #at,                           \
	}

static const struct em_field fields[] = {
	{
		.key = "critical_warning",
		.offset = 0,
		.len = 1,
		.type = EM_BITS,
		.names = warnings,
		.label = "Critical warning",
		.unit = "",
		.help = "Warnings of the endurance group.",
		.ref = REF "byte 0",
	},
	PERCENT("available_spare_percent", 3, "Available spare", "Spare that is left."),
	PERCENT("available_spare_threshold_percent", 4, "Spare threshold",
		"Below this the spare is a warning."),
	PERCENT("percentage_used", 5, "Endurance used",
		"Rated endurance that is consumed; above 100 it is exceeded."),
	VOLUME("endurance_estimate_bytes", 32, "Endurance",
	       "What can be written in all over the life of the group, as estimated."),
	VOLUME("data_read_bytes", 48, "Data read", "Bytes read by hosts."),
	VOLUME("data_written_bytes", 64, "Data written", "Bytes written by hosts."),
	VOLUME("media_written_bytes", 80, "Flash written",
	       "Bytes written to the flash, the drive's own work included."),
	COUNTED("host_reads", 96, "Read commands", "Read commands that are done."),
	COUNTED("host_writes", 112, "Write commands", "Write commands that are done."),
	COUNTED("media_errors", 128, "Media errors", "Unrecovered errors of data integrity."),
	COUNTED("num_err_log_entries", 144, "Error log entries",
		"Entries of the error log over the life of the group."),
};

const struct em_page em_page_endurance_group = {
	.key = "endurance_group",
	.title = "Endurance group",
	.code = 0x09,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = 512,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.ref = "NVMe Base 2.0, Endurance Group Information log page (09h)",
};
