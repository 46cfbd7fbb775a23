/* SPDX-License-Identifier: Apache-2.0 */
/* generate - emberctl.1 and the completions out of the verb table, at build. */
#include "config.h"
#include <string.h>
#include "client/client.h"
#include "lib/base/cleanup.h"

/* roff reads a leading dot or quote, a backslash and a plain '-' in its own way. */
static void put_roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text; text++) {
		if (strncmp(text, "\n\n", 2) == 0) {
			fputs("\n.PP\n", out);
			text++;
		} else if (*text == '\\') {
			fputs("\\e", out);
		} else if (*text == '-') {
			fputs("\\-", out);
		} else if (*text == '`') {
			fputs("\\(ga", out);
		} else {
			fputc(*text, out);
		}
	}
}

static void put_font(FILE *out, char font, const char *text)
{
	fprintf(out, "\\f%c", font);
	put_roff(out, text);
	fputs("\\fR", out);
}

static void put_man_usage(FILE *out, const struct em_verb *verb)
{
	put_font(out, 'B', "emberctl");
	fputc(' ', out);
	put_font(out, 'B', verb->name);
	for (const struct em_arg *a = verb->args; a->name; a++) {
		fputs(a->optional ? " [" : " ", out);
		put_font(out, 'I', a->name);
		fputs(a->optional ? "]" : "", out);
	}
	for (const struct em_option *o = verb->options; o->name; o++) {
		fputs(" [", out);
		put_font(out, 'B', o->name);
		if (o->metavar) {
			fputc(' ', out);
			put_font(out, 'I', o->metavar);
		}
		fputc(']', out);
	}
	fputc('\n', out);
}

static void put_man_item(FILE *out, const char *name, char font, const char *metavar,
			 const char *help)
{
	fputs(".TP\n", out);
	put_font(out, font, name);
	if (metavar) {
		fputc(' ', out);
		put_font(out, 'I', metavar);
	}
	fputc('\n', out);
	put_roff(out, help);
	fputc('\n', out);
}

static void put_man_verb(FILE *out, const struct em_verb *verb)
{
	fputs(".SS ", out);
	put_roff(out, verb->name);
	fputs("\n", out);
	put_man_usage(out, verb);
	fputs(".PP\n", out);
	put_roff(out, verb->help);
	fputc('\n', out);
	for (const struct em_arg *a = verb->args; a->name; a++)
		put_man_item(out, a->name, 'I', NULL, a->help);
	for (const struct em_option *o = verb->options; o->name; o++)
		put_man_item(out, o->name, 'B', o->metavar, o->help);
	fputs(".PP\nExample:\n.PP\n.RS\n.nf\n", out);
	put_roff(out, verb->example);
	fputs("\n.fi\n.RE\n", out);
}

static void put_man_head(FILE *out)
{
	fputs(".\\\" SPDX-License-Identifier: Apache-2.0\n"
	      ".\\\" Generated from emberctl's verb table.\n"
	      ".TH EMBERCTL 1 \"\" \"Ember " PACKAGE_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\nemberctl \\- ask Ember about the NVMe drives of a host\n"
	      ".SH SYNOPSIS\n",
	      out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		fputs(verb == em_verbs ? "" : ".br\n", out);
		put_man_usage(out, verb);
	}
	fputs(".SH DESCRIPTION\n", out);
	put_roff(out, "emberctl asks emberd over its REST API and prints the answer: for people as "
		      "tables that fit the terminal, with --json as it came. It reads nothing from "
		      "a drive itself, so a hung drive cannot hang it.\n\nColours appear only on a "
		      "terminal, and not when NO_COLOR is set.");
	fputc('\n', out);
}

static void put_man_tail(FILE *out)
{
	char code[16];

	fputs(".SH EXIT STATUS\n", out);
#define EM_X(id, number, text)                                                                     \
	snprintf(code, sizeof(code), "%d", number);                                                \
	put_man_item(out, code, 'B', NULL, text);
	EM_EXITS(EM_X)
#undef EM_X
	fputs(".SH ENVIRONMENT\n", out);
	for (const struct em_named *v = em_variables; v->name; v++)
		put_man_item(out, v->name, 'B', NULL, v->help);
	fputs(".SH FILES\n", out);
	for (const struct em_named *f = em_files; f->name; f++)
		put_man_item(out, f->name, 'I', NULL, f->help);
	fputs(".SH SEE ALSO\n.BR emberd (8),\n.BR ember\\-broker (8),\n.BR ledctl (8)\n", out);
}

static void put_man(FILE *out)
{
	put_man_head(out);
	fputs(".SH VERBS\n", out);
	for (unsigned i = 0; i < EM_SECTION_COUNT; i++)
		for (const struct em_verb *verb = em_verbs; verb->name; verb++)
			if (verb->section == i)
				put_man_verb(out, verb);
	fputs(".SH OPTIONS\nThese may stand before or after the verb.\n", out);
	for (const struct em_option *o = em_common_options; o->name; o++)
		put_man_item(out, o->name, 'B', o->metavar, o->help);
	put_man_tail(out);
}

static void put_name_options(FILE *out, const char *verb, const struct em_option *options)
{
	for (const struct em_option *o = options; o->name; o++)
		fprintf(out, "%s %s%s%s\n", verb, o->name, o->metavar ? " " : "",
			o->metavar ? o->metavar : "");
}

/* What scripts may rely on, a name in a line: docs/names/cli.txt. */
static void put_names(FILE *out)
{
	put_name_options(out, "emberctl", em_common_options);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		fprintf(out, "verb %s", verb->name);
		for (const struct em_arg *a = verb->args; a->name; a++)
			fprintf(out, a->optional ? " [%s]" : " %s", a->name);
		fputc('\n', out);
		put_name_options(out, verb->name, verb->options);
	}
#define EM_X(id, number, text) fprintf(out, "exit %d %s\n", number, #id);
	EM_EXITS(EM_X)
#undef EM_X
	for (const struct em_named *v = em_variables; v->name; v++)
		fprintf(out, "environment %s\n", v->name);
}

enum em_exit em_generate(struct em_client *client, const char *kind)
{
	static const struct {
		const char *kind;
		void (*put)(FILE *out);
	} kinds[] = {
		{ "man", put_man },	    { "bash", em_complete_bash },
		{ "zsh", em_complete_zsh }, { "fish", em_complete_fish },
		{ "names", put_names },
	};

	for (size_t i = 0; i < EM_COUNT(kinds); i++) {
		if (strcmp(kind, kinds[i].kind) != 0)
			continue;
		kinds[i].put(client->out);
		return EM_EXIT_OK;
	}
	return em_client_complain(client, EM_EXIT_USAGE,
				  "--generate takes man, bash, zsh, fish or names.");
}
