/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/api.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"

#define PAGES_MAX 4096u

static enum em_exit exit_of_status(long status)
{
	switch (status) {
	case 400:
	case 422:
		return EM_EXIT_USAGE;
	case 401:
	case 403:
	case 405: /* the network may only look */
		return EM_EXIT_REFUSED;
	case 404:
		return EM_EXIT_NOT_FOUND;
	default:
		return EM_EXIT_FAILED;
	}
}

static enum em_exit exit_of_error(int err)
{
	switch (-err) {
	case ENOMEM:
	case EMSGSIZE:
		return EM_EXIT_FAILED;
	case EINVAL:
		return EM_EXIT_USAGE;
	default:
		return EM_EXIT_UNREACHABLE;
	}
}

static void free_answer(struct em_http_answer *answer)
{
	free(answer->body);
	answer->body = NULL;
}

#define REASON_FORMAT(n) __attribute__((format(printf, n, (n) + 1)))

static void set_reason(struct em_reason *ret, const char *format, ...) REASON_FORMAT(2);

static void set_reason(struct em_reason *ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(ret->text, sizeof(ret->text), format, args);
	va_end(args);
}

/* Where to go from here, when the problem does not say it for emberctl. */
static const char *next_step(long status, const char *detail)
{
	switch (status) {
	case 401:
		return strstr(detail, "--token-file")
			       ? ""
			       : " emberctl shows it with --token-file FILE or $EMBER_TOKEN.";
	case 403:
		return strstr(detail, "usermod") || strstr(detail, "policy")
			       ? ""
			       : " By default the group is ember-admin: `usermod "
				 "-aG ember-admin USER`, "
				 "then log in again.";
	case 404:
		return strstr(detail, "emberctl ") ? "" : " Here: `emberctl drives`.";
	case 405:
		return " Orders are given on the host itself, over its socket.";
	}
	return "";
}

/* Requests that details name, and the verb that sends each. */
struct way {
	const char *request, *verb;
};

static const struct way *way_at(const char *text)
{
	static const struct way ways[] = {
		{ "GET /v1/drives", "`emberctl drives`" },
		{ "GET /v1/tokens", "`emberctl token list`" },
		{ "GET /v1/health", "`emberctl health`" },
	};

	for (size_t i = 0; i < EM_COUNT(ways); i++)
		if (strncmp(text, ways[i].request, strlen(ways[i].request)) == 0)
			return &ways[i];
	return NULL;
}

/* emberd speaks to clients of its API; people at a terminal have ours. Cuts what is too long. */
static void put_in_our_words(struct em_reason *ret, const char *detail)
{
	size_t used = 0;

	ret->text[0] = '\0';
	while (*detail && used < sizeof(ret->text) - 1) {
		const struct way *way = way_at(detail);

		used += (size_t)snprintf(ret->text + used, sizeof(ret->text) - used, "%.*s",
					 way ? (int)strlen(way->verb) : 1,
					 way ? way->verb : detail);
		detail += way ? strlen(way->request) : 1;
	}
}

/* A problem document says in its detail what to do; the title alone is the next best. */
enum em_exit em_api_problem(const struct em_http_answer *answer, struct em_reason *ret_reason)
{
	json_t *root = json_loadb(answer->body, answer->len, JSON_REJECT_DUPLICATES, NULL);
	const char *title = em_json_text(root, "title");
	const char *detail = em_json_text(root, "detail");
	long status = answer->status;
	struct em_reason words;

	put_in_our_words(&words, detail ? detail : "");
	if (detail)
		set_reason(ret_reason, "%s%s", words.text, next_step(status, words.text));
	else if (title)
		set_reason(ret_reason, "%s (HTTP status %ld).%s", title, status,
			   next_step(status, title));
	else
		set_reason(ret_reason,
			   "emberd answered with HTTP status %ld and no reason. Look with "
			   "`journalctl -u emberd -e`.",
			   status);
	json_decref(root);
	return exit_of_status(status);
}

/* Only what is deleted may be answered without a document. */
static enum em_exit take(struct em_http_answer *answer, bool deleted, struct em_doc *ret,
			 struct em_reason *ret_reason)
{
	json_t *root;

	if (answer->status < 200 || answer->status > 299)
		return em_api_problem(answer, ret_reason);
	if (answer->status == 204 && deleted)
		return EM_EXIT_OK;
	root = json_loadb(answer->body, answer->len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root)) {
		json_decref(root);
		set_reason(ret_reason, "the answer is not one of emberd's. Is something else "
				       "listening there? Check --socket or --url.");
		return EM_EXIT_FAILED;
	}
	*ret = (struct em_doc){ .root = root, .text = em_steal(answer->body), .len = answer->len };
	return EM_EXIT_OK;
}

enum em_exit em_api_try(struct em_client *client, const char *method, const char *path,
			const char *body, struct em_doc *ret, struct em_reason *ret_reason)
{
	em_cleanup(free_answer) struct em_http_answer answer = { 0 };
	int r;

	if (!path) {
		set_reason(ret_reason, "out of memory.");
		return EM_EXIT_FAILED;
	}
	r = em_http_request(client->http, method, path, body, &answer);
	if (r < 0) {
		em_http_explain(client->http, r, ret_reason->text, sizeof(ret_reason->text));
		return exit_of_error(r);
	}
	return take(&answer, strcmp(method, "DELETE") == 0, ret, ret_reason);
}

enum em_exit em_api_request(struct em_client *client, const char *method, const char *path,
			    const char *body, struct em_doc *ret)
{
	struct em_reason reason;
	enum em_exit code = em_api_try(client, method, path, body, ret, &reason);

	if (code != EM_EXIT_OK)
		em_client_complain(client, code, "%s", reason.text);
	return code;
}

enum em_exit em_api_get(struct em_client *client, const char *path, struct em_doc *ret)
{
	return em_api_request(client, "GET", path, NULL, ret);
}

/* The way to the page after this one; NULL: there is none, or no memory. */
static char *next_path(const char *path, const struct em_doc *page)
{
	const char *cursor = em_json_text(page->root, "next_cursor");
	em_cleanup(em_freep) char *escaped = cursor ? em_http_escape(cursor) : NULL;
	char *next = NULL;

	if (!escaped ||
	    asprintf(&next, "%s%ccursor=%s", path, strchr(path, '?') ? '&' : '?', escaped) < 0)
		return NULL;
	return next;
}

/* Puts the entries and the cursor of page into *ret. */
static bool append_page(struct em_doc *ret, const struct em_doc *page, const char *list)
{
	json_t *entries = json_object_get(ret->root, list);
	json_t *more = json_object_get(page->root, list);
	json_t *cursor = json_object_get(page->root, "next_cursor");

	return json_is_array(more) && json_array_size(more) > 0 &&
	       json_array_extend(entries, more) == 0 &&
	       json_object_set(ret->root, "next_cursor", cursor) == 0;
}

static bool rewrite_text(struct em_doc *doc)
{
	char *text = json_dumps(doc->root, JSON_COMPACT | JSON_REAL_PRECISION(15));

	if (!text)
		return false;
	free(doc->text);
	doc->text = text;
	doc->len = strlen(text);
	return true;
}

/* A list that comes in pages. */
struct pages {
	struct em_doc all; /* the first one, with the entries of all */
	size_t bytes;	   /* as they came */
	unsigned count;
	bool more;
};

static bool wants_more(const struct pages *pages, const char *list, size_t max)
{
	size_t count = json_array_size(json_object_get(pages->all.root, list));

	return pages->more && em_json_text(pages->all.root, "next_cursor") && count > 0 &&
	       (max == 0 || count < max);
}

/* Whoever answers, there is an end: of bytes as with one answer, and of pages. */
static enum em_exit add_page(struct em_client *client, const char *path, const char *list,
			     struct pages *pages, struct em_reason *ret_reason)
{
	em_cleanup(em_freep) char *next = next_path(path, &pages->all);
	em_cleanup(em_doc_done) struct em_doc page = { 0 };
	enum em_exit code = em_api_try(client, "GET", next, NULL, &page, ret_reason);

	if (code != EM_EXIT_OK)
		return code;
	pages->bytes += page.len;
	pages->count++;
	if (pages->count > PAGES_MAX || pages->bytes > EM_HTTP_ANSWER_MAX) {
		em_http_explain(client->http, -EMSGSIZE, ret_reason->text,
				sizeof(ret_reason->text));
		return EM_EXIT_FAILED;
	}
	pages->more = append_page(&pages->all, &page, list);
	return EM_EXIT_OK;
}

static void pages_done(struct pages *pages)
{
	em_doc_done(&pages->all);
}

enum em_exit em_api_try_list(struct em_client *client, const char *path, const char *list,
			     size_t max, struct em_doc *ret, struct em_reason *ret_reason)
{
	em_cleanup(pages_done) struct pages pages = { .count = 1, .more = true };
	enum em_exit code = em_api_try(client, "GET", path, NULL, &pages.all, ret_reason);
	json_t *entries;
	bool changed;

	pages.bytes = pages.all.len;
	while (code == EM_EXIT_OK && wants_more(&pages, list, max))
		code = add_page(client, path, list, &pages, ret_reason);
	if (code != EM_EXIT_OK)
		return code;
	entries = json_object_get(pages.all.root, list);
	changed = pages.count > 1;
	while (max > 0 && json_array_size(entries) > max)
		changed = json_array_remove(entries, max) == 0;
	if (changed && !rewrite_text(&pages.all)) {
		set_reason(ret_reason, "out of memory.");
		return EM_EXIT_FAILED;
	}
	*ret = pages.all;
	pages.all = (struct em_doc){ 0 };
	return EM_EXIT_OK;
}

enum em_exit em_api_get_list(struct em_client *client, const char *path, const char *list,
			     size_t max, struct em_doc *ret)
{
	struct em_reason reason;
	enum em_exit code = em_api_try_list(client, path, list, max, ret, &reason);

	if (code != EM_EXIT_OK)
		em_client_complain(client, code, "%s", reason.text);
	return code;
}

void em_doc_done(struct em_doc *doc)
{
	json_decref(doc->root);
	free(doc->text);
	*doc = (struct em_doc){ 0 };
}

char *em_api_drive_path(const char *drive, const char *tail)
{
	em_cleanup(em_freep) char *escaped = em_http_escape(drive);
	char *path = NULL;

	if (!escaped || asprintf(&path, "/v1/drives/%s%s", escaped, tail) < 0)
		return NULL;
	return path;
}

const char *em_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

bool em_json_number(const json_t *object, const char *key, double *ret)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_number(value))
		return false;
	*ret = json_number_value(value);
	return true;
}

bool em_json_true(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}
