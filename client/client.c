/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/client.h"
#include <curl/curl.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"

const char *em_client_option(const struct em_client *client, const char *name)
{
	for (unsigned i = 0; client->verb && client->verb->options[i].name; i++)
		if (strcmp(client->verb->options[i].name, name) == 0)
			return client->options[i];
	return NULL;
}

/* In lines that the terminal need not break; a file gets one. */
static void put_lines(FILE *out, const char *text, unsigned width)
{
	while (width > 0 && em_term_columns(text) > width) {
		size_t len = em_term_line(text, width);

		fprintf(out, "%.*s\n", (int)len, text);
		text += len + strspn(text + len, " ");
	}
	fprintf(out, "%s\n", text);
}

enum em_exit em_client_complain(const struct em_client *client, enum em_exit code,
				const char *format, ...)
{
	em_cleanup(em_freep) char *text = NULL;
	em_cleanup(em_freep) char *line = NULL;
	em_cleanup(em_freep) char *clean = NULL;
	struct em_term term;
	va_list args;
	int r;

	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	if (r < 0)
		text = NULL;
	if (asprintf(&line, "emberctl: %s", text ? text : "out of memory.") < 0)
		line = NULL;
	em_term_detect(&term, fileno(client->err));
	clean = line ? em_term_clean(line, term.utf8) : NULL;
	put_lines(client->err, clean ? clean : "emberctl: out of memory.",
		  term.tty ? term.width : 0);
	return code;
}

static enum em_exit open_http(struct em_client *client)
{
	enum em_exit code = em_target_choose(client);
	int r;

	if (code != EM_EXIT_OK)
		return code;
	r = em_http_new(&client->http, &client->target);
	if (r == -EINVAL)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "`%s` is no address of emberd. Give one like "
					  "--url http://127.0.0.1:9980 or --socket %s.",
					  client->target.url ? client->target.url
							     : client->target.socket,
					  EM_HTTP_SOCKET);
	if (r < 0)
		return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	return EM_EXIT_OK;
}

static struct em_writer *make_writer(const struct em_client *client)
{
	struct em_term term;

	em_term_detect(&term, fileno(client->out));
	if (client->common[EM_COMMON_JSON])
		return em_writer_json_new(client->out, &term);
	if (em_client_option(client, "--csv"))
		return em_writer_csv_new(client->out, &term);
	return em_writer_table_new(client->out, &term);
}

static enum em_exit run_verb(struct em_client *client)
{
	enum em_exit code;
	int r;

	client->writer = make_writer(client);
	if (!client->writer)
		return em_client_complain(client, EM_EXIT_FAILED, "out of memory.");
	code = client->verb->run(client);
	r = em_writer_finish(client->writer);
	if (code == EM_EXIT_OK && r < 0)
		return em_client_complain(client, EM_EXIT_FAILED, "cannot write the output: %s.",
					  strerror(-r));
	return code;
}

static enum em_exit help_or_run(struct em_client *client)
{
	enum em_exit code;

	if (client->common[EM_COMMON_VERSION]) {
		fprintf(client->out, "emberctl %s\n", PACKAGE_VERSION);
		return EM_EXIT_OK;
	}
	if (client->common[EM_COMMON_HELP]) {
		if (client->verb)
			em_help_verb(client->out, client->verb);
		else if (client->group)
			em_help_group(client->out, client->group);
		else
			em_help_all(client->out);
		return EM_EXIT_OK;
	}
	if (!client->verb) {
		em_help_short(client->err);
		return EM_EXIT_USAGE;
	}
	code = open_http(client);
	return code == EM_EXIT_OK ? run_verb(client) : code;
}

/* Not in the help: what the build and the completions call. */
static enum em_exit hidden(struct em_client *client, const char *what, const char *kind)
{
	if (strcmp(what, "--generate") == 0)
		return em_generate(client, kind);
	if (open_http(client) != EM_EXIT_OK)
		return EM_EXIT_USAGE;
	return em_complete_words(client, kind);
}

static bool is_hidden(int argc, char **argv)
{
	return argc == 3 &&
	       (strcmp(argv[1], "--generate") == 0 || strcmp(argv[1], "--complete") == 0);
}

int em_client_main(int argc, char **argv, FILE *out, FILE *err)
{
	struct em_client client = { .out = out, .err = err };
	enum em_exit code;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		return em_client_complain(&client, EM_EXIT_FAILED, "libcurl does not start.");
	if (is_hidden(argc, argv)) {
		code = hidden(&client, argv[1], argv[2]);
	} else {
		code = em_cli_parse(&client, argc, argv);
		if (code == EM_EXIT_OK)
			code = help_or_run(&client);
	}
	em_http_free(client.http);
	em_writer_free(client.writer);
	free(client.token);
	curl_global_cleanup();
	/* What did not fit into the buffer failed earlier, and is only remembered. */
	if ((fflush(out) != 0 || ferror(out)) && code == EM_EXIT_OK)
		code = EM_EXIT_FAILED;
	return (int)code;
}
