/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memblaze - log page CAh of the Memblaze products, laid out slot by slot as the vendor's tool
 * describes each layout. It knows nothing of how Ember reads the page.
 */
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "sim/model.h"

#define LAYOUT_AT 511

/* Raw bytes as the tables write them, lowest first. */
struct slot {
	uint8_t id, normalised;
	uint8_t raw[6];
};

#define U48(n)                                                                                     \
	{                                                                                          \
		(n) & 0xff, (n) >> 8 & 0xff, (n) >> 16 & 0xff, (n) >> 24 & 0xff,                   \
			(uint8_t)((uint64_t)(n) >> 32), (uint8_t)((uint64_t)(n) >> 40)             \
	}
#define THREE(a, b, c)                                                                             \
	{                                                                                          \
		(a) & 0xff, (a) >> 8, (b)&0xff, (b) >> 8, (c)&0xff, (c) >> 8                       \
	}
#define STATUS(now, total)                                                                         \
	{                                                                                          \
		now, (total)&0xff, (total) >> 8 & 0xff, (total) >> 16 & 0xff, (total) >> 24        \
	}

static const struct slot layout_0[] = {
	{ 0xab, 100, U48(3) },
	{ 0xac, 100, U48(1) },
	{ 0xad, 91, THREE(402, 611, 507) },
	{ 0xb8, 100, U48(0) },
	{ 0xc7, 100, U48(2) },
	{ 0xe2, 100, U48(1234) },
	{ 0xe3, 100, U48(61) },
	{ 0xe4, 100, U48(90061) },
	{ 0xea, 100, STATUS(0, 5) },
	{ 0xf0, 100, U48(0) },
	{ 0xf3, 100, U48(0) },
	{ 0xf4, 100, U48(2097152) },
	{ 0xf5, 100, U48(1401174) },
	{ 0xf6, 97, U48(97) },
	{ 0xfa, 100, U48(3145728) },
	{ 0xe7, 100, THREE(341, 291, 311) },
	{ 0xe8, 100, THREE(21, 7, 12) },
	{ 0xaf, 100, THREE(333, 298, 311) },
	{ 0xec, 98, U48(98) },
	{ 0xf2, 100, U48(4) },
	{ 0xeb, 100, STATUS(0, 17) },
	{ 0xed, 100, U48(6) },
};

static const struct slot layout_2[] = {
	{ 0xab, 100, U48(2) },
	{ 0xac, 100, U48(0) },
	{ 0xad, 96, THREE(88, 143, 117) },
	{ 0xb8, 100, U48(0) },
	{ 0xc7, 100, U48(1) },
	{ 0xe2, 100, U48(310) },
	{ 0xe3, 100, U48(55) },
	{ 0xe4, 100, U48(40320) },
	{ 0xea, 100, STATUS(0, 2) },
	{ 0xf0, 100, U48(137) },
	{ 0xf3, 100, U48(0) },
	{ 0xf4, 100, U48(1801439) },
	{ 0xf5, 100, U48(1401174) },
	{ 0xf6, 99, U48(99) },
	{ 0xf9, 100, U48(3) },
	{ 0xfa, 100, U48(12) },
	{ 0xfb, 100, U48(0) },
	{ 0xfc, 100, U48(4) },
	{ 0xfd, 100, U48(1) },
	{ 0xfe, 100, U48(5) },
	{ 0xe5, 100, U48(31) },
	{ 0xe6, 100, U48(7) },
	{ 0xf8, 100, U48(2913840) },
	{ 0xe7, 100, THREE(339, 288, 311) },
	{ 0xe8, 100, THREE(19, 6, 11) },
	{ 0xaf, 100, THREE(330, 297, 311) },
	{ 0xeb, 100, STATUS(0, 9) },
	{ 0xec, 100, THREE(1180, 1200, 840) },
	{ 0xed, 100, U48(40) },
};

/* Slots 11 and 18 are not in use. */
static const struct slot layout_3[] = {
	{ 0xab, 100, U48(0) },
	{ 0xac, 100, U48(0) },
	{ 0xad, 100, THREE(3, 9, 5) },
	{ 0xdf, 100, THREE(0, 0, 0) },
	{ 0xc7, 100, U48(0) },
	{ 0xf4, 100, U48(70218) },
	{ 0xf5, 100, U48(61011) },
	{ 0xd0, 100, U48(11) },
	{ 0xd1, 100, U48(0) },
	{ 0xd2, 100, U48(2) },
	{ 0xd3, 100, U48(2) },
	{ 0 },
	{ 0xd4, 100, U48(90712) },
	{ 0xd5, 100, U48(0) },
	{ 0xd6, 100, U48(0) },
	{ 0xd7, 100, U48(0) },
	{ 0xd8, 100, THREE(14, 0, 1) },
	{ 0xd9, 100, THREE(0, 0, 0) },
	{ 0 },
	{ 0xda, 100, U48(0) },
	{ 0xdb, 100, U48(33) },
	{ 0xdc, 100, U48(120) },
	{ 0xdd, 100, U48(8) },
	{ 0xde, 99, U48(4095) },
	{ 0xf6, 100, U48(7) },
	{ 0xf7, 100, U48(0x1f2040) },
	{ 0xf8, 100, U48(1) },
	{ 0xf9, 100, U48(0x800) },
	{ 0xfa, 100, THREE(0, 6, 0) },
	{ 0xea, 100, STATUS(0, 1) },
	{ 0xe1, 100, U48(210) },
	{ 0xe5, 100, U48(8388608) },
	{ 0xe7, 100, U48(4096) },
	{ 0xe9, 100, THREE(2, 1, 0) },
};

static const struct layout {
	const struct slot *slots;
	unsigned count, stride, normalised, raw;
} layouts[] = {
	[0] = { layout_0, EM_COUNT(layout_0), 12, 3, 5 },
	[2] = { layout_2, EM_COUNT(layout_2), 12, 3, 5 },
	[3] = { layout_3, EM_COUNT(layout_3), 10, 1, 2 },
};

void sim_memblaze_lay_out(uint8_t *page, unsigned layout)
{
	const struct layout *l = &layouts[layout];

	for (unsigned i = 0; i < l->count; i++) {
		uint8_t *to = page + i * l->stride;

		to[0] = l->slots[i].id;
		to[l->normalised] = l->slots[i].normalised;
		memcpy(to + l->raw, l->slots[i].raw, sizeof(l->slots[i].raw));
	}
	page[LAYOUT_AT] = (uint8_t)layout;
}
