/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

uint8_t fuzz_u8(struct fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

uint16_t fuzz_u16(struct fuzz_input *in)
{
	uint16_t low = fuzz_u8(in);

	return (uint16_t)(low | fuzz_u8(in) << 8);
}

uint32_t fuzz_u32(struct fuzz_input *in)
{
	uint32_t low = fuzz_u16(in);

	return low | (uint32_t)fuzz_u16(in) << 16;
}

const uint8_t *fuzz_bytes(struct fuzz_input *in, size_t len, size_t *ret_len)
{
	const uint8_t *at = in->at;

	*ret_len = len < in->left ? len : in->left;
	in->at += *ret_len;
	in->left -= *ret_len;
	return at;
}

uint8_t *fuzz_copy(struct fuzz_input *in, size_t len, size_t *ret_len)
{
	const uint8_t *from = fuzz_bytes(in, len, ret_len);
	uint8_t *copy = malloc(*ret_len ? *ret_len : 1);

	fuzz_check(copy);
	if (*ret_len)
		memcpy(copy, from, *ret_len);
	return copy;
}

char *fuzz_line(struct fuzz_input *in)
{
	const uint8_t *end = in->left ? memchr(in->at, '\n', in->left) : NULL;
	size_t len = end ? (size_t)(end - in->at) : in->left;
	char *line = strndup(len ? (const char *)in->at : "", len);

	fuzz_check(line);
	in->at += len + (end != NULL);
	in->left -= len + (end != NULL);
	return line;
}

static char directory[64];

void fuzz_empty(void)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static void remove_directory(void)
{
	fuzz_empty();
	rmdir(directory);
}

void fuzz_path(char buf[FUZZ_PATH_SIZE], const char *name)
{
	if (!directory[0]) {
		/* In memory, where there is such a place. */
		snprintf(directory, sizeof(directory), "%s/ember-fuzz-XXXXXX",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
		fuzz_check(mkdtemp(directory));
		atexit(remove_directory);
	}
	fuzz_check(snprintf(buf, FUZZ_PATH_SIZE, "%s/%s", directory, name) < FUZZ_PATH_SIZE);
}

void fuzz_write(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fuzz_check(fd >= 0);
	fuzz_check(len == 0 || write(fd, data, len) == (ssize_t)len);
	close(fd);
}
