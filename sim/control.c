/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/server.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

#define WORDS_MAX 16
#define REPLY_MAX (4u * 1024 * 1024)

/* A connection carries one request: words with a NUL (or blanks) between them, then the end. */
struct sim_control_conn {
	struct sim_watch watch;
	struct sim_control_conn *next;
	char text[8192];
	size_t len;
	/* A wait that is not over yet. */
	struct sim_host *waits_for;
	bool waits_outstanding;
	uint64_t at_least, deadline_us;
};

/* ---- what the words do ---- */

struct call {
	struct sim_server *srv;
	struct sim_host *host;
	char **args; /* after verb and drive */
	unsigned count;
	struct em_buf *reply;
};

static int fail(struct call *call, int err, const char *what)
{
	em_buf_addf(call->reply, "%s: %s\n", what, strerror(-err));
	return err;
}

static void add_page_name(struct em_buf *reply, uint8_t opcode, int32_t page)
{
	em_buf_addf(reply, "\"%s", sim_opcode_name(opcode));
	if (strcmp(sim_opcode_name(opcode), "other") == 0)
		em_buf_addf(reply, " 0x%02x", opcode);
	if (page >= 0)
		em_buf_addf(reply, " 0x%02x", (unsigned)page);
	em_buf_addc(reply, '"');
}

static int do_counts(struct call *call)
{
	const struct sim_drive *d = call->host->drive;

	em_buf_addf(call->reply,
		    "{\"drive\":\"%s\",\"commands\":%llu,\"error_log_entries\":%llu,"
		    "\"outstanding\":%u,\"by_command\":{",
		    d->name, (unsigned long long)d->commands, (unsigned long long)d->error_count,
		    sim_kernel_outstanding(call->host));
	for (unsigned i = 0; i < d->count_count; i++) {
		if (i > 0)
			em_buf_addc(call->reply, ',');
		add_page_name(call->reply, d->counts[i].opcode, d->counts[i].page);
		em_buf_addf(call->reply, ":%llu", (unsigned long long)d->counts[i].count);
	}
	em_buf_adds(call->reply, "}}\n");
	return 0;
}

static int do_log(struct call *call)
{
	const struct sim_drive *d = call->host->drive;
	uint64_t first = d->log_count > SIM_LOG_MAX ? d->log_count - SIM_LOG_MAX : 0;

	em_buf_adds(call->reply, "[");
	for (uint64_t i = first; i < d->log_count; i++) {
		const struct sim_log_entry *e = &d->log[i % SIM_LOG_MAX];

		em_buf_addf(
			call->reply,
			"%s\n{\"seconds\":%.6f,\"opcode\":%u,\"nsid\":%u,\"cdw10\":%u,"
			"\"cdw11\":%u,\"data_len\":%u,\"timeout_ms\":%u,\"ret\":%d,\"command\":",
			i > first ? "," : "", (double)(e->at_us - call->srv->started_us) / 1e6,
			e->cmd.opcode, e->cmd.nsid, e->cmd.cdw10, e->cmd.cdw11, e->cmd.data_len,
			e->cmd.timeout_ms, e->ret);
		add_page_name(call->reply, e->cmd.opcode, sim_model_page_of(&e->cmd));
		em_buf_adds(call->reply, "}");
	}
	em_buf_adds(call->reply, "\n]\n");
	return 0;
}

static int do_hang(struct call *call)
{
	call->host->drive->hung = true;
	return 0;
}

static int do_resume(struct call *call)
{
	sim_kernel_resume(call->host);
	return 0;
}

static int do_vanish(struct call *call)
{
	sim_kernel_vanish(call->host);
	return 0;
}

static int do_return(struct call *call)
{
	const char *as = NULL, *at = NULL;
	int r;

	for (unsigned i = 0; i + 1 < call->count; i += 2) {
		if (strcmp(call->args[i], "as") == 0)
			as = call->args[i + 1];
		else if (strcmp(call->args[i], "at") == 0)
			at = call->args[i + 1];
	}
	if (call->count != 2u * (as != NULL) + 2u * (at != NULL))
		return fail(call, -EINVAL, "return takes: [as NAME] [at ADDRESS]");
	r = sim_kernel_return(call->host, as, at);
	return r < 0 ? fail(call, r, "return") : 0;
}

/* OPCODE [PAGE] VALUE */
static int parse_rule(struct call *call, struct sim_rule *rule, uint64_t max, uint64_t *ret_value)
{
	int opcode = sim_opcode_by_name(call->args[0]);
	uint64_t page;

	if (opcode < 0)
		return fail(call, opcode, call->args[0]);
	*rule = (struct sim_rule){ .opcode = (uint8_t)opcode, .page = -1, .bytes = -1 };
	if (call->count == 3) {
		if (em_parse_u64(call->args[1], 0, 255, &page) < 0)
			return fail(call, -EINVAL, call->args[1]);
		rule->page = (int32_t)page;
	}
	if (em_parse_u64(call->args[call->count - 1], 0, max, ret_value) < 0)
		return fail(call, -EINVAL, call->args[call->count - 1]);
	return 0;
}

static int add_rule(struct call *call, const struct sim_rule *rule)
{
	struct sim_drive *d = call->host->drive;

	if (d->rule_count == SIM_RULES_MAX)
		return fail(call, -ENOSPC, "too many rules for one drive");
	d->rules[d->rule_count++] = *rule;
	return 0;
}

static int do_refuse(struct call *call)
{
	struct sim_rule rule;
	uint64_t status;
	int r = parse_rule(call, &rule, 0x7fff, &status);

	if (r < 0)
		return r;
	rule.status = (uint16_t)status;
	return add_rule(call, &rule);
}

static int do_short(struct call *call)
{
	struct sim_rule rule;
	uint64_t bytes;
	int r = parse_rule(call, &rule, SIM_DATA_MAX, &bytes);

	if (r < 0)
		return r;
	rule.bytes = (int32_t)bytes;
	return add_rule(call, &rule);
}

static int do_accept(struct call *call)
{
	call->host->drive->rule_count = 0;
	call->host->drive->flip_count = 0;
	return 0;
}

static int do_page(struct call *call)
{
	int page = sim_page_by_name(call->args[0]);
	char error[512];

	if (page < 0)
		return fail(call, page, call->args[0]);
	if (sim_page_load(call->host->drive, (enum sim_page)page, call->args[1], error,
			  sizeof(error)) < 0) {
		em_buf_addf(call->reply, "%s\n", error);
		return -EINVAL;
	}
	if (page == SIM_PAGE_IDENTIFY && !call->host->drive->gone)
		return sim_tree_set_identity(call->srv->root, call->host->drive);
	return 0;
}

static int fail_value(struct call *call, int err)
{
	if (err != -ENOENT)
		return fail(call, err, call->args[0]);
	em_buf_addf(call->reply, "%s: there is no such value; sim/README.md names them all\n",
		    call->args[0]);
	return err;
}

static int do_set(struct call *call)
{
	int r = sim_value_set(call->host->drive, call->args[0], call->args[1]);

	if (r < 0)
		return fail_value(call, r);
	if (!call->host->drive->gone)
		return sim_tree_set_identity(call->srv->root, call->host->drive);
	return 0;
}

static int do_state(struct call *call)
{
	int r = sim_kernel_state(call->host, call->args[0]);

	return r < 0 ? fail(call, r, call->args[0]) : 0;
}

static int do_reset(struct call *call)
{
	sim_kernel_reset(call->host);
	return 0;
}

static int do_delay(struct call *call)
{
	uint64_t ms;

	if (em_parse_u64(call->args[0], 0, 3600000, &ms) < 0)
		return fail(call, -EINVAL, call->args[0]);
	call->host->drive->delay_us = ms * EM_US_PER_MS;
	return 0;
}

/* A uevent of one's own: change NVME_AEN=0x020101 */
static int do_uevent(struct call *call)
{
	sim_uevent_send(call->srv, call->host->drive, NULL, call->args[0],
			call->count > 1 ? call->args[1] : NULL);
	return 0;
}

/* NAME AMOUNT/TIME [to LIMIT] */
static int do_rate(struct call *call)
{
	const char *limit = NULL;
	int r;

	if (call->count == 4 && strcmp(call->args[2], "to") == 0)
		limit = call->args[3];
	else if (call->count != 2)
		return fail(call, -EINVAL, "rate takes NAME AMOUNT/TIME [to LIMIT]");
	r = sim_rate_set(call->host->drive, call->args[0], call->args[1], limit);
	return r < 0 ? fail_value(call, r) : 0;
}

/* NAME BIT, or PAGE BYTE.BIT */
static int find_bit(struct call *call, struct sim_flip *flip)
{
	const struct sim_value *value = sim_value_find(call->args[0]);
	int page = value ? (int)value->page : sim_page_by_name(call->args[0]);
	unsigned byte = 0, bit;
	int used = 0;

	if (page < 0)
		return fail(call, page, call->args[0]);
	if (value ? sscanf(call->args[1], "%u%n", &bit, &used) != 1
		  : sscanf(call->args[1], "%u.%u%n", &byte, &bit, &used) != 2)
		return fail(call, -EINVAL, value ? "want: NAME BIT" : "want: PAGE BYTE.BIT");
	if (call->args[1][used] || bit >= (value ? value->size * 8u : 8u) ||
	    byte >= sim_page_size((enum sim_page)page))
		return fail(call, -ERANGE, call->args[1]);
	*flip = (struct sim_flip){
		.page = (enum sim_page)page,
		.byte = (uint16_t)((value ? value->offset : byte) + bit / 8),
		.mask = (uint8_t)(1u << bit % 8),
	};
	return 0;
}

/* A second flip of the same bit takes the first back. */
static int do_flip(struct call *call)
{
	struct sim_drive *d = call->host->drive;
	struct sim_flip flip;
	int r = find_bit(call, &flip);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < d->flip_count; i++) {
		struct sim_flip *f = &d->flips[i];

		if (f->page != flip.page || f->byte != flip.byte || f->mask != flip.mask)
			continue;
		*f = d->flips[--d->flip_count];
		return 0;
	}
	if (d->flip_count == SIM_FLIPS_MAX)
		return fail(call, -ENOSPC, "too many flipped bits for one drive");
	d->flips[d->flip_count++] = flip;
	return 0;
}

/* STATUS [QUEUE [NSID [LBA]]] */
static int do_error(struct call *call)
{
	uint64_t numbers[4] = { 0 };
	static const uint64_t most[] = { 0x7fff, UINT16_MAX, UINT32_MAX, UINT64_MAX };

	for (unsigned i = 0; i < call->count; i++)
		if (em_parse_u64(call->args[i], 0, most[i], &numbers[i]) < 0)
			return fail(call, -EINVAL, call->args[i]);
	sim_model_add_error(call->host->drive, (uint16_t)numbers[0],
			    call->count > 1 ? (int)numbers[1] : -1, (uint32_t)numbers[2],
			    numbers[3]);
	return 0;
}

/* RESULT [SEGMENT]: how the next self-test that nobody ends comes to its end. */
static int do_selftest(struct call *call)
{
	struct sim_drive *drive = sim_drive_owner(call->host->drive);
	uint64_t result, segment = 0;

	if (em_parse_u64(call->args[0], 0, 14, &result) < 0 ||
	    (call->count > 1 && em_parse_u64(call->args[1], 0, UINT8_MAX, &segment) < 0))
		return fail(call, -EINVAL, "a result is 0 to 14, a segment 0 to 255");
	drive->selftest_result = (uint8_t)result;
	drive->selftest_segment = (uint8_t)segment;
	return 0;
}

#define TELEMETRY_WANTS "host|controller none|capture|LAST1 LAST2 LAST3|every READINGS TIMES"

static int set_telemetry(struct call *call, struct sim_telemetry *telemetry)
{
	bool every = strcmp(call->args[1], "every") == 0;
	unsigned first = every ? 2 : 1;
	uint64_t numbers[3] = { 0 };

	if (call->count != 4)
		return fail(call, -EINVAL, TELEMETRY_WANTS);
	for (unsigned i = first; i < call->count; i++)
		if (em_parse_u64(call->args[i], 0, UINT16_MAX, &numbers[i - first]) < 0)
			return fail(call, -EINVAL, call->args[i]);
	if (every) {
		telemetry->every = (uint32_t)numbers[0];
		telemetry->times = (uint32_t)numbers[1];
		telemetry->readings = 0;
		return 0;
	}
	for (unsigned i = 0; i < EM_COUNT(telemetry->last); i++)
		telemetry->last[i] = (uint16_t)numbers[i];
	return 0;
}

/* What log 07h or 08h holds, how large, and when the drive captures anew by itself. */
static int do_telemetry(struct call *call)
{
	bool host = strcmp(call->args[0], "host") == 0;
	struct sim_telemetry *telemetry =
		&sim_drive_owner(call->host->drive)
			 ->telemetry[host ? SIM_TELEMETRY_HOST : SIM_TELEMETRY_CONTROLLER];

	if (!host && strcmp(call->args[0], "controller") != 0)
		return fail(call, -EINVAL, TELEMETRY_WANTS);
	if (call->count == 2 && strcmp(call->args[1], "capture") == 0)
		sim_telemetry_capture(telemetry);
	else if (call->count == 2 && strcmp(call->args[1], "none") == 0)
		telemetry->there = false;
	else
		return set_telemetry(call, telemetry);
	return 0;
}

/* NSID BYTES [512|4096] [node N] */
static int parse_namespace(const struct call *call, struct sim_namespace *ret)
{
	unsigned block = 512, used = 2;
	uint64_t nsid, bytes, node;

	if (em_parse_u64(call->args[0], 1, UINT32_MAX - 1, &nsid) < 0 ||
	    em_parse_u64(call->args[1], 4096, INT64_MAX, &bytes) < 0)
		return -EINVAL;
	if (call->count > used && strcmp(call->args[used], "node") != 0)
		block = strcmp(call->args[used++], "4096") == 0 ? 4096 : 512;
	node = nsid;
	if (call->count > used &&
	    (call->count != used + 2 || em_parse_u64(call->args[used + 1], 1, 64, &node) < 0))
		return -EINVAL;
	*ret = (struct sim_namespace){
		.nsid = (uint32_t)nsid,
		.node = (uint32_t)node,
		.block_shift = block == 4096 ? 12 : 9,
	};
	ret->blocks = bytes >> ret->block_shift;
	return 0;
}

static int do_attach(struct call *call)
{
	struct sim_namespace ns;
	int r;

	if (parse_namespace(call, &ns) < 0)
		return fail(call, -EINVAL, "attach takes NSID BYTES [512|4096] [node N]");
	r = sim_kernel_attach(call->host, &ns);
	return r < 0 ? fail(call, r, call->args[0]) : 0;
}

static int do_create(struct call *call)
{
	struct sim_namespace ns;
	int r;

	if (parse_namespace(call, &ns) < 0)
		return fail(call, -EINVAL, "create takes NSID BYTES [512|4096]");
	r = sim_kernel_create(call->host, &ns);
	return r < 0 ? fail(call, r, call->args[0]) : 0;
}

static int do_delete(struct call *call)
{
	uint64_t nsid;
	int r = em_parse_u64(call->args[0], 1, UINT32_MAX - 1, &nsid);

	if (r == 0)
		r = sim_kernel_delete(call->host, (uint32_t)nsid);
	return r < 0 ? fail(call, r, call->args[0]) : 0;
}

static int do_detach(struct call *call)
{
	uint64_t nsid;
	int r = em_parse_u64(call->args[0], 1, UINT32_MAX - 1, &nsid);

	if (call->count > 1 && strcmp(call->args[1], "keep") != 0)
		return fail(call, -EINVAL, "detach takes NSID [keep]");
	if (r == 0)
		r = sim_kernel_detach(call->host, (uint32_t)nsid, call->count > 1);
	return r < 0 ? fail(call, r, call->args[0]) : 0;
}

static const struct verb {
	const char *name;
	unsigned min, max;
	int (*run)(struct call *call);
	const char *arguments;
} verbs[] = {
	{ "counts", 0, 0, do_counts, "DRIVE" },
	{ "log", 0, 0, do_log, "DRIVE" },
	{ "hang", 0, 0, do_hang, "DRIVE" },
	{ "resume", 0, 0, do_resume, "DRIVE" },
	{ "vanish", 0, 0, do_vanish, "DRIVE" },
	{ "return", 0, 4, do_return, "DRIVE [as NAME] [at ADDRESS]" },
	{ "refuse", 2, 3, do_refuse, "DRIVE OPCODE [PAGE] STATUS" },
	{ "short", 2, 3, do_short, "DRIVE OPCODE [PAGE] BYTES" },
	{ "accept", 0, 0, do_accept, "DRIVE" },
	{ "page", 2, 2, do_page, "DRIVE PAGE FILE" },
	{ "set", 2, 2, do_set, "DRIVE NAME VALUE" },
	{ "state", 1, 1, do_state, "DRIVE STATE" },
	{ "reset", 0, 0, do_reset, "DRIVE" },
	{ "delay", 1, 1, do_delay, "DRIVE MILLISECONDS" },
	{ "rate", 2, 4, do_rate, "DRIVE NAME AMOUNT/TIME [to LIMIT]" },
	{ "flip", 2, 2, do_flip, "DRIVE NAME BIT, or DRIVE PAGE BYTE.BIT" },
	{ "error", 1, 4, do_error, "DRIVE STATUS [QUEUE [NSID [LBA]]]" },
	{ "selftest", 1, 2, do_selftest, "DRIVE RESULT [SEGMENT]" },
	{ "telemetry", 2, 4, do_telemetry, "DRIVE " TELEMETRY_WANTS },
	{ "attach", 2, 5, do_attach, "DRIVE NSID BYTES [512|4096] [node N]" },
	{ "detach", 1, 2, do_detach, "DRIVE NSID [keep]" },
	{ "create", 2, 3, do_create, "DRIVE NSID BYTES [512|4096]" },
	{ "delete", 1, 1, do_delete, "DRIVE NSID" },
	{ "uevent", 1, 2, do_uevent, "DRIVE ACTION [KEY=VALUE]" },
};

static void list_drives(struct sim_server *srv, struct em_buf *reply)
{
	em_buf_adds(reply, "[");
	for (unsigned i = 0; i < srv->host_count; i++) {
		const struct sim_drive *d = srv->hosts[i].drive;
		char serial[32], model[64];

		em_text_clean(serial, sizeof(serial), d->page[SIM_PAGE_IDENTIFY] + 4, 20);
		em_text_clean(model, sizeof(model), d->page[SIM_PAGE_IDENTIFY] + 24, 40);
		for (char *c = serial; *c; c++)
			*c = *c == '"' || *c == '\\' ? '?' : *c;
		for (char *c = model; *c; c++)
			*c = *c == '"' || *c == '\\' ? '?' : *c;
		em_buf_addf(reply,
			    "%s\n{\"drive\":\"%s\",\"serial\":\"%s\",\"model\":\"%s\","
			    "\"state\":\"%s\",\"present\":%s,\"hung\":%s,\"commands\":%llu}",
			    i ? "," : "", d->name, serial, model, d->state,
			    d->gone ? "false" : "true", d->hung ? "true" : "false",
			    (unsigned long long)d->commands);
	}
	em_buf_adds(reply, "\n]\n");
}

int sim_control_words(struct sim_server *srv, struct sim_host *host, char **words, unsigned count,
		      struct em_buf *reply)
{
	unsigned skip = host ? 1 : 2;
	struct call call = { .srv = srv, .host = host, .reply = reply };

	for (unsigned i = 0; count > 0 && i < EM_COUNT(verbs); i++) {
		const struct verb *v = &verbs[i];

		if (strcmp(v->name, words[0]) != 0)
			continue;
		if (!host && count > 1)
			call.host = sim_server_find(srv, words[1]);
		if (!call.host || count < skip + v->min || count > skip + v->max) {
			em_buf_addf(reply, "%s: want: %s %s\n",
				    count > 1 && !call.host ? "no such drive" : "wrong words",
				    v->name, v->arguments);
			return -EINVAL;
		}
		call.args = words + skip;
		call.count = count - skip;
		return v->run(&call);
	}
	em_buf_addf(reply, "unknown word: %s; known are: list wait speed", count ? words[0] : "");
	for (unsigned i = 0; i < EM_COUNT(verbs); i++)
		em_buf_addf(reply, " %s", verbs[i].name);
	em_buf_addc(reply, '\n');
	return -EINVAL;
}

/* ---- connections ---- */

static void close_conn(struct sim_server *srv, struct sim_control_conn *conn)
{
	struct sim_control_conn **at = &srv->controls;

	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	sim_server_unwatch(srv, &conn->watch);
	free(conn);
}

/* First byte 0 (done) or 1 (error), then text. */
static void reply_and_close(struct sim_server *srv, struct sim_control_conn *conn, int r,
			    const char *text, size_t len)
{
	char status = r < 0 ? '1' : '0';
	struct timeval patience = { .tv_sec = 5 };
	int size = (int)len + 4096;

	setsockopt(conn->watch.fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(conn->watch.fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (send(conn->watch.fd, &status, 1, MSG_NOSIGNAL) == 1 && len)
		for (size_t at = 0; at < len;) {
			ssize_t n = send(conn->watch.fd, text + at, len - at, MSG_NOSIGNAL);

			if (n <= 0)
				break;
			at += (size_t)n;
		}
	close_conn(srv, conn);
}

static void reply_text(struct sim_server *srv, struct sim_control_conn *conn, int r,
		       const char *text)
{
	reply_and_close(srv, conn, r, text, strlen(text));
}

static bool is_over(const struct sim_control_conn *conn)
{
	uint64_t have = conn->waits_outstanding ? sim_kernel_outstanding(conn->waits_for)
						: conn->waits_for->drive->commands;

	return have >= conn->at_least;
}

uint64_t sim_control_run_due(struct sim_server *srv, uint64_t now_us)
{
	struct sim_control_conn *next_conn;
	uint64_t next = UINT64_MAX;

	for (struct sim_control_conn *c = srv->controls; c; c = next_conn) {
		next_conn = c->next;
		if (!c->waits_for)
			continue;
		if (is_over(c))
			reply_text(srv, c, 0, "");
		else if (c->deadline_us <= now_us)
			reply_text(srv, c, -ETIMEDOUT, "the time is over\n");
		else if (c->deadline_us < next)
			next = c->deadline_us;
	}
	return next;
}

/* wait DRIVE commands>=N|outstanding>=N [TIMEOUT] */
static int start_wait(struct sim_server *srv, struct sim_control_conn *conn, char **words,
		      unsigned count)
{
	struct sim_host *host = count > 2 ? sim_server_find(srv, words[1]) : NULL;
	uint64_t timeout = 10 * EM_US_PER_SEC, n;
	char *number = host ? strstr(words[2], ">=") : NULL;

	if (!number || count > 4 || em_parse_u64(number + 2, 0, UINT64_MAX, &n) < 0)
		return -EINVAL;
	*number = '\0';
	if (strcmp(words[2], "commands") != 0 && strcmp(words[2], "outstanding") != 0)
		return -EINVAL;
	if (count == 4 && em_parse_duration_us(words[3], 0, 3600 * EM_US_PER_SEC, &timeout) < 0)
		return -EINVAL;
	conn->waits_outstanding = strcmp(words[2], "outstanding") == 0;
	conn->at_least = n;
	conn->deadline_us = em_monotonic_us() + timeout;
	conn->waits_for = host;
	return 0;
}

static unsigned split(char *text, size_t len, char **words)
{
	unsigned count = 0;

	if (!memchr(text, '\0', len))
		for (size_t i = 0; i < len; i++)
			if (text[i] == ' ' || text[i] == '\n')
				text[i] = '\0';
	for (size_t i = 0; i < len && count < WORDS_MAX; i += strlen(text + i) + 1)
		if (text[i])
			words[count++] = text + i;
	return count;
}

static void on_request(struct sim_server *srv, struct sim_control_conn *conn)
{
	char *words[WORDS_MAX];
	unsigned count = split(conn->text, conn->len, words);
	struct em_buf reply;
	int r = 0;

	em_buf_init(&reply, REPLY_MAX);
	if (count == 1 && strcmp(words[0], "list") == 0) {
		list_drives(srv, &reply);
	} else if (count == 2 && strcmp(words[0], "speed") == 0) {
		uint64_t speed;

		r = em_parse_u64(words[1], 1, SIM_SPEED_MAX, &speed);
		if (r == 0)
			sim_server_set_speed(srv, (uint32_t)speed);
		else
			em_buf_addf(&reply, "want: speed 1 to %u\n", SIM_SPEED_MAX);
	} else if (count > 0 && strcmp(words[0], "wait") == 0) {
		r = start_wait(srv, conn, words, count);
		if (r == 0)
			return; /* sim_control_run_due() answers */
		em_buf_adds(&reply, "want: wait DRIVE commands>=N|outstanding>=N [TIMEOUT]\n");
	} else {
		r = sim_control_words(srv, NULL, words, count, &reply);
	}
	reply_and_close(srv, conn, r, reply.data ? reply.data : "", reply.len);
	em_buf_done(&reply);
}

static void on_control(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	struct sim_control_conn *conn = (struct sim_control_conn *)watch;
	ssize_t n;

	(void)events;
	n = recv(watch->fd, conn->text + conn->len, sizeof(conn->text) - 1 - conn->len,
		 MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0) {
		conn->len += (size_t)n;
		return;
	}
	/* The end of the request: no more to read, and no more to hear of it. */
	sim_server_watch(srv, watch, 0);
	if (n < 0 || conn->waits_for)
		close_conn(srv, conn);
	else
		on_request(srv, conn);
}

void sim_control_accept(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	struct sim_control_conn *conn;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	if (fd < 0)
		return;
	conn = calloc(1, sizeof(*conn));
	if (!conn) {
		close(fd);
		return;
	}
	conn->watch = (struct sim_watch){ .fd = fd, .on = on_control };
	conn->next = srv->controls;
	srv->controls = conn;
	if (sim_server_watch(srv, &conn->watch, EPOLLIN) < 0)
		close_conn(srv, conn);
}

void sim_control_done(struct sim_server *srv)
{
	while (srv->controls)
		close_conn(srv, srv->controls);
}

/* ---- the client ---- */

static int send_words(int fd, int argc, char **argv)
{
	char path[PATH_MAX], cwd[PATH_MAX];

	for (int i = 0; i < argc; i++) {
		const char *word = argv[i];

		/* The file of `page` is read by the simulator, which stands elsewhere. */
		if (i == 3 && strcmp(argv[0], "page") == 0 && word[0] != '/' &&
		    getcwd(cwd, sizeof(cwd)) &&
		    snprintf(path, sizeof(path), "%s/%s", cwd, word) < (int)sizeof(path))
			word = path;
		if (send(fd, word, strlen(word) + 1, MSG_NOSIGNAL) < 0)
			return -errno;
	}
	return shutdown(fd, SHUT_WR) < 0 ? -errno : 0;
}

int sim_control_client(int argc, char **argv)
{
	const char *path = getenv(SIM_ENV_CONTROL);
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	em_cleanup(em_closep) int fd = -1;
	char buf[4096], status = '1';
	ssize_t n;

	if (argc > 1 && strcmp(argv[0], "--control") == 0) {
		path = argv[1];
		argc -= 2;
		argv += 2;
	}
	if (!path || strlen(path) >= sizeof(sa.sun_path) || argc < 1) {
		fprintf(stderr, "usage: ember-sim control [--control PATH] WORDS...\n"
				"(inside ember-sim $" SIM_ENV_CONTROL " names the socket)\n");
		return 2;
	}
	strcpy(sa.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    send_words(fd, argc, argv) < 0) {
		fprintf(stderr, "ember-sim: %s: %s\n", path, strerror(errno));
		return 1;
	}
	if (recv(fd, &status, 1, 0) != 1)
		fprintf(stderr, "ember-sim: the simulator ended\n");
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		fwrite(buf, 1, (size_t)n, status == '0' ? stdout : stderr);
	return status == '0' ? 0 : 1;
}
