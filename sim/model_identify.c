/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/model.h"

#include <errno.h>
#include <string.h>

#include "lib/base/le.h"
#include "lib/base/cleanup.h"

#define CNS_ALLOCATED_LIST 0x10
#define CNS_ALLOCATED	   0x11

#define DESCRIPTOR_COMMAND_SET 4

static const struct sim_namespace *find_ns(const struct sim_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->ns_count; i++)
		if (drive->ns[i].nsid == nsid)
			return &drive->ns[i];
	return NULL;
}

static const struct sim_namespace *find_spare(const struct sim_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->spare_count; i++)
		if (drive->spare[i].nsid == nsid)
			return &drive->spare[i];
	return NULL;
}

static uint32_t version(const struct sim_drive *drive)
{
	return em_le32(drive->page[SIM_PAGE_IDENTIFY] + 80);
}

static bool manages_namespaces(const struct sim_drive *drive)
{
	return em_le16(drive->page[SIM_PAGE_IDENTIFY] + 256) & 0x08;
}

static bool is_discovery(const struct sim_drive *drive)
{
	return drive->page[SIM_PAGE_IDENTIFY][111] == 2;
}

static void lay_out_ns(struct sim_drive *drive, const struct sim_namespace *ns, uint8_t out[4096])
{
	const struct sim_namespace_page *given =
		ns ? sim_namespace_page_find(drive, ns->nsid) : NULL;

	if (given) {
		memcpy(out, given->bytes, 4096);
		return;
	}
	if (drive->fixed[SIM_PAGE_NAMESPACE]) {
		memcpy(out, drive->page[SIM_PAGE_NAMESPACE], 4096);
		return;
	}
	out[25] = 1;	   /* two formats, 0-based */
	out[128 + 2] = 9;  /* LBA format 0: 512 bytes */
	out[132 + 2] = 12; /* LBA format 1: 4096 bytes */
	out[128 + 3] = 2;  /* relative performance: good, and best */
	out[132 + 3] = 0;
	if (!ns)
		return;
	em_put_le64(out, ns->blocks);
	em_put_le64(out + 8, ns->blocks);
	em_put_le64(out + 16, ns->blocks / 10 * 3);
	out[26] = ns->block_shift == 12 ? 1 : 0;
	out[30] = drive->first ? 1 : 0; /* reached through several controllers */
	if (version(drive) < 0x00010200)
		return;
	em_put_le64(out + 48, ns->blocks << ns->block_shift);
	memcpy(out + 104, ns->nguid, 16);
	memcpy(out + 120, ns->eui64, 8);
}

static uint16_t identify_ns(struct sim_drive *drive, struct sim_exec *x)
{
	uint32_t nsid = x->cmd->nsid, nn = em_le32(drive->page[SIM_PAGE_IDENTIFY] + 516);
	const struct sim_namespace *ns = find_ns(drive, nsid);
	uint8_t out[4096] = { 0 };

	if (!ns && (uint8_t)x->cmd->cdw10 == CNS_ALLOCATED)
		ns = find_spare(drive, nsid);
	x->error_param = 4;
	if (nsid == UINT32_MAX ? !manages_namespaces(drive) : nsid == 0 || (nsid > nn && !ns))
		return SIM_ST_NSID;
	if (ns || nsid == UINT32_MAX)
		lay_out_ns(drive, ns, out);
	sim_model_copy(drive, x, SIM_PAGE_NAMESPACE, out, 0, sizeof(out));
	return 0;
}

static uint16_t identify_list(struct sim_drive *drive, struct sim_exec *x)
{
	bool all = (uint8_t)x->cmd->cdw10 == CNS_ALLOCATED_LIST;
	unsigned i = 0, j = 0, n = 0, spares = all ? drive->spare_count : 0;
	uint8_t out[4096] = { 0 };

	x->error_param = 4;
	if (x->cmd->nsid >= UINT32_MAX - 1)
		return SIM_ST_NSID;
	/* Namespaces are kept in order of their NSID. */
	while (i < drive->ns_count || j < spares) {
		bool spare = i == drive->ns_count ||
			     (j < spares && drive->spare[j].nsid < drive->ns[i].nsid);
		uint32_t nsid = spare ? drive->spare[j++].nsid : drive->ns[i++].nsid;

		if (nsid > x->cmd->nsid)
			em_put_le32(out + 4 * n++, nsid);
	}
	sim_model_copy_list(x, out);
	return 0;
}

static size_t add_descriptor(uint8_t *out, uint8_t type, const void *id, uint8_t len)
{
	static const uint8_t nothing[16];

	/* An identifier that is all zero is none. */
	if (memcmp(id, nothing, len) == 0 && type != DESCRIPTOR_COMMAND_SET)
		return 0;
	out[0] = type;
	out[1] = len;
	memcpy(out + 4, id, len);
	return 4u + len;
}

static uint16_t identify_descriptors(struct sim_drive *drive, struct sim_exec *x)
{
	const struct sim_namespace *ns = find_ns(drive, x->cmd->nsid);
	uint8_t out[4096] = { 0 };
	size_t at;

	x->error_param = 4;
	if (!ns)
		return SIM_ST_NSID;
	at = add_descriptor(out, 1, ns->eui64, sizeof(ns->eui64));
	at += add_descriptor(out + at, 2, ns->nguid, sizeof(ns->nguid));
	if (version(drive) >= 0x00020000)
		add_descriptor(out + at, DESCRIPTOR_COMMAND_SET, "", 1); /* NVM */
	sim_model_copy_list(x, out);
	return 0;
}

static uint16_t identify_controllers(struct sim_drive *drive, struct sim_exec *x)
{
	uint8_t out[4096] = { 0 };
	unsigned n = 0;

	/* Controllers join with ascending identifiers. */
	for (struct sim_drive *d = sim_drive_owner(drive); d; d = d->sibling) {
		uint16_t id = em_le16(d->page[SIM_PAGE_IDENTIFY] + 78);

		if (id >= x->cmd->cdw10 >> 16)
			em_put_le16(out + 2 + 2 * n++, id);
	}
	em_put_le16(out, (uint16_t)n);
	sim_model_copy_list(x, out);
	return 0;
}

static uint16_t identify_ctrl(struct sim_drive *drive, struct sim_exec *x)
{
	x->error_param = 4;
	if (x->cmd->nsid != 0)
		return SIM_ST_FIELD;
	sim_model_copy(drive, x, SIM_PAGE_IDENTIFY, drive->page[SIM_PAGE_IDENTIFY], 0, 4096);
	return 0;
}

static uint16_t identify_empty(struct sim_drive *drive, struct sim_exec *x)
{
	static const uint8_t zeros[4096];

	(void)drive;
	if (x->cmd->cdw11 >> 24 != 0)
		return SIM_ST_FIELD; /* only the NVM command set */
	sim_model_copy_list(x, zeros);
	return 0;
}

/* One row per CNS: from which version on, and whether it belongs to namespace management. */
static const struct cns {
	uint8_t code;
	uint32_t since;
	bool management;
	uint16_t (*answer)(struct sim_drive *drive, struct sim_exec *x);
} table[] = {
	{ 0x00, 0, false, identify_ns },
	{ 0x01, 0, false, identify_ctrl },
	{ 0x02, 0x00010100, false, identify_list },
	{ 0x03, 0x00010300, false, identify_descriptors },
	{ 0x05, 0x00020000, false, identify_empty },
	{ 0x06, 0x00020000, false, identify_empty },
	{ 0x10, 0x00010200, true, identify_list },
	{ 0x11, 0x00010200, true, identify_ns },
	{ 0x12, 0x00010200, true, identify_controllers },
	{ 0x13, 0x00010200, true, identify_controllers },
};

uint16_t sim_model_identify(struct sim_drive *drive, struct sim_exec *x)
{
	uint8_t code = (uint8_t)x->cmd->cdw10;

	x->error_param = 40;
	for (unsigned i = 0; i < EM_COUNT(table); i++) {
		const struct cns *c = &table[i];

		if (c->code != code)
			continue;
		if (version(drive) < c->since || (c->management && !manages_namespaces(drive)) ||
		    (c->code != 0x01 && is_discovery(drive)))
			return SIM_ST_FIELD;
		return c->answer(drive, x);
	}
	return SIM_ST_FIELD;
}
