/* SPDX-License-Identifier: Apache-2.0 */
#include "client/new_file.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

#define OWNER_ONLY 0600

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Without a name in the directory of its own: the kernel takes it away, however we end. */
static int open_nameless(const char *path)
{
	em_cleanup(em_freep) char *copy = strdup(path);
	int fd;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_TMPFILE | O_RDWR | O_CLOEXEC, OWNER_ONLY);
	return fd >= 0 ? fd : -errno;
}

/* For file systems that know no file without a name. mkostemp() makes it 0600. */
static int open_named(struct em_new_file *new)
{
	int fd;

	if (asprintf(&new->temporary, "%s.XXXXXX", new->path) < 0) {
		new->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(new->temporary, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = -errno;
	free(new->temporary);
	new->temporary = NULL;
	return fd;
}

static int open_any(struct em_new_file *new)
{
	int fd = open_nameless(new->path);

	if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -EINVAL)
		return fd;
	return open_named(new);
}

int em_new_file_open(struct em_new_file *ret, const char *path)
{
	struct em_new_file new = { 0 };
	int fd;

	if (is_there(path))
		return -EEXIST;
	new.path = strdup(path);
	fd = new.path ? open_any(&new) : -ENOMEM;
	if (fd < 0) {
		em_new_file_done(&new);
		return fd;
	}
	new.file = fdopen(fd, "w");
	if (!new.file) {
		close(fd);
		em_new_file_done(&new);
		return -ENOMEM;
	}
	*ret = new;
	return 0;
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

static int give_name(const struct em_new_file *file)
{
	char self[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	if (file->temporary)
		return rename_new(file->temporary, file->path);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(file->file));
	return linkat(AT_FDCWD, self, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0 ? 0 : -errno;
}

int em_new_file_keep(struct em_new_file *file)
{
	int r = fflush(file->file) == 0 && fsync(fileno(file->file)) == 0 ? 0 : -errno;

	if (r == 0)
		r = give_name(file);
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
