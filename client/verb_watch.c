/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client/api.h"
#include "client/drive_table.h"
#include "client/event_view.h"
#include "client/human.h"
#include "client/screen.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/parse.h"

#define INTERVAL_DEFAULT_US (2 * EM_US_PER_SEC)
#define INTERVAL_MIN_US	    (100 * EM_US_PER_MS)
#define INTERVAL_MAX_US	    (3600 * EM_US_PER_SEC)
#define EVENTS_SHOWN	    8
#define EVENTS_PATH	    "/v1/events?limit=8&order=newest"

struct watch {
	struct em_client *client;
	uint64_t interval_us;
	struct em_doc drives;	 /* the last list that came */
	json_t *shown;		 /* the one drawn before it; NULL = none */
	json_t *events;		 /* newest first; NULL = none */
	uint64_t answered_us;	 /* monotonic: when drives came */
	struct em_reason reason; /* why nothing came since; "" = it did */
};

static void watch_done(struct watch *watch)
{
	em_doc_done(&watch->drives);
	json_decref(watch->shown);
	json_decref(watch->events);
}

/* Events are an extra: without them the table is as good. */
static void ask_events(struct watch *watch)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;

	if (em_api_try(watch->client, "GET", EVENTS_PATH, NULL, &doc, &reason) != EM_EXIT_OK)
		return;
	json_decref(watch->events);
	watch->events = json_incref(json_object_get(doc.root, "events"));
}

static enum em_exit ask(struct watch *watch)
{
	struct em_doc doc = { 0 };
	enum em_exit code =
		em_api_try_list(watch->client, "/v1/drives", "drives", 0, &doc, &watch->reason);

	if (code != EM_EXIT_OK)
		return code;
	json_decref(watch->shown);
	watch->shown = json_incref(json_object_get(watch->drives.root, "drives"));
	em_doc_done(&watch->drives);
	watch->drives = doc;
	watch->answered_us = em_monotonic_us();
	watch->reason.text[0] = '\0';
	return EM_EXIT_OK;
}

static const json_t *list_of(const struct watch *watch)
{
	return json_object_get(watch->drives.root, "drives");
}

/* The list as it is by now: what nobody has answered for since is so much older. */
static json_t *age_list(const struct watch *watch)
{
	double silence = (double)(em_monotonic_us() - watch->answered_us) / (double)EM_US_PER_SEC;
	json_t *drives = json_deep_copy(list_of(watch)), *drive;
	size_t i;

	json_array_foreach(drives, i, drive)
	{
		json_t *smart = json_object_get(drive, "smart");
		double age;

		if (em_json_number(smart, "age_seconds", &age))
			json_object_set_new(smart, "age_seconds", json_real(age + silence));
	}
	return drives;
}

static void put_head(const struct watch *watch, struct em_writer *w)
{
	char sums[EM_VIEW_SIZE], now[EM_TIME_SIZE], note[EM_VIEW_SIZE], span[EM_HUMAN_SIZE];
	uint64_t silence_us = em_monotonic_us() - watch->answered_us;

	em_time_format(now, em_realtime_us());
	em_human_span(span, sizeof(span), (double)watch->interval_us / (double)EM_US_PER_SEC);
	snprintf(note, sizeof(note), "%.8s UTC, every %s", now + 11, span);
	em_writer_heading(w, "Drives", (struct em_cell){ note, EM_TONE_DIM });
	em_drive_sums(list_of(watch), sums);
	em_writer_paragraph(w, (struct em_cell){ sums, EM_TONE_PLAIN });
	if (!watch->reason.text[0])
		return;
	em_human_span(span, sizeof(span), (double)silence_us / (double)EM_US_PER_SEC);
	snprintf(note, sizeof(note), "No answer for %s: %.480s", span, watch->reason.text);
	em_writer_paragraph(w, (struct em_cell){ note, EM_TONE_BAD });
}

static void put_events(const struct watch *watch, struct em_writer *w, size_t max)
{
	size_t count = json_array_size(watch->events);
	unsigned width = em_event_device_width(watch->events);

	if (count == 0 || max == 0)
		return;
	em_writer_heading(w, "Latest events", (struct em_cell){ "times in UTC", EM_TONE_DIM });
	for (size_t i = 0; i < count && i < max; i++)
		em_event_put(w, json_array_get(watch->events, i), width);
}

/* How much of what is known goes into a frame. */
struct extent {
	size_t events;	  /* at most so many */
	bool worst_first; /* not all drives will be seen */
};

/* A whole frame as text; NULL: no memory. */
static char *compose(const struct watch *watch, const struct em_term *term,
		     const struct extent *extent)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct em_writer *w = out ? em_writer_table_new(out, term) : NULL;
	json_t *drives = age_list(watch);

	if (extent->worst_first) {
		json_t *sorted = em_drives_worst_first(drives);

		json_decref(drives);
		drives = sorted;
	}
	if (w) {
		put_head(watch, w);
		em_drive_table(w, drives, watch->shown);
		put_events(watch, w, extent->events);
		em_writer_finish(w);
	}
	json_decref(drives);
	em_writer_free(w);
	if (out)
		fclose(out);
	return text;
}

static unsigned count_lines(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* As many events as there is room for; then the drives that matter most. */
static char *compose_to_fit(const struct watch *watch, const struct em_term *term)
{
	struct extent extent = { .events = EVENTS_SHOWN };
	char *text = compose(watch, term, &extent);

	while (text && !extent.worst_first && term->height > 0 &&
	       count_lines(text) > term->height) {
		if (extent.events > 0)
			extent.events--;
		else
			extent.worst_first = true;
		free(text);
		text = compose(watch, term, &extent);
	}
	return text;
}

static void wait_for(uint64_t span_us)
{
	poll(NULL, 0, (int)(span_us / EM_US_PER_MS));
}

/* Until a signal ends the program. */
static enum em_exit watch_screen(struct watch *watch)
{
	FILE *out = watch->client->out;
	struct em_term term;

	em_screen_open(fileno(out));
	while (!ferror(out)) {
		em_cleanup(em_freep) char *text = NULL;

		em_term_detect(&term, fileno(out));
		text = compose_to_fit(watch, &term);
		if (!text)
			break;
		em_screen_draw(out, text, term.height);
		wait_for(watch->interval_us);
		ask(watch);
		ask_events(watch);
	}
	em_screen_close();
	return EM_EXIT_FAILED;
}

/* What changes by itself: ages, and times of readings that brought the same values. */
static void strip_times(json_t *drive)
{
	static const char *const of_drive[] = { "last_answer_at" };
	static const char *const of_smart[] = { "read_at", "age_seconds", "power_on_hours" };
	json_t *smart = json_object_get(drive, "smart");

	for (size_t i = 0; i < EM_COUNT(of_drive); i++)
		json_object_del(drive, of_drive[i]);
	for (size_t i = 0; i < EM_COUNT(of_smart); i++)
		json_object_del(smart, of_smart[i]);
}

static bool has_changed(const struct watch *watch)
{
	json_t *a = json_deep_copy(watch->shown), *b = json_deep_copy(list_of(watch)), *drive;
	size_t i;
	bool same;

	json_array_foreach(a, i, drive) strip_times(drive);
	json_array_foreach(b, i, drive) strip_times(drive);
	same = a && json_equal(a, b);
	json_decref(a);
	json_decref(b);
	return !same;
}

static int put_block(struct watch *watch)
{
	struct em_writer *w = watch->client->writer;
	em_cleanup(em_freep) char *line =
		json_dumps(watch->drives.root, JSON_COMPACT | JSON_REAL_PRECISION(15));
	char now[EM_TIME_SIZE];

	if (line)
		em_writer_document(w, NULL, line, strlen(line));
	em_time_format(now, em_realtime_us());
	em_writer_heading(w, now, (struct em_cell){ 0 });
	em_drive_table(w, list_of(watch), NULL);
	return em_writer_finish(w);
}

/* Until a signal ends the program, or nobody reads. */
static enum em_exit watch_blocks(struct watch *watch)
{
	bool lost = false;

	while (put_block(watch) == 0) {
		do {
			enum em_exit code;

			wait_for(watch->interval_us);
			code = ask(watch);
			if (code != EM_EXIT_OK && !lost)
				em_client_complain(watch->client, code, "%s", watch->reason.text);
			lost = code != EM_EXIT_OK;
		} while (lost || !has_changed(watch));
	}
	return EM_EXIT_FAILED;
}

enum em_exit em_verb_watch(struct em_client *client)
{
	em_cleanup(watch_done) struct watch watch = { .client = client,
						      .interval_us = INTERVAL_DEFAULT_US };
	const char *interval = em_client_option(client, "--interval");
	enum em_exit code;

	if (interval && em_parse_duration_us(interval, INTERVAL_MIN_US, INTERVAL_MAX_US,
					     &watch.interval_us) < 0)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "--interval %s: give a span from 100ms to 1h, like 5s.",
					  interval);
	code = ask(&watch);
	if (code != EM_EXIT_OK)
		return em_client_complain(client, code, "%s", watch.reason.text);
	if (!client->writer->term.cursor || client->common[EM_COMMON_JSON])
		return watch_blocks(&watch);
	ask_events(&watch);
	return watch_screen(&watch);
}
