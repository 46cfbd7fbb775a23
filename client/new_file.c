/* SPDX-License-Identifier: Apache-2.0 */
#include "client/new_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

int em_new_file_open(struct em_new_file *ret, const char *path)
{
	struct em_new_file new = { .path = strdup(path) };
	int fd, r;

	if (is_there(path)) {
		free(new.path);
		return -EEXIST;
	}
	if (asprintf(&new.temporary, "%s.XXXXXX", path) < 0)
		new.temporary = NULL;
	/* mkostemp() makes it 0600. */
	fd = new.path &&new.temporary ? mkostemp(new.temporary, O_CLOEXEC) : -1;
	r = fd >= 0 ? 0 : new.path &&new.temporary ? -errno : -ENOMEM;
	new.file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (new.file) {
		*ret = new;
		return 0;
	}
	if (fd >= 0) {
		unlink(new.temporary);
		close(fd);
	}
	free(new.path);
	free(new.temporary);
	return r < 0 ? r : -ENOMEM;
}

/* Not every file system can do it in one step. */
static int give_name(const char *temporary, const char *path)
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
	int r = fflush(file->file) == 0 && fsync(fileno(file->file)) == 0 ? 0 : -errno;

	if (fclose(file->file) != 0 && r == 0)
		r = -errno;
	file->file = NULL;
	if (r == 0)
		r = give_name(file->temporary, file->path);
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
