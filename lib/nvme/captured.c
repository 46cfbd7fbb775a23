/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of what a controller captures for its vendor and for support: telemetry (log pages
 * 07h and 08h) and the persistent event log (0Dh).
 *
 * All ones: no reading. All zero: no reading, but for the persistent event log, which may be empty.
 */
#include <string.h>

#include "lib/base/le.h"
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

/* ---- the events ------------------------------------------------------------------------- */

#define REF_EVENT  "NVMe Base 2.0, Persistent Event Format, "
#define LOG_HEADER 20u /* what header_length does not count */
#define AT_LENGTH  18u

#define EVENT_BYTES	 24u
#define EVENT_HEADER	 3u /* what the length of an event's header does not count */
#define EVENT_AT_HEADER	 2u
#define EVENT_AT_LENGTH	 22u
#define EVENTS_BYTES_MAX (64u << 10) /* what is read of the log at once */
#define EVENTS_USUAL	 4096u
#define EVENTS_MAX	 ((EVENTS_BYTES_MAX - HEADER_SIZE) / EVENT_BYTES)

static const struct em_name event_types[] = {
	{ 0x01, "smart_snapshot" },    { 0x02, "firmware_commit" },
	{ 0x03, "timestamp_change" },  { 0x04, "power_on_or_reset" },
	{ 0x05, "hardware_error" },    { 0x06, "change_namespace" },
	{ 0x07, "format_started" },    { 0x08, "format_completed" },
	{ 0x09, "sanitize_started" },  { 0x0a, "sanitize_completed" },
	{ 0x0b, "set_feature" },       { 0x0c, "telemetry_created" },
	{ 0x0d, "thermal_excursion" }, { 0xde, "vendor_specific" },
	{ 0xdf, "tcg_defined" },       EM_NAMES_END,
};

/* Where the event behind the one at `at` begins; 0: its header makes no sense. */
static size_t behind(const uint8_t *page, size_t at)
{
	size_t header = EVENT_HEADER + page[at + EVENT_AT_HEADER];

	return header < EVENT_BYTES ? 0 : at + header + em_le16(page + at + EVENT_AT_LENGTH);
}

/*
 * Events have lengths of their own, so each is found from the one before it. Those that begin in
 * what was read are told, though the data of the last may not be there.
 */
static bool get_event(const uint8_t *page, size_t len, unsigned index, uint8_t *entry)
{
	size_t at = LOG_HEADER;

	if (len < HEADER_SIZE || index >= em_le32(page + 4))
		return false;
	at += em_le16(page + AT_LENGTH);
	for (unsigned i = 0; at >= HEADER_SIZE && at + EVENT_BYTES <= len; i++) {
		size_t next = behind(page, at);

		if (next == 0)
			return false;
		if (i == index) {
			memcpy(entry, page + at, EVENT_BYTES);
			return true;
		}
		at = next;
	}
	return false;
}

static const struct em_field entry_fields[] = {
	{
		.key = "type",
		.offset = 0,
		.len = 1,
		.type = EM_ENUM,
		.names = event_types,
		.label = "Event",
		.unit = "",
		.help = "What happened.",
		.ref = REF_EVENT "byte 0",
	},
	{
		.key = "type_revision",
		.offset = 1,
		.len = 1,
		.type = EM_UINT,
		.label = "Revision",
		.unit = "",
		.help = "Revision of the form of that event.",
		.ref = REF_EVENT "byte 1",
	},
	{
		.key = "controller_id",
		.offset = 4,
		.len = 2,
		.type = EM_UINT,
		.label = "Controller",
		.unit = "",
		.help = "Identifier of the controller that it happened to.",
		.ref = REF_EVENT "bytes 5:4",
	},
	{
		.key = "timestamp_ms",
		.offset = 6,
		.len = 6,
		.type = EM_UINT,
		.label = "Drive's clock",
		.unit = "milliseconds",
		.help = "The drive's clock at that time: since 1970 when a host has set it, else "
			"since it was powered on.",
		.ref = REF_EVENT "bytes 13:6",
	},
	{
		.key = "vendor_bytes",
		.offset = 20,
		.len = 2,
		.type = EM_UINT,
		.label = "Vendor's data",
		.unit = "bytes",
		.help = "How much of the event's data is in the vendor's own form.",
		.ref = REF_EVENT "bytes 21:20",
	},
	{
		.key = "data_bytes",
		.offset = EVENT_AT_LENGTH,
		.len = 2,
		.type = EM_UINT,
		.label = "Data",
		.unit = "bytes",
		.help = "Length of the event's data, the vendor's included.",
		.ref = REF_EVENT "bytes 23:22",
	},
};

static const struct em_group event_groups[] = {
	{
		.key = "events",
		.index_key = "event",
		.stride = EVENT_BYTES,
		.count = EVENTS_MAX,
		.entry = get_event,
		.fields = entry_fields,
		.field_count = EM_COUNT(entry_fields),
	},
};

/* How long the log is, only its header tells; its newest events come first. */
static uint32_t events_asked_for(const struct em_nvme_ctx *ctx)
{
	(void)ctx;
	return EVENTS_USUAL;
}

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
	.max_size = EVENTS_BYTES_MAX,
	.size_of = events_asked_for,
	.fields = event_fields,
	.field_count = EM_COUNT(event_fields),
	.groups = event_groups,
	.group_count = EM_COUNT(event_groups),
	.ref = "NVMe Base 2.0, Persistent Event log page (0Dh)",
};
