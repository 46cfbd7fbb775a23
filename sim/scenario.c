/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

#define DEPTH_MAX  8
#define DRIVES_MAX 4096
#define LINES_MAX  1024

enum section { NO_SECTION, SIM_SECTION, INCLUDE_SECTION, DRIVE_SECTION };

struct setting {
	unsigned line;
	char *key, *value;
	uint8_t *bytes; /* of a page that stands in the file itself; NULL */
};

struct reader {
	struct sim_server *srv;
	const char *path;
	unsigned line, depth;
	enum section section;
	/* A drive's lines are kept until its section ends, so that it can be made several times. */
	struct setting settings[LINES_MAX];
	unsigned count;
	size_t page_size; /* of the last setting, while its lines are read; 0: none is */
	char name[16];	  /* "" or what [drive NAME] says */
};

__attribute__((format(printf, 3, 4))) static int fail(const struct reader *r, int err,
						      const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%u: ", r->path, r->line);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return err;
}

/* Paths in a scenario are relative to it. */
static void resolve(const struct reader *r, const char *value, char *buf)
{
	const char *slash = strrchr(r->path, '/');

	if (value[0] == '/' || !slash)
		snprintf(buf, PATH_MAX, "%s", value);
	else
		snprintf(buf, PATH_MAX, "%.*s/%s", (int)(slash - r->path), r->path, value);
}

static int parse_size(const char *text, uint64_t *ret)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10), unit = 1;

	if (end == text)
		return -EINVAL;
	if (strcmp(end, "GB") == 0)
		unit = 1000000000;
	else if (strcmp(end, "TB") == 0)
		unit = 1000000000000;
	else if (strcmp(end, "MiB") == 0)
		unit = 1 << 20;
	else if (*end)
		return -EINVAL;
	*ret = n * unit;
	return 0;
}

/* namespace = NSID SIZE [512|4096] [node N] */
static int set_namespace(const struct reader *r, struct sim_drive *d, const char *value)
{
	unsigned nsid = 0, block = 512, node = 0;
	char size[32], text[128], *at;
	uint64_t bytes;
	int used = 0, e;

	snprintf(text, sizeof(text), "%s", value);
	at = strstr(text, "node ");
	if (at && sscanf(at, "node %u", &node) != 1)
		return fail(r, -EINVAL, "namespace: node needs a number");
	if (at)
		*at = '\0';
	if (sscanf(text, "%u %31s%n %u", &nsid, size, &used, &block) < 2 ||
	    parse_size(size, &bytes) < 0 || (block != 512 && block != 4096) || nsid == 0)
		return fail(r, -EINVAL, "want: namespace = NSID SIZE [512|4096] [node N]");
	e = sim_namespace_add(d, nsid, node ? node : nsid, bytes, block == 4096 ? 12 : 9);
	return e < 0 ? fail(r, e, "namespace %u: %s", nsid, strerror(-e)) : 0;
}

/* at = 5s hang */
static int set_plan(const struct reader *r, const char *value)
{
	char when[32];
	uint64_t at;
	int used = 0;

	if (sscanf(value, "%31s %n", when, &used) < 1 || !value[used] ||
	    em_parse_duration_us(when, 0, UINT64_MAX / 2, &at) < 0)
		return fail(r, -EINVAL, "want: at = TIME WORDS (as for ember-sim control)");
	return sim_server_plan(r->srv, at, r->srv->host_count, value + used);
}

/* rate = NAME AMOUNT/TIME [to LIMIT] */
static int set_rate(const struct reader *r, struct sim_drive *d, const char *value)
{
	char name[48], rate[48], to[8] = "", limit[48] = "";
	int count = sscanf(value, "%47s %47s %7s %47s", name, rate, to, limit), e = -EINVAL;

	if (count == 2 || (count == 4 && strcmp(to, "to") == 0))
		e = sim_rate_set(d, name, rate, count == 4 ? limit : NULL);
	if (e < 0)
		return fail(r, e, "rate = %s: %s", value,
			    e == -EINVAL ? "want: NAME AMOUNT/TIME [to LIMIT]" : strerror(-e));
	return 0;
}

static bool is_page_key(const char *key)
{
	size_t len = strlen(key);

	return len > 5 && strcmp(key + len - 5, "-page") == 0;
}

static int page_of(const struct reader *r, const char *key)
{
	char name[32];
	int page;

	snprintf(name, sizeof(name), "%.*s", (int)(strlen(key) - strlen("-page")), key);
	page = sim_page_by_name(name);
	return page < 0 ? fail(r, -EINVAL, "there is no page %s", name) : page;
}

/* "<<" and, for one namespace, "NSID <<". */
static int set_inline_page(const struct reader *r, struct sim_drive *d, enum sim_page page,
			   const char *value, const uint8_t *bytes)
{
	char tail[4] = "";
	uint64_t nsid;

	if (strcmp(value, "<<") == 0) {
		sim_page_give(d, page, bytes);
		return 0;
	}
	if (page != SIM_PAGE_NAMESPACE || sscanf(value, "%" SCNu64 " %3s", &nsid, tail) != 2 ||
	    strcmp(tail, "<<") != 0)
		return fail(r, -EINVAL, "want: KEY-page = << or namespace-page = NSID <<");
	if (nsid > UINT32_MAX || sim_namespace_page_give(d, (uint32_t)nsid, bytes) < 0)
		return fail(r, -EINVAL, "no line namespace = %" PRIu64 " stands before its page",
			    nsid);
	return 0;
}

static int set_page(const struct reader *r, struct sim_drive *d, const struct setting *s)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	int page = page_of(r, s->key);

	if (page < 0)
		return page;
	if (s->bytes)
		return set_inline_page(r, d, (enum sim_page)page, s->value, s->bytes);
	resolve(r, s->value, path);
	if (sim_page_load(d, (enum sim_page)page, path, error, sizeof(error)) < 0)
		return fail(r, -EINVAL, "%s", error);
	return 0;
}

static int put_text(char *to, size_t size, const char *text)
{
	if (strlen(text) >= size)
		return -ERANGE;
	strcpy(to, text);
	return 0;
}

/* The name of a directory of the tree: others' files do not lead out of it. */
static int put_name(char *to, size_t size, const char *text)
{
	return strchr(text, '/') || text[0] == '.' ? -EINVAL : put_text(to, size, text);
}

static int set_host_value(struct sim_drive *d, const char *key, const char *value)
{
	uint64_t n;

	if (strcmp(key, "nqn") == 0)
		return put_text(d->nqn, sizeof(d->nqn), value);
	if (strcmp(key, "address") == 0)
		return put_name(d->address, sizeof(d->address), value);
	if (strcmp(key, "state") == 0)
		return put_text(d->state, sizeof(d->state), value);
	if (strcmp(key, "transport") == 0)
		return put_text(d->transport, sizeof(d->transport), value);
	if (strcmp(key, "slot") == 0)
		return put_name(d->slot, sizeof(d->slot), value);
	if (strcmp(key, "link_speed") == 0)
		return put_text(d->link_speed, sizeof(d->link_speed), value);
	if (strcmp(key, "link_speed_max") == 0)
		return put_text(d->link_speed_max, sizeof(d->link_speed_max), value);
	if (strcmp(key, "numa_node") == 0 && strcmp(value, "-1") == 0) {
		d->numa_node = -1;
		return 0;
	}
	if (em_parse_u64(value, 0, 65535, &n) < 0)
		return -ENOENT;
	if (strcmp(key, "device_id") == 0)
		d->device_id = (uint16_t)n;
	else if (strcmp(key, "subsystem_vendor") == 0)
		d->subsystem_vendor = (uint16_t)n;
	else if (strcmp(key, "subsystem_device") == 0)
		d->subsystem_device = (uint16_t)n;
	else if (strcmp(key, "numa_node") == 0)
		d->numa_node = (int)n;
	else if (strcmp(key, "link_width") == 0)
		d->link_width = (unsigned)n;
	else if (strcmp(key, "link_width_max") == 0)
		d->link_width_max = (unsigned)n;
	else
		return -ENOENT;
	return 0;
}

static int set_value(const struct reader *r, struct sim_drive *d, const struct setting *s,
		     unsigned copy)
{
	const char *key = s->key, *value = s->value;
	char numbered[64];
	int e;

	if (strcmp(key, "namespaces") == 0 && strcmp(value, "none") == 0) {
		sim_namespace_clear(d);
		return 0;
	}
	if (strcmp(key, "namespace") == 0)
		return set_namespace(r, d, value);
	if (strcmp(key, "at") == 0)
		return set_plan(r, value);
	if (strcmp(key, "rate") == 0)
		return set_rate(r, d, value);
	if (is_page_key(key))
		return set_page(r, d, s);
	/* Copies of one section must not share a serial: %n stands for the copy's number. */
	if (strstr(value, "%n")) {
		snprintf(numbered, sizeof(numbered), "%.*s%05u%s",
			 (int)(strstr(value, "%n") - value), value, copy, strstr(value, "%n") + 2);
		value = numbered;
	}
	e = set_host_value(d, key, value);
	if (e == -ENOENT)
		e = sim_value_set(d, key, value);
	return e < 0 ? fail(r, e, "%s = %s: %s", key, value,
			    e == -ENOENT ? "there is no such key" : strerror(-e))
		     : 0;
}

static void place(struct sim_drive *d, unsigned index)
{
	snprintf(d->address, sizeof(d->address), "0000:%02x:%02x.0", 1 + index / 32, index % 32);
}

/* Of a transport that is not PCI: an address of the documentation's network. */
static void place_elsewhere(struct sim_drive *d, unsigned index)
{
	if (strcmp(d->transport, "pcie") != 0 && strncmp(d->address, "0000:", 5) == 0)
		snprintf(d->address, sizeof(d->address), "traddr=192.0.2.%u,trsvcid=%u",
			 1 + index % 250, 4420 + index / 250);
}

static const char *setting_of(const struct reader *r, const char *key)
{
	for (unsigned i = 0; i < r->count; i++)
		if (strcmp(r->settings[i].key, key) == 0)
			return r->settings[i].value;
	return NULL;
}

/* The number of [drive nvmeN], or the place in the file. */
static int number_of(const struct reader *r, unsigned *ret)
{
	char name[16];

	*ret = r->srv->host_count;
	if (r->name[0] && sscanf(r->name, "nvme%u", ret) != 1)
		return fail(r, -EINVAL, "a drive's name is nvme and a number, not %s", r->name);
	snprintf(name, sizeof(name), "nvme%u", *ret);
	if (*ret >= DRIVES_MAX || (r->name[0] && strcmp(r->name, name) != 0))
		return fail(r, -ERANGE, "a drive's number is 0 to %u", DRIVES_MAX - 1);
	if (sim_server_find(r->srv, name))
		return fail(r, -EEXIST, "there is a drive %s already", name);
	return 0;
}

/* A drive is a product, or one more controller of a drive before it. */
static int begin_drive(const struct reader *r, struct sim_drive *d, const char *product)
{
	const char *of = setting_of(r, "controller_of");
	struct sim_host *host = of ? sim_server_find(r->srv, of) : NULL;

	if (of && !host)
		return fail(r, -ENOENT, "there is no drive %s before this one", of);
	if (host)
		sim_drive_join(d, sim_drive_owner(host->drive));
	else if (sim_product_apply(d, product) < 0)
		return fail(r, -EINVAL, "there is no product %s", product);
	place(d, r->srv->host_count);
	return 0;
}

/* What only make_drives() and begin_drive() read. */
static bool is_about_making(const char *key)
{
	return strcmp(key, "product") == 0 || strcmp(key, "repeat") == 0 ||
	       strcmp(key, "controller_of") == 0;
}

static int make_drive(struct reader *r, const char *product, unsigned copy)
{
	struct sim_drive *d;
	unsigned number;
	int e;

	if (r->srv->host_count == DRIVES_MAX)
		return fail(r, -E2BIG, "more than %u drives", DRIVES_MAX);
	if (number_of(r, &number) < 0)
		return -EINVAL;
	d = sim_drive_new(number);
	if (!d)
		return -ENOMEM;
	e = begin_drive(r, d, product);
	for (unsigned i = 0; i < r->count && e == 0; i++) {
		const struct setting *s = &r->settings[i];

		r->line = s->line;
		if (!is_about_making(s->key))
			e = set_value(r, d, s, copy);
	}
	if (e < 0) {
		sim_drive_leave(d);
		sim_drive_free(d);
		return e;
	}
	place_elsewhere(d, r->srv->host_count);
	sim_product_settle(d);
	return sim_server_add_drive(r->srv, d);
}

/* Namespaces of its own replace the product's. */
static bool names_namespaces(const struct reader *r)
{
	return setting_of(r, "namespace") != NULL;
}

static int make_drives(struct reader *r)
{
	const char *product = setting_of(r, "product"), *repeat = setting_of(r, "repeat");
	uint64_t copies = 1;
	int e = 0;

	if (!product && !setting_of(r, "controller_of"))
		return fail(r, -EINVAL, "a drive needs product = NAME");
	if (product && setting_of(r, "controller_of"))
		return fail(r, -EINVAL, "controller_of takes the product of that drive");
	if (repeat && em_parse_u64(repeat, 0, DRIVES_MAX, &copies) < 0)
		return fail(r, -EINVAL, "repeat takes 0 to %u", DRIVES_MAX);
	for (unsigned i = 0; i < copies && e == 0; i++)
		e = make_drive(r, product, i);
	return e;
}

static int end_section(struct reader *r)
{
	unsigned line = r->line;
	int e = r->section == DRIVE_SECTION ? make_drives(r) : 0;

	for (unsigned i = 0; i < r->count; i++) {
		free(r->settings[i].key);
		free(r->settings[i].value);
		free(r->settings[i].bytes);
	}
	r->count = 0;
	r->line = line;
	return e;
}

static int keep(struct reader *r, const char *key, const char *value)
{
	struct setting *s = &r->settings[r->count];

	if (r->count == LINES_MAX)
		return fail(r, -E2BIG, "more than %u lines for one drive", LINES_MAX);
	s->line = r->line;
	s->key = strdup(key);
	s->value = strdup(value);
	s->bytes = NULL;
	r->count++;
	return s->key && s->value ? 0 : -ENOMEM;
}

/* The lines up to ">>" are a page. */
static int begin_page(struct reader *r, const char *key, const char *value)
{
	int page = page_of(r, key);

	if (page < 0)
		return page;
	if (keep(r, key, value) < 0)
		return -ENOMEM;
	r->page_size = sim_page_size((enum sim_page)page);
	r->settings[r->count - 1].bytes = calloc(1, r->page_size);
	return r->settings[r->count - 1].bytes ? 0 : -ENOMEM;
}

static int on_page_line(struct reader *r, const char *line)
{
	int e;

	if (strcmp(line, ">>") == 0) {
		r->page_size = 0;
		return 0;
	}
	e = sim_page_read_line(line, r->settings[r->count - 1].bytes, r->page_size);
	if (e == -ERANGE)
		return fail(r, e, "beyond the %zu bytes of this page", r->page_size);
	return e < 0 ? fail(r, e, "not a line of xxd; a page ends with a line >>") : 0;
}

static bool begins_page(const char *key, const char *value)
{
	size_t len = strlen(value);

	return is_page_key(key) && len >= 2 && strcmp(value + len - 2, "<<") == 0;
}

static int load(struct sim_server *srv, const char *path, unsigned depth);

/* For the drives of before and after. */
static int set_speed(struct reader *r, const char *value)
{
	uint64_t speed;

	if (em_parse_u64(value, 1, SIM_SPEED_MAX, &speed) < 0)
		return fail(r, -EINVAL, "speed: 1 to %u", SIM_SPEED_MAX);
	sim_server_set_speed(r->srv, (uint32_t)speed);
	return 0;
}

static int on_setting(struct reader *r, const char *key, const char *value)
{
	char path[PATH_MAX];

	switch (r->section) {
	case DRIVE_SECTION:
		/* The first namespace line empties the product's set. */
		if (strcmp(key, "namespace") == 0 && !names_namespaces(r) &&
		    keep(r, "namespaces", "none") < 0)
			return -ENOMEM;
		return begins_page(key, value) ? begin_page(r, key, value) : keep(r, key, value);
	case INCLUDE_SECTION:
		if (strcmp(key, "file") != 0)
			break;
		resolve(r, value, path);
		return load(r->srv, path, r->depth + 1);
	case SIM_SECTION:
		if (strcmp(key, "speed") == 0)
			return set_speed(r, value);
		if (strcmp(key, "admin_timeout") != 0)
			break;
		if (em_parse_duration_us(value, 1000, 3600 * EM_US_PER_SEC,
					 &r->srv->admin_timeout_us) < 0)
			return fail(r, -EINVAL, "admin_timeout: 1ms to 1h");
		return 0;
	case NO_SECTION:
		return fail(r, -EINVAL, "%s stands outside any section", key);
	}
	return fail(r, -EINVAL, "there is no such key: %s", key);
}

static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

static int on_section(struct reader *r, const char *name)
{
	int e = end_section(r);

	if (e < 0)
		return e;
	r->name[0] = '\0';
	if (strcmp(name, "[drive]") == 0 || sscanf(name, "[drive %15[^]]]", r->name) == 1)
		r->section = DRIVE_SECTION;
	else if (strcmp(name, "[include]") == 0)
		r->section = INCLUDE_SECTION;
	else if (strcmp(name, "[sim]") == 0)
		r->section = SIM_SECTION;
	else
		return fail(r, -EINVAL, "there is no section %s", name);
	return 0;
}

static int on_line(struct reader *r, char *text)
{
	char *equals, *line = trim(text);

	if (r->page_size)
		return on_page_line(r, line);
	if (!*line || *line == '#' || *line == ';')
		return 0;
	if (*line == '[')
		return on_section(r, line);
	equals = strchr(line, '=');
	if (!equals)
		return fail(r, -EINVAL, "want: key = value");
	*equals = '\0';
	return on_setting(r, trim(line), trim(equals + 1));
}

static int load(struct sim_server *srv, const char *path, unsigned depth)
{
	em_cleanup(em_fclosep) FILE *f = fopen(path, "re");
	struct reader r = { .srv = srv, .path = path, .depth = depth };
	char line[1024];
	int e = 0;

	if (!f || depth > DEPTH_MAX) {
		e = f ? -ELOOP : -errno;
		fprintf(stderr, "ember-sim: %s: %s\n", path, strerror(-e));
		return e;
	}
	while (e == 0 && fgets(line, sizeof(line), f)) {
		r.line++;
		if (strlen(line) == sizeof(line) - 1 && line[sizeof(line) - 2] != '\n')
			e = fail(&r, -E2BIG, "a line of more than %zu characters",
				 sizeof(line) - 2);
		else
			e = on_line(&r, line);
	}
	if (e == 0 && r.page_size) {
		r.line = r.settings[r.count - 1].line;
		e = fail(&r, -EINVAL, "the page that begins here does not end: no line >>");
	}
	if (e < 0)
		r.section = NO_SECTION; /* only to free what was kept */
	return end_section(&r) < 0 ? -EINVAL : e;
}

int sim_scenario_load(struct sim_server *srv, const char *path)
{
	return load(srv, path, 0);
}
