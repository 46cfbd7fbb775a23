/* SPDX-License-Identifier: Apache-2.0 */
/* target - which emberd is asked, and with what token: options, then the environment. */
#include "config.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "client/client.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/parse.h"

#define TIMEOUT_MIN_US (10 * EM_US_PER_MS)
#define TIMEOUT_MAX_US (3600 * EM_US_PER_SEC)
#define TOKEN_SIZE     512u

static const char *from_environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* What may stand in a header: no blank, no control character. */
static bool is_token(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text <= ' ' || *text > '~')
			return false;
	return true;
}

/* The first line, without what ends it. */
static enum em_exit read_token(struct em_client *client, const char *path)
{
	em_cleanup(em_fclosep) FILE *file = fopen(path, "re");
	char line[TOKEN_SIZE];
	struct stat st;

	if (!file || !fgets(line, sizeof(line), file))
		return em_client_complain(client, EM_EXIT_USAGE,
					  "no token can be read from %s: %s.", path,
					  file && !ferror(file) ? "it is empty" : strerror(errno));
	line[strcspn(line, "\r\n")] = '\0';
	if (!is_token(line) || strlen(line) + 1 == sizeof(line))
		return em_client_complain(client, EM_EXIT_USAGE,
					  "the first line of %s is no token. `emberctl token "
					  "create NAME >%s` makes one, on the host of emberd.",
					  path, path);
	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & S_IROTH))
		em_client_complain(client, EM_EXIT_OK,
				   "everybody on this host can read %s. Better: `chmod 600 %s`.",
				   path, path);
	client->token = strdup(line);
	if (!client->token)
		return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	client->target.token = client->token;
	return EM_EXIT_OK;
}

static enum em_exit choose_token(struct em_client *client)
{
	const char *path = client->common[EM_COMMON_TOKEN_FILE];

	if (path)
		return read_token(client, path);
	client->target.token = from_environment("EMBER_TOKEN");
	if (client->target.token && !is_token(client->target.token))
		return em_client_complain(client, EM_EXIT_USAGE,
					  "$EMBER_TOKEN is no token: it has blanks or signs that a "
					  "token has not.");
	return EM_EXIT_OK;
}

static enum em_exit choose_timeout(struct em_client *client)
{
	const char *timeout = client->common[EM_COMMON_TIMEOUT];
	uint64_t timeout_us = EM_HTTP_TIMEOUT_MS * EM_US_PER_MS;

	if (timeout &&
	    em_parse_duration_us(timeout, TIMEOUT_MIN_US, TIMEOUT_MAX_US, &timeout_us) < 0)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "--timeout %s: give a span from 10ms to 1h, like 5s.",
					  timeout);
	client->target.timeout_ms = (unsigned)(timeout_us / EM_US_PER_MS);
	return EM_EXIT_OK;
}

/* An option beats the environment; within each, an address named first wins over the default. */
enum em_exit em_target_choose(struct em_client *client)
{
	const char *socket = client->common[EM_COMMON_SOCKET];
	const char *url = client->common[EM_COMMON_URL];
	const char *cacert = client->common[EM_COMMON_CACERT];
	enum em_exit code;

	if (socket && url)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "give --socket or --url, not both.");
	if (!socket && !url) {
		socket = from_environment("EMBER_SOCKET");
		url = socket ? NULL : from_environment("EMBER_URL");
	}
	client->target = (struct em_http_target){
		.socket = socket ? socket : EM_HTTP_SOCKET,
		.url = url,
		.cacert = cacert ? cacert : from_environment("EMBER_CACERT"),
	};
	code = choose_timeout(client);
	return code == EM_EXIT_OK ? choose_token(client) : code;
}
