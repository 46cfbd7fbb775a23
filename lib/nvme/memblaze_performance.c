/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Memblaze drive did in each second of up to 24 hours, log page D2h, where it was told to
 * count (feature D0h). Reading changes nothing. A second has 24 bytes; what is shown is one entry
 * for each hour that came whole: means and greatest values.
 *
 * All ones: no reading. All zero: a valid "none". Of a form other than versions 1 and 2 no entry is
 * shown.
 *
 * Source: the vendor's part of nvme-cli (plugins/memblaze).
 */
#include <string.h>

#include "lib/base/le.h"
#include "lib/base/text.h"
#include "lib/nvme/tables.h"

#define REF "Memblaze log page D2h, "

#define HEADER	  4u
#define SECONDS	  3600u
#define SECOND	  24u /* reads, then writes */
#define HALF	  12u
#define CLOCK	  6u
#define HOUR	  (CLOCK + SECONDS * SECOND)
#define HOURS_MAX 24u
/* An hour alone is no whole number of dwords. */
#define HOURS_ASKED 2u

/* Beyond these steps no number makes sense: a second that has one is not read. */
#define TENS_MAX  9u
#define STEPS_MAX 3u /* of 1024 or 1000 */

/* An hour in short. */
#define AT_CLOCK      0u
#define AT_VERSION    6u
#define AT_ACTIVE     8u
#define AT_UNREADABLE 10u
#define AT_READS      12u
#define NUMBER	      6u
/* All that they can be in version 1. */
#define BYTES_1	       5u
#define LATENCY_MEAN_1 3u
#define LATENCY_MAX_1  4u
#define AT_WRITES      (AT_READS + 6 * NUMBER)
#define SHORT_SIZE     (AT_WRITES + 6 * NUMBER)

/* Reads or writes of one second. */
struct second {
	uint64_t iops, bandwidth, latency, latency_max;
};

/* Of those of an hour. */
struct total {
	struct second sum, most;
	uint64_t latency_of; /* what the sum of latencies is a sum of */
};

static uint64_t raised(uint16_t number, unsigned step, unsigned steps)
{
	uint64_t value = number;

	while (steps-- > 0)
		value *= step;
	return value;
}

static bool read_second(const uint8_t *at, unsigned version, struct second *ret)
{
	const uint8_t *steps = at + 8;

	if (version == 1) {
		*ret = (struct second){ em_le16(at) * UINT64_C(1000),
					(uint64_t)em_le16(at + 2) << 20, em_le32(at + 4),
					em_le32(at + 8) };
		return true;
	}
	if (steps[0] > TENS_MAX || steps[1] > STEPS_MAX || steps[2] > STEPS_MAX ||
	    steps[3] > STEPS_MAX)
		return false;
	*ret = (struct second){ raised(em_le16(at), 10, steps[0]),
				raised(em_le16(at + 2), 1024, steps[1]),
				raised(em_le16(at + 4), 1000, steps[2]),
				raised(em_le16(at + 6), 1000, steps[3]) };
	return true;
}

static void take_most(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

static void add_second(struct total *total, const struct second *second, unsigned version)
{
	total->sum.iops += second->iops;
	total->sum.bandwidth += second->bandwidth;
	take_most(&total->most.iops, second->iops);
	take_most(&total->most.bandwidth, second->bandwidth);
	take_most(&total->most.latency_max, second->latency_max);
	/* Version 1 has the sum over the commands, of which it tells the thousands alone. */
	if (version == 1 ? second->iops == 0 : second->latency == 0)
		return;
	total->sum.latency += second->latency;
	total->latency_of += version == 1 ? second->iops : 1;
}

static void put_number(uint8_t *at, uint64_t value)
{
	for (unsigned i = 0; i < NUMBER; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put_total(uint8_t *at, const struct total *total, unsigned active)
{
	const uint64_t numbers[] = {
		active ? total->sum.iops / active : 0,
		total->most.iops,
		active ? total->sum.bandwidth / active : 0,
		total->most.bandwidth,
		total->latency_of ? total->sum.latency / total->latency_of : 0,
		total->most.latency_max,
	};

	for (unsigned i = 0; i < EM_COUNT(numbers); i++)
		put_number(at + i * NUMBER, numbers[i]);
}

static void sum_up(const uint8_t *seconds, unsigned version, uint8_t *entry)
{
	struct total reads = { 0 }, writes = { 0 };
	uint16_t active = 0, unreadable = 0;

	for (unsigned i = 0; i < SECONDS; i++, seconds += SECOND) {
		struct second r, w;

		if (em_bytes_all(seconds, SECOND, 0))
			continue;
		if (em_bytes_all(seconds, SECOND, 0xff) || !read_second(seconds, version, &r) ||
		    !read_second(seconds + HALF, version, &w)) {
			unreadable++;
			continue;
		}
		active++;
		add_second(&reads, &r, version);
		add_second(&writes, &w, version);
	}
	em_put_le16(entry + AT_ACTIVE, active);
	em_put_le16(entry + AT_UNREADABLE, unreadable);
	put_total(entry + AT_READS, &reads, active);
	put_total(entry + AT_WRITES, &writes, active);
}

static bool get_hour(const uint8_t *page, size_t len, unsigned index, uint8_t *entry)
{
	size_t at = HEADER + (size_t)index * HOUR;

	if (index >= HOURS_MAX || at + HOUR > len || (page[0] != 1 && page[0] != 2))
		return false;
	memset(entry, 0, SHORT_SIZE);
	memcpy(entry + AT_CLOCK, page + at, CLOCK);
	entry[AT_VERSION] = page[0];
	sum_up(page + at + CLOCK, page[0], entry);
	return true;
}

/* The drive has not been on for so long. */
static bool is_unused(const uint8_t *entry)
{
	return em_bytes_all(entry + AT_CLOCK, CLOCK, 0) && em_le16(entry + AT_ACTIVE) == 0 &&
	       em_le16(entry + AT_UNREADABLE) == 0;
}

static bool get_time(const uint8_t *entry, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	(void)len;
	return em_memblaze_time((uint64_t)em_le_n(entry + AT_CLOCK, CLOCK), text);
}

static uint32_t size_of(const struct em_nvme_ctx *ctx)
{
	(void)ctx;
	return HEADER + HOURS_ASKED * HOUR;
}

/* version 0: in both. */
#define ROW(name, at, width, how, faith, version, title, of, says, from)                           \
	{                                                                                          \
		.key = name, .offset = (at), .len = (width), .type = EM_UINT, .flags = (how),      \
		.trust = EM_TRUST_##faith, .gate_offset = AT_VERSION,                              \
		.gate_mask = (version) ? 0xff : 0, .gate_value = (version), .label = title,        \
		.unit = of, .help = says, .ref = REF from,                                         \
	}

#define STEPS_UNKNOWN "in the drive's own unit: version 2 raises by steps, of a unit not stated."

#define DIRECTION(name, title, of, at, from)                                                       \
	ROW(name "_iops_mean", (at), NUMBER, 0, STATED, 0, title " a second", "",                  \
	    "Mean of " of " in an active second.", from),                                          \
		ROW(name "_iops_max", (at) + NUMBER, NUMBER, 0, STATED, 0, "Most " of " a second", \
		    "", "Most " of " in a second.", from),                                         \
		ROW(name "_bytes_per_second_mean", (at) + 2 * NUMBER, BYTES_1, 0, STATED, 1,       \
		    title ", bytes", "bytes", "Mean of the bytes of " of " in an active second.",  \
		    from),                                                                         \
		ROW(name "_bytes_per_second_max", (at) + 3 * NUMBER, BYTES_1, 0, STATED, 1,        \
		    "Most bytes of " of, "bytes", "Most bytes of " of " in a second.", from),      \
		ROW(name "_latency_mean_us", (at) + 4 * NUMBER, LATENCY_MEAN_1, EM_ZERO_ABSENT,    \
		    DERIVED, 1, "Latency of " of, "microseconds",                                  \
		    "Mean latency of " of ", as far as their number is known: in thousands. "      \
		    "Absent when there were fewer.",                                               \
		    from),                                                                         \
		ROW(name "_latency_max_us", (at) + 5 * NUMBER, LATENCY_MAX_1, EM_ZERO_ABSENT,      \
		    STATED, 1, "Longest of " of, "microseconds", "Longest latency of " of ".",     \
		    from),                                                                         \
		ROW(name "_bandwidth_mean_raw", (at) + 2 * NUMBER, NUMBER, 0, UNVERIFIED, 2,       \
		    title ", bandwidth", "",                                                       \
		    "Mean of the bandwidth of " of " in an active second, " STEPS_UNKNOWN, from),  \
		ROW(name "_bandwidth_max_raw", (at) + 3 * NUMBER, NUMBER, 0, UNVERIFIED, 2,        \
		    "Most bandwidth of " of, "",                                                   \
		    "Greatest bandwidth of " of " in a second, " STEPS_UNKNOWN, from),             \
		ROW(name "_latency_mean_raw", (at) + 4 * NUMBER, NUMBER, EM_ZERO_ABSENT,           \
		    UNVERIFIED, 2, "Latency of " of, "",                                           \
		    "Mean of what the seconds have for the latency of " of ", " STEPS_UNKNOWN,     \
		    from),                                                                         \
		ROW(name "_latency_max_raw", (at) + 5 * NUMBER, NUMBER, EM_ZERO_ABSENT,            \
		    UNVERIFIED, 2, "Longest of " of, "",                                           \
		    "Longest latency of " of ", " STEPS_UNKNOWN, from)

static const struct em_field hour_fields[] = {
	ROW("timestamp_ms", AT_CLOCK, CLOCK, EM_ZERO_ABSENT | EM_ONES_ABSENT, STATED, 0,
	    "Drive's clock", "milliseconds", "The drive's clock, as the hour has it.",
	    "bytes at 0 of an hour"),
	EM_MEMBLAZE_TIME_ROW(AT_CLOCK, CLOCK, get_time, REF "bytes at 0 of an hour"),
	ROW("active_seconds", AT_ACTIVE, 2, 0, STATED, 0, "Active", "seconds",
	    "Seconds of the hour for which anything was counted. Means are over these.",
	    "the 3600 entries of an hour"),
	ROW("unreadable_seconds", AT_UNREADABLE, 2, 0, DERIVED, 0, "Unreadable", "seconds",
	    "Seconds of the hour that are all ones, or raised by more steps than make sense; they "
	    "count nowhere else.",
	    "the 3600 entries of an hour"),
	DIRECTION("read", "Reads", "reads", AT_READS, "bytes at 0 of a second"),
	DIRECTION("write", "Writes", "writes", AT_WRITES, "bytes at 12 of a second"),
};

static const struct em_field fields[] = {
	{
		.key = "version",
		.offset = 0,
		.len = 1,
		.type = EM_UINT,
		.label = "Version",
		.unit = "",
		.help = "Version of the page's form; of another one than 1 and 2 no hour is shown.",
		.ref = REF "byte 0",
	},
};

static const struct em_group groups[] = {
	{
		.key = "hours",
		.index_key = "hour",
		.stride = SHORT_SIZE,
		.count = HOURS_MAX,
		.entry = get_hour,
		.unused = is_unused,
		.fields = hour_fields,
		.field_count = EM_COUNT(hour_fields),
	},
};

const struct em_page em_page_memblaze_performance = {
	.key = "memblaze_performance",
	.title = "Memblaze, performance",
	.code = 0xd2,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = HEADER + HOUR,
	.max_size = HEADER + HOURS_MAX * HOUR,
	.size_of = size_of,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "Memblaze log page D2h",
};
