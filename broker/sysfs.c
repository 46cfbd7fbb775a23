/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cleanup.h"

ssize_t em_sysfs_read(const char *dir, const char *attribute, char *buf, size_t size)
{
	em_cleanup(em_closep) int fd = -1;
	char path[PATH_MAX];
	ssize_t n;

	buf[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, attribute) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0) {
		buf[0] = '\0';
		return -errno;
	}
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return n;
}

enum em_link em_sysfs_link_of(const char *state)
{
	static const struct {
		const char *state;
		enum em_link link;
	} words[] = {
		{ "live", EM_LINK_LIVE },	{ "new", EM_LINK_BUSY },
		{ "resetting", EM_LINK_BUSY },	{ "connecting", EM_LINK_BUSY },
		{ "deleting", EM_LINK_ENDING }, { "deleting (no IO)", EM_LINK_ENDING },
		{ "dead", EM_LINK_ENDING },
	};

	for (size_t i = 0; i < EM_COUNT(words); i++)
		if (strcmp(state, words[i].state) == 0)
			return words[i].link;
	return EM_LINK_UNKNOWN;
}

enum em_link em_sysfs_link(const char *dir)
{
	char state[32];

	if (em_sysfs_read(dir, "state", state, sizeof(state)) >= 0)
		return em_sysfs_link_of(state);
	return access(dir, F_OK) < 0 ? EM_LINK_GONE : EM_LINK_UNKNOWN;
}

/*
 * What the kernel prints where it has no text yet. A serial of a drive is never just that: it comes
 * with the blanks behind it.
 */
static bool is_placeholder(const char *text)
{
	return strcmp(text, "(efault)") == 0 || strcmp(text, "(null)") == 0;
}

bool em_sysfs_describe(const char *dir, struct em_ipc_drive *drive)
{
	const struct {
		const char *attribute;
		char *buf;
		size_t size;
	} strings[] = {
		{ "serial", drive->serial, sizeof(drive->serial) },
		{ "model", drive->model, sizeof(drive->model) },
		{ "firmware_rev", drive->firmware, sizeof(drive->firmware) },
		{ "subsysnqn", drive->subsystem_nqn, sizeof(drive->subsystem_nqn) },
		{ "address", drive->address, sizeof(drive->address) },
		{ "transport", drive->transport, sizeof(drive->transport) },
		{ "state", drive->state, sizeof(drive->state) },
		{ "cntlid", drive->cntlid, sizeof(drive->cntlid) },
		{ "numa_node", drive->numa_node, sizeof(drive->numa_node) },
		{ "cntrltype", drive->controller_type, sizeof(drive->controller_type) },
		/* "device" is the PCI function; controllers behind a network have none. */
		{ "device/current_link_speed", drive->link_speed, sizeof(drive->link_speed) },
		{ "device/current_link_width", drive->link_width, sizeof(drive->link_width) },
		{ "device/max_link_speed", drive->link_speed_max, sizeof(drive->link_speed_max) },
		{ "device/max_link_width", drive->link_width_max, sizeof(drive->link_width_max) },
	};

	for (size_t i = 0; i < EM_COUNT(strings); i++)
		em_sysfs_read(dir, strings[i].attribute, strings[i].buf, strings[i].size);
	return !is_placeholder(drive->serial);
}

bool em_sysfs_is_controller(const char *name)
{
	if (strncmp(name, "nvme", 4) != 0 || !isdigit((unsigned char)name[4]))
		return false;
	name += 4;
	return name[strspn(name, "0123456789")] == '\0';
}

bool em_sysfs_owner(const char *devpath, char *owner, size_t size)
{
	const char *part = devpath, *end;
	char name[64];

	while ((part = strchr(part, '/'))) {
		part++;
		end = part + strcspn(part, "/");
		if ((size_t)snprintf(name, sizeof(name), "%.*s", (int)(end - part), part) >=
		    sizeof(name))
			continue;
		/* The last part is the block device itself. */
		if (*end && (em_sysfs_is_controller(name) || !strncmp(name, "nvme-subsys", 11)) &&
		    strcmp(name, "nvme-subsystem") != 0)
			return (size_t)snprintf(owner, size, "%s", name) < size;
	}
	return false;
}
