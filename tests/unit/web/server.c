/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/drives/history.h"
#include "fixture.h"

struct server server;

uint16_t free_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	close(fd);
	return ntohs(in.sin_port);
}

static void open_store(void)
{
	struct em_store_config config = { .directory = server.dir,
					  .events_settled = em_event_log_settled,
					  .userdata = server.events };

	config.tables = em_history_tables(&config.table_count);
	ck_assert_int_eq(em_store_open(&server.store, &config, NULL), 0);
}

void make_server_directory(void)
{
	if (server.dir[0])
		return;
	strcpy(server.dir, "/tmp/ember-http-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(server.dir));
}

void start_server_with(const struct em_web_config *more)
{
	struct em_web_config config = more ? *more : (struct em_web_config){ 0 };
	const char *message = NULL;

	make_server_directory();
	snprintf(server.path, sizeof(server.path), "%s/socket", server.dir);
	snprintf(server.tokens, sizeof(server.tokens), "%s/tokens.json", server.dir);
	server.port = free_port();
	snprintf(server.address, sizeof(server.address), "127.0.0.1:%u", server.port);
	snprintf(server.host, sizeof(server.host), "Host: %s\r\n", server.address);
	server.hub = em_hub_new();
	em_hub_publish(server.hub, make_fleet());
	server.events = em_event_log_new();
	open_store();
	config.socket = server.path;
	config.listen = server.address;
	config.tokens = server.tokens;
	config.version = "1.2.3";
	config.events = server.events;
	ck_assert_int_eq(em_web_start(&server.web, &config, server.hub, server.store, &message), 0);
}

void start_server(void)
{
	start_server_with(NULL);
}

void stop_server(void)
{
	char command[128];

	server.web = em_web_stop(server.web);
	ck_assert_int_eq(access(server.path, F_OK), -1);
	server.store = em_store_close(server.store, 1000000);
	server.events = em_event_log_free(server.events);
	server.hub = em_hub_free(server.hub);
	snprintf(command, sizeof(command), "rm -r %s", server.dir);
	ck_assert_int_eq(system(command), 0);
	memset(&server, 0, sizeof(server));
}

int connect_unix(void)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(un.sun_path, server.path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

int connect_tcp(uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

void say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

unsigned status_of(const char *answer)
{
	return strncmp(answer, "HTTP/1.", 7) ? 0 : (unsigned)atoi(answer + 9);
}

char *hear(int fd, bool has_body)
{
	size_t len = 0, want = SIZE_MAX, cap = 1 << 20;
	char *text = calloc(1, cap);

	while (len < want && len < cap - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		const char *end, *length;
		ssize_t n;

		ck_assert_msg(poll(&p, 1, PATIENCE_MS) == 1, "no answer; so far: %s", text);
		n = recv(fd, text + len, cap - 1 - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		end = strstr(text, "\r\n\r\n");
		length = strcasestr(text, "\r\nContent-Length: ");
		if (end && (status_of(text) == 204 || status_of(text) == 304))
			return text;
		if (end && length)
			want = (size_t)(end + 4 - text) +
			       (has_body ? strtoul(length + 18, NULL, 10) : 0);
	}
	return text;
}

char *talk(int fd, const char *request)
{
	char *answer;

	say(fd, request);
	answer = hear(fd, strncmp(request, "HEAD", 4) != 0);
	close(fd);
	return answer;
}

bool has_header(const char *answer, const char *header)
{
	const char *at = strcasestr(answer, header), *end = strstr(answer, "\r\n\r\n");

	return at && end && at < end + 2;
}
