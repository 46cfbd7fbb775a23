/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of what a controller captures for its vendor and for support: telemetry (log pages
 * 07h and 08h) and the persistent event log (0Dh).
 *
 * All ones: no reading. All zero: no reading, but for the persistent event log, which may be empty.
 */
#include "lib/nvme/tables.h"

#define REF_TELEMETRY "NVMe Base 2.0, Telemetry log pages (07h, 08h), "
#define REF_EVENTS    "NVMe Base 2.0, Persistent Event log page (0Dh), "

#define HEADER_SIZE 512u
#define BLOCK	    512u

#define AREA(number, at, width)                                                                    \
	{                                                                                          \
		.key = "data_area_" #number "_bytes", .offset = (at), .len = (width),              \
		.type = EM_UINT, .scale = BLOCK, .label = "Data area " #number, .unit = "bytes",   \
		.help = "Bytes behind the header up to the end of data area " #number ".",         \
		.ref = REF_TELEMETRY "bytes at " #at,                                              \
	}

static const struct em_field telemetry_fields[] = {
	{
		.key = "ieee_oui",
		.offset = 5,
		.len = 3,
		.type = EM_HEX,
		.flags = EM_LITTLE_ENDIAN,
		.label = "Vendor",
		.unit = "",
		.help = "IEEE identifier of whose format the data have.",
		.ref = REF_TELEMETRY "bytes 7:5",
	},
	AREA(1, 8, 2),
	AREA(2, 10, 2),
	AREA(3, 12, 2),
	{
		.key = "host_generation",
		.offset = 381,
		.len = 1,
		.type = EM_UINT,
		.label = "Captured for hosts",
		.unit = "",
		.help = "Counts captures that hosts had made, modulo 256.",
		.ref = REF_TELEMETRY "byte 381",
	},
	{
		.key = "controller_data_available",
		.offset = 382,
		.len = 1,
		.type = EM_BOOL,
		.label = "Captured by itself",
		.unit = "",
		.help = "The controller has captured data by itself.",
		.ref = REF_TELEMETRY "byte 382",
	},
	{
		.key = "controller_generation",
		.offset = 383,
		.len = 1,
		.type = EM_UINT,
		.label = "Captures by itself",
		.unit = "",
		.help = "Counts captures that the controller made by itself, modulo 256.",
		.ref = REF_TELEMETRY "byte 383",
	},
	{
		.key = "reason",
		.offset = 384,
		.len = 128,
		.type = EM_HEX,
		.label = "Reason",
		.unit = "",
		.help = "Why it was captured, in the vendor's own form; absent when not told.",
		.ref = REF_TELEMETRY "bytes 511:384",
	},
};

#define EVENT(kind, name, at, width, title, of, says)                                              \
	{                                                                                          \
		.key = name, .offset = (at), .len = (width), .type = kind, .label = title,         \
		.unit = of, .help = says, .ref = REF_EVENTS "bytes at " #at,                       \
	}

static const struct em_field event_fields[] = {
	EVENT(EM_UINT, "total_events", 4, 4, "Events", "", "Events that the log holds."),
	EVENT(EM_UINT, "log_bytes", 8, 8, "Length", "bytes", "Length of the whole log."),
	EVENT(EM_UINT, "revision", 16, 1, "Revision", "", "Revision of the log's form."),
	EVENT(EM_UINT, "header_length", 18, 2, "Header", "bytes",
	      "Length of the header behind its first 20 bytes."),
	EVENT(EM_UINT, "timestamp_ms", 20, 6, "Drive's clock", "milliseconds",
	      "The drive's clock when the context was established."),
	EVENT(EM_UINT, "power_on_hours", 28, 16, "Power-on time", "hours",
	      "Power-on hours at that time."),
	EVENT(EM_UINT, "power_cycles", 44, 8, "Power cycles", "", "Power cycles at that time."),
	EVENT(EM_TEXT, "serial", 56, 20, "Serial number", "", "Serial number of the drive."),
	EVENT(EM_TEXT, "model", 76, 40, "Model", "", "Model of the drive."),
	EVENT(EM_TEXT, "subsystem_nqn", 116, 256, "Subsystem", "", "NQN of the subsystem."),
};

#define TELEMETRY(name, says, lid)                                                                 \
	{                                                                                          \
		.key = name, .title = says, .code = lid, .how = EM_BY_LOG,                         \
		.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING, .size = HEADER_SIZE,             \
		.fields = telemetry_fields, .field_count = EM_COUNT(telemetry_fields),             \
		.ref = "NVMe Base 2.0, Telemetry log pages (07h, 08h)",                            \
	}

const struct em_page em_page_host_telemetry =
	TELEMETRY("host_telemetry", "Telemetry captured for a host", 0x07);
const struct em_page em_page_controller_telemetry =
	TELEMETRY("controller_telemetry", "Telemetry captured by the controller", 0x08);

const struct em_page em_page_persistent_events = {
	.key = "persistent_events",
	.title = "Persistent event log",
	.code = 0x0d,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = HEADER_SIZE,
	.fields = event_fields,
	.field_count = EM_COUNT(event_fields),
	.ref = "NVMe Base 2.0, Persistent Event log page (0Dh)",
};
