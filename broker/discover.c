/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/discover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-device.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"

/* Room for the uevents of a whole shelf of drives that comes or goes at once. */
#define RECEIVE_BUFFER	 (8u << 20)
#define COMPARE_EVERY_US (30 * EM_US_PER_SEC)
#define COMPARE_SOON_US	 (200 * EM_US_PER_MS)

struct em_discover {
	const struct em_discover_ops *ops;
	void *self;
	sd_event *event;
	sd_device_monitor *monitor;
	sd_event_source *overflow, *compare;
	int overflow_fd;
	bool soon;    /* the next comparison is due in a moment */
	bool unready; /* at the last one some controller was not identified yet */
	struct em_drive *drives;
	unsigned count;
	uint32_t last_handle;
};

static struct em_drive *drive_free(struct em_drive *drive)
{
	if (drive)
		free(drive->sysfs);
	free(drive);
	return NULL;
}
EM_DEFINE_CLEANUP(struct em_drive, drive_free)

static ino_t inode_of(const char *sysfs)
{
	struct stat st;

	return stat(sysfs, &st) < 0 ? 0 : st.st_ino;
}

static struct em_drive *find_name(struct em_discover *d, const char *name)
{
	for (struct em_drive *drive = d->drives; drive; drive = drive->next)
		if (strcmp(drive->info.device, name) == 0)
			return drive;
	return NULL;
}

static void remove_drive(struct em_discover *d, struct em_drive *drive)
{
	struct em_drive **at = &d->drives;

	while (*at != drive)
		at = &(*at)->next;
	*at = drive->next;
	d->count--;
	drive->info.change = EM_DRIVE_GONE;
	d->ops->gone(d->self, drive);
	drive_free(drive);
}

static int append_drive(struct em_discover *d, const struct em_ipc_drive *info, const char *sysfs)
{
	em_cleanup(drive_freep) struct em_drive *drive = calloc(1, sizeof(*drive));
	struct em_drive **at = &d->drives, *added;

	if (!drive)
		return -ENOMEM;
	if (d->count >= EM_DRIVES_MAX)
		return -ENOSPC;
	drive->sysfs = strdup(sysfs);
	if (!drive->sysfs)
		return -ENOMEM;
	drive->info = *info;
	drive->info.change = EM_DRIVE_PRESENT;
	drive->info.drive = ++d->last_handle;
	drive->inode = inode_of(sysfs);
	drive->seen = true;
	while (*at)
		at = &(*at)->next;
	*at = added = em_steal(drive);
	d->count++;
	d->ops->appeared(d->self, added);
	return 0;
}

static void refresh(struct em_discover *d, struct em_drive *drive, const struct em_ipc_drive *info)
{
	struct em_ipc_drive now = *info;

	now.drive = drive->info.drive;
	now.change = drive->info.change = EM_DRIVE_CHANGED;
	if (memcmp(&now, &drive->info, sizeof(now)) == 0)
		return;
	drive->info = now;
	d->ops->changed(d->self, drive);
}

static bool same_drive(const struct em_drive *drive, const char *sysfs,
		       const struct em_ipc_drive *info)
{
	return strcmp(drive->sysfs, sysfs) == 0 && drive->inode == inode_of(sysfs) &&
	       strcmp(drive->info.serial, info->serial) == 0 &&
	       strcmp(drive->info.subsystem_nqn, info->subsystem_nqn) == 0;
}

/* One controller's directory as it is now: new, known, or another one under an old name. */
static void consider(struct em_discover *d, const char *name, const char *sysfs)
{
	struct em_drive *known = find_name(d, name);
	struct em_ipc_drive info;
	int r;

	memset(&info, 0, sizeof(info));
	snprintf(info.device, sizeof(info.device), "%s", name);
	if (!em_sysfs_describe(sysfs, &info)) {
		d->unready = true;
		em_discover_compare_soon(d);
		return;
	}
	if (!info.transport[0])
		return; /* half made, or half gone */
	if (known && !same_drive(known, sysfs, &info)) {
		remove_drive(d, known);
		known = NULL;
	}
	if (known) {
		known->seen = true;
		refresh(d, known, &info);
		return;
	}
	/* On its way out: it would only come to go. */
	if (em_sysfs_link_of(info.state) == EM_LINK_ENDING)
		return;
	r = append_drive(d, &info, sysfs);
	if (r < 0)
		em_error("%s is left out: %s", name, strerror(-r));
}

static void consider_device(struct em_discover *d, sd_device *device)
{
	const char *name, *sysfs;

	if (sd_device_get_sysname(device, &name) >= 0 &&
	    sd_device_get_syspath(device, &sysfs) >= 0 && em_sysfs_is_controller(name))
		consider(d, name, sysfs);
}

static void remove_unseen(struct em_discover *d)
{
	struct em_drive *next;

	for (struct em_drive *drive = d->drives; drive; drive = next) {
		next = drive->next;
		if (!drive->seen)
			remove_drive(d, drive);
	}
}

static int compare_all(struct em_discover *d)
{
	em_cleanup(sd_device_enumerator_unrefp) sd_device_enumerator *all = NULL;
	int r = sd_device_enumerator_new(&all);

	if (r < 0)
		return r;
	r = sd_device_enumerator_allow_uninitialized(all);
	if (r < 0)
		return r;
	r = sd_device_enumerator_add_match_subsystem(all, "nvme", true);
	if (r < 0)
		return r;
	for (struct em_drive *drive = d->drives; drive; drive = drive->next)
		drive->seen = false;
	for (sd_device *device = sd_device_enumerator_get_device_first(all); device;
	     device = sd_device_enumerator_get_device_next(all))
		consider_device(d, device);
	remove_unseen(d);
	return 0;
}

static int on_compare(sd_event_source *source, uint64_t usec, void *self)
{
	struct em_discover *d = self;
	int r;

	(void)usec;
	d->unready = false;
	r = compare_all(d);
	d->soon = d->unready;
	if (r < 0)
		em_warning("Cannot list the NVMe controllers, trying again later: %s",
			   strerror(-r));
	sd_event_source_set_time_relative(source, d->unready ? COMPARE_SOON_US : COMPARE_EVERY_US);
	return 0;
}

void em_discover_compare_soon(struct em_discover *d)
{
	if (!d->soon)
		sd_event_source_set_time_relative(d->compare, COMPARE_SOON_US);
	d->soon = true;
}

static void tell_event(struct em_discover *d, struct em_drive *drive, sd_device *device)
{
	const char *text;
	uint64_t aen;

	if (sd_device_get_property_value(device, "NVME_AEN", &text) >= 0 &&
	    em_parse_u64(text, 0, UINT32_MAX, &aen) == 0)
		d->ops->event(d->self, drive, EM_EVENT_AEN, (uint32_t)aen);
	if (sd_device_get_property_value(device, "NVME_EVENT", &text) >= 0 &&
	    strcmp(text, "connected") == 0)
		d->ops->event(d->self, drive, EM_EVENT_CONNECTED, 0);
}

static void on_controller(struct em_discover *d, sd_device *device, sd_device_action_t action)
{
	struct em_drive *drive;
	const char *name;

	if (sd_device_get_sysname(device, &name) < 0 || !em_sysfs_is_controller(name))
		return;
	if (action != SD_DEVICE_REMOVE) {
		consider_device(d, device);
		drive = find_name(d, name);
		if (drive)
			tell_event(d, drive, device);
		return;
	}
	drive = find_name(d, name);
	if (drive)
		remove_drive(d, drive);
	/* The event may have been about an earlier one of this name. */
	em_discover_compare_soon(d);
}

static bool owns(const struct em_drive *drive, const char *owner)
{
	char link[64];
	em_cleanup(em_freep) char *path = NULL;

	if (strcmp(drive->info.device, owner) == 0)
		return true;
	if (strncmp(owner, "nvme-subsys", 11) != 0)
		return false;
	snprintf(link, sizeof(link), "%s", owner);
	if (asprintf(&path, "/sys/class/nvme-subsystem/%s/%s", link, drive->info.device) < 0)
		path = NULL;
	return path && access(path, F_OK) == 0;
}

/* udev writes "change" by itself when somebody closes a disk that was open for writing. */
static bool is_synthetic(sd_device *device)
{
	const char *uuid;

	return sd_device_get_property_value(device, "SYNTH_UUID", &uuid) >= 0;
}

static void on_block(struct em_discover *d, sd_device *device)
{
	const char *devpath;
	char owner[64];

	if (sd_device_get_devpath(device, &devpath) < 0 || is_synthetic(device) ||
	    !em_sysfs_owner(devpath, owner, sizeof(owner)))
		return;
	for (struct em_drive *drive = d->drives; drive; drive = drive->next)
		if (owns(drive, owner))
			d->ops->event(d->self, drive, EM_EVENT_NAMESPACES, 0);
}

static int on_uevent(sd_device_monitor *monitor, sd_device *device, void *self)
{
	sd_device_action_t action;
	const char *subsystem;

	(void)monitor;
	if (sd_device_get_subsystem(device, &subsystem) < 0 ||
	    sd_device_get_action(device, &action) < 0)
		return 0;
	if (strcmp(subsystem, "nvme") == 0)
		on_controller(self, device, action);
	else
		on_block(self, device);
	return 0;
}

/* sd-device keeps a receive error to itself, so it is fetched from the socket before. */
static int on_overflow(sd_event_source *source, int fd, uint32_t revents, void *self)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (revents & EPOLLHUP) {
		/* Blind to what comes and goes, and woken for ever: a new start is better. */
		em_error("No more uevents: the socket was closed");
		return sd_event_exit(sd_event_source_get_event(source), -EPIPE);
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0 || err == 0)
		return 0;
	em_warning("Uevents were lost (%s), comparing all drives", strerror(err));
	em_discover_compare_soon(self);
	return 0;
}

static int watch_overflow(struct em_discover *d)
{
	int r, fd = sd_event_source_get_io_fd(sd_device_monitor_get_event_source(d->monitor));

	if (fd < 0)
		return fd;
	d->overflow_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (d->overflow_fd < 0)
		return -errno;
	/* No event asked for: errors are always told. */
	r = sd_event_add_io(d->event, &d->overflow, d->overflow_fd, 0, on_overflow, d);
	if (r < 0)
		return r;
	return sd_event_source_set_priority(d->overflow, SD_EVENT_PRIORITY_NORMAL - 2);
}

static int start_monitor(struct em_discover *d)
{
	int r = sd_device_monitor_new(&d->monitor);

	if (r < 0)
		return r;
	sd_device_monitor_set_receive_buffer_size(d->monitor, RECEIVE_BUFFER);
	r = sd_device_monitor_filter_add_match_subsystem_devtype(d->monitor, "nvme", NULL);
	if (r < 0)
		return r;
	r = sd_device_monitor_filter_add_match_subsystem_devtype(d->monitor, "block", "disk");
	if (r < 0)
		return r;
	r = sd_device_monitor_attach_event(d->monitor, d->event);
	if (r < 0)
		return r;
	r = sd_device_monitor_start(d->monitor, on_uevent, d);
	return r < 0 ? r : watch_overflow(d);
}

int em_discover_new(sd_event *event, const struct em_discover_ops *ops, void *self,
		    struct em_discover **ret)
{
	em_cleanup(em_discover_freep) struct em_discover *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->overflow_fd = -1;
	d->ops = ops;
	d->self = self;
	d->event = sd_event_ref(event);
	r = sd_event_add_time_relative(event, &d->compare, CLOCK_MONOTONIC, COMPARE_EVERY_US, 0,
				       on_compare, d);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(d->compare, SD_EVENT_ON);
	if (r < 0)
		return r;
	r = start_monitor(d);
	if (r < 0)
		return r;
	r = compare_all(d);
	if (r < 0)
		return r;
	*ret = em_steal(d);
	return 0;
}

struct em_discover *em_discover_free(struct em_discover *d)
{
	if (!d)
		return NULL;
	while (d->drives)
		remove_drive(d, d->drives);
	sd_event_source_disable_unref(d->overflow);
	sd_event_source_disable_unref(d->compare);
	sd_device_monitor_unref(d->monitor);
	sd_event_unref(d->event);
	em_closep(&d->overflow_fd);
	free(d);
	return NULL;
}

struct em_drive *em_discover_find(struct em_discover *d, uint32_t handle)
{
	for (struct em_drive *drive = d->drives; drive; drive = drive->next)
		if (drive->info.drive == handle)
			return drive;
	return NULL;
}

struct em_drive *em_discover_first(struct em_discover *d)
{
	return d->drives;
}

unsigned em_discover_count(const struct em_discover *d)
{
	return d->count;
}
