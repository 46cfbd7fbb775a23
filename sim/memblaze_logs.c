/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memblaze_logs - logs D1h (commands that took long) and D2h (performance, second by second) of the
 * Memblaze products that have them, laid out as the vendor's tool describes them. They do not
 * change: what hosts do is not simulated. It knows nothing of how Ember reads them.
 */
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "sim/model.h"

#define LID_SLOW    0xd1
#define LAYOUT_AT   511 /* of log CAh: the newest generation has 3 */
#define FIRST_MS    UINT64_C(1792888200123)
#define SLOW_SIZE   (4 + 1024 * 64)
#define SECONDS	    3600u
#define SECOND_SIZE 24u
#define HOUR_SIZE   (6 + SECONDS * SECOND_SIZE)
#define HOURS	    24u
#define FILLED	    3u /* hours that the drive has been on for */
#define STATS_SIZE  (4 + HOURS * HOUR_SIZE)

struct slow {
	uint64_t ms, slba;
	uint32_t latency_us, queue, command, nsid, more;
};

/* Opcode, fused, PSDT, identifier of the command. */
#define COMMAND(opcode, fused, psdt, id)                                                           \
	((uint32_t)(opcode) | (uint32_t)(fused) << 8 | (uint32_t)(psdt) << 10 |                    \
	 (uint32_t)(id) << 12)
/* Blocks (zero-based), directive type, protection information, FUA, limited retry. */
#define MORE(blocks, directive, protection, fua, retry)                                            \
	((uint32_t)(blocks) | (uint32_t)(directive) << 16 | (uint32_t)(protection) << 24 |         \
	 (uint32_t)(fua) << 28 | (uint32_t)(retry) << 29)

static const struct slow slow[] = {
	{ FIRST_MS, 0x123456789, 31250, 3, COMMAND(0x02, 0, 0, 0x1a2b), 1, MORE(7, 0, 0, 0, 1) },
	{ FIRST_MS + 1500, 4096, 12007, 1, COMMAND(0x01, 1, 2, 0xfffe), 1, MORE(0, 1, 9, 1, 0) },
	/* Since the drive was started: nobody had set its clock. */
	{ 86400017, 0, 2100345, 12, COMMAND(0x09, 0, 0, 0x0003), UINT32_MAX, 0 },
	{ 0 }, /* ends the list; what was noted before is still there behind it */
	{ FIRST_MS - 9, 77, 10001, 2, COMMAND(0x02, 0, 0, 9), 1, MORE(31, 0, 0, 0, 0) },
};

static void lay_out_slow(uint8_t *page)
{
	em_put_le32(page, 1); /* version */
	for (unsigned i = 0; i < EM_COUNT(slow); i++) {
		uint8_t *to = page + 4 + 64 * i;

		em_put_le64(to, slow[i].ms);
		em_put_le32(to + 8, slow[i].latency_us);
		em_put_le32(to + 12, slow[i].queue);
		em_put_le32(to + 16, slow[i].command);
		em_put_le32(to + 20, slow[i].nsid);
		em_put_le64(to + 24, slow[i].slba);
		em_put_le32(to + 32, slow[i].more);
	}
}

/* Thousands of commands, MiB, microseconds of all and of the longest: reads, then writes. */
static void lay_out_second_1(uint8_t *to, unsigned hour, unsigned at)
{
	for (unsigned write = 0; write < 2; write++, to += 12) {
		uint16_t thousands = (uint16_t)(1 + (at * 7 + hour * 3 + write) % 800);

		em_put_le16(to, thousands);
		em_put_le16(to + 2, (uint16_t)(4 * thousands));
		em_put_le32(to + 4, thousands * 1000u * (80 + 20 * write + at % 13));
		em_put_le32(to + 8, 900 + at * 5 % 4000 + hour);
	}
}

/* Four numbers, and by how many steps each is to be raised: reads, then writes. */
static void lay_out_second_2(uint8_t *to, unsigned hour, unsigned at)
{
	for (unsigned write = 0; write < 2; write++, to += 12) {
		em_put_le16(to, (uint16_t)(10 + (at * 11 + hour + write) % 9000));
		em_put_le16(to + 2, (uint16_t)(1 + at % 3000));
		em_put_le16(to + 4, (uint16_t)(60 + at % 40));
		em_put_le16(to + 6, (uint16_t)(1 + at % 900));
		to[8] = at % 3;
		to[9] = 1 + at % 2;
		to[10] = 0;
		to[11] = at % 2;
	}
}

/* One second in ten has no command. */
static void lay_out_stats(uint8_t *page, unsigned version)
{
	page[0] = (uint8_t)version;
	for (unsigned hour = 0; hour < FILLED; hour++) {
		uint8_t *to = page + 4 + hour * HOUR_SIZE;
		uint64_t ms = FIRST_MS - hour * UINT64_C(3600000);

		em_put_le32(to, (uint32_t)ms);
		em_put_le16(to + 4, (uint16_t)(ms >> 32));
		to += 6;
		for (unsigned at = 0; at < SECONDS; at++, to += SECOND_SIZE) {
			if (at % 10 == 9)
				continue;
			if (version == 1)
				lay_out_second_1(to, hour, at);
			else
				lay_out_second_2(to, hour, at);
		}
	}
}

/* They are large, and all drives of a generation have the same. */
static const uint8_t *stats_of(const struct sim_drive *drive)
{
	static uint8_t pages[2][STATS_SIZE];
	unsigned version = drive->page[SIM_PAGE_VENDOR][LAYOUT_AT] == 3 ? 2 : 1;
	uint8_t *page = pages[version - 1];

	if (page[0] == 0)
		lay_out_stats(page, version);
	return page;
}

uint16_t sim_memblaze_log(struct sim_drive *any, struct sim_exec *x, uint64_t offset,
			  uint64_t wanted)
{
	bool is_slow = (x->cmd->cdw10 & 0xff) == LID_SLOW;
	size_t size = is_slow ? SLOW_SIZE : STATS_SIZE, have;
	uint8_t list[SLOW_SIZE] = { 0 };
	const uint8_t *page = list;

	x->error_param = 48;
	if (offset % 4 != 0 || offset > size)
		return SIM_ST_FIELD;
	if (is_slow)
		lay_out_slow(list);
	else
		page = stats_of(sim_drive_owner(any));
	x->out_len = x->cmd->data_len < wanted ? x->cmd->data_len : (uint32_t)wanted;
	have = size - (size_t)offset;
	if (have > x->out_len)
		have = x->out_len;
	memset(x->out, 0, x->out_len);
	memcpy(x->out, page + offset, have);
	return 0;
}
