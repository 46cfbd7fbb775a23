/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the commands of hosts took, counted by Memblaze drives that were told to: log page D0h,
 * and C1h (reads) and C2h (writes) of older ones. Reading changes nothing.
 *
 * All ones: no reading. All zero: a valid "none was counted".
 *
 * Source: the vendor's part of nvme-cli (plugins/memblaze).
 */
#include "lib/nvme/tables.h"

#define REF_NEW "Memblaze log page D0h, "
#define REF_OLD "Memblaze log pages C1h and C2h, "

#define COUNTER	    4u
#define NEW_BUCKETS 32u
#define NEW_SET	    (2 * NEW_BUCKETS * COUNTER) /* as many more are reserved */
#define FIRST_AT    8u

/* Of D0h: where each bucket begins, in microseconds; the last one has no end. */
static const uint32_t new_edges[NEW_BUCKETS] = {
	0,	50,	100,	 150,	  200,	   300,	    400,     500,
	600,	700,	800,	 900,	  1000,	   5000,    10000,   20000,
	50000,	100000, 200000,	 300000,  400000,  500000,  600000,  700000,
	800000, 900000, 1000000, 2000000, 3000000, 4000000, 5000000, 8000000,
};

/* Of C1h and C2h: runs of buckets that are equally wide. */
static const struct {
	unsigned count;
	uint32_t from_us, width_us;
} old_runs[] = {
	{ 32, 0, 32 },
	{ 31, 1000, 1000 },
	{ 31, 32000, 32000 },
	{ 4, 1000000, 1000000 },
};
#define OLD_BUCKETS (32u + 31u + 31u + 4u)

static void get_new_edge(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret)
{
	(void)ctx;
	*ret = (struct em_value){ .kind = EM_V_UINT, .number = new_edges[index] };
}

static void get_old_edge(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret)
{
	size_t run = 0;

	(void)ctx;
	while (index >= old_runs[run].count)
		index -= old_runs[run++].count;
	*ret = (struct em_value){
		.kind = EM_V_UINT,
		.number = old_runs[run].from_us + (uint64_t)index * old_runs[run].width_us,
	};
}

static const struct em_field edge = {
	.key = "from_us",
	.len = COUNTER,
	.type = EM_UINT,
	.label = "From",
	.unit = "microseconds",
	.help = "The shortest time that is counted here; up to that of the next entry.",
	.ref = "Memblaze log pages D0h, C1h and C2h, buckets",
};

static const struct em_field bucket_fields[] = {
	{
		.key = "commands",
		.len = COUNTER,
		.type = EM_UINT,
		.label = "Commands",
		.unit = "",
		.help = "Commands that took so long.",
		.ref = "Memblaze log pages D0h, C1h and C2h, buckets",
	},
};

#define BUCKETS(name, at, how_many, get)                                                           \
	{                                                                                          \
		.key = name, .offset = (at), .stride = COUNTER, .count = (how_many),               \
		.fields = bucket_fields, .field_count = EM_COUNT(bucket_fields), .extra = &edge,   \
		.extra_get = get,                                                                  \
	}
#define VERSION(name, at, from)                                                                    \
	{                                                                                          \
		.key = name, .offset = (at), .len = 4, .type = EM_UINT, .label = name, .unit = "", \
		.help = "Version of the page's form.", .ref = from "bytes at " #at,                \
	}

static const struct em_field new_fields[] = { VERSION("minor", 0, REF_NEW),
					      VERSION("major", 4, REF_NEW) };
static const struct em_field old_fields[] = { VERSION("minor", 0, REF_OLD),
					      VERSION("major", 4, REF_OLD) };

static const struct em_group new_groups[] = {
	BUCKETS("reads", FIRST_AT, NEW_BUCKETS, get_new_edge),
	BUCKETS("writes", FIRST_AT + NEW_SET, NEW_BUCKETS, get_new_edge),
	BUCKETS("trims", FIRST_AT + 2 * NEW_SET, NEW_BUCKETS, get_new_edge),
};
static const struct em_group old_groups[] = {
	BUCKETS("commands", FIRST_AT, OLD_BUCKETS, get_old_edge),
};

const struct em_page em_page_memblaze_latency = {
	.key = "memblaze_latency",
	.title = "Memblaze, latency",
	.code = 0xd0,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = 1024,
	.fields = new_fields,
	.field_count = EM_COUNT(new_fields),
	.groups = new_groups,
	.group_count = EM_COUNT(new_groups),
	.ref = "Memblaze log page D0h",
};

#define OLD(name, says, lid)                                                                       \
	{                                                                                          \
		.key = name, .title = says, .code = lid, .how = EM_BY_LOG,                         \
		.flags = EM_ONES_NO_READING, .size = 4096, .fields = old_fields,                   \
		.field_count = EM_COUNT(old_fields), .groups = old_groups,                         \
		.group_count = EM_COUNT(old_groups), .ref = "Memblaze log pages C1h and C2h",      \
	}

const struct em_page em_page_memblaze_read_latency =
	OLD("memblaze_read_latency", "Memblaze, latency of reads", 0xc1);
const struct em_page em_page_memblaze_write_latency =
	OLD("memblaze_write_latency", "Memblaze, latency of writes", 0xc2);
