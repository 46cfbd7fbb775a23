/* SPDX-License-Identifier: Apache-2.0 */
/* The machine itself: who asks, kernel, disk, clock, and other programs that use the drives. */
#include "client/doctor.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

#define PATH_SIZE  1024
#define GROUPS_MAX 1024

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* The first line; false: it cannot be read. */
static bool read_line(const char *path, char *buf, int size)
{
	em_cleanup(em_fclosep) FILE *file = fopen(path, "re");

	if (!file || !fgets(buf, size, file))
		return false;
	buf[strcspn(buf, "\r\n")] = '\0';
	return true;
}

/* ---- who asks ---------------------------------------------------------------------------- */

static bool in_groups(gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);

	for (int i = 0; i < count; i++)
		if (groups[i] == gid)
			return true;
	return getegid() == gid;
}

static bool is_listed(const struct group *group, const char *user)
{
	for (char **member = group->gr_mem; member && *member; member++)
		if (strcmp(*member, user) == 0)
			return true;
	return false;
}

static void judge_group(struct em_doctor *doctor, const char *user, const char *name)
{
	const struct group *group = getgrnam(name);
	char advice[256];

	if (!group) {
		snprintf(advice, sizeof(advice),
			 "Make it with `systemd-sysusers`, or as root: groupadd --system %s", name);
		em_report_add(
			&doctor->report, EM_CHECK_USER, EM_RESULT_WARN, advice,
			"%s may look; there is no group %s, so that only root may give orders",
			user, name);
	} else if (in_groups(group->gr_gid)) {
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, NULL,
			      "%s may look and give orders, as a member of %s", user, name);
	} else if (is_listed(group, user)) {
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_WARN,
			      "Log in again: a session keeps the groups that it began with.",
			      "%s is a member of %s, but not in this session", user, name);
	} else {
		snprintf(advice, sizeof(advice),
			 "To give orders, as root: adduser %s %s, and log in again.", user, name);
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, advice,
			      "%s may look, but not give orders", user);
	}
}

void em_doctor_user(struct em_doctor *doctor)
{
	const struct passwd *pw = getpwuid(geteuid());
	char user[64];

	if (pw)
		snprintf(user, sizeof(user), "%s", pw->pw_name);
	else
		snprintf(user, sizeof(user), "uid %ld", (long)geteuid());
	if (geteuid() == 0)
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, NULL,
			      "%s may look and give orders", user);
	else if (!doctor->config.admin_group[0])
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, NULL,
			      "%s may look; only root may give orders", user);
	else
		judge_group(doctor, user, doctor->config.admin_group);
}

/* ---- kernel ------------------------------------------------------------------------------ */

json_t *em_doctor_controllers(const char *root)
{
	em_cleanup(close_dir) DIR *dir = NULL;
	const struct dirent *entry;
	char path[PATH_SIZE];
	json_t *names;

	snprintf(path, sizeof(path), "%s/sys/class/nvme", root);
	dir = opendir(path);
	if (!dir)
		return NULL;
	names = json_array();
	while ((entry = readdir(dir)))
		if (strncmp(entry->d_name, "nvme", 4) == 0 &&
		    isdigit((unsigned char)entry->d_name[4]))
			json_array_append_new(names, json_string(entry->d_name));
	return names;
}

void em_doctor_kernel(struct em_doctor *doctor)
{
	json_t *controllers = em_doctor_controllers(doctor->root);
	size_t count = json_array_size(controllers);
	struct utsname name = { 0 };

	uname(&name);
	if (!controllers)
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_FAIL,
			      "As root: modprobe nvme; then systemctl restart ember-broker.",
			      "%s %s has no NVMe driver loaded", name.sysname, name.release);
	else if (count == 0)
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_WARN,
			      "Are the drives plugged in? `lspci -d ::0108` lists those on PCIe.",
			      "%s %s has its NVMe driver, and no controller", name.sysname,
			      name.release);
	else
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_OK, NULL,
			      "%s %s, NVMe driver loaded, %zu controller%s", name.sysname,
			      name.release, count, count == 1 ? "" : "s");
	json_decref(controllers);
}

/* ---- disk -------------------------------------------------------------------------------- */

#define MIB		(UINT64_C(1) << 20)
#define SPACE_FAIL	(16 * MIB)
#define SPACE_WARN	(256 * MIB)
#define SPACE_WARN_PART 20 /* a twentieth of the whole */

void em_doctor_space(struct em_report *report, const char *place, uint64_t free_bytes,
		     uint64_t total_bytes)
{
	unsigned long long mib = free_bytes / MIB;

	if (free_bytes < SPACE_FAIL)
		em_report_add(
			report, EM_CHECK_DISK, EM_RESULT_FAIL,
			"Make room: without it readings wait in memory, and are lost with it.",
			"%s has only %llu MiB left", place, mib);
	else if (free_bytes < SPACE_WARN || free_bytes < total_bytes / SPACE_WARN_PART)
		em_report_add(report, EM_CHECK_DISK, EM_RESULT_WARN,
			      "Make room, or keep less: [store] raw_keep in emberd.conf(5).",
			      "%s has %llu MiB left of %llu MiB", place, mib,
			      (unsigned long long)(total_bytes / MIB));
	else
		em_report_add(report, EM_CHECK_DISK, EM_RESULT_OK, NULL, "%s has %llu MiB left",
			      place, mib);
}

void em_doctor_disk(struct em_doctor *doctor)
{
	const char *place = doctor->config.directory;
	char path[PATH_SIZE];
	struct statvfs st;

	snprintf(path, sizeof(path), "%s%s", doctor->root, place);
	if (statvfs(path, &st) < 0) {
		em_report_add(&doctor->report, EM_CHECK_DISK, EM_RESULT_WARN,
			      errno == ENOENT ? "systemd makes it for emberd.service; an emberd "
						"started by hand may have another."
					      : "Run emberctl doctor as root.",
			      "%s, for the history: %s", place, strerror(errno));
		return;
	}
	if (st.f_flag & ST_RDONLY)
		em_report_add(&doctor->report, EM_CHECK_DISK, EM_RESULT_FAIL,
			      "Mount it read-write; the kernel's log says why it is not.",
			      "%s lies on a file system that is read-only", place);
	else if (st.f_files > 0 && st.f_favail == 0)
		em_report_add(&doctor->report, EM_CHECK_DISK, EM_RESULT_FAIL,
			      "Remove files: `df -i` shows how many there are.",
			      "%s lies on a file system that can take no more files", place);
	else
		em_doctor_space(&doctor->report, place, (uint64_t)st.f_bavail * st.f_frsize,
				(uint64_t)st.f_blocks * st.f_frsize);
}

/* ---- clock ------------------------------------------------------------------------------- */

void em_doctor_clock(struct em_doctor *doctor)
{
	struct timex clock = { 0 };
	int state = adjtimex(&clock);

	if (state < 0)
		em_report_add(&doctor->report, EM_CHECK_CLOCK, EM_RESULT_WARN, NULL,
			      "the kernel does not tell about its clock: %s", strerror(errno));
	else if (state == TIME_ERROR || clock.status & STA_UNSYNC)
		em_report_add(
			&doctor->report, EM_CHECK_CLOCK, EM_RESULT_WARN,
			"Install a time service (apt-get install systemd-timesyncd), then "
			"timedatectl set-ntp true. A wrong clock puts readings in wrong places.",
			"the clock is not synchronised");
	else
		em_report_add(&doctor->report, EM_CHECK_CLOCK, EM_RESULT_OK, NULL,
			      "the clock is synchronised");
}

/* ---- other programs ---------------------------------------------------------------------- */

/* Programs that ask the same drives, and how each gets along with Ember. */
static const struct tool {
	const char *process; /* as in /proc/PID/comm */
	const char *name;
	const char *meaning;
	const char *advice;
} tools[] = {
	{ "smartd", "smartd",
	  "reads the same health log now and then. Both may run; when its reading comes first "
	  "after a warning, Ember sees the warning with its next poll and not at once",
	  "Nothing has to be done. To have warnings at once, leave NVMe drives out of "
	  "/etc/smartd.conf." },
	{ "udisksd", "udisks2",
	  "serves desktops, and can format and, from 2.10 on, read health logs and start "
	  "self-tests. Both may run; what it changes shows in emberctl changes",
	  NULL },
	{ "fwupd", "fwupd",
	  "can update the firmware of drives. Both may run; an update by it shows in emberctl "
	  "changes",
	  "To leave firmware to people alone: DisabledPlugins=nvme in /etc/fwupd/daemon.conf." },
	{ "multipathd", "multipathd",
	  "may join the paths to a namespace. Ember asks the controllers below and is not in its "
	  "way",
	  NULL },
};

/* Bit per tool that runs. */
static unsigned find_running(const char *root)
{
	em_cleanup(close_dir) DIR *dir = NULL;
	const struct dirent *entry;
	char path[PATH_SIZE], name[64];
	unsigned found = 0;

	snprintf(path, sizeof(path), "%s/proc", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "%s/proc/%s/comm", root, entry->d_name);
		if (!read_line(path, name, sizeof(name)))
			continue;
		for (unsigned i = 0; i < EM_COUNT(tools); i++)
			if (strcmp(tools[i].process, name) == 0)
				found |= 1u << i;
	}
	return found;
}

/* The kernel's own sensors: whoever reads them reads the health log. */
static bool has_sensors(const char *root)
{
	em_cleanup(close_dir) DIR *dir = NULL;
	const struct dirent *entry;
	char path[PATH_SIZE], name[64];

	snprintf(path, sizeof(path), "%s/sys/class/hwmon", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/sys/class/hwmon/%s/name", root, entry->d_name);
		if (read_line(path, name, sizeof(name)) && strcmp(name, "nvme") == 0)
			return true;
	}
	return false;
}

void em_doctor_tools(struct em_doctor *doctor)
{
	unsigned running = find_running(doctor->root);
	bool sensors = has_sensors(doctor->root);

	for (unsigned i = 0; i < EM_COUNT(tools); i++)
		if (running & 1u << i)
			em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_OK,
				      tools[i].advice, "%s %s", tools[i].name, tools[i].meaning);
	if (sensors)
		em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_OK, NULL,
			      "the kernel offers drive temperatures as sensors. Who reads them "
			      "(sensors, node exporter) reads the health log, as smartctl and "
			      "nvme smart-log do: a warning may then reach Ember with its next "
			      "poll and not at once");
	if (!running && !sensors)
		em_report_add(&doctor->report, EM_CHECK_TOOLS, EM_RESULT_OK, NULL,
			      "none of smartd, udisks2, fwupd and multipathd runs");
}
