/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of events out of memory and a database, and where a stream begins. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/events.h"
#include "fixture.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

#define COUNT	 30u
#define FIRST_ID INT64_C(1764000000000000)
#define DRIVE_A	 "00000000000000a0" /* of the fleet */
#define DRIVE_B	 "00000000000000b1"

static struct em_snapshot *fleet;
static struct em_event_log *event_log;
static struct em_store *store;
static char directory[64];
static struct em_context context;

/* Every third is a renaming of A, the others states of B; one a second. */
static struct em_event make_event(unsigned index)
{
	struct em_event event = { .id = FIRST_ID + index * 1000000,
				  .at_us = FIRST_ID + index * 1000000 };
	bool renamed = index % 3 == 0;

	strcpy(event.kind, em_event_kind_name(renamed ? EM_EVENT_KIND_DRIVE_RENAMED
						      : EM_EVENT_KIND_DRIVE_STATE));
	strcpy(event.drive, renamed ? DRIVE_A : DRIVE_B);
	strcpy(event.device, renamed ? "nvme0" : "nvme1");
	strcpy(event.serial, "SN");
	strcpy(event.new_value, "new");
	strcpy(event.summary, "Something happened.");
	return event;
}

static void open_store(void)
{
	struct em_store_config config = { .directory = directory };

	strcpy(directory, "/tmp/ember-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(em_store_open(&store, &config, NULL), 0);
}

static void setup(void)
{
	fleet = make_fleet();
	event_log = em_event_log_new();
	store = NULL;
	directory[0] = '\0';
	context = (struct em_context){ .version = "1.2.3", .events = event_log };
}

static void remove_directory(void)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(directory);
}

static void teardown(void)
{
	store = em_store_close(store, 20 * EM_US_PER_SEC);
	event_log = em_event_log_free(event_log);
	fleet = em_snapshot_unref(fleet);
	if (directory[0])
		remove_directory();
}

/* All events in the database, those from `from` on in memory. */
static void fill(bool with_store, unsigned from)
{
	if (with_store)
		open_store();
	context.store = store;
	for (unsigned i = 0; i < COUNT; i++) {
		struct em_event event = make_event(i);

		if (store)
			ck_assert_int_eq(em_store_put_event(store, &event), 0);
		if (i >= from)
			em_event_log_restore(event_log, &event);
	}
	if (store)
		ck_assert_int_eq(em_store_flush(store, em_monotonic_us() + 20 * EM_US_PER_SEC), 0);
}

static json_t *get(const char *uri, unsigned status)
{
	struct em_call call = { .context = &context,
				.snap = fleet,
				.last_event_id = -1,
				.now_mono_us = em_monotonic_us() };
	struct em_reply reply = ask_call(&call, "GET", uri);

	return reply_json(&reply, status);
}

static unsigned index_of(const json_t *event)
{
	int64_t id = strtoll(json_string_value(json_object_get(event, "id")), NULL, 10);

	return (unsigned)((id - FIRST_ID) / 1000000);
}

/* Walks the list in parts; the places of what it has, in its order. */
static unsigned walk(const char *query, unsigned limit, unsigned *ret)
{
	char uri[512], cursor[256] = "";
	unsigned count = 0;

	do {
		json_t *root, *event, *next;
		size_t i;

		snprintf(uri, sizeof(uri), "/v1/events?limit=%u%s%s%s", limit, query,
			 *cursor ? "&cursor=" : "", cursor);
		root = get(uri, 200);
		json_array_foreach(at(root, "events"), i, event) ret[count++] = index_of(event);
		ck_assert_uint_le(i, limit);
		next = at(root, "next_cursor");
		snprintf(cursor, sizeof(cursor), "%s",
			 json_is_string(next) ? json_string_value(next) : "");
		json_decref(root);
	} while (*cursor);
	return count;
}

/* Every way of cutting the list gives each event once, in order. */
static void check_walks(void)
{
	static const unsigned limits[] = { 1, 7, 10, 29, 30, 31, 1000 };
	unsigned got[COUNT + 1];

	for (size_t l = 0; l < EM_COUNT(limits); l++) {
		ck_assert_uint_eq(walk("&order=newest", limits[l], got), COUNT);
		for (unsigned i = 0; i < COUNT; i++)
			ck_assert_uint_eq(got[i], COUNT - 1 - i);
		ck_assert_uint_eq(walk("&order=oldest", limits[l], got), COUNT);
		for (unsigned i = 0; i < COUNT; i++)
			ck_assert_uint_eq(got[i], i);
	}
}

START_TEST(lists_out_of_memory)
{
	fill(false, 0);
	check_walks();
}
END_TEST

START_TEST(lists_out_of_both)
{
	fill(true, 20);
	check_walks();
}
END_TEST

START_TEST(lists_out_of_the_database)
{
	fill(true, COUNT);
	check_walks();
}
END_TEST

START_TEST(filters_hold_in_memory_and_database)
{
	unsigned got[COUNT + 1];
	char query[128];

	fill(true, 20);
	ck_assert_uint_eq(walk("&drive=nvme0&order=oldest", 4, got), 10);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(got[i], 3 * i);
	ck_assert_uint_eq(walk("&kind=drive-state,broker", 3, got), 20);
	ck_assert_uint_eq(walk("&kind=drive-state&drive=nvme0", 3, got), 0);
	/* From a moment on, up to one; both bounds as sharp in memory as in the database. */
	snprintf(query, sizeof(query), "&since=%lld&until=%lld&order=oldest",
		 (long long)(FIRST_ID / 1000000 + 15), (long long)(FIRST_ID / 1000000 + 25));
	ck_assert_uint_eq(walk(query, 4, got), 10);
	ck_assert_uint_eq(got[0], 15);
	ck_assert_uint_eq(got[9], 24);
	snprintf(query, sizeof(query), "&after=%lld&order=oldest",
		 (long long)(FIRST_ID + 17 * 1000000));
	ck_assert_uint_eq(walk(query, 5, got), 12);
	ck_assert_uint_eq(got[0], 18);
}
END_TEST

START_TEST(changes_are_those_of_the_kinds)
{
	json_t *root;

	fill(false, 0);
	root = get("/v1/changes", 200);
	ck_assert_uint_eq(json_array_size(at(root, "events")), 10);
	ck_text(root, "events.0.kind", "drive-renamed");
	ck_text(root, "newest_id", "1764000029000000");
	json_decref(root);
}
END_TEST

START_TEST(cursor_is_of_one_question)
{
	char uri[512];
	json_t *root;

	fill(false, 0);
	root = get("/v1/events?limit=1", 200);
	snprintf(uri, sizeof(uri), "/v1/changes?cursor=%s",
		 json_string_value(at(root, "next_cursor")));
	json_decref(get(uri, 400));
	snprintf(uri, sizeof(uri), "/v1/events?order=oldest&cursor=%s",
		 json_string_value(at(root, "next_cursor")));
	json_decref(get(uri, 400));
	/* But how much at once may change. */
	snprintf(uri, sizeof(uri), "/v1/events?limit=2&cursor=%s",
		 json_string_value(at(root, "next_cursor")));
	json_decref(get(uri, 200));
	json_decref(root);
	json_decref(get("/v1/events?since=-1h&until=-2h", 400));
}
END_TEST

START_TEST(one_event)
{
	struct em_event event = {
		.id = 7, .at_us = NOW_US, .kind = "broker", .summary = "The broker is connected."
	};
	json_t *root = em_json_event(&event);

	ck_text(root, "id", "7");
	ck_text(root, "at", "2026-10-25T00:30:00.000Z");
	ck_text(root, "kind", "broker");
	ck_assert(json_is_false(at(root, "change")));
	ck_null(root, "drive");
	ck_null(root, "device");
	ck_null(root, "serial");
	ck_null(root, "nsid");
	ck_null(root, "subject");
	ck_null(root, "old_value");
	ck_null(root, "new_value");
	json_decref(root);
}
END_TEST

static struct em_reply stream(const char *uri, int64_t last_event_id)
{
	struct em_call call = { .context = &context,
				.snap = fleet,
				.wants_events = true,
				.last_event_id = last_event_id };

	return ask_call(&call, "GET", uri);
}

START_TEST(stream_begins_where_it_should)
{
	struct em_event of_a = make_event(0), of_b = make_event(1);
	struct em_reply reply;

	fill(false, 0);
	reply = stream("/v1/events", -1);
	ck_assert(reply.events);
	ck_assert_str_eq(reply.type, "text/event-stream");
	ck_assert_int_eq(reply.events_after, FIRST_ID + 29 * 1000000);
	ck_assert(em_event_wanted(&reply.events_filter, &of_a));
	ck_assert(em_event_wanted(&reply.events_filter, &of_b));
	reply = stream("/v1/events?after=5&drive=nvme1", -1);
	ck_assert_int_eq(reply.events_after, 5);
	ck_assert(!em_event_wanted(&reply.events_filter, &of_a));
	ck_assert(em_event_wanted(&reply.events_filter, &of_b));
	reply = stream("/v1/changes?after=5", 9);
	ck_assert_int_eq(reply.events_after, 9);
	ck_assert(em_event_wanted(&reply.events_filter, &of_a));
	ck_assert(!em_event_wanted(&reply.events_filter, &of_b));
}
END_TEST

START_TEST(stream_refuses_what_lists_take)
{
	static const char *const queries[] = { "since=-1h", "until=now", "limit=5",
					       "order=oldest" };
	char uri[64];

	for (size_t i = 0; i < EM_COUNT(queries); i++) {
		struct em_reply reply;

		snprintf(uri, sizeof(uri), "/v1/events?%s", queries[i]);
		reply = stream(uri, -1);
		ck_assert(!reply.events);
		json_decref(reply_json(&reply, 400));
	}
}
END_TEST

START_TEST(nothing_is_kept)
{
	struct em_reply reply;

	context.events = NULL;
	json_decref(get("/v1/events", 503));
	reply = stream("/v1/events", -1);
	ck_assert_uint_gt(reply.retry_after_s, 0);
	json_decref(reply_json(&reply, 503));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lists_out_of_memory);
	tcase_add_test(tc, lists_out_of_both);
	tcase_add_test(tc, lists_out_of_the_database);
	tcase_add_test(tc, filters_hold_in_memory_and_database);
	tcase_add_test(tc, changes_are_those_of_the_kinds);
	tcase_add_test(tc, cursor_is_of_one_question);
	tcase_add_test(tc, one_event);
	tcase_add_test(tc, stream_begins_where_it_should);
	tcase_add_test(tc, stream_refuses_what_lists_take);
	tcase_add_test(tc, nothing_is_kept);
	return run_tests(tc);
}
