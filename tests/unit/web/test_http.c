/* SPDX-License-Identifier: Apache-2.0 */
/* The server as clients see it. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "daemon/drives/history.h"
#include "daemon/web/guard.h"
#include "daemon/web/web.h"
#include "fixture.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "server.h"
#include "tests/unit/runner.h"

static void start(void)
{
	const struct em_web_config more = { .admin_group = "users" };

	start_server_with(&more);
}

static void expect(int fd, const char *request, unsigned status)
{
	char *answer = talk(fd, request);

	ck_assert_msg(status_of(answer) == status, "not %u: %.400s\n-> %.400s", status, request,
		      answer);
	free(answer);
}

static void expect_tcp(unsigned status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void expect_tcp(unsigned status, const char *format, ...)
{
	char request[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(request, sizeof(request), format, ap);
	va_end(ap);
	expect(connect_tcp(server.port), request, status);
}

START_TEST(get_and_head)
{
	char *get = talk(connect_unix(), "GET /v1/drives HTTP/1.1\r\nHost: x\r\n\r\n");
	char *head = talk(connect_unix(), "HEAD /v1/drives HTTP/1.1\r\nHost: x\r\n\r\n");

	ck_assert_uint_eq(status_of(get), 200);
	ck_assert(has_header(get, "\r\nContent-Type: application/json\r\n"));
	ck_assert(has_header(get, "\r\nCache-Control: no-store\r\n"));
	ck_assert(has_header(get, "\r\nX-Content-Type-Options: nosniff\r\n"));
	ck_assert(!has_header(get, "\r\nServer:"));
	ck_assert_ptr_nonnull(strstr(get, "SN-A-0001"));
	ck_assert_uint_eq(status_of(head), 200);
	ck_assert_str_eq(strstr(head, "\r\n\r\n"), "\r\n\r\n");
	ck_assert(has_header(head, "\r\nContent-Length: "));
	free(get);
	free(head);
}
END_TEST

START_TEST(every_route_answers)
{
	for (unsigned i = 0; i < em_route_count; i++) {
		const char *id = strstr(em_routes[i].path, "{id}");
		char request[256];

		if (strcmp(em_routes[i].method, "GET"))
			continue;
		snprintf(request, sizeof(request), "GET %.*s%s%s%s HTTP/1.1\r\nHost: x\r\n\r\n",
			 id ? (int)(id - em_routes[i].path) : 200, em_routes[i].path,
			 id ? "nvme0" : "", id ? id + 4 : "",
			 em_routes[i].shape == EM_SHAPE_HISTORY ? "?field=percentage_used" : "");
		expect(connect_unix(), request, 200);
	}
}
END_TEST

START_TEST(a_connection_serves_many)
{
	int fd = connect_unix();

	for (unsigned i = 0; i < 3; i++) {
		char *answer;

		say(fd, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n");
		answer = hear(fd, true);
		ck_assert_uint_eq(status_of(answer), 200);
		free(answer);
	}
	close(fd);
}
END_TEST

START_TEST(methods)
{
	char *answer = talk(connect_unix(), "DELETE /v1/drives HTTP/1.1\r\nHost: x\r\n\r\n");

	ck_assert_uint_eq(status_of(answer), 405);
	ck_assert(has_header(answer, "\r\nAllow: GET, HEAD\r\n"));
	ck_assert(has_header(answer, "\r\nContent-Type: application/problem+json\r\n"));
	free(answer);
	expect(connect_unix(), "POST /v1/health HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	       405);
	expect(connect_unix(), "POST /v1/none HTTP/1.1\r\nHost: x\r\n\r\n", 404);
	expect_tcp(405, "DELETE /v1/none HTTP/1.1\r\n%s\r\n", server.host);
	expect_tcp(405, "OPTIONS * HTTP/1.1\r\n%s\r\n", server.host);
}
END_TEST

START_TEST(bodies_are_refused_first)
{
	expect(connect_unix(), "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", 413);
	expect(connect_unix(), "POST /v1/none HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n",
	       413);
	expect(connect_unix(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10737418240\r\n\r\n",
	       413);
	expect(connect_unix(),
	       "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
	       "chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	       413);
	expect_tcp(413, "POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n");
	expect(connect_unix(), "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400);
}
END_TEST

/* A body of so many bytes, which is a token's request with blanks behind it; in chunks or not. */
static char *post_token(size_t size, bool chunked, const char *name)
{
	char head[256], *body = malloc(size + 1), *answer;
	int fd = connect_unix(), len;

	memset(body, ' ', size);
	body[size] = '\0';
	len = sprintf(body, "{\"name\":\"%s\"}", name);
	body[len] = ' ';
	snprintf(head, sizeof(head),
		 chunked ? "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
			   "\r\n%zx\r\n"
			 : "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
		 size);
	say(fd, head);
	/* The answer may be there before all is said. */
	send(fd, body, size, MSG_NOSIGNAL);
	if (chunked)
		send(fd, "\r\n0\r\n\r\n", 7, MSG_NOSIGNAL);
	answer = hear(fd, true);
	close(fd);
	free(body);
	return answer;
}

static void expect_post(size_t size, bool chunked, const char *name, unsigned status)
{
	char *answer = post_token(size, chunked, name);

	ck_assert_msg(status_of(answer) == status, "%zu: %.400s", size, answer);
	ck_assert(has_header(answer, "\r\nConnection: close\r\n") == (status == 413));
	free(answer);
}

START_TEST(a_body_has_its_limit)
{
	expect_post(64 << 10, false, "a", 201);
	expect_post(64 << 10, true, "b", 201);
	expect_post((64 << 10) + 1, false, "c", 413);
	expect_post((64 << 10) + 1, true, "d", 413);
	expect_post(16 << 20, false, "e", 413);
	expect_post(16 << 20, true, "f", 413);
	expect(connect_unix(),
	       "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
	       "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	       413);
	/* Only the unix socket, whoever asks. */
	expect_tcp(413, "POST /v1/tokens HTTP/1.1\r\n%sContent-Length: 12\r\n\r\n{\"name\":\"x\"}",
		   server.host);
	expect_tcp(403, "GET /v1/tokens HTTP/1.1\r\n%s\r\n", server.host);
}
END_TEST

/* In a child, since one cannot come back from it. The status of GET /v1/tokens. */
static unsigned ask_as(uid_t uid, gid_t gid, gid_t more)
{
	int status;
	pid_t child;

	ck_assert_int_eq(chmod(server.dir, 0755), 0);
	child = fork();
	if (child == 0) {
		char *answer;

		if (setgroups(1, &more) < 0 || setgid(gid) < 0 || setuid(uid) < 0)
			_exit(0);
		answer = talk(connect_unix(), "GET /v1/tokens HTTP/1.1\r\nHost: x\r\n\r\n");
		_exit((int)(status_of(answer) / 2));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return (unsigned)WEXITSTATUS(status) * 2;
}

START_TEST(who_may_do_what_is_for_admins)
{
	const struct group *admins = getgrnam("users");
	gid_t gid;

	expect(connect_unix(), "GET /v1/tokens HTTP/1.1\r\nHost: x\r\n\r\n", 200);
	if (getuid() != 0 || !admins)
		return;
	gid = admins->gr_gid;
	ck_assert_uint_eq(ask_as(0, 0, 0), 200);
	ck_assert_uint_eq(ask_as(65534, 65534, 65534), 402 /* 403, halved and doubled */);
	ck_assert_uint_eq(ask_as(65534, gid, gid), 200);
	ck_assert_uint_eq(ask_as(65534, 65534, gid), 200);
}
END_TEST

START_TEST(tcp_is_for_this_host)
{
	expect_tcp(200, "GET /v1/health HTTP/1.1\r\n%s\r\n", server.host);
	expect_tcp(200, "GET /v1/health HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", server.port);
	expect_tcp(200, "GET /v1/health HTTP/1.1\r\nHost: [::1]:%u\r\n\r\n", server.port);
	expect_tcp(421, "GET /v1/health HTTP/1.1\r\nHost: evil.example:%u\r\n\r\n", server.port);
	expect_tcp(421, "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n");
	expect_tcp(421, "GET /v1/health HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", server.port - 1);
	expect_tcp(421, "GET /v1/health HTTP/1.1\r\nHost: \r\n\r\n");
	expect_tcp(400, "GET /v1/health HTTP/1.1\r\n%sHost: evil.example\r\n\r\n", server.host);
	expect_tcp(421, "GET /v1/health HTTP/1.0\r\n\r\n");
	expect_tcp(400, "GET /v1/health HTTP/1.1\r\n\r\n");
	expect_tcp(200, "GET /v1/health HTTP/1.1\r\n%sOrigin: http://%s\r\n\r\n", server.host,
		   server.address);
	expect_tcp(403, "GET /v1/health HTTP/1.1\r\n%sOrigin: http://evil.example\r\n\r\n",
		   server.host);
	expect_tcp(403, "GET /v1/health HTTP/1.1\r\n%sOrigin: null\r\n\r\n", server.host);
	expect_tcp(403, "GET /v1/health HTTP/1.1\r\n%sOrigin: http://localhost:%u\r\n\r\n",
		   server.host, server.port);
}
END_TEST

static unsigned count_heads(const char *answer)
{
	unsigned count = 0;

	while ((answer = strstr(answer, "HTTP/1.1 "))) {
		answer++;
		count++;
	}
	return count;
}

/* One refusal, which says what to do. */
static void expect_bad_head(const char *request)
{
	char *answer = talk(connect_unix(), request);

	ck_assert_msg(status_of(answer) == 400, "%s\n-> %s", request, answer);
	ck_assert_msg(count_heads(answer) == 1, "%s", answer);
	ck_assert(has_header(answer, "\r\nContent-Type: application/problem+json\r\n"));
	free(answer);
}

START_TEST(a_head_has_one_meaning)
{
	expect_bad_head("GET /v1/health HTTP/1.1\r\n\r\n");
	expect_bad_head("GET /v1/health HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n");
	expect_bad_head("GET /v1/health HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n");
	expect_bad_head("GET /v1/health x HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_bad_head("GET /v1/drives?state=o k HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_bad_head("GET /v1/drives\t HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(connect_unix(), "GET /v1/health HTTP/1.0\r\n\r\n", 200);
	expect(connect_unix(), "GET /v1/health HTTP/1.0\r\nHost: x\r\n\r\n", 200);
	expect(connect_unix(), "GET /v1/health HTTP/2.0\r\nHost: x\r\n\r\n", 505);
}
END_TEST

/* All that comes until the other end closes. */
static char *hear_all(int fd)
{
	size_t len = 0, size = 1 << 20;
	char *text = calloc(1, size);

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "no end after: %s", text);
		n = recv(fd, text + len, size - 1 - len, 0);
		if (n <= 0)
			return text;
		len += (size_t)n;
	}
}

START_TEST(requests_in_a_row_are_answered_in_a_row)
{
	static const char *const order[] = { "\"status\":\"ok\"", "\"points\":[", "no drive with",
					     "405 Method", "SN-A-0001" };
	char *answer, *at;
	int fd = connect_unix();

	/* The second waits for the disk, and what follows waits for it. */
	say(fd, "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
		"GET /v1/drives/nvme0/history?field=percentage_used HTTP/1.1\r\nHost: x\r\n\r\n"
		"GET /v1/drives/nope HTTP/1.1\r\nHost: x\r\n\r\n"
		"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n"
		"GET /v1/drives HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	answer = at = hear_all(fd);
	for (unsigned i = 0; i < EM_COUNT(order); i++) {
		at = strstr(at, order[i]);
		ck_assert_msg(at != NULL, "no %s in its place: %s", order[i], answer);
	}
	ck_assert_uint_eq(count_heads(answer), EM_COUNT(order));
	free(answer);
	close(fd);
}
END_TEST

/* What a browser asks before it lets a page of another site send something. */
START_TEST(pages_of_others_get_no_leave)
{
	static const char request[] = "OPTIONS /v1/tokens HTTP/1.1\r\n%s"
				      "Origin: http://evil.example\r\n"
				      "Access-Control-Request-Method: POST\r\n\r\n";
	char text[512], *answer;

	snprintf(text, sizeof(text), request, server.host);
	answer = talk(connect_tcp(server.port), text);
	ck_assert_msg(status_of(answer) == 403, "%s", answer);
	ck_assert(!has_header(answer, "\r\nAccess-Control-"));
	free(answer);
	snprintf(text, sizeof(text), "GET /v1/drives HTTP/1.1\r\n%sOrigin: http://%s\r\n\r\n",
		 server.host, server.address);
	answer = talk(connect_tcp(server.port), text);
	ck_assert_msg(status_of(answer) == 200, "%s", answer);
	ck_assert(!has_header(answer, "\r\nAccess-Control-"));
	free(answer);
}
END_TEST

START_TEST(odd_requests)
{
	size_t big = 100 << 10;
	char *request = malloc(big + 256);

	expect(connect_unix(), "GET /v1/drives%00/x HTTP/1.1\r\nHost: x\r\n\r\n", 400);
	expect(connect_unix(), "GET /v1/drives/../health HTTP/1.1\r\nHost: x\r\n\r\n", 404);
	expect(connect_unix(), "GET http://x/v1/health HTTP/1.1\r\nHost: x\r\n\r\n", 404);
	strcpy(request, "GET /");
	memset(request + 5, 'a', big);
	strcpy(request + 5 + big, " HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(connect_unix(), request, 414);
	strcpy(request, "GET / HTTP/1.1\r\nHost: x\r\nX: ");
	memset(request + strlen(request), 'a', 64 << 10);
	strcpy(request + 28 + (64 << 10), "\r\n\r\n");
	expect(connect_unix(), request, 431);
	free(request);
}
END_TEST

START_TEST(a_connection_that_goes_half_way)
{
	int fd = connect_unix();

	say(fd, "GET /v1/health HTTP/1.1\r\nHos");
	close(fd);
	expect(connect_unix(), "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n", 200);
}
END_TEST

static int connect_loopback(void)
{
	return connect_tcp(server.port);
}

/* Case R41, first step: many that never finish their request line, on either listener. */
static void crowd(int (*connect_one)(void), unsigned count)
{
	int fds[800];
	uint64_t before;

	for (unsigned i = 0; i < count; i++) {
		fds[i] = connect_one();
		/* The oldest are shut by and by, so it may be too late to say anything. */
		send(fds[i], "G", 1, MSG_NOSIGNAL);
	}
	before = em_monotonic_us();
	expect_tcp(200, "GET /metrics HTTP/1.1\r\n%s\r\n", server.host);
	expect(connect_unix(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200);
	ck_assert_uint_lt(em_monotonic_us() - before, EM_US_PER_SEC);
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
}

START_TEST(slow_clients_do_not_keep_others_out)
{
	crowd(connect_loopback, 500);
	crowd(connect_loopback, 800);
	crowd(connect_unix, 500);
}
END_TEST

static bool is_empty(const struct em_guard_group *group)
{
	return TAILQ_EMPTY(&group->asking) && TAILQ_EMPTY(&group->known) &&
	       TAILQ_EMPTY(&group->answered);
}

static bool is_shut(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLHUP;
}

/* As another user: connects so often, says a bit each time, tells it, and waits for the end. */
static pid_t crowd_of(uid_t uid, unsigned count, int told[2])
{
	pid_t child = fork();
	char byte = 'x';

	if (child)
		return child;
	close(told[0]);
	if (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0)
		_exit(1);
	for (unsigned i = 0; i < count; i++)
		send(connect_unix(), "G", 1, MSG_NOSIGNAL);
	_exit(send(told[1], &byte, 1, 0) == 1 && recv(told[1], &byte, 1, 0) == 0 ? 0 : 2);
}

START_TEST(one_user_keeps_nobody_out)
{
	int told[2], held, status;
	char *answer, byte;
	pid_t child;

	if (getuid() != 0)
		return;
	ck_assert_int_eq(chmod(server.dir, 0755), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, told), 0);
	held = connect_unix();
	say(held, "GET /v1/hea");
	child = crowd_of(65534, 500, told);
	close(told[1]);
	ck_assert_int_eq(recv(told[0], &byte, 1, 0), 1);
	/* Who is served after them knows that all of them were taken. */
	expect(connect_unix(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 200);
	say(held, "lth HTTP/1.1\r\nHost: x\r\n\r\n");
	answer = hear(held, true);
	ck_assert_msg(status_of(answer) == 200, "%s", answer);
	free(answer);
	close(held);
	close(told[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(the_oldest_that_asks_nothing_makes_room)
{
	struct em_guard_group two;
	struct em_guard *guard = NULL;
	struct em_guarded *g[4];
	int fds[4][2];

	em_guard_group_init(&two, 2, 0);
	ck_assert_int_eq(em_guard_new(&guard), 0);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds[i]), 0);
	g[0] = em_guard_add(guard, &two, fds[0][0], 7, 3600 * EM_US_PER_SEC);
	g[1] = em_guard_add(guard, &two, fds[1][0], 7, 3600 * EM_US_PER_SEC);
	em_guard_reply(guard, g[0], 3600 * EM_US_PER_SEC);
	ck_assert(!is_shut(fds[0][1]) && !is_shut(fds[1][1]));
	g[2] = em_guard_add(guard, &two, fds[2][0], 7, 3600 * EM_US_PER_SEC);
	ck_assert(!is_shut(fds[0][1]) && is_shut(fds[1][1]) && !is_shut(fds[2][1]));
	/* The first one's reply was taken; now the third has waited for longer. */
	em_guard_await(guard, g[0], 3600 * EM_US_PER_SEC);
	g[3] = em_guard_add(guard, &two, fds[3][0], 7, 3600 * EM_US_PER_SEC);
	ck_assert(!is_shut(fds[0][1]) && is_shut(fds[2][1]) && !is_shut(fds[3][1]));
	for (unsigned i = 0; i < 4; i++) {
		em_guard_remove(guard, g[i]);
		close(fds[i][0]);
		close(fds[i][1]);
	}
	ck_assert(is_empty(&two));
	em_guard_free(guard);
}
END_TEST

START_TEST(an_address_has_its_own_limit)
{
	const uint64_t hour = 3600 * EM_US_PER_SEC;
	struct em_guard_group group;
	struct em_guard *guard = NULL;
	struct em_guarded *g[6];
	int fds[6][2];

	em_guard_group_init(&group, 5, 2);
	ck_assert_int_eq(em_guard_new(&guard), 0);
	for (unsigned i = 0; i < 6; i++)
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds[i]), 0);
	g[0] = em_guard_add(guard, &group, fds[0][0], 1, hour);
	g[1] = em_guard_add(guard, &group, fds[1][0], 2, hour);
	g[2] = em_guard_add(guard, &group, fds[2][0], 2, hour);
	ck_assert(!is_shut(fds[1][1]));
	/* The third of an address costs its own oldest, and nobody else's. */
	g[3] = em_guard_add(guard, &group, fds[3][0], 2, hour);
	ck_assert(is_shut(fds[1][1]) && !is_shut(fds[0][1]) && !is_shut(fds[2][1]));
	/* When both are being answered it is the one that is so for longer. */
	em_guard_reply(guard, g[3], hour);
	em_guard_reply(guard, g[2], hour);
	g[4] = em_guard_add(guard, &group, fds[4][0], 2, hour);
	ck_assert(is_shut(fds[3][1]) && !is_shut(fds[2][1]) && !is_shut(fds[4][1]));
	g[5] = em_guard_add(guard, &group, fds[5][0], 3, hour);
	ck_assert(!is_shut(fds[5][1]) && !is_shut(fds[0][1]));
	for (unsigned i = 0; i < 6; i++) {
		em_guard_remove(guard, g[i]);
		close(fds[i][0]);
		close(fds[i][1]);
	}
	ck_assert(is_empty(&group));
	em_guard_free(guard);
}
END_TEST

#define PLACES 8u

struct places {
	struct em_guard_group group;
	struct em_guard *guard;
	struct em_guarded *g[3 * PLACES];
	int fds[3 * PLACES][2];
	unsigned count;
};

static void places_add(struct places *c, bool known)
{
	unsigned i = c->count++;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->fds[i]), 0);
	c->g[i] = em_guard_add(c->guard, &c->group, c->fds[i][0], 1, 3600 * EM_US_PER_SEC);
	em_guard_set_known(c->guard, c->g[i], known);
}

static unsigned places_open(const struct places *c, unsigned from, unsigned to)
{
	unsigned open = 0;

	for (unsigned i = from; i < to; i++)
		open += !is_shut(c->fds[i][1]);
	return open;
}

static void places_end(struct places *c)
{
	for (unsigned i = 0; i < c->count; i++) {
		em_guard_remove(c->guard, c->g[i]);
		close(c->fds[i][0]);
		close(c->fds[i][1]);
	}
	ck_assert(is_empty(&c->group));
	em_guard_free(c->guard);
}

/* Behind one address, or in one listener: those known and those who come keep out nobody. */
static void share_places(unsigned max, unsigned address_max)
{
	struct places c = { 0 };

	em_guard_group_init(&c.group, max, address_max);
	ck_assert_int_eq(em_guard_new(&c.guard), 0);
	for (unsigned i = 0; i < PLACES - 2; i++)
		places_add(&c, true);
	/* One of them is being answered. */
	em_guard_reply(c.guard, c.g[0], 3600 * EM_US_PER_SEC);
	for (unsigned i = 0; i < PLACES; i++)
		places_add(&c, false);
	/* One known made room for the third that came; then they did for each other. */
	ck_assert_uint_eq(places_open(&c, 0, PLACES - 2), PLACES - 3);
	ck_assert(!is_shut(c.fds[0][1]) && is_shut(c.fds[1][1]));
	ck_assert_uint_eq(places_open(&c, PLACES - 2, c.count), 3);
	/* They become known: now it is the known that make room, whatever they do. */
	for (unsigned i = PLACES - 2; i < c.count; i++)
		em_guard_set_known(c.guard, c.g[i], true);
	for (unsigned i = 0; i < c.count; i++)
		em_guard_reply(c.guard, c.g[i], 3600 * EM_US_PER_SEC);
	for (unsigned i = 0; i < PLACES / 4; i++)
		places_add(&c, false);
	ck_assert_uint_eq(places_open(&c, 0, c.count), PLACES);
	ck_assert_uint_eq(places_open(&c, c.count - PLACES / 4, c.count), PLACES / 4);
	ck_assert(is_shut(c.fds[0][1]));
	places_end(&c);
}

START_TEST(who_comes_has_a_quarter_of_the_places)
{
	share_places(PLACES, 0);
	share_places(PLACES * 2, PLACES);
}
END_TEST

START_TEST(a_deadline_shuts_the_connection)
{
	struct em_guard_group group;
	struct em_guard *guard = NULL;
	struct em_guarded *late, *calm;
	struct pollfd p = { .events = POLLIN };
	int a[2], b[2];

	ck_assert_int_eq(em_guard_new(&guard), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, a), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, b), 0);
	em_guard_group_init(&group, 9, 0);
	calm = em_guard_add(guard, &group, b[0], 7, 3600 * EM_US_PER_SEC);
	late = em_guard_add(guard, &group, a[0], 7, 3600 * EM_US_PER_SEC);
	em_guard_await(guard, late, 1);
	p.fd = a[1];
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ck_assert(p.revents & POLLHUP);
	p.fd = b[1];
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	em_guard_remove(guard, late);
	em_guard_remove(guard, calm);
	em_guard_free(guard);
	for (unsigned i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}
END_TEST

static unsigned table_index(const struct em_page *page)
{
	unsigned count, i = 0;
	const struct em_store_table *tables = em_history_tables(&count);

	while (i < count && strcmp(tables[i].name, page->table))
		i++;
	ck_assert_uint_lt(i, count);
	return i;
}

static void put_reading(int64_t at_us, const char *bytes_written, int64_t celsius)
{
	unsigned count, table = table_index(em_pages[EM_PAGE_SMART]);
	const struct em_store_table *t = &em_history_tables(&count)[table];
	struct em_store_cell cells[EM_HISTORY_COLUMNS_MAX] = { 0 };

	for (unsigned i = 0; i < t->column_count; i++) {
		if (!strcmp(t->columns[i], "bytes_written"))
			cells[i] = (struct em_store_cell){ .kind = EM_CELL_TEXT,
							   .text = bytes_written };
		if (!strcmp(t->columns[i], "temperature_celsius") && celsius)
			cells[i] =
				(struct em_store_cell){ .kind = EM_CELL_INT, .integer = celsius };
	}
	ck_assert_int_eq(em_store_put_row(server.store, table, "00000000000000a0", 0, at_us, cells),
			 0);
}

static void wait_written(uint64_t rows)
{
	struct em_store_status status;
	uint64_t end = em_monotonic_us() + PATIENCE_MS * EM_US_PER_MS;

	do {
		em_store_get_status(server.store, &status);
		ck_assert_uint_lt(em_monotonic_us(), end);
		poll(NULL, 0, 5);
	} while (status.written < rows);
}

static json_t *history(const char *query)
{
	char request[512], *answer;
	json_t *root;

	snprintf(request, sizeof(request),
		 "GET /v1/drives/nvme0/history?%s HTTP/1.1\r\nHost: x\r\n\r\n", query);
	answer = talk(connect_unix(), request);
	ck_assert_msg(status_of(answer) == 200, "%s", answer);
	root = json_loads(strstr(answer, "\r\n\r\n"), JSON_REJECT_DUPLICATES, NULL);
	ck_assert_ptr_nonnull(root);
	free(answer);
	return root;
}

#define BIG "174224571863520493293247799005065324264960000"

START_TEST(history_of_a_real_store)
{
	json_t *root;

	put_reading(NOW_US, "512000", 39);
	put_reading(NOW_US + 60000000, BIG, 0);
	put_reading(NOW_US + 120000000, "\"\\", -5);
	wait_written(3);

	root = history("field=temperature_celsius&from=1792888200&to=1792888400");
	ck_text(root, "drive", "00000000000000a0");
	ck_text(root, "unit", "celsius");
	ck_text(root, "from", "2026-10-25T00:30:00.000Z");
	ck_null(root, "step_seconds");
	ck_assert_uint_eq(json_array_size(at(root, "points")), 3);
	ck_text(root, "points.0.at", "2026-10-25T00:30:00.000Z");
	ck_int(root, "points.0.value", 39);
	ck_null(root, "points.1.value");
	ck_int(root, "points.2.value", -5);
	ck_assert(json_is_false(at(root, "truncated")));
	json_decref(root);

	root = history("field=bytes_written&from=1792888200&to=1792888400&limit=2");
	ck_text(root, "points.0.value", "512000");
	ck_text(root, "points.1.value", BIG);
	ck_assert(json_is_true(at(root, "truncated")));
	json_decref(root);

	root = history("field=temperature_celsius&from=1792888200&to=1792888400&step=1h");
	ck_assert(json_real_value(at(root, "step_seconds")) == 3600);
	ck_assert_uint_eq(json_array_size(at(root, "points")), 1);
	ck_int(root, "points.0.value", -5);
	json_decref(root);

	root = history("field=bytes_written&from=1792888320&to=1792888400");
	ck_text(root, "points.0.value", "\"\\");
	json_decref(root);

	root = history(
		"field=temperature_celsius&from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z");
	ck_assert_uint_eq(json_array_size(at(root, "points")), 0);
	json_decref(root);
}
END_TEST

START_TEST(history_without_a_beginning_is_the_newest)
{
	int64_t now = em_realtime_us();
	json_t *root;

	for (int i = 3; i > 0; i--)
		put_reading(now - i * 1000000, "512000", 30 + i);
	wait_written(3);
	root = history("field=temperature_celsius&limit=2");
	ck_assert_uint_eq(json_array_size(at(root, "points")), 2);
	ck_int(root, "points.0.value", 32);
	ck_int(root, "points.1.value", 31);
	ck_assert(json_is_true(at(root, "truncated")));
	json_decref(root);
}
END_TEST

static atomic_bool publishing;

static void *publish(void *userdata)
{
	(void)userdata;
	while (publishing)
		em_hub_publish(server.hub, make_fleet());
	return NULL;
}

START_TEST(snapshots_change_while_they_are_read)
{
	pthread_t thread;

	publishing = true;
	ck_assert_int_eq(pthread_create(&thread, NULL, publish, NULL), 0);
	for (unsigned i = 0; i < 200; i++)
		expect(connect_unix(),
		       i % 2 ? "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
			     : "GET /v1/drives/nvme0/smart HTTP/1.1\r\nHost: x\r\n\r\n",
		       200);
	publishing = false;
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_second_server_is_refused)
{
	struct em_web_config config = { .socket = server.path, .version = "1.2.3" };
	const char *message = NULL;
	struct em_web *second = NULL;

	ck_assert_int_eq(em_web_start(&second, &config, server.hub, server.store, &message),
			 -EADDRINUSE);
	ck_assert_ptr_nonnull(message);
	config.socket = NULL;
	config.listen = server.address;
	ck_assert_int_eq(em_web_start(&second, &config, server.hub, server.store, &message),
			 -EADDRINUSE);
	config.listen = "0.0.0.0:9980";
	ck_assert_int_eq(em_web_start(&second, &config, server.hub, server.store, &message),
			 -EINVAL);
	ck_assert_ptr_null(second);
	/* The first one lives. */
	expect(connect_unix(), "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n", 200);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, start, stop_server);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, get_and_head);
	tcase_add_test(tc, every_route_answers);
	tcase_add_test(tc, a_connection_serves_many);
	tcase_add_test(tc, methods);
	tcase_add_test(tc, bodies_are_refused_first);
	tcase_add_test(tc, a_body_has_its_limit);
	tcase_add_test(tc, who_may_do_what_is_for_admins);
	tcase_add_test(tc, tcp_is_for_this_host);
	tcase_add_test(tc, a_head_has_one_meaning);
	tcase_add_test(tc, requests_in_a_row_are_answered_in_a_row);
	tcase_add_test(tc, pages_of_others_get_no_leave);
	tcase_add_test(tc, odd_requests);
	tcase_add_test(tc, a_connection_that_goes_half_way);
	tcase_add_test(tc, slow_clients_do_not_keep_others_out);
	tcase_add_test(tc, the_oldest_that_asks_nothing_makes_room);
	tcase_add_test(tc, an_address_has_its_own_limit);
	tcase_add_test(tc, who_comes_has_a_quarter_of_the_places);
	tcase_add_test(tc, one_user_keeps_nobody_out);
	tcase_add_test(tc, a_deadline_shuts_the_connection);
	tcase_add_test(tc, history_of_a_real_store);
	tcase_add_test(tc, history_without_a_beginning_is_the_newest);
	tcase_add_test(tc, snapshots_change_while_they_are_read);
	tcase_add_test(tc, a_second_server_is_refused);
	return run_tests(tc);
}
