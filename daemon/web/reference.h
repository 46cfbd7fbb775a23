/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * reference - the routes for people: docs/api.md, made from the same tables as the OpenAPI
 * document.
 *
 * Owns:     returned text is the caller's to free. Threads: any. Blocking: never.
 */
#include <stddef.h>

/* NULL: no memory. */
char *em_reference_text(size_t *ret_len);
