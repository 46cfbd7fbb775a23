/* SPDX-License-Identifier: Apache-2.0 */
/* What is installed, and how it is set up. */
#include "config.h"
#include "client/doctor.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

#define PATH_SIZE    1024
#define OUTPUT_SIZE  (64u << 10)
#define VERSION_SIZE 128
#define BUS_USEC     (2 * 1000 * 1000)

/* ---- programs ---------------------------------------------------------------------------- */

/* Where it was installed to, else wherever $PATH has it. */
static bool find_program(const char *installed, char path[PATH_SIZE])
{
	const char *name = strrchr(installed, '/') + 1, *at = getenv("PATH");

	snprintf(path, PATH_SIZE, "%s", installed);
	if (access(path, X_OK) == 0)
		return true;
	while (at && *at) {
		size_t len = strcspn(at, ":");

		snprintf(path, PATH_SIZE, "%.*s/%s", (int)len, at, name);
		if (*at == '/' && access(path, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* Reads until the end; what is too long is cut. */
static void read_output(int fd, char *output)
{
	char rest[512];
	size_t len = 0;
	ssize_t got;

	do {
		bool full = len >= OUTPUT_SIZE - 1;

		got = read(fd, full ? rest : output + len,
			   full ? sizeof(rest) : OUTPUT_SIZE - 1 - len);
		if (got > 0 && !full)
			len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	output[len] = '\0';
}

static int spawn_into(char *const argv[], int fd, pid_t *ret)
{
	char *const environment[] = { (char *)"LC_ALL=C",
				      (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn(ret, argv[0], &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Its exit status, or -errno; output is OUTPUT_SIZE bytes: what it says, complaints included. */
static int run_program(char *const argv[], char *output)
{
	int fds[2], status = 0, r;
	pid_t pid;

	output[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = spawn_into(argv, fds[1], &pid);
	close(fds[1]);
	if (r == 0)
		read_output(fds[0], output);
	close(fds[0]);
	if (r < 0)
		return r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

/* ---- versions ---------------------------------------------------------------------------- */

/* The last word of its --version. */
static bool read_version(const char *path, char version[VERSION_SIZE])
{
	em_cleanup(em_freep) char *output = malloc(OUTPUT_SIZE);
	char *const argv[] = { (char *)path, (char *)"--version", NULL };
	const char *word;

	if (!output || run_program(argv, output) != 0)
		return false;
	output[strcspn(output, "\n")] = '\0';
	word = strrchr(output, ' ');
	snprintf(version, VERSION_SIZE, "%s", word ? word + 1 : output);
	return *version != '\0';
}

static void judge_program(struct em_doctor *doctor, const char *installed)
{
	const char *name = strrchr(installed, '/') + 1;
	char path[PATH_SIZE], version[VERSION_SIZE];

	if (!find_program(installed, path))
		em_report_add(&doctor->report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			      "Is it installed on this host? If not, run emberctl doctor there.",
			      "there is no %s", installed);
	else if (!read_version(path, version))
		em_report_add(&doctor->report, EM_CHECK_VERSIONS, EM_RESULT_FAIL,
			      "Install it again.", "%s does not tell its version", path);
	else if (strcmp(version, PACKAGE_VERSION) != 0)
		em_report_add(&doctor->report, EM_CHECK_VERSIONS, EM_RESULT_WARN,
			      "Install all of Ember in one version.",
			      "%s has version %s, emberctl has " PACKAGE_VERSION, name, version);
	else
		em_report_add(&doctor->report, EM_CHECK_VERSIONS, EM_RESULT_OK, NULL,
			      "%s and emberctl have version " PACKAGE_VERSION, name);
}

void em_doctor_versions(struct em_doctor *doctor)
{
	judge_program(doctor, EM_SBINDIR "/emberd");
	judge_program(doctor, EM_LIBEXECDIR "/ember-broker");
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

static void judge_unit(struct em_doctor *doctor, sd_bus *bus, const char *unit)
{
	char active[64], enabled[64], advice[128];

	unit_property(bus, unit, "ActiveState", active);
	unit_property(bus, unit, "UnitFileState", enabled);
	if (strcmp(active, "active") != 0) {
		snprintf(advice, sizeof(advice),
			 "As root: systemctl enable --now emberd; journalctl -u %s says more.",
			 unit);
		em_report_add(&doctor->report, EM_CHECK_UNITS, EM_RESULT_FAIL, advice, "%s is %s",
			      unit, active[0] ? active : "unknown to systemd");
	} else if (strcmp(enabled, "enabled") != 0) {
		snprintf(advice, sizeof(advice), "As root: systemctl enable %s.", unit);
		em_report_add(&doctor->report, EM_CHECK_UNITS, EM_RESULT_WARN, advice,
			      "%s is active, and will not be after the next start of the host",
			      unit);
	} else {
		em_report_add(&doctor->report, EM_CHECK_UNITS, EM_RESULT_OK, NULL,
			      "%s is active and enabled", unit);
	}
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
	judge_unit(doctor, bus, "emberd.service");
	judge_unit(doctor, bus, "ember-broker.socket");
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
	char line[PATH_SIZE], section[64] = "";

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

/* "<3>emberd: /etc/...: text" as systemd wants it; people want the text. */
static const char *plain_complaint(char *output)
{
	char *text = strstr(output, "emberd: ");

	output[strcspn(output, "\n")] = '\0';
	return text && text < output + 8 ? text + strlen("emberd: ") : output;
}

void em_doctor_configuration(struct em_doctor *doctor)
{
	em_cleanup(em_freep) char *output = malloc(OUTPUT_SIZE);
	char path[PATH_SIZE];
	char *argv[] = { path, (char *)"--print-config", NULL, NULL, NULL };
	int r;

	if (doctor->config_path) {
		argv[2] = (char *)"--config";
		argv[3] = (char *)doctor->config_path;
	}
	if (!output || !find_program(EM_SBINDIR "/emberd", path))
		return; /* versions has told it */
	r = run_program(argv, output);
	if (r < 0) {
		em_report_add(&doctor->report, EM_CHECK_CONFIGURATION, EM_RESULT_WARN, NULL,
			      "%s cannot be run: %s", path, strerror(-r));
	} else if (r != 0) {
		em_report_add(&doctor->report, EM_CHECK_CONFIGURATION, EM_RESULT_FAIL,
			      "Mend it. An emberd that runs keeps what it has, but would not start "
			      "again. `emberd --check-config` checks.",
			      "%s", plain_complaint(output));
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
	char real[PATH_SIZE], advice[PATH_SIZE];
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

void em_doctor_policy(struct em_doctor *doctor)
{
	static const char path[] = EM_SYSCONFDIR "/policy.conf";
	char real[PATH_SIZE];
	struct stat st;

	if (!judge_trust(doctor, EM_SYSCONFDIR, true) || !judge_trust(doctor, path, false) ||
	    !judge_trust(doctor, EM_SYSCONFDIR "/broker.conf", false))
		return;
	snprintf(real, sizeof(real), "%s%s", doctor->root, path);
	if (stat(real, &st) == 0)
		em_report_add(&doctor->report, EM_CHECK_POLICY, EM_RESULT_OK, NULL,
			      "%s belongs to root, and root alone can change it", path);
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
