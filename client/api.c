/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/api.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"

#define EXPLANATION_SIZE 1024

static enum em_exit exit_of_status(long status)
{
	switch (status) {
	case 400:
	case 422:
		return EM_EXIT_USAGE;
	case 401:
	case 403:
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

/* A problem document says in its detail what to do; the title alone is the next best. */
static enum em_exit complain_problem(const struct em_client *client, long status,
				     const json_t *root)
{
	const char *title = em_json_text(root, "title");
	const char *detail = em_json_text(root, "detail");
	enum em_exit code = exit_of_status(status);

	if (!title && !detail)
		return em_client_complain(client, code,
					  "emberd answered with HTTP status %ld and no reason. "
					  "Look with `journalctl -u emberd -e`.",
					  status);
	if (!detail)
		return em_client_complain(client, code, "%s (HTTP status %ld).", title, status);
	return em_client_complain(client, code, "%s%s", detail,
				  code == EM_EXIT_NOT_FOUND ? " Here: `emberctl drives`." : "");
}

static enum em_exit take(const struct em_client *client, struct em_http_answer *answer,
			 struct em_doc *ret)
{
	json_t *root = json_loadb(answer->body, answer->len, JSON_REJECT_DUPLICATES, NULL);

	if (answer->status != 200) {
		enum em_exit code = complain_problem(client, answer->status, root);

		json_decref(root);
		return code;
	}
	if (!json_is_object(root)) {
		json_decref(root);
		return em_client_complain(client, EM_EXIT_FAILED,
					  "the answer is not one of emberd's. Is something else "
					  "listening there? Check --socket or --url.");
	}
	*ret = (struct em_doc){ .root = root, .text = em_steal(answer->body), .len = answer->len };
	return EM_EXIT_OK;
}

enum em_exit em_api_get(struct em_client *client, const char *path, struct em_doc *ret)
{
	em_cleanup(free_answer) struct em_http_answer answer = { 0 };
	char explanation[EXPLANATION_SIZE];
	int r;

	if (!path)
		return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	r = em_http_get(client->http, path, &answer);
	if (r < 0) {
		em_http_explain(client->http, r, explanation, sizeof(explanation));
		return em_client_complain(client, exit_of_error(r), "%s", explanation);
	}
	return take(client, &answer, ret);
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
