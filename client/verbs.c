/* SPDX-License-Identifier: Apache-2.0 */
/* verbs - the table. What is common to all verbs stands in common.c. */
#include "client/verb.h"

#define DRIVE_HELP                                                                                 \
	"A device name (nvme0), a serial number, an id, or a part that only one serial number "    \
	"or id begins with."
#define DRIVE_ARG                                                                                  \
	{                                                                                          \
		"DRIVE", EM_COMPLETE_DRIVE, DRIVE_HELP, false                                      \
	}
#define CSV_OPTION                                                                                 \
	{                                                                                          \
		"--csv", NULL, EM_COMPLETE_NONE,                                                   \
			"Print comma-separated values (RFC 4180) under the API's names, not "      \
			"rounded."                                                                 \
	}
#define DRIVE_OPTION                                                                               \
	{                                                                                          \
		"--drive", "DRIVE", EM_COMPLETE_DRIVE,                                             \
			"Only those of this drive, named as in `show`."                            \
	}
#define SINCE_OPTION                                                                               \
	{                                                                                          \
		"--since", "TIME", EM_COMPLETE_NONE,                                               \
			"Begin here: a UTC time (2026-11-30T21:00:00Z), seconds since 1970, or a " \
			"span before now (-7d)."                                                   \
	}
#define LIMIT_OPTION                                                                               \
	{                                                                                          \
		"--limit", "COUNT", EM_COMPLETE_NONE,                                              \
			"Show at most this many: with --since the first ones, without it the "     \
			"newest. Without this option: all since then, or 100."                     \
	}

static const struct em_arg no_args[] = { { 0 } };
static const struct em_option no_options[] = { { 0 } };
static const struct em_option csv_options[] = { CSV_OPTION, { 0 } };

static const struct em_arg drive_args[] = { DRIVE_ARG, { 0 } };

static const struct em_arg health_args[] = {
	{ "DRIVE", EM_COMPLETE_DRIVE,
	  "A drive, named as in `show`. Without it: Ember itself, and all drives.", true },
	{ 0 },
};

static const struct em_arg history_args[] = {
	DRIVE_ARG,
	{ "FIELD", EM_COMPLETE_FIELD,
	  "A field with a history, such as temperature_celsius. Without it: the most telling ones "
	  "at a glance.",
	  true },
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
	CSV_OPTION,
	{ 0 },
};

static const struct em_option events_options[] = {
	{ "--follow", NULL, EM_COMPLETE_NONE,
	  "Go on with what happens from now on, until interrupted. A lost connection is taken up "
	  "again where it broke off." },
	SINCE_OPTION,
	DRIVE_OPTION,
	{ "--kind", "KIND", EM_COMPLETE_KIND,
	  "Only events of this kind; several with commas between them." },
	LIMIT_OPTION,
	CSV_OPTION,
	{ 0 },
};

static const struct em_option changes_options[] = {
	SINCE_OPTION, DRIVE_OPTION, LIMIT_OPTION, CSV_OPTION, { 0 },
};

static const struct em_option watch_options[] = {
	{ "--interval", "SPAN", EM_COMPLETE_NONE,
	  "Ask this often, 100ms to 1h. Without it: 2s. The drives are not asked by this: they are "
	  "read in their own time." },
	{ 0 },
};

static const struct em_option refresh_options[] = {
	{ "--refused", NULL, EM_COMPLETE_NONE,
	  "Also ask for what drives of this model and firmware refused before. A drive may write "
	  "such a question into its error log." },
	{ "--wait", "SPAN", EM_COMPLETE_NONE,
	  "Wait at most this long for the drive, 100ms to 1h. Without it: 60s." },
	{ 0 },
};

static const struct em_option selftest_options[] = {
	{ "--short", NULL, EM_COMPLETE_NONE, "Begin the short test, of two minutes at most." },
	{ "--extended", NULL, EM_COMPLETE_NONE,
	  "Begin the extended test. `emberctl raw identify` tells how many minutes the drive "
	  "thinks it takes." },
	{ "--abort", NULL, EM_COMPLETE_NONE, "End the test that runs." },
	{ "--wait", NULL, EM_COMPLETE_NONE,
	  "Wait until the test has ended. The exit status is 0 when it passed." },
	{ 0 },
};

#define NSID_OPTION                                                                                \
	{                                                                                          \
		"--nsid", "NSID", EM_COMPLETE_NONE,                                                \
			"The namespace. Without it: all for a log page, else none."                \
	}
#define RAW_OPTIONS                                                                                \
	{ "--length", "BYTES", EM_COMPLETE_NONE,                                                   \
	  "Read this many bytes, 65536 at most. Without it: what the page has." },                 \
		{ "--hex", NULL, EM_COMPLETE_NONE,                                                 \
		  "Print the bytes also where Ember knows the values." },                          \
		{ "--out", "FILE", EM_COMPLETE_FILE, "Write the bytes into this new file." },      \
	{                                                                                          \
		"--consume", NULL, EM_COMPLETE_NONE,                                               \
			"Read also what reading consumes or begins, and what the drive may not "   \
			"have: it then "                                                           \
			"counts an error that is ours. At most 4096 bytes."                        \
	}

static const struct em_arg raw_identify_args[] = {
	DRIVE_ARG,
	{ "CNS", EM_COMPLETE_NONE, "Which structure, as a number. Without it: 1, the controller.",
	  true },
	{ 0 },
};

static const struct em_arg raw_log_args[] = {
	DRIVE_ARG,
	{ "PAGE", EM_COMPLETE_NONE, "Identifier of the log page: 2 or 0xca.", false },
	{ 0 },
};

static const struct em_arg raw_feature_args[] = {
	DRIVE_ARG,
	{ "FEATURE", EM_COMPLETE_NONE, "Identifier of the feature: 2 or 0x0b.", false },
	{ 0 },
};

static const struct em_option raw_identify_options[] = {
	NSID_OPTION,
	{ "--lsi", "ID", EM_COMPLETE_NONE, "The controller or NVM set, for what asks for one." },
	RAW_OPTIONS,
	{ 0 },
};

static const struct em_option raw_log_options[] = {
	NSID_OPTION,
	{ "--lsp", "NUMBER", EM_COMPLETE_NONE, "Log specific parameter, 0 to 127." },
	{ "--lsi", "ID", EM_COMPLETE_NONE, "Log specific identifier: an endurance group, say." },
	{ "--offset", "BYTES", EM_COMPLETE_NONE, "Begin here." },
	RAW_OPTIONS,
	{ 0 },
};

static const struct em_option raw_feature_options[] = {
	NSID_OPTION,
	{ "--lsp", "NUMBER", EM_COMPLETE_NONE,
	  "Which of its values: 0 the current, 1 the default, 2 the saved one, 3 capabilities." },
	RAW_OPTIONS,
	{ 0 },
};

#define RAW_HELP                                                                                   \
	"\n\nOnly what reading leaves as it is can be read so, and asynchronous events stay "      \
	"for whoever waits for them; --consume reads the rest. Needs the right to give orders: "   \
	"root, or the group ember-admin."

static const struct em_arg telemetry_args[] = {
	DRIVE_ARG,
	{ "FILE", EM_COMPLETE_FILE, "Where to write it; a file that exists is not overwritten.",
	  false },
	{ 0 },
};

static const struct em_option telemetry_options[] = {
	{ "--controller", NULL, EM_COMPLETE_NONE,
	  "What the drive captured by itself (log 08h), and not what it captures now (log 07h)." },
	{ "--area", "NUMBER", EM_COMPLETE_NONE,
	  "How much of it: 1 the least, 2 more, 3 all. Without it: 3." },
	{ 0 },
};

static const struct em_option retire_options[] = {
	{ "--undo", NULL, EM_COMPLETE_NONE, "Take it back: the drive is missing again." },
	{ "--yes", NULL, EM_COMPLETE_NONE, "Do not ask." },
	{ 0 },
};

static const struct em_option locate_options[] = {
	{ "--off", NULL, EM_COMPLETE_NONE, "Switch the light off again." },
	{ 0 },
};

static const struct em_option doctor_options[] = {
	{ "--config", "FILE", EM_COMPLETE_FILE,
	  "The configuration file of emberd. Without it: the one that emberd reads by itself." },
	CSV_OPTION,
	{ 0 },
};

static const struct em_arg diagnose_args[] = {
	{ "DRIVE", EM_COMPLETE_DRIVE, "Only this drive, named as in `show`. Without it: all.",
	  true },
	{ 0 },
};

static const struct em_option diagnose_options[] = {
	{ "--out", "FILE", EM_COMPLETE_FILE,
	  "Write this new file. Without it: ember-DATE-TIME.tar, here." },
	{ "--mask", NULL, EM_COMPLETE_NONE,
	  "Replace serial numbers, NQNs, EUI64, NGUID and the like by words that stand for them." },
	{ "--config", "FILE", EM_COMPLETE_FILE,
	  "The configuration file of emberd. Without it: the one that emberd reads by itself." },
	{ 0 },
};

static const struct em_arg token_create_args[] = {
	{ "NAME", EM_COMPLETE_NONE, "What the token is for, such as prometheus.", false },
	{ 0 },
};

static const struct em_option token_create_options[] = {
	{ "--expires", "SPAN", EM_COMPLETE_NONE,
	  "End its validity after this time (90d). Without it: valid until revoked." },
	{ 0 },
};

static const struct em_arg token_args[] = {
	{ "TOKEN", EM_COMPLETE_TOKEN, "The id of a token, as `emberctl token list` shows it.",
	  false },
	{ 0 },
};

const struct em_verb em_verbs[] = {
	{
		.name = "drives",
		.section = EM_SECTION_LOOK,
		.args = no_args,
		.options = csv_options,
		.summary = "list all drives with their health at a glance",
		.help = "Prints one line per drive: state, warnings, temperature, wear, and the "
			"age of these values. A drive that does not answer keeps its last values; "
			"its state and their age say so. In a narrow terminal the less important "
			"columns are shortened or left out; --json and --csv always have "
			"everything.\n\nA removed drive is gone and is missed; a retired one is "
			"gone on purpose.",
		.example = "emberctl drives",
		.run = em_verb_drives,
	},
	{
		.name = "show",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = no_options,
		.summary = "show one drive: identity, health, firmware, namespaces",
		.help = "Prints what Ember knows of a drive, and when each part was read from it. "
			"A dash means that the drive gives no such value.\n\nWith --json the "
			"API's documents are printed under the names drive, identify, smart, "
			"firmware, selftest and namespaces.",
		.example = "emberctl show nvme0",
		.run = em_verb_show,
	},
	{
		.name = "errors",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = csv_options,
		.summary = "show the error log of a drive, newest first",
		.help = "Prints the entries of the drive's own error log (log page 01h). The log "
			"holds commands that failed, most often ones that the drive does not know "
			"and that did no harm; media errors are counted in `emberctl show`. A "
			"drive keeps no times in it: when an entry came, `emberctl events` tells.",
		.example = "emberctl errors nvme0",
		.run = em_verb_errors,
	},
	{
		.name = "effects",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = csv_options,
		.summary = "show which commands a drive has and what they change",
		.help = "Prints the commands that the drive supports (log page 05h), and what "
			"each may change: data, namespaces, the controller. None of them is sent "
			"by this.",
		.example = "emberctl effects nvme0",
		.run = em_verb_effects,
	},
	{
		.name = "sanitize",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = no_options,
		.summary = "show whether a drive was, or is being, sanitized",
		.help = "Prints the state of the most recent sanitize operation and the drive's "
			"estimates (log page 81h). It only reads: no sanitize operation is begun.",
		.example = "emberctl sanitize nvme0",
		.run = em_verb_sanitize,
	},
	{
		.name = "capacitor",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = no_options,
		.summary = "show the health of a drive's power-loss protection",
		.help = "Prints one value out of all that a drive tells of the capacitor that "
			"writes its cache to the flash when the power goes: SMART's warning, and "
			"what Memblaze drives tell in log page CAh. A drive that tells nothing is "
			"unknown, not ok.",
		.example = "emberctl capacitor nvme0",
		.run = em_verb_capacitor,
	},
	{
		.name = "security",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = no_options,
		.summary = "show whether a drive is locked, and how it encrypts and erases",
		.help = "Prints what a drive tells anybody of its locking and encryption (TCG "
			"level-0 discovery), whether its keys can be changed by Format or "
			"Sanitize, "
			"and for each namespace whether it can be erased by itself that way. "
			"Nothing is unlocked, and no password is asked for.",
		.example = "emberctl security nvme0",
		.run = em_verb_security,
	},
	{
		.name = "memblaze",
		.section = EM_SECTION_LOOK,
		.args = drive_args,
		.options = no_options,
		.summary = "show what Memblaze drives tell beyond SMART",
		.help = "Prints log page CAh of a Memblaze drive: its capacitor, the wear of its "
			"flash, failures and corrections, heat and power. Which of these there "
			"are depends on the drive; docs/fields.md tells which of them the vendor "
			"does not explain.",
		.example = "emberctl memblaze nvme0",
		.run = em_verb_memblaze,
	},
	{
		.name = "watch",
		.section = EM_SECTION_TIME,
		.args = no_args,
		.options = watch_options,
		.summary = "show all drives and the latest events, live",
		.help = "Redraws the table of `emberctl drives` until interrupted, with the "
			"latest events below it as far as there is room. What changed since the "
			"last time stands out.\n\nWhen the output is no terminal, a block is "
			"printed for each change; with --json a document in one line.",
		.example = "emberctl watch --interval 5s",
		.run = em_verb_watch,
	},
	{
		.name = "events",
		.section = EM_SECTION_TIME,
		.args = no_args,
		.options = events_options,
		.summary = "list what happened to the drives, or follow it",
		.help = "Prints a line per event, oldest first: drives that came and went, "
			"states, warnings, firmware, namespaces, grown error logs. Times are "
			"UTC.\n\nWith --json --follow each event is a JSON document in a line of "
			"its own.",
		.example = "emberctl events --follow --kind critical-warning,drive-removed",
		.run = em_verb_events,
	},
	{
		.name = "changes",
		.section = EM_SECTION_TIME,
		.args = no_args,
		.options = changes_options,
		.summary = "list changes: drives, names, firmware, namespaces",
		.help = "Prints the events that tell of another hardware or configuration than "
			"before, whoever made the change, with the old and the new value.",
		.example = "emberctl changes --since -30d",
		.run = em_verb_changes,
	},
	{
		.name = "history",
		.section = EM_SECTION_TIME,
		.args = history_args,
		.options = history_options,
		.summary = "print how a field of a drive went over time",
		.help = "Prints a time and a value per line, oldest first. Times are UTC. Values "
			"are exact and not rounded; a dash means that the drive gave no value "
			"then. On a terminal a line of bars, the lowest, the highest and the "
			"last value stand below. Without FIELD that summary is printed for "
			"several fields.",
		.example = "emberctl history nvme0 temperature_celsius --from -7d --step 1h",
		.run = em_verb_history,
	},
	{
		.name = "refresh",
		.section = EM_SECTION_ACT,
		.args = drive_args,
		.options = refresh_options,
		.summary = "read everything from a drive now",
		.help = "Asks emberd to read all pages of the drive at once, waits, and prints "
			"what was read, refused or not answered. The exit status is 0 when the "
			"drive answered to every page, be it by a refusal. Needs the right to "
			"give orders: root, or the group ember-admin.",
		.example = "emberctl refresh nvme0",
		.run = em_verb_refresh,
	},
	{
		.name = "selftest",
		.section = EM_SECTION_ACT,
		.args = drive_args,
		.options = selftest_options,
		.summary = "show, begin or end a drive's test of itself",
		.help = "Prints the test that runs and the results of earlier ones (log page 06h). "
			"A test goes on by itself in the drive, beside its work, and every result "
			"is an event. To begin or end one needs the right to give orders: root, "
			"or the group ember-admin.",
		.example = "emberctl selftest nvme0 --short --wait",
		.run = em_verb_selftest,
	},
	{
		.name = "retire",
		.section = EM_SECTION_ACT,
		.args = drive_args,
		.options = retire_options,
		.summary = "say that a removed drive went on purpose",
		.help = "A removed drive is missed until it comes back. Retiring says that it "
			"went on purpose: its history stays, and it is no longer missed. A drive "
			"that comes back is in service again by itself. Name it by its serial "
			"number: its device name went with it. Needs the right to give orders: "
			"root, or the group ember-admin.",
		.example = "emberctl retire SH203300026",
		.run = em_verb_retire,
	},
	{
		.name = "locate",
		.section = EM_SECTION_ACT,
		.args = drive_args,
		.options = locate_options,
		.summary = "switch on a drive's locate light, and name its bay",
		.help = "Runs ledctl (package ledmon) on this host, as root, for the drive's "
			"block device. The bay is named when the firmware of the machine tells "
			"it, also without ledctl.",
		.example = "emberctl locate nvme3",
		.run = em_verb_locate,
	},
	{
		.name = "raw identify",
		.section = EM_SECTION_ACT,
		.args = raw_identify_args,
		.options = raw_identify_options,
		.summary = "read an Identify structure now",
		.help = "Reads one Identify structure from the drive and prints its values, or "
			"its bytes where Ember has no table for it." RAW_HELP,
		.example = "emberctl raw identify nvme0 0x13 --hex",
		.run = em_verb_raw_identify,
	},
	{
		.name = "raw log",
		.section = EM_SECTION_ACT,
		.args = raw_log_args,
		.options = raw_log_options,
		.summary = "read a log page now",
		.help = "Reads one log page from the drive and prints its values, or its bytes "
			"where Ember has no table for it." RAW_HELP,
		.example = "emberctl raw log nvme0 0xca",
		.run = em_verb_raw_log,
	},
	{
		.name = "raw feature",
		.section = EM_SECTION_ACT,
		.args = raw_feature_args,
		.options = raw_feature_options,
		.summary = "read a feature's setting now",
		.help = "Reads one feature from the drive and prints its value and the bytes that "
			"come with it." RAW_HELP,
		.example = "emberctl raw feature nvme0 0x02",
		.run = em_verb_raw_feature,
	},
	{
		.name = "telemetry",
		.section = EM_SECTION_ACT,
		.args = telemetry_args,
		.options = telemetry_options,
		.summary = "write what a drive recorded of itself into a file",
		.help = "Has the drive capture its inner state and writes it into FILE, as its "
			"maker's support wants it. Only the maker can read it; it may hold names "
			"and parts of what the drive worked on.\n\nFILE is there when it is whole "
			"and of one capture: when the drive captures anew meanwhile, it is read "
			"again, three times in all. Needs the right to give orders: root, or the "
			"group ember-admin; what captures is of the policy's class arm.",
		.example = "emberctl telemetry nvme0 nvme0.telemetry",
		.run = em_verb_telemetry,
	},
	{
		.name = "health",
		.section = EM_SECTION_EMBER,
		.args = health_args,
		.options = no_options,
		.summary = "show how the drives and Ember itself are doing, for monitoring",
		.help = "Prints whether emberd reaches the broker and can write its history, and "
			"then a line per drive: the verdict on it, and the worst reason. With "
			"DRIVE: all reasons, with value, limit and what to do next.\n\nThe exit "
			"status is a monitoring check's: 0 when all drives (but retired ones) are "
			"ok, 6 when one is degraded, 8 when what one is now is not known, 7 when "
			"one is failing; the worst counts, in this order. With --json and without "
			"DRIVE the document is that of Ember itself; `emberctl drives --json` has "
			"health and health_reason of each drive.",
		.example = "emberctl health nvme0",
		.run = em_verb_health,
	},
	{
		.name = "doctor",
		.section = EM_SECTION_EMBER,
		.args = no_args,
		.options = doctor_options,
		.summary = "check that Ember works here, and say what to do if not",
		.help = "Looks at permissions, kernel, versions, units, configuration, policy, "
			"listeners, certificate, tokens, drives, pages, history, disk, clock, and "
			"other programs that use the drives. Each line is ok, warn or fail, with "
			"what to do. Nothing is changed, and no drive is asked. With --json: "
			"result, "
			"the worst of them, and findings, each with check, result, summary and "
			"advice.\n\nThe exit status "
			"is 0 when "
			"nothing failed. With an address of another host only what emberd itself "
			"tells is looked at. As root it sees a little more.",
		.example = "emberctl doctor",
		.run = em_verb_doctor,
	},
	{
		.name = "diagnose",
		.section = EM_SECTION_EMBER,
		.args = diagnose_args,
		.options = diagnose_options,
		.summary = "gather what somebody needs to help, in one file",
		.help = "Writes a tar archive that only you can read: what the API tells of Ember "
			"and of each drive, events, metrics, emberd's configuration, versions, the "
			"findings of `emberctl doctor`, and the last lines of the journal. Nothing "
			"is changed, and no drive is asked. What cannot be read is named in "
			"MANIFEST, with the reason.\n\nTokens and private keys are never in it. "
			"With --mask the identifiers of drives are not, either: the same word "
			"stands for the same one in all files. Names of hosts and users in the "
			"journal stay: look before you pass it on.",
		.example = "emberctl diagnose nvme0 --mask",
		.run = em_verb_diagnose,
	},
	{
		.name = "token create",
		.section = EM_SECTION_EMBER,
		.args = token_create_args,
		.options = token_create_options,
		.summary = "make a token for looking over the network",
		.help = "Prints a new bearer token for emberd's HTTPS listener. It may look at "
			"everything and change nothing. The token is shown this once: emberd "
			"keeps only a hash of it. It goes to the standard output, so that it can "
			"be put into a file, after `umask 077` for nobody else to read; what to "
			"do with it is told beside that. Needs the right to give orders: root, or "
			"the group ember-admin.",
		.example = "emberctl token create prometheus --expires 90d >ember.token",
		.run = em_verb_token_create,
	},
	{
		.name = "token list",
		.section = EM_SECTION_EMBER,
		.args = no_args,
		.options = csv_options,
		.summary = "list tokens and their last use",
		.help = "Prints the tokens that are valid, without the tokens themselves.",
		.example = "emberctl token list",
		.run = em_verb_token_list,
	},
	{
		.name = "token revoke",
		.section = EM_SECTION_EMBER,
		.args = token_args,
		.options = no_options,
		.summary = "make a token worthless, at once",
		.help = "From then on the token is refused. Others stay valid.",
		.example = "emberctl token revoke 3f2a60c7d41b98e5",
		.run = em_verb_token_revoke,
	},
	{
		.name = "version",
		.section = EM_SECTION_EMBER,
		.args = no_args,
		.options = no_options,
		.summary = "print the versions of emberctl and emberd",
		.help = "Prints both versions, so that a daemon that was not restarted after an "
			"upgrade is seen.",
		.example = "emberctl version",
		.run = em_verb_version,
	},
	{ 0 },
};
