/* SPDX-License-Identifier: Apache-2.0 */
#include "client/tar.h"
#include <errno.h>
#include <string.h>

#define BLOCK	   512u
#define NUMBER_MAX 077777777777ull /* eleven octal digits */

/* Where the header's fields stand, all but the name's as octal digits or text. */
enum {
	AT_MODE = 100,
	AT_UID = 108,
	AT_GID = 116,
	AT_SIZE = 124,
	AT_MTIME = 136,
	AT_SUM = 148,
	AT_TYPE = 156,
	AT_MAGIC = 257,
};

static int put(FILE *out, const void *data, size_t len)
{
	return fwrite(data, 1, len, out) == len ? 0 : -EIO;
}

static int check_name(const char *name)
{
	if (strlen(name) > EM_TAR_NAME_MAX)
		return -ENAMETOOLONG;
	return !*name || *name == '/' || strstr(name, "..") ? -EINVAL : 0;
}

/* The sum is over the header with blanks in the place of the sum. */
static void put_sum(char header[BLOCK])
{
	unsigned sum = 0;

	memset(header + AT_SUM, ' ', 8);
	for (unsigned i = 0; i < BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + AT_SUM, 8, "%06o", sum);
	header[AT_SUM + 7] = ' ';
}

int em_tar_add(FILE *out, const char *name, const void *data, size_t len, uint64_t mtime_s)
{
	static const char zeros[BLOCK];
	char header[BLOCK] = { 0 };
	int r = check_name(name);

	if (r < 0)
		return r;
	if (len > NUMBER_MAX || mtime_s > NUMBER_MAX)
		return -EFBIG;
	memcpy(header, name, strlen(name));
	snprintf(header + AT_MODE, 8, "%07o", 0600u);
	snprintf(header + AT_UID, 8, "%07o", 0u);
	snprintf(header + AT_GID, 8, "%07o", 0u);
	snprintf(header + AT_SIZE, 12, "%011llo", (unsigned long long)len);
	snprintf(header + AT_MTIME, 12, "%011llo", (unsigned long long)mtime_s);
	header[AT_TYPE] = '0';
	memcpy(header + AT_MAGIC, "ustar\00000", 8);
	put_sum(header);
	r = put(out, header, BLOCK);
	if (r == 0 && len > 0)
		r = put(out, data, len);
	if (r == 0 && len % BLOCK != 0)
		r = put(out, zeros, BLOCK - len % BLOCK);
	return r;
}

int em_tar_end(FILE *out)
{
	static const char zeros[2 * BLOCK];

	return put(out, zeros, sizeof(zeros));
}
