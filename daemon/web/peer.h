/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * peer - what the program at the other end of a unix socket may ask for.
 *
 * Threads: any. Blocking: never, but em_peer_find_group() (it asks the name service).
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "daemon/web/call.h"

/* -ENOENT: there is no such group. */
int em_peer_find_group(const char *name, gid_t *ret);
/*
 * EM_ROLE_ADMIN for root, for our own user and for members of admins (NULL = no group); for all
 * others EM_ROLE_VIEWER. Groups are those that the peer had when it connected. EM_ROLE_NONE when
 * the kernel does not tell.
 */
enum em_role em_peer_role(int fd, const gid_t *admins);
/* One number for all connections of one user; 0 when the kernel does not tell. */
uint64_t em_peer_key(int fd);
