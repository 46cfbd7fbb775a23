/* SPDX-License-Identifier: Apache-2.0 */
/* Other programs that use the drives: which there are, and how Ember gets along with each. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "client/doctor.h"
#include "client/files.h"
#include "lib/base/cleanup.h"

#define UNIT_DIRECTORY "/etc/systemd/system"
#define BUS_DIRECTORY  "/usr/share/dbus-1/system-services"
#define MASK	       "/dev/null" /* where systemd points units that must not start */

static const struct tool {
	const char *process; /* as in /proc/PID/comm, which has 15 bytes */
	const char *name;
	const char *units[2]; /* any of them may be enabled; NULL = there is none */
	const char *bus_name; /* D-Bus starts it when it is asked for; NULL = never */
	const char *meaning;
	const char *way_around; /* the class of the policy that it does without asking; NULL */
	const char *deed;
	const char *advice; /* against that; NULL */
} tools[] = {
	{ "smartd",
	  "smartd",
	  { "smartmontools.service", "smartd.service" },
	  NULL,
	  "reads the same health log now and then. Both may run; when its reading comes first "
	  "after a warning, Ember sees the warning with its next poll and not at once",
	  "test",
	  "starts self-tests by itself, from 7.5 on, where smartd.conf has -s",
	  "Leave NVMe drives or -s out of /etc/smartd.conf." },
	{ "udisksd",
	  "udisks2",
	  { "udisks2.service", NULL },
	  "org.freedesktop.UDisks2",
	  "serves desktops, and from 2.10 on reads health logs, formats, and starts self-tests. "
	  "Both may run; what it changes shows in `emberctl changes`",
	  "erase",
	  "formats and sanitizes, from 2.10 on, for whom polkit lets",
	  "As root: systemctl mask --now udisks2, or forbid it in polkit's rules." },
	{ "fwupd",
	  "fwupd",
	  { "fwupd.service", NULL },
	  "org.freedesktop.fwupd",
	  "can update the firmware of drives. Both may run; an update by it shows in "
	  "`emberctl changes`",
	  "firmware",
	  "updates firmware for whom polkit lets",
	  "Set DisabledPlugins=nvme in /etc/fwupd/fwupd.conf (before 1.9: daemon.conf)." },
	{ "multipathd",
	  "multipathd",
	  { "multipathd.service", "multipath-tools.service" },
	  NULL,
	  "may join the paths to a namespace. Ember asks the controllers below it: neither is in "
	  "the other's way",
	  NULL,
	  NULL,
	  NULL },
};

/* ---- which run, and which will ----------------------------------------------------------- */

void em_doctor_each_process(const char *root, em_doctor_process_fn *fn, void *userdata)
{
	em_cleanup(em_closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[EM_DOCTOR_PATH_SIZE], name[64];

	snprintf(path, sizeof(path), "%s/proc", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/proc/%s/comm", root, entry->d_name);
		if (!em_first_line(path, name, sizeof(name)))
			continue;
		*strrchr(path, '/') = '\0';
		fn(userdata, path, name);
	}
}

/* Sets a bit per tool that runs. */
static void note_running(void *userdata, const char *directory, const char *name)
{
	unsigned *running = userdata;

	(void)directory;
	for (unsigned i = 0; i < EM_COUNT(tools); i++)
		if (strcmp(tools[i].process, name) == 0)
			*running |= 1u << i;
}

static bool is_masked(const char *root, const char *unit)
{
	char path[EM_DOCTOR_PATH_SIZE], target[sizeof(MASK) + 1];
	ssize_t len;

	snprintf(path, sizeof(path), "%s" UNIT_DIRECTORY "/%s", root, unit);
	len = readlink(path, target, sizeof(target));
	return len == sizeof(MASK) - 1 && memcmp(target, MASK, sizeof(MASK) - 1) == 0;
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* What `systemctl enable` leaves behind: a link in the directory of some target. */
static bool is_enabled(const char *root, const char *unit)
{
	em_cleanup(em_closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[EM_DOCTOR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s" UNIT_DIRECTORY, root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".wants") && !strstr(entry->d_name, ".requires"))
			continue;
		snprintf(path, sizeof(path), "%s" UNIT_DIRECTORY "/%s/%s", root, entry->d_name,
			 unit);
		if (is_link(path))
			return true;
	}
	return false;
}

static bool is_on_call(const char *root, const char *bus_name)
{
	char path[EM_DOCTOR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s" BUS_DIRECTORY "/%s.service", root, bus_name);
	return access(path, F_OK) == 0;
}

/* How it is with a tool, for "smartd runs and ..."; NULL: it will not get in anybody's way. */
static const char *presence(const char *root, const struct tool *tool, bool running)
{
	bool masked = is_masked(root, tool->units[0]);

	if (running)
		return "runs";
	for (size_t i = 0; i < EM_COUNT(tool->units) && !masked; i++)
		if (tool->units[i] && is_enabled(root, tool->units[i]))
			return "does not run, but is enabled";
	if (tool->bus_name && !masked && is_on_call(root, tool->bus_name))
		return "does not run, but starts when it is asked for";
	return NULL;
}

/* ---- what that means --------------------------------------------------------------------- */

static bool policy_denies(const struct em_doctor *doctor, const char *class)
{
	char line[64];

	snprintf(line, sizeof(line), "%s=deny\n", class);
	return strstr(doctor->policy, line);
}

static void judge(struct em_doctor *doctor, const struct tool *tool, const char *presence)
{
	em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_OK, NULL, "%s %s. It %s",
		      tool->name, presence, tool->meaning);
	if (tool->way_around && policy_denies(doctor, tool->way_around))
		em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_WARN, tool->advice,
			      "the policy denies %s to Ember, but %s does not ask it: it %s",
			      tool->way_around, tool->name, tool->deed);
}

/* The kernel's own sensors: whoever reads them reads the health log. */
static bool has_sensors(const char *root)
{
	em_cleanup(em_closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[EM_DOCTOR_PATH_SIZE], name[64];

	snprintf(path, sizeof(path), "%s/sys/class/hwmon", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/sys/class/hwmon/%s/name", root, entry->d_name);
		if (em_first_line(path, name, sizeof(name)) && strcmp(name, "nvme") == 0)
			return true;
	}
	return false;
}

void em_doctor_tools(struct em_doctor *doctor)
{
	unsigned running = 0, found = 0;

	em_doctor_each_process(doctor->root, note_running, &running);
	for (unsigned i = 0; i < EM_COUNT(tools); i++) {
		const char *how = presence(doctor->root, &tools[i], running & 1u << i);

		found += how != NULL;
		if (how)
			judge(doctor, &tools[i], how);
	}
	if (has_sensors(doctor->root))
		em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_OK, NULL,
			      "the kernel offers drive temperatures as sensors. Who reads them "
			      "(sensors, node exporter) reads the health log, as smartctl and "
			      "nvme smart-log do: a warning may then reach Ember with its next "
			      "poll and not at once");
	if (found == 0)
		em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_OK, NULL,
			      "none of smartd, udisks2, fwupd and multipathd runs or is enabled");
}
