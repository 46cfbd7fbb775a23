/* SPDX-License-Identifier: Apache-2.0 */
#include "client/spark.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

static const char *const bars_utf8[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const bars_ascii[] = { "_", ".", "-", "~", "=", "+", "*", "#" };
#define BARS EM_COUNT(bars_utf8)

/* False for what is no number, or none that has a height. */
static bool read_value(const json_t *point, double *ret)
{
	const json_t *value = json_object_get(point, "value");
	char *end;

	if (json_is_number(value)) {
		*ret = json_number_value(value);
		return true;
	}
	if (!json_is_string(value) || json_string_length(value) == 0)
		return false;
	*ret = strtod(json_string_value(value), &end);
	return *end == '\0' && isfinite(*ret);
}

static bool read_time(const json_t *point, int64_t *ret)
{
	const char *at = json_string_value(json_object_get(point, "at"));

	return at && em_time_parse(at, 0, ret) == 0;
}

void em_course_read(struct em_course *ret, const json_t *points)
{
	double low = 0, high = 0, value;
	const json_t *point;
	size_t i;

	*ret = (struct em_course){ 0 };
	json_array_foreach(points, i, point)
	{
		if (!read_value(point, &value))
			continue;
		if (ret->count == 0)
			ret->first = point;
		if (ret->count == 0 || value < low) {
			ret->lowest = point;
			low = value;
		}
		if (ret->count == 0 || value > high) {
			ret->highest = point;
			high = value;
		}
		ret->last = point;
		ret->count++;
	}
}

/* Which column a moment belongs to. */
static unsigned column_of(int64_t at, int64_t begin, int64_t end, unsigned columns)
{
	if (end <= begin || at <= begin)
		return 0;
	if (at >= end)
		return columns - 1;
	return (unsigned)((double)(at - begin) / (double)(end - begin) * columns);
}

/* One column without a reading comes from an uneven step, and is no gap. */
static void close_gaps(unsigned *heights, unsigned columns)
{
	for (unsigned i = 1; i + 1 < columns; i++)
		if (heights[i] == 0 && heights[i + 1] > 0)
			heights[i] = heights[i - 1];
}

/* From 1 to BARS. In long double: two doubles may be further apart than a double can tell. */
static unsigned height_of(double value, double low, double high)
{
	if (high <= low)
		return 1;
	return 1 + (unsigned)(((long double)value - low) / ((long double)high - low) * (BARS - 1) +
			      0.5L);
}

/* Heights from 1 on; 0 = nothing was read then. */
static void fill_heights(const json_t *points, const struct em_course *course, unsigned columns,
			 unsigned *heights)
{
	double low = 0, high = 0, value;
	int64_t begin = 0, end = 0, at;
	const json_t *point;
	size_t i;

	read_value(course->lowest, &low);
	read_value(course->highest, &high);
	read_time(course->first, &begin);
	read_time(course->last, &end);
	json_array_foreach(points, i, point)
	{
		unsigned column, height;

		if (!read_value(point, &value) || !read_time(point, &at))
			continue;
		column = column_of(at, begin, end, columns);
		height = height_of(value, low, high);
		/* A peak is not to be missed. */
		if (height > heights[column])
			heights[column] = height;
	}
	close_gaps(heights, columns);
}

const char *em_spark(const json_t *points, unsigned columns, bool utf8, char buf[EM_SPARK_SIZE])
{
	const char *const *bars = utf8 ? bars_utf8 : bars_ascii;
	unsigned heights[EM_SPARK_MAX] = { 0 };
	struct em_course course;
	size_t used = 0;

	if (columns > EM_SPARK_MAX)
		columns = EM_SPARK_MAX;
	em_course_read(&course, points);
	if (columns > course.count)
		columns = (unsigned)course.count;
	if (course.count > 0)
		fill_heights(points, &course, columns, heights);
	for (unsigned i = 0; i < columns; i++) {
		const char *bar = heights[i] > 0 ? bars[heights[i] - 1] : " ";
		size_t len = strlen(bar);

		memcpy(buf + used, bar, len);
		used += len;
	}
	buf[used] = '\0';
	return buf;
}
