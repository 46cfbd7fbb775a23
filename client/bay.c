/* SPDX-License-Identifier: Apache-2.0 */
#include "client/bay.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "client/files.h"
#include "lib/base/cleanup.h"

#define PATH_SIZE 512

/* A slot has the address without the function: "0000:01:00". */
static bool is_address(const char *slot, const char *function)
{
	size_t len = strlen(slot);

	return len > 0 && strncmp(slot, function, len) == 0 && function[len] == '.';
}

int em_bay_find(const char *root, const char *address, char *buf, size_t size)
{
	em_cleanup(em_closedirp) DIR *dir = NULL;
	char path[PATH_SIZE], line[EM_BAY_SIZE];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/slots", root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/sys/bus/pci/slots/%s/address", root,
			 entry->d_name);
		if (!em_first_line(path, line, sizeof(line)) || !is_address(line, address))
			continue;
		snprintf(buf, size, "%s", entry->d_name);
		return 0;
	}
	return -ENOENT;
}

/* One number after a letter of the name; NULL: it is not there. */
static const char *skip_part(const char *name, char letter)
{
	if (*name != letter || !isdigit((unsigned char)name[1]))
		return NULL;
	return name + 1 + strspn(name + 1, "0123456789");
}

/* "nvme0n1" as it is; "nvme0c1n1", a path, becomes "nvme0n1". False: no such name. */
static bool take_block_name(const char *name, char *buf, size_t size)
{
	const char *instance, *path, *end;

	if (strncmp(name, "nvme", 4) != 0 || !isdigit((unsigned char)name[4]))
		return false;
	instance = name + 4 + strspn(name + 4, "0123456789");
	path = skip_part(instance, 'c');
	end = skip_part(path ? path : instance, 'n');
	if (!end || *end)
		return false;
	snprintf(buf, size, "%.*s%s", (int)(instance - name), name, path ? path : instance);
	return true;
}

int em_bay_block(const char *root, const char *device, char *buf, size_t size)
{
	em_cleanup(em_closedirp) DIR *dir = NULL;
	char path[PATH_SIZE];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s/sys/class/nvme/%s", root, device);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (take_block_name(entry->d_name, buf, size))
			return 0;
	return -ENOENT;
}
