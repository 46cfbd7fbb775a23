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

static size_t on_body(char *data, size_t size, size_t count, void *userdata)
{
	struct em_buf *body = userdata;

	em_buf_add(body, data, size * count);
	return em_buf_failed(body) ? 0 : size * count;
}

/* A scheme and a host; the path is ours to say. */
static bool is_base_url(const char *url)
{
	const char *host;

	if (strncasecmp(url, "http://", 7) == 0)
		host = url + 7;
	else if (strncasecmp(url, "https://", 8) == 0)
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
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)http->target.timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)http->target.timeout_ms);
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "emberctl/" PACKAGE_VERSION);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
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

static int curl_error(const struct em_http *http, CURLcode rc, const struct em_buf *body)
{
	switch (rc) {
	case CURLE_OK:
		return 0;
	case CURLE_COULDNT_CONNECT:
		return connect_error(http);
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_WRITE_ERROR:
		return body->err == -ENOMEM ? -ENOMEM : -EMSGSIZE;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
		return -EINVAL;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
		return -EHOSTUNREACH;
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

int em_http_get(struct em_http *http, const char *path, struct em_http_answer *ret)
{
	em_cleanup(em_buf_done) struct em_buf body;
	em_cleanup(em_freep) char *url = full_url(http, path);
	int r;

	em_buf_init(&body, EM_HTTP_ANSWER_MAX);
	if (!url)
		return -ENOMEM;
	http->reason[0] = '\0';
	curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, &body);
	curl_easy_setopt(http->curl, CURLOPT_URL, url);
	r = curl_error(http, curl_easy_perform(http->curl), &body);
	if (r < 0)
		return r;
	return take_answer(http, &body, ret);
}

static const char *where(const struct em_http *http)
{
	return http->target.url ? http->target.url : http->target.socket;
}

void em_http_explain(const struct em_http *http, int err, char *buf, size_t size)
{
	const char *at = where(http);

	switch (-err) {
	case ENOENT:
		snprintf(buf, size,
			 "emberd is not running: there is no socket %s. Look with "
			 "`systemctl status emberd`, or name another with --socket or --url.",
			 at);
		return;
	case EACCES:
		snprintf(buf, size,
			 "you may not connect to %s. Look with `ls -l %s`, or run this "
			 "as a user who may.",
			 at, at);
		return;
	case ECONNREFUSED:
		snprintf(buf, size,
			 "emberd is not listening at %s (connection refused). Look with "
			 "`systemctl status emberd`.",
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
	snprintf(buf, size, "no answer from emberd at %s: %s. Look with `systemctl status emberd`.",
		 at, http->reason[0] ? http->reason : strerror(-err));
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
