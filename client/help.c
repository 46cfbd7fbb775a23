/* SPDX-License-Identifier: Apache-2.0 */
/* help - what emberctl says about itself, all of it read from the verb table. */
#include "config.h"
#include <string.h>
#include "client/client.h"

#define WIDTH 80u

/* Words of text from column indent on; the cursor stands at column at. "\n\n" parts paragraphs. */
static void put_text(FILE *out, const char *text, unsigned at, unsigned indent)
{
	while (*text) {
		size_t len = strcspn(text, " \n");

		if (at > indent && at + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		} else if (at < indent) {
			fprintf(out, "%*s", (int)(indent - at), "");
			at = indent;
		}
		fprintf(out, "%.*s", (int)len, text);
		at += (unsigned)len;
		text += len;
		if (strncmp(text, "\n\n", 2) == 0) {
			fprintf(out, "\n\n%*s", (int)indent, "");
			at = indent;
		}
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

static void put_item(FILE *out, const char *name, const char *metavar, const char *help)
{
	int used = fprintf(out, "  %s%s%s", name, metavar ? " " : "", metavar ? metavar : "");

	if (used > 18) {
		fputc('\n', out);
		used = 0;
	}
	put_text(out, help, (unsigned)used, 20);
}

static void put_options(FILE *out, const char *title, const struct em_option *options)
{
	if (!options[0].name)
		return;
	fprintf(out, "\n%s:\n", title);
	for (const struct em_option *o = options; o->name; o++)
		put_item(out, o->name, o->metavar, o->help);
}

/* "[--from TIME]" in one piece; on the next line when this one is full. */
static void put_usage_word(FILE *out, unsigned *at, const char *name, const char *metavar,
			   bool optional)
{
	char word[128];
	unsigned len =
		(unsigned)snprintf(word, sizeof(word), "%s%s%s%s%s", optional ? "[" : "", name,
				   metavar ? " " : "", metavar ? metavar : "", optional ? "]" : "");

	if (*at + 1 + len > WIDTH)
		*at = (unsigned)fprintf(out, "\n%*s", 15, "") - 1;
	*at += (unsigned)fprintf(out, " %s", word);
}

static void put_usage(FILE *out, const struct em_verb *verb)
{
	unsigned at = (unsigned)fprintf(out, "Usage: emberctl");

	put_usage_word(out, &at, verb->name, NULL, false);
	for (const struct em_arg *a = verb->args; a->name; a++)
		put_usage_word(out, &at, a->name, NULL, a->optional);
	for (const struct em_option *o = verb->options; o->name; o++)
		put_usage_word(out, &at, o->name, o->metavar, true);
	fputc('\n', out);
}

/* One line of a list: the verb, its arguments, what it is for. */
static void put_verb(FILE *out, const struct em_verb *verb)
{
	int used = fprintf(out, "  %s", verb->name);

	for (const struct em_arg *a = verb->args; a->name; a++)
		used += fprintf(out, a->optional ? " [%s]" : " %s", a->name);
	put_text(out, verb->summary, (unsigned)used, 26);
}

static void put_verbs(FILE *out)
{
	for (unsigned i = 0; i < EM_SECTION_COUNT; i++) {
		fprintf(out, "\n%s:\n", em_section_title((enum em_section)i));
		for (const struct em_verb *verb = em_verbs; verb->name; verb++)
			if (verb->section == i)
				put_verb(out, verb);
	}
}

static void put_examples(FILE *out)
{
	fputs("\nExamples:\n", out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		fprintf(out, "  %s\n", verb->example);
}

void em_help_short(FILE *out)
{
	fputs("Usage: emberctl [OPTION]... VERB [ARGUMENT]...\n"
	      "Shows what Ember knows of a host's NVMe drives.\n",
	      out);
	put_verbs(out);
	fputs("\n`emberctl --help` tells more, `emberctl VERB --help` tells all about a verb.\n",
	      out);
}

static void put_exits(FILE *out)
{
	fputs("\nExit status:\n", out);
#define EM_X(id, code, text) fprintf(out, "  %d  %s\n", code, text);
	EM_EXITS(EM_X)
#undef EM_X
}

static void put_variables(FILE *out)
{
	fputs("\nEnvironment:\n", out);
	for (const struct em_named *v = em_variables; v->name; v++)
		put_item(out, v->name, NULL, v->help);
}

void em_help_all(FILE *out)
{
	fputs("Usage: emberctl [OPTION]... VERB [ARGUMENT]...\n"
	      "Shows what Ember knows of a host's NVMe drives.\n",
	      out);
	put_verbs(out);
	put_options(out, "Options", em_common_options);
	put_examples(out);
	put_variables(out);
	put_exits(out);
	fputs("\nThe manual: man emberctl\n", out);
}

void em_help_group(FILE *out, const struct em_verb_group *group)
{
	fprintf(out, "Usage: emberctl %s WORD [ARGUMENT]...\n\n", group->name);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group))
			put_verb(out, verb);
	fprintf(out, "\n`emberctl %s WORD --help` tells all about one.\n", group->name);
}

void em_help_verb(FILE *out, const struct em_verb *verb)
{
	put_usage(out, verb);
	fputc('\n', out);
	put_text(out, verb->help, 0, 0);
	if (verb->args[0].name)
		fputs("\nArguments:\n", out);
	for (const struct em_arg *a = verb->args; a->name; a++)
		put_item(out, a->name, NULL, a->help);
	put_options(out, "Options", verb->options);
	put_options(out, "Options of every verb", em_common_options);
	fprintf(out, "\nExample:\n  %s\n", verb->example);
	put_exits(out);
}
