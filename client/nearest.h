/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * nearest - "did you mean": the word of a list that a mistyped word probably was.
 *
 * Threads: pure functions. Blocking: never. Limits: words above EM_NEAREST_MAX are never near.
 */
#include <stddef.h>

#define EM_NEAREST_MAX 32u

struct em_nearest {
	const char *word; /* as typed */
	const char *best; /* NULL = nothing is near enough */
	unsigned best_cost;
};

void em_nearest_start(struct em_nearest *nearest, const char *word);
void em_nearest_offer(struct em_nearest *nearest, const char *candidate);

/* Letters to add, drop, change or swap with the next one to make b out of a. */
unsigned em_edit_distance(const char *a, const char *b);
