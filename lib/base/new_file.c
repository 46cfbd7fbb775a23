/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/new_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Without a name: nothing is left of it, whatever ends the program. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	em_cleanup(em_freep) char *directory = NULL;
	int fd;

	if (!slash)
		directory = strdup(".");
	else
		directory = strndup(path, slash == path ? 1 : (size_t)(slash - path));
	if (!directory)
		return -ENOMEM;
	fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	return fd < 0 ? -errno : fd;
}

/* Where the file system can have nothing without a name. */
static int open_aside(const char *path, char **ret_temporary)
{
	char *temporary;
	int fd;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	/* mkostemp() makes it 0600. */
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(temporary);
		return fd;
	}
	*ret_temporary = temporary;
	return fd;
}

static int open_file(struct em_new_file *new)
{
	int fd = open_nameless(new->path);

	if (fd == -EOPNOTSUPP || fd == -EISDIR || fd == -EINVAL)
		fd = open_aside(new->path, &new->temporary);
	if (fd < 0)
		return fd;
	new->file = fdopen(fd, "w");
	if (new->file)
		return 0;
	close(fd);
	return -ENOMEM;
}

int em_new_file_open(struct em_new_file *ret, const char *path)
{
	struct em_new_file new = { .path = strdup(path) };
	int r = new.path ? 0 : -ENOMEM;

	if (r == 0 && is_there(path))
		r = -EEXIST;
	if (r == 0)
		r = open_file(&new);
	if (r < 0)
		em_new_file_done(&new);
	else
		*ret = new;
	return r;
}

/* Never in the place of another: a name that is there stays what it is. */
static int name_descriptor(int fd, const char *path)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

/* Not every file system can do it in one step. */
static int rename_new(const char *temporary, const char *path)
{
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (is_there(path))
		return -EEXIST;
	return rename(temporary, path) == 0 ? 0 : -errno;
}

int em_new_file_keep(struct em_new_file *file)
{
	int fd = fileno(file->file);
	int r = fflush(file->file) == 0 && fsync(fd) == 0 ? 0 : -errno;

	if (r == 0 && !file->temporary)
		r = name_descriptor(fd, file->path);
	if (fclose(file->file) != 0 && r == 0)
		r = -errno;
	file->file = NULL;
	if (r == 0 && file->temporary)
		r = rename_new(file->temporary, file->path);
	if (r == 0) {
		free(file->temporary);
		file->temporary = NULL;
	}
	return r;
}

void em_new_file_done(struct em_new_file *file)
{
	if (file->file)
		fclose(file->file);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->path);
	*file = (struct em_new_file){ 0 };
}
