/* SPDX-License-Identifier: Apache-2.0 */
/* cli - the command line: strict, and helpful about a slip. */
#include "config.h"
#include <string.h>
#include "client/client.h"
#include "client/nearest.h"

/* Where an option's value goes; NULL when neither list has it. */
struct slot {
	const struct em_option *option;
	const char **value;
};

static bool in_list(const struct em_option *options, const char **values, const char *name,
		    size_t len, struct slot *ret)
{
	for (unsigned i = 0; options && options[i].name; i++) {
		if (strlen(options[i].name) != len || strncmp(options[i].name, name, len) != 0)
			continue;
		*ret = (struct slot){ &options[i], &values[i] };
		return true;
	}
	return false;
}

static enum em_exit unknown_option(const struct em_client *client, const char *name, size_t len)
{
	const struct em_option *lists[] = { client->verb ? client->verb->options : NULL,
					    em_common_options };
	char word[EM_NEAREST_MAX + 1];
	struct em_nearest nearest;

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	em_nearest_start(&nearest, word);
	for (unsigned i = 0; i < 2; i++)
		for (const struct em_option *o = lists[i]; o && o->name; o++)
			em_nearest_offer(&nearest, o->name);
	if (nearest.best)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "unknown option %.*s. Did you mean %s?", (int)len, name,
					  nearest.best);
	return em_client_complain(client, EM_EXIT_USAGE,
				  "unknown option %.*s. See `emberctl %s%s--help`.", (int)len, name,
				  client->verb ? client->verb->name : "", client->verb ? " " : "");
}

/* *index stands on the option and moves on when the value is the next word. */
static enum em_exit take_option(struct em_client *client, int argc, char **argv, int *index)
{
	const char *word = argv[*index];
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	struct slot slot;
	const char *value = equals ? equals + 1 : NULL;

	if (!in_list(em_common_options, client->common, word, len, &slot) &&
	    !in_list(client->verb ? client->verb->options : NULL, client->options, word, len,
		     &slot))
		return unknown_option(client, word, len);
	if (*slot.value)
		return em_client_complain(client, EM_EXIT_USAGE, "%s is given twice.",
					  slot.option->name);
	if (!slot.option->metavar && value)
		return em_client_complain(client, EM_EXIT_USAGE, "%s takes no value.",
					  slot.option->name);
	if (!slot.option->metavar) {
		*slot.value = "";
		return EM_EXIT_OK;
	}
	/* A value may begin with one '-' (--from -7d), never with two. */
	if (!value && *index + 1 < argc && strncmp(argv[*index + 1], "--", 2) != 0)
		value = argv[++*index];
	if (!value || !*value)
		return em_client_complain(client, EM_EXIT_USAGE, "%s needs a value: %s %s.",
					  slot.option->name, slot.option->name,
					  slot.option->metavar);
	*slot.value = value;
	return EM_EXIT_OK;
}

/* A verb, or after the word of a group what may follow it. */
static enum em_exit unknown_verb(const struct em_client *client, const char *word)
{
	const struct em_verb_group *group = client->group;
	struct em_nearest nearest;

	em_nearest_start(&nearest, word);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (em_verb_word(verb, group))
			em_nearest_offer(&nearest, em_verb_word(verb, group));
	for (const struct em_verb_group *g = em_verb_groups; !group && g->name; g++)
		em_nearest_offer(&nearest, g->name);
	if (nearest.best)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "unknown verb `%s%s%s`. Did you mean `%s%s%s`?",
					  group ? group->name : "", group ? " " : "", word,
					  group ? group->name : "", group ? " " : "", nearest.best);
	return em_client_complain(client, EM_EXIT_USAGE,
				  "unknown verb `%s%s%s`. See `emberctl %s%s--help` for the list.",
				  group ? group->name : "", group ? " " : "", word,
				  group ? group->name : "", group ? " " : "");
}

static enum em_exit take_verb(struct em_client *client, const char *word)
{
	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		const char *name = em_verb_word(verb, client->group);

		if (!name || strcmp(name, word) != 0)
			continue;
		client->verb = verb;
		return EM_EXIT_OK;
	}
	if (!client->group) {
		client->group = em_verb_group_find(word);
		if (client->group)
			return EM_EXIT_OK;
	}
	return unknown_verb(client, word);
}

/* "help" and "help VERB", as everybody tries, are --help. */
static bool take_help(struct em_client *client, const char *word)
{
	if (client->group || client->common[EM_COMMON_HELP] || strcmp(word, "help") != 0)
		return false;
	client->common[EM_COMMON_HELP] = "";
	return true;
}

static enum em_exit take_word(struct em_client *client, const char *word)
{
	if (!client->verb && take_help(client, word))
		return EM_EXIT_OK;
	if (!client->verb)
		return take_verb(client, word);
	if (client->arg_count >= em_verb_arg_count(client->verb))
		return em_client_complain(client, EM_EXIT_USAGE,
					  "`%s` is too much. See `emberctl %s --help`.", word,
					  client->verb->name);
	if (!*word)
		return em_client_complain(client, EM_EXIT_USAGE, "%s is empty.",
					  client->verb->args[client->arg_count].name);
	client->args[client->arg_count++] = word;
	return EM_EXIT_OK;
}

/* The two short options that everybody tries. */
static const char *long_form(const char *word)
{
	if (strcmp(word, "-h") == 0)
		return em_common_options[EM_COMMON_HELP].name;
	return word;
}

/* "token needs one word more: create, list or revoke." */
static enum em_exit half_a_verb(const struct em_client *client)
{
	char words[256] = "";
	size_t used = 0;

	for (const struct em_verb *verb = em_verbs; verb->name; verb++) {
		const char *word = em_verb_word(verb, client->group);

		if (word && used < sizeof(words))
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
						 used > 0 ? ", " : "", word);
	}
	return em_client_complain(client, EM_EXIT_USAGE,
				  "%s needs one word more: %s. See `emberctl %s --help`.",
				  client->group->name, words, client->group->name);
}

static enum em_exit check_complete(const struct em_client *client)
{
	if (client->common[EM_COMMON_HELP] || client->common[EM_COMMON_VERSION])
		return EM_EXIT_OK;
	if (!client->verb)
		return client->group ? half_a_verb(client) : EM_EXIT_OK;
	if (client->arg_count < em_verb_arg_required(client->verb))
		return em_client_complain(
			client, EM_EXIT_USAGE, "%s is missing. See `emberctl %s --help`.",
			client->verb->args[client->arg_count].name, client->verb->name);
	if (client->common[EM_COMMON_JSON] && em_client_option(client, "--csv"))
		return em_client_complain(client, EM_EXIT_USAGE, "give --json or --csv, not both.");
	return EM_EXIT_OK;
}

enum em_exit em_cli_parse(struct em_client *client, int argc, char **argv)
{
	enum em_exit code = EM_EXIT_OK;
	bool only_words = false;

	for (int i = 1; i < argc && code == EM_EXIT_OK; i++) {
		argv[i] = (char *)(only_words ? argv[i] : long_form(argv[i]));
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && argv[i][0] == '-' && argv[i][1])
			code = take_option(client, argc, argv, &i);
		else
			code = take_word(client, argv[i]);
	}
	return code == EM_EXIT_OK ? check_complete(client) : code;
}
