/* SPDX-License-Identifier: Apache-2.0 */
/* What is installed, and how it is set up. */
#include "config.h"
#include "client/doctor.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

#define BUS_USEC      (2 * 1000 * 1000)
#define LIBNVME_MAJOR 1u
#define LIBNVME_MINOR 3u

/* ---- versions ---------------------------------------------------------------------------- */

/* "emberd 0.1.0": the version in the first line; NULL: it is something else. */
static const char *version_in(char *line, const char *name)
{
	size_t len = strlen(name);

	line[strcspn(line, "\n")] = '\0';
	return strncmp(line, name, len) == 0 && line[len] == ' ' && line[len + 1] ? line + len + 1
										  : NULL;
}

/* output: what it printed for --version. */
static void judge_version(struct em_report *report, const char *path, const char *name,
			  char *output)
{
	const char *version = version_in(output, name);

	if (!version)
		em_report_add(report, EM_CHECK_VERSIONS, EM_RESULT_FAIL, "Install it again.",
			      "%s does not tell its version", path);
	else if (strcmp(version, PACKAGE_VERSION) != 0)
		em_report_add(report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			      "Install all of Ember in one version.",
			      "%s has version %s, emberctl has " PACKAGE_VERSION, name, version);
	else
		em_report_add(report, EM_CHECK_VERSIONS, EM_RESULT_OK, NULL,
			      "%s and emberctl have version " PACKAGE_VERSION, name);
}

/* NULL, or what it printed for --version, to be freed. */
static char *look_at_program(struct em_doctor *doctor, const char *installed)
{
	char *output = malloc(EM_DOCTOR_OUTPUT_SIZE);
	em_cleanup(em_freep) char *line = NULL;
	char path[EM_DOCTOR_PATH_SIZE];
	char *const argv[] = { path, (char *)"--version", NULL };

	if (!em_doctor_find_program(installed, path)) {
		em_report_add(&doctor->report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			      "Is it installed on this host? If not, run emberctl doctor there.",
			      "there is no %s", installed);
	} else if (output) {
		if (em_doctor_run(argv, output) != 0)
			output[0] = '\0';
		line = strdup(output);
		if (line)
			judge_version(&doctor->report, path, strrchr(installed, '/') + 1, line);
		return output;
	}
	free(output);
	return NULL;
}

void em_doctor_judge_libnvme(struct em_report *report, const char *versions)
{
	const char *line = strstr(versions, "\nlibnvme ");
	const char *version = line ? line + strlen("\nlibnvme ") : "";
	unsigned major = 0, minor = 0;

	if (sscanf(version, "%u.%u", &major, &minor) != 2)
		em_report_add(report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			      "Install all of Ember in one version.",
			      "ember-broker does not tell which libnvme it uses");
	else if (major < LIBNVME_MAJOR || (major == LIBNVME_MAJOR && minor < LIBNVME_MINOR))
		em_report_add(
			report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			"Is there an older one in /usr/local/lib? `ldd` of ember-broker shows "
			"which is found.",
			"ember-broker uses libnvme %u.%u, and is made for %u.%u and later", major,
			minor, LIBNVME_MAJOR, LIBNVME_MINOR);
	else
		em_report_add(report, EM_CHECK_VERSIONS, EM_RESULT_OK, NULL,
			      "ember-broker uses libnvme %.*s", (int)strcspn(version, "\n"),
			      version);
}

/* A program that runs on although its file was replaced. Only root sees that of others. */
static void find_replaced(void *userdata, const char *directory, const char *name)
{
	static const char mark[] = " (deleted)";
	struct em_doctor *doctor = userdata;
	char path[EM_DOCTOR_PATH_SIZE], target[EM_DOCTOR_PATH_SIZE];
	ssize_t len;

	if (strcmp(name, "emberd") != 0 && strcmp(name, "ember-broker") != 0)
		return;
	snprintf(path, sizeof(path), "%s/exe", directory);
	len = readlink(path, target, sizeof(target) - 1);
	if (len < (ssize_t)sizeof(mark))
		return;
	target[len] = '\0';
	if (strcmp(target + len - (sizeof(mark) - 1), mark) == 0)
		em_report_add(&doctor->report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			      "As root: systemctl restart emberd ember-broker.",
			      "%s was replaced while it ran: the old one still runs", name);
}

void em_doctor_versions(struct em_doctor *doctor)
{
	em_cleanup(em_freep) char *broker = NULL;

	free(look_at_program(doctor, EM_SBINDIR "/emberd"));
	broker = look_at_program(doctor, EM_LIBEXECDIR "/ember-broker");
	if (broker && *broker)
		em_doctor_judge_libnvme(&doctor->report, broker);
	em_doctor_each_process(doctor->root, find_replaced, doctor);
}

/* ---- units ------------------------------------------------------------------------------- */

static void bus_unrefp(sd_bus **bus)
{
	sd_bus_flush_close_unref(*bus);
}

/* "": it cannot be told. */
static void unit_property(sd_bus *bus, const char *unit, const char *property, char buf[64])
{
	em_cleanup(em_freep) char *path = NULL;
	em_cleanup(em_freep) char *value = NULL;

	buf[0] = '\0';
	if (sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path) >= 0 &&
	    sd_bus_get_property_string(bus, "org.freedesktop.systemd1", path,
				       "org.freedesktop.systemd1.Unit", property, NULL,
				       &value) >= 0)
		snprintf(buf, 64, "%s", value);
}

void em_doctor_judge_unit(struct em_report *report, const char *unit, const char *active,
			  const char *enabled)
{
	char advice[128];

	if (strcmp(active, "active") != 0) {
		snprintf(advice, sizeof(advice),
			 "As root: systemctl enable --now emberd; journalctl -u %s says more.",
			 unit);
		em_report_add(report, EM_CHECK_UNITS, EM_RESULT_FAIL, advice, "%s is %s", unit,
			      active[0] ? active : "unknown to systemd");
	} else if (strcmp(enabled, "enabled") != 0) {
		snprintf(advice, sizeof(advice), "As root: systemctl enable %s.", unit);
		em_report_add(report, EM_CHECK_UNITS, EM_RESULT_WARN, advice,
			      "%s is active, and will not be after the next start of the host",
			      unit);
	} else {
		em_report_add(report, EM_CHECK_UNITS, EM_RESULT_OK, NULL,
			      "%s is active and enabled", unit);
	}
}

static void look_at_unit(struct em_doctor *doctor, sd_bus *bus, const char *unit)
{
	char active[64], enabled[64];

	unit_property(bus, unit, "ActiveState", active);
	unit_property(bus, unit, "UnitFileState", enabled);
	em_doctor_judge_unit(&doctor->report, unit, active, enabled);
}

void em_doctor_units(struct em_doctor *doctor)
{
	em_cleanup(bus_unrefp) sd_bus *bus = NULL;
	int r = sd_bus_open_system(&bus);

	if (r >= 0)
		r = sd_bus_set_method_call_timeout(bus, BUS_USEC);
	if (r < 0) {
		em_report_add(&doctor->report, EM_CHECK_UNITS, EM_RESULT_WARN,
			      "Does systemd run here? Without it something else must start "
			      "emberd and ember-broker.",
			      "systemd cannot be asked: %s", strerror(-r));
		return;
	}
	look_at_unit(doctor, bus, "emberd.service");
	look_at_unit(doctor, bus, "ember-broker.socket");
}

/* ---- configuration ----------------------------------------------------------------------- */

static void take_option(struct em_doctor_config *config, const char *section, const char *line)
{
	const struct {
		const char *section, *key;
		char *value;
		size_t size;
	} wanted[] = {
		{ "[store]", "directory=", config->directory, sizeof(config->directory) },
		{ "[http]", "admin_group=", config->admin_group, sizeof(config->admin_group) },
		{ "[https]", "certificate=", config->certificate, sizeof(config->certificate) },
	};

	for (size_t i = 0; i < EM_COUNT(wanted); i++)
		if (strcmp(section, wanted[i].section) == 0 &&
		    strncmp(line, wanted[i].key, strlen(wanted[i].key)) == 0)
			snprintf(wanted[i].value, wanted[i].size, "%s",
				 line + strlen(wanted[i].key));
}

void em_doctor_read_config(struct em_doctor_config *config, const char *text)
{
	char line[EM_DOCTOR_PATH_SIZE], section[64] = "";

	while (*text) {
		size_t len = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		if (line[0] == '[')
			snprintf(section, sizeof(section), "%.63s", line);
		else
			take_option(config, section, line);
		text += len + (text[len] == '\n');
	}
	config->known = true;
}

void em_doctor_configuration(struct em_doctor *doctor)
{
	em_cleanup(em_freep) char *output = malloc(EM_DOCTOR_OUTPUT_SIZE);
	char path[EM_DOCTOR_PATH_SIZE];
	char *argv[] = { path, (char *)"--print-config", NULL, NULL, NULL };
	int r;

	if (doctor->config_path) {
		argv[2] = (char *)"--config";
		argv[3] = (char *)doctor->config_path;
	}
	if (!output || !em_doctor_find_program(EM_SBINDIR "/emberd", path))
		return; /* versions has told it */
	r = em_doctor_run(argv, output);
	if (r < 0) {
		em_report_add(&doctor->report, EM_CHECK_CONFIGURATION, EM_RESULT_WARN, NULL,
			      "%s cannot be run: %s", path, strerror(-r));
	} else if (r != 0) {
		em_report_add(&doctor->report, EM_CHECK_CONFIGURATION, EM_RESULT_FAIL,
			      "Mend it. An emberd that runs keeps what it has, but would not start "
			      "again. `emberd --check-config` checks.",
			      "%s", em_doctor_complaint(output));
	} else {
		em_doctor_read_config(&doctor->config, output);
		em_report_add(&doctor->report, EM_CHECK_CONFIGURATION, EM_RESULT_OK, NULL,
			      "emberd's configuration is in order");
	}
}

/* ---- policy ------------------------------------------------------------------------------ */

/* As the broker judges; NULL: it trusts it. */
static const char *distrust(const struct stat *st, bool directory)
{
	if (!directory && !S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != 0)
		return "does not belong to root";
	if (st->st_mode & (S_IWGRP | S_IWOTH) && !(directory && st->st_mode & S_ISVTX))
		return "can be written by others than root";
	return NULL;
}

static bool judge_trust(struct em_doctor *doctor, const char *path, bool directory)
{
	char real[EM_DOCTOR_PATH_SIZE], advice[EM_DOCTOR_PATH_SIZE];
	const char *problem;
	struct stat st;

	snprintf(real, sizeof(real), "%s%s", doctor->root, path);
	if (stat(real, &st) < 0)
		return true;
	problem = distrust(&st, directory);
	if (!problem)
		return true;
	snprintf(advice, sizeof(advice),
		 "As root: chown root %.400s; chmod go-w %.400s. Until then the broker does not "
		 "start.",
		 path, path);
	em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_FAIL, advice, "%s %s", path,
		      problem);
	return false;
}

/* Below another root, files are named and so have to be there. */
static void add_file(const struct em_doctor *doctor, char *argv[], unsigned *count,
		     const char *option, const char *file, char path[EM_DOCTOR_PATH_SIZE])
{
	if (!*doctor->root)
		return;
	snprintf(path, EM_DOCTOR_PATH_SIZE, "%s%s", doctor->root, file);
	if (access(path, F_OK) < 0)
		return;
	argv[(*count)++] = (char *)option;
	argv[(*count)++] = path;
}

/* The broker reads its files as it would for a start. false: they are wrong, and that was told. */
static bool ask_broker(struct em_doctor *doctor)
{
	em_cleanup(em_freep) char *output = malloc(EM_DOCTOR_OUTPUT_SIZE);
	char path[EM_DOCTOR_PATH_SIZE], policy[EM_DOCTOR_PATH_SIZE], options[EM_DOCTOR_PATH_SIZE];
	char *argv[10] = { path, (char *)"--print-policy", (char *)"--client-user", (char *)"0" };
	unsigned count = 4;
	int r;

	if (!output || !em_doctor_find_program(EM_LIBEXECDIR "/ember-broker", path))
		return true; /* versions has told it */
	add_file(doctor, argv, &count, "--policy", EM_SYSCONFDIR "/policy.conf", policy);
	add_file(doctor, argv, &count, "--config", EM_SYSCONFDIR "/broker.conf", options);
	r = em_doctor_run(argv, output);
	if (r == 0) {
		snprintf(doctor->policy, sizeof(doctor->policy), "%s", output);
		return true;
	}
	if (r < 0)
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_WARN, "Install it again.",
			      "%s cannot be run: %s", path, strerror(-r));
	else
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_FAIL,
			      "Mend it, or the broker does not start again. `ember-broker "
			      "--print-policy` checks.",
			      "%s", em_doctor_complaint(output));
	return false;
}

static void judge_policy(struct em_doctor *doctor, const char *path)
{
	char real[EM_DOCTOR_PATH_SIZE];
	struct stat st;

	snprintf(real, sizeof(real), "%s%s", doctor->root, path);
	if (stat(real, &st) == 0)
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_OK, NULL,
			      "%s is in order, and root alone can change it", path);
	else if (errno == ENOENT && lstat(real, &st) == 0)
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_FAIL,
			      "Put the file where the link points, or remove the link.",
			      "%s is a link to nothing: the broker does not start", path);
	else if (errno == ENOENT)
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_OK, NULL,
			      "there is no %s: the built-in policy holds, see broker.conf(5)",
			      path);
	else
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_WARN,
			      "Run emberctl doctor as root.", "%s: %s", path, strerror(errno));
}

void em_doctor_policy(struct em_doctor *doctor)
{
	static const char path[] = EM_SYSCONFDIR "/policy.conf";
	char real[EM_DOCTOR_PATH_SIZE];

	if (!judge_trust(doctor, EM_SYSCONFDIR, true) || !judge_trust(doctor, path, false) ||
	    !judge_trust(doctor, EM_SYSCONFDIR "/broker.conf", false))
		return;
	snprintf(real, sizeof(real), "%s%s", doctor->root, path);
	/* What may not be read cannot be judged, not even by the broker in our name. */
	if (access(real, F_OK) == 0 && access(real, R_OK) < 0)
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_OK,
			      "To have it checked, run emberctl doctor as root.",
			      "%s belongs to root, and root alone can read it", path);
	else if (ask_broker(doctor))
		judge_policy(doctor, path);
}
