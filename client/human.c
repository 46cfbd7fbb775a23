/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/human.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"

static bool all_digits(const char *text)
{
	size_t len = strspn(text, "0123456789");

	return len > 0 && text[len] == '\0';
}

const char *em_human_digits(char *buf, size_t size, const char *digits)
{
	size_t len = strlen(digits), used = 0;

	if (!all_digits(digits) || len + len / 3 + 1 > size) {
		snprintf(buf, size, "%s", digits);
		return buf;
	}
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf[used++] = ',';
		buf[used++] = digits[i];
	}
	buf[used] = '\0';
	return buf;
}

const char *em_human_bytes(char *buf, size_t size, const char *digits)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB" };
	long double value = strtold(digits, NULL);
	unsigned unit = 0;

	if (!all_digits(digits)) {
		snprintf(buf, size, "%s", digits);
		return buf;
	}
	/* Sizes of blocks are known to everybody by their digits. */
	if (value < 10000) {
		em_human_digits(buf, size, digits);
		strncat(buf, " B", size - strlen(buf) - 1);
		return buf;
	}
	/* 999.5 would be printed as "1000". */
	while (value >= 999.5L && unit + 1 < EM_COUNT(units)) {
		value /= 1000;
		unit++;
	}
	snprintf(buf, size, "%.*Lf %s",
		 value >= 99.95L   ? 0
		 : value >= 9.995L ? 1
				   : 2,
		 value, units[unit]);
	return buf;
}

const char *em_human_span(char *buf, size_t size, double seconds)
{
	if (seconds < 1)
		snprintf(buf, size, "%.0f ms", seconds * 1000);
	else if (seconds == 60)
		snprintf(buf, size, "1 min");
	else if (seconds == 3600)
		snprintf(buf, size, "1 h");
	else if (seconds < 120)
		snprintf(buf, size, "%.0f s", seconds);
	else if (seconds < 2 * 3600)
		snprintf(buf, size, "%.0f min", seconds / 60);
	else if (seconds < 2 * 86400)
		snprintf(buf, size, "%.0f h", seconds / 3600);
	else if (seconds < 2 * 365.25 * 86400)
		snprintf(buf, size, "%.0f days", seconds / 86400);
	else
		snprintf(buf, size, "%.1f years", seconds / 86400 / 365.25);
	return buf;
}

const char *em_human_age(char *buf, size_t size, double seconds)
{
	if (seconds < 1) {
		snprintf(buf, size, "now");
		return buf;
	}
	em_human_span(buf, size, seconds);
	strncat(buf, " ago", size - strlen(buf) - 1);
	return buf;
}

struct unit {
	const char *name, *utf8, *ascii;
	double seconds; /* a span of time: long ones are also told in a larger unit */
};

static const struct unit units[] = {
	{ "celsius", "°C", "C", 0 }, { "percent", "%", "%", 0 },
	{ "seconds", "s", "s", 1 },  { "minutes", "min", "min", 60 },
	{ "hours", "h", "h", 3600 }, { "milliseconds", "ms", "ms", 0 },
	{ "watts", "W", "W", 0 },
};

static const struct unit *find_unit(const char *name)
{
	for (size_t i = 0; i < EM_COUNT(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

const char *em_human_unit_sign(const char *unit, bool utf8)
{
	const struct unit *known = find_unit(unit);

	if (!known)
		return unit;
	return utf8 ? known->utf8 : known->ascii;
}

const char *em_human_unit(char *buf, size_t size, const char *digits, const char *unit, bool utf8)
{
	const struct unit *known = find_unit(unit);
	char grouped[EM_HUMAN_SIZE], longer[EM_HUMAN_SIZE];
	double seconds;

	if (strcmp(unit, "bytes") == 0)
		return em_human_bytes(buf, size, digits);
	em_human_digits(grouped, sizeof(grouped), digits);
	if (!known) {
		snprintf(buf, size, "%s%s%s", grouped, *unit ? " " : "", unit);
		return buf;
	}
	seconds = known->seconds * strtod(digits, NULL);
	/* Two days and more; shorter spans read well as they are. */
	if (seconds >= 2 * 86400)
		snprintf(buf, size, "%s %s (%s)", grouped, known->ascii,
			 em_human_span(longer, sizeof(longer), seconds));
	else
		snprintf(buf, size, "%s %s", grouped, utf8 ? known->utf8 : known->ascii);
	return buf;
}
