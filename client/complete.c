/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete - completions for bash, zsh and fish out of the verb table. Drives and fields are asked
 * of `emberctl --complete`, so that they are those of this host and this version.
 */
#include "config.h"
#include <string.h>
#include "client/client.h"

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
			fprintf(out, "\t%s) kind=%s ;;\n", o->name, em_complete_name(o->complete));
}

static void put_bash_verb(FILE *out, const struct em_verb *verb)
{
	fprintf(out, "\t'%s')\n\t\toptions=\"$options", verb->name);
	put_option_words(out, verb->options);
	fputs("\"\n\t\tkinds=(", out);
	for (const struct em_arg *a = verb->args; a->name; a++)
		fprintf(out, " %s", em_complete_name(a->complete));
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
	/* bash takes --drive=nvme0 for three words. */
	fputs("_emberctl() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} begun=\n"
	      "\t[[ $cur == = ]] && cur=\n"
	      "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "\tlocal i verb= args=0 kind= words= kinds=() options=\"",
	      out);
	put_option_words(out, em_common_options);
	fputs("\"\n"
	      "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	      "\t\tcase ${COMP_WORDS[i]} in\n\t\t",
	      out);
	put_bash_skip(out);
	fputs(") ((i++)); [[ ${COMP_WORDS[i]} == = ]] && ((i++)) ;;\n"
	      "\t\t-*) ;;\n"
	      "\t\t*) if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}\n",
	      out);
	for (const struct em_verb_group *group = em_verb_groups; group->name; group++)
		fprintf(out, "\t\t\telif [[ $verb == %s ]]; then verb+=\" ${COMP_WORDS[i]}\"\n",
			group->name);
	fputs("\t\t\telse ((args++)); fi ;;\n"
	      "\t\tesac\n"
	      "\tdone\n",
	      out);
}

/* "words='drives show token'": what may stand first, or after the word of a group. */
static void put_bash_words(FILE *out, const struct em_verb_group *group)
{
	fputs("words='", out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group))
			fprintf(out, "%s ", em_verb_word(verb, group));
	for (const struct em_verb_group *g = em_verb_groups; !group && g->name; g++)
		fprintf(out, "%s ", g->name);
	fputs("'; kinds=(word) ;;\n", out);
}

static void put_bash_verbs(FILE *out)
{
	fputs("\tcase $verb in\n\t'') ", out);
	put_bash_words(out, NULL);
	for (const struct em_verb_group *group = em_verb_groups; group->name; group++) {
		fprintf(out, "\t%s) ", group->name);
		put_bash_words(out, group);
	}
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		put_bash_verb(out, verb);
	fputs("\tesac\n", out);
}

void em_complete_bash(FILE *out)
{
	fputs("# Completion of emberctl for bash. Generated from its verb table.\n", out);
	put_bash_scan(out);
	put_bash_verbs(out);
	fputs("\tkind=${kinds[args]:-none}\n\t[[ $cur == -* ]] && kind=option\n"
	      "\tcase $prev in\n",
	      out);
	put_bash_values(out, em_common_options);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		put_bash_values(out, verb->options);
	fputs("\tesac\n\tcase $kind in\n"
	      "\tword) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	      "\toption) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
	      "\tfile) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	      "\tnone) COMPREPLY=() ;;\n"
	      "\t*) [[ $kind == kind && $cur == *,* ]] && begun=${cur%,*},\n"
	      "\t\tCOMPREPLY=($(compgen -P \"$begun\" -W "
	      "\"$(emberctl --complete \"$kind\" 2>/dev/null)\" -- \"${cur#\"$begun\"}\")) ;;\n"
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
	case EM_COMPLETE_TOKEN:
		fprintf(out, "{compadd -- ${(f)\"$(emberctl --complete %s 2>/dev/null)\"}}",
			em_complete_name(complete));
		return;
	case EM_COMPLETE_KIND: /* several, with commas */
		fprintf(out,
			"{_sequence compadd - ${(f)\"$(emberctl --complete %s 2>/dev/null)\"}}",
			em_complete_name(complete));
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

static void put_zsh_verb(FILE *out, const struct em_verb *verb, const char *word)
{
	fprintf(out, "\t%s)\n\t\t_arguments", word);
	put_zsh_options(out, em_common_options);
	put_zsh_options(out, verb->options);
	for (const struct em_arg *a = verb->args; a->name; a++) {
		fprintf(out, " \\\n\t\t'%s%s:", a->optional ? "::" : ":", a->name);
		put_zsh_action(out, a->complete);
		fputc('\'', out);
	}
	fputs(" ;;\n", out);
}

static void put_zsh_word(FILE *out, const char *word, const char *summary)
{
	fprintf(out, "\t\t'%s:", word);
	put_zsh_text(out, summary);
	fputs("'\n", out);
}

/* What may stand here, with its summary, and what comes after each: in a function of its own. */
static void put_zsh_words(FILE *out, const struct em_verb_group *group)
{
	fprintf(out, "_emberctl%s%s() {\n", group ? "_" : "", group ? group->name : "");
	fputs("\tlocal context state state_descr line\n"
	      "\ttypeset -A opt_args\n"
	      "\tlocal -a words_here\n\twords_here=(\n",
	      out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group))
			put_zsh_word(out, em_verb_word(verb, group), verb->summary);
	for (const struct em_verb_group *g = em_verb_groups; !group && g->name; g++)
		put_zsh_word(out, g->name, g->summary);
	fputs("\t)\n\t_arguments -C", out);
	put_zsh_options(out, em_common_options);
	fputs(" \\\n\t\t'1:verb:{_describe verb words_here}' \\\n\t\t'*::argument:->rest'\n"
	      "\t[[ $state == rest ]] || return\n"
	      "\tcase $line[1] in\n",
	      out);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group))
			put_zsh_verb(out, verb, em_verb_word(verb, group));
	for (const struct em_verb_group *g = em_verb_groups; !group && g->name; g++)
		fprintf(out, "\t%s) _emberctl_%s ;;\n", g->name, g->name);
	fputs("\tesac\n}\n", out);
}

void em_complete_zsh(FILE *out)
{
	fputs("#compdef emberctl\n"
	      "# Completion of emberctl for zsh. Generated from its verb table.\n",
	      out);
	for (const struct em_verb_group *group = em_verb_groups; group->name; group++)
		put_zsh_words(out, group);
	put_zsh_words(out, NULL);
	fputs("_emberctl \"$@\"\n", out);
}

/* True where the words of the verb stand on the line. */
static void put_fish_condition(FILE *out, const struct em_verb *verb)
{
	const char *blank = strchr(verb->name, ' ');

	if (blank)
		fprintf(out,
			" -n '__fish_seen_subcommand_from %.*s; and "
			"__fish_seen_subcommand_from %s'",
			(int)(blank - verb->name), verb->name, blank + 1);
	else
		fprintf(out, " -n '__fish_seen_subcommand_from %s'", verb->name);
}

static bool is_asked_for(enum em_complete complete)
{
	return complete != EM_COMPLETE_NONE && complete != EM_COMPLETE_FILE;
}

static void put_fish_words(FILE *out, enum em_complete complete)
{
	if (is_asked_for(complete))
		fprintf(out, " -a '(%semberctl --complete %s 2>/dev/null)%s'",
			complete == EM_COMPLETE_KIND ? "__fish_append , (" : "",
			em_complete_name(complete), complete == EM_COMPLETE_KIND ? ")" : "");
}

static void put_fish_options(FILE *out, const struct em_option *options, const struct em_verb *verb)
{
	for (const struct em_option *o = options; o->name; o++) {
		fputs("complete -c emberctl", out);
		if (verb)
			put_fish_condition(out, verb);
		fprintf(out, " -l %s -d ", o->name + 2);
		put_quoted(out, o->help);
		if (o->metavar) {
			fputs(o->complete == EM_COMPLETE_FILE ? " -r -F" : " -x", out);
			put_fish_words(out, o->complete);
		}
		fputc('\n', out);
	}
}

static void put_fish_args(FILE *out, const struct em_verb *verb)
{
	for (const struct em_arg *a = verb->args; a->name; a++) {
		if (!is_asked_for(a->complete))
			continue;
		fputs("complete -c emberctl", out);
		put_fish_condition(out, verb);
		put_fish_words(out, a->complete);
		fputc('\n', out);
	}
}

static void put_fish_word(FILE *out, const char *condition, const char *word, const char *summary)
{
	fprintf(out, "complete -c emberctl -n %s -a %s -d ", condition, word);
	put_quoted(out, summary);
	fputc('\n', out);
}

/* The second words of a group, until one of them stands there. */
static void put_fish_group(FILE *out, const struct em_verb_group *group)
{
	char condition[256];
	size_t used = (size_t)snprintf(condition, sizeof(condition),
				       "'__fish_seen_subcommand_from %s; and not "
				       "__fish_seen_subcommand_from",
				       group->name);

	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group) && used < sizeof(condition))
			used += (size_t)snprintf(condition + used, sizeof(condition) - used, " %s",
						 em_verb_word(verb, group));
	if (used < sizeof(condition))
		snprintf(condition + used, sizeof(condition) - used, "'");
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group))
			put_fish_word(out, condition, em_verb_word(verb, group), verb->summary);
	put_fish_word(out, "__fish_use_subcommand", group->name, group->summary);
}

void em_complete_fish(FILE *out)
{
	fputs("# Completion of emberctl for fish. Generated from its verb table.\n"
	      "complete -c emberctl -f\n",
	      out);
	put_fish_options(out, em_common_options, NULL);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		if (em_verb_word(verb, NULL))
			put_fish_word(out, "__fish_use_subcommand", verb->name, verb->summary);
		put_fish_options(out, verb->options, verb);
		put_fish_args(out, verb);
	}
	for (const struct em_verb_group *group = em_verb_groups; group->name; group++)
		put_fish_group(out, group);
}
