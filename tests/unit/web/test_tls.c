/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate, and the network's listener as clients see it. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "daemon/web/encoding.h"
#include "daemon/web/tls.h"
#include "daemon/web/tokens.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "server.h"
#include "tests/unit/runner.h"

#define DAYS(n)	    ((n) * (time_t)86400)
#define ANSWER_SIZE (1 << 20)

static char certificate[96], key[96], address[32];
static uint16_t port;
static char secret[EM_TOKEN_SECRET_SIZE];
static struct em_token token;

/* ---- certificates ------------------------------------------------------------------------ */

static void write_file(const char *path, const gnutls_datum_t *data)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(data->data, 1, data->size, file), data->size);
	ck_assert_int_eq(fclose(file), 0);
}

static void make_certificate(const char *name, time_t expires)
{
	gnutls_x509_privkey_t private;
	gnutls_x509_crt_t crt;
	gnutls_datum_t pem;

	gnutls_x509_privkey_init(&private);
	gnutls_x509_crt_init(&crt);
	ck_assert_int_eq(
		gnutls_x509_privkey_generate(private, GNUTLS_PK_ECDSA,
					     GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	gnutls_x509_crt_set_version(crt, 3);
	gnutls_x509_crt_set_serial(crt, "\1", 1);
	gnutls_x509_crt_set_activation_time(crt, time(NULL) - DAYS(400));
	gnutls_x509_crt_set_expiration_time(crt, expires);
	gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
				      (unsigned)strlen(name));
	gnutls_x509_crt_set_key(crt, private);
	ck_assert_int_eq(gnutls_x509_crt_sign2(crt, crt, private, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem), 0);
	write_file(certificate, &pem);
	gnutls_free(pem.data);
	ck_assert_int_eq(gnutls_x509_privkey_export2(private, GNUTLS_X509_FMT_PEM, &pem), 0);
	write_file(key, &pem);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(private);
}

static void ask_for_token(void)
{
	static const char body[] = "{\"name\":\"one\"}";
	char request[256], *answer, *at;

	snprintf(request, sizeof(request),
		 "POST /v1/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s",
		 strlen(body), body);
	answer = talk(connect_unix(), request);
	ck_assert_msg(status_of(answer) == 201, "%s", answer);
	at = strstr(answer, "ember_");
	snprintf(secret, sizeof(secret), "%.*s", (int)strcspn(at, "\""), at);
	at = strchr(secret, '_') + 1;
	snprintf(token.id, sizeof(token.id), "%.*s", (int)strcspn(at, "_"), at);
	free(answer);
}

static void start(void)
{
	struct em_web_config more = { .certificate = certificate, .key = key };

	make_server_directory();
	snprintf(certificate, sizeof(certificate), "%s/cert.pem", server.dir);
	snprintf(key, sizeof(key), "%s/key.pem", server.dir);
	make_certificate("first", time(NULL) + DAYS(30));
	port = free_port();
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	more.https_listen = address;
	start_server_with(&more);
	ask_for_token();
}

/* ---- a client ---------------------------------------------------------------------------- */

struct client {
	gnutls_certificate_credentials_t credentials;
	gnutls_session_t session;
	int fd;
	char name[64]; /* of the server's certificate */
};

static void read_name(struct client *client)
{
	unsigned count = 0;
	const gnutls_datum_t *peers = gnutls_certificate_get_peers(client->session, &count);
	size_t size = sizeof(client->name);
	gnutls_x509_crt_t crt;

	ck_assert_uint_gt(count, 0);
	gnutls_x509_crt_init(&crt);
	ck_assert_int_eq(gnutls_x509_crt_import(crt, &peers[0], GNUTLS_X509_FMT_DER), 0);
	ck_assert_int_eq(gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
						       client->name, &size),
			 0);
	gnutls_x509_crt_deinit(crt);
}

/* gnutls's result of the handshake. */
static int open_client(struct client *client, int fd, const char *priorities)
{
	int r;

	*client = (struct client){ .fd = fd };
	gnutls_certificate_allocate_credentials(&client->credentials);
	gnutls_init(&client->session, GNUTLS_CLIENT);
	ck_assert_int_eq(gnutls_priority_set_direct(client->session, priorities, NULL), 0);
	gnutls_credentials_set(client->session, GNUTLS_CRD_CERTIFICATE, client->credentials);
	gnutls_transport_set_int(client->session, fd);
	gnutls_handshake_set_timeout(client->session, PATIENCE_MS);
	do
		r = gnutls_handshake(client->session);
	while (r < 0 && !gnutls_error_is_fatal(r));
	if (r == 0)
		read_name(client);
	return r;
}

static void close_client(struct client *client)
{
	gnutls_deinit(client->session);
	gnutls_certificate_free_credentials(client->credentials);
	close(client->fd);
}

static bool is_whole(const char *text, size_t len, bool has_body)
{
	const char *end = strstr(text, "\r\n\r\n"),
		   *length = strcasestr(text, "\r\nContent-Length: ");

	return end && (!has_body || !length ||
		       len >= (size_t)(end + 4 - text) + strtoul(length + 18, NULL, 10));
}

/* The answer's bytes, of which *ret_len; to be freed. */
static char *ask_client(struct client *client, const char *request, size_t *ret_len)
{
	char *text = calloc(1, ANSWER_SIZE);
	size_t len = 0;

	ck_assert_int_eq(gnutls_record_send(client->session, request, strlen(request)),
			 (ssize_t)strlen(request));
	gnutls_record_set_timeout(client->session, PATIENCE_MS);
	while (!is_whole(text, len, strncmp(request, "HEAD", 4) != 0)) {
		ssize_t n = gnutls_record_recv(client->session, text + len, ANSWER_SIZE - 1 - len);

		if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED)
			continue;
		ck_assert_msg(n > 0, "%zd after: %s", n, text);
		len += (size_t)n;
	}
	if (ret_len)
		*ret_len = len;
	return text;
}

static char *get(struct client *client, const char *method, const char *path, const char *headers)
{
	char request[1024];

	snprintf(request, sizeof(request),
		 "%s %s HTTP/1.1\r\nHost: storage-7.example\r\nAuthorization: Bearer %s\r\n%s\r\n",
		 method, path, secret, headers);
	return ask_client(client, request, NULL);
}

static void expect(const char *request, unsigned status)
{
	struct client client;
	char *answer;

	ck_assert_int_eq(open_client(&client, connect_tcp(port), "NORMAL"), 0);
	answer = ask_client(&client, request, NULL);
	ck_assert_msg(status_of(answer) == status, "not %u: %s\n-> %s", status, request, answer);
	ck_assert(has_header(answer, "\r\nWWW-Authenticate: Bearer\r\n") == (status == 401));
	free(answer);
	close_client(&client);
}

static void expect_get(const char *method, const char *path, const char *headers, unsigned status)
{
	char request[1024];

	snprintf(request, sizeof(request),
		 "%s %s HTTP/1.1\r\nHost: storage-7.example\r\nAuthorization: bearer %s\r\n%s\r\n",
		 method, path, secret, headers);
	expect(request, status);
}

/* ---- tests ------------------------------------------------------------------------------- */

START_TEST(nothing_without_a_token)
{
	expect("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 401);
	expect("GET /none HTTP/1.1\r\nHost: x\r\n\r\n", 401);
	expect("DELETE /v1/tokens HTTP/1.1\r\nHost: x\r\n\r\n", 401);
	expect("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10737418240\r\n\r\n", 401);
	expect("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \r\n\r\n", 401);
	expect("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTpi\r\n\r\n", 401);
	expect("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
	       "ember_0123456789abcdef_0\r\n\r\n",
	       401);
	expect_get("GET", "/metrics", "Authorization: Bearer x\r\n", 401);
	expect_get("GET", "/metrics", "", 200);
	expect_get("HEAD", "/v1/drives", "", 200);
}
END_TEST

/* Also when there is none because their file cannot be read; the rest goes on. */
START_TEST(nobody_gets_in_without_the_file_of_tokens)
{
	struct em_web_config config = { .certificate = certificate,
					.key = key,
					.https_listen = address,
					.socket = server.path,
					.version = "1.2.3" };
	const char *message = NULL;
	char path[PATH_MAX * 2], *answer;

	server.web = em_web_stop(server.web);
	/* A name that no file can have. */
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	config.tokens = path;
	ck_assert_int_eq(em_web_start(&server.web, &config, server.hub, server.store, &message), 0);
	expect_get("GET", "/metrics", "", 401);
	answer = talk(connect_unix(), "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert_msg(strstr(answer, "nobody gets in over the network") != NULL, "%s", answer);
	free(answer);
	answer = talk(connect_unix(), "GET /v1/tokens HTTP/1.1\r\nHost: x\r\n\r\n");
	ck_assert_uint_eq(status_of(answer), 503);
	free(answer);
}
END_TEST

START_TEST(a_token_may_look_and_no_more)
{
	expect_get("POST", "/v1/drives/nvme0/refresh", "", 405);
	expect_get("DELETE", "/v1/tokens/x", "", 405);
	expect_get("POST", "/v1/tokens", "Content-Length: 12\r\n", 413);
	expect_get("GET", "/v1/tokens", "", 403);
	expect_get("GET", "/v1/none", "", 404);
	expect_get("GET", "/metrics", "Origin: https://storage-7.example\r\n", 403);
}
END_TEST

static void revoke_token(void)
{
	char request[256], *answer;

	snprintf(request, sizeof(request), "DELETE /v1/tokens/%s HTTP/1.1\r\nHost: x\r\n\r\n",
		 token.id);
	answer = talk(connect_unix(), request);
	ck_assert_uint_eq(status_of(answer), 204);
	free(answer);
}

START_TEST(a_revoked_token_ends_at_once)
{
	struct client client;
	char *answer;

	ck_assert_int_eq(open_client(&client, connect_tcp(port), "NORMAL"), 0);
	answer = get(&client, "GET", "/metrics", "");
	ck_assert_uint_eq(status_of(answer), 200);
	free(answer);
	revoke_token();
	/* Also on a connection that is open. */
	answer = get(&client, "GET", "/metrics", "");
	ck_assert_uint_eq(status_of(answer), 401);
	free(answer);
	close_client(&client);
}
END_TEST

/* Adds to text what comes until `wanted` is there. */
static void hear_client(struct client *client, char *text, size_t size, const char *wanted)
{
	size_t len = strlen(text);

	gnutls_record_set_timeout(client->session, PATIENCE_MS);
	while (!strstr(text, wanted)) {
		ssize_t n = gnutls_record_recv(client->session, text + len, size - 1 - len);

		ck_assert_msg(n > 0, "%zd, no %s after: %s", n, wanted, text);
		len += (size_t)n;
		text[len] = '\0';
	}
}

static void open_stream(struct client *client, char *text, size_t size)
{
	char request[512];

	ck_assert_int_eq(open_client(client, connect_tcp(port), "NORMAL"), 0);
	snprintf(request, sizeof(request),
		 "GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
		 "Authorization: Bearer %s\r\n\r\n",
		 secret);
	gnutls_record_send(client->session, request, strlen(request));
	hear_client(client, text, size, "3000\n\n");
}

/* At once, and not with the next sign of life. */
START_TEST(a_stream_ends_with_its_token)
{
	char text[4096] = "";
	struct client client;
	uint64_t before;

	open_stream(&client, text, sizeof(text));
	before = em_monotonic_us();
	revoke_token();
	hear_client(&client, text, sizeof(text), "\r\n0\r\n\r\n");
	ck_assert_uint_lt(em_monotonic_us() - before, EM_US_PER_SEC);
	close_client(&client);
}
END_TEST

START_TEST(a_stream_tells_nothing_after_its_token)
{
	char text[4096] = "";
	struct client client;
	struct em_event event = { .summary = "Not for you." };

	open_stream(&client, text, sizeof(text));
	revoke_token();
	em_event_log_add(server.events, NULL, EM_EVENT_KIND_BROKER, &event);
	hear_client(&client, text, sizeof(text), "\r\n0\r\n\r\n");
	ck_assert_ptr_null(strstr(text, "Not for you"));
	close_client(&client);
}
END_TEST

START_TEST(versions)
{
	static const char *const good[] = { "NORMAL:-VERS-ALL:+VERS-TLS1.2",
					    "NORMAL:-VERS-ALL:+VERS-TLS1.3" };
	struct client client;

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(open_client(&client, connect_tcp(port), good[i]), 0);
		close_client(&client);
	}
	ck_assert_int_lt(open_client(&client, connect_tcp(port),
				     "NORMAL:%COMPAT:-VERS-ALL:+VERS-TLS1.1:+VERS-TLS1.0:+SHA1"),
			 0);
	close_client(&client);
	/* Without TLS there is no answer. */
	free(talk(connect_tcp(port), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	expect_get("GET", "/", "", 200);
}
END_TEST

/* Only what makes keys for each session, of curves, with a cipher that authenticates. */
START_TEST(weak_ways_are_refused)
{
	static const char *const good[] = {
		"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-GCM",
		"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305",
		"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-X25519",
		"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-SECP384R1",
	};
	static const char *const weak[] = {
		"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+RSA",
		"NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:+DHE-RSA",
		"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC:+AES-256-CBC",
		"NORMAL:-VERS-ALL:+VERS-TLS1.2:-SIGN-ALL:+SIGN-ECDSA-SHA1:+SIGN-RSA-SHA1",
		"NORMAL:-VERS-ALL:+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE8192",
	};
	struct client client;

	for (unsigned i = 0; i < EM_COUNT(good); i++) {
		ck_assert_msg(open_client(&client, connect_tcp(port), good[i]) == 0, "%s", good[i]);
		close_client(&client);
	}
	for (unsigned i = 0; i < EM_COUNT(weak); i++) {
		ck_assert_msg(open_client(&client, connect_tcp(port), weak[i]) < 0, "%s", weak[i]);
		close_client(&client);
	}
}
END_TEST

/* It would be a way to make us calculate, again and again, on one connection. */
START_TEST(no_second_handshake)
{
	struct client client;
	char byte;
	int r;

	ck_assert_int_eq(open_client(&client, connect_tcp(port), "NORMAL:-VERS-ALL:+VERS-TLS1.2"),
			 0);
	gnutls_handshake_set_timeout(client.session, PATIENCE_MS);
	do
		r = gnutls_handshake(client.session);
	while (r == GNUTLS_E_AGAIN || r == GNUTLS_E_INTERRUPTED);
	ck_assert_int_lt(r, 0);
	ck_assert_int_le(gnutls_record_recv(client.session, &byte, 1), 0);
	close_client(&client);
	expect_get("GET", "/", "", 200);
}
END_TEST

static void expect_name(const char *name)
{
	struct client client;

	ck_assert_int_eq(open_client(&client, connect_tcp(port), "NORMAL"), 0);
	ck_assert_str_eq(client.name, name);
	close_client(&client);
}

START_TEST(a_new_certificate_leaves_connections_alone)
{
	const gnutls_datum_t rubbish = { (unsigned char *)"rubbish", 7 };
	const char *message = NULL;
	struct client old;
	char *answer;

	ck_assert_int_eq(open_client(&old, connect_tcp(port), "NORMAL"), 0);
	ck_assert_str_eq(old.name, "first");
	make_certificate("second", time(NULL) + DAYS(60));
	expect_name("first");
	ck_assert_int_eq(em_web_reload_certificate(server.web, &message), 0);
	expect_name("second");
	write_file(certificate, &rubbish);
	ck_assert_int_lt(em_web_reload_certificate(server.web, &message), 0);
	ck_assert_ptr_nonnull(message);
	expect_name("second");
	unlink(key);
	ck_assert_int_eq(em_web_reload_certificate(server.web, &message), -ENOENT);
	answer = get(&old, "GET", "/v1/health", "");
	ck_assert_uint_eq(status_of(answer), 200);
	free(answer);
	close_client(&old);
}
END_TEST

START_TEST(what_is_wrong_is_told)
{
	char message[EM_TLS_MESSAGE_SIZE] = "", other[128];
	const gnutls_datum_t rubbish = { (unsigned char *)"rubbish", 7 };
	time_t expires = time(NULL) - DAYS(1);
	struct em_tls *tls = NULL;

	snprintf(other, sizeof(other), "%s/other.pem", server.dir);
	ck_assert_int_eq(em_tls_new(&tls, other, key, message), -ENOENT);
	ck_assert_msg(strstr(message, other) && strstr(message, "No such file"), "%s", message);
	ck_assert_int_eq(em_tls_new(&tls, certificate, server.dir, message), -EISDIR);
	ck_assert_msg(strstr(message, server.dir) != NULL, "%s", message);
	/* What has no end is not read to it. */
	ck_assert_int_eq(em_tls_new(&tls, "/dev/zero", key, message), -E2BIG);
	/* A key that is not this certificate's. */
	ck_assert_int_eq(rename(certificate, other), 0);
	make_certificate("expired", expires);
	ck_assert_int_lt(em_tls_new(&tls, other, key, message), 0);
	ck_assert_msg(strstr(message, other) && strstr(message, key), "%s", message);
	ck_assert_ptr_null(tls);
	/* Expired is for clients to refuse. */
	ck_assert_int_eq(em_tls_new(&tls, certificate, key, message), 0);
	ck_assert_int_eq(em_tls_expires_us(tls), (int64_t)expires * 1000000);
	/* One that is being written leaves nothing behind: LeakSanitizer looks. */
	ck_assert_int_eq(truncate(certificate, 200), 0);
	ck_assert_int_lt(em_tls_reload(tls, message), 0);
	write_file(key, &rubbish);
	ck_assert_int_lt(em_tls_reload(tls, message), 0);
	tls = em_tls_free(tls);
}
END_TEST

START_TEST(smaller_over_the_network)
{
	struct client client;
	char *plain, *small, *again, tag[EM_ETAG_SIZE], header[128];
	const char *at;

	ck_assert_int_eq(open_client(&client, connect_tcp(port), "NORMAL"), 0);
	plain = get(&client, "GET", "/openapi.json", "");
	ck_assert(!has_header(plain, "\r\nContent-Encoding:"));
	ck_assert(has_header(plain, "\r\nVary: Accept-Encoding\r\n"));
	small = get(&client, "GET", "/openapi.json", "Accept-Encoding: gzip\r\n");
	ck_assert(has_header(small, "\r\nContent-Encoding: gzip\r\n"));
	ck_assert_uint_lt(strtoul(strcasestr(small, "Content-Length: ") + 16, NULL, 10),
			  strtoul(strcasestr(plain, "Content-Length: ") + 16, NULL, 10) / 4);
	at = strcasestr(small, "\r\nETag: ");
	ck_assert_ptr_nonnull(at);
	snprintf(tag, sizeof(tag), "%.*s", (int)strcspn(at + 8, "\r"), at + 8);
	ck_assert_ptr_nonnull(strstr(tag, "-gzip\""));
	snprintf(header, sizeof(header), "Accept-Encoding: gzip\r\nIf-None-Match: %s\r\n", tag);
	again = get(&client, "GET", "/openapi.json", header);
	ck_assert_msg(status_of(again) == 304, "%s", again);
	ck_assert(has_header(again, tag) && has_header(again, "\r\nCache-Control: no-cache\r\n"));
	free(again);
	/* The tag is that of the other form. */
	snprintf(header, sizeof(header), "If-None-Match: %s\r\n", tag);
	again = get(&client, "GET", "/openapi.json", header);
	ck_assert_uint_eq(status_of(again), 200);
	free(again);
	free(small);
	free(plain);
	close_client(&client);
}
END_TEST

/* From another address of this host. */
static int connect_from(const char *source)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(inet_pton(AF_INET, source, &in.sin_addr), 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	in.sin_port = htons(port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	return fd;
}

START_TEST(one_address_keeps_nobody_out)
{
	struct client client, held, known;
	int fds[500];
	uint64_t before;
	char *answer;

	/* Somebody else's connection that waits is not the price, */
	ck_assert_int_eq(open_client(&held, connect_from("127.0.0.3"), "NORMAL"), 0);
	/* nor is that of a client that is known, behind the same address. */
	ck_assert_int_eq(open_client(&known, connect_from("127.0.0.2"), "NORMAL"), 0);
	answer = get(&known, "GET", "/v1/health", "");
	ck_assert_uint_eq(status_of(answer), 200);
	free(answer);
	for (unsigned i = 0; i < 500; i++) {
		fds[i] = connect_from("127.0.0.2");
		send(fds[i], "\x16", 1, MSG_NOSIGNAL); /* a handshake begins like this */
	}
	before = em_monotonic_us();
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(
			open_client(&client, connect_from(i ? "127.0.0.2" : "127.0.0.1"), "NORMAL"),
			0);
		answer = get(&client, "GET", "/metrics", "");
		ck_assert_uint_eq(status_of(answer), 200);
		free(answer);
		close_client(&client);
	}
	ck_assert_uint_lt(em_monotonic_us() - before, EM_US_PER_SEC);
	answer = get(&held, "GET", "/metrics", "");
	ck_assert_uint_eq(status_of(answer), 200);
	free(answer);
	close_client(&held);
	answer = get(&known, "GET", "/metrics", "");
	ck_assert_uint_eq(status_of(answer), 200);
	free(answer);
	close_client(&known);
	for (unsigned i = 0; i < 500; i++)
		close(fds[i]);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, start, stop_server);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, nothing_without_a_token);
	tcase_add_test(tc, nobody_gets_in_without_the_file_of_tokens);
	tcase_add_test(tc, a_token_may_look_and_no_more);
	tcase_add_test(tc, a_revoked_token_ends_at_once);
	tcase_add_test(tc, a_stream_ends_with_its_token);
	tcase_add_test(tc, a_stream_tells_nothing_after_its_token);
	tcase_add_test(tc, versions);
	tcase_add_test(tc, weak_ways_are_refused);
	tcase_add_test(tc, no_second_handshake);
	tcase_add_test(tc, a_new_certificate_leaves_connections_alone);
	tcase_add_test(tc, what_is_wrong_is_told);
	tcase_add_test(tc, smaller_over_the_network);
	tcase_add_test(tc, one_address_keeps_nobody_out);
	return run_tests(tc);
}
