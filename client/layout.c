/* SPDX-License-Identifier: Apache-2.0 */
#include "client/layout.h"

static unsigned total_width(const unsigned *widths, unsigned count)
{
	unsigned total = 0, shown = 0;

	for (unsigned i = 0; i < count; i++) {
		total += widths[i];
		shown += widths[i] > 0;
	}
	return total + (shown > 1 ? (shown - 1) * EM_LAYOUT_GAP : 0);
}

/* The shown column of the highest rank; the last of equals. count when only rank 0 is left. */
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

void em_layout(const struct em_column *columns, unsigned count, unsigned width, unsigned *widths)
{
	unsigned total;

	while (width > 0 && (total = total_width(widths, count)) > width) {
		unsigned victim = least_important(columns, count, widths);
		unsigned shortest, excess = total - width;

		if (victim == count)
			return;
		shortest = columns[victim].shortest;
		if (shortest > 0 && widths[victim] >= shortest + excess)
			widths[victim] -= excess;
		else
			widths[victim] = 0;
	}
}
