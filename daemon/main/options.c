/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/main/options.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/main/config.h"
#include "daemon/web/listen.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"
#include "lib/base/manual.h"
#include "lib/base/parse.h"
#include "lib/ipc/proto.h"

#define MS   UINT64_C(1000)
#define MIN  (60 * 1000 * MS)
#define HOUR (60 * MIN)
#define DAY  (24 * HOUR)

#define PLACE(member) offsetof(struct em_config, member), sizeof(((struct em_config *)0)->member)

const struct em_option_section em_option_sections[] = {
	{ "http", "Where emberd answers on this host.", false },
	{ "https",
	  "Where emberd answers the network: read-only, over TLS, to who has a token of \"emberctl "
	  "token create\".",
	  false },
	{ "store", "History.", false },
	{ "broker", "The way to the drives.", false },
	{ "drives", "Which drives are watched.", false },
	{ "poll",
	  "How often each page of a drive is read, unless something happens before. A section "
	  "[drive SERIAL] sets the same keys for one drive.",
	  true },
	{ "selftest",
	  "Device self-tests by the clock. The drives test themselves beside their work; every "
	  "result is an event.",
	  false },
	{ "log", "What goes to the journal.", false },
};
const unsigned em_option_section_count = EM_COUNT(em_option_sections);

const struct em_option em_options[] = {
	{ "http", "socket", EM_OPTION_PATH, PLACE(http_socket), 0, 0, "/run/ember/emberd.sock",
	  "The unix socket of the REST API. Every local user may read from it.", true },
	{ "http", "listen", EM_OPTION_LISTEN, PLACE(http_listen), 0, 0, "",
	  "Also answer on this loopback address and port, such as 127.0.0.1:9980 or [::1]:9980. "
	  "Empty: no TCP.",
	  true },
	{ "http", "admin_group", EM_OPTION_NAME, PLACE(admin_group), 0, 0, "ember-admin",
	  "Members of this group may change things over the unix socket, like root. Empty: only "
	  "root.",
	  true },
	{ "https", "listen", EM_OPTION_NETWORK, PLACE(https_listen), 0, 0, "",
	  "The address and port, such as 0.0.0.0:9443, [::]:9443 (IPv6 and IPv4) or "
	  "192.0.2.7:9443. Empty: none.",
	  true },
	{ "https", "certificate", EM_OPTION_PATH, PLACE(https_certificate), 0, 0,
	  "/etc/ember/tls/cert.pem",
	  "The certificate and those of its issuers, in PEM. The user ember must be able to read "
	  "it. A reload reads the file again.",
	  true },
	{ "https", "key", EM_OPTION_PATH, PLACE(https_key), 0, 0, "/etc/ember/tls/key.pem",
	  "The certificate's private key, in PEM. The user ember must be able to read it, and "
	  "nobody else should.",
	  true },
	{ "store", "directory", EM_OPTION_PATH, PLACE(store_directory), 0, 0, "/var/lib/ember",
	  "The directory of the database.", true },
	{ "store", "raw_keep", EM_OPTION_DURATION, PLACE(raw_keep_us), MIN, 3650 * DAY, "30d",
	  "How long readings are kept.", true },
	{ "store", "events_keep", EM_OPTION_DURATION, PLACE(events_keep_us), MIN, 3650 * DAY,
	  "730d", "How long events are kept.", true },
	{ "broker", "socket", EM_OPTION_PATH, PLACE(drives.broker_socket), 0, 0, EM_IPC_SOCKET,
	  "The unix socket of ember-broker.", true },
	{ "broker", "answer_timeout", EM_OPTION_DURATION, PLACE(drives.answer_timeout_us),
	  1000 * MS, HOUR, "60s",
	  "A request that the broker leaves unanswered for so long means that the broker is not "
	  "working: emberd connects anew. Longer than the broker's own patience with a drive.",
	  false },
	{ "drives", "transport", EM_OPTION_TRANSPORT, PLACE(drives.pcie_only), 0, 0, "all",
	  "Drives of which transports: all, or pcie.", true },
	{ "drives", "removed_keep", EM_OPTION_DURATION, PLACE(drives.removed_keep_us), 10 * MS,
	  3650 * DAY, "30d",
	  "How long /metrics goes on telling of a drive that was removed or retired. The API "
	  "always does.",
	  false },
	{ "poll", "smart_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_SMART]), 10 * MS, 7 * DAY, "60s",
	  "SMART and health information.", false },
	{ "poll", "selftest_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_SELFTEST]), 10 * MS, 7 * DAY, "5min",
	  "Device self-test log.", false },
	{ "poll", "firmware_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_FIRMWARE]), 10 * MS, 7 * DAY, "1h",
	  "Firmware slots.", false },
	{ "poll", "identify_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_IDENTIFY_CTRL]), 10 * MS, 7 * DAY, "1h",
	  "Identify: the controller, the list of namespaces, each namespace.", false },
	{ "poll", "errors_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_ERRORS]), 10 * MS, 7 * DAY, "1h",
	  "Error log. It is also read as soon as the drive counts more errors.", false },
	{ "poll", "effects_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_EFFECTS]), 10 * MS, 7 * DAY, "24h",
	  "Commands that the drive supports, and their effects.", false },
	{ "poll", "sanitize_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_SANITIZE]), 10 * MS, 7 * DAY, "5min",
	  "Sanitize status. It is read at least every 30s while a sanitize goes on.", false },
	{ "poll", "sanitize_stalled_after", EM_OPTION_DURATION,
	  PLACE(drives.intervals.sanitize_stalled_us), 10 * MS, 7 * DAY, "1h",
	  "A sanitize whose status has been the same for so long stands still: the drive is "
	  "degraded.",
	  false },
	{ "poll", "memblaze_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_MEMBLAZE]), 10 * MS, 7 * DAY, "5min",
	  "Additional SMART of Memblaze drives, log page CAh.", false },
	{ "poll", "security_interval", EM_OPTION_DURATION,
	  PLACE(drives.intervals.page_us[EM_PAGE_SECURITY]), 10 * MS, 7 * DAY, "1h",
	  "Locking and encryption (TCG level-0 discovery). It is also read when the controller was "
	  "started.",
	  false },
	{ "selftest", "short_schedule", EM_OPTION_CALENDAR, PLACE(jobs.short_schedule), 0, 0, "",
	  "When every drive begins its short self-test, in the words of OnCalendar= (see "
	  "systemd.time(7)), such as daily or Sat *-*-* 02:00. Empty: not by the clock.",
	  false },
	{ "selftest", "extended_schedule", EM_OPTION_CALENDAR, PLACE(jobs.extended_schedule), 0, 0,
	  "", "Likewise its extended one, which takes hours on some. Empty: not by the clock.",
	  false },
	{ "selftest", "stagger", EM_OPTION_DURATION, PLACE(jobs.stagger_us), 10 * MS, DAY, "5min",
	  "Drives begin one after another, so far apart.", false },
	{ "selftest", "catch_up", EM_OPTION_BOOL, PLACE(jobs.catch_up), 0, 0, "yes",
	  "Whether a test that the clock called for while the host was down, or the drive away, is "
	  "begun once afterwards.",
	  false },
	{ "log", "level", EM_OPTION_LEVEL, PLACE(log_level), 0, 0, "info",
	  "The least important messages that are logged: " EM_LOG_LEVELS ".", false },
};
const unsigned em_option_count = EM_COUNT(em_options);

const struct em_option_section *em_option_section_find(const char *name)
{
	for (unsigned i = 0; i < em_option_section_count; i++)
		if (strcmp(em_option_sections[i].name, name) == 0)
			return &em_option_sections[i];
	return NULL;
}

const struct em_option *em_option_find(const char *section, const char *key)
{
	for (unsigned i = 0; i < em_option_count; i++)
		if (strcmp(em_options[i].section, section) == 0 &&
		    strcmp(em_options[i].key, key) == 0)
			return &em_options[i];
	return NULL;
}

static int parse_path(const struct em_option *option, const char *text, void *target, char *reason)
{
	if (text[0] != '/') {
		snprintf(reason, EM_OPTION_REASON_SIZE, "write a path that begins with /");
		return -EINVAL;
	}
	if (strlen(text) >= option->size) {
		snprintf(reason, EM_OPTION_REASON_SIZE,
			 "the path is too long; at most %zu characters", option->size - 1);
		return -EINVAL;
	}
	strcpy(target, text);
	return 0;
}

/* Nothing passes here that the listener would refuse. */
static bool is_address(const struct em_option *option, const char *text)
{
	struct sockaddr_storage address;
	socklen_t len;
	uint16_t port;

	if (strlen(text) >= option->size)
		return false;
	if (option->type == EM_OPTION_NETWORK)
		return em_listen_parse_network(text, &address, &len, &port) == 0;
	return em_listen_parse(text, &address, &len, &port) == 0;
}

static int parse_listen(const struct em_option *option, const char *text, void *target,
			char *reason)
{
	if (text[0] && !is_address(option, text)) {
		snprintf(reason, EM_OPTION_REASON_SIZE, "%s",
			 option->type == EM_OPTION_NETWORK
				 ? "write an address and a port, such as 0.0.0.0:9443 or "
				   "[::]:9443, or nothing"
				 : "write a loopback address and a port, such as 127.0.0.1:9980 or "
				   "[::1]:9980, or nothing; for the network there is [https]");
		return -EINVAL;
	}
	strcpy(target, text);
	return 0;
}

/* What adduser takes, and names of other services too; whether it exists is the user's to judge. */
static int parse_name(const struct em_option *option, const char *text, void *target, char *reason)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.@\\-";

	if (strlen(text) >= option->size || text[strspn(text, allowed)] || text[0] == '-') {
		snprintf(reason, EM_OPTION_REASON_SIZE,
			 "write a name of at most %zu letters, digits, _ . @ and -, or nothing",
			 option->size - 1);
		return -EINVAL;
	}
	strcpy(target, text);
	return 0;
}

static int parse_transport(const char *text, void *target, char *reason)
{
	bool pcie_only = strcmp(text, "pcie") == 0;

	if (!pcie_only && strcmp(text, "all") != 0) {
		snprintf(reason, EM_OPTION_REASON_SIZE, "write all or pcie");
		return -EINVAL;
	}
	*(bool *)target = pcie_only;
	return 0;
}

/* What it means is systemd's to say. */
static int parse_calendar(const struct em_option *option, const char *text, void *target,
			  char *reason)
{
	bool clean = strlen(text) < option->size;

	for (const char *c = text; *c; c++)
		clean = clean && *c >= ' ' && *c <= '~';
	if (!clean) {
		snprintf(reason, EM_OPTION_REASON_SIZE,
			 "write a calendar event of systemd.time(7), such as daily, of at most %zu "
			 "characters, or nothing",
			 option->size - 1);
		return -EINVAL;
	}
	strcpy(target, text);
	return 0;
}

static int parse_bool(const char *text, void *target, char *reason)
{
	bool yes = strcmp(text, "yes") == 0;

	if (!yes && strcmp(text, "no") != 0) {
		snprintf(reason, EM_OPTION_REASON_SIZE, "write yes or no");
		return -EINVAL;
	}
	*(bool *)target = yes;
	return 0;
}

static int parse_duration(const struct em_option *option, const char *text, void *target,
			  char *reason)
{
	char least[64], most[64];

	if (em_parse_duration_us(text, option->min, option->max, target) == 0)
		return 0;
	em_duration_format(least, sizeof(least), option->min);
	em_duration_format(most, sizeof(most), option->max);
	snprintf(reason, EM_OPTION_REASON_SIZE,
		 "write a span from %s to %s, such as %s (units: ms, s, min, h, d)", least, most,
		 option->value);
	return -EINVAL;
}

static int parse_level(const char *text, void *target, char *reason)
{
	int r = em_log_level_find(text, target);

	if (r < 0)
		snprintf(reason, EM_OPTION_REASON_SIZE, "write " EM_LOG_LEVELS);
	return r;
}

int em_option_parse(const struct em_option *option, const char *text, void *target,
		    char reason[EM_OPTION_REASON_SIZE])
{
	switch (option->type) {
	case EM_OPTION_PATH:
		return parse_path(option, text, target, reason);
	case EM_OPTION_LISTEN:
	case EM_OPTION_NETWORK:
		return parse_listen(option, text, target, reason);
	case EM_OPTION_DURATION:
		return parse_duration(option, text, target, reason);
	case EM_OPTION_NAME:
		return parse_name(option, text, target, reason);
	case EM_OPTION_LEVEL:
		return parse_level(text, target, reason);
	case EM_OPTION_TRANSPORT:
		return parse_transport(text, target, reason);
	case EM_OPTION_CALENDAR:
		return parse_calendar(option, text, target, reason);
	case EM_OPTION_BOOL:
		return parse_bool(text, target, reason);
	}
	return -EINVAL;
}

void em_option_format(const struct em_option *option, const void *target,
		      char buf[EM_OPTION_VALUE_SIZE])
{
	switch (option->type) {
	case EM_OPTION_PATH:
	case EM_OPTION_LISTEN:
	case EM_OPTION_NETWORK:
	case EM_OPTION_NAME:
	case EM_OPTION_CALENDAR:
		snprintf(buf, EM_OPTION_VALUE_SIZE, "%s", (const char *)target);
		break;
	case EM_OPTION_DURATION:
		em_duration_format(buf, EM_OPTION_VALUE_SIZE, *(const uint64_t *)target);
		break;
	case EM_OPTION_LEVEL:
		snprintf(buf, EM_OPTION_VALUE_SIZE, "%s", em_log_level_name(*(const int *)target));
		break;
	case EM_OPTION_TRANSPORT:
		snprintf(buf, EM_OPTION_VALUE_SIZE, "%s", *(const bool *)target ? "pcie" : "all");
		break;
	case EM_OPTION_BOOL:
		snprintf(buf, EM_OPTION_VALUE_SIZE, "%s", *(const bool *)target ? "yes" : "no");
		break;
	}
}

/* What the row says beside its help. */
static void add_rules(struct em_buf *out, const struct em_option *option)
{
	char least[64], most[64];

	if (option->type == EM_OPTION_DURATION) {
		em_duration_format(least, sizeof(least), option->min);
		em_duration_format(most, sizeof(most), option->max);
		em_buf_addf(out, " From %s to %s.", least, most);
	}
	if (option->restart)
		em_buf_adds(out, " Another value needs a restart.");
}

static void add_option_comment(struct em_buf *out, const struct em_option *option)
{
	struct em_buf text;

	em_buf_init(&text, 4096);
	em_buf_adds(&text, option->help);
	add_rules(&text, option);
	if (!em_buf_failed(&text))
		em_manual_comment(out, text.data);
	em_buf_done(&text);
	em_buf_addf(out, "#%s=%s\n", option->key, option->value);
}

void em_options_print_file(struct em_buf *out)
{
	em_buf_adds(out, "# emberd.conf - options of emberd, with their defaults.\n");
	em_manual_comment(out,
			  "Remove the # of a line to set it, or put your own lines into a file of "
			  "emberd.conf.d/, whose name ends with .conf; it wins over this one. A "
			  "comment needs a line of its own. \"emberd --check-config\" checks, "
			  "\"systemctl reload emberd\" takes over. See emberd.conf(5).");
	for (unsigned s = 0; s < em_option_section_count; s++) {
		const struct em_option_section *section = &em_option_sections[s];

		em_buf_addc(out, '\n');
		em_manual_comment(out, section->help);
		em_buf_addf(out, "[%s]\n", section->name);
		for (unsigned i = 0; i < em_option_count; i++)
			if (strcmp(em_options[i].section, section->name) == 0)
				add_option_comment(out, &em_options[i]);
	}
}

static void add_man_option(struct em_buf *out, const struct em_option *option)
{
	em_buf_adds(out, ".TP\n\\fB");
	em_manual_roff(out, option->key);
	em_buf_adds(out, "=\\fR");
	em_manual_roff(out, option->value);
	em_buf_addc(out, '\n');
	em_manual_roff(out, option->help);
	add_rules(out, option);
	em_buf_addc(out, '\n');
}

static void add_man_sections(struct em_buf *out)
{
	for (unsigned s = 0; s < em_option_section_count; s++) {
		const struct em_option_section *section = &em_option_sections[s];

		em_buf_addf(out, ".SS [%s]\n", section->name);
		em_manual_roff(out, section->help);
		em_buf_addc(out, '\n');
		for (unsigned i = 0; i < em_option_count; i++)
			if (strcmp(em_options[i].section, section->name) == 0)
				add_man_option(out, &em_options[i]);
	}
}

static const char man_head[] =
	".\\\" SPDX-License-Identifier: Apache-2.0\n"
	".TH EMBERD.CONF 5 \"\" \"Ember\" \"File Formats\"\n"
	".SH NAME\n"
	"emberd.conf, emberd.conf.d \\- configuration of emberd\n"
	".SH SYNOPSIS\n"
	".I " EM_SYSCONFDIR "/emberd.conf\n"
	".br\n"
	".I " EM_SYSCONFDIR "/emberd.conf.d/*.conf\n"
	".SH DESCRIPTION\n"
	"All of it is optional: without a file every option has its default.\n"
	".PP\n"
	"A line is\n"
	".BR [SECTION] ,\n"
	".BR KEY=VALUE ,\n"
	"a comment that begins with #, or empty.\n"
	"A comment needs a line of its own.\n"
	"The main file is read first, then the files of the directory in the order of their\n"
	"names; the last one that sets an option wins.\n"
	".PP\n"
	"What is not exactly understood is an error, told with its file and line: an unknown\n"
	"section or key, a key twice in one file, a bad value.\n"
	"emberd does not start then; one that runs keeps the configuration that it has.\n"
	".PP\n"
	"A span of time is a number with a unit or several, such as 90s, 5min or 1h 30min\n"
	"(units: ms, s, min, h, d); without a unit it is seconds.\n";

static const char man_tail[] = ".SH EXAMPLES\n"
			       "Let Prometheus on another host read the metrics. In\n"
			       ".IR " EM_SYSCONFDIR "/emberd.conf.d/network.conf :\n"
			       ".PP\n"
			       ".RS\n.nf\n"
			       "[https]\n"
			       "listen=0.0.0.0:9443\n"
			       ".fi\n.RE\n"
			       ".PP\n"
			       "One drive is read more often than the others:\n"
			       ".PP\n"
			       ".RS\n.nf\n"
			       "[drive PH0042]\n"
			       "smart_interval=10s\n"
			       ".fi\n.RE\n"
			       ".SH SEE ALSO\n"
			       ".BR emberd (8),\n"
			       ".BR emberctl (1),\n"
			       ".BR broker.conf (5)\n";

void em_options_print_man(struct em_buf *out)
{
	em_buf_adds(out, man_head);
	em_buf_adds(out, ".SH OPTIONS\nEach option is shown with its default.\n");
	add_man_sections(out);
	em_buf_adds(out, man_tail);
}

void em_options_print_names(struct em_buf *out)
{
	for (unsigned i = 0; i < em_option_count; i++) {
		const struct em_option *option = &em_options[i];

		em_buf_addf(out, "emberd.conf [%s] %s=%s\n", option->section, option->key,
			    option->value);
	}
	for (unsigned i = 0; i < em_option_count; i++)
		if (em_option_section_find(em_options[i].section)->per_drive)
			em_buf_addf(out, "emberd.conf [drive SERIAL] %s\n", em_options[i].key);
}
