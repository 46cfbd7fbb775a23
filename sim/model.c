/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/base/le.h"

static const size_t page_sizes[SIM_PAGE_COUNT] = {
	[SIM_PAGE_IDENTIFY] = 4096, [SIM_PAGE_NAMESPACE] = 4096, [SIM_PAGE_ERROR] = 4096,
	[SIM_PAGE_SMART] = 512,	    [SIM_PAGE_FIRMWARE] = 512,	 [SIM_PAGE_EFFECTS] = 4096,
	[SIM_PAGE_SELFTEST] = 564,  [SIM_PAGE_SANITIZE] = 512,	 [SIM_PAGE_VENDOR] = 512,
};

size_t sim_page_size(enum sim_page page)
{
	return page_sizes[page];
}

struct sim_drive *sim_drive_new(unsigned index)
{
	struct sim_drive *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	for (unsigned i = 0; i < SIM_PAGE_COUNT; i++) {
		d->page[i] = calloc(1, page_sizes[i]);
		if (!d->page[i])
			return sim_drive_free(d);
	}
	snprintf(d->name, sizeof(d->name), "nvme%u", index);
	snprintf(d->state, sizeof(d->state), "live");
	d->minor = index;
	d->queue_count = 3;
	return d;
}

struct sim_drive *sim_drive_free(struct sim_drive *drive)
{
	if (drive)
		for (unsigned i = 0; i < SIM_PAGE_COUNT; i++)
			free(drive->page[i]);
	free(drive);
	return NULL;
}

void sim_model_copy(struct sim_exec *x, const void *page, size_t size, uint64_t offset,
		    uint64_t wanted)
{
	uint64_t len = x->cmd->data_len < wanted ? x->cmd->data_len : wanted;
	size_t have = offset < size ? size - (size_t)offset : 0;

	if (have > len)
		have = (size_t)len;
	memset(x->out, 0, (size_t)len);
	memcpy(x->out, (const uint8_t *)page + (have ? offset : 0), have);
	x->out_len = (uint32_t)len;
}

int32_t sim_model_page_of(const struct sim_passthru *cmd)
{
	switch (cmd->opcode) {
	case SIM_OP_GET_LOG:
	case SIM_OP_IDENTIFY:
	case SIM_OP_GET_FEATURES:
	case SIM_OP_SET_FEATURES:
		return (int32_t)(cmd->cdw10 & 0xff);
	default:
		return -1;
	}
}

void sim_model_count(struct sim_drive *drive, const struct sim_passthru *cmd)
{
	int32_t page = sim_model_page_of(cmd);
	struct sim_count *c = drive->counts, *end = c + drive->count_count;

	drive->commands++;
	while (c < end && (c->opcode != cmd->opcode || c->page != page))
		c++;
	if (c == end) {
		if (drive->count_count == SIM_COUNTS_MAX)
			return; /* still in the total */
		*c = (struct sim_count){ .opcode = cmd->opcode, .page = page };
		drive->count_count++;
	}
	c->count++;
}

/* Each refused command is an entry of log 01h, and one more in log 02h. */
static void add_error(struct sim_drive *drive, const struct sim_exec *x, uint16_t status)
{
	struct sim_error *e = &drive->errors[drive->error_count++ % SIM_ERRORS_MAX];
	uint8_t *counter = drive->page[SIM_PAGE_SMART] + 176;

	*e = (struct sim_error){
		.count = drive->error_count,
		.cmdid = drive->next_cmdid,
		.status = status,
		.param = x->error_param,
		.nsid = x->cmd->nsid,
	};
	if (drive->fixed[SIM_PAGE_SMART])
		return;
	em_put_le64(counter, em_le64(counter) + 1);
	if (em_le64(counter) == 0)
		em_put_le64(counter + 8, em_le64(counter + 8) + 1);
}

static const struct sim_rule *find_rule(const struct sim_drive *drive,
					const struct sim_passthru *cmd)
{
	int32_t page = sim_model_page_of(cmd);

	for (unsigned i = drive->rule_count; i-- > 0;) {
		const struct sim_rule *r = &drive->rules[i];

		if (r->opcode == cmd->opcode && (r->page < 0 || r->page == page))
			return r;
	}
	return NULL;
}

static uint16_t dispatch(struct sim_drive *drive, struct sim_exec *x)
{
	if (!drive->has_opcode[x->cmd->opcode])
		return SIM_ST_OPCODE;
	switch (x->cmd->opcode) {
	case SIM_OP_GET_LOG:
		return sim_model_get_log(drive, x);
	case SIM_OP_IDENTIFY:
		return sim_model_identify(drive, x);
	case SIM_OP_ABORT:
		x->dw0 = 1; /* not aborted */
		return 0;
	case SIM_OP_SET_FEATURES:
		return sim_model_set_feature(drive, x);
	case SIM_OP_GET_FEATURES:
		return sim_model_get_feature(drive, x);
	case SIM_OP_SELF_TEST:
		return sim_model_self_test(drive, x);
	default:
		return SIM_ST_OPCODE;
	}
}

uint16_t sim_model_execute(struct sim_drive *drive, struct sim_exec *x)
{
	const struct sim_rule *rule = find_rule(drive, x->cmd);
	uint16_t status;

	drive->next_cmdid = (uint16_t)((drive->next_cmdid + 1) & 0x0fff);
	status = rule && rule->status ? rule->status : dispatch(drive, x);
	if (rule && rule->bytes >= 0 && x->out_len > (uint32_t)rule->bytes)
		x->out_len = (uint32_t)rule->bytes;
	if (status != 0) {
		x->out_len = 0;
		add_error(drive, x, status);
	}
	return status;
}

/*
 * Linux asks for the notices that it handles itself and for no SMART event: with a drive that has
 * such notices the value after each start is 300h here.
 */
void sim_model_start(struct sim_drive *drive)
{
	uint32_t oaes = em_le32(drive->page[SIM_PAGE_IDENTIFY] + 92);

	memcpy(drive->feature, drive->feature_default, sizeof(drive->feature));
	drive->feature[SIM_FEATURE_ASYNC_EVENTS] = oaes & 0x300;
	drive->smart_event_out = false;
	drive->smart_events_held = 0;
}

static void raise_held(struct sim_drive *drive)
{
	for (unsigned info = 0; info < 3; info++) {
		if (!(drive->smart_events_held & 1u << info))
			continue;
		drive->smart_events_held &= (uint8_t) ~(1u << info);
		drive->smart_event_out = true;
		if (drive->on_event)
			drive->on_event(drive, 1u | info << 8 | 0x02u << 16);
		return;
	}
}

void sim_model_warning_changed(struct sim_drive *drive, uint8_t before, uint8_t after)
{
	uint32_t armed = drive->feature[SIM_FEATURE_ASYNC_EVENTS] & 0x3f;
	uint8_t risen = (uint8_t)(after & ~before & armed);

	if (risen & 0x01)
		drive->smart_events_held |= 1u << 2; /* spare below threshold */
	if (risen & 0x02)
		drive->smart_events_held |= 1u << 1; /* temperature threshold */
	if (risen & 0x3c)
		drive->smart_events_held |= 1u << 0; /* reliability */
	if (!drive->smart_event_out)
		raise_held(drive);
}

/* ---- Get Log Page ---- */

static void lay_out_errors(struct sim_drive *drive)
{
	uint8_t *page = drive->page[SIM_PAGE_ERROR];
	uint64_t shown = drive->error_count < SIM_ERRORS_MAX ? drive->error_count : SIM_ERRORS_MAX;

	if (drive->fixed[SIM_PAGE_ERROR])
		return;
	for (uint64_t i = 0; i < shown; i++) {
		const struct sim_error *e =
			&drive->errors[(drive->error_count - 1 - i) % SIM_ERRORS_MAX];
		uint8_t *out = page + 64 * i;

		memset(out, 0, 64);
		em_put_le64(out, e->count);
		em_put_le16(out + 10, e->cmdid);
		em_put_le16(out + 12, (uint16_t)(e->status << 1));
		em_put_le16(out + 14, e->param);
		em_put_le32(out + 24, e->nsid);
	}
}

static void finish_self_test(struct sim_drive *drive, unsigned result)
{
	uint8_t *page = drive->page[SIM_PAGE_SELFTEST], *first = page + 4;
	uint8_t running = page[0] & 0x0f;

	memmove(first + 28, first, 19 * 28);
	memset(first, 0, 28);
	first[0] = (uint8_t)(running << 4 | result);
	em_put_le64(first + 4, em_le64(drive->page[SIM_PAGE_SMART] + 128));
	page[0] = page[1] = 0;
}

static void advance_self_test(struct sim_drive *drive)
{
	uint8_t *page = drive->page[SIM_PAGE_SELFTEST];
	uint64_t spent = em_monotonic_us() - drive->selftest_started_us;

	if (drive->fixed[SIM_PAGE_SELFTEST] || !(page[0] & 0x0f))
		return;
	if (spent >= drive->selftest_length_us)
		finish_self_test(drive, 0);
	else
		page[1] = (uint8_t)(spent * 100 / drive->selftest_length_us);
}

uint16_t sim_model_self_test(struct sim_drive *drive, struct sim_exec *x)
{
	uint8_t *page = drive->page[SIM_PAGE_SELFTEST];
	unsigned code = x->cmd->cdw10 & 0x0f;

	advance_self_test(drive);
	if (code == 0x0f) {
		if (page[0] & 0x0f)
			finish_self_test(drive, 1);
		return 0;
	}
	if (code != 1 && code != 2)
		return SIM_ST_FIELD;
	if (page[0] & 0x0f)
		return SIM_ST_SELFTEST_BUSY;
	page[0] = (uint8_t)code;
	page[1] = 0;
	drive->selftest_started_us = em_monotonic_us();
	drive->selftest_length_us =
		code == 1 ? 120 * EM_US_PER_SEC
			  : em_le16(drive->page[SIM_PAGE_IDENTIFY] + 316) * 60 * EM_US_PER_SEC;
	if (drive->selftest_length_us == 0)
		drive->selftest_length_us = 1;
	return 0;
}

static const enum sim_page log_pages[256] = {
	[0x01] = SIM_PAGE_ERROR,   [0x02] = SIM_PAGE_SMART,    [0x03] = SIM_PAGE_FIRMWARE,
	[0x05] = SIM_PAGE_EFFECTS, [0x06] = SIM_PAGE_SELFTEST, [0x81] = SIM_PAGE_SANITIZE,
	[0xca] = SIM_PAGE_VENDOR,
};

static uint16_t refuse_log(struct sim_exec *x, uint16_t status, uint16_t param)
{
	x->error_param = param;
	return status;
}

static void after_read(struct sim_drive *drive, uint8_t lid, bool retain)
{
	if (lid != 0x02 || retain)
		return;
	drive->smart_event_out = false;
	raise_held(drive);
}

uint16_t sim_model_get_log(struct sim_drive *drive, struct sim_exec *x)
{
	const struct sim_passthru *c = x->cmd;
	uint8_t lid = (uint8_t)c->cdw10, lpa = drive->page[SIM_PAGE_IDENTIFY][261];
	uint64_t offset = (uint64_t)c->cdw13 << 32 | c->cdw12;
	uint64_t dwords = (c->cdw10 >> 16 & 0x0fff);
	bool for_all = c->nsid == 0 || c->nsid == UINT32_MAX;

	if (!drive->has_log[lid])
		return refuse_log(x, SIM_ST_LOG_PAGE, 40);
	if (!for_all && !(lid == 0x02 && (lpa & 1) && c->nsid <= drive->ns_count))
		return refuse_log(x, SIM_ST_FIELD, 4);
	if (lpa & 4) /* extended form: 32-bit length, 64-bit offset */
		dwords = (c->cdw10 >> 16) | (uint64_t)(c->cdw11 & 0xffff) << 16;
	else
		offset = 0;
	if (offset % 4 != 0 || offset > sim_page_size(log_pages[lid]))
		return refuse_log(x, SIM_ST_FIELD, 48);
	if (lid == 0x01)
		lay_out_errors(drive);
	if (lid == 0x06)
		advance_self_test(drive);
	sim_model_copy(x, drive->page[log_pages[lid]], sim_page_size(log_pages[lid]), offset,
		       (dwords + 1) * 4);
	after_read(drive, lid, c->cdw10 >> 15 & 1);
	return 0;
}

/* ---- features ---- */

uint16_t sim_model_get_feature(struct sim_drive *drive, struct sim_exec *x)
{
	uint8_t fid = (uint8_t)x->cmd->cdw10;
	unsigned select = x->cmd->cdw10 >> 8 & 7;
	bool can_select = drive->page[SIM_PAGE_IDENTIFY][520] & 0x10;

	x->error_param = 40;
	if (!drive->has_feature[fid] || (select && !can_select) || select > 3)
		return SIM_ST_FIELD;
	if (fid == SIM_FEATURE_TEMP_THRESHOLD && (x->cmd->cdw11 >> 16 & 0x0f))
		return SIM_ST_FIELD; /* thresholds of single sensors: none */
	if (fid == SIM_FEATURE_TEMP_THRESHOLD && (x->cmd->cdw11 >> 20 & 3))
		x->dw0 = 0; /* the lower threshold */
	else if (select == 3)
		x->dw0 = 4; /* changeable, not saveable, for the whole controller */
	else
		x->dw0 = select ? drive->feature_default[fid] : drive->feature[fid];
	return 0;
}

uint16_t sim_model_set_feature(struct sim_drive *drive, struct sim_exec *x)
{
	uint8_t fid = (uint8_t)x->cmd->cdw10;

	x->error_param = 40;
	if (!drive->has_feature[fid])
		return SIM_ST_FIELD;
	if (x->cmd->cdw10 >> 31)
		return SIM_ST_FEATURE_SAVE;
	if (fid == 0x07) {
		x->dw0 = drive->feature[fid]; /* the number of queues stays */
		return 0;
	}
	drive->feature[fid] = x->cmd->cdw11;
	return 0;
}
