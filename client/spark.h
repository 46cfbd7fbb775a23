/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * spark - the course of a value in one line of bars, and its extremes.
 *
 * Threads: pure functions. Blocking: never.
 * Limits:  EM_SPARK_MAX columns.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define EM_SPARK_MAX  120u
#define EM_SPARK_SIZE (EM_SPARK_MAX * 4 + 1)

struct em_course {
	size_t count; /* points with a number; 0 = the rest says nothing */
	const json_t *lowest, *highest, *first, *last; /* points */
};

/* points: [{"at","value"}], numbers or decimal strings; null is passed over. */
void em_course_read(struct em_course *ret, const json_t *points);

/*
 * The points spread over columns by their time, the highest of each column as a bar between lowest
 * and highest; a blank where nothing was read. A value that never changes is a low line. Fewer
 * columns when there are fewer points.
 */
const char *em_spark(const json_t *points, unsigned columns, bool utf8, char buf[EM_SPARK_SIZE]);
