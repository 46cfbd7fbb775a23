/* SPDX-License-Identifier: Apache-2.0 */
#include "client/verb.h"
#include <stddef.h>
#include <string.h>

#define DRIVE_ARG                                                                                  \
	{                                                                                          \
		"DRIVE", EM_COMPLETE_DRIVE,                                                        \
			"A device name (nvme0), a serial number, an id, or a part that only one "  \
			"serial number or "                                                        \
			"id begins with."                                                          \
	}

static const struct em_arg no_args[] = { { 0 } };
static const struct em_option no_options[] = { { 0 } };

static const struct em_arg drive_args[] = { DRIVE_ARG, { 0 } };

static const struct em_arg history_args[] = {
	DRIVE_ARG,
	{ "FIELD", EM_COMPLETE_FIELD, "A field with a history, such as temperature_celsius." },
	{ 0 },
};

static const struct em_option history_options[] = {
	{ "--from", "TIME", EM_COMPLETE_NONE,
	  "Start here: a UTC time (2026-11-30T21:00:00Z), seconds since 1970, or a span before now "
	  "(-7d). Without it: -24h." },
	{ "--to", "TIME", EM_COMPLETE_NONE, "End here, in the same forms. Without it: now." },
	{ "--step", "SPAN", EM_COMPLETE_NONE,
	  "Show the last value of each span (5min, 1h) and not every reading." },
	{ "--limit", "COUNT", EM_COMPLETE_NONE,
	  "Show at most this many points, 1 to 100000: with --from the first ones, without it the "
	  "newest. Without this option: 10000." },
	{ 0 },
};

const struct em_verb em_verbs[] = {
	{
		.name = "drives",
		.args = no_args,
		.options = no_options,
		.summary = "list all drives with their health at a glance",
		.help = "Prints one line per drive: state, warnings, temperature, wear, and the "
			"age "
			"of these values. A drive that does not answer keeps its last values; its "
			"state and their age say so. In a narrow terminal the less important "
			"columns are shortened or left out; --json always has everything.",
		.example = "emberctl drives",
		.run = em_verb_drives,
	},
	{
		.name = "show",
		.args = drive_args,
		.options = no_options,
		.summary = "show one drive: identity, health, firmware, self-tests, namespaces",
		.help = "Prints what Ember knows of a drive, and when each part was read from it. "
			"A "
			"dash means that the drive gives no such value.\n\nWith --json the API's "
			"documents are printed under the names drive, identify, smart, firmware, "
			"selftest and namespaces.",
		.example = "emberctl show nvme0",
		.run = em_verb_show,
	},
	{
		.name = "history",
		.args = history_args,
		.options = history_options,
		.summary = "print how a field of a drive went over time",
		.help = "Prints a time and a value per line, oldest first. Times are UTC. Values "
			"are "
			"exact and not rounded; a dash means that the drive gave no value then.",
		.example = "emberctl history nvme0 temperature_celsius --from -7d --step 1h",
		.run = em_verb_history,
	},
	{
		.name = "health",
		.args = no_args,
		.options = no_options,
		.summary = "show how Ember itself is doing",
		.help = "Prints whether emberd reaches the broker and can write its history, and "
			"how "
			"many drives are in which state. The exit status is 0 whenever emberd "
			"answers; read status from --json to act on it.",
		.example = "emberctl health",
		.run = em_verb_health,
	},
	{
		.name = "version",
		.args = no_args,
		.options = no_options,
		.summary = "print the versions of emberctl and of the running emberd",
		.help = "Prints both versions, so that a daemon that was not restarted after an "
			"upgrade is seen.",
		.example = "emberctl version",
		.run = em_verb_version,
	},
	{ 0 },
};

const struct em_option em_common_options[EM_COMMON_COUNT + 1] = {
	[EM_COMMON_JSON] = { "--json", NULL, EM_COMPLETE_NONE,
			     "Print the API's answer as it is, for scripts." },
	[EM_COMMON_SOCKET] = { "--socket", "PATH", EM_COMPLETE_FILE,
			       "The socket on which emberd listens. Without it: $EMBER_SOCKET, "
			       "else "
			       "/run/ember/emberd.sock." },
	[EM_COMMON_URL] = { "--url", "URL", EM_COMPLETE_NONE,
			    "Ask over TCP, for example http://127.0.0.1:9980. Without it: "
			    "$EMBER_URL, "
			    "unless a socket is named." },
	[EM_COMMON_TIMEOUT] = { "--timeout", "SPAN", EM_COMPLETE_NONE,
				"Wait this long for an answer, 10ms to 1h. Without it: 15s." },
	[EM_COMMON_HELP] = { "--help", NULL, EM_COMPLETE_NONE,
			     "Print help; after a verb, that verb's help." },
	[EM_COMMON_VERSION] = { "--version", NULL, EM_COMPLETE_NONE,
				"Print the version of emberctl." },
};

const struct em_verb *em_verb_find(const char *name)
{
	for (const struct em_verb *verb = em_verbs; verb->name; verb++)
		if (strcmp(verb->name, name) == 0)
			return verb;
	return NULL;
}

unsigned em_verb_arg_count(const struct em_verb *verb)
{
	unsigned count = 0;

	while (verb->args[count].name)
		count++;
	return count;
}
