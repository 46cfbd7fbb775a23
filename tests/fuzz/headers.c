/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Headers and parameters that are parsed by hand: tags, encodings, types, Host, Origin, cursors,
 * addresses. Input: a header's value, another one, the rest as a body.
 */
#include <string.h>
#include <sys/socket.h>
#include "daemon/web/cursor.h"
#include "daemon/web/encoding.h"
#include "daemon/web/listen.h"
#include "lib/base/cleanup.h"
#include "tests/fuzz/fuzz.h"

#define PORT	 9980
#define QUESTION 42

/* Nobody but a loopback name with our port is ours, and an origin only with its host. */
static void check_hosts(const char *host, const char *origin)
{
	struct sockaddr_storage address;
	socklen_t len;
	uint16_t port;

	if (em_host_is_ours(host, PORT))
		fuzz_check(strstr(host, "9980") && !strpbrk(host, "/@ \t,;"));
	if (em_origin_is_ours(origin, host))
		fuzz_check(strncasecmp(origin, "http://", 7) == 0 &&
			   strcasecmp(origin + 7, host) == 0);
	if (em_listen_parse(host, &address, &len, &port) == 0)
		fuzz_check(port && em_is_loopback((const struct sockaddr *)&address));
}

static void check_tags(const char *header, const uint8_t *body, size_t len)
{
	char tag[EM_ETAG_SIZE], list[EM_ETAG_SIZE + 16];

	fuzz_check(em_etag(tag, body, len));
	em_etag_matches(header, tag);
	snprintf(list, sizeof(list), "\"x\", %s", tag);
	fuzz_check(em_etag_matches(tag, tag) && em_etag_matches(list, tag));
	fuzz_check(em_etag_matches("*", tag));
}

/* A cursor that is accepted is one that we give. */
static void check_cursor(const char *text)
{
	uint8_t place[EM_CURSOR_PLACE_MAX];
	char again[EM_CURSOR_SIZE];
	size_t len;

	if (em_cursor_parse(text, QUESTION, place, sizeof(place), &len) < 0)
		return;
	fuzz_check(len <= sizeof(place));
	fuzz_check(strcasecmp(em_cursor_format(again, QUESTION, place, len), text) == 0);
}

static void check_gzip(const uint8_t *body, size_t len)
{
	struct em_reply reply = { .status = 200, .type = EM_TYPE_JSON, .len = len };

	reply.body = malloc(len + 1);
	fuzz_check(reply.body);
	if (len)
		memcpy(reply.body, body, len);
	reply.body[len] = '\0';
	em_reply_gzip(&reply);
	fuzz_check(reply.body && reply.len <= len);
	em_reply_done(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	em_cleanup(em_freep) char *first = fuzz_line(&in), *second = fuzz_line(&in);
	size_t len;
	em_cleanup(em_freep) uint8_t *body = fuzz_copy(&in, in.left, &len);

	em_accepts_gzip(first);
	em_accepts_type(first, "text/event-stream");
	check_hosts(first, second);
	check_tags(first, body, len);
	check_cursor(first);
	check_gzip(body, len);
	return 0;
}
