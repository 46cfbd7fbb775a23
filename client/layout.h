/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * layout - which columns of a table fit into a width, and how wide each becomes.
 *
 * Threads: pure functions. Blocking: never.
 */
#include "client/writer.h"

#define EM_LAYOUT_GAP 2u

/*
 * widths holds the natural widths and becomes the final ones; 0 = left out. width 0 = no limit.
 * Columns are left out from the highest rank on, until the others fit when cut to their shortest;
 * then the widest are cut, only as far as it needs, and those of rank 1 last. Columns of rank 0
 * stay whole, and the table may then be wider than asked.
 */
void em_layout(const struct em_column *columns, unsigned count, unsigned width, unsigned *widths);
