/* SPDX-License-Identifier: Apache-2.0 */
#include "client/layout.h"

/* What a column needs at least: 0 when it is left out. */
static unsigned least_width(const struct em_column *column, unsigned width)
{
	return column->shortest > 0 && column->shortest < width ? column->shortest : width;
}

static unsigned total_width(const struct em_column *columns, unsigned count, const unsigned *widths,
			    bool least)
{
	unsigned total = 0, shown = 0;

	for (unsigned i = 0; i < count; i++) {
		total += least ? least_width(&columns[i], widths[i]) : widths[i];
		shown += widths[i] > 0;
	}
	return total + (shown > 1 ? (shown - 1) * EM_LAYOUT_GAP : 0);
}

/*
 * The shown column of the highest rank, the last of equals; with can_cut the one among those that
 * can still be cut. count when there is none.
 */
static unsigned find_victim(const struct em_column *columns, unsigned count, const unsigned *widths,
			    bool can_cut)
{
	unsigned found = count;

	for (unsigned i = 0; i < count; i++) {
		if (widths[i] == 0 || columns[i].rank == 0)
			continue;
		if (can_cut && least_width(&columns[i], widths[i]) == widths[i])
			continue;
		if (found == count || columns[i].rank >= columns[found].rank)
			found = i;
	}
	return found;
}

static void cut(const struct em_column *column, unsigned *width, unsigned excess)
{
	unsigned least = least_width(column, *width);

	*width = *width - least > excess ? *width - excess : least;
}

void em_layout(const struct em_column *columns, unsigned count, unsigned width, unsigned *widths)
{
	unsigned total, victim;

	if (width == 0)
		return;
	while (total_width(columns, count, widths, true) > width) {
		victim = find_victim(columns, count, widths, false);
		if (victim == count)
			break;
		widths[victim] = 0;
	}
	while ((total = total_width(columns, count, widths, false)) > width) {
		victim = find_victim(columns, count, widths, true);
		if (victim == count)
			break;
		cut(&columns[victim], &widths[victim], total - width);
	}
}
