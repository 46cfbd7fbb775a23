/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/parse.h"

/* 9999-12-31T23:59:59.999999Z */
#define REALTIME_MAX_US INT64_C(253402300799999999)
#define US_PER_DAY	(86400 * (int64_t)EM_US_PER_SEC)

static int64_t clock_us(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * (int64_t)EM_US_PER_SEC + t.tv_nsec / 1000;
}

uint64_t em_monotonic_us(void)
{
	return (uint64_t)clock_us(CLOCK_BOOTTIME);
}

int64_t em_realtime_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

/* count digits of value at buf, zeros in front. */
static void put_digits(char *buf, unsigned count, unsigned value)
{
	while (count-- > 0) {
		buf[count] = (char)('0' + value % 10);
		value /= 10;
	}
}

/*
 * By hand and without the C library's time zone lock, since histories are long: years begin in
 * March here, so that the leap day is the last of its year, and eras are 400 of them.
 */
static void put_date(char buf[10], unsigned days_since_1970)
{
	unsigned days = days_since_1970 + 719468; /* since 1 March of year 0 */
	unsigned era = days / 146097, day_of_era = days % 146097;
	unsigned year =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	unsigned day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
	unsigned month = (5 * day_of_year + 2) / 153; /* 0 is March */
	unsigned day = day_of_year - (153 * month + 2) / 5 + 1;

	put_digits(buf, 4, year + era * 400 + (month >= 10));
	put_digits(buf + 5, 2, month < 10 ? month + 3 : month - 9);
	put_digits(buf + 8, 2, day);
}

const char *em_time_format(char buf[EM_TIME_SIZE], int64_t realtime_us)
{
	unsigned seconds, ms;

	if (realtime_us < 0)
		realtime_us = 0;
	if (realtime_us > REALTIME_MAX_US)
		realtime_us = REALTIME_MAX_US;
	strcpy(buf, "0000-00-00T00:00:00.000Z");
	put_date(buf, (unsigned)(realtime_us / US_PER_DAY));
	seconds = (unsigned)(realtime_us % US_PER_DAY / (int64_t)EM_US_PER_SEC);
	ms = (unsigned)(realtime_us / (int64_t)EM_US_PER_MS % 1000);
	put_digits(buf + 11, 2, seconds / 3600);
	put_digits(buf + 14, 2, seconds / 60 % 60);
	put_digits(buf + 17, 2, seconds % 60);
	put_digits(buf + 20, 3, ms);
	return buf;
}

/* Exactly count digits at *text, which is moved behind them. */
static bool take_number(const char **text, unsigned count, int min, int max, int *ret)
{
	int value = 0;

	for (unsigned i = 0; i < count; i++) {
		char c = (*text)[i];

		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	*text += count;
	*ret = value;
	return value >= min && value <= max;
}

static bool take_char(const char **text, const char *any_of)
{
	if (!**text || !strchr(any_of, **text))
		return false;
	(*text)++;
	return true;
}

/* ".123" in microseconds, finer digits dropped; no point means no fraction. */
static bool take_fraction(const char **text, int64_t *ret_us)
{
	int64_t unit = 100000;

	*ret_us = 0;
	if (!take_char(text, "."))
		return true;
	if (**text < '0' || **text > '9')
		return false;
	for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10)
		*ret_us += (**text - '0') * unit;
	return true;
}

/* "Z", "+02:00", "-05:30": seconds east of UTC. */
static bool take_offset(const char **text, int *ret_seconds)
{
	bool west = **text == '-';
	int hours, minutes;

	*ret_seconds = 0;
	if (take_char(text, "Zz"))
		return true;
	if (!take_char(text, "+-") || !take_number(text, 2, 0, 23, &hours) ||
	    !take_char(text, ":") || !take_number(text, 2, 0, 59, &minutes))
		return false;
	*ret_seconds = (hours * 60 + minutes) * (west ? -60 : 60);
	return true;
}

static bool take_date(const char **text, struct tm *tm)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int year;
	bool leap;

	if (!take_number(text, 4, 0, 9999, &year) || !take_char(text, "-") ||
	    !take_number(text, 2, 1, 12, &tm->tm_mon) || !take_char(text, "-"))
		return false;
	tm->tm_mon--;
	tm->tm_year = year - 1900;
	if (!take_number(text, 2, 1, days[tm->tm_mon], &tm->tm_mday))
		return false;
	leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return leap || tm->tm_mon != 1 || tm->tm_mday < 29;
}

static int parse_rfc3339(const char *text, int64_t *ret_us)
{
	struct tm tm = { 0 };
	int64_t fraction = 0;
	int offset;

	if (!take_date(&text, &tm) || !take_char(&text, "Tt ") ||
	    !take_number(&text, 2, 0, 23, &tm.tm_hour) || !take_char(&text, ":") ||
	    !take_number(&text, 2, 0, 59, &tm.tm_min))
		return -EINVAL;
	if (take_char(&text, ":") &&
	    (!take_number(&text, 2, 0, 60, &tm.tm_sec) || !take_fraction(&text, &fraction)))
		return -EINVAL;
	if (!take_offset(&text, &offset) || *text)
		return -EINVAL;
	*ret_us = ((int64_t)timegm(&tm) - offset) * (int64_t)EM_US_PER_SEC + fraction;
	return 0;
}

/* "1792888200" or "1792888200.25" */
static int parse_seconds(const char *text, int64_t *ret_us)
{
	int64_t seconds = 0, fraction;

	for (; *text >= '0' && *text <= '9'; text++)
		if (seconds <= REALTIME_MAX_US)
			seconds = seconds * 10 + (*text - '0');
	if (!take_fraction(&text, &fraction) || *text)
		return -EINVAL;
	if (seconds > REALTIME_MAX_US / (int64_t)EM_US_PER_SEC)
		return -ERANGE;
	*ret_us = seconds * (int64_t)EM_US_PER_SEC + fraction;
	return 0;
}

static int parse_relative(const char *text, int64_t now_us, int64_t *ret_us)
{
	uint64_t span;
	int r = em_parse_duration_us(text + 1, 0, (uint64_t)REALTIME_MAX_US, &span);

	if (r < 0)
		return r;
	*ret_us = now_us - (int64_t)span;
	return 0;
}

int em_time_parse(const char *text, int64_t now_us, int64_t *ret_us)
{
	size_t digits = strspn(text, "0123456789");
	int64_t us = now_us;
	int r = -EINVAL;

	if (!strcmp(text, "now"))
		r = 0;
	else if (*text == '-')
		r = parse_relative(text, now_us, &us);
	else if (digits == 4 && text[4] == '-')
		r = parse_rfc3339(text, &us);
	else if (digits > 0)
		r = parse_seconds(text, &us);
	if (r < 0)
		return r;
	if (us < 0 || us > REALTIME_MAX_US)
		return -ERANGE;
	*ret_us = us;
	return 0;
}
