/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client/api.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

#define PATH	   "/v1/tokens"
#define ROLE	   "viewer" /* the only one that the network has */
#define PORT_USUAL "9443"

static char *request_body(const struct em_client *client)
{
	const char *expires = em_client_option(client, "--expires");
	json_t *body = json_pack("{s:s, s:s, s:s*}", "name", client->args[0], "role", ROLE,
				 "expires_in", expires);
	char *text = json_dumps(body, JSON_COMPACT);

	json_decref(body);
	return text;
}

/* The port of the HTTPS listener as emberd tells it; NULL: it has none. */
static const char *https_port(const json_t *health, char buf[EM_VIEW_SIZE])
{
	const json_t *listener;
	size_t i;

	json_array_foreach(json_object_get(health, "listeners"), i, listener)
	{
		const char *kind = em_json_text(listener, "kind");
		const char *address = em_json_text(listener, "address");
		const char *colon = address ? strrchr(address, ':') : NULL;

		if (!kind || strcmp(kind, "https") != 0 || !colon)
			continue;
		snprintf(buf, EM_VIEW_SIZE, "%s", colon + 1);
		return buf;
	}
	return NULL;
}

/* Ready for prometheus.yml; beside the token, so that the token alone can go into a file. */
static void put_snippet(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc health = { 0 };
	struct em_reason reason;
	char host[256] = "HOST", port[EM_VIEW_SIZE];
	const char *found;

	em_api_try(client, "GET", "/v1/health", NULL, &health, &reason);
	found = https_port(health.root, port);
	gethostname(host, sizeof(host) - 1);
	fprintf(client->err,
		"\nPut it into a file that Prometheus alone can read, and into prometheus.yml:\n"
		"\n"
		"  scrape_configs:\n"
		"    - job_name: ember\n"
		"      scheme: https\n"
		"      authorization:\n"
		"        credentials_file: /etc/prometheus/ember.token\n"
		"      tls_config:\n"
		"        ca_file: /etc/prometheus/ember-ca.pem # who signed emberd's certificate\n"
		"      static_configs:\n"
		"        - targets: [\"%s:%s\"]\n",
		host, found ? found : PORT_USUAL);
	if (health.root && !found)
		fprintf(client->err,
			"\nemberd has no HTTPS listener yet: set `listen` under [https] in\n"
			"/etc/ember/emberd.conf and restart it.\n");
}

/* In one line however narrow the terminal is, so that it can be copied whole. */
static void put_token_alone(struct em_client *client, const char *token)
{
	em_cleanup(em_freep) char *clean = em_term_clean(token, false);

	if (clean)
		fprintf(client->out, "%s\n", clean);
	fflush(client->out);
}

enum em_exit em_verb_token_create(struct em_client *client)
{
	em_cleanup(em_freep) char *body = request_body(client);
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code;
	char until[EM_VIEW_SIZE];
	const char *token, *end;

	if (!body)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "`%s` is no name: it must be UTF-8 text.",
					  client->args[0]);
	code = em_api_request(client, "POST", PATH, body, &doc);
	if (code != EM_EXIT_OK)
		return code;
	token = em_json_text(doc.root, "token");
	end = em_view_time(em_json_text(doc.root, "expires_at"), until);
	em_writer_document(client->writer, NULL, doc.text, doc.len);
	em_writer_finish(client->writer);
	if (token && !client->common[EM_COMMON_JSON])
		put_token_alone(client, token);
	em_client_complain(client, EM_EXIT_OK,
			   "this token is shown once. It may look at everything and change "
			   "nothing, and is valid %s%s. `emberctl token revoke %s` ends it.",
			   end ? "until " : "until revoked", end ? end : "",
			   em_json_text(doc.root, "id") ? em_json_text(doc.root, "id") : "ID");
	if (!client->common[EM_COMMON_JSON])
		put_snippet(client);
	return EM_EXIT_OK;
}

static void put_token(struct em_writer *w, const json_t *token)
{
	char created[EM_VIEW_SIZE], expires[EM_VIEW_SIZE], used[EM_VIEW_SIZE];
	const char *end = em_view_time(em_json_text(token, "expires_at"), expires);
	const char *last = em_view_time(em_json_text(token, "last_used_at"), used);
	struct em_cell cells[] = {
		{ em_json_text(token, "id"), EM_TONE_STRONG },
		{ em_json_text(token, "name"), EM_TONE_PLAIN },
		{ em_json_text(token, "role"), EM_TONE_PLAIN },
		{ last ? last : "never", last ? EM_TONE_PLAIN : EM_TONE_DIM },
		{ end ? end : "never", end ? EM_TONE_PLAIN : EM_TONE_DIM },
		{ em_view_time(em_json_text(token, "created_at"), created), EM_TONE_PLAIN },
	};

	em_writer_row(w, cells);
}

enum em_exit em_verb_token_list(struct em_client *client)
{
	static const char *const paths[] = { "id",	   "name",	 "role",
					     "created_at", "expires_at", "last_used_at" };
	static const struct em_column columns[] = {
		{ .title = "Id" },
		{ .title = "Name", .rank = 1, .shortest = 12 },
		{ .title = "Role", .rank = 5 },
		{ .title = "Last used", .rank = 2 },
		{ .title = "Expires", .rank = 3 },
		{ .title = "Created", .rank = 4 },
	};
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, PATH, &doc);
	const json_t *tokens = json_object_get(doc.root, "tokens"), *token;
	struct em_writer *w = client->writer;
	size_t i;

	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(w, NULL, doc.text, doc.len);
	em_writer_records(w, tokens, paths, EM_COUNT(paths));
	if (json_array_size(tokens) == 0) {
		em_writer_paragraph(w, (struct em_cell){ "There is no token. `emberctl token "
							 "create NAME` makes one.",
							 EM_TONE_PLAIN });
		return EM_EXIT_OK;
	}
	em_writer_table(w, columns, EM_COUNT(columns));
	json_array_foreach(tokens, i, token) put_token(w, token);
	return EM_EXIT_OK;
}

enum em_exit em_verb_token_revoke(struct em_client *client)
{
	em_cleanup(em_freep) char *escaped = em_http_escape(client->args[0]);
	em_cleanup(em_freep) char *path = NULL;
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	char line[EM_VIEW_SIZE];
	enum em_exit code;

	if (!escaped || asprintf(&path, PATH "/%s", escaped) < 0)
		return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	code = em_api_request(client, "DELETE", path, NULL, &doc);
	if (code != EM_EXIT_OK)
		return code;
	snprintf(line, sizeof(line), "Token %.60s is worthless now.", client->args[0]);
	em_writer_paragraph(client->writer, (struct em_cell){ line, EM_TONE_PLAIN });
	return EM_EXIT_OK;
}
