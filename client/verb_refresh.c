/* SPDX-License-Identifier: Apache-2.0 */
/* refresh: orders a reading of everything, and watches how it goes. */
#include "config.h"
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "client/api.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/parse.h"

#define WAIT_DEFAULT_US (60 * EM_US_PER_SEC)
#define WAIT_MIN_US	(100 * EM_US_PER_MS)
#define WAIT_MAX_US	(3600 * EM_US_PER_SEC)
#define LOOK_EVERY_MS	200
#define LINE_SIZE	4096u

struct refresh {
	struct em_client *client;
	struct em_doc order; /* what emberd will read, and from when */
	struct em_doc drive; /* as it is now */
	char *path;	     /* of the drive, by id */
	uint64_t begin_us, wait_us;
	bool progress; /* there is a terminal to tell it to */
};

static void refresh_done(struct refresh *refresh)
{
	em_doc_done(&refresh->order);
	em_doc_done(&refresh->drive);
	free(refresh->path);
}

static const json_t *find_page(const struct refresh *refresh, const char *name)
{
	const json_t *page;
	size_t i;

	json_array_foreach(json_object_get(refresh->drive.root, "pages"), i, page)
	{
		const char *its = em_json_text(page, "page");

		if (its && name && strcmp(its, name) == 0)
			return page;
	}
	return NULL;
}

/* Was it tried since the order? Both times are RFC 3339 of one form: they compare as text. */
static bool is_tried(const struct refresh *refresh, const json_t *page)
{
	const char *since = em_json_text(refresh->order.root, "requested_at");
	const char *at = em_json_text(page, "attempted_at");

	return at && since && strcmp(at, since) >= 0;
}

/* What the drive does not have, or refused before, is not asked for: there is nothing to wait for.
 */
static bool is_left_out(const struct refresh *refresh, const json_t *page)
{
	const char *status = em_json_text(page, "status");

	if (!status)
		return false;
	if (strcmp(status, "refused") == 0)
		return !em_client_option(refresh->client, "--refused");
	return strcmp(status, "unsupported") == 0;
}

static bool is_settled(const struct refresh *refresh, const json_t *page)
{
	return is_tried(refresh, page) || is_left_out(refresh, page);
}

/* How many of the pages are settled; *ret_waiting names the others. */
static size_t count_settled(const struct refresh *refresh, struct em_buf *ret_waiting)
{
	const json_t *name;
	size_t i, settled = 0;

	json_array_foreach(json_object_get(refresh->order.root, "pages"), i, name)
	{
		const char *text = json_string_value(name);

		if (is_settled(refresh, find_page(refresh, text)))
			settled++;
		else
			em_buf_addf(ret_waiting, "%s%s", ret_waiting->len > 0 ? ", " : "",
				    text ? text : "?");
	}
	return settled;
}

/* A drive that does not answer is not asked for the rest. */
static bool is_hopeless(const struct refresh *refresh, size_t settled)
{
	return settled > 0 && em_view_is_stale_state(em_json_text(refresh->drive.root, "state"));
}

static void put_progress(const struct refresh *refresh, size_t settled, const char *waiting)
{
	size_t total = json_array_size(json_object_get(refresh->order.root, "pages"));
	double seconds = (double)(em_monotonic_us() - refresh->begin_us) / (double)EM_US_PER_SEC;
	em_cleanup(em_freep) char *clean = NULL;
	char line[LINE_SIZE];
	struct em_term term;

	if (!refresh->progress)
		return;
	em_term_detect(&term, fileno(refresh->client->err));
	snprintf(line, sizeof(line), "%zu of %zu pages, %.0f s; waiting for %s", settled, total,
		 seconds, waiting);
	clean = em_term_clean(line, term.utf8);
	if (clean)
		fprintf(refresh->client->err, "\r%.*s\033[K",
			(int)em_term_fit(clean, term.width - 1), clean);
	fflush(refresh->client->err);
}

static void end_progress(const struct refresh *refresh)
{
	if (refresh->progress)
		fputs("\r\033[K", refresh->client->err);
}

static enum em_exit look(struct refresh *refresh)
{
	em_doc_done(&refresh->drive);
	return em_api_get(refresh->client, refresh->path, &refresh->drive);
}

/* Until all is tried, the drive does not answer, or the time is over. */
static enum em_exit wait_for_pages(struct refresh *refresh)
{
	size_t total = json_array_size(json_object_get(refresh->order.root, "pages"));

	for (;;) {
		em_cleanup(em_buf_done) struct em_buf waiting = { 0 };
		enum em_exit code = look(refresh);
		size_t settled;

		if (code != EM_EXIT_OK)
			return code;
		em_buf_init(&waiting, LINE_SIZE);
		em_buf_adds(&waiting, "");
		settled = count_settled(refresh, &waiting);
		if (settled >= total || is_hopeless(refresh, settled) ||
		    em_monotonic_us() - refresh->begin_us >= refresh->wait_us)
			return EM_EXIT_OK;
		put_progress(refresh, settled, waiting.data ? waiting.data : "");
		poll(NULL, 0, LOOK_EVERY_MS);
	}
}

/* How it ended for one page, in words; *ret_failed when the drive gave no answer. */
static struct em_cell result_of(const struct refresh *refresh, const json_t *page, bool *ret_failed)
{
	const char *status = em_json_text(page, "status");
	bool stale = em_view_is_stale_state(em_json_text(refresh->drive.root, "state"));

	*ret_failed = true;
	if (!is_settled(refresh, page))
		return (struct em_cell){ stale ? "not asked" : "still waiting", EM_TONE_WARN };
	if (!status)
		return (struct em_cell){ NULL, EM_TONE_PLAIN };
	*ret_failed = em_view_status_tone(status) == EM_TONE_WARN;
	if (strcmp(status, "ok") == 0)
		return (struct em_cell){ "read", EM_TONE_GOOD };
	return (struct em_cell){ status, em_view_status_tone(status) };
}

/* One line of the report; true when the drive gave no answer. */
static bool put_result(const struct refresh *refresh, const char *key, const char **last)
{
	const struct em_page *known = key ? em_page_find(key) : NULL;
	const json_t *page = find_page(refresh, key);
	const char *detail = em_json_text(page, "status_detail");
	bool failed;
	struct em_cell cells[] = {
		{ known ? known->title : key, EM_TONE_PLAIN },
		result_of(refresh, page, &failed),
		{ NULL, EM_TONE_DIM },
	};

	if (!is_settled(refresh, page))
		detail = em_json_text(refresh->drive.root, "state_detail");
	cells[2].text = em_view_because(em_json_text(page, "status"), detail, last);
	em_writer_row(refresh->client->writer, cells);
	return failed;
}

static unsigned put_results(const struct refresh *refresh)
{
	static const struct em_column columns[] = {
		{ .title = "Page" },
		{ .title = "Result" },
		{ .title = "Because", .wrap = true, .rank = 1, .shortest = 12 },
	};
	const char *last = NULL;
	const json_t *name;
	unsigned failures = 0;
	size_t i;

	em_writer_table(refresh->client->writer, columns, EM_COUNT(columns));
	json_array_foreach(json_object_get(refresh->order.root, "pages"), i, name) failures +=
		put_result(refresh, json_string_value(name), &last);
	return failures;
}

static enum em_exit give_order(struct refresh *refresh)
{
	struct em_client *client = refresh->client;
	const char *tail =
		em_client_option(client, "--refused") ? "/refresh?refused=true" : "/refresh";
	em_cleanup(em_freep) char *path = em_api_drive_path(client->args[0], tail);
	enum em_exit code = em_api_request(client, "POST", path, NULL, &refresh->order);
	const char *id = em_json_text(refresh->order.root, "drive");

	if (code != EM_EXIT_OK)
		return code;
	/* By id from here on: the name may go to another drive meanwhile. */
	refresh->path = em_api_drive_path(id ? id : client->args[0], "");
	refresh->begin_us = em_monotonic_us();
	return EM_EXIT_OK;
}

enum em_exit em_verb_refresh(struct em_client *client)
{
	em_cleanup(refresh_done) struct refresh refresh = { .client = client,
							    .wait_us = WAIT_DEFAULT_US };
	const char *wait = em_client_option(client, "--wait");
	enum em_exit code;
	unsigned failures;

	if (wait && em_parse_duration_us(wait, WAIT_MIN_US, WAIT_MAX_US, &refresh.wait_us) < 0)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "--wait %s: give a span from 100ms to 1h, like 30s.",
					  wait);
	refresh.progress = isatty(fileno(client->err)) == 1;
	code = give_order(&refresh);
	if (code == EM_EXIT_OK)
		code = wait_for_pages(&refresh);
	end_progress(&refresh);
	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(client->writer, NULL, refresh.drive.text, refresh.drive.len);
	failures = put_results(&refresh);
	em_writer_finish(client->writer);
	if (failures > 0)
		return em_client_complain(
			client, EM_EXIT_FAILED,
			"%u page%s could not be read. `emberctl show %s` says how "
			"old the values are that Ember has.",
			failures, failures == 1 ? "" : "s", client->args[0]);
	return EM_EXIT_OK;
}
