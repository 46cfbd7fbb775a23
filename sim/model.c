/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/base/le.h"

#define CMIC		 76 /* in Identify Controller */
#define CMIC_CONTROLLERS 0x02
#define CNTLID		 78
#define ELPE		 262

static const size_t page_sizes[SIM_PAGE_COUNT] = {
	[SIM_PAGE_IDENTIFY] = 4096,
	[SIM_PAGE_NAMESPACE] = 4096,
	[SIM_PAGE_ERROR] = 16384,
	[SIM_PAGE_SMART] = 512,
	[SIM_PAGE_FIRMWARE] = 512,
	[SIM_PAGE_EFFECTS] = 4096,
	[SIM_PAGE_SELFTEST] = 564,
	[SIM_PAGE_SANITIZE] = 512,
	[SIM_PAGE_VENDOR] = 512,
	[SIM_PAGE_SECURITY] = 2048,
	[SIM_PAGE_TELEMETRY] = 512,
	[SIM_PAGE_ENDURANCE] = 512,
	[SIM_PAGE_EVENTS] = SIM_EVENTS_BYTES,
	[SIM_PAGE_SUPPORTED] = 1024,
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
	snprintf(d->transport, sizeof(d->transport), "pcie");
	d->minor = index;
	d->subsystem = -1;
	d->speed = 1;
	d->rates_at_us = em_monotonic_us();
	d->queue_count = 3;
	return d;
}

/* The controllers of a subsystem have one health, one firmware and one set of tests. */
static bool is_shared(enum sim_page page)
{
	return page != SIM_PAGE_IDENTIFY && page != SIM_PAGE_ERROR && page != SIM_PAGE_EFFECTS;
}

static bool is_lent(const struct sim_drive *drive, enum sim_page page)
{
	return drive->first && drive->first != drive && is_shared(page);
}

struct sim_drive *sim_drive_free(struct sim_drive *drive)
{
	if (drive)
		for (unsigned i = 0; i < SIM_PAGE_COUNT; i++)
			if (!is_lent(drive, (enum sim_page)i))
				free(drive->page[i]);
	if (drive)
		free(drive->ns_pages);
	free(drive);
	return NULL;
}

struct sim_drive *sim_drive_owner(struct sim_drive *drive)
{
	return drive->first ? drive->first : drive;
}

bool sim_drive_shares(const struct sim_drive *drive, const struct sim_drive *other)
{
	return drive == other || (drive->first && drive->first == other->first);
}

static void copy_abilities(struct sim_drive *drive, const struct sim_drive *first)
{
	memcpy(drive->has_log, first->has_log, sizeof(drive->has_log));
	memcpy(drive->has_feature, first->has_feature, sizeof(drive->has_feature));
	memcpy(drive->has_opcode, first->has_opcode, sizeof(drive->has_opcode));
	memcpy(drive->feature_default, first->feature_default, sizeof(drive->feature_default));
	memcpy(drive->fixed, first->fixed, sizeof(drive->fixed));
	memcpy(drive->ns, first->ns, sizeof(drive->ns));
	memcpy(drive->nqn, first->nqn, sizeof(drive->nqn));
	drive->ns_count = first->ns_count;
	memcpy(drive->spare, first->spare, sizeof(drive->spare));
	drive->spare_count = first->spare_count;
	drive->announces_nqn = first->announces_nqn;
	drive->device_id = first->device_id;
	drive->subsystem_vendor = first->subsystem_vendor;
	drive->subsystem_device = first->subsystem_device;
}

void sim_drive_join(struct sim_drive *drive, struct sim_drive *first)
{
	struct sim_drive **end = &first->sibling;
	unsigned number = 1;

	for (; *end; end = &(*end)->sibling)
		number++;
	*end = drive;
	first->first = drive->first = first;
	if (first->subsystem < 0)
		first->subsystem = (int)first->minor;
	drive->subsystem = first->subsystem;
	copy_abilities(drive, first);
	for (unsigned i = 0; i < SIM_PAGE_COUNT; i++) {
		if (!is_lent(drive, (enum sim_page)i)) {
			memcpy(drive->page[i], first->page[i], page_sizes[i]);
			continue;
		}
		free(drive->page[i]);
		drive->page[i] = first->page[i];
	}
	first->page[SIM_PAGE_IDENTIFY][CMIC] |= CMIC_CONTROLLERS;
	drive->page[SIM_PAGE_IDENTIFY][CMIC] |= CMIC_CONTROLLERS;
	em_put_le16(drive->page[SIM_PAGE_IDENTIFY] + CNTLID,
		    (uint16_t)(em_le16(first->page[SIM_PAGE_IDENTIFY] + CNTLID) + number));
}

void sim_drive_leave(struct sim_drive *drive)
{
	struct sim_drive **at = drive->first ? &drive->first->sibling : NULL;

	while (at && *at && *at != drive)
		at = &(*at)->sibling;
	if (at && *at)
		*at = drive->sibling;
}

void sim_model_copy(const struct sim_drive *drive, struct sim_exec *x, enum sim_page page,
		    const void *bytes, uint64_t offset, uint64_t wanted)
{
	uint64_t len = x->cmd->data_len < wanted ? x->cmd->data_len : wanted;
	size_t size = page_sizes[page], have = offset < size ? size - (size_t)offset : 0;

	if (have > len)
		have = (size_t)len;
	memset(x->out, 0, (size_t)len);
	memcpy(x->out, (const uint8_t *)bytes + (have ? offset : 0), have);
	x->out_len = (uint32_t)len;
	for (unsigned i = 0; i < drive->flip_count; i++) {
		const struct sim_flip *f = &drive->flips[i];

		if (f->page == page && f->byte >= offset && f->byte - offset < len)
			x->out[f->byte - offset] ^= f->mask;
	}
}

void sim_model_copy_list(struct sim_exec *x, const uint8_t bytes[4096])
{
	uint32_t len = x->cmd->data_len < 4096 ? x->cmd->data_len : 4096;

	memcpy(x->out, bytes, len);
	x->out_len = len;
}

int32_t sim_model_page_of(const struct sim_passthru *cmd)
{
	switch (cmd->opcode) {
	case SIM_OP_GET_LOG:
	case SIM_OP_IDENTIFY:
	case SIM_OP_GET_FEATURES:
	case SIM_OP_SET_FEATURES:
		return (int32_t)(cmd->cdw10 & 0xff);
	case SIM_OP_SECURITY_RECEIVE:
		return (int32_t)(cmd->cdw10 >> 24);
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

/* One more entry of log 01h, and one more in log 02h. */
static void add_error(struct sim_drive *drive, const struct sim_error *error)
{
	struct sim_error *e = &drive->errors[drive->error_count++ % SIM_ERRORS_MAX];
	uint8_t *counter = drive->page[SIM_PAGE_SMART] + 176;

	*e = *error;
	e->count = drive->error_count;
	if (drive->fixed[SIM_PAGE_SMART])
		return;
	em_put_le64(counter, em_le64(counter) + 1);
	if (em_le64(counter) == 0)
		em_put_le64(counter + 8, em_le64(counter + 8) + 1);
}

static void add_refusal(struct sim_drive *drive, const struct sim_exec *x, uint16_t status)
{
	const struct sim_error error = {
		.cmdid = drive->next_cmdid,
		.status = status,
		.param = x->error_param,
		.nsid = x->cmd->nsid,
	};

	add_error(drive, &error);
}

void sim_model_add_error(struct sim_drive *drive, uint16_t status, int queue, uint32_t nsid,
			 uint64_t lba)
{
	const struct sim_error error = {
		.lba = lba,
		.sqid = queue < 0 ? UINT16_MAX : (uint16_t)queue,
		.cmdid = queue < 0 ? UINT16_MAX : drive->next_cmdid,
		.status = status,
		.param = UINT16_MAX,
		.nsid = nsid,
	};

	add_error(drive, &error);
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
	case SIM_OP_SECURITY_RECEIVE:
		return sim_model_security_receive(drive, x);
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
		add_refusal(drive, x, status);
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

static void raise_risen(struct sim_drive *drive, uint8_t before, uint8_t after)
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

void sim_model_warning_changed(struct sim_drive *drive, uint8_t before, uint8_t after)
{
	for (struct sim_drive *d = sim_drive_owner(drive); d; d = d->sibling)
		raise_risen(d, before, after);
}

/* ---- Get Log Page ---- */

static void lay_out_errors(struct sim_drive *drive)
{
	uint8_t *page = drive->page[SIM_PAGE_ERROR];
	uint64_t room = drive->page[SIM_PAGE_IDENTIFY][ELPE] + 1u;
	uint64_t shown = drive->error_count < room ? drive->error_count : room;

	if (drive->fixed[SIM_PAGE_ERROR])
		return;
	memset(page, 0, page_sizes[SIM_PAGE_ERROR]);
	for (uint64_t i = 0; i < shown; i++) {
		const struct sim_error *e =
			&drive->errors[(drive->error_count - 1 - i) % SIM_ERRORS_MAX];
		uint8_t *out = page + 64 * i;

		em_put_le64(out, e->count);
		em_put_le16(out + 8, e->sqid);
		em_put_le16(out + 10, e->cmdid);
		em_put_le16(out + 12, (uint16_t)(e->status << 1));
		em_put_le16(out + 14, e->param);
		em_put_le64(out + 16, e->lba);
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

/* Nobody has ended it: as it was told, or well. */
static void end_self_test(struct sim_drive *drive)
{
	uint8_t result = drive->selftest_result;

	finish_self_test(drive, result);
	if (result == 7) /* the segment is known */
		drive->page[SIM_PAGE_SELFTEST][5] = drive->selftest_segment;
	drive->selftest_result = drive->selftest_segment = 0;
}

static void advance_self_test(struct sim_drive *drive)
{
	uint8_t *page = drive->page[SIM_PAGE_SELFTEST];
	uint64_t now = em_monotonic_us(), passed = now - drive->selftest_seen_us;

	if (drive->fixed[SIM_PAGE_SELFTEST] || !(page[0] & 0x0f))
		return;
	drive->selftest_seen_us = now;
	drive->selftest_spent_us += passed * drive->speed;
	if (drive->selftest_spent_us >= drive->selftest_length_us)
		end_self_test(drive);
	else
		page[1] = (uint8_t)(drive->selftest_spent_us * 100 / drive->selftest_length_us);
}

uint16_t sim_model_self_test(struct sim_drive *any, struct sim_exec *x)
{
	struct sim_drive *drive = sim_drive_owner(any);
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
	drive->selftest_seen_us = em_monotonic_us();
	drive->selftest_spent_us = 0;
	drive->selftest_length_us =
		code == 1 ? 120 * EM_US_PER_SEC
			  : em_le16(drive->page[SIM_PAGE_IDENTIFY] + 316) * 60 * EM_US_PER_SEC;
	if (drive->selftest_length_us == 0)
		drive->selftest_length_us = 1;
	return 0;
}

static const enum sim_page log_pages[256] = {
	[0x00] = SIM_PAGE_SUPPORTED, [0x01] = SIM_PAGE_ERROR,	[0x02] = SIM_PAGE_SMART,
	[0x03] = SIM_PAGE_FIRMWARE,  [0x05] = SIM_PAGE_EFFECTS, [0x06] = SIM_PAGE_SELFTEST,
	[0x81] = SIM_PAGE_SANITIZE,  [0xca] = SIM_PAGE_VENDOR,	[0x09] = SIM_PAGE_ENDURANCE,
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
	if (lid == 0x0d)
		return sim_model_event_log(drive, x, offset, (dwords + 1) * 4);
	if (lid == 0x07 || lid == 0x08)
		return sim_model_telemetry(drive, x, offset, (dwords + 1) * 4);
	if (lid == 0xd1 || lid == 0xd2)
		return sim_memblaze_log(drive, x, offset, (dwords + 1) * 4);
	if (offset % 4 != 0 || offset > sim_page_size(log_pages[lid]))
		return refuse_log(x, SIM_ST_FIELD, 48);
	if (lid == 0x01)
		lay_out_errors(drive);
	sim_rate_apply(sim_drive_owner(drive), em_monotonic_us());
	if (lid == 0x06)
		advance_self_test(sim_drive_owner(drive));
	sim_model_copy(drive, x, log_pages[lid], drive->page[log_pages[lid]], offset,
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
