/* SPDX-License-Identifier: Apache-2.0 */
/*
 * telemetry - logs 07h (the host had it captured) and 08h (the controller captured it by itself).
 * What was captured is a function of log, generation and place: nothing is stored, and a reading
 * out of two captures shows it.
 */
#include <string.h>

#include "lib/base/le.h"
#include "sim/model.h"

#define LID_HOST     0x07
#define BLOCK	     512u
#define LAST_BLOCKS  8 /* of areas 1, 2 and 3, u16 each */
#define HOST_NUMBER  381
#define CTRL_THERE   382
#define CTRL_NUMBER  383
#define REASON	     384
#define CREATE	     1u /* in the log specific parameter of log 07h */
#define IDENTIFY_OUI 73

static void capture(struct sim_telemetry *telemetry)
{
	telemetry->generation++;
	telemetry->there = true;
}

void sim_telemetry_start(struct sim_drive *drive)
{
	drive->telemetry[SIM_TELEMETRY_HOST] = (struct sim_telemetry){ .last = { 8, 24, 150 } };
	drive->telemetry[SIM_TELEMETRY_CONTROLLER] =
		(struct sim_telemetry){ .last = { 4, 12, 40 }, .there = true, .generation = 1 };
}

void sim_telemetry_capture(struct sim_telemetry *telemetry)
{
	capture(telemetry);
}

static void lay_out_header(const struct sim_drive *drive, uint8_t lid, uint8_t *header)
{
	const struct sim_telemetry *host = &drive->telemetry[SIM_TELEMETRY_HOST];
	const struct sim_telemetry *ctrl = &drive->telemetry[SIM_TELEMETRY_CONTROLLER];
	const struct sim_telemetry *this = lid == LID_HOST ? host : ctrl;
	static const char reason[] = "simulated";

	if (drive->fixed[SIM_PAGE_TELEMETRY] && drive->page[SIM_PAGE_TELEMETRY][0] == lid) {
		memcpy(header, drive->page[SIM_PAGE_TELEMETRY], BLOCK);
		return;
	}
	header[0] = lid;
	memcpy(header + 5, drive->page[SIM_PAGE_IDENTIFY] + IDENTIFY_OUI, 3);
	for (unsigned i = 0; this->there && i < 3; i++)
		em_put_le16(header + LAST_BLOCKS + 2 * i, this->last[i]);
	if (lid == LID_HOST)
		header[HOST_NUMBER] = host->generation;
	header[CTRL_THERE] = ctrl->there;
	header[CTRL_NUMBER] = ctrl->generation;
	memcpy(header + REASON, reason, sizeof(reason));
}

static uint8_t captured(uint8_t lid, uint8_t generation, uint64_t at)
{
	return (uint8_t)(at * 31 + (at >> 9) * 7 + generation * 101u + lid);
}

/* A drive that is told to captures anew by itself, while somebody reads. */
static void count_reading(struct sim_telemetry *telemetry)
{
	if (telemetry->times == 0 || ++telemetry->readings < telemetry->every)
		return;
	telemetry->readings = 0;
	telemetry->times--;
	capture(telemetry);
}

uint16_t sim_model_telemetry(struct sim_drive *any, struct sim_exec *x, uint64_t offset,
			     uint64_t wanted)
{
	struct sim_drive *drive = sim_drive_owner(any);
	uint8_t lid = (uint8_t)x->cmd->cdw10, header[BLOCK] = { 0 };
	struct sim_telemetry *telemetry =
		&drive->telemetry[lid == LID_HOST ? SIM_TELEMETRY_HOST : SIM_TELEMETRY_CONTROLLER];
	uint64_t size = BLOCK + (telemetry->there ? telemetry->last[2] * (uint64_t)BLOCK : 0);

	x->error_param = 48;
	if (offset % 4 != 0 || offset > size)
		return SIM_ST_FIELD;
	if (lid == LID_HOST && x->cmd->cdw10 >> 8 & CREATE)
		capture(telemetry);
	size = BLOCK + telemetry->last[2] * (uint64_t)BLOCK;
	lay_out_header(drive, lid, header);
	x->out_len = x->cmd->data_len < wanted ? x->cmd->data_len : (uint32_t)wanted;
	for (uint64_t i = 0; i < x->out_len; i++)
		x->out[i] = offset + i < BLOCK	? header[offset + i]
			    : offset + i < size ? captured(lid, telemetry->generation, offset + i)
						: 0;
	if (offset >= BLOCK)
		count_reading(telemetry);
	return 0;
}
