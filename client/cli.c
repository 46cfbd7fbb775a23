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

static enum em_exit unknown_verb(const struct em_client *client, const char *word)
{
	struct em_nearest nearest;

	em_nearest_start(&nearest, word);
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		em_nearest_offer(&nearest, verb->name);
	if (nearest.best)
		return em_client_complain(client, EM_EXIT_USAGE,
					  "unknown verb `%s`. Did you mean `%s`?", word,
					  nearest.best);
	return em_client_complain(client, EM_EXIT_USAGE,
				  "unknown verb `%s`. See `emberctl --help` for the list.", word);
}

static enum em_exit take_word(struct em_client *client, const char *word)
{
	if (!client->verb) {
		client->verb = em_verb_find(word);
		return client->verb ? EM_EXIT_OK : unknown_verb(client, word);
	}
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

static enum em_exit check_complete(const struct em_client *client)
{
	if (client->common[EM_COMMON_HELP] || client->common[EM_COMMON_VERSION] || !client->verb)
		return EM_EXIT_OK;
	if (client->arg_count < em_verb_arg_count(client->verb))
		return em_client_complain(
			client, EM_EXIT_USAGE, "%s is missing. See `emberctl %s --help`.",
			client->verb->args[client->arg_count].name, client->verb->name);
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
