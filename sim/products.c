/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products - what each kind of drive announces.
 *
 * Model numbers, capacities, PCI identities and namespace counts are published ones. What no data
 * sheet says (MDTS, FRMW, log page attributes, thresholds, firmware names) is a plausible value.
 */
#include "sim/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"

/* What the products of one generation have in common. */
struct family {
	const char *firmware;
	uint16_t vendor, device, subsystem_vendor;
	uint8_t ieee[3]; /* as printed, most significant first */
	uint32_t version, namespaces, oaes;
	uint16_t oacs, oncs;
	uint8_t frmw, lpa, mtfa;	/* mtfa in 100 ms */
	uint16_t wctemp, cctemp, power; /* kelvin; 0.01 W */
	uint32_t sanicap;
	uint8_t type;	     /* CNTRLTYPE; 0: 1 (I/O) */
	bool no_health;	     /* log 02h is all zero */
	bool has_memblaze;   /* log CAh */
	bool records;	     /* logs D1h and D2h, and their features */
	bool namespace_keys; /* a key for each namespace: tells so in its discovery */
	uint8_t memblaze_layout;
};

/* Format, firmware, namespace management, self-test; and MI and security, send and receive. */
#define PBLAZE_OACS	   0x001e
#define PBLAZE_OACS_MI_TCG 0x005f
/* DSM, write zeroes, select, reservations, timestamp. */
#define PBLAZE_ONCS 0x007c
/* Notices that Linux asks for: namespaces changed, firmware activation. */
#define NOTICES 0x300

static const struct family pblaze5 = {
	.firmware = "28301203",
	.vendor = 0x1c5f,
	.device = 0x003d,
	.subsystem_vendor = 0x1c5f,
	.ieee = { 0x00, 0xe0, 0xcf },
	.version = 0x00010201,
	.namespaces = 32,
	.oaes = NOTICES,
	.oacs = PBLAZE_OACS,
	.oncs = PBLAZE_ONCS,
	.frmw = 0x16, /* three slots, activation without reset */
	.lpa = 0x06,  /* effects log, extended form */
	.mtfa = 50,
	.wctemp = 343,
	.cctemp = 353,
	.power = 2500,
	.has_memblaze = true,
	.memblaze_layout = 0,
};

static const struct family pblaze6 = {
	.firmware = "60004110",
	.vendor = 0x1c5f,
	.device = 0x000e,
	.subsystem_vendor = 0x1c5f,
	.ieee = { 0x00, 0xe0, 0xcf },
	.version = 0x00010400,
	.namespaces = 32,
	.oaes = NOTICES,
	.oacs = PBLAZE_OACS_MI_TCG,
	.oncs = PBLAZE_ONCS,
	.frmw = 0x16,
	.lpa = 0x0e, /* effects log, extended form, telemetry */
	.mtfa = 20,
	.wctemp = 348,
	.cctemp = 358,
	.power = 2500,
	.sanicap = 0x00000003, /* crypto and block erase */
	.has_memblaze = true,
	.memblaze_layout = 2,
	.records = true,
};

static const struct family pblaze7 = {
	.firmware = "70010203",
	.vendor = 0x1c5f,
	.device = 0x003f,
	.subsystem_vendor = 0x1c5f,
	.ieee = { 0x00, 0xe0, 0xcf },
	.version = 0x00020000,
	.namespaces = 32,
	.oaes = NOTICES,
	.oacs = PBLAZE_OACS_MI_TCG,
	.oncs = PBLAZE_ONCS,
	.frmw = 0x1e, /* seven slots */
	.lpa = 0x1e,  /* effects log, extended form, telemetry, persistent events */
	.mtfa = 10,
	.wctemp = 350,
	.cctemp = 360,
	.power = 2500,
	.sanicap = 0x00000003, /* crypto and block erase */
	.has_memblaze = true,
	.memblaze_layout = 3,
	.records = true,
	.namespace_keys = true,
};

/* Somebody else's drive: one namespace, SMART also by namespace, slot 1 read-only. */
static const struct family generic = {
	.firmware = "EX3A71Q0",
	.vendor = 0x1b36,
	.device = 0x0010,
	.subsystem_vendor = 0x1af4,
	.ieee = { 0x52, 0x54, 0x00 },
	.version = 0x00010300,
	.namespaces = 1,
	.oaes = 0x100,
	.oacs = 0x0016,
	.oncs = 0x005c,
	.frmw = 0x07,
	.lpa = 0x07,
	.wctemp = 345,
	.cctemp = 355,
	.power = 1200,
	.sanicap = 0x00000003, /* crypto and block erase */
};

/* NVMe 1.0: Identify, the three mandatory logs, the mandatory features, no option. */
static const struct family minimal = {
	.firmware = "1.0",
	.vendor = 0x1b36,
	.device = 0x0010,
	.subsystem_vendor = 0x1af4,
	.ieee = { 0x52, 0x54, 0x00 },
	.version = 0x00010000,
	.namespaces = 1,
	.frmw = 0x02,
};

/* What a Linux host serves over a network: no health of a drive behind it. */
static const struct family target = {
	.firmware = "4.20.6.c",
	.ieee = { 0x00, 0x00, 0x00 },
	.version = 0x00010300,
	.namespaces = 1024,
	.oaes = 0x100,
	.oncs = 0x000c,
	.lpa = 0x06,
	.no_health = true,
};

/* Tells where subsystems are, and has none of a drive's pages. */
static const struct family discovery = {
	.firmware = "",
	.version = 0x00010400,
	.type = 2,
};

/* A drive from a recording: all that it is stands in its pages. */
static const struct family recorded = {
	.firmware = "",
};

static const struct product {
	const char *name, *model;
	const struct family *family;
	uint16_t subsystem_device;
	uint32_t capacity_gb;
} products[] = {
	{ "D920", "P5920DT0384M00", &pblaze5, 0x0a31, 3840 },
	{ "C920", "P5920CH0384M00", &pblaze5, 0x0a30, 3840 },
	{ "D926", "P5926DT0320M00", &pblaze5, 0x4a31, 3200 },
	{ "C926", "P5926CH0640M00", &pblaze5, 0x4a40, 6400 },
	{ "6530", "P6530DT0384M00", &pblaze6, 0x0b31, 3840 },
	{ "6536", "P6536DT0640M00", &pblaze6, 0x4b41, 6400 },
	{ "7940", "P7940DT0768M00", &pblaze7, 0x0441, 7680 },
	{ "7946", "P7946DT0640M00", &pblaze7, 0x4441, 6400 },
	{ "generic", "Example Data Center NVMe 1T", &generic, 0x1100, 960 },
	{ "minimal", "Minimal NVMe 1.0", &minimal, 0x1100, 240 },
	{ "target", "Linux", &target, 0, 960 },
	{ "discovery", "", &discovery, 0, 0 },
	{ "recorded", "", &recorded, 0, 0 },
};

/* 97696368 sectors for the first 50 GB, 1953504 for each further one. */
static uint64_t published_bytes(uint64_t gb)
{
	return (UINT64_C(97696368) + UINT64_C(1953504) * (gb - 50)) * 512;
}

static void put_text(uint8_t *to, size_t size, const char *text)
{
	size_t len = strlen(text);

	memset(to, ' ', size);
	memcpy(to, text, len < size ? len : size);
}

static void lay_out_identity(struct sim_drive *d, const struct product *p)
{
	const struct family *f = p->family;
	uint8_t *id = d->page[SIM_PAGE_IDENTIFY];
	char serial[21];

	if (f->type == 2)
		serial[0] = '\0';
	else
		snprintf(serial, sizeof(serial), "SIM%05u%s", d->minor, p->name);
	em_put_le16(id, f->vendor);
	em_put_le16(id + 2, f->subsystem_vendor);
	put_text(id + 4, 20, serial);
	put_text(id + 24, 40, p->model);
	put_text(id + 64, 8, f->firmware);
	id[72] = 4; /* recommended arbitration burst */
	for (unsigned i = 0; i < 3; i++)
		id[73 + i] = f->ieee[2 - i];
	id[77] = 5; /* 2^5 pages of 4 KiB: 128 KiB */
	em_put_le16(id + 78, 1);
	/* The version field came with 1.2; a 1.0 drive leaves it zero. */
	em_put_le32(id + 80, f->version >= 0x00010200 ? f->version : 0);
}

static void lay_out_abilities(struct sim_drive *d, const struct product *p)
{
	const struct family *f = p->family;
	uint8_t *id = d->page[SIM_PAGE_IDENTIFY];

	if (f->version >= 0x00010200) {
		em_put_le32(id + 84, 500000);  /* RTD3 resume, us */
		em_put_le32(id + 88, 5000000); /* RTD3 entry */
		em_put_le32(id + 92, f->oaes);
	}
	if (f->version >= 0x00010400)
		id[111] = f->type ? f->type : 1; /* else an I/O controller */
	em_put_le16(id + 256, f->oacs);
	id[258] = 3; /* abort limit, 0-based */
	id[259] = 3; /* event requests, 0-based */
	id[260] = f->frmw;
	id[261] = f->lpa;
	id[262] = SIM_ERRORS_MAX - 1;
	em_put_le16(id + 266, f->wctemp);
	em_put_le16(id + 268, f->cctemp);
	em_put_le16(id + 270, f->mtfa);
	if (f->oacs & 0x10) {
		em_put_le16(id + 316, 60); /* extended self-test, minutes */
		id[318] = 1;
	}
	id[319] = f->version >= 0x00010300 ? 1 : 0; /* firmware granularity, 4 KiB */
	id[512] = 0x66;
	id[513] = 0x44;
	d->announces_nqn = f->version >= 0x00010201;
	em_put_le32(id + 328, f->sanicap);
	em_put_le32(id + 516, f->namespaces);
	em_put_le16(id + 520, f->oncs);
	id[524] = f->oacs & 2 ? 0x04 : 0;	      /* crypto erase */
	em_put_le32(id + 352, f->lpa & 0x10 ? 1 : 0); /* PELS: 64 KiB */
	em_put_le16(id + 2048, f->power);
}

static void lay_out_capacity(struct sim_drive *d, const struct product *p)
{
	const struct family *f = p->family;
	uint8_t *id = d->page[SIM_PAGE_IDENTIFY];
	uint64_t bytes = p->capacity_gb ? published_bytes(p->capacity_gb) : 0;

	if (f->oacs & 0x08)
		em_put_le64(id + 280, bytes); /* all of it in namespaces: none unallocated */
	sim_namespace_clear(d);
	if (bytes)
		sim_namespace_add(d, 1, 1, bytes, 9);
}

static void lay_out_logs(struct sim_drive *d, const struct product *p)
{
	const struct family *f = p->family;
	uint8_t *smart = d->page[SIM_PAGE_SMART], *fw = d->page[SIM_PAGE_FIRMWARE];
	uint8_t *test = d->page[SIM_PAGE_SELFTEST], *sanitize = d->page[SIM_PAGE_SANITIZE];

	fw[0] = 0x01;
	put_text(fw + 8, 8, f->firmware);
	for (unsigned i = 0; i < 20; i++)
		test[4 + 28 * i] = 0x0f; /* entry not used */
	for (unsigned i = 8; i < 32; i += 4)
		em_put_le32(sanitize + i, UINT32_MAX);
	sim_telemetry_start(d);
	if (f->has_memblaze)
		sim_memblaze_lay_out(d->page[SIM_PAGE_VENDOR], f->memblaze_layout);
	if (f->oacs & 0x01)
		sim_security_lay_out(d->page[SIM_PAGE_SECURITY], f->namespace_keys);
	if (f->no_health)
		return;
	em_put_le16(smart + 1, 273 + 38);
	smart[3] = 100;
	smart[4] = 10;
	smart[5] = 3;
	em_put_le64(smart + 32, 182736455);
	em_put_le64(smart + 48, 91827364);
	em_put_le64(smart + 64, 3645463728);
	em_put_le64(smart + 80, 1726354453);
	em_put_le64(smart + 96, 5417);
	em_put_le64(smart + 112, 21);
	em_put_le64(smart + 128, 8766);
	em_put_le64(smart + 144, 4);
	if (f->version >= 0x00010200) {
		em_put_le16(smart + 200, 273 + 38);
		em_put_le16(smart + 202, 273 + 43);
	}
}

static void support(bool table[256], const uint8_t *codes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table[codes[i]] = true;
}

/*
 * What is announced in OACS and ONCS, with the effects that such commands have, whether or not the
 * simulator can carry them out.
 */
static void lay_out_effects(struct sim_drive *d)
{
	static const struct {
		uint8_t opcode;
		uint16_t announced; /* bits of OACS; 0: every drive */
		uint32_t effects;
	} admin[] = {
		{ 0x00, 0, 0x00000001 },      { 0x01, 0, 0x00000001 },
		{ 0x02, 0, 0x00000001 },      { 0x04, 0, 0x00000001 },
		{ 0x05, 0, 0x00000001 },      { 0x06, 0, 0x00000001 },
		{ 0x08, 0, 0x00000001 },      { 0x09, 0, 0x00000001 },
		{ 0x0a, 0, 0x00000001 },      { 0x0c, 0, 0x00000001 },
		{ 0x0d, 0x0008, 0x00020009 }, { 0x10, 0x0004, 0x00020011 },
		{ 0x11, 0x0004, 0x00000001 }, { 0x14, 0x0010, 0x00000001 },
		{ 0x15, 0x0008, 0x00000009 }, { 0x1d, 0x0040, 0x00000001 },
		{ 0x1e, 0x0040, 0x00000001 }, { 0x80, 0x0002, 0x00020007 },
		{ 0x81, 0x0001, 0x00000001 }, { 0x82, 0x0001, 0x00000001 },
	};
	static const struct {
		uint8_t opcode;
		uint16_t announced; /* bits of ONCS */
		uint32_t effects;
	} io[] = {
		{ 0x00, 0, 0x00000001 },      { 0x01, 0, 0x00000003 },
		{ 0x02, 0, 0x00000001 },      { 0x08, 0x0008, 0x00000003 },
		{ 0x09, 0x0004, 0x00000003 }, { 0x0d, 0x0020, 0x00000001 },
		{ 0x0e, 0x0020, 0x00000001 }, { 0x11, 0x0020, 0x00000001 },
		{ 0x15, 0x0020, 0x00000001 },
	};
	const uint8_t *id = d->page[SIM_PAGE_IDENTIFY];
	uint8_t *page = d->page[SIM_PAGE_EFFECTS];

	for (unsigned i = 0; i < EM_COUNT(admin); i++)
		if (!admin[i].announced || em_le16(id + 256) & admin[i].announced)
			em_put_le32(page + 4 * admin[i].opcode, admin[i].effects);
	for (unsigned i = 0; i < EM_COUNT(io); i++)
		if (!io[i].announced || em_le16(id + 520) & io[i].announced)
			em_put_le32(page + 1024 + 4 * io[i].opcode, io[i].effects);
	if (em_le32(id + 328))
		em_put_le32(page + 4 * 0x84, 0x00020003);
}

static void lay_out_support(struct sim_drive *d, const struct product *p)
{
	const struct family *f = p->family;
	static const uint8_t opcodes[] = { 0x02, 0x06, 0x08, 0x09, 0x0a };
	static const uint8_t logs[] = { 0x01, 0x02, 0x03 };
	static const uint8_t features[] = { 0x01, 0x02, 0x04, 0x05, 0x07, 0x08, 0x09, 0x0a, 0x0b };
	static const uint8_t recording[] = { 0xd0, 0xe1, 0xe2 };

	support(d->has_opcode, opcodes, sizeof(opcodes));
	if (f->type != 2 && f != &recorded)
		support(d->has_log, logs, sizeof(logs));
	support(d->has_feature, features, sizeof(features));
	d->has_opcode[SIM_OP_SELF_TEST] = d->has_log[0x06] = f->oacs & 0x10;
	d->has_opcode[SIM_OP_SECURITY_RECEIVE] = f->oacs & 0x01;
	d->has_log[0x05] = f->lpa & 0x02;
	d->has_log[0x07] = d->has_log[0x08] = f->lpa & 0x08;
	d->has_log[0x0d] = f->lpa & 0x10;
	d->has_log[0xca] = f->has_memblaze;
	d->has_log[0xd1] = d->has_log[0xd2] = f->records;
	d->has_log[0x81] = em_le32(d->page[SIM_PAGE_IDENTIFY] + 328) != 0;
	if (f != &recorded)
		lay_out_effects(d);
	d->recorded = f == &recorded;
	d->feature_default[SIM_FEATURE_TEMP_THRESHOLD] = f->wctemp ? f->wctemp : 0xffff;
	d->feature_default[0x07] = 0x001f001f;
	if (!f->records)
		return;
	support(d->has_feature, recording, sizeof(recording));
	/* All three, of reads and writes; slow from 100, 200 and 500 ms on. */
	d->feature_default[0xd0] = 0x07 | 0x30 | 9 << 8 | 19 << 16 | 49 << 24;
	d->feature_default[0xe1] = 1u << 15 | 300;
	d->feature_default[0xe2] = 1;
}

/* What Linux makes of vendor, serial and model when a drive announces no name. */
static void make_nqn(const uint8_t *id, char *nqn, size_t size)
{
	snprintf(nqn, size, "nqn.2014.08.org.nvmexpress:%04x%04x%.20s%.40s", em_le16(id),
		 em_le16(id + 2), (const char *)id + 4, (const char *)id + 24);
}

/* What the namespaces leave of the capacity, unless a number was set. */
static void settle_capacity(struct sim_drive *drive)
{
	uint8_t *id = drive->page[SIM_PAGE_IDENTIFY];
	uint64_t total = em_le64(id + 280), used = 0;

	for (unsigned i = 0; i < drive->ns_count; i++)
		used += drive->ns[i].blocks << drive->ns[i].block_shift;
	if (!drive->fixed[SIM_PAGE_IDENTIFY] && em_le64(id + 296) == 0 && used < total)
		em_put_le64(id + 296, total - used);
}

/*
 * What was recorded has its logs from its pages; what is no page it supports as it announces it.
 * Telemetry and the persistent event log are then the simulator's own.
 */
static void settle_recorded(struct sim_drive *drive)
{
	const uint8_t *id = drive->page[SIM_PAGE_IDENTIFY];
	uint16_t wctemp = em_le16(id + 266);

	drive->has_opcode[SIM_OP_SELF_TEST] = em_le16(id + 256) & 0x10;
	drive->has_log[0x07] = drive->has_log[0x08] = id[261] & 0x08;
	drive->has_log[0x0d] = id[261] & 0x10;
	drive->feature_default[SIM_FEATURE_TEMP_THRESHOLD] = wctemp ? wctemp : 0xffff;
	sim_model_start(drive);
}

void sim_product_settle(struct sim_drive *drive)
{
	uint8_t *id = drive->page[SIM_PAGE_IDENTIFY];
	bool given = drive->nqn[0], fixed = drive->fixed[SIM_PAGE_IDENTIFY];

	if (drive->recorded)
		settle_recorded(drive);
	if (!given && id[111] == 2) {
		snprintf(drive->nqn, sizeof(drive->nqn), "nqn.2014-08.org.nvmexpress.discovery");
		given = true;
	}

	settle_capacity(drive);
	if (!given && id[768])
		snprintf(drive->nqn, sizeof(drive->nqn), "%.223s", (const char *)id + 768);
	else if (!given)
		make_nqn(id, drive->nqn, sizeof(drive->nqn));
	if (!fixed && (given || drive->announces_nqn)) {
		memset(id + 768, 0, 256);
		memcpy(id + 768, drive->nqn, strlen(drive->nqn));
	}
}

int sim_product_apply(struct sim_drive *drive, const char *name)
{
	for (unsigned i = 0; i < EM_COUNT(products); i++) {
		const struct product *p = &products[i];

		if (strcmp(p->name, name) != 0)
			continue;
		for (unsigned page = 0; page < SIM_PAGE_COUNT; page++)
			memset(drive->page[page], 0, sim_page_size(page));
		drive->device_id = p->family->device;
		drive->subsystem_vendor = p->family->subsystem_vendor;
		drive->subsystem_device = p->subsystem_device;
		lay_out_identity(drive, p);
		lay_out_abilities(drive, p);
		lay_out_capacity(drive, p);
		lay_out_logs(drive, p);
		lay_out_support(drive, p);
		sim_model_start(drive);
		return 0;
	}
	return -ENOENT;
}
