/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * secrets - private keys and tokens out of texts that leave the host.
 *
 * Threads: pure functions. Blocking: never.
 */
#include "lib/base/buf.h"

/* The text without private keys in PEM, emberd's tokens, and what stands behind "Bearer". */
void em_secrets_remove(const char *text, size_t len, struct em_buf *out);
