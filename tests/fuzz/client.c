/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emberctl with an emberd that answers anything: whole runs of the program, only the connection
 * and the terminal are ours. What comes out may do nothing to a terminal, and is JSON or CSV where
 * that was asked for.
 * Input: command (1 byte), form and terminal (1 byte), answers. The first byte of an answer is its
 * status, or how it fails; FEh ends it, FDh parts what comes of a stream at once. Where they end,
 * nobody is reached any more.
 */
#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <string.h>
#include "client/client.h"
#include "lib/base/cleanup.h"
#include "tests/fuzz/fuzz.h"

#define ANSWER_END 0xfe
#define PIECE_END  0xfd
#define FAILURE	   0xe0 /* from here on the first byte of an answer is one */
#define WORDS_MAX  8

/* Verbs that run other programs or look at this host are left out, and watch, which has no end. */
static const char *const commands[][WORDS_MAX] = {
	{ "drives" },
	{ "show", "nvme0" },
	{ "errors", "nvme0" },
	{ "effects", "nvme0" },
	{ "sanitize", "nvme0" },
	{ "events" },
	{ "events", "--follow" },
	{ "events", "--since", "-7d", "--drive", "nvme0" },
	{ "changes", "--limit", "3" },
	{ "history", "nvme0" },
	{ "history", "nvme0", "temperature_celsius" },
	{ "refresh", "nvme0", "--wait", "100ms" },
	{ "retire", "nvme0", "--yes" },
	{ "health" },
	{ "doctor", "--url", "http://192.0.2.1" },
	{ "token", "create", "prometheus" },
	{ "token", "list" },
	{ "token", "revoke", "3f2a" },
	{ "version" },
	{ "--complete", "drive" },
	{ "--complete", "token" },
	{ "--complete", "kind" },
	{ "health", "nvme0" },
};

static struct fuzz_input answers;
static struct em_term term;

/* The linker gives these for what emberctl calls. */
int __wrap_em_http_request(struct em_http *http, const char *method, const char *path,
			   const char *body, struct em_http_answer *ret);
int __wrap_em_http_get(struct em_http *http, const char *path, struct em_http_answer *ret);
int __wrap_em_http_stream(struct em_http *http, const char *path, const char *last_event_id,
			  em_http_data_fn *fn, void *userdata, struct em_http_answer *ret);
void __wrap_em_term_detect(struct em_term *ret, int fd);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);

static int failure_of(uint8_t what)
{
	static const int failures[] = { EACCES,	      ECONNREFUSED, ETIMEDOUT,	  EMSGSIZE,
					EHOSTUNREACH, EDESTADDRREQ, EKEYREJECTED, ENOKEY,
					EPROTO,	      EINVAL,	    ENOMEM,	  ENOENT };

	return -failures[(what - FAILURE) % EM_COUNT(failures)];
}

static long status_of(uint8_t what)
{
	static const long statuses[] = { 200, 200, 201, 202, 204, 400, 401,
					 403, 404, 405, 422, 500, 503, 301 };

	return statuses[what % EM_COUNT(statuses)];
}

static char *text_of(const uint8_t *bytes, size_t len)
{
	char *text = malloc(len + 1);

	fuzz_check(text);
	if (len)
		memcpy(text, bytes, len);
	text[len] = '\0';
	return text;
}

static int next_answer(struct em_http_answer *ret)
{
	const uint8_t *end;
	uint8_t what;

	if (!answers.left)
		return -EINVAL;
	what = fuzz_u8(&answers);
	end = answers.left ? memchr(answers.at, ANSWER_END, answers.left) : NULL;
	ret->len = end ? (size_t)(end - answers.at) : answers.left;
	if (what < FAILURE) {
		ret->status = status_of(what);
		ret->body = text_of(answers.at, ret->len);
	}
	answers.at += ret->len + (end != NULL);
	answers.left -= ret->len + (end != NULL);
	return what < FAILURE ? 0 : failure_of(what);
}

/* Whatever an answer had in it: the next request is one line, and its body JSON. */
static void check_request(const char *path, const char *body)
{
	fuzz_check(*path == '/');
	for (const char *p = path; *p; p++)
		fuzz_check(*p > ' ' && *p <= '~');
	if (body) {
		json_t *root = json_loads(body, JSON_REJECT_DUPLICATES, NULL);

		fuzz_check(root);
		json_decref(root);
	}
}

int __wrap_em_http_request(struct em_http *http, const char *method, const char *path,
			   const char *body, struct em_http_answer *ret)
{
	struct em_http_answer answer = { 0 };
	int r = next_answer(&answer);

	fuzz_check(http && *method);
	check_request(path, body);
	if (r == 0)
		*ret = answer;
	return r;
}

int __wrap_em_http_get(struct em_http *http, const char *path, struct em_http_answer *ret)
{
	return __wrap_em_http_request(http, "GET", path, NULL, ret);
}

static bool feed(em_http_data_fn *fn, void *userdata, const char *bytes, size_t len)
{
	while (len > 0) {
		const char *end = memchr(bytes, PIECE_END, len);
		size_t piece = end ? (size_t)(end - bytes) : len;

		if (piece > 0 && !fn(userdata, bytes, piece))
			return false;
		bytes += piece + (end != NULL);
		len -= piece + (end != NULL);
	}
	return true;
}

int __wrap_em_http_stream(struct em_http *http, const char *path, const char *last_event_id,
			  em_http_data_fn *fn, void *userdata, struct em_http_answer *ret)
{
	struct em_http_answer answer = { 0 };
	int r = next_answer(&answer);

	fuzz_check(http && (!last_event_id || !strpbrk(last_event_id, "\r\n")));
	check_request(path, NULL);
	if (r == 0 && answer.status == 200) {
		r = feed(fn, userdata, answer.body, answer.len) ? 0 : -ECANCELED;
		free(answer.body);
		answer.body = text_of(NULL, 0);
	}
	if (r < 0)
		free(answer.body);
	else
		*ret = answer;
	return r;
}

void __wrap_em_term_detect(struct em_term *ret, int fd)
{
	(void)fd;
	*ret = term;
}

/* Nothing is waited for. */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	(void)fds;
	(void)count;
	(void)timeout_ms;
	return 0;
}

/* At p a terminal's control sequence: of ours only colours are, "ESC [ digits m". */
static size_t color_len(const char *p)
{
	size_t digits;

	if (!term.color || p[0] != '\033' || p[1] != '[')
		return 0;
	digits = strspn(p + 2, "0123456789;");
	return p[2 + digits] == 'm' ? digits + 3 : 0;
}

/* Nothing that a terminal obeys, be it in bytes or as a C1 control in UTF-8. */
static void check_harmless(const char *text, size_t len)
{
	fuzz_check(strlen(text) == len);
	while (*text) {
		size_t color = color_len(text);
		unsigned char c = (unsigned char)*text, next = (unsigned char)text[1];

		if (color > 0) {
			text += color;
			continue;
		}
		fuzz_check(c >= 0x20 || strchr("\r\n\t", c));
		fuzz_check(c != 0x7f && !(c == 0xc2 && next >= 0x80 && next < 0xa0));
		text++;
	}
}

static void check_ascii(const char *text)
{
	for (; *text; text++)
		fuzz_check((unsigned char)*text < 0x80);
}

/* One document after the other. */
static void check_json(const char *text, size_t len)
{
	size_t at = strspn(text, "\n");
	json_error_t error;

	while (at < len) {
		json_t *root = json_loadb(text + at, len - at, JSON_DISABLE_EOF_CHECK, &error);

		fuzz_check(root);
		json_decref(root);
		at += (size_t)error.position;
		at += strspn(text + at, " \t\r\n");
	}
}

/* The fields of the record at *text, which moves on to the next one. */
static unsigned count_fields(const char **text)
{
	const char *p = *text;
	bool quoted = false;
	unsigned fields = 1;

	for (; *p && (quoted || *p != '\r'); p++) {
		quoted ^= *p == '"';
		fields += !quoted && *p == ',';
	}
	fuzz_check(!quoted && p[0] == '\r' && p[1] == '\n');
	*text = p + 2;
	return fields;
}

static void check_csv(const char *text)
{
	unsigned columns = *text ? count_fields(&text) : 0;

	while (*text)
		fuzz_check(count_fields(&text) == columns);
}

enum form { TABLE, JSON, CSV, FORMS };

/* emberctl's words; the number of them. */
static int make_words(const char *const command[WORDS_MAX], enum form form, char *argv[])
{
	static const char *const forms[FORMS] = { NULL, "--json", "--csv" };
	int argc = 0;

	argv[argc++] = (char *)"emberctl";
	for (unsigned i = 0; i < WORDS_MAX && command[i]; i++)
		argv[argc++] = (char *)command[i];
	if (forms[form] && command[0][0] != '-')
		argv[argc++] = (char *)forms[form];
	argv[argc] = NULL;
	return argc;
}

static void check_output(enum form form, const char *out, size_t len)
{
	check_harmless(out, len);
	if (form == JSON)
		check_json(out, len);
	if (form == CSV)
		check_csv(out);
	if (form == TABLE && !term.utf8)
		check_ascii(out);
}

static void run(const char *const command[WORDS_MAX], enum form form)
{
	char *argv[WORDS_MAX + 3], *out = NULL, *err = NULL;
	size_t out_len, err_len;
	FILE *out_file = open_memstream(&out, &out_len), *err_file = open_memstream(&err, &err_len);
	int code;

	fuzz_check(out_file && err_file);
	code = em_client_main(make_words(command, form, argv), argv, out_file, err_file);
	fclose(out_file);
	fclose(err_file);
	fuzz_check(code >= EM_EXIT_OK && code <= EM_EXIT_UNKNOWN);
	if (command[0][0] != '-')
		check_output(form, out, out_len);
	check_harmless(err, err_len);
	free(out);
	free(err);
}

static void choose_term(uint8_t what)
{
	static const unsigned widths[] = { 0, 20, 33, 60, 80, 100, 120, 200 };

	term = (struct em_term){
		.width = widths[what & 7],
		.height = 24,
		.tty = what & 8,
		.color = what & 16,
		.utf8 = what & 32,
	};
}

/* Once, so that each run need not begin with it. */
static void start(void)
{
	static const char *const variables[] = { "EMBER_SOCKET", "EMBER_URL", "EMBER_TOKEN",
						 "EMBER_CACERT" };
	static bool started;

	if (started)
		return;
	started = true;
	setenv("LC_ALL", "C.UTF-8", 1);
	for (size_t i = 0; i < EM_COUNT(variables); i++)
		unsetenv(variables[i]);
	fuzz_check(curl_global_init(CURL_GLOBAL_DEFAULT) == 0);
	atexit(curl_global_cleanup);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t command, what;

	start();
	answers = (struct fuzz_input){ data, size };
	command = fuzz_u8(&answers);
	what = fuzz_u8(&answers);
	choose_term(what);
	run(commands[command % EM_COUNT(commands)], (enum form)((what >> 6) % FORMS));
	return 0;
}
