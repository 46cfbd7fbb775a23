/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[PATH_MAX];
static size_t root_len;

__attribute__((constructor)) static void read_root(void)
{
	const char *value = getenv(SIM_ENV_ROOT);

	if (root_len > 0 || !value || value[0] != '/' || strlen(value) >= 80)
		return;
	strcpy(root, value);
	__atomic_store_n(&root_len, strlen(root), __ATOMIC_RELEASE);
}

const char *sim_root(void)
{
	/* Another library's constructor may come here before ours has run. */
	if (__atomic_load_n(&root_len, __ATOMIC_ACQUIRE) == 0)
		read_root();
	return root_len > 0 ? root : NULL;
}

static bool below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_ours(const char *path)
{
	return below(path, "/sys") || below(path, "/run/udev") ||
	       strncmp(path, "/dev/nvme", strlen("/dev/nvme")) == 0;
}

/* A descriptor opened again through /proc leads to the device, not to its stand-in. */
static const char *map_proc_fd(const char *path, char *buf)
{
	char target[PATH_MAX];
	ssize_t n = syscall(SYS_readlink, path, target, sizeof(target) - 1);

	if (n < 0)
		return path;
	target[n] = '\0';
	if (!sim_node_of(target))
		return path;
	return strcpy(buf, target);
}

const char *sim_map(const char *path, char *buf)
{
	int saved = errno;
	const char *mapped = path;

	if (!path || path[0] != '/' || !sim_root())
		return path;
	if (is_ours(path) && snprintf(buf, PATH_MAX, "%s%s", root, path) < PATH_MAX)
		mapped = buf;
	else if (strncmp(path, "/proc/self/fd/", strlen("/proc/self/fd/")) == 0)
		mapped = map_proc_fd(path, buf);
	errno = saved;
	return mapped;
}

/* Only these first components can lead from a real directory into our tree. */
static bool may_lead_to_us(const char *path)
{
	return below(path, "sys") || below(path, "dev") || below(path, "run") ||
	       below(path, "udev") || strncmp(path, "nvme", 4) == 0;
}

const char *sim_map_at(int dirfd, const char *path, char *buf)
{
	char joined[PATH_MAX * 2], dir[PATH_MAX];

	if (!path || path[0] == '/')
		return sim_map(path, buf);
	if (dirfd == AT_FDCWD || !sim_root() || !may_lead_to_us(path))
		return path;
	if (!sim_fd_path(dirfd, dir))
		return path;
	if (strcmp(dir, "/") != 0 && strcmp(dir, "/dev") != 0 && strcmp(dir, "/run") != 0)
		return path;
	snprintf(joined, sizeof(joined), "%s/%s", dir[1] ? dir : "", path);
	return is_ours(joined) ? sim_map(joined, buf) : path;
}

const char *sim_node_of(const char *mapped)
{
	const char *rest;

	if (!sim_root() || strncmp(mapped, root, root_len) != 0)
		return NULL;
	rest = mapped + root_len;
	if (strncmp(rest, "/dev/nvme", strlen("/dev/nvme")) != 0)
		return NULL;
	return rest + strlen("/dev/");
}

size_t sim_unmap(char *path, size_t len)
{
	if (!sim_root() || len < root_len || strncmp(path, root, root_len) != 0)
		return len;
	if (len > root_len && path[root_len] != '/')
		return len;
	memmove(path, path + root_len, len - root_len);
	return len - root_len;
}

bool sim_fd_path(int fd, char *buf)
{
	char link[32];
	int saved = errno;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlink, link, buf, PATH_MAX - 1);
	errno = saved;
	if (n < 0)
		return false;
	buf[sim_unmap(buf, (size_t)n)] = '\0';
	return true;
}
