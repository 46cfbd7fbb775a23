/* SPDX-License-Identifier: Apache-2.0 */
/* common - the tables that are not of one verb, and how all of them are searched. */
#include <string.h>
#include "client/http.h"
#include "client/verb.h"

const struct em_verb_group em_verb_groups[] = {
	{ "raw", "read any page of a drive now, as values or bytes" },
	{ "token", "make, list and revoke tokens for the network" },
	{ 0 },
};

const struct em_option em_common_options[EM_COMMON_COUNT + 1] = {
	[EM_COMMON_JSON] = { "--json", NULL, EM_COMPLETE_NONE,
			     "Print the API's answer as it is, for scripts." },
	[EM_COMMON_SOCKET] = { "--socket", "PATH", EM_COMPLETE_FILE,
			       "The socket on which emberd listens. Without it: $EMBER_SOCKET, "
			       "else " EM_HTTP_SOCKET "." },
	[EM_COMMON_URL] = { "--url", "URL", EM_COMPLETE_NONE,
			    "Ask over TCP, for example https://host:9443. Without it: $EMBER_URL, "
			    "unless a socket is named." },
	[EM_COMMON_CACERT] = { "--cacert", "FILE", EM_COMPLETE_FILE,
			       "Trust this certificate (PEM), or what it has signed, for https. "
			       "Without it: $EMBER_CACERT, else what the system trusts." },
	[EM_COMMON_TOKEN_FILE] = { "--token-file", "FILE", EM_COMPLETE_FILE,
				   "Show the token in this file to an https address. Without it: "
				   "$EMBER_TOKEN." },
	[EM_COMMON_TIMEOUT] = { "--timeout", "SPAN", EM_COMPLETE_NONE,
				"Wait this long for an answer, 10ms to 1h. Without it: 15s." },
	[EM_COMMON_HELP] = { "--help", NULL, EM_COMPLETE_NONE,
			     "Print help; after a verb, that verb's help." },
	[EM_COMMON_VERSION] = { "--version", NULL, EM_COMPLETE_NONE,
				"Print the version of emberctl." },
};

const struct em_named em_variables[] = {
	{ "EMBER_SOCKET", "The socket to use when no option names an address." },
	{ "EMBER_URL", "The address to use when neither an option nor EMBER_SOCKET names one." },
	{ "EMBER_CACERT", "The certificate to trust for https when --cacert names none." },
	{ "EMBER_TOKEN",
	  "The token to show to an https address when --token-file names none. It is never sent "
	  "over plain http or the socket." },
	{ "COLUMNS", "The width of tables, when set." },
	{ "NO_COLOR", "When set to anything, no colours." },
	{ "TERM", "When it is dumb or not set, no colours and no redrawing." },
	{ "LC_ALL, LC_CTYPE, LANG",
	  "Signs beyond ASCII are printed only where these name a UTF-8 locale." },
	{ 0 },
};

const struct em_named em_files[] = {
	{ EM_HTTP_SOCKET, "The socket on which emberd listens. Every local user may look; root, "
			  "and members of the group ember-admin, may also give orders." },
	{ "/sys/bus/pci/slots", "Where `emberctl locate` finds the name of a bay." },
	{ 0 },
};

const struct em_verb *em_verb_find(const char *name)
{
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

const struct em_verb_group *em_verb_group_find(const char *name)
{
	for (const struct em_verb_group *group = em_verb_groups; group->name; group++)
		if (strcmp(group->name, name) == 0)
			return group;
	return NULL;
}

const char *em_verb_word(const struct em_verb *verb, const struct em_verb_group *group)
{
	const char *blank = strchr(verb->name, ' ');
	size_t len;

	if (!group)
		return blank ? NULL : verb->name;
	len = strlen(group->name);
	if (!blank || (size_t)(blank - verb->name) != len ||
	    strncmp(verb->name, group->name, len) != 0)
		return NULL;
	return blank + 1;
}

unsigned em_verb_arg_count(const struct em_verb *verb)
{
	unsigned count = 0;

	while (verb->args[count].name)
		count++;
	return count;
}

unsigned em_verb_arg_required(const struct em_verb *verb)
{
	unsigned count = 0;

	while (verb->args[count].name && !verb->args[count].optional)
		count++;
	return count;
}

const char *em_section_title(enum em_section section)
{
#define EM_X(id, title) [EM_SECTION_##id] = (title),
	static const char *const titles[] = { EM_SECTIONS(EM_X) };
#undef EM_X
	return titles[section];
}

const char *em_complete_name(enum em_complete complete)
{
#define EM_X(id, word) [EM_COMPLETE_##id] = (word),
	static const char *const words[] = { EM_COMPLETIONS(EM_X) };
#undef EM_X
	return words[complete];
}
