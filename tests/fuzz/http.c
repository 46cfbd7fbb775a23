/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole requests, byte by byte, to a listener that runs in this process.
 * Input: what a client sends; a byte FEh makes a new packet begin.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/web/call.h"
#include "daemon/web/web.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"
#include "tests/fuzz/drive.h"
#include "tests/fuzz/fuzz.h"

#define CUT	    0xfe
#define SILENCE_MS  30
#define PATIENCE_MS 10000
#define ANSWER_MAX  (256u << 10)

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static struct em_hub *hub;
static struct em_event_log *events;
static struct em_web *web;

static void stop_web(void)
{
	web = em_web_stop(web);
	hub = em_hub_free(hub);
	events = em_event_log_free(events);
}

static void start_web(void)
{
	static const uint8_t smart[512] = { 0x02, 0x38, 0x01, 100, 10, 1 };
	static const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(1, 4), .frmw = 0x17 };
	struct em_web_config config = { .version = "1.2.3" };
	char path[FUZZ_PATH_SIZE], tokens[FUZZ_PATH_SIZE];
	const char *message = NULL;

	em_log_init("fuzz", LOG_EMERG);
	fuzz_path(path, "emberd.sock");
	fuzz_path(tokens, "tokens.json");
	config.tokens = tokens;
	config.events = events = fuzz_events();
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	config.socket = path;
	hub = em_hub_new();
	em_hub_publish(hub, fuzz_snapshot(EM_PAGE_SMART, &ctx, smart, sizeof(smart)));
	fuzz_check(em_web_start(&web, &config, hub, NULL, &message) == 0);
	atexit(stop_web);
}

/* False: the server has closed its side, which it may. */
static bool say(int fd, const uint8_t *bytes, size_t len)
{
	return len == 0 || TEMP_FAILURE_RETRY(send(fd, bytes, len, MSG_NOSIGNAL)) == (ssize_t)len;
}

/* Whatever the input left unfinished, this ends it, but for a body that was promised and not sent.
 */
static const uint8_t last[] =
	"\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

static void say_all(int fd, struct fuzz_input *in)
{
	while (in->left) {
		const uint8_t *cut = memchr(in->at, CUT, in->left);
		size_t len = cut ? (size_t)(cut - in->at) : in->left;

		if (!say(fd, in->at, len))
			return;
		in->at += len + (cut != NULL);
		in->left -= len + (cut != NULL);
	}
	say(fd, last, sizeof(last) - 1);
}

/* Up to the end of the connection, or until nothing comes for some time. */
static size_t hear(int fd, char *answer, int patience_ms)
{
	size_t len = 0;

	while (len < ANSWER_MAX) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n;

		/* The fuzzer's own clock interrupts. */
		if (TEMP_FAILURE_RETRY(poll(&p, 1, patience_ms)) != 1)
			break;
		n = TEMP_FAILURE_RETRY(recv(fd, answer + len, ANSWER_MAX - len, 0));
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	return len;
}

/* The body that the head promises, when all of it came; 0 bytes else. */
static size_t body_len(const char *head, size_t left)
{
	const char *header = strstr(head, "\r\nContent-Length: ");
	size_t len = header ? strtoul(header + 18, NULL, 10) : 0;

	return len <= left ? len : 0;
}

/* What calls itself JSON is some. */
static void check_body(const char *head, const char *body, size_t len)
{
	bool json = strstr(head, "\r\nContent-Type: " EM_TYPE_JSON "\r\n") ||
		    strstr(head, "\r\nContent-Type: " EM_TYPE_PROBLEM "\r\n");
	json_t *root;

	if (!json || len == 0)
		return;
	root = json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL);
	fuzz_check(json_is_object(root));
	json_decref(root);
}

/* Of the first answer all; asks_head: it has a head alone. */
static void check_answer(const char *answer, size_t len, bool asks_head)
{
	const char *end = memmem(answer, len, "\r\n\r\n", 4);
	em_cleanup(em_freep) char *head = end ? strndup(answer, (size_t)(end - answer) + 2) : NULL;

	if (len == 0)
		return;
	fuzz_check(len > 12 && memcmp(answer, "HTTP/1.", 7) == 0 && head);
	fuzz_check(strlen(head) == (size_t)(end - answer) + 2);
	fuzz_check(memcmp(answer + 9, "500", 3) != 0);
	if (asks_head)
		return;
	end += 4;
	check_body(head, end, body_len(head, len - (size_t)(end - answer)));
}

static size_t talk(struct fuzz_input *in, char *answer, int patience_ms)
{
	em_cleanup(em_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fuzz_check(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	say_all(fd, in);
	return hear(fd, answer, patience_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char answer[ANSWER_MAX];
	struct fuzz_input in = { data, size }, nothing = { data, 0 };
	size_t len;

	if (!web)
		start_web();
	len = talk(&in, answer, SILENCE_MS);
	check_answer(answer, len, size && memmem(data, size, "HEAD", 4));
	/* It waits for more of this one: others are served all the same. */
	if (len == 0)
		fuzz_check(talk(&nothing, answer, PATIENCE_MS) > 0);
	return 0;
}
