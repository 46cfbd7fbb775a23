/* SPDX-License-Identifier: Apache-2.0 */
/* rates - values that move with time: wear, traffic, temperatures. */
#include "sim/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/le.h"
#include "lib/base/parse.h"

#define AMOUNT_MAX 1000000000000
/* What stands still for longer is not caught up with: the products below stay in 128 bits. */
#define GAP_MAX_US (UINT64_C(24) * 3600 * EM_US_PER_SEC)

/* Places of what the two thresholds are about. */
#define WCTEMP		266 /* Identify Controller */
#define WARNING		0   /* log 02h */
#define WARNING_SPARE	0x01
#define WARNING_CELSIUS 0x02
#define TEMPERATURE	1
#define SPARE		3
#define SPARE_THRESHOLD 4

/* "1000/s", "-1/30min" */
static int parse_rate(const char *text, int64_t *ret_amount, uint64_t *ret_per_us)
{
	char *slash, per[32];
	long long amount = strtoll(text, &slash, 10);
	bool counted;

	if (slash == text || *slash != '/')
		return -EINVAL;
	counted = slash[1] >= '0' && slash[1] <= '9';
	if (snprintf(per, sizeof(per), "%s%s", counted ? "" : "1", slash + 1) >= (int)sizeof(per) ||
	    em_parse_duration_us(per, 1, UINT64_C(366) * 24 * 3600 * EM_US_PER_SEC, ret_per_us) < 0)
		return -EINVAL;
	if (amount > AMOUNT_MAX || amount < -AMOUNT_MAX)
		return -ERANGE;
	*ret_amount = amount;
	return 0;
}

static void end_rate(struct sim_drive *drive, const struct sim_value *value)
{
	for (unsigned i = 0; i < drive->rate_count; i++) {
		if (drive->rates[i].value != value)
			continue;
		drive->rates[i] = drive->rates[--drive->rate_count];
		return;
	}
}

int sim_rate_set(struct sim_drive *any, const char *name, const char *text, const char *limit)
{
	const struct sim_value *value = sim_value_find(name);
	struct sim_drive *drive = sim_drive_owner(any);
	struct sim_rate rate = { .value = value, .has_limit = limit != NULL };
	int r;

	if (!value)
		return -ENOENT;
	if (value->kind == SIM_TEXT)
		return -EINVAL;
	r = parse_rate(text, &rate.amount, &rate.per_us);
	if (r < 0)
		return r;
	r = limit ? sim_value_parse(value, limit, &rate.limit) : 0;
	if (r < 0)
		return r;
	sim_rate_apply(drive, em_monotonic_us());
	end_rate(drive, value);
	if (rate.amount == 0)
		return 0;
	if (drive->rate_count == SIM_RATES_MAX)
		return -ENOSPC;
	drive->rates[drive->rate_count++] = rate;
	return 0;
}

static em_u128 moved(const struct sim_rate *rate, em_u128 from, __int128 steps)
{
	em_u128 most = ~(em_u128)0 >> (128 - 8 * rate->value->size), least = 0;
	em_u128 way = steps < 0 ? (em_u128)-steps : (em_u128)steps;

	if (rate->has_limit && rate->amount > 0)
		most = rate->limit;
	if (rate->has_limit && rate->amount < 0)
		least = rate->limit;
	/* Already beyond: a limit does not pull back. */
	if (steps >= 0)
		return from >= most ? from : way > most - from ? most : from + way;
	return from <= least ? from : way > from - least ? least : from - way;
}

static void move(struct sim_drive *drive, struct sim_rate *rate, uint64_t passed_us)
{
	__int128 due = rate->rest + (__int128)rate->amount * (__int128)passed_us;
	__int128 steps = due / (__int128)rate->per_us;

	rate->rest = due % (__int128)rate->per_us;
	if (steps != 0)
		sim_value_put(drive, rate->value,
			      moved(rate, sim_value_get(drive, rate->value), steps));
}

static bool moves(const struct sim_drive *drive, unsigned offset)
{
	for (unsigned i = 0; i < drive->rate_count; i++)
		if (drive->rates[i].value->page == SIM_PAGE_SMART &&
		    drive->rates[i].value->offset == offset)
			return true;
	return false;
}

static void judge(struct sim_drive *drive)
{
	uint8_t *smart = drive->page[SIM_PAGE_SMART], before = smart[WARNING];
	uint16_t hot = em_le16(drive->page[SIM_PAGE_IDENTIFY] + WCTEMP);

	if (hot && moves(drive, TEMPERATURE))
		smart[WARNING] =
			(uint8_t)((before & ~WARNING_CELSIUS) |
				  (em_le16(smart + TEMPERATURE) >= hot ? WARNING_CELSIUS : 0));
	if (moves(drive, SPARE))
		smart[WARNING] =
			(uint8_t)((smart[WARNING] & ~WARNING_SPARE) |
				  (smart[SPARE] < smart[SPARE_THRESHOLD] ? WARNING_SPARE : 0));
	if (smart[WARNING] != before)
		sim_model_warning_changed(drive, before, smart[WARNING]);
}

void sim_rate_apply(struct sim_drive *drive, uint64_t now_us)
{
	uint64_t passed = now_us > drive->rates_at_us ? now_us - drive->rates_at_us : 0;

	drive->rates_at_us = now_us;
	if (passed > GAP_MAX_US)
		passed = GAP_MAX_US;
	for (unsigned i = 0; i < drive->rate_count; i++)
		move(drive, &drive->rates[i], passed * drive->speed);
	if (drive->rate_count)
		judge(drive);
}
