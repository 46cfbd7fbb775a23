/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * conf - reads one INI file that decides what root does: entry by entry, with its line.
 *
 * The file and all directories above it must belong to root or to us, and nobody else may write to
 * them (or, like /tmp, only to what is their own). A link to it and what is above that likewise. An
 * entry that stands twice is an error, and so is a line that is not plainly one of ours.
 *
 * Owns:     nothing beyond the call. Threads: the loop's.
 * Blocking: as reading a small file. Limits: EM_CONF_SIZE_MAX bytes.
 * Errors:   -ENOENT no such file, -ENOLINK a link to nothing, -EPERM not to be trusted, -EINVAL
 *           bad content, -ENOMEM or what reading gave; error then holds a sentence that begins
 *           with the file and, where there is one, the line.
 */
#include <stdint.h>

#define EM_CONF_SIZE_MAX   (1u << 20)
#define EM_CONF_ERROR_SIZE 512

struct em_conf_entry {
	const char *section, *key, *value; /* key and value NULL: the section begins */
};

/* Returns NULL to go on, or what is wrong with the entry (a static text). */
typedef const char *em_conf_fn(void *self, const struct em_conf_entry *entry);

int em_conf_read(const char *path, em_conf_fn *fn, void *self, char error[EM_CONF_ERROR_SIZE]);
