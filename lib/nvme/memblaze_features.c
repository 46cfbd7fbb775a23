/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Memblaze drive was told to keep of commands: feature D0h, and E1h and E2h of older drives.
 * The bytes are dword 0 of the completion of Get Features.
 *
 * All ones: no reading. All zero: a valid "nothing".
 *
 * Source: the vendor's part of nvme-cli (plugins/memblaze). It states what Get Features returns of
 * D0h; of the others what Set Features takes, in which form they are taken to come back.
 */
#include "lib/nvme/tables.h"

#define REF_D0 "Memblaze feature D0h, dword 0 of the completion, "
#define REF_E1 "Memblaze feature E1h, dword 0 of the completion, "
#define REF_E2 "Memblaze feature E2h, dword 0 of the completion, "

#define DWORD 4u

#define FLAG(name, bit, faith, title, says, from)                                                  \
	{                                                                                          \
		.key = name, .len = DWORD, .type = EM_BOOL, .shift = (bit), .bits = 1,             \
		.trust = EM_TRUST_##faith, .label = title, .unit = "", .help = says,               \
		.ref = from "bit " #bit,                                                           \
	}
/* Zero-based, in steps of 10 ms. */
#define THRESHOLD(name, low, title, of)                                                            \
	{                                                                                          \
		.key = name, .len = DWORD, .type = EM_UINT, .shift = (low), .bits = 8,             \
		.flags = EM_RAISE_ONE, .trust = EM_TRUST_DERIVED, .scale = 10, .label = title,     \
		.unit = "milliseconds", .help = "From how long on " of " are slow ones.",          \
		.ref = REF_D0 "8 bits from " #low,                                                 \
	}

static const struct em_field recording[] = {
	FLAG("latency_statistics", 0, STATED, "Latency", "Counts latencies in log page D0h.",
	     REF_D0),
	FLAG("slow_commands", 1, STATED, "Slow commands", "Keeps slow commands in log page D1h.",
	     REF_D0),
	FLAG("performance", 2, STATED, "Performance", "Keeps its performance in log page D2h.",
	     REF_D0),
	FLAG("of_reads", 4, STATED, "Of reads", "The mask has reads.", REF_D0),
	FLAG("of_writes", 5, STATED, "Of writes", "The mask has writes.", REF_D0),
	FLAG("of_trims", 6, STATED, "Of trims", "The mask has trims.", REF_D0),
	THRESHOLD("slow_read_ms", 8, "Slow read", "reads"),
	THRESHOLD("slow_write_ms", 16, "Slow write", "writes"),
	THRESHOLD("slow_trim_ms", 24, "Slow trim", "trims"),
};

static const struct em_field old_slow[] = {
	FLAG("slow_commands", 15, DERIVED, "Slow commands", "Keeps slow commands in log page C3h.",
	     REF_E1),
	{
		.key = "slow_ms",
		.len = DWORD,
		.type = EM_UINT,
		.bits = 15,
		.trust = EM_TRUST_DERIVED,
		.label = "Slow",
		.unit = "milliseconds",
		.help = "From how long on commands are slow ones; 1 to 5000.",
		.ref = REF_E1 "15 bits from 0",
	},
};

static const struct em_field old_latency[] = {
	FLAG("latency_statistics", 0, DERIVED, "Latency",
	     "Counts latencies in log pages C1h and C2h.", REF_E2),
};

#define FEATURE(name, says, fid, rows, bytes, from)                                                \
	{                                                                                          \
		.key = name, .title = says, .code = fid, .how = EM_BY_FEATURE,                     \
		.flags = EM_ONES_NO_READING, .size = DWORD, .beside = (bytes), .fields = rows,     \
		.field_count = EM_COUNT(rows), .ref = from,                                        \
	}

const struct em_page em_page_memblaze_recording =
	FEATURE("memblaze_recording", "Memblaze, what is recorded", 0xd0, recording, 0,
		"Memblaze feature D0h");
const struct em_page em_page_memblaze_old_slow =
	FEATURE("memblaze_old_slow_commands", "Memblaze, slow commands of older drives", 0xe1,
		old_slow, 0, "Memblaze feature E1h");
/* The vendor's tool says 32 bytes and has no room for them: with room nothing can go astray. */
const struct em_page em_page_memblaze_old_latency =
	FEATURE("memblaze_old_latency", "Memblaze, latency of older drives", 0xe2, old_latency, 32,
		"Memblaze feature E2h");
