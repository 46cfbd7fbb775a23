/* SPDX-License-Identifier: Apache-2.0 */
/* Where emberd listens, and what opens it from outside: certificate and tokens. */
#include "client/doctor.h"
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "client/api.h"
#include "client/view.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define CONNECT_MS     2000
#define EXPIRY_WARN_US (30 * 24 * 3600 * EM_US_PER_SEC)

/* ---- listeners --------------------------------------------------------------------------- */

static int wait_connected(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	if (poll(&poll_fd, 1, CONNECT_MS) == 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -errno;
	return -err;
}

static int try_address(int family, const struct sockaddr *address, socklen_t len)
{
	em_cleanup(em_closep) int fd =
		socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, address, len) == 0)
		return 0;
	return errno == EINPROGRESS ? wait_connected(fd) : -errno;
}

static int try_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	return try_address(AF_UNIX, (const struct sockaddr *)&address, sizeof(address));
}

/* "127.0.0.1:9980", "[::]:9443"; an address that stands for all of them leads to this host. */
static int try_tcp(const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	const char *port = strrchr(text, ':');
	char host[128];
	size_t skip = text[0] == '[';
	int r;

	if (!port || (size_t)(port - text) >= sizeof(host))
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)((size_t)(port - text) - 2 * skip), text + skip);
	if (getaddrinfo(host, port + 1, &hints, &found) != 0)
		return -EINVAL;
	r = try_address(found->ai_family, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return r;
}

static void judge_listener(struct em_doctor *doctor, const char *kind, const char *address)
{
	int r = strcmp(kind, "unix") == 0 ? try_unix(address) : try_tcp(address);

	if (r == 0)
		em_report_add(&doctor->report, EM_CHECK_LISTENERS, EM_RESULT_OK, NULL,
			      "%s %s can be reached from here", kind, address);
	else
		em_report_add(&doctor->report, EM_CHECK_LISTENERS, EM_RESULT_FAIL,
			      strcmp(kind, "unix") == 0
				      ? "Something replaced the socket's file: systemctl restart "
					"emberd."
				      : "Does a firewall, or IPAddressDeny= in the unit of emberd, "
					"forbid it?",
			      "%s %s cannot be reached from here: %s", kind, address, strerror(-r));
}

void em_doctor_listeners(struct em_doctor *doctor)
{
	const json_t *listener;
	size_t i;

	json_array_foreach(json_object_get(doctor->health, "listeners"), i, listener)
	{
		const char *kind = em_json_text(listener, "kind");
		const char *address = em_json_text(listener, "address");

		if (kind && address)
			judge_listener(doctor, kind, address);
	}
}

/* ---- certificate and tokens -------------------------------------------------------------- */

static enum em_result judge_end(int64_t left_us)
{
	if (left_us <= 0)
		return EM_RESULT_FAIL;
	return left_us < (int64_t)EXPIRY_WARN_US ? EM_RESULT_WARN : EM_RESULT_OK;
}

void em_doctor_certificate(struct em_doctor *doctor)
{
	const char *text = em_json_text(doctor->health, "certificate_expires_at");
	char advice[768], shown[EM_VIEW_SIZE];
	enum em_result result;
	int64_t expires;

	if (!text || em_time_parse(text, 0, &expires) < 0)
		return; /* none is in use */
	result = judge_end(expires - em_realtime_us());
	snprintf(advice, sizeof(advice), "Put a new one into %s; as root: systemctl reload emberd.",
		 doctor->config.certificate[0] ? doctor->config.certificate : "its place");
	em_report_add(&doctor->report, EM_CHECK_CERTIFICATE, result,
		      result == EM_RESULT_OK ? NULL : advice,
		      "the certificate of the network listener %s %s",
		      result == EM_RESULT_FAIL ? "has expired on" : "is valid until",
		      em_view_time(text, shown));
}

/* One that ends soon or has ended; who uses it is shut out from then on. */
static unsigned judge_token(struct em_report *report, const json_t *token, int64_t now_us)
{
	const char *text = em_json_text(token, "expires_at"), *name = em_json_text(token, "name");
	char shown[EM_VIEW_SIZE];
	enum em_result result;
	int64_t expires;

	if (!text || em_time_parse(text, 0, &expires) < 0)
		return 0; /* it does not end by itself */
	result = judge_end(expires - now_us);
	if (result == EM_RESULT_OK)
		return 0;
	em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_WARN,
		      "If it is still needed, give its user another: emberctl token create NAME.",
		      "the token for %s %s %s", name ? name : "?",
		      result == EM_RESULT_FAIL ? "has ended on" : "ends on",
		      em_view_time(text, shown));
	return 1;
}

void em_doctor_judge_tokens(struct em_report *report, const json_t *tokens, int64_t now_us)
{
	size_t count = json_array_size(tokens), i;
	const json_t *token;
	unsigned told = 0;

	if (!tokens) {
		em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_OK,
			      "To have them checked, run emberctl doctor as root.",
			      "tokens are shown to those alone who may give orders");
		return;
	}
	json_array_foreach(tokens, i, token) told += judge_token(report, token, now_us);
	if (count == 0)
		em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_WARN,
			      "Make one: emberctl token create NAME.",
			      "emberd listens on the network, and nobody has a token for it");
	else if (told == 0)
		em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_OK, NULL,
			      "%zu token%s, none of them ends soon", count, count == 1 ? "" : "s");
}

static bool listens_on_network(const json_t *health)
{
	const json_t *listener;
	size_t i;

	json_array_foreach(json_object_get(health, "listeners"), i, listener)
	{
		const char *kind = em_json_text(listener, "kind");

		if (kind && strcmp(kind, "https") == 0)
			return true;
	}
	return false;
}

void em_doctor_tokens(struct em_doctor *doctor)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;

	if (!listens_on_network(doctor->health))
		return; /* over the host's own sockets they count for nothing */
	em_api_try_list(doctor->client, "/v1/tokens", "tokens", 0, &doc, &reason);
	em_doctor_judge_tokens(&doctor->report, json_object_get(doc.root, "tokens"),
			       em_realtime_us());
}
