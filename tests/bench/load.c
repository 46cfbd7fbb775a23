/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load - asks an HTTP server the same thing again and again over connections that stay open, and
 * prints how fast it was as one line of JSON.
 *
 *   load [-b] [-c CONNECTIONS] [-s SECONDS] [-p CPU] unix:PATH|tcp:PORT TARGET
 *
 * -b: the reader does not sleep. Otherwise each piece that a server sends wakes it, and the server
 * pays for waking it: on a machine of two cores that is a third of a long reply's time, and noise.
 *
 * Each connection has one request out at a time. Only replies with a Content-Length, or in chunks
 * whose end comes alone, are understood: that is what the servers measured here send.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "lib/base/clock.h"

#define CONNECTIONS_MAX 256
#define REPLY_MAX	(64u << 20)

struct connection {
	int fd;
	char *reply;
	size_t len, cap;
	uint64_t asked_us;
};

static struct connection connections[CONNECTIONS_MAX];
static unsigned connection_count = 1;
static char request[1024];
static uint32_t *latencies;
static size_t latency_count, latency_cap;
static uint64_t bytes;
static int poll_ms = 10000;

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int connect_to(const char *where)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	bool tcp = strncmp(where, "tcp:", 4) == 0;
	int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, r;

	if (fd < 0)
		die("socket");
	if (tcp) {
		in.sin_port = htons((uint16_t)atoi(where + 4));
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		r = connect(fd, (struct sockaddr *)&in, sizeof(in));
	} else {
		snprintf(un.sun_path, sizeof(un.sun_path), "%s", where + strlen("unix:"));
		r = connect(fd, (struct sockaddr *)&un, sizeof(un));
	}
	if (r < 0)
		die(where);
	return fd;
}

static void ask(struct connection *c)
{
	c->len = 0;
	c->asked_us = em_monotonic_us();
	if (send(c->fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request))
		die("send");
}

static void count(uint64_t latency_us)
{
	if (latency_count == latency_cap) {
		latency_cap = latency_cap ? latency_cap * 2 : 65536;
		latencies = realloc(latencies, latency_cap * sizeof(*latencies));
		if (!latencies)
			die("memory");
	}
	latencies[latency_count++] = (uint32_t)latency_us;
}

/* Is the reply whole? */
static bool is_whole(const struct connection *c)
{
	const char *end = memmem(c->reply, c->len, "\r\n\r\n", 4), *length;

	if (!end)
		return false;
	if (strncmp(c->reply + 8, " 200 ", 5) != 0) {
		fprintf(stderr, "load: %.*s\n", (int)(end - c->reply), c->reply);
		exit(1);
	}
	length = strcasestr(c->reply, "\r\nContent-Length: ");
	if (length && length < end)
		return c->len == (size_t)(end + 4 - c->reply) + strtoul(length + 18, NULL, 10);
	return c->len >= 5 && memcmp(c->reply + c->len - 5, "0\r\n\r\n", 5) == 0;
}

/* True: a reply came in whole. */
static bool take(struct connection *c)
{
	ssize_t n;

	if (c->cap - c->len < 2) {
		c->cap = c->cap ? c->cap * 2 : 1 << 18;
		c->reply = c->cap <= REPLY_MAX ? realloc(c->reply, c->cap) : NULL;
		if (!c->reply)
			die("a reply is too long");
	}
	n = recv(c->fd, c->reply + c->len, c->cap - c->len - 1, 0);
	if (n <= 0)
		die("the server closed the connection");
	c->len += (size_t)n;
	c->reply[c->len] = '\0';
	if (!is_whole(c))
		return false;
	count(em_monotonic_us() - c->asked_us);
	bytes += c->len;
	return true;
}

static void run(uint64_t until_us)
{
	struct pollfd polls[CONNECTIONS_MAX];

	for (unsigned i = 0; i < connection_count; i++) {
		polls[i] = (struct pollfd){ .fd = connections[i].fd, .events = POLLIN };
		ask(&connections[i]);
	}
	while (em_monotonic_us() < until_us) {
		int ready = poll(polls, connection_count, poll_ms);

		if (ready < 0 || (ready == 0 && poll_ms > 0))
			die("no answer");
		for (unsigned i = 0; i < connection_count; i++)
			if (polls[i].revents && take(&connections[i]))
				ask(&connections[i]);
	}
}

static int compare(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static uint32_t percentile(double share)
{
	return latency_count ? latencies[(size_t)((double)(latency_count - 1) * share)] : 0;
}

static void print(double seconds)
{
	qsort(latencies, latency_count, sizeof(*latencies), compare);
	printf("{\"requests\":%zu,\"seconds\":%.6f,\"bytes\":%.0f,\"p50_us\":%u,\"p90_us\":%u,"
	       "\"p99_us\":%u,\"max_us\":%u}\n",
	       latency_count, seconds, latency_count ? (double)bytes / (double)latency_count : 0,
	       percentile(0.5), percentile(0.9), percentile(0.99), percentile(1));
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("cannot be pinned");
}

int main(int argc, char **argv)
{
	double seconds = 3;
	uint64_t begin;
	int option;

	while ((option = getopt(argc, argv, "bc:s:p:")) != -1) {
		if (option == 'b')
			poll_ms = 0;
		else if (option == 'c')
			connection_count = (unsigned)atoi(optarg);
		else if (option == 's')
			seconds = atof(optarg);
		else if (option == 'p')
			pin(atoi(optarg));
		else
			return 2;
	}
	if (argc - optind != 2 || connection_count < 1 || connection_count > CONNECTIONS_MAX)
		return 2;
	snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
		 argv[optind + 1]);
	if (strncmp(argv[optind], "tcp:", 4) == 0)
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n",
			 argv[optind + 1], argv[optind] + 4);
	for (unsigned i = 0; i < connection_count; i++)
		connections[i].fd = connect_to(argv[optind]);
	begin = em_monotonic_us();
	run(begin + (uint64_t)(seconds * (double)EM_US_PER_SEC));
	print((double)(em_monotonic_us() - begin) / (double)EM_US_PER_SEC);
	return 0;
}
