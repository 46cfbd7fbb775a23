/* SPDX-License-Identifier: Apache-2.0 */
#include "client/follow.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client/api.h"
#include "client/event_view.h"
#include "client/sse.h"
#include "lib/base/cleanup.h"

#define DELAY_FIRST_MS 250u
#define DELAY_MAX_MS   5000u

struct follow {
	struct em_client *client;
	struct em_sse sse;
	bool lost;	   /* the connection broke, and that was said */
	unsigned delay_ms; /* before the next attempt */
	int output_err;
};

static void say(const struct follow *follow, const char *text)
{
	em_client_complain(follow->client, EM_EXIT_OK, "%s", text);
}

/* Text that is no event of ours is passed over: a later emberd may say more. */
static bool on_event(void *userdata, const char *data, size_t len)
{
	struct follow *follow = userdata;
	struct em_writer *w = follow->client->writer;
	json_t *event = json_loadb(data, len, 0, NULL), *list = json_array();

	if (json_is_object(event) && list && json_array_append(list, event) == 0) {
		em_writer_document(w, NULL, data, len);
		em_writer_records(w, list, em_event_paths, em_event_path_count);
		em_event_put(w, event, EM_FOLLOW_DEVICE_WIDTH);
		follow->output_err = em_writer_finish(w);
	}
	json_decref(list);
	json_decref(event);
	return follow->output_err == 0;
}

static bool on_data(void *userdata, const char *data, size_t len)
{
	struct follow *follow = userdata;

	if (follow->lost)
		say(follow, "connected again.");
	follow->lost = false;
	follow->delay_ms = DELAY_FIRST_MS;
	return em_sse_feed(&follow->sse, data, len);
}

/* True when another attempt may help: the daemon restarts, the network returns. */
static bool may_return(int r, const struct em_http_answer *answer)
{
	switch (r) {
	case 0:
		return answer->status == 200 || answer->status >= 500;
	case -ECANCELED:
	case -ENOMEM:
	case -EINVAL:
	case -EKEYREJECTED:
	case -ENOKEY:
	case -EACCES:
		return false;
	}
	return true;
}

static void wait_a_little(struct follow *follow)
{
	unsigned most = follow->sse.retry_ms > 0 ? follow->sse.retry_ms : DELAY_MAX_MS;

	if (!follow->lost)
		say(follow, "the connection is lost. Trying again, nothing will be left out.");
	follow->lost = true;
	poll(NULL, 0, (int)follow->delay_ms);
	follow->delay_ms *= 2;
	if (follow->delay_ms > most)
		follow->delay_ms = most;
}

/* Why there is no going on. */
static enum em_exit end(struct follow *follow, int r, const struct em_http_answer *answer)
{
	struct em_reason reason;
	enum em_exit code;

	if (follow->output_err < 0)
		return em_client_complain(follow->client, EM_EXIT_FAILED,
					  "cannot write the output: %s.",
					  strerror(-follow->output_err));
	if (r == -ECANCELED)
		return em_client_complain(follow->client, EM_EXIT_FAILED,
					  "what emberd sent is no stream of events.");
	if (r == 0) {
		code = em_api_problem(answer, &reason);
		return em_client_complain(follow->client, code, "%s", reason.text);
	}
	em_http_explain(follow->client->http, r, reason.text, sizeof(reason.text));
	return em_client_complain(follow->client, EM_EXIT_UNREACHABLE, "%s", reason.text);
}

static void follow_done(struct follow *follow)
{
	em_sse_done(&follow->sse);
}

enum em_exit em_follow(struct em_client *client, const char *path, const char *after)
{
	em_cleanup(follow_done) struct follow follow = { .client = client,
							 .delay_ms = DELAY_FIRST_MS };

	em_sse_init(&follow.sse, on_event, &follow);
	/* Nothing has happened yet: from the first event on. */
	snprintf(follow.sse.id, sizeof(follow.sse.id), "%s", after ? after : "0");
	if (!path)
		return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	follow.output_err = em_writer_finish(client->writer);
	while (follow.output_err == 0) {
		struct em_http_answer answer = { 0 };
		enum em_exit code = EM_EXIT_OK;
		int r;

		em_sse_restart(&follow.sse);
		r = em_http_stream(client->http, path, follow.sse.id, on_data, &follow, &answer);
		if (follow.output_err < 0 || !may_return(r, &answer))
			code = end(&follow, r, &answer);
		free(answer.body);
		if (code != EM_EXIT_OK)
			return code;
		wait_a_little(&follow);
	}
	return end(&follow, 0, &(struct em_http_answer){ .body = (char *)"" });
}
