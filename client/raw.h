/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * raw - pages that are read from the drive for whoever asks.
 *
 * Threads: one caller. Blocking: as http, and as long as the drive takes.
 */
#include "client/api.h"
#include "lib/base/buf.h"

/* query: "kind=log&page=2" and more, of a drive as people name it, or by its id. Complains. */
enum em_exit em_raw_read(struct em_client *client, const char *drive, const char *query,
			 struct em_doc *ret);
/* The bytes of such an answer; false when it has none. */
bool em_raw_bytes(const json_t *answer, struct em_buf *ret);
