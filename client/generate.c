/* SPDX-License-Identifier: Apache-2.0 */
/* generate - emberctl.1 and the completions out of the verb table, at build. */
#include "config.h"
#include <string.h>
#include "client/client.h"

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
		fputc(' ', out);
		put_font(out, 'I', a->name);
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
	      ".SH NAME\nemberctl \\- ask Ember about the NVMe drives of this host\n"
	      ".SH SYNOPSIS\n",
	      out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		put_man_usage(out, verb);
		fputs(".br\n", out);
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
	put_man_item(out, "EMBER_SOCKET", 'B', NULL, "The socket to use when no option names one.");
	put_man_item(out, "EMBER_URL", 'B', NULL,
		     "The address to use when neither an option nor EMBER_SOCKET names one.");
	put_man_item(out, "COLUMNS", 'B', NULL, "The width of tables, when set.");
	put_man_item(out, "NO_COLOR", 'B', NULL, "When set to anything, no colours.");
	fputs(".SH FILES\n", out);
	put_man_item(out, EM_HTTP_SOCKET, 'I', NULL, "The socket on which emberd listens.");
	fputs(".SH SEE ALSO\n.BR emberd (8),\n.BR ember\\-broker (8)\n", out);
}

static void put_man(FILE *out)
{
	put_man_head(out);
	fputs(".SH VERBS\n", out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		put_man_verb(out, verb);
	fputs(".SH OPTIONS\nThese may stand before or after the verb.\n", out);
	for (const struct em_option *o = em_common_options; o->name; o++)
		put_man_item(out, o->name, 'B', o->metavar, o->help);
	put_man_tail(out);
}

enum em_exit em_generate(struct em_client *client, const char *kind)
{
	if (strcmp(kind, "man") == 0)
		put_man(client->out);
	else if (strcmp(kind, "bash") == 0)
		em_complete_bash(client->out);
	else if (strcmp(kind, "zsh") == 0)
		em_complete_zsh(client->out);
	else if (strcmp(kind, "fish") == 0)
		em_complete_fish(client->out);
	else
		return em_client_complain(client, EM_EXIT_USAGE,
					  "--generate takes man, bash, zsh or fish.");
	return EM_EXIT_OK;
}
