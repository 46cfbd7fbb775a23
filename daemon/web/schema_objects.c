/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/schema_objects.h"

#include "lib/base/cleanup.h"

/* clang-format off */
#define ID_MEMBERS                                                                                 \
	{ "drive", EM_M_STRING, .help = "Id of the drive." },                                           \
	{ "device", EM_M_STRING, .help = "Its present device name, like nvme0." },                      \
	{ "serial", EM_M_STRING, .help = "Its serial number." }
#define READ_MEMBERS                                                                               \
	{ "status", EM_M_NAME, .set = &em_set_statuses,                                                 \
	  .help = "How the last attempt to read it ended." },                                      \
	{ "status_detail", EM_M_STRING, .null = true, .help = "The same as a sentence." }
#define ATTEMPT_MEMBER                                                                             \
	{ "attempted_at", EM_M_TIME, .null = true, .help = "When that was." }
#define AGE_MEMBERS                                                                                \
	{ "read_at", EM_M_TIME, .null = true, .help = "When the values shown were read." },             \
	{ "age_seconds", EM_M_NUMBER, .null = true, .help = "How old the values shown are." }
#define INTERVAL_MEMBER                                                                            \
	{ "interval_seconds", EM_M_NUMBER, .null = true, .help = "How often it is read; null: not." }
#define STATE_MEMBER                                                                               \
	{ "state", EM_M_NAME, .set = &em_set_states, .help = "What the drive is doing." }
#define HEALTH_MEMBER                                                                              \
	{ "health", EM_M_NAME, .set = &em_set_verdicts,                                                 \
	  .help = "The verdict on the drive. unknown: what it is now cannot be said." }
#define VALID_MEMBER                                                                               \
	{ "valid", EM_M_BOOLEAN, .help = "False: there is no reading, and every value is null." }

static const struct em_member problem_members[] = {
	{ "type", EM_M_STRING, .constant = "about:blank",
	  .help = "Always about:blank: the status says it all." },
	{ "title", EM_M_STRING, .help = "The name of the status." },
	{ "status", EM_M_INTEGER, .help = "The HTTP status." },
	{ "detail", EM_M_STRING, .help = "What is wrong, and what to do next." },
	{ "instance", EM_M_STRING, .help = "The path that was asked for." },
	{ 0 },
};
static const struct em_member health_members[] = {
	{ "status", EM_M_NAME, .set = &em_set_health,
	  .help = "ok, or degraded: then reasons has at least one sentence." },
	{ "reasons", EM_M_STRING, .list = true, .help = "What keeps Ember from doing its work." },
	{ "version", EM_M_STRING, .help = "The version of Ember." },
	{ "started_at", EM_M_TIME, .help = "When emberd was started." },
	{ "uptime_seconds", EM_M_NUMBER, .help = "How long ago that was." },
	{ "broker", EM_M_OBJECT, .of = "health_broker", .help = "The connection to the broker." },
	{ "store", EM_M_OBJECT, .of = "health_store", .help = "The database." },
	{ "drives", EM_M_OBJECT, .of = "health_drives", .help = "Drives by state." },
	{ "listeners", EM_M_OBJECT, .list = true, .of = "listener", .help = "Where emberd listens." },
	{ "certificate_expires_at", EM_M_TIME, .null = true,
	  .help = "Until when the certificate of the network listener is valid; null: none." },
	{ 0 },
};
static const struct em_member health_broker_members[] = {
	{ "connected", EM_M_BOOLEAN, .help = "Whether emberd is connected to the broker." },
	{ "requests_total", EM_M_INTEGER, .help = "Requests sent to it since the start." },
	{ 0 },
};
static const struct em_member health_store_members[] = {
	{ "status", EM_M_NAME, .set = &em_set_health,
	  .help = "ok, or degraded: history cannot be written." },
	{ "detail", EM_M_STRING, .null = true, .help = "Why not." },
	{ "queued", EM_M_INTEGER, .help = "Rows that wait to be written." },
	{ "written_total", EM_M_INTEGER, .help = "Rows written since the start." },
	{ "dropped_total", EM_M_INTEGER, .help = "Rows lost since the start." },
	{ 0 },
};
static const struct em_member health_drives_members[] = {
	{ "total", EM_M_INTEGER, .help = "All that Ember knows." },
	{ 0 },
};
static const struct em_member listener_members[] = {
	{ "kind", EM_M_NAME, .set = &em_set_listeners,
	  .help = "unix: this host, also to change things. tcp: this host, to read. https: the "
		  "network, to read." },
	{ "address", EM_M_STRING, .help = "Path, or address and port." },
	{ 0 },
};
#define CURSOR_MEMBER                                                                              \
	{ "next_cursor", EM_M_STRING, .null = true,                                                     \
	  .help = "Where the next part begins (parameter cursor); null: this was the last." }
static const struct em_member drives_members[] = {
	{ "at", EM_M_TIME, .help = "When this was answered." },
	{ "drives", EM_M_OBJECT, .list = true, .of = "summary",
	  .help = "By device name; removed ones last." },
	CURSOR_MEMBER,
	{ 0 },
};
static const struct em_member summary_members[] = {
	{ "id", EM_M_STRING, .help = "Made from subsystem NQN and serial; stays with the drive." },
	{ "device", EM_M_STRING, .help = "The present device name, like nvme0." },
	{ "serial", EM_M_STRING, .help = "Serial number." },
	{ "model", EM_M_STRING, .null = true, .help = "Model." },
	{ "firmware", EM_M_STRING, .null = true, .help = "Revision of the running firmware." },
	{ "subsystem_nqn", EM_M_STRING, .null = true, .help = "NQN of the NVM subsystem." },
	{ "address", EM_M_STRING, .null = true, .help = "PCI address, or what the transport has." },
	{ "transport", EM_M_STRING, .null = true, .help = "pcie, tcp, …" },
	{ "controller_id", EM_M_STRING, .null = true, .help = "Controller id in its subsystem." },
	STATE_MEMBER,
	HEALTH_MEMBER,
	{ "health_reason", EM_M_STRING, .null = true,
	  .help = "The worst of the reasons; null: nothing was found. /v1/drives/{id}/health has all." },
	{ "state_since", EM_M_TIME, .null = true, .help = "Since when." },
	{ "state_detail", EM_M_STRING, .null = true, .help = "Why, as a sentence." },
	{ "last_answer_at", EM_M_TIME, .null = true, .help = "When it last completed a command." },
	{ "smart", EM_M_OBJECT, .of = "summary_smart", .help = "The values that tell most." },
	{ "capacity_bytes", EM_M_DECIMAL, .null = true, .help = "All of its NVM." },
	{ "controllers", EM_M_OBJECT, .list = true, .of = "controller",
	  .help = "The ways to it: its controllers. Mostly one; none while it is gone." },
	{ 0 },
};
static const struct em_member controller_members[] = {
	{ "device", EM_M_STRING, .help = "Its device name." },
	{ "address", EM_M_STRING, .null = true, .help = "PCI address, or what the transport has." },
	{ "transport", EM_M_STRING, .null = true, .help = "pcie, tcp, …" },
	{ "controller_id", EM_M_STRING, .null = true, .help = "Its id in the subsystem." },
	{ "state", EM_M_STRING, .null = true, .help = "What Linux says of it: live, resetting, …" },
	{ "active", EM_M_BOOLEAN, .help = "True: the drive is read through this one." },
	{ "link_speed_gts", EM_M_NUMBER, .null = true,
	  .help = "Speed of its PCIe link now, in GT/s for each lane." },
	{ "link_width", EM_M_INTEGER, .null = true, .help = "Lanes of the link now." },
	{ "link_speed_max_gts", EM_M_NUMBER, .null = true, .help = "The speed that it could have." },
	{ "link_width_max", EM_M_INTEGER, .null = true, .help = "The lanes that it could have." },
	{ "numa_node", EM_M_INTEGER, .null = true, .help = "The NUMA node it is at; null: none." },
	{ 0 },
};
static const struct em_member summary_smart_members[] = { AGE_MEMBERS, INTERVAL_MEMBER, VALID_MEMBER,
							{ 0 } };
static const struct em_member drive_members[] = {
	{ "pages", EM_M_OBJECT, .list = true, .of = "page_state", .help = "What is read of it." },
	{ "namespaces", EM_M_INTEGER, .list = true,
	  .help = "Namespace ids, ascending; those that are not attached, too." },
	{ "polls", EM_M_OBJECT, .of = "polls", .help = "The work that Ember has with it." },
	{ 0 },
};
static const struct em_member page_state_members[] = {
	{ "page", EM_M_NAME, .set = &em_set_pages,
	  .help = "The page; /v1/drives/{id}/PAGE has its values." },
	READ_MEMBERS,
	ATTEMPT_MEMBER,
	AGE_MEMBERS,
	INTERVAL_MEMBER,
	{ 0 },
};
static const struct em_member polls_members[] = {
	{ "commands_total", EM_M_INTEGER, .help = "Commands sent since the start." },
	{ "errors_total", EM_M_INTEGER, .help = "Attempts that gave no reading." },
	{ "misses", EM_M_INTEGER, .help = "Commands without an answer, in a row." },
	{ "last_duration_us", EM_M_INTEGER, .help = "Microseconds the last completed command took." },
	{ "events_total", EM_M_INTEGER, .help = "Events heard from it." },
	{ 0 },
};
const struct em_member em_page_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	READ_MEMBERS,
	ATTEMPT_MEMBER,
	AGE_MEMBERS,
	VALID_MEMBER,
	{ 0 },
};
static const struct em_member namespaces_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	{ "list_read_at", EM_M_TIME, .null = true, .help = "When the list of namespaces was read." },
	{ "list_age_seconds", EM_M_NUMBER, .null = true, .help = "How old the list is." },
	{ "list_status", EM_M_NAME, .set = &em_set_statuses,
	  .help = "How the last attempt to read the list ended." },
	{ "namespaces", EM_M_OBJECT, .list = true, .of = "namespace", .help = "By namespace id." },
	{ 0 },
};
static const struct em_member namespace_members[] = {
	{ "nsid", EM_M_INTEGER, .help = "Namespace id." },
	{ "attached", EM_M_BOOLEAN, .help = "False: it exists, and this host does not see it." },
	READ_MEMBERS,
	AGE_MEMBERS,
	VALID_MEMBER,
	{ 0 },
};
static const struct em_member capacitor_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	{ "health", EM_M_NAME, .set = &em_set_capacitor,
	  .help = "Of the power-loss protection; unknown when the drive tells nothing of it." },
	{ "source", EM_M_NAME, .set = &em_set_capacitor_sources,
	  .help = "What health was told from." },
	{ "confidence", EM_M_NAME, .set = &em_set_trust, .null = true,
	  .help = "stated: the specification or the vendor says so. derived: the vendor's tables "
		  "suggest it. null: health is unknown." },
	{ "health_percent", EM_M_INTEGER, .null = true, .help = "100 when new." },
	{ "capacitance", EM_M_INTEGER, .null = true, .help = "Now, in the drive's own unit." },
	{ "nominal_capacitance", EM_M_INTEGER, .null = true, .help = "When new, in the same unit." },
	{ "threshold_capacitance", EM_M_INTEGER, .null = true,
	  .help = "At or below it data can be lost with the power." },
	AGE_MEMBERS,
	{ 0 },
};
static const struct em_member security_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	READ_MEMBERS,
	ATTEMPT_MEMBER,
	AGE_MEMBERS,
	VALID_MEMBER,
	{ "complete", EM_M_BOOLEAN, .null = true,
	  .help = "False: the drive's answer ends before its list does, and may lack something." },
	{ "class", EM_M_NAME, .set = &em_set_sscs, .null = true,
	  .help = "The strongest security subsystem class that the drive tells." },
	{ "locking_supported", EM_M_BOOLEAN, .null = true, .help = "The drive can lock its data." },
	{ "locking_enabled", EM_M_BOOLEAN, .null = true, .help = "Locking was set up." },
	{ "locked", EM_M_BOOLEAN, .null = true,
	  .help = "Some of the data is locked now: reading or writing it fails." },
	{ "media_encryption", EM_M_BOOLEAN, .null = true,
	  .help = "The drive encrypts what it stores." },
	{ "mbr_enabled", EM_M_BOOLEAN, .null = true, .help = "A pre-boot image was set up." },
	{ "mbr_done", EM_M_BOOLEAN, .null = true, .help = "It has done its work since the start." },
	{ "mbr_shadowed", EM_M_BOOLEAN, .null = true,
	  .help = "The drive shows the pre-boot image in place of the data." },
	{ "sid_value_state", EM_M_INTEGER, .null = true,
	  .help = "Bit 0 of feature 0402h, about the owner's PIN. Which of its states is the one of "
		  "delivery could not be confirmed; nothing is decided by it." },
	{ "sid_blocked", EM_M_BOOLEAN, .null = true,
	  .help = "The owner's authority is blocked until the next start." },
	{ "keys_max", EM_M_INTEGER, .null = true,
	  .help = "Keys that namespaces and their ranges can have in all (feature 0403h)." },
	{ "keys_unused", EM_M_INTEGER, .null = true, .help = "Those of them that are left." },
	{ "ranges_per_namespace_max", EM_M_INTEGER, .null = true,
	  .help = "Locking ranges that one namespace can have." },
	{ "single_user_objects", EM_M_INTEGER, .null = true,
	  .help = "Ranges that can be in single-user mode (feature 0201h)." },
	{ "base_comid", EM_M_INTEGER, .null = true,
	  .help = "The first communication id of the class." },
	{ "comid_count", EM_M_INTEGER, .null = true, .help = "How many ids there are." },
	{ "data_removal", EM_M_INTEGER, .null = true,
	  .help = "Ways of removing all data (feature 0404h), as a number." },
	{ "data_removal_bits", EM_M_NAME, .list = true, .set = &em_set_removals,
	  .help = "The names of those of its bits that have one." },
	{ "unknown_features", EM_M_OBJECT, .list = true, .of = "security_feature",
	  .help = "What the drive tells beyond what Ember knows." },
	{ "crypto_erase", EM_M_OBJECT, .of = "security_erase",
	  .help = "Erasing by changing keys, as Identify announces it." },
	{ "namespaces", EM_M_OBJECT, .list = true, .of = "security_namespace",
	  .help = "By namespace id." },
	{ 0 },
};
static const struct em_member security_feature_members[] = {
	{ "code", EM_M_STRING, .help = "Feature code, four hexadecimal digits." },
	{ "version", EM_M_INTEGER, .help = "Its version." },
	{ "data", EM_M_STRING, .help = "Its bytes, in hexadecimal." },
	{ 0 },
};
static const struct em_member security_erase_members[] = {
	{ "by_format", EM_M_BOOLEAN, .null = true, .help = "Format can change keys." },
	{ "by_sanitize", EM_M_BOOLEAN, .null = true,
	  .help = "Sanitize can change keys: those of the whole drive." },
	{ "format_affects_all", EM_M_BOOLEAN, .null = true,
	  .help = "Formatting one namespace formats all." },
	{ "erase_affects_all", EM_M_BOOLEAN, .null = true,
	  .help = "Erasing one namespace by Format erases all." },
	{ 0 },
};
static const struct em_member security_namespace_members[] = {
	{ "nsid", EM_M_INTEGER, .help = "Namespace id." },
	{ "attached", EM_M_BOOLEAN, .help = "False: it exists, and this host does not see it." },
	{ "crypto_erase_alone", EM_M_BOOLEAN, .null = true,
	  .help = "Its keys can be changed without touching other namespaces." },
	{ "crypto_erase_reason", EM_M_NAME, .set = &em_set_erase_reasons,
	  .help = "Why it can, or not. namespace_keys: the drive also counts keys." },
	{ "write_protected", EM_M_BOOLEAN, .null = true, .help = "It cannot be written now." },
	{ 0 },
};
static const struct em_member drive_health_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	{ "model", EM_M_STRING, .null = true, .help = "Model." },
	HEALTH_MEMBER,
	{ "capacitor", EM_M_NAME, .set = &em_set_capacitor,
	  .help = "Health of the power-loss protection as its last reading told it; unknown alone "
		  "does not make the drive's health unknown." },
	{ "reasons", EM_M_OBJECT, .list = true, .of = "reason",
	  .help = "The worst first. Those of severity info decide nothing." },
	{ 0 },
};
static const struct em_member reason_members[] = {
	{ "rule", EM_M_STRING, .help = "Which rule found it; a name that stays." },
	{ "severity", EM_M_NAME, .set = &em_set_severities,
	  .help = "What it makes of the verdict; info: nothing. unknown: something that has to be "
		  "known is not." },
	{ "page", EM_M_NAME, .set = &em_set_pages, .null = true,
	  .help = "The page that tells it; null: none does." },
	{ "field", EM_M_STRING, .null = true, .help = "Key of the value in that page." },
	{ "value", EM_M_INTEGER, .null = true,
	  .help = "In the field's unit; of a list: how many." },
	{ "limit", EM_M_INTEGER, .null = true, .help = "What the value was held against." },
	{ "confidence", EM_M_NAME, .set = &em_set_trust,
	  .help = "stated: the specification or the vendor says so. derived: the vendor's tables "
		  "suggest it." },
	{ "text", EM_M_STRING, .help = "The reason as a sentence." },
	{ "detail", EM_M_STRING, .null = true,
	  .help = "Which: the kind of self-test, the status; null: the text says it all." },
	{ "next_step", EM_M_STRING, .null = true, .help = "What to do about it." },
	AGE_MEMBERS,
	{ 0 },
};
static const struct em_member history_members[] = {
	ID_MEMBERS,
	{ "field", EM_M_STRING, .help = "Key of the value." },
	{ "unit", EM_M_STRING, .help = "Its unit; may be empty." },
	{ "from", EM_M_TIME, .help = "First moment." },
	{ "to", EM_M_TIME, .help = "The moment after the last." },
	{ "step_seconds", EM_M_NUMBER, .null = true, .help = "null: every reading." },
	{ "points", EM_M_OBJECT, .list = true, .of = "point", .help = "Oldest first." },
	{ "truncated", EM_M_BOOLEAN, .help = "True: there are more points than the limit." },
	{ 0 },
};
static const struct em_member point_members[] = {
	{ "at", EM_M_TIME, .help = "When it was read." },
	{ 0 },
};

static const struct em_member event_members[] = {
	{ "id", EM_M_DECIMAL, .help = "Ascends, and is never given twice." },
	{ "at", EM_M_TIME, .help = "When it was noticed." },
	{ "kind", EM_M_NAME, .set = &em_set_kinds, .help = "What happened." },
	{ "change", EM_M_BOOLEAN, .help = "True: it is also in /v1/changes." },
	{ "drive", EM_M_STRING, .null = true, .help = "Id of the drive; null: of none." },
	{ "device", EM_M_STRING, .null = true, .help = "Its device name then." },
	{ "serial", EM_M_STRING, .null = true, .help = "Its serial number." },
	{ "nsid", EM_M_INTEGER, .null = true, .help = "Namespace id; null: of none." },
	{ "subject", EM_M_STRING, .null = true, .help = "What of the drive, like slot 2." },
	{ "old_value", EM_M_STRING, .null = true, .help = "What it was; null: not known, or nothing." },
	{ "new_value", EM_M_STRING, .null = true, .help = "What it is; null: not known, or nothing." },
	{ "summary", EM_M_STRING, .help = "All of it as a sentence." },
	{ 0 },
};
static const struct em_member events_members[] = {
	{ "events", EM_M_OBJECT, .list = true, .of = "event", .help = "In the order asked for." },
	CURSOR_MEMBER,
	{ "newest_id", EM_M_DECIMAL, .null = true,
	  .help = "Id of the newest of all events, wanted or not: where a stream may begin." },
	{ 0 },
};
static const struct em_member command_members[] = {
	ID_MEMBERS,
	STATE_MEMBER,
	{ "kind", EM_M_NAME, .set = &em_set_commands, .help = "What was read." },
	{ "page", EM_M_INTEGER, .help = "CNS, log page or feature identifier." },
	{ "nsid", EM_M_INTEGER, .help = "The namespace that was named; 4294967295: all." },
	READ_MEMBERS,
	{ "nvme_status", EM_M_INTEGER, .help = "The status that the drive answered; 0: success." },
	{ "read_at", EM_M_TIME, .null = true, .help = "When it was read." },
	{ "duration_us", EM_M_INTEGER, .help = "Microseconds until the answer." },
	{ "result", EM_M_INTEGER, .null = true, .help = "Dword 0 of the completion: a feature's value." },
	{ "length", EM_M_INTEGER, .help = "Bytes that came." },
	{ "data", EM_M_STRING, .null = true, .help = "The bytes, as hexadecimal digits." },
	{ 0 },
};
static const struct em_member refresh_members[] = {
	{ "drive", EM_M_STRING, .help = "Id of the drive." },
	{ "requested_at", EM_M_TIME, .help = "Pages attempted after this moment were read for it." },
	{ "pages", EM_M_NAME, .list = true, .set = &em_set_pages, .help = "What is being read." },
	{ 0 },
};
static const struct em_member self_test_members[] = {
	ID_MEMBERS,
	{ "test", EM_M_NAME, .set = &em_set_self_tests, .help = "What the drive has taken on." },
	{ "accepted_at", EM_M_TIME,
	  .help = "When it had. What was read of the page later tells how it goes." },
	{ 0 },
};
static const struct em_member tokens_members[] = {
	{ "tokens", EM_M_OBJECT, .list = true, .of = "token", .help = "Oldest first." },
	{ 0 },
};
static const struct em_member token_members[] = {
	{ "id", EM_M_STRING, .help = "Its public part." },
	{ "name", EM_M_STRING, .help = "What it is for." },
	{ "role", EM_M_NAME, .set = &em_set_roles, .help = "What its holder may do." },
	{ "created_at", EM_M_TIME, .help = "When it was made." },
	{ "expires_at", EM_M_TIME, .null = true, .help = "Until when it is valid; null: for ever." },
	{ "last_used_at", EM_M_TIME, .null = true, .help = "When it was last used; null: never." },
	{ 0 },
};
static const struct em_member new_token_members[] = {
	{ "token", EM_M_STRING, .help = "The secret: Authorization: Bearer and this." },
	{ 0 },
};

const struct em_object em_objects[] = {
	{ "problem", NULL, problem_members, EM_MORE_NONE },
	{ "health", NULL, health_members, EM_MORE_NONE },
	{ "health_broker", NULL, health_broker_members, EM_MORE_NONE },
	{ "health_store", NULL, health_store_members, EM_MORE_NONE },
	{ "health_drives", NULL, health_drives_members, EM_MORE_STATES },
	{ "drives", NULL, drives_members, EM_MORE_NONE },
	{ "summary", NULL, summary_members, EM_MORE_NONE },
	{ "summary_smart", NULL, summary_smart_members, EM_MORE_SUMMARY },
	{ "drive", "summary", drive_members, EM_MORE_NONE },
	{ "page_state", NULL, page_state_members, EM_MORE_NONE },
	{ "polls", NULL, polls_members, EM_MORE_NONE },
	{ "namespaces", NULL, namespaces_members, EM_MORE_NONE },
	{ "namespace", NULL, namespace_members, EM_MORE_NAMESPACE },
	{ "capacitor", NULL, capacitor_members, EM_MORE_NONE },
	{ "security", NULL, security_members, EM_MORE_NONE },
	{ "security_feature", NULL, security_feature_members, EM_MORE_NONE },
	{ "security_erase", NULL, security_erase_members, EM_MORE_NONE },
	{ "security_namespace", NULL, security_namespace_members, EM_MORE_NONE },
	{ "drive_health", NULL, drive_health_members, EM_MORE_NONE },
	{ "reason", NULL, reason_members, EM_MORE_NONE },
	{ "history", NULL, history_members, EM_MORE_NONE },
	{ "point", NULL, point_members, EM_MORE_VALUE },
	{ "listener", NULL, listener_members, EM_MORE_NONE },
	{ "controller", NULL, controller_members, EM_MORE_NONE },
	{ "event", NULL, event_members, EM_MORE_NONE },
	{ "events", NULL, events_members, EM_MORE_NONE },
	{ "refresh", NULL, refresh_members, EM_MORE_NONE },
	{ "command", NULL, command_members, EM_MORE_DECODED },
	{ "self_test", NULL, self_test_members, EM_MORE_NONE },
	{ "tokens", NULL, tokens_members, EM_MORE_NONE },
	{ "token", NULL, token_members, EM_MORE_NONE },
	{ "new_token", "token", new_token_members, EM_MORE_NONE },
};
const unsigned em_object_count = EM_COUNT(em_objects);
/* clang-format on */
