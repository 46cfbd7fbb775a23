/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/http.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

struct em_http {
	CURL *curl;
	struct em_http_target target;
	char reason[CURL_ERROR_SIZE]; /* curl's own words about the last failure */
};

/* Where the bytes of one answer go. */
struct sink {
	CURL *curl;
	struct em_buf body;
	em_http_data_fn *fn; /* takes them instead while the status is 200; NULL = none */
	void *userdata;
	bool stopped; /* fn wants no more */
};

static size_t on_body(char *data, size_t size, size_t count, void *userdata)
{
	struct sink *sink = userdata;
	long status = 0;

	if (sink->fn)
		curl_easy_getinfo(sink->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200) {
		sink->stopped = !sink->fn(sink->userdata, data, size * count);
		return sink->stopped ? 0 : size * count;
	}
	em_buf_add(&sink->body, data, size * count);
	return em_buf_failed(&sink->body) ? 0 : size * count;
}

static void sink_done(struct sink *sink)
{
	em_buf_done(&sink->body);
}

static bool is_https(const char *url)
{
	return url && strncasecmp(url, "https://", 8) == 0;
}

/* A scheme and a host; the path is ours to say. */
static bool is_base_url(const char *url)
{
	const char *host;

	if (strncasecmp(url, "http://", 7) == 0)
		host = url + 7;
	else if (is_https(url))
		host = url + 8;
	else
		return false;
	return *host && *host != '/' && !strpbrk(host, "?#");
}

static int set_address(struct em_http *http)
{
	CURLcode rc;

	if (http->target.url)
		return is_base_url(http->target.url) ? 0 : -EINVAL;
	if (strlen(http->target.socket) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return -EINVAL;
	rc = curl_easy_setopt(http->curl, CURLOPT_UNIX_SOCKET_PATH, http->target.socket);
	return rc == CURLE_OK ? 0 : -EINVAL;
}

static int set_up(struct em_http *http)
{
	CURL *curl = http->curl;

	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->reason);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)http->target.timeout_ms);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "emberctl/" PACKAGE_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	if (http->target.cacert)
		curl_easy_setopt(curl, CURLOPT_CAINFO, http->target.cacert);
	return set_address(http);
}

EM_DEFINE_CLEANUP(struct em_http, em_http_free)

int em_http_new(struct em_http **ret, const struct em_http_target *target)
{
	em_cleanup(em_http_freep) struct em_http *http = calloc(1, sizeof(*http));
	int r;

	if (!http)
		return -ENOMEM;
	http->target = *target;
	http->curl = curl_easy_init();
	if (!http->curl)
		return -ENOMEM;
	r = set_up(http);
	if (r < 0)
		return r;
	*ret = em_steal(http);
	return 0;
}

struct em_http *em_http_free(struct em_http *http)
{
	if (!http)
		return NULL;
	curl_easy_cleanup(http->curl);
	free(http);
	return NULL;
}

/* connect(2) failed: the system's reason is more telling than curl's. */
static int connect_error(const struct em_http *http)
{
	long err = 0;

	curl_easy_getinfo(http->curl, CURLINFO_OS_ERRNO, &err);
	switch (err) {
	case ENOENT:
	case ENOTDIR:
		return -ENOENT;
	case EACCES:
	case EPERM:
		return -EACCES;
	case ECONNREFUSED:
		return -ECONNREFUSED;
	case ETIMEDOUT:
	case EAGAIN: /* a unix socket whose backlog is full */
		return -ETIMEDOUT;
	}
	return -EHOSTUNREACH;
}

static int curl_error(const struct em_http *http, CURLcode rc, const struct sink *sink)
{
	switch (rc) {
	case CURLE_OK:
		return 0;
	case CURLE_COULDNT_CONNECT:
		return connect_error(http);
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_WRITE_ERROR:
		if (sink->stopped)
			return -ECANCELED;
		return sink->body.err == -ENOMEM ? -ENOMEM : -EMSGSIZE;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	case CURLE_COULDNT_RESOLVE_HOST:
		return -EDESTADDRREQ;
	case CURLE_PEER_FAILED_VERIFICATION:
		return -EKEYREJECTED;
	case CURLE_SSL_CACERT_BADFILE:
		return -ENOKEY;
	default:
		return -EPROTO;
	}
}

/* "http://127.0.0.1:9980/" and "/v1/drives" have one slash between them. */
static char *full_url(const struct em_http *http, const char *path)
{
	const char *base = http->target.url ? http->target.url : "http://emberd";
	size_t len = strlen(base);
	char *url = NULL;

	while (len > 0 && base[len - 1] == '/')
		len--;
	if (asprintf(&url, "%.*s%s", (int)len, base, path) < 0)
		return NULL;
	return url;
}

static int take_answer(struct em_http *http, struct em_buf *body, struct em_http_answer *ret)
{
	struct em_http_answer answer = { 0 };

	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer.status);
	em_buf_add(body, "", 0);
	answer.body = em_buf_steal(body, &answer.len);
	if (!answer.body)
		answer.body = strdup("");
	if (!answer.body)
		return -ENOMEM;
	*ret = answer;
	return 0;
}

/* "Name: value"; false: no memory. */
static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
	em_cleanup(em_freep) char *line = NULL;
	struct curl_slist *longer;

	if (asprintf(&line, "%s: %s", name, value) < 0)
		return false;
	longer = curl_slist_append(*list, line);
	if (longer)
		*list = longer;
	return longer != NULL;
}

static void free_headers(struct curl_slist **list)
{
	curl_slist_free_all(*list);
}

/* The token goes to https addresses only: elsewhere it would travel in the clear. */
static bool add_token(const struct em_http *http, struct curl_slist **list)
{
	em_cleanup(em_freep) char *value = NULL;

	if (!http->target.token || !is_https(http->target.url))
		return true;
	if (asprintf(&value, "Bearer %s", http->target.token) < 0)
		return false;
	return add_header(list, "Authorization", value);
}

static int perform(struct em_http *http, const char *path, struct curl_slist *headers,
		   struct sink *sink, struct em_http_answer *ret)
{
	em_cleanup(em_freep) char *url = full_url(http, path);
	int r;

	if (!url)
		return -ENOMEM;
	http->reason[0] = '\0';
	sink->curl = http->curl;
	em_buf_init(&sink->body, EM_HTTP_ANSWER_MAX);
	curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, sink);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(http->curl, CURLOPT_URL, url);
	r = curl_error(http, curl_easy_perform(http->curl), sink);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	if (r < 0)
		return r;
	return take_answer(http, &sink->body, ret);
}

int em_http_request(struct em_http *http, const char *method, const char *path, const char *body,
		    struct em_http_answer *ret)
{
	em_cleanup(free_headers) struct curl_slist *headers = NULL;
	em_cleanup(sink_done) struct sink sink = { 0 };
	CURL *curl = http->curl;
	bool get = strcmp(method, "GET") == 0;

	if (!add_token(http, &headers) || !add_header(&headers, "Expect", ""))
		return -ENOMEM;
	if (body && !add_header(&headers, "Content-Type", "application/json"))
		return -ENOMEM;
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)http->target.timeout_ms);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 0L);
	if (get || strcmp(method, "POST") != 0) {
		curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	} else {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body ? body : "");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, body ? (long)strlen(body) : 0L);
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, get ? NULL : method);
	return perform(http, path, headers, &sink, ret);
}

int em_http_get(struct em_http *http, const char *path, struct em_http_answer *ret)
{
	return em_http_request(http, "GET", path, NULL, ret);
}

int em_http_stream(struct em_http *http, const char *path, const char *last_event_id,
		   em_http_data_fn *fn, void *userdata, struct em_http_answer *ret)
{
	em_cleanup(free_headers) struct curl_slist *headers = NULL;
	em_cleanup(sink_done) struct sink sink = { .fn = fn, .userdata = userdata };
	CURL *curl = http->curl;

	if (!add_token(http, &headers) || !add_header(&headers, "Accept", "text/event-stream"))
		return -ENOMEM;
	if (last_event_id && !add_header(&headers, "Last-Event-ID", last_event_id))
		return -ENOMEM;
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 0L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)EM_HTTP_SILENCE_S);
	curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, NULL);
	return perform(http, path, headers, &sink, ret);
}

static const char *where(const struct em_http *http)
{
	return http->target.url ? http->target.url : http->target.socket;
}

/* Over TCP the listener is a matter of configuration; the socket is always there. */
static void explain_refused(const struct em_http *http, char *buf, size_t size)
{
	if (http->target.url)
		snprintf(buf, size,
			 "nothing listens at %s (connection refused). Is emberd running there "
			 "(`systemctl start emberd`), and does its emberd.conf name this address "
			 "under `listen` in [%s]?",
			 http->target.url, is_https(http->target.url) ? "https" : "http");
	else
		snprintf(buf, size,
			 "emberd is not running: nobody listens at %s (connection refused). Start "
			 "it with `systemctl start emberd`; `systemctl status emberd` says why it "
			 "ended.",
			 http->target.socket);
}

static void explain_certificate(const struct em_http *http, int err, char *buf, size_t size)
{
	if (err == -ENOKEY)
		snprintf(buf, size,
			 "the certificate file %s cannot be used. --cacert wants a readable PEM "
			 "file.",
			 http->target.cacert ? http->target.cacert : "of the system");
	else
		snprintf(buf, size,
			 "the certificate of %s is not trusted: %s. Name the one to trust with "
			 "--cacert FILE, and the host by the name in it.",
			 http->target.url ? http->target.url : http->target.socket,
			 http->reason[0] ? http->reason : "it could not be verified");
}

/* The two listeners may have been mixed up. Words of curl's may end with a full stop. */
static void explain_talk(const struct em_http *http, int err, char *buf, size_t size)
{
	const char *reason = http->reason[0] ? http->reason : strerror(-err);
	int len = (int)strlen(reason);

	while (len > 0 && reason[len - 1] == '.')
		len--;
	if (err == -EPROTO && http->target.url && !is_https(http->target.url))
		snprintf(buf, size,
			 "what listens at %s does not talk HTTP: %.*s. If it is the HTTPS "
			 "listener, write https://.",
			 where(http), len, reason);
	else
		snprintf(buf, size,
			 "no answer from emberd at %s: %.*s. %s`systemctl status emberd`.",
			 where(http), len, reason,
			 err == -EPROTO && is_https(http->target.url)
				 ? "If it is the listener without TLS, write http://; else look "
				   "with "
				 : "Look with ");
}

void em_http_explain(const struct em_http *http, int err, char *buf, size_t size)
{
	const char *at = where(http);

	switch (-err) {
	case ENOENT:
		snprintf(buf, size,
			 "emberd is not running: there is no socket %s. Start it with "
			 "`systemctl start emberd` (`systemctl status emberd` says more), or name "
			 "another address with --socket or --url.",
			 at);
		return;
	case EACCES:
		snprintf(buf, size,
			 "you may not connect to %s. Look with `ls -l %s`, or run this "
			 "as a user who may.",
			 at, at);
		return;
	case ECONNREFUSED:
		explain_refused(http, buf, size);
		return;
	case EKEYREJECTED:
	case ENOKEY:
		explain_certificate(http, err, buf, size);
		return;
	case EDESTADDRREQ:
		snprintf(buf, size,
			 "the host's name in %s is not known here. Look for a slip in it, or name "
			 "its IP address.",
			 at);
		return;
	case ETIMEDOUT:
		snprintf(buf, size,
			 "emberd at %s did not answer within %u s. Look with "
			 "`systemctl status emberd` and `journalctl -u emberd -e`.",
			 at, (http->target.timeout_ms + 999) / 1000);
		return;
	case EMSGSIZE:
		snprintf(buf, size,
			 "the answer from %s is longer than %zu MiB. Ask for less: a "
			 "shorter time, a --step, or a lower --limit.",
			 at, EM_HTTP_ANSWER_MAX >> 20);
		return;
	case ENOMEM:
		snprintf(buf, size, "out of memory.");
		return;
	}
	explain_talk(http, err, buf, size);
}

char *em_http_escape(const char *text)
{
	struct em_buf buf;

	em_buf_init(&buf, 64 * 1024);
	em_buf_adds(&buf, "");
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		    (*p >= '0' && *p <= '9') || strchr("-._~", *p))
			em_buf_addc(&buf, (char)*p);
		else
			em_buf_addf(&buf, "%%%02X", *p);
	}
	return em_buf_steal(&buf, NULL);
}
