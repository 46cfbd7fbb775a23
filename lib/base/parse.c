/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

static const struct unit {
	const char *name;
	uint64_t us;
} units[] = {
	{ "d", UINT64_C(86400000000) }, { "h", UINT64_C(3600000000) },
	{ "min", UINT64_C(60000000) },	{ "s", UINT64_C(1000000) },
	{ "ms", UINT64_C(1000) },	{ "us", UINT64_C(1) },
};

int em_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * Reads the digits at *text and moves it behind them. -EINVAL without a digit; -ERANGE on overflow,
 * with *text moved all the same, so that a wrong form is told before a wrong size.
 */
static int read_digits(const char **text, unsigned base, uint64_t *ret)
{
	const char *p = *text;
	bool overflow = false;
	uint64_t value = 0;

	for (; (unsigned)em_hex_digit(*p) < base; p++) {
		overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
		overflow |= __builtin_add_overflow(value, (uint64_t)em_hex_digit(*p), &value);
	}
	if (p == *text)
		return -EINVAL;
	*text = p;
	*ret = value;
	return overflow ? -ERANGE : 0;
}

int em_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t value = 0;
	int r;

	if (hex)
		text += 2;
	r = read_digits(&text, hex ? 16 : 10, &value);
	if (r == -EINVAL || *text)
		return -EINVAL;
	if (r < 0 || value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

/* The unit at *text, which ends at a blank, a digit or the end; NULL when it is none of ours. */
static const struct unit *read_unit(const char **text)
{
	size_t len = strcspn(*text, " 0123456789");

	for (size_t i = 0; i < EM_COUNT(units); i++) {
		if (strlen(units[i].name) == len && !memcmp(units[i].name, *text, len)) {
			*text += len;
			return &units[i];
		}
	}
	return NULL;
}

/* One "30s" is added to *total. */
static int read_part(const char **text, uint64_t *total)
{
	const struct unit *unit;
	uint64_t value = 0;
	int r = read_digits(text, 10, &value);

	if (r == -EINVAL)
		return r;
	unit = read_unit(text);
	if (!unit)
		return -EINVAL;
	if (r < 0 || __builtin_mul_overflow(value, unit->us, &value) ||
	    __builtin_add_overflow(*total, value, total))
		return -ERANGE;
	return 0;
}

static int read_parts(const char *text, uint64_t *total)
{
	bool too_big = false;

	do {
		int r = read_part(&text, total);

		if (r == -EINVAL)
			return r;
		too_big |= r < 0;
		if (*text == ' ' && text[1])
			text += strspn(text, " ");
	} while (*text);
	return too_big ? -ERANGE : 0;
}

int em_parse_duration_us(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret_us)
{
	bool bare = *text && text[strspn(text, "0123456789")] == '\0';
	uint64_t total = 0;
	int r;

	if (bare) {
		r = em_parse_u64(text, 0, UINT64_MAX / 1000000, &total);
		total *= 1000000;
	} else {
		r = read_parts(text, &total);
	}
	if (r < 0)
		return r;
	if (total < min_us || total > max_us)
		return -ERANGE;
	*ret_us = total;
	return 0;
}

int em_parse_bool(const char *text, bool *ret)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };

	for (size_t i = 0; i < EM_COUNT(yes); i++) {
		if (!strcmp(text, yes[i]) || !strcmp(text, no[i])) {
			*ret = !strcmp(text, yes[i]);
			return 0;
		}
	}
	return -EINVAL;
}

const char *em_duration_format(char *buf, unsigned size, uint64_t span_us)
{
	size_t len = 0;

	if (size == 0)
		return buf;
	snprintf(buf, size, "0s");
	for (size_t i = 0; i < EM_COUNT(units) && len < size; i++) {
		uint64_t count = span_us / units[i].us;

		if (count == 0)
			continue;
		span_us %= units[i].us;
		len += (size_t)snprintf(buf + len, size - len, "%s%llu%s", len ? " " : "",
					(unsigned long long)count, units[i].name);
	}
	return buf;
}
