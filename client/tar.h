/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * tar - plain files into a tar archive (POSIX ustar), one after another.
 *
 * Threads:  one writer to a stream. Blocking: as the stream.
 * Errors:   -ENAMETOOLONG, -EINVAL (a name that would leave the directory), -EFBIG, or the
 * stream's. Limits:   EM_TAR_NAME_MAX characters in a name, 8 GiB in a file.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define EM_TAR_NAME_MAX 100u

/* A file of mode 0600 that belongs to nobody in particular. */
int em_tar_add(FILE *out, const char *name, const void *data, size_t len, uint64_t mtime_s);
int em_tar_end(FILE *out);
