/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * history - a database with a history whose values follow from their times, so that an answer made
 * of it can be judged without another query.
 *
 * Owns:     one store per process, closed at exit. Threads: the fuzzer's one.
 */
#include <jansson.h>

struct em_store;

/* A minute apart, of the drive of fuzz_snapshot(), up to FUZZ_NOW_US. */
struct em_store *fuzz_store(void);
/* An answer with points: in the order of time, each with the value that was put for its time. */
void fuzz_check_history(const json_t *root);
/*
 * A list of events, and the one that a cursor led to after it (NULL: there is none): no event twice
 * and all in one order, the second goes on where the first ends.
 */
void fuzz_check_events(const json_t *first, const json_t *second);
