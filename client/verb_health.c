/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "client/drive_health.h"
#include "client/human.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

static void put_text(struct em_writer *w, const char *label, const char *text, enum em_tone tone)
{
	em_writer_fact(w, label, (struct em_cell){ text, tone });
}

static const char *count_of(const json_t *object, const char *key, char buf[EM_VIEW_SIZE])
{
	char digits[EM_VIEW_SIZE];
	const json_t *value = json_object_get(object, key);

	if (!em_view_scalar(value, digits))
		return NULL;
	return em_human_digits(buf, EM_VIEW_SIZE, digits);
}

static void put_status(struct em_writer *w, const json_t *root)
{
	const char *status = em_json_text(root, "status");
	bool ok = status && strcmp(status, "ok") == 0;
	const json_t *reason;
	char buf[EM_VIEW_SIZE];
	double uptime;
	size_t i;

	put_text(w, "Status", status, ok ? EM_TONE_GOOD : EM_TONE_BAD);
	json_array_foreach(json_object_get(root, "reasons"), i, reason)
		put_text(w, "Reason", json_string_value(reason), EM_TONE_WARN);
	put_text(w, "Version", em_json_text(root, "version"), EM_TONE_PLAIN);
	put_text(w, "Started", em_view_time(em_json_text(root, "started_at"), buf), EM_TONE_PLAIN);
	if (em_json_number(root, "uptime_seconds", &uptime))
		put_text(w, "Running for", em_human_span(buf, sizeof(buf), uptime), EM_TONE_PLAIN);
}

static void put_broker(struct em_writer *w, const json_t *broker)
{
	bool connected = em_json_true(broker, "connected");
	char buf[EM_VIEW_SIZE];

	put_text(w, "Broker", connected ? "connected" : "not connected",
		 connected ? EM_TONE_GOOD : EM_TONE_BAD);
	put_text(w, "Broker requests", count_of(broker, "requests_total", buf), EM_TONE_PLAIN);
}

static void put_store(struct em_writer *w, const json_t *store)
{
	const char *status = em_json_text(store, "status"), *detail = em_json_text(store, "detail");
	bool ok = status && strcmp(status, "ok") == 0;
	char buf[EM_VIEW_SIZE];

	put_text(w, "History", status, ok ? EM_TONE_GOOD : EM_TONE_BAD);
	if (detail)
		put_text(w, "Reason", detail, EM_TONE_WARN);
	put_text(w, "Rows written", count_of(store, "written_total", buf), EM_TONE_PLAIN);
	put_text(w, "Rows waiting", count_of(store, "queued", buf), EM_TONE_PLAIN);
	put_text(w, "Rows lost", count_of(store, "dropped_total", buf), EM_TONE_PLAIN);
}

/* "7 ok, 1 unresponsive" - in the order and with the names that emberd gives. */
static void put_drives(struct em_writer *w, const json_t *drives)
{
	char buf[EM_VIEW_SIZE];
	size_t used = 0;
	const char *key, *comma = "";
	const json_t *count;

	snprintf(buf, sizeof(buf), "none");
	json_object_foreach((json_t *)drives, key, count)
	{
		if (strcmp(key, "total") == 0 || json_integer_value(count) == 0)
			continue;
		used += (size_t)snprintf(buf + used, sizeof(buf) - used, "%s%lld %s", comma,
					 (long long)json_integer_value(count), key);
		if (used >= sizeof(buf))
			break;
		comma = ", ";
	}
	put_text(w, "Drives", buf, EM_TONE_PLAIN);
}

static void put_listeners(struct em_writer *w, const json_t *root)
{
	const json_t *listener;
	const char *label = "Listens at";
	char line[EM_VIEW_SIZE], expires[EM_VIEW_SIZE];
	const char *end = em_view_time(em_json_text(root, "certificate_expires_at"), expires);
	size_t i;

	json_array_foreach(json_object_get(root, "listeners"), i, listener)
	{
		const char *kind = em_json_text(listener, "kind");
		const char *address = em_json_text(listener, "address");

		snprintf(line, sizeof(line), "%.300s (%.60s)", address ? address : "?",
			 kind ? kind : "?");
		put_text(w, label, line, EM_TONE_PLAIN);
		label = "";
	}
	if (end)
		put_text(w, "Certificate until", end, EM_TONE_PLAIN);
}

static enum em_exit show_all(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, "/v1/health", &doc);
	struct em_writer *w = client->writer;

	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(w, NULL, doc.text, doc.len);
	put_status(w, doc.root);
	put_broker(w, json_object_get(doc.root, "broker"));
	put_store(w, json_object_get(doc.root, "store"));
	put_drives(w, json_object_get(doc.root, "drives"));
	put_listeners(w, doc.root);
	return em_drive_health_all(client);
}

enum em_exit em_verb_health(struct em_client *client)
{
	return client->args[0] ? em_drive_health_one(client) : show_all(client);
}
