/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "daemon/web/stream.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "server.h"
#include "tests/unit/runner.h"

#define TEXT_SIZE (4 << 20)

/* HTTP/1.0 has no chunks, so what comes is what was written. */
static int ask_stream(int fd, const char *query, int64_t last_id)
{
	char request[256], id[64] = "";

	if (last_id >= 0)
		snprintf(id, sizeof(id), "Last-Event-ID: %lld\r\n", (long long)last_id);
	snprintf(request, sizeof(request),
		 "GET /v1/events%s HTTP/1.0\r\n%sAccept: text/event-stream\r\n%s\r\n", query,
		 server.host, id);
	say(fd, request);
	return fd;
}

static int open_stream(const char *query, int64_t last_id)
{
	return ask_stream(connect_unix(), query, last_id);
}

/* Adds what comes until the text is there; false at the end of the stream. */
static bool hear_until(int fd, char *text, const char *wanted)
{
	size_t len = strlen(text);

	while (!strstr(text, wanted)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "no %s; so far: %s", wanted, text);
		n = recv(fd, text + len, TEXT_SIZE - 1 - len, 0);
		if (n <= 0)
			return false;
		len += (size_t)n;
		text[len] = '\0';
	}
	return true;
}

static int64_t newest(void)
{
	int64_t first, last;

	em_event_log_bounds(server.events, &first, &last);
	return last;
}

/* Until it is visible, so that what is asked next comes after it. */
static int64_t add(enum em_event_kind_id kind, const char *drive, const char *subject)
{
	struct em_event event = { 0 };
	uint64_t end = em_monotonic_us() + PATIENCE_MS * EM_US_PER_MS;

	strcpy(event.drive, drive);
	strcpy(event.subject, subject);
	strcpy(event.summary, "It happened.");
	ck_assert_int_eq(em_event_log_add(server.events, server.store, kind, &event), 0);
	while (newest() < event.id) {
		ck_assert_uint_lt(em_monotonic_us(), end);
		poll(NULL, 0, 1);
	}
	return event.id;
}

START_TEST(events_come_as_they_happen)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	char line[128];
	int64_t id;
	int fd;

	add(EM_EVENT_KIND_BROKER, "", "before");
	fd = open_stream("", -1);
	ck_assert(hear_until(fd, text, "\r\n\r\nretry: 3000\n\n"));
	ck_assert(has_header(text, "\r\nContent-Type: text/event-stream\r\n"));
	ck_assert(has_header(text, "\r\nCache-Control: no-store\r\n"));
	id = add(EM_EVENT_KIND_DRIVE_RENAMED, "00000000000000a0", "now");
	ck_assert(hear_until(fd, text, "\"now\""));
	snprintf(line, sizeof(line), "3000\n\nid: %lld\nevent: drive-renamed\ndata: {",
		 (long long)id);
	ck_assert_msg(strstr(text, line) != NULL, "%s", text);
	ck_assert_ptr_null(strstr(text, "\"before\""));
	add(EM_EVENT_KIND_BROKER, "", "later");
	ck_assert(hear_until(fd, text, "\"later\""));
	ck_assert(hear_until(fd, text, "}\n\n"));
	close(fd);
}
END_TEST

START_TEST(only_what_was_asked_for)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	int fd = open_stream("?kind=broker,drive-renamed&drive=nvme0", -1);

	ck_assert(hear_until(fd, text, "3000\n\n"));
	add(EM_EVENT_KIND_BROKER, "", "one");
	add(EM_EVENT_KIND_DRIVE_STATE, "00000000000000a0", "two");
	add(EM_EVENT_KIND_DRIVE_RENAMED, "00000000000000b1", "three");
	add(EM_EVENT_KIND_DRIVE_RENAMED, "00000000000000a0", "four");
	ck_assert(hear_until(fd, text, "\"four\""));
	ck_assert(!strstr(text, "\"one\"") && !strstr(text, "\"two\"") &&
		  !strstr(text, "\"three\""));
	close(fd);
}
END_TEST

START_TEST(a_stream_goes_on_where_it_ended)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	int64_t id;
	int fd;

	add(EM_EVENT_KIND_BROKER, "", "one");
	id = add(EM_EVENT_KIND_BROKER, "", "two");
	add(EM_EVENT_KIND_BROKER, "", "three");
	fd = open_stream("", id);
	add(EM_EVENT_KIND_BROKER, "", "four");
	ck_assert(hear_until(fd, text, "\"four\""));
	ck_assert(strstr(text, "\"three\"") && !strstr(text, "\"two\"") &&
		  !strstr(text, "\"one\""));
	close(fd);
}
END_TEST

/* Those that left memory come from the store, and none is missing where both meet. */
START_TEST(a_stream_goes_on_from_the_store)
{
	const unsigned count = EM_EVENT_LOG_MAX + 300;
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	char subject[32];
	const char *at;
	int fd;

	for (unsigned i = 0; i + 1 < count; i++) {
		struct em_event event = { .summary = "It happened." };

		snprintf(event.subject, sizeof(event.subject), "number %u", i);
		ck_assert_int_eq(
			em_event_log_add(server.events, server.store,
					 i % 2 ? EM_EVENT_KIND_BROKER : EM_EVENT_KIND_DRIVE_STATE,
					 &event),
			0);
	}
	add(EM_EVENT_KIND_BROKER, "", "the end");
	fd = open_stream("", 0);
	ck_assert(hear_until(fd, text, "\"the end\""));
	at = text;
	for (unsigned i = 0; i + 1 < count; i++) {
		snprintf(subject, sizeof(subject), "\"number %u\"", i);
		at = strstr(at, subject);
		ck_assert_msg(at != NULL, "%s", subject);
	}
	at = text;
	for (unsigned i = 0; i < count; i++)
		at = strstr(at, "\nid: ") + 1;
	ck_assert_ptr_null(strstr(at, "\nid: "));
	close(fd);
}
END_TEST

static void expect_full(int fd)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);

	ask_stream(fd, "", -1);
	hear_until(fd, text, "streams of events");
	ck_assert_uint_eq(status_of(text), 503);
	close(fd);
}

START_TEST(there_is_a_limit_of_streams)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	int fds[EM_STREAMS_MAX], fd;

	/* Half of them for the users of loopback, and half for us at the socket. */
	for (unsigned i = 0; i < EM_STREAMS_MAX; i++) {
		if (i == EM_STREAMS_OF_ONE)
			expect_full(connect_unix());
		fds[i] = ask_stream(
			i < EM_STREAMS_OF_ONE ? connect_unix() : connect_tcp(server.port), "", -1);
		text[0] = '\0';
		ck_assert(hear_until(fds[i], text, "3000\n\n"));
	}
	expect_full(connect_unix());
	expect_full(connect_tcp(server.port));
	/* All of them hear of it, and others are served. */
	add(EM_EVENT_KIND_BROKER, "", "for all");
	for (unsigned i = 0; i < EM_STREAMS_MAX; i++) {
		text[0] = '\0';
		ck_assert(hear_until(fds[i], text, "\"for all\""));
		close(fds[i]);
	}
	/* Who went makes room, soon after somebody asked for it. */
	for (unsigned i = 0; i < 1000; i++) {
		fd = open_stream("", -1);
		text[0] = '\0';
		hear_until(fd, text, "\n\n");
		close(fd);
		if (status_of(text) == 200)
			return;
		poll(NULL, 0, 5);
	}
	ck_abort_msg("no room");
}
END_TEST

static uint64_t cpu_us(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * EM_US_PER_SEC + (uint64_t)used.tv_nsec / 1000;
}

/* Also when it is full of those who do not take what was said. */
START_TEST(a_deaf_client_delays_nobody)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	char filler[64];
	int deaf[4], fd;

	for (unsigned i = 0; i < 4; i++)
		deaf[i] = open_stream("?after=0", -1);
	memset(filler, 'x', sizeof(filler) - 1);
	filler[sizeof(filler) - 1] = '\0';
	for (unsigned i = 0; i < 3000; i++) {
		struct em_event event = { .summary = "It happened." };

		memcpy(event.subject, filler, sizeof(filler));
		ck_assert_int_eq(
			em_event_log_add(server.events, server.store, EM_EVENT_KIND_BROKER, &event),
			0);
	}
	fd = open_stream("", -1);
	ck_assert(hear_until(fd, text, "3000\n\n"));
	add(EM_EVENT_KIND_DRIVE_STATE, "", "the last");
	ck_assert(hear_until(fd, text, "\"the last\""));
	/* The deaf ones have lost nothing when they begin to hear. */
	text[0] = '\0';
	ck_assert(hear_until(deaf[0], text, "\"the last\""));
	for (unsigned i = 0; i < 4; i++)
		close(deaf[i]);
	close(fd);
}
END_TEST

START_TEST(a_head_is_a_head)
{
	char *answer = talk(connect_unix(), "HEAD /v1/events HTTP/1.1\r\nHost: x\r\n"
					    "Connection: close\r\nAccept: text/event-stream\r\n"
					    "\r\n");

	ck_assert_uint_eq(status_of(answer), 200);
	ck_assert(has_header(answer, "\r\nContent-Type: text/event-stream\r\n"));
	ck_assert_ptr_null(strstr(answer, "retry"));
	free(answer);
}
END_TEST

START_TEST(waiting_costs_nothing)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	uint64_t before;
	int fds[10];

	for (unsigned i = 0; i < 10; i++) {
		fds[i] = open_stream("", -1);
		text[0] = '\0';
		ck_assert(hear_until(fds[i], text, "3000\n\n"));
	}
	before = cpu_us();
	poll(NULL, 0, 500);
	ck_assert_uint_lt(cpu_us() - before, 50 * EM_US_PER_MS);
	for (unsigned i = 0; i < 10; i++)
		close(fds[i]);
}
END_TEST

START_TEST(they_end_with_the_server)
{
	em_cleanup(em_freep) char *text = calloc(1, TEXT_SIZE);
	int waiting = open_stream("", -1), chunked = connect_unix(), deaf, fds[8];

	ck_assert(hear_until(waiting, text, "3000\n\n"));
	text[0] = '\0';
	say(chunked, "GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
	ck_assert(hear_until(chunked, text, "3000\n\n"));
	ck_assert(has_header(text, "\r\nTransfer-Encoding: chunked\r\n"));
	deaf = open_stream("?after=0", -1);
	for (unsigned i = 0; i < 8; i++)
		fds[i] = open_stream("", -1);
	for (unsigned i = 0; i < 200; i++)
		add(EM_EVENT_KIND_BROKER, "", "x");
	server.web = em_web_stop(server.web);
	text[0] = '\0';
	ck_assert(!hear_until(waiting, text, "never"));
	text[0] = '\0';
	hear_until(chunked, text, "\r\n0\r\n\r\n");
	close(waiting);
	close(chunked);
	close(deaf);
	for (unsigned i = 0; i < 8; i++)
		close(fds[i]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, start_server, stop_server);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, events_come_as_they_happen);
	tcase_add_test(tc, only_what_was_asked_for);
	tcase_add_test(tc, a_stream_goes_on_where_it_ended);
	tcase_add_test(tc, a_stream_goes_on_from_the_store);
	tcase_add_test(tc, there_is_a_limit_of_streams);
	tcase_add_test(tc, a_deaf_client_delays_nobody);
	tcase_add_test(tc, a_head_is_a_head);
	tcase_add_test(tc, waiting_costs_nothing);
	tcase_add_test(tc, they_end_with_the_server);
	return run_tests(tc);
}
