/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete - completions for bash, zsh and fish out of the verb table. Drives and fields are asked
 * of `emberctl --complete`, so that they are those of this host and this version.
 */
#include "config.h"
#include <jansson.h>
#include <string.h>
#include "client/client.h"
#include "lib/base/cleanup.h"
#include "lib/nvme/page.h"

/* A key press should not wait for a daemon in trouble. */
#define COMPLETE_TIMEOUT_MS 1000u

static const char *complete_word(enum em_complete complete)
{
	switch (complete) {
	case EM_COMPLETE_NONE:
		return "none";
	case EM_COMPLETE_DRIVE:
		return "drive";
	case EM_COMPLETE_FIELD:
		return "field";
	case EM_COMPLETE_FILE:
		return "file";
	}
	return "none";
}

/* Text inside single quotes of a shell: the table's texts have no quote but ' in them. */
static void put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[]){ *text, '\0' }, out);
	fputc('\'', out);
}

static void put_option_words(FILE *out, const struct em_option *options)
{
	for (const struct em_option *o = options; o->name; o++)
		fprintf(out, " %s", o->name);
}

/* "--socket) kind=file;;" for each option with a value. */
static void put_bash_values(FILE *out, const struct em_option *options)
{
	for (const struct em_option *o = options; o->name; o++)
		if (o->metavar)
			fprintf(out, "\t%s) kind=%s ;;\n", o->name, complete_word(o->complete));
}

static void put_bash_verb(FILE *out, const struct em_verb *verb)
{
	fprintf(out, "\t%s)\n\t\toptions=\"$options", verb->name);
	put_option_words(out, verb->options);
	fputs("\"\n\t\tkinds=(", out);
	for (const struct em_arg *a = verb->args; a->name; a++)
		fprintf(out, " %s", complete_word(a->complete));
	fputs(" ) ;;\n", out);
}

/* Options whose next word is their value, as a case pattern. */
static void put_bash_skip(FILE *out)
{
	const char *bar = "";

	for (const struct em_option *o = em_common_options; o->name; o++)
		if (o->metavar)
			fprintf(out, "%s%s", bar, o->name), bar = "|";
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		for (const struct em_option *o = verb->options; o->name; o++)
			if (o->metavar)
				fprintf(out, "%s%s", bar, o->name);
}

static void put_bash_scan(FILE *out)
{
	fputs("_emberctl() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tlocal i verb= args=0 kind= kinds=() options=\"",
	      out);
	put_option_words(out, em_common_options);
	fputs("\"\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n\t\t",
	      out);
	put_bash_skip(out);
	fputs(") ((i++)) ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*) if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else ((args++)); fi ;;\n"
	      "\t\tesac\n"
	      "\tdone\n",
	      out);
}

void em_complete_bash(FILE *out)
{
	fputs("# Completion of emberctl for bash. Generated from its verb table.\n", out);
	put_bash_scan(out);
	fputs("\tcase $verb in\n\t'') kinds=(verb) ;;\n", out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		put_bash_verb(out, verb);
	fputs("\tesac\n\tkind=${kinds[args]:-none}\n\t[[ $cur == -* ]] && kind=option\n"
	      "\tcase $prev in\n",
	      out);
	put_bash_values(out, em_common_options);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		put_bash_values(out, verb->options);
	fputs("\tesac\n\tcase $kind in\n\tverb) COMPREPLY=($(compgen -W \"", out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		fprintf(out, "%s ", verb->name);
	fputs("\" -- \"$cur\")) ;;\n"
	      "\toption) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
	      "\tfile) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	      "\tdrive|field) COMPREPLY=($(compgen -W "
	      "\"$(emberctl --complete \"$kind\" 2>/dev/null)\" -- \"$cur\")) ;;\n"
	      "\t*) COMPREPLY=() ;;\n"
	      "\tesac\n"
	      "}\n"
	      "complete -F _emberctl emberctl\n",
	      out);
}

static void put_zsh_action(FILE *out, enum em_complete complete)
{
	switch (complete) {
	case EM_COMPLETE_DRIVE:
	case EM_COMPLETE_FIELD:
		fprintf(out, "{compadd -- ${(f)\"$(emberctl --complete %s 2>/dev/null)\"}}",
			complete_word(complete));
		return;
	case EM_COMPLETE_FILE:
		fputs("_files", out);
		return;
	case EM_COMPLETE_NONE:
		fputs(" ", out);
		return;
	}
}

/* Brackets and colons mean something to _arguments. */
static void put_zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("[]:\\", *text))
			fputc('\\', out);
		fputs(*text == '\'' ? "'\\''" : (char[]){ *text, '\0' }, out);
	}
}

static void put_zsh_options(FILE *out, const struct em_option *options)
{
	for (const struct em_option *o = options; o->name; o++) {
		fprintf(out, " \\\n\t\t'%s[", o->name);
		put_zsh_text(out, o->help);
		fputc(']', out);
		if (o->metavar) {
			fprintf(out, ":%s:", o->metavar);
			put_zsh_action(out, o->complete);
		}
		fputc('\'', out);
	}
}

static void put_zsh_verb(FILE *out, const struct em_verb *verb)
{
	fprintf(out, "\t%s)\n\t\t_arguments", verb->name);
	put_zsh_options(out, em_common_options);
	put_zsh_options(out, verb->options);
	for (const struct em_arg *a = verb->args; a->name; a++) {
		fprintf(out, " \\\n\t\t':%s:", a->name);
		put_zsh_action(out, a->complete);
		fputc('\'', out);
	}
	fputs(" ;;\n", out);
}

void em_complete_zsh(FILE *out)
{
	fputs("#compdef emberctl\n"
	      "# Completion of emberctl for zsh. Generated from its verb table.\n"
	      "_emberctl() {\n"
	      "\tlocal context state state_descr line\n"
	      "\ttypeset -A opt_args\n"
	      "\tlocal -a verbs\n\tverbs=(\n",
	      out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		fprintf(out, "\t\t'%s:", verb->name);
		put_zsh_text(out, verb->summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\t_arguments -C", out);
	put_zsh_options(out, em_common_options);
	fputs(" \\\n\t\t'1:verb:{_describe verb verbs}' \\\n\t\t'*::argument:->rest'\n"
	      "\t[[ $state == rest ]] || return\n"
	      "\tcase $line[1] in\n",
	      out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		put_zsh_verb(out, verb);
	fputs("\tesac\n}\n_emberctl \"$@\"\n", out);
}

static void put_fish_options(FILE *out, const struct em_option *options, const char *verb)
{
	for (const struct em_option *o = options; o->name; o++) {
		fputs("complete -c emberctl", out);
		if (verb)
			fprintf(out, " -n '__fish_seen_subcommand_from %s'", verb);
		fprintf(out, " -l %s -d ", o->name + 2);
		put_quoted(out, o->help);
		if (o->metavar)
			fputs(o->complete == EM_COMPLETE_FILE ? " -r -F" : " -x", out);
		fputc('\n', out);
	}
}

static void put_fish_args(FILE *out, const struct em_verb *verb)
{
	for (const struct em_arg *a = verb->args; a->name; a++) {
		if (a->complete != EM_COMPLETE_DRIVE && a->complete != EM_COMPLETE_FIELD)
			continue;
		fprintf(out,
			"complete -c emberctl -n '__fish_seen_subcommand_from %s' -a "
			"'(emberctl --complete %s 2>/dev/null)'\n",
			verb->name, complete_word(a->complete));
	}
}

void em_complete_fish(FILE *out)
{
	fputs("# Completion of emberctl for fish. Generated from its verb table.\n"
	      "complete -c emberctl -f\n",
	      out);
	put_fish_options(out, em_common_options, NULL);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		fprintf(out, "complete -c emberctl -n __fish_use_subcommand -a %s -d ", verb->name);
		put_quoted(out, verb->summary);
		fputc('\n', out);
		put_fish_options(out, verb->options, verb->name);
		put_fish_args(out, verb);
	}
}

/* Shell words: a name with anything else in it could not be typed and is not offered. */
static bool is_plain(const char *word)
{
	return word && *word &&
	       word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_.")] == '\0';
}

static void put_drive_words(FILE *out, const json_t *drives)
{
	static const char *const keys[] = { "device", "serial" };
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive)
	{
		for (size_t k = 0; k < EM_COUNT(keys); k++) {
			const char *word = json_string_value(json_object_get(drive, keys[k]));

			if (is_plain(word))
				fprintf(out, "%s\n", word);
		}
	}
}

static enum em_exit complete_drives(struct em_client *client)
{
	struct em_http_answer answer;
	json_t *root;

	em_http_free(client->http);
	client->http = NULL;
	client->target.timeout_ms = COMPLETE_TIMEOUT_MS;
	if (em_http_new(&client->http, &client->target) < 0 ||
	    em_http_get(client->http, "/v1/drives", &answer) < 0)
		return EM_EXIT_UNREACHABLE;
	root = json_loadb(answer.body, answer.len, 0, NULL);
	put_drive_words(client->out, json_object_get(root, "drives"));
	json_decref(root);
	free(answer.body);
	return EM_EXIT_OK;
}

static void complete_fields(FILE *out)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++) {
		const struct em_page *page = em_pages[i];

		for (unsigned f = 0; page && page->table && f < page->field_count; f++)
			if (!(page->fields[f].flags & EM_NO_HISTORY))
				fprintf(out, "%s\n", page->fields[f].key);
	}
}

enum em_exit em_complete_words(struct em_client *client, const char *kind)
{
	if (strcmp(kind, complete_word(EM_COMPLETE_DRIVE)) == 0)
		return complete_drives(client);
	if (strcmp(kind, complete_word(EM_COMPLETE_FIELD)) != 0)
		return EM_EXIT_USAGE;
	complete_fields(client->out);
	return EM_EXIT_OK;
}
