/* SPDX-License-Identifier: Apache-2.0 */
/* selftest: a drive's tests of itself: how they went, begin one, end one, wait for it. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "client/api.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

#define LOOK_EVERY_MS 500

struct selftest {
	struct em_client *client;
	const char *test;    /* "short", "extended", "abort"; NULL: only look */
	struct em_doc order; /* what the drive has taken on */
	struct em_doc page;  /* as it is now */
	char *path;	     /* of the page, by id once that is known */
	bool progress;	     /* there is a terminal to tell it to, and something is there */
};

static void selftest_done(struct selftest *selftest)
{
	em_doc_done(&selftest->order);
	em_doc_done(&selftest->page);
	free(selftest->path);
}

/* One of the three, or none. */
static enum em_exit choose(struct selftest *selftest)
{
	static const char *const options[] = { "--short", "--extended", "--abort" };

	for (size_t i = 0; i < EM_COUNT(options); i++) {
		if (!em_client_option(selftest->client, options[i]))
			continue;
		if (selftest->test)
			return em_client_complain(selftest->client, EM_EXIT_USAGE,
						  "Give one of --short, --extended and --abort.");
		selftest->test = options[i] + strlen("--");
	}
	return EM_EXIT_OK;
}

static enum em_exit give_order(struct selftest *selftest)
{
	struct em_client *client = selftest->client;
	em_cleanup(em_freep) char *tail = NULL, *path = NULL;

	if (asprintf(&tail, "/selftest?test=%s", selftest->test) < 0)
		tail = NULL;
	path = tail ? em_api_drive_path(client->args[0], tail) : NULL;
	return em_api_request(client, "POST", path, NULL, &selftest->order);
}

static enum em_exit look(struct selftest *selftest)
{
	const char *id = em_json_text(
		selftest->order.root ? selftest->order.root : selftest->page.root, "drive");

	/* By id as soon as it is known: the name may go to another drive meanwhile. */
	if (!selftest->path)
		selftest->path =
			em_api_drive_path(id ? id : selftest->client->args[0], "/selftest");
	em_doc_done(&selftest->page);
	return em_api_get(selftest->client, selftest->path, &selftest->page);
}

/* ---- waiting ------------------------------------------------------------------------------ */

/* Read since the order was taken on? Both times are RFC 3339 of one form: they compare as text. */
static bool is_news(const struct selftest *selftest)
{
	const char *since = em_json_text(selftest->order.root, "accepted_at");
	const char *at = em_json_text(selftest->page.root, "read_at");

	return !since || (at && strcmp(at, since) >= 0);
}

static bool is_gone(const struct selftest *selftest)
{
	const char *state = em_json_text(selftest->page.root, "state");

	return state && (strcmp(state, "removed") == 0 || strcmp(state, "retired") == 0);
}

static void put_progress(struct selftest *selftest)
{
	const json_t *values = json_object_get(selftest->page.root, "values");
	const char *test = em_json_text(values, "running_test");
	double percent;

	if (isatty(fileno(selftest->client->err)) != 1 ||
	    !em_json_number(values, "percent", &percent))
		return;
	fprintf(selftest->client->err, "\r%.20s self-test: %.0f %% done\033[K", test ? test : "",
		percent);
	fflush(selftest->client->err);
	selftest->progress = true;
}

static enum em_exit wait_for_end(struct selftest *selftest)
{
	enum em_exit code;

	for (;;) {
		code = look(selftest);
		if (code != EM_EXIT_OK)
			break;
		if (is_gone(selftest)) {
			code = em_client_complain(selftest->client, EM_EXIT_FAILED,
						  "The drive is gone.");
			break;
		}
		if (is_news(selftest) &&
		    !em_json_true(json_object_get(selftest->page.root, "values"), "in_progress"))
			break;
		put_progress(selftest);
		poll(NULL, 0, LOOK_EVERY_MS);
	}
	if (selftest->progress)
		fputs("\r\033[K", selftest->client->err);
	return code;
}

/* ---- what is shown ------------------------------------------------------------------------ */

static void put_page(struct selftest *selftest)
{
	const struct em_page *page = em_pages[EM_PAGE_SELFTEST];
	const struct em_group *results = &page->groups[0];
	const json_t *doc = selftest->page.root, *values = json_object_get(doc, "values");
	struct em_writer *w = selftest->client->writer;

	em_writer_document(w, NULL, selftest->page.text, selftest->page.len);
	if (!em_view_page_head(w, page->title, doc, em_json_text(doc, "state"), 0))
		return;
	em_view_page(w, page, values, false);
	em_view_group(w, results, values, results->count);
	if (json_array_size(json_object_get(values, results->key)) == 0)
		em_writer_paragraph(w, (struct em_cell){ "No result is kept.", EM_TONE_DIM });
}

static void put_order(struct selftest *selftest)
{
	struct em_client *client = selftest->client;
	const char *device = em_json_text(selftest->order.root, "device");
	bool abort = strcmp(selftest->test, "abort") == 0;
	char text[EM_VIEW_SIZE];

	em_writer_document(client->writer, NULL, selftest->order.text, selftest->order.len);
	if (abort)
		snprintf(text, sizeof(text), "The self-test of %.60s was aborted.",
			 device ? device : "the drive");
	else
		snprintf(text, sizeof(text),
			 "%.60s has begun the %s self-test. `emberctl selftest %.60s` shows how it "
			 "goes.",
			 device ? device : "The drive", selftest->test, client->args[0]);
	em_writer_paragraph(client->writer, (struct em_cell){ text, EM_TONE_PLAIN });
}

/* How the test ended that was waited for. */
static enum em_exit judge(struct selftest *selftest)
{
	const json_t *values = json_object_get(selftest->page.root, "values");
	const json_t *newest = json_array_get(json_object_get(values, "results"), 0);
	const char *result = em_json_text(newest, "result");
	char words[EM_VIEW_SIZE];

	if (selftest->test && strcmp(selftest->test, "abort") == 0)
		return EM_EXIT_OK;
	if (!result && !selftest->test)
		return EM_EXIT_OK;
	if (result && strcmp(result, "passed") == 0)
		return EM_EXIT_OK;
	em_writer_finish(selftest->client->writer);
	return em_client_complain(
		selftest->client, EM_EXIT_FAILED, "The self-test did not pass: %s.",
		result ? em_view_words(result, words) : "the drive tells no result");
}

enum em_exit em_verb_selftest(struct em_client *client)
{
	em_cleanup(selftest_done) struct selftest selftest = { .client = client };
	bool wait = em_client_option(client, "--wait") != NULL;
	enum em_exit code = choose(&selftest);

	if (code == EM_EXIT_OK && selftest.test)
		code = give_order(&selftest);
	if (code != EM_EXIT_OK)
		return code;
	if (selftest.test && !wait) {
		put_order(&selftest);
		return EM_EXIT_OK;
	}
	code = wait ? wait_for_end(&selftest) : look(&selftest);
	if (code != EM_EXIT_OK)
		return code;
	put_page(&selftest);
	return wait ? judge(&selftest) : EM_EXIT_OK;
}
