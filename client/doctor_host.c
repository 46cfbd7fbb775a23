/* SPDX-License-Identifier: Apache-2.0 */
/* The machine itself: who asks, kernel, disk, clock. */
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
#include "client/files.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define GROUPS_MAX 1024

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
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_WARN, advice,
			      "there is no group %2$s, so that %1$s may give no orders, and root "
			      "alone may",
			      user, name);
	} else if (in_groups(group->gr_gid)) {
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, NULL,
			      "%s may give orders, as a member of %s", user, name);
	} else if (is_listed(group, user)) {
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_WARN,
			      "Log in again: a session keeps the groups that it began with.",
			      "%s is a member of %s, but not in this session", user, name);
	} else {
		snprintf(advice, sizeof(advice),
			 "To give orders, as root: adduser %s %s, and log in again.", user, name);
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, advice,
			      "%s may give no orders; to look needs no right", user);
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
			      "%s may give orders", user);
	else if (!doctor->config.admin_group[0])
		em_report_add(&doctor->report, EM_CHECK_USER, EM_RESULT_OK, NULL,
			      "%s may give no orders, root alone may", user);
	else
		judge_group(doctor, user, doctor->config.admin_group);
}

/* ---- kernel ------------------------------------------------------------------------------ */

json_t *em_doctor_controllers(const char *root)
{
	em_cleanup(em_closedirp) DIR *dir = NULL;
	const struct dirent *entry;
	char path[EM_DOCTOR_PATH_SIZE];
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

/* A drive of which the kernel itself says that it does not work. */
static void judge_state(struct em_doctor *doctor, const char *device)
{
	char path[EM_DOCTOR_PATH_SIZE], state[64];

	snprintf(path, sizeof(path), "%s/sys/class/nvme/%s/state", doctor->root, device);
	if (!em_first_line(path, state, sizeof(state)) || strcmp(state, "live") == 0)
		return;
	em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_WARN,
		      "Unless that passes within a minute: `journalctl -k -g nvme` says why.",
		      "the kernel says that %s is %s", device, state);
}

/* emberd may watch drives that this kernel does not have. */
static void judge_no_driver(struct em_doctor *doctor, const struct utsname *name)
{
	long long drives = (long long)json_integer_value(
		json_object_get(json_object_get(doctor->health, "drives"), "total"));

	if (drives > 0)
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_WARN,
			      "Are they simulated? If not, as root: modprobe nvme; then systemctl "
			      "restart ember-broker.",
			      "%s %s has no NVMe driver loaded, yet emberd has drives",
			      name->sysname, name->release);
	else
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_FAIL,
			      "As root: modprobe nvme; then systemctl restart ember-broker.",
			      "%s %s has no NVMe driver loaded", name->sysname, name->release);
}

void em_doctor_kernel(struct em_doctor *doctor)
{
	json_t *controllers = em_doctor_controllers(doctor->root);
	size_t count = json_array_size(controllers), i;
	const json_t *device;
	struct utsname name = { 0 };

	uname(&name);
	if (!controllers)
		judge_no_driver(doctor, &name);
	else if (count == 0)
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_WARN,
			      "Are the drives plugged in? `lspci -d ::0108` lists those on PCIe.",
			      "%s %s has its NVMe driver, and no controller", name.sysname,
			      name.release);
	else
		em_report_add(&doctor->report, EM_CHECK_KERNEL, EM_RESULT_OK, NULL,
			      "%s %s, NVMe driver loaded, %zu controller%s", name.sysname,
			      name.release, count, count == 1 ? "" : "s");
	json_array_foreach(controllers, i, device) judge_state(doctor, json_string_value(device));
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

static void no_place(struct em_doctor *doctor, const char *place, int err)
{
	const char *advice = "Run emberctl doctor as root.";

	if (err == ENOENT && doctor->health && doctor->config.known)
		advice = "emberd was started with another place for it (--state-directory).";
	else if (err == ENOENT && doctor->health && doctor->config_path)
		advice = "emberd has another place for it. --config FILE needs the program emberd, "
			 "which is not found here, to read it.";
	else if (err == ENOENT && doctor->health)
		advice = "emberd has another place for it. With --config FILE, its configuration, "
			 "that one is looked at.";
	else if (err == ENOENT)
		advice = "systemd makes it for emberd.service; an emberd started by hand may have "
			 "another.";
	em_report_add(&doctor->report, EM_CHECK_DISK, EM_RESULT_WARN, advice,
		      "%s, for the history: %s", place, strerror(err));
}

void em_doctor_disk(struct em_doctor *doctor)
{
	const char *place = doctor->config.directory;
	char path[EM_DOCTOR_PATH_SIZE];
	struct statvfs st;

	snprintf(path, sizeof(path), "%s%s", doctor->root, place);
	if (statvfs(path, &st) < 0) {
		no_place(doctor, place, errno);
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

/* 2025-01-01: older than Ember itself is no time. */
#define CLOCK_EARLIEST_US (INT64_C(1735689600) * 1000000)

void em_doctor_judge_clock(struct em_report *report, bool synchronised, int64_t now_us)
{
	char now[EM_TIME_SIZE];

	em_time_format(now, now_us);
	if (now_us < CLOCK_EARLIEST_US)
		em_report_add(report, EM_CHECK_CLOCK, EM_RESULT_FAIL,
			      "Set it (timedatectl set-time), and have a time service keep it. "
			      "Readings and events are kept under wrong times until then.",
			      "the clock says that it is %.10s", now);
	else if (!synchronised)
		em_report_add(report, EM_CHECK_CLOCK, EM_RESULT_WARN,
			      "Install a time service (apt-get install systemd-timesyncd), then "
			      "timedatectl set-ntp true. A wrong clock puts readings in wrong "
			      "places.",
			      "the clock is not synchronised");
	else
		em_report_add(report, EM_CHECK_CLOCK, EM_RESULT_OK, NULL,
			      "the clock is synchronised");
}

void em_doctor_clock(struct em_doctor *doctor)
{
	struct timex clock = { 0 };
	int state = adjtimex(&clock);

	em_doctor_judge_clock(&doctor->report,
			      state >= 0 && state != TIME_ERROR && !(clock.status & STA_UNSYNC),
			      em_realtime_us());
}
