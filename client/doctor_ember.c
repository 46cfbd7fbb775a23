/* SPDX-License-Identifier: Apache-2.0 */
/* What emberd says of itself, of the broker, and of its drives. */
#include "client/doctor.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "client/api.h"
#include "client/view.h"
#include "config.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define CONNECT_MS     2000
#define EXPIRY_WARN_US (30 * 24 * 3600 * EM_US_PER_SEC)
#define NAMES_SHOWN    4u /* devices that a finding names before "and N more" */
#define TEXT_SIZE      2048

/* ---- emberd, broker, history ------------------------------------------------------------- */

static long long count_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

static void judge_version(struct em_report *report, const char *version)
{
	if (!version || strcmp(version, PACKAGE_VERSION) != 0)
		em_report_add(report, EM_CHECK_EMBERD, EM_RESULT_WARN,
			      "After an upgrade, as root: systemctl restart emberd ember-broker.",
			      "emberd that runs has version %s, emberctl has " PACKAGE_VERSION,
			      version ? version : "unknown");
	else
		em_report_add(report, EM_CHECK_EMBERD, EM_RESULT_OK, NULL,
			      "emberd answers, and has version " PACKAGE_VERSION);
}

static void judge_broker(struct em_report *report, const json_t *broker)
{
	if (em_json_true(broker, "connected"))
		em_report_add(report, EM_CHECK_BROKER, EM_RESULT_OK, NULL,
			      "emberd is connected to the broker");
	else
		em_report_add(
			report, EM_CHECK_BROKER, EM_RESULT_FAIL,
			"No drive is read. `journalctl -u ember-broker -e` says why; then, as "
			"root: systemctl restart ember-broker.socket.",
			"emberd is not connected to the broker");
}

static void judge_store(struct em_report *report, const json_t *store)
{
	const char *status = em_json_text(store, "status"), *detail = em_json_text(store, "detail");
	long long lost = count_of(store, "dropped_total");

	if (!status || strcmp(status, "ok") != 0)
		em_report_add(report, EM_CHECK_HISTORY, EM_RESULT_FAIL,
			      "Readings wait in memory until it can be written. Is the disk full "
			      "or read-only? `journalctl -u emberd -e` says more.",
			      "the history is not written: %s",
			      detail ? detail : "no reason given");
	else if (lost > 0)
		em_report_add(report, EM_CHECK_HISTORY, EM_RESULT_WARN,
			      "That was while the disk could not be written or was too slow.",
			      "the history is written, but %lld rows were lost since the start of "
			      "emberd",
			      lost);
	else
		em_report_add(report, EM_CHECK_HISTORY, EM_RESULT_OK, NULL,
			      "the history is written");
}

/* The reason's first sentence is what is found, the others are what to do. */
static void tell_silence(struct em_report *report, struct em_reason *reason)
{
	char *end = strstr(reason->text, ". ");
	size_t len;

	if (end)
		*end = '\0';
	len = strlen(reason->text);
	if (len > 0 && reason->text[len - 1] == '.')
		reason->text[len - 1] = '\0';
	em_report_add(report, EM_CHECK_EMBERD, EM_RESULT_FAIL,
		      end ? end + 2 : "`journalctl -u emberd -e` may say more.", "%s",
		      reason->text);
}

void em_doctor_emberd(struct em_doctor *doctor)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason = { 0 };

	if (em_api_try(doctor->client, "GET", "/v1/health", NULL, &doc, &reason) != EM_EXIT_OK) {
		tell_silence(&doctor->report, &reason);
		return;
	}
	doctor->health = json_incref(doc.root);
	judge_version(&doctor->report, em_json_text(doctor->health, "version"));
	judge_broker(&doctor->report, json_object_get(doctor->health, "broker"));
	judge_store(&doctor->report, json_object_get(doctor->health, "store"));
}

/* ---- listeners --------------------------------------------------------------------------- */

static int wait_connected(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0;

	if (poll(&poll_fd, 1, CONNECT_MS) == 0)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -errno;
	return -err;
}

static int try_address(int family, const struct sockaddr *address, socklen_t len)
{
	em_cleanup(em_closep) int fd =
		socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, address, len) == 0)
		return 0;
	return errno == EINPROGRESS ? wait_connected(fd) : -errno;
}

static int try_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	return try_address(AF_UNIX, (const struct sockaddr *)&address, sizeof(address));
}

/* "127.0.0.1:9980", "[::]:9443"; an address that stands for all of them leads to this host. */
static int try_tcp(const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	const char *port = strrchr(text, ':');
	char host[128];
	size_t skip = text[0] == '[';
	int r;

	if (!port || (size_t)(port - text) >= sizeof(host))
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)((size_t)(port - text) - 2 * skip), text + skip);
	if (getaddrinfo(host, port + 1, &hints, &found) != 0)
		return -EINVAL;
	r = try_address(found->ai_family, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	return r;
}

static void judge_listener(struct em_doctor *doctor, const char *kind, const char *address)
{
	int r = strcmp(kind, "unix") == 0 ? try_unix(address) : try_tcp(address);

	if (r == 0)
		em_report_add(&doctor->report, EM_CHECK_LISTENERS, EM_RESULT_OK, NULL,
			      "%s %s can be reached from here", kind, address);
	else
		em_report_add(&doctor->report, EM_CHECK_LISTENERS, EM_RESULT_FAIL,
			      strcmp(kind, "unix") == 0
				      ? "Something replaced the socket's file: systemctl restart "
					"emberd."
				      : "Does a firewall, or IPAddressDeny= in the unit of emberd, "
					"forbid it?",
			      "%s %s cannot be reached from here: %s", kind, address, strerror(-r));
}

void em_doctor_listeners(struct em_doctor *doctor)
{
	const json_t *listener;
	size_t i;

	json_array_foreach(json_object_get(doctor->health, "listeners"), i, listener)
	{
		const char *kind = em_json_text(listener, "kind");
		const char *address = em_json_text(listener, "address");

		if (kind && address)
			judge_listener(doctor, kind, address);
	}
}

/* ---- certificate and tokens -------------------------------------------------------------- */

static enum em_result judge_end(int64_t left_us)
{
	if (left_us <= 0)
		return EM_RESULT_FAIL;
	return left_us < (int64_t)EXPIRY_WARN_US ? EM_RESULT_WARN : EM_RESULT_OK;
}

void em_doctor_certificate(struct em_doctor *doctor)
{
	const char *text = em_json_text(doctor->health, "certificate_expires_at");
	char advice[768], shown[EM_VIEW_SIZE];
	enum em_result result;
	int64_t expires;

	if (!text || em_time_parse(text, 0, &expires) < 0)
		return; /* none is in use */
	result = judge_end(expires - em_realtime_us());
	snprintf(advice, sizeof(advice), "Put a new one into %s; as root: systemctl reload emberd.",
		 doctor->config.certificate[0] ? doctor->config.certificate : "its place");
	em_report_add(&doctor->report, EM_CHECK_CERTIFICATE, result,
		      result == EM_RESULT_OK ? NULL : advice,
		      "the certificate of the network listener %s %s",
		      result == EM_RESULT_FAIL ? "has expired on" : "is valid until",
		      em_view_time(text, shown));
}

/* One that ends soon or has ended; who uses it is shut out from then on. */
static unsigned judge_token(struct em_report *report, const json_t *token, int64_t now_us)
{
	const char *text = em_json_text(token, "expires_at"), *name = em_json_text(token, "name");
	char shown[EM_VIEW_SIZE];
	enum em_result result;
	int64_t expires;

	if (!text || em_time_parse(text, 0, &expires) < 0)
		return 0; /* it does not end by itself */
	result = judge_end(expires - now_us);
	if (result == EM_RESULT_OK)
		return 0;
	em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_WARN,
		      "If it is still needed, give its user another: emberctl token create NAME.",
		      "the token for %s %s %s", name ? name : "?",
		      result == EM_RESULT_FAIL ? "has ended on" : "ends on",
		      em_view_time(text, shown));
	return 1;
}

void em_doctor_judge_tokens(struct em_report *report, const json_t *tokens, int64_t now_us)
{
	size_t count = json_array_size(tokens), i;
	const json_t *token;
	unsigned told = 0;

	if (!tokens) {
		em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_OK,
			      "To have them checked, run emberctl doctor as root.",
			      "tokens are shown to those alone who may give orders");
		return;
	}
	json_array_foreach(tokens, i, token) told += judge_token(report, token, now_us);
	if (count == 0)
		em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_WARN,
			      "Make one: emberctl token create NAME.",
			      "emberd listens on the network, and nobody has a token for it");
	else if (told == 0)
		em_report_add(report, EM_CHECK_TOKENS, EM_RESULT_OK, NULL,
			      "%zu token%s, none of them ends soon", count, count == 1 ? "" : "s");
}

static bool listens_on_network(const json_t *health)
{
	const json_t *listener;
	size_t i;

	json_array_foreach(json_object_get(health, "listeners"), i, listener)
	{
		const char *kind = em_json_text(listener, "kind");

		if (kind && strcmp(kind, "https") == 0)
			return true;
	}
	return false;
}

void em_doctor_tokens(struct em_doctor *doctor)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;

	if (!listens_on_network(doctor->health))
		return; /* over the host's own sockets they count for nothing */
	em_api_try_list(doctor->client, "/v1/tokens", "tokens", 0, &doc, &reason);
	em_doctor_judge_tokens(&doctor->report, json_object_get(doc.root, "tokens"),
			       em_realtime_us());
}

/* ---- drives ------------------------------------------------------------------------------ */

static const char *join_names(const json_t *devices, char buf[EM_VIEW_SIZE])
{
	size_t count = json_array_size(devices), len = 0;

	for (size_t i = 0; i < count && i < NAMES_SHOWN; i++)
		len += (size_t)snprintf(buf + len, EM_VIEW_SIZE - len, "%s%.40s", i ? ", " : "",
					json_string_value(json_array_get(devices, i)));
	if (count > NAMES_SHOWN)
		snprintf(buf + len, EM_VIEW_SIZE - len, " and %zu more", count - NAMES_SHOWN);
	return buf;
}

static bool is_known(const json_t *drives, const char *device)
{
	const json_t *drive, *controller;
	size_t i, j;

	json_array_foreach(drives, i, drive)
	{
		const char *name = em_json_text(drive, "device");

		if (name && strcmp(name, device) == 0)
			return true;
		json_array_foreach(json_object_get(drive, "controllers"), j, controller)
		{
			name = em_json_text(controller, "device");
			if (name && strcmp(name, device) == 0)
				return true;
		}
	}
	return false;
}

/* What the kernel has, and emberd has not. */
static void find_unknown(struct em_doctor *doctor)
{
	json_t *controllers = em_doctor_controllers(doctor->root), *unknown = json_array();
	const json_t *device;
	char names[EM_VIEW_SIZE];
	size_t i;

	json_array_foreach(controllers, i,
			   device) if (!is_known(doctor->drives, json_string_value(device)))
		json_array_append(unknown, (json_t *)device);
	if (json_array_size(unknown) > 0)
		em_report_add(
			&doctor->report, EM_CHECK_DRIVES, EM_RESULT_WARN,
			"Discovery controllers, and with [drives] transport=pcie those of other "
			"transports, are left out on purpose. Else `journalctl -u ember-broker "
			"-e` may say why.",
			"emberd does not watch %s", join_names(unknown, names));
	json_decref(unknown);
	json_decref(controllers);
}

/* Devices of the drives in this state; a drive that is gone may have no device any more. */
static json_t *in_state(const json_t *drives, const char *wanted)
{
	json_t *names = json_array();
	const json_t *drive;
	size_t i;

	json_array_foreach(drives, i, drive)
	{
		const char *state = em_json_text(drive, "state");
		const char *device = em_json_text(drive, "device");
		const char *serial = em_json_text(drive, "serial");

		if (state && strcmp(state, wanted) == 0)
			json_array_append_new(names, json_string(device	  ? device
								 : serial ? serial
									  : "?"));
	}
	return names;
}

static void judge_state(struct em_doctor *doctor, const char *state, const char *one,
			const char *many, const char *advice)
{
	json_t *names = in_state(doctor->drives, state);
	size_t count = json_array_size(names);
	char buf[EM_VIEW_SIZE];

	if (count > 0)
		em_report_add(&doctor->report, EM_CHECK_DRIVES, EM_RESULT_WARN, advice,
			      "%zu %s: %s", count, count == 1 ? one : many, join_names(names, buf));
	json_decref(names);
}

static void judge_total(struct em_report *report, size_t total)
{
	if (total == 0)
		em_report_add(report, EM_CHECK_DRIVES, EM_RESULT_WARN,
			      "Does the kernel see one? `ls /sys/class/nvme`; "
			      "`journalctl -u ember-broker -e` says what the broker found.",
			      "emberd knows no drive");
	else
		em_report_add(report, EM_CHECK_DRIVES, EM_RESULT_OK, NULL,
			      "emberd knows %zu drive%s", total, total == 1 ? "" : "s");
}

void em_doctor_drives(struct em_doctor *doctor, bool here)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;

	if (em_api_try_list(doctor->client, "/v1/drives", "drives", 0, &doc, &reason) !=
	    EM_EXIT_OK) {
		em_report_add(&doctor->report, EM_CHECK_DRIVES, EM_RESULT_FAIL,
			      "`journalctl -u emberd -e` may say more.",
			      "emberd does not list its drives: %s", reason.text);
		return;
	}
	doctor->drives = json_incref(json_object_get(doc.root, "drives"));
	judge_total(&doctor->report, json_array_size(doctor->drives));
	judge_state(doctor, "unresponsive", "drive does not answer", "drives do not answer",
		    "The kernel's log may say why: journalctl -k -g nvme.");
	judge_state(doctor, "removed", "drive is gone", "drives are gone",
		    "Taken away on purpose? Then: emberctl retire DRIVE.");
	if (here)
		find_unknown(doctor);
}

/* ---- pages ------------------------------------------------------------------------------- */

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* What can be said of the pages of one drive. */
struct said {
	char unannounced[TEXT_SIZE], refused[TEXT_SIZE], failed[TEXT_SIZE];
};

static void append(char text[TEXT_SIZE], const char *page, const char *why)
{
	size_t len = strlen(text);

	snprintf(text + len, TEXT_SIZE - len, "%s%s%s%s%s", len ? ", " : "", page, why ? " (" : "",
		 why ? why : "", why ? ")" : "");
}

static void sort_pages(const json_t *pages, struct said *ret)
{
	static const char *const fine[] = { "ok", "never-read", NULL };
	const json_t *page;
	size_t i;

	*ret = (struct said){ 0 };
	json_array_foreach(pages, i, page)
	{
		const char *name = em_json_text(page, "page");
		const char *status = em_json_text(page, "status");
		const char *detail = em_json_text(page, "status_detail");

		if (!name || !status || is_one_of(status, fine))
			continue;
		if (strcmp(status, "unsupported") == 0)
			append(ret->unannounced, name, NULL);
		else if (strcmp(status, "refused") == 0)
			append(ret->refused, name, detail);
		else
			append(ret->failed, name, detail ? detail : status);
	}
}

/* Drives of which the same can be said share a line. */
static void note(json_t *said, const char *text, const char *device)
{
	json_t *devices = json_object_get(said, text);

	if (!devices) {
		devices = json_array();
		json_object_set_new(said, text, devices);
	}
	json_array_append_new(devices, json_string(device));
}

static void tell(struct em_report *report, const json_t *said, enum em_result result,
		 const char *advice, const char *what)
{
	const json_t *devices;
	const char *text;
	char names[EM_VIEW_SIZE];

	json_object_foreach((json_t *)said, text, devices)
		em_report_add(report, EM_CHECK_PAGES, result, advice, "%s: %s%s",
			      join_names(devices, names), what, text);
}

/* Of all drives: text -> devices. */
struct all_said {
	json_t *unannounced, *refused, *failed;
};

static void look_at(struct em_doctor *doctor, const char *device, struct all_said *all)
{
	em_cleanup(em_freep) char *path = em_api_drive_path(device, "");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	struct em_reason reason;
	struct said said;

	if (!path || em_api_try(doctor->client, "GET", path, NULL, &doc, &reason) != EM_EXIT_OK) {
		note(all->failed, "emberd does not tell of its pages", device);
		return;
	}
	sort_pages(json_object_get(doc.root, "pages"), &said);
	if (said.unannounced[0])
		note(all->unannounced, said.unannounced, device);
	if (said.refused[0])
		note(all->refused, said.refused, device);
	if (said.failed[0])
		note(all->failed, said.failed, device);
}

static void tell_all(struct em_doctor *doctor, const struct all_said *all)
{
	if (!json_object_size(all->unannounced) && !json_object_size(all->refused) &&
	    !json_object_size(all->failed)) {
		em_report_add(&doctor->report, EM_CHECK_PAGES, EM_RESULT_OK, NULL,
			      "every page of every drive is read");
		return;
	}
	tell(&doctor->report, all->unannounced, EM_RESULT_OK, NULL,
	     "not announced, so not asked: ");
	tell(&doctor->report, all->refused, EM_RESULT_OK,
	     "After a change of the drive: emberctl refresh DRIVE --refused.", "refused: ");
	tell(&doctor->report, all->failed, EM_RESULT_WARN,
	     "`emberctl show DRIVE` says when it was read last; emberctl refresh DRIVE asks again.",
	     "not read: ");
}

void em_doctor_pages(struct em_doctor *doctor)
{
	static const char *const gone[] = { "removed", "retired", NULL };
	struct all_said all = { json_object(), json_object(), json_object() };
	const json_t *drive;
	size_t i;

	json_array_foreach(doctor->drives, i, drive)
	{
		const char *device = em_json_text(drive, "device");
		const char *state = em_json_text(drive, "state");

		if (device && *device && state && !is_one_of(state, gone))
			look_at(doctor, device, &all);
	}
	if (json_array_size(doctor->drives) > 0)
		tell_all(doctor, &all);
	json_decref(all.unannounced);
	json_decref(all.refused);
	json_decref(all.failed);
}
