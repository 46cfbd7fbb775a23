/* SPDX-License-Identifier: Apache-2.0 */
/* values - single values by name, pages from hex files, names of opcodes. */
#include "sim/model.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/base/parse.h"
#include "lib/base/u128.h"

static const struct sim_value values[] = {
	{ "vid", SIM_PAGE_IDENTIFY, 0, 2, SIM_NUMBER },
	{ "ssvid", SIM_PAGE_IDENTIFY, 2, 2, SIM_NUMBER },
	{ "serial", SIM_PAGE_IDENTIFY, 4, 20, SIM_TEXT },
	{ "model", SIM_PAGE_IDENTIFY, 24, 40, SIM_TEXT },
	{ "firmware", SIM_PAGE_IDENTIFY, 64, 8, SIM_TEXT },
	{ "cmic", SIM_PAGE_IDENTIFY, 76, 1, SIM_NUMBER },
	{ "mdts", SIM_PAGE_IDENTIFY, 77, 1, SIM_NUMBER },
	{ "cntlid", SIM_PAGE_IDENTIFY, 78, 2, SIM_NUMBER },
	{ "ver", SIM_PAGE_IDENTIFY, 80, 4, SIM_NUMBER },
	{ "oaes", SIM_PAGE_IDENTIFY, 92, 4, SIM_NUMBER },
	{ "ctratt", SIM_PAGE_IDENTIFY, 96, 4, SIM_NUMBER },
	{ "cntrltype", SIM_PAGE_IDENTIFY, 111, 1, SIM_NUMBER },
	{ "oacs", SIM_PAGE_IDENTIFY, 256, 2, SIM_NUMBER },
	{ "frmw", SIM_PAGE_IDENTIFY, 260, 1, SIM_NUMBER },
	{ "lpa", SIM_PAGE_IDENTIFY, 261, 1, SIM_NUMBER },
	{ "elpe", SIM_PAGE_IDENTIFY, 262, 1, SIM_NUMBER },
	{ "wctemp_kelvin", SIM_PAGE_IDENTIFY, 266, 2, SIM_NUMBER },
	{ "cctemp_kelvin", SIM_PAGE_IDENTIFY, 268, 2, SIM_NUMBER },
	{ "mtfa", SIM_PAGE_IDENTIFY, 270, 2, SIM_NUMBER },
	{ "tnvmcap", SIM_PAGE_IDENTIFY, 280, 16, SIM_NUMBER },
	{ "unvmcap", SIM_PAGE_IDENTIFY, 296, 16, SIM_NUMBER },
	{ "edstt", SIM_PAGE_IDENTIFY, 316, 2, SIM_NUMBER },
	{ "dsto", SIM_PAGE_IDENTIFY, 318, 1, SIM_NUMBER },
	{ "fwug", SIM_PAGE_IDENTIFY, 319, 1, SIM_NUMBER },
	{ "sanicap", SIM_PAGE_IDENTIFY, 328, 4, SIM_NUMBER },
	{ "nn", SIM_PAGE_IDENTIFY, 516, 4, SIM_NUMBER },
	{ "oncs", SIM_PAGE_IDENTIFY, 520, 2, SIM_NUMBER },
	{ "fna", SIM_PAGE_IDENTIFY, 524, 1, SIM_NUMBER },
	{ "vwc", SIM_PAGE_IDENTIFY, 525, 1, SIM_NUMBER },
	{ "mnan", SIM_PAGE_IDENTIFY, 540, 4, SIM_NUMBER },
	{ "afi", SIM_PAGE_FIRMWARE, 0, 1, SIM_NUMBER },
	{ "frs1", SIM_PAGE_FIRMWARE, 8, 8, SIM_TEXT },
	{ "frs2", SIM_PAGE_FIRMWARE, 16, 8, SIM_TEXT },
	{ "frs3", SIM_PAGE_FIRMWARE, 24, 8, SIM_TEXT },
	{ "frs4", SIM_PAGE_FIRMWARE, 32, 8, SIM_TEXT },
	{ "frs5", SIM_PAGE_FIRMWARE, 40, 8, SIM_TEXT },
	{ "frs6", SIM_PAGE_FIRMWARE, 48, 8, SIM_TEXT },
	{ "frs7", SIM_PAGE_FIRMWARE, 56, 8, SIM_TEXT },
	{ "sprog", SIM_PAGE_SANITIZE, 0, 2, SIM_NUMBER },
	{ "sstat", SIM_PAGE_SANITIZE, 2, 2, SIM_NUMBER },
	{ "scdw10", SIM_PAGE_SANITIZE, 4, 4, SIM_NUMBER },
	{ "critical_warning", SIM_PAGE_SMART, 0, 1, SIM_NUMBER },
	{ "temperature_kelvin", SIM_PAGE_SMART, 1, 2, SIM_NUMBER },
	{ "temperature_celsius", SIM_PAGE_SMART, 1, 2, SIM_CELSIUS },
	{ "available_spare", SIM_PAGE_SMART, 3, 1, SIM_NUMBER },
	{ "available_spare_threshold", SIM_PAGE_SMART, 4, 1, SIM_NUMBER },
	{ "percentage_used", SIM_PAGE_SMART, 5, 1, SIM_NUMBER },
	{ "endurance_group_critical_warning", SIM_PAGE_SMART, 6, 1, SIM_NUMBER },
	{ "data_units_read", SIM_PAGE_SMART, 32, 16, SIM_NUMBER },
	{ "data_units_written", SIM_PAGE_SMART, 48, 16, SIM_NUMBER },
	{ "host_read_commands", SIM_PAGE_SMART, 64, 16, SIM_NUMBER },
	{ "host_write_commands", SIM_PAGE_SMART, 80, 16, SIM_NUMBER },
	{ "controller_busy_time", SIM_PAGE_SMART, 96, 16, SIM_NUMBER },
	{ "power_cycles", SIM_PAGE_SMART, 112, 16, SIM_NUMBER },
	{ "power_on_hours", SIM_PAGE_SMART, 128, 16, SIM_NUMBER },
	{ "unsafe_shutdowns", SIM_PAGE_SMART, 144, 16, SIM_NUMBER },
	{ "media_errors", SIM_PAGE_SMART, 160, 16, SIM_NUMBER },
	{ "num_err_log_entries", SIM_PAGE_SMART, 176, 16, SIM_NUMBER },
	{ "warning_temp_time_min", SIM_PAGE_SMART, 192, 4, SIM_NUMBER },
	{ "critical_comp_time_min", SIM_PAGE_SMART, 196, 4, SIM_NUMBER },
	{ "temperature_sensor_1_celsius", SIM_PAGE_SMART, 200, 2, SIM_CELSIUS },
	{ "temperature_sensor_2_celsius", SIM_PAGE_SMART, 202, 2, SIM_CELSIUS },
	{ "temperature_sensor_3_celsius", SIM_PAGE_SMART, 204, 2, SIM_CELSIUS },
	{ "temperature_sensor_4_celsius", SIM_PAGE_SMART, 206, 2, SIM_CELSIUS },
	{ "temperature_sensor_5_celsius", SIM_PAGE_SMART, 208, 2, SIM_CELSIUS },
	{ "temperature_sensor_6_celsius", SIM_PAGE_SMART, 210, 2, SIM_CELSIUS },
	{ "temperature_sensor_7_celsius", SIM_PAGE_SMART, 212, 2, SIM_CELSIUS },
	{ "temperature_sensor_8_celsius", SIM_PAGE_SMART, 214, 2, SIM_CELSIUS },
	{ "thermal_mgmt_temp1_transitions", SIM_PAGE_SMART, 216, 4, SIM_NUMBER },
	{ "thermal_mgmt_temp2_transitions", SIM_PAGE_SMART, 220, 4, SIM_NUMBER },
	{ "thermal_mgmt_temp1_time_seconds", SIM_PAGE_SMART, 224, 4, SIM_NUMBER },
	{ "thermal_mgmt_temp2_time_seconds", SIM_PAGE_SMART, 228, 4, SIM_NUMBER },
};

static int parse_number(const char *text, em_u128 *ret)
{
	em_u128 v = 0;
	uint64_t hex;

	if (strncmp(text, "0x", 2) == 0) {
		if (em_parse_u64(text, 0, UINT64_MAX, &hex) < 0)
			return -EINVAL;
		*ret = hex;
		return 0;
	}
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		em_u128 digit = (em_u128)(*text - '0');

		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		if (v > (~(em_u128)0 - digit) / 10)
			return -ERANGE;
		v = v * 10 + digit;
	}
	*ret = v;
	return 0;
}

/* Kelvin from whole degrees Celsius, which may be below zero; 0 K stays "no value". */
static int parse_celsius(const char *text, em_u128 *ret)
{
	char *end;
	long celsius = strtol(text, &end, 10);

	if (end == text || *end)
		return -EINVAL;
	if (celsius < -273 || celsius > 65535 - 273)
		return -ERANGE;
	*ret = (em_u128)(celsius + 273);
	return 0;
}

const struct sim_value *sim_value_find(const char *name)
{
	for (unsigned i = 0; i < EM_COUNT(values); i++)
		if (strcmp(values[i].name, name) == 0)
			return &values[i];
	return NULL;
}

int sim_value_parse(const struct sim_value *value, const char *text, em_u128 *ret)
{
	em_u128 number;
	int r = value->kind == SIM_CELSIUS ? parse_celsius(text, &number)
					   : parse_number(text, &number);

	if (r < 0)
		return r;
	if (value->size < 16 && number >> (8 * value->size) != 0)
		return -ERANGE;
	*ret = number;
	return 0;
}

em_u128 sim_value_get(const struct sim_drive *drive, const struct sim_value *value)
{
	return em_le_n(drive->page[value->page] + value->offset, value->size);
}

void sim_value_put(struct sim_drive *drive, const struct sim_value *value, em_u128 number)
{
	uint8_t *to = drive->page[value->page] + value->offset;

	for (unsigned i = 0; i < value->size; i++, number >>= 8)
		to[i] = (uint8_t)number;
}

static int put_text(struct sim_drive *drive, const struct sim_value *value, const char *text)
{
	uint8_t *to = drive->page[value->page] + value->offset;
	size_t len = strlen(text);

	if (len > value->size)
		return -ERANGE;
	memset(to, ' ', value->size);
	memcpy(to, text, len);
	return 0;
}

static int set_locked(struct sim_drive *drive, const char *text)
{
	bool locked = strcmp(text, "true") == 0;

	if (!locked && strcmp(text, "false") != 0)
		return -EINVAL;
	return sim_security_lock(drive, locked);
}

int sim_value_set(struct sim_drive *drive, const char *name, const char *text)
{
	const struct sim_value *value = sim_value_find(name);
	uint8_t before = drive->page[SIM_PAGE_SMART][0];
	em_u128 number;
	int r;

	if (strcmp(name, "locked") == 0)
		return set_locked(drive, text);
	if (!value)
		return -ENOENT;
	if (value->kind == SIM_TEXT)
		return put_text(drive, value, text);
	r = sim_value_parse(value, text, &number);
	if (r < 0)
		return r;
	sim_value_put(drive, value, number);
	sim_model_warning_changed(drive, before, drive->page[SIM_PAGE_SMART][0]);
	return 0;
}

static const char *const page_names[SIM_PAGE_COUNT] = {
	[SIM_PAGE_IDENTIFY] = "identify",   [SIM_PAGE_NAMESPACE] = "namespace",
	[SIM_PAGE_ERROR] = "error",	    [SIM_PAGE_SMART] = "smart",
	[SIM_PAGE_FIRMWARE] = "firmware",   [SIM_PAGE_EFFECTS] = "effects",
	[SIM_PAGE_SELFTEST] = "selftest",   [SIM_PAGE_SANITIZE] = "sanitize",
	[SIM_PAGE_VENDOR] = "vendor",	    [SIM_PAGE_SECURITY] = "security",
	[SIM_PAGE_TELEMETRY] = "telemetry", [SIM_PAGE_ENDURANCE] = "endurance",
	[SIM_PAGE_EVENTS] = "events",	    [SIM_PAGE_SUPPORTED] = "supported",
};

/* The log that a page given as a file makes the drive support; -1: it is none. */
static const int page_log[SIM_PAGE_COUNT] = {
	[SIM_PAGE_IDENTIFY] = -1,    [SIM_PAGE_NAMESPACE] = -1, [SIM_PAGE_SECURITY] = -1,
	[SIM_PAGE_SUPPORTED] = 0x00, [SIM_PAGE_ERROR] = 0x01,	[SIM_PAGE_SMART] = 0x02,
	[SIM_PAGE_FIRMWARE] = 0x03,  [SIM_PAGE_EFFECTS] = 0x05, [SIM_PAGE_SELFTEST] = 0x06,
	[SIM_PAGE_SANITIZE] = 0x81,  [SIM_PAGE_VENDOR] = 0xca,	[SIM_PAGE_TELEMETRY] = 0x07,
	[SIM_PAGE_ENDURANCE] = 0x09, [SIM_PAGE_EVENTS] = 0x0d,
};

int sim_page_by_name(const char *name)
{
	for (int i = 0; i < SIM_PAGE_COUNT; i++)
		if (strcmp(page_names[i], name) == 0)
			return i;
	return -ENOENT;
}

/* "00000010: 04 3a 01 64" or "00000010: 043a 0164  .:.d": two blanks or the line's end end it. */
int sim_page_read_line(const char *line, uint8_t *page, size_t size)
{
	char *end;
	unsigned long at = strtoul(line, &end, 16);
	unsigned blanks = 0;

	if (end == line || *end != ':')
		return *line == '\0' || *line == '#' || isspace((unsigned char)*line) ? 0 : -EINVAL;
	for (end++; *end && blanks < 2;) {
		unsigned byte;

		if (*end == ' ') {
			blanks++;
			end++;
			continue;
		}
		if (*end == '\n' || *end == '\r')
			break;
		if (!isxdigit((unsigned char)end[0]) || !isxdigit((unsigned char)end[1]))
			return -EINVAL;
		sscanf(end, "%2x", &byte);
		if (at >= size)
			return -ERANGE;
		page[at++] = (uint8_t)byte;
		blanks = 0;
		end += 2;
	}
	return 0;
}

void sim_page_give(struct sim_drive *drive, enum sim_page page, const uint8_t *bytes)
{
	uint8_t before = drive->page[SIM_PAGE_SMART][0];

	memcpy(drive->page[page], bytes, sim_page_size(page));
	drive->fixed[page] = true;
	if (page_log[page] >= 0)
		drive->has_log[page_log[page]] = true;
	if (page == SIM_PAGE_SECURITY)
		drive->has_opcode[SIM_OP_SECURITY_RECEIVE] = true;
	sim_model_warning_changed(drive, before, drive->page[SIM_PAGE_SMART][0]);
}

static struct sim_namespace *find_namespace(struct sim_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->ns_count; i++)
		if (drive->ns[i].nsid == nsid)
			return &drive->ns[i];
	return NULL;
}

const struct sim_namespace_page *sim_namespace_page_find(struct sim_drive *drive, uint32_t nsid)
{
	const struct sim_drive *owner = sim_drive_owner(drive);

	for (unsigned i = 0; i < owner->ns_page_count; i++)
		if (owner->ns_pages[i].nsid == nsid)
			return &owner->ns_pages[i];
	return NULL;
}

static struct sim_namespace_page *add_namespace_page(struct sim_drive *owner, uint32_t nsid)
{
	struct sim_namespace_page *more =
		reallocarray(owner->ns_pages, owner->ns_page_count + 1, sizeof(*owner->ns_pages));

	if (!more)
		return NULL;
	owner->ns_pages = more;
	more += owner->ns_page_count++;
	more->nsid = nsid;
	return more;
}

int sim_namespace_page_give(struct sim_drive *drive, uint32_t nsid, const uint8_t bytes[4096])
{
	struct sim_namespace *ns = find_namespace(drive, nsid);
	struct sim_namespace_page *page =
		(struct sim_namespace_page *)sim_namespace_page_find(drive, nsid);

	if (!ns)
		return -ENOENT;
	if (!page)
		page = add_namespace_page(sim_drive_owner(drive), nsid);
	if (!page)
		return -ENOMEM;
	memcpy(page->bytes, bytes, sizeof(page->bytes));
	memcpy(ns->nguid, bytes + 104, sizeof(ns->nguid));
	memcpy(ns->eui64, bytes + 120, sizeof(ns->eui64));
	return 0;
}

int sim_page_load(struct sim_drive *drive, enum sim_page page, const char *path, char *error,
		  size_t error_size)
{
	em_cleanup(em_fclosep) FILE *f = fopen(path, "re");
	uint8_t bytes[16384] = { 0 };
	char line[512];
	unsigned number = 0;

	if (!f) {
		snprintf(error, error_size, "%s: %s", path, strerror(errno));
		return -errno;
	}
	while (fgets(line, sizeof(line), f)) {
		number++;
		if (sim_page_read_line(line, bytes, sim_page_size(page)) == 0)
			continue;
		snprintf(error, error_size, "%s:%u: not a line of xxd, or beyond %zu bytes", path,
			 number, sim_page_size(page));
		return -EINVAL;
	}
	sim_page_give(drive, page, bytes);
	return 0;
}

static const struct opcode_name {
	uint8_t opcode;
	const char *name;
} opcode_names[] = {
	{ 0x02, "get-log" },
	{ 0x06, "identify" },
	{ 0x08, "abort" },
	{ 0x09, "set-features" },
	{ 0x0a, "get-features" },
	{ 0x0d, "ns-management" },
	{ 0x10, "firmware-commit" },
	{ 0x11, "firmware-download" },
	{ 0x14, "self-test" },
	{ 0x15, "ns-attachment" },
	{ 0x18, "keep-alive" },
	{ 0x19, "directive-send" },
	{ 0x1a, "directive-receive" },
	{ 0x1d, "mi-send" },
	{ 0x1e, "mi-receive" },
	{ 0x80, "format" },
	{ 0x81, "security-send" },
	{ 0x82, "security-receive" },
	{ 0x84, "sanitize" },
};

int sim_opcode_by_name(const char *name)
{
	uint64_t v;

	for (unsigned i = 0; i < EM_COUNT(opcode_names); i++)
		if (strcmp(opcode_names[i].name, name) == 0)
			return opcode_names[i].opcode;
	return em_parse_u64(name, 0, 255, &v) == 0 ? (int)v : -ENOENT;
}

const char *sim_opcode_name(uint8_t opcode)
{
	for (unsigned i = 0; i < EM_COUNT(opcode_names); i++)
		if (opcode_names[i].opcode == opcode)
			return opcode_names[i].name;
	return "other";
}

void sim_namespace_clear(struct sim_drive *drive)
{
	drive->ns_count = 0;
}

static void name_namespace(const struct sim_drive *drive, struct sim_namespace *ns)
{
	const uint8_t *ieee = drive->page[SIM_PAGE_IDENTIFY] + 73;
	unsigned number = drive->subsystem < 0 ? drive->minor : (unsigned)drive->subsystem;

	/* EUI64: OUI, then drive and namespace. NGUID: the vendor's part, OUI, the same again. */
	for (unsigned i = 0; i < 3; i++)
		ns->eui64[i] = ns->nguid[8 + i] = ieee[2 - i];
	ns->eui64[4] = ns->nguid[12] = (uint8_t)(number >> 8);
	ns->eui64[5] = ns->nguid[13] = (uint8_t)number;
	ns->eui64[7] = ns->nguid[15] = (uint8_t)ns->nsid;
	ns->nguid[0] = 0x01;
}

int sim_namespace_add(struct sim_drive *drive, uint32_t nsid, uint32_t node, uint64_t bytes,
		      uint8_t block_shift)
{
	unsigned at = 0;
	struct sim_namespace *ns;

	if (drive->ns_count == SIM_NAMESPACES_MAX || nsid == 0)
		return -ERANGE;
	while (at < drive->ns_count && drive->ns[at].nsid < nsid)
		at++;
	if (at < drive->ns_count && drive->ns[at].nsid == nsid)
		return -EEXIST;
	ns = &drive->ns[at];
	memmove(ns + 1, ns, (drive->ns_count - at) * sizeof(*ns));
	*ns = (struct sim_namespace){
		.nsid = nsid,
		.node = node,
		.blocks = bytes >> block_shift,
		.block_shift = block_shift,
	};
	name_namespace(drive, ns);
	drive->ns_count++;
	return 0;
}

int sim_spare_add(struct sim_drive *drive, const struct sim_namespace *ns)
{
	unsigned at = 0;

	for (unsigned i = 0; i < drive->ns_count; i++)
		if (drive->ns[i].nsid == ns->nsid)
			return -EEXIST;
	while (at < drive->spare_count && drive->spare[at].nsid < ns->nsid)
		at++;
	if (at < drive->spare_count && drive->spare[at].nsid == ns->nsid)
		return -EEXIST;
	if (drive->spare_count == SIM_SPARES_MAX)
		return -ENOSPC;
	memmove(&drive->spare[at + 1], &drive->spare[at], (drive->spare_count - at) * sizeof(*ns));
	drive->spare[at] = *ns;
	name_namespace(drive, &drive->spare[at]);
	drive->spare_count++;
	return 0;
}

int sim_spare_remove(struct sim_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->spare_count; i++) {
		if (drive->spare[i].nsid != nsid)
			continue;
		drive->spare_count--;
		memmove(&drive->spare[i], &drive->spare[i + 1],
			(drive->spare_count - i) * sizeof(drive->spare[0]));
		return 0;
	}
	return -ENOENT;
}

int sim_namespace_remove(struct sim_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->ns_count; i++) {
		struct sim_namespace *ns = &drive->ns[i];

		if (ns->nsid != nsid)
			continue;
		memmove(ns, ns + 1, (drive->ns_count - i - 1) * sizeof(*ns));
		drive->ns_count--;
		return 0;
	}
	return -ENOENT;
}
