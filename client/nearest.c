/* SPDX-License-Identifier: Apache-2.0 */
#include "client/nearest.h"
#include <limits.h>
#include <string.h>

static unsigned smaller(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned em_edit_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned cost[EM_NEAREST_MAX + 1][EM_NEAREST_MAX + 1];

	if (a_len > EM_NEAREST_MAX || b_len > EM_NEAREST_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= b_len; j++)
		cost[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		cost[i][0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			change = smaller(change, smaller(cost[i - 1][j], cost[i][j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				change = smaller(change, cost[i - 2][j - 2] + 1);
			cost[i][j] = change;
		}
	}
	return cost[a_len][b_len];
}

void em_nearest_start(struct em_nearest *nearest, const char *word)
{
	nearest->word = word;
	nearest->best = NULL;
	nearest->best_cost = UINT_MAX;
}

void em_nearest_offer(struct em_nearest *nearest, const char *candidate)
{
	size_t len = strlen(nearest->word);
	/* One slip in a short word, two in a longer one; a started word is near to its whole. */
	unsigned limit = len <= 3 ? 1 : 2;
	unsigned cost = em_edit_distance(nearest->word, candidate);

	if (len >= 2 && strncmp(candidate, nearest->word, len) == 0)
		cost = smaller(cost, 1);
	if (cost > limit || cost >= nearest->best_cost)
		return;
	nearest->best = candidate;
	nearest->best_cost = cost;
}
