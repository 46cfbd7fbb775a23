/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * listen - the socket clients come through: passed by systemd, or made by ourselves.
 *
 * Our own is made with mode 0660 and belongs to the client user's group. A stale one is replaced;
 * anything that is not a socket is not.
 * Threads: the loop's, at start. Blocking: never. Errors: 0 or -errno; says what on failure.
 */
#include "broker/options.h"

int em_listen(const struct em_options *options, int *ret_fd);
