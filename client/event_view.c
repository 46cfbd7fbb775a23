/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/event_view.h"
#include <stdio.h>
#include <string.h>
#include "client/api.h"
#include "lib/base/cleanup.h"

#define DEVICE_WIDTH_MIN 6u
#define DEVICE_WIDTH_MAX 16u
#define TIME_WIDTH	 19u
#define KIND_WIDTH	 19u
#define WIDTH_FOR_KIND	 110u /* narrower: the summary says it in words */

const char *const em_event_paths[] = {
	"id",	  "at",	  "kind",    "change",	  "drive",     "device",
	"serial", "nsid", "subject", "old_value", "new_value", "summary",
};
const unsigned em_event_path_count = EM_COUNT(em_event_paths);

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

/* Bad news, good news, and news. */
static enum em_tone tone_of(const json_t *event)
{
	const char *kind = em_json_text(event, "kind"), *now = em_json_text(event, "new_value");

	if (is(kind, "critical-warning"))
		return is(now, "none") || is(now, "0") ? EM_TONE_GOOD : EM_TONE_BAD;
	if (is(kind, "drive-removed") || is(kind, "path-removed"))
		return EM_TONE_BAD;
	if (is(kind, "drive-returned") || is(kind, "drive-appeared") || is(kind, "path-added"))
		return EM_TONE_GOOD;
	if (is(kind, "drive-state"))
		return em_view_state_tone(now);
	if (is(kind, "error-log-grew"))
		return EM_TONE_WARN;
	return EM_TONE_PLAIN;
}

/* "2026-11-30 21:22:23" for people, the API's own form for programs. */
static const char *time_of(const json_t *event, bool tty, char buf[EM_VIEW_SIZE])
{
	const char *at = em_json_text(event, "at");

	if (!tty || !at || strlen(at) < 20)
		return at;
	snprintf(buf, EM_VIEW_SIZE, "%.10s %.8s", at, at + 11);
	return buf;
}

unsigned em_event_device_width(const json_t *events)
{
	unsigned width = DEVICE_WIDTH_MIN;
	const json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		const char *device = em_json_text(event, "device");
		size_t len = device ? strlen(device) : 0;

		if (len > width)
			width = len < DEVICE_WIDTH_MAX ? (unsigned)len : DEVICE_WIDTH_MAX;
	}
	return width;
}

/* A line of cells, the kind among them where there is room. */
static void put_line(struct em_writer *w, const struct em_cell cells[4], unsigned device_width)
{
	bool with_kind = w->term.width == 0 || w->term.width >= WIDTH_FOR_KIND;
	const unsigned widths[] = { TIME_WIDTH, device_width, KIND_WIDTH, 0 };
	struct em_cell shown[] = { cells[0], cells[1], cells[3] };

	if (with_kind)
		em_writer_line(w, cells, widths, 4);
	else
		em_writer_line(w, shown, widths, EM_COUNT(shown));
}

void em_event_head(struct em_writer *w, unsigned device_width)
{
	static const struct em_cell titles[4] = {
		{ "Time (UTC)", EM_TONE_STRONG },
		{ "Device", EM_TONE_STRONG },
		{ "Kind", EM_TONE_STRONG },
		{ "What happened", EM_TONE_STRONG },
	};

	if (w->term.tty)
		put_line(w, titles, device_width);
}

/* The sentence without the device that stands before it. */
static const char *what_happened(const json_t *event, bool tty, char buf[EM_VIEW_SIZE])
{
	const char *summary = em_json_text(event, "summary"), *kind = em_json_text(event, "kind");
	const char *device = em_json_text(event, "device");
	size_t len = device ? strlen(device) : 0;

	if (!summary)
		return kind;
	if (len > 0 && strncmp(summary, device, len) == 0 && strncmp(summary + len, ": ", 2) == 0)
		summary += len + 2;
	/* It names bits, as programs know them. */
	return tty && is(kind, "critical-warning") ? em_view_words(summary, buf) : summary;
}

void em_event_put(struct em_writer *w, const json_t *event, unsigned device_width)
{
	char time[EM_VIEW_SIZE], words[EM_VIEW_SIZE];
	const struct em_cell cells[4] = {
		{ time_of(event, w->term.tty, time), EM_TONE_DIM },
		{ em_json_text(event, "device"), EM_TONE_STRONG },
		{ em_json_text(event, "kind"), EM_TONE_PLAIN },
		{ what_happened(event, w->term.tty, words), tone_of(event) },
	};

	put_line(w, cells, device_width);
}
