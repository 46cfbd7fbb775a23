/* SPDX-License-Identifier: Apache-2.0 */
#include "client/layout.h"

#define CUT_FIRST_RANK 2u

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

/* The shown column of the highest rank, the last of equals. count when only rank 0 is left. */
static unsigned least_important(const struct em_column *columns, unsigned count,
				const unsigned *widths)
{
	unsigned found = count;

	for (unsigned i = 0; i < count; i++) {
		if (widths[i] == 0 || columns[i].rank == 0)
			continue;
		if (found == count || columns[i].rank >= columns[found].rank)
			found = i;
	}
	return found;
}

/*
 * The widest column from this rank on that can still be cut: there a letter is missed least. count
 * when none can.
 */
static unsigned widest(const struct em_column *columns, unsigned count, const unsigned *widths,
		       unsigned rank)
{
	unsigned found = count;

	for (unsigned i = 0; i < count; i++) {
		if (columns[i].rank < rank || least_width(&columns[i], widths[i]) == widths[i])
			continue;
		if (found == count || widths[i] > widths[found])
			found = i;
	}
	return found;
}

void em_layout(const struct em_column *columns, unsigned count, unsigned width, unsigned *widths)
{
	unsigned victim;

	if (width == 0)
		return;
	while (total_width(columns, count, widths, true) > width) {
		victim = least_important(columns, count, widths);
		if (victim == count)
			break;
		widths[victim] = 0;
	}
	while (total_width(columns, count, widths, false) > width) {
		victim = widest(columns, count, widths, CUT_FIRST_RANK);
		if (victim == count)
			victim = widest(columns, count, widths, 1);
		if (victim == count)
			break;
		widths[victim]--;
	}
}
