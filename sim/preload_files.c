/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_files - the file calls: each maps its path and goes on; opening a device node connects
 * to the simulator, and what a stat says about one is put right.
 */
#include "sim/preload.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef SYSFS_MAGIC
#define SYSFS_MAGIC 0x62656572
#endif

/* ---- open ---- */

static bool open_takes_mode(int flags)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_mapped(const char *path, int dirfd, int flags, mode_t mode)
{
	char buf[PATH_MAX];
	const char *mapped = sim_map_at(dirfd, path, buf);
	const char *node = mapped ? sim_node_of(mapped) : NULL;

	if (node && !(flags & O_PATH))
		return sim_device_open(node, flags);
	return SIM_REAL(openat)(dirfd, mapped, flags, mode);
}

#define MODE_ARGUMENT(flags)                                                                       \
	__extension__({                                                                            \
		mode_t mode_ = 0;                                                                  \
		if (open_takes_mode(flags)) {                                                      \
			va_list ap_;                                                               \
			va_start(ap_, flags);                                                      \
			mode_ = va_arg(ap_, mode_t);                                               \
			va_end(ap_);                                                               \
		}                                                                                  \
		mode_;                                                                             \
	})

SIM_EXPORT int open(const char *path, int flags, ...)
{
	return open_mapped(path, AT_FDCWD, flags, MODE_ARGUMENT(flags));
}

SIM_EXPORT int open64(const char *path, int flags, ...)
{
	return open_mapped(path, AT_FDCWD, flags | O_LARGEFILE, MODE_ARGUMENT(flags));
}

SIM_EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
	return open_mapped(path, dirfd, flags, MODE_ARGUMENT(flags));
}

SIM_EXPORT int openat64(int dirfd, const char *path, int flags, ...)
{
	return open_mapped(path, dirfd, flags | O_LARGEFILE, MODE_ARGUMENT(flags));
}

/* What _FORTIFY_SOURCE turns two-argument opens into. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dirfd, const char *path, int flags);
int __openat64_2(int dirfd, const char *path, int flags);

SIM_EXPORT int __open_2(const char *path, int flags)
{
	return open_mapped(path, AT_FDCWD, flags, 0);
}

SIM_EXPORT int __open64_2(const char *path, int flags)
{
	return open_mapped(path, AT_FDCWD, flags | O_LARGEFILE, 0);
}

SIM_EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
	return open_mapped(path, dirfd, flags, 0);
}

SIM_EXPORT int __openat64_2(int dirfd, const char *path, int flags)
{
	return open_mapped(path, dirfd, flags | O_LARGEFILE, 0);
}

SIM_EXPORT FILE *fopen(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	return SIM_REAL(fopen)(sim_map(path, buf), mode);
}

SIM_EXPORT FILE *fopen64(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	return SIM_REAL(fopen64)(sim_map(path, buf), mode);
}

/* ---- directories ---- */

/* /dev as a whole is ours only for those who list it; what is in it leads on by itself. */
static const char *map_list(const char *path, char *buf)
{
	if (sim_root() && path && (strcmp(path, "/dev") == 0 || strcmp(path, "/dev/") == 0)) {
		snprintf(buf, PATH_MAX, "%s/dev", sim_root());
		return buf;
	}
	return sim_map(path, buf);
}

SIM_EXPORT DIR *opendir(const char *path)
{
	char buf[PATH_MAX];

	return SIM_REAL(opendir)(map_list(path, buf));
}

SIM_EXPORT int scandir(const char *path, struct dirent ***list,
		       int (*select)(const struct dirent *),
		       int (*compare)(const struct dirent **, const struct dirent **))
{
	char buf[PATH_MAX];

	return SIM_REAL(scandir)(map_list(path, buf), list, select, compare);
}

SIM_EXPORT int scandir64(const char *path, struct dirent64 ***list,
			 int (*select)(const struct dirent64 *),
			 int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	char buf[PATH_MAX];

	return SIM_REAL(scandir64)(map_list(path, buf), list, select, compare);
}

SIM_EXPORT int chdir(const char *path)
{
	char buf[PATH_MAX];

	return SIM_REAL(chdir)(sim_map(path, buf));
}

static void unmap_list(char **paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		paths[i][sim_unmap(paths[i], strlen(paths[i]))] = '\0';
}

/* glob() opens its directories inside the C library, where nobody can step between. */
SIM_EXPORT int glob(const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *ret)
{
	char buf[PATH_MAX];
	const char *mapped = sim_map(pattern, buf);
	int r = SIM_REAL(glob)(mapped, flags, on_error, ret);

	if (r == 0 && mapped != pattern)
		unmap_list(ret->gl_pathv + ((flags & GLOB_DOOFFS) ? ret->gl_offs : 0),
			   ret->gl_pathc);
	return r;
}

SIM_EXPORT int glob64(const char *pattern, int flags, int (*on_error)(const char *, int),
		      glob64_t *ret)
{
	char buf[PATH_MAX];
	const char *mapped = sim_map(pattern, buf);
	int r = SIM_REAL(glob64)(mapped, flags, on_error, ret);

	if (r == 0 && mapped != pattern)
		unmap_list(ret->gl_pathv + ((flags & GLOB_DOOFFS) ? ret->gl_offs : 0),
			   ret->gl_pathc);
	return r;
}

/* ---- stat ---- */

static int stat_at(int dirfd, const char *path, struct stat *st, int flags)
{
	char buf[PATH_MAX];
	const char *mapped = sim_map_at(dirfd, path, buf);
	int r = SIM_REAL(fstatat)(dirfd, mapped, st, flags);

	if (r == 0 && S_ISSOCK(st->st_mode))
		sim_fix_stat(st, sim_node_of(mapped), path[0] ? -1 : dirfd);
	return r;
}

SIM_EXPORT int stat(const char *path, struct stat *st)
{
	return stat_at(AT_FDCWD, path, st, 0);
}

SIM_EXPORT int stat64(const char *path, struct stat64 *st)
{
	return stat_at(AT_FDCWD, path, (struct stat *)st, 0);
}

SIM_EXPORT int lstat(const char *path, struct stat *st)
{
	return stat_at(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

SIM_EXPORT int lstat64(const char *path, struct stat64 *st)
{
	return stat_at(AT_FDCWD, path, (struct stat *)st, AT_SYMLINK_NOFOLLOW);
}

SIM_EXPORT int fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	return stat_at(dirfd, path, st, flags);
}

SIM_EXPORT int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags)
{
	return stat_at(dirfd, path, (struct stat *)st, flags);
}

SIM_EXPORT int fstat(int fd, struct stat *st)
{
	int r = SIM_REAL(fstat)(fd, st);

	if (r == 0 && S_ISSOCK(st->st_mode))
		sim_fix_stat(st, NULL, fd);
	return r;
}

SIM_EXPORT int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

SIM_EXPORT int statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *stx)
{
	char buf[PATH_MAX];
	const char *mapped = sim_map_at(dirfd, path, buf);
	int r = SIM_REAL(statx)(dirfd, mapped, flags, mask, stx);
	struct stat st = { 0 };

	if (r != 0 || !S_ISSOCK(stx->stx_mode))
		return r;
	st.st_mode = stx->stx_mode;
	sim_fix_stat(&st, sim_node_of(mapped), path[0] ? -1 : dirfd);
	stx->stx_mode = (uint16_t)st.st_mode;
	stx->stx_rdev_major = (uint32_t)(st.st_rdev >> 8 & 0xfff);
	stx->stx_rdev_minor = (uint32_t)((st.st_rdev & 0xff) | (st.st_rdev >> 12 & 0xfff00));
	return r;
}

SIM_EXPORT int access(const char *path, int mode)
{
	char buf[PATH_MAX];

	return SIM_REAL(access)(sim_map(path, buf), mode);
}

SIM_EXPORT int eaccess(const char *path, int mode)
{
	char buf[PATH_MAX];

	return SIM_REAL(eaccess)(sim_map(path, buf), mode);
}

SIM_EXPORT int euidaccess(const char *path, int mode)
{
	return eaccess(path, mode);
}

SIM_EXPORT int faccessat(int dirfd, const char *path, int mode, int flags)
{
	char buf[PATH_MAX];

	return SIM_REAL(faccessat)(dirfd, sim_map_at(dirfd, path, buf), mode, flags);
}

/* sd-device asks a file system's kind to tell sysfs from an impostor. */
static bool is_in_sysfs(const char *path)
{
	return strncmp(path, "/sys", 4) == 0 && (path[4] == '/' || path[4] == '\0');
}

SIM_EXPORT int statfs(const char *path, struct statfs *st)
{
	char buf[PATH_MAX];
	const char *mapped = sim_map(path, buf);
	int r = SIM_REAL(statfs)(mapped, st);

	if (r == 0 && mapped != path && is_in_sysfs(path))
		st->f_type = SYSFS_MAGIC;
	return r;
}

SIM_EXPORT int statfs64(const char *path, struct statfs64 *st)
{
	return statfs(path, (struct statfs *)st);
}

SIM_EXPORT int fstatfs(int fd, struct statfs *st)
{
	char path[PATH_MAX];
	int r = SIM_REAL(fstatfs)(fd, st);

	if (r == 0 && sim_root() && sim_fd_path(fd, path) && is_in_sysfs(path))
		st->f_type = SYSFS_MAGIC;
	return r;
}

SIM_EXPORT int fstatfs64(int fd, struct statfs64 *st)
{
	return fstatfs(fd, (struct statfs *)st);
}

/* ---- links ---- */

static ssize_t readlink_at(int dirfd, const char *path, char *out, size_t size)
{
	char buf[PATH_MAX], target[PATH_MAX];
	ssize_t n =
		SIM_REAL(readlinkat)(dirfd, sim_map_at(dirfd, path, buf), target, sizeof(target));

	if (n < 0)
		return n;
	n = (ssize_t)sim_unmap(target, (size_t)n);
	if ((size_t)n > size)
		n = (ssize_t)size;
	memcpy(out, target, (size_t)n);
	return n;
}

/* /proc/self/fd/N has to be read as itself: mapping it leads to the device. */
static bool is_proc(const char *path)
{
	return path && strncmp(path, "/proc/", 6) == 0;
}

static ssize_t readlink_proc(const char *path, char *out, size_t size)
{
	ssize_t n = SIM_REAL(readlinkat)(AT_FDCWD, path, out, size);

	return n > 0 ? (ssize_t)sim_unmap(out, (size_t)n) : n;
}

SIM_EXPORT ssize_t readlinkat(int dirfd, const char *path, char *out, size_t size)
{
	return is_proc(path) ? readlink_proc(path, out, size) : readlink_at(dirfd, path, out, size);
}

SIM_EXPORT ssize_t readlink(const char *path, char *out, size_t size)
{
	return readlinkat(AT_FDCWD, path, out, size);
}

ssize_t __readlink_chk(const char *path, char *out, size_t size, size_t out_size);
ssize_t __readlinkat_chk(int dirfd, const char *path, char *out, size_t size, size_t out_size);

SIM_EXPORT ssize_t __readlink_chk(const char *path, char *out, size_t size, size_t out_size)
{
	if (size > out_size)
		abort();
	return readlink(path, out, size);
}

SIM_EXPORT ssize_t __readlinkat_chk(int dirfd, const char *path, char *out, size_t size,
				    size_t out_size)
{
	if (size > out_size)
		abort();
	return readlinkat(dirfd, path, out, size);
}

SIM_EXPORT char *realpath(const char *path, char *resolved)
{
	char buf[PATH_MAX];
	char *result = SIM_REAL(realpath)(sim_map(path, buf), resolved);

	if (result)
		result[sim_unmap(result, strlen(result))] = '\0';
	return result;
}

char *__realpath_chk(const char *path, char *resolved, size_t size);

SIM_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t size)
{
	if (size < PATH_MAX)
		abort();
	return realpath(path, resolved);
}

SIM_EXPORT char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

/* `ls -l` asks each file for its label. */
SIM_EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	char buf[PATH_MAX];

	return SIM_REAL(getxattr)(sim_map(path, buf), name, value, size);
}

SIM_EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	char buf[PATH_MAX];

	return SIM_REAL(lgetxattr)(sim_map(path, buf), name, value, size);
}

SIM_EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	char buf[PATH_MAX];

	return SIM_REAL(inotify_add_watch)(fd, sim_map(path, buf), mask);
}
