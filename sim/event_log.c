/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_log - the persistent event log, page 0Dh: it can be read only in a context, of which there
 * is one; whoever forgets to release it keeps all others out.
 */
#include <string.h>

#include "lib/base/le.h"
#include "sim/model.h"

#define HEADER	    512u
#define EVENTS	    3u
#define EVENT	    32u /* a header of 24 bytes, and 8 of data */
#define LOG	    (HEADER + EVENTS * EVENT)
#define ESTABLISH   1u
#define RELEASE	    2u
#define SEQUENCE    0x000c /* Command Sequence Error */
#define POWER_HOURS 128	   /* in log 02h */

/* Power on, a thermal excursion, a firmware commit. */
static const uint8_t kinds[EVENTS] = { 0x04, 0x0d, 0x02 };

static void lay_out_event(uint8_t *at, unsigned number)
{
	at[0] = kinds[number];
	at[1] = 1;	       /* revision of the kind */
	at[2] = EVENT - 8 - 3; /* bytes of this header behind its third */
	em_put_le16(at + 4, 1);
	em_put_le64(at + 6, 1000 * (number + 1));
	em_put_le16(at + 22, 8);
	memset(at + 24, (int)(0xa0 + number), 8);
}

/* Returns how long it is. */
static uint64_t lay_out(const struct sim_drive *drive, uint8_t log[SIM_EVENTS_BYTES])
{
	const uint8_t *id = drive->page[SIM_PAGE_IDENTIFY];

	if (drive->fixed[SIM_PAGE_EVENTS]) {
		memcpy(log, drive->page[SIM_PAGE_EVENTS], SIM_EVENTS_BYTES);
		return SIM_EVENTS_BYTES;
	}
	log[0] = 0x0d;
	em_put_le32(log + 4, EVENTS);
	em_put_le64(log + 8, LOG);
	log[16] = 2;
	em_put_le16(log + 18, HEADER - 20);
	em_put_le64(log + 20, 123456789);
	memcpy(log + 28, drive->page[SIM_PAGE_SMART] + POWER_HOURS, 16);
	em_put_le64(log + 44, 21);
	memcpy(log + 52, id, 4);
	memcpy(log + 56, id + 4, 20);
	memcpy(log + 76, id + 24, 40);
	memcpy(log + 116, id + 768, 256);
	for (unsigned i = 0; i < EVENTS; i++)
		lay_out_event(log + HEADER + i * EVENT, i);
	return LOG;
}

uint16_t sim_model_event_log(struct sim_drive *any, struct sim_exec *x, uint64_t offset,
			     uint64_t wanted)
{
	struct sim_drive *drive = sim_drive_owner(any);
	uint32_t action = x->cmd->cdw10 >> 8 & 0x7f;
	uint8_t log[SIM_EVENTS_BYTES] = { 0 };
	uint64_t have, whole = lay_out(drive, log);

	x->error_param = 41;
	if (action > RELEASE)
		return SIM_ST_FIELD;
	if (action == RELEASE) {
		drive->events_context = false;
		return 0;
	}
	if (drive->events_context == (action == ESTABLISH))
		return SEQUENCE;
	x->error_param = 48;
	if (offset % 4 != 0 || offset >= whole)
		return SIM_ST_FIELD;
	drive->events_context = true;
	x->out_len = x->cmd->data_len < wanted ? x->cmd->data_len : (uint32_t)wanted;
	have = whole - offset < x->out_len ? whole - offset : x->out_len;
	memset(x->out, 0, x->out_len);
	memcpy(x->out, log + offset, have);
	return 0;
}
