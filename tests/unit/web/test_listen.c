/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/web/listen.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

static char dir[64], path[96];

static void setup(void)
{
	strcpy(dir, "/tmp/ember-listen-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
}

static void teardown(void)
{
	unlink(path);
	rmdir(dir);
}

START_TEST(only_loopback_with_a_port)
{
	static const char *const good[] = { "127.0.0.1:9980", "127.1.2.3:1", "[::1]:9980" };
	static const char *const bad[] = {
		"",
		":9980",
		"0.0.0.0:9980",
		"10.0.0.1:9980",
		"[::]:9980",
		"[fe80::1]:9980",
		"::1:9980",
		"[::ffff:127.0.0.1]:9980",
		"localhost:9980",
		"127.0.0.1",
		"127.0.0.1:",
		"[::1]",
		"127.0.0.1:0",
		"127.0.0.1:65536",
		"127.0.0.1:99x",
		"127.0.0.1:0x50",
		"127.0.0.1:9980 ",
		"127.1:9980",
		"[127.0.0.1]:9980",
		"128.0.0.1:9980",
		"[::1:9980",
		"127.0.0.1:-1",
	};
	struct sockaddr_storage address;
	uint16_t port;
	socklen_t len;

	for (size_t i = 0; i < EM_COUNT(good); i++)
		ck_assert_msg(em_listen_parse(good[i], &address, &len, &port) == 0, "%s", good[i]);
	ck_assert_uint_eq(port, 9980);
	for (size_t i = 0; i < EM_COUNT(bad); i++)
		ck_assert_msg(em_listen_parse(bad[i], &address, &len, &port) == -EINVAL, "%s",
			      bad[i]);
}
END_TEST

START_TEST(hosts)
{
	static const char *const good[] = { "localhost:9980", "LOCALHOST:9980", "127.0.0.1:9980",
					    "[::1]:9980", "127.0.0.2:9980" };
	static const char *const bad[] = {
		"",
		"localhost",
		"localhost:80",
		"localhost:09981",
		"evil.example:9980",
		"localhost.evil.example:9980",
		"127.0.0.1.evil.example:9980",
		"evil@localhost:9980",
		"localhost:9980:9980",
		"localhost:9980/",
		"localhost.:9980",
		"[::1]",
		"::1:9980",
		"127.0.0.1:9980,evil.example",
		"0.0.0.0:9980",
		"192.168.0.1:9980",
		"[::]:9980",
	};

	for (size_t i = 0; i < EM_COUNT(good); i++)
		ck_assert_msg(em_host_is_ours(good[i], 9980), "%s", good[i]);
	for (size_t i = 0; i < EM_COUNT(bad); i++)
		ck_assert_msg(!em_host_is_ours(bad[i], 9980), "%s", bad[i]);
	ck_assert(em_host_is_ours("localhost", 80));
}
END_TEST

START_TEST(origins)
{
	ck_assert(em_origin_is_ours("http://localhost:9980", "localhost:9980"));
	ck_assert(!em_origin_is_ours("https://localhost:9980", "localhost:9980"));
	ck_assert(!em_origin_is_ours("http://localhost:9981", "localhost:9980"));
	ck_assert(!em_origin_is_ours("http://evil.example", "localhost:9980"));
	ck_assert(!em_origin_is_ours("null", "localhost:9980"));
	ck_assert(!em_origin_is_ours("", "localhost:9980"));
}
END_TEST

START_TEST(a_stale_socket_is_replaced)
{
	const char *message = NULL;
	int fd = -1;
	struct stat st;

	ck_assert_int_eq(em_listen_unix(path, &fd, &message), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0666);
	close(fd);
	ck_assert_int_eq(em_listen_unix(path, &fd, &message), 0);
	close(fd);
}
END_TEST

START_TEST(a_socket_in_use_is_left_alone)
{
	const char *message = NULL;
	int fd = -1, second = -1;

	ck_assert_int_eq(em_listen_unix(path, &fd, &message), 0);
	ck_assert_int_eq(em_listen_unix(path, &second, &message), -EADDRINUSE);
	ck_assert_ptr_nonnull(message);
	ck_assert_int_eq(second, -1);
	ck_assert_int_eq(access(path, F_OK), 0);
	close(fd);
}
END_TEST

START_TEST(a_file_is_left_alone)
{
	const char *message = NULL;
	FILE *file = fopen(path, "w");
	int fd = -1;

	fclose(file);
	ck_assert_int_eq(em_listen_unix(path, &fd, &message), -EEXIST);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(bad_paths)
{
	const char *message = NULL;
	char text[200];
	int fd = -1;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(em_listen_unix(text, &fd, &message), -ENAMETOOLONG);
	ck_assert_int_eq(em_listen_unix("", &fd, &message), -ENAMETOOLONG);
	ck_assert_int_eq(em_listen_unix("/nonexistent/socket", &fd, &message), -ENOENT);
	ck_assert_int_eq(fd, -1);
}
END_TEST

static int accept_one(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	int fd;

	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* What small records wait for otherwise. */
START_TEST(connections_send_at_once)
{
	const char *message = NULL;
	em_cleanup(em_closep) int listener = -1, client = -1, accepted = -1;
	struct sockaddr_in in;
	socklen_t len = sizeof(in), value_len = sizeof(int);
	char address[32];
	uint16_t port;
	int on = 0;

	/* Find a port that is free. */
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	in = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	ck_assert_int_eq(bind(client, (struct sockaddr *)&in, len), 0);
	ck_assert_int_eq(getsockname(client, (struct sockaddr *)&in, &len), 0);
	close(client);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(in.sin_port));
	ck_assert_int_eq(em_listen_network(address, &listener, &port, &message), 0);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(client, (struct sockaddr *)&in, len), 0);
	accepted = accept_one(listener);
	ck_assert_int_eq(getsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &on, &value_len), 0);
	ck_assert_int_ne(on, 0);
}
END_TEST

START_TEST(loopback_peers)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };

	in.sin_addr.s_addr = htonl(0x7f000001);
	ck_assert(em_is_loopback((struct sockaddr *)&in));
	in.sin_addr.s_addr = htonl(0x0a000001);
	ck_assert(!em_is_loopback((struct sockaddr *)&in));
	ck_assert(em_is_loopback((struct sockaddr *)&in6));
	in6.sin6_addr.s6_addr[0] = 0xfd;
	ck_assert(!em_is_loopback((struct sockaddr *)&in6));
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, only_loopback_with_a_port);
	tcase_add_test(tc, hosts);
	tcase_add_test(tc, origins);
	tcase_add_test(tc, a_stale_socket_is_replaced);
	tcase_add_test(tc, a_socket_in_use_is_left_alone);
	tcase_add_test(tc, a_file_is_left_alone);
	tcase_add_test(tc, bad_paths);
	tcase_add_test(tc, connections_send_at_once);
	tcase_add_test(tc, loopback_peers);
	return run_tests(tc);
}
