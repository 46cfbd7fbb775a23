/* SPDX-License-Identifier: Apache-2.0 */
#include "client/mask_parts.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

#define LINE_BYTES 16u
#define OFFSET_MIN 6u
#define GAP_MAX	   3u
#define COLUMN_MAX 80u

static bool is_hex(const char *text, size_t at, size_t end)
{
	return at < end && em_hex_digit(text[at]) >= 0;
}

static bool is_word(const char *text, size_t at, size_t end)
{
	return at < end && isalnum((unsigned char)text[at]);
}

/* ---- what looks like an identifier -------------------------------------------------------- */

static size_t hex_length(const char *text, size_t at, size_t end)
{
	size_t len = 0;

	while (is_hex(text, at + len, end))
		len++;
	return len;
}

static bool follows(const char *text, size_t at, const char *before)
{
	size_t len = strlen(before);

	return at >= len && strncmp(text + at - len, before, len) == 0;
}

/* Decimal numbers of 16 digits are none, unless it is said that they are. */
static size_t looks_like_digits(const char *text, size_t at, size_t end)
{
	size_t len = hex_length(text, at, end);
	bool named =
		follows(text, at, "0x") || follows(text, at, "eui.") || follows(text, at, "naa.");

	if ((len != 16 && len != 32) || is_word(text, at + len, end))
		return 0;
	for (size_t i = 0; i < len && !named; i++)
		named = !isdigit((unsigned char)text[at + i]);
	return named ? len : 0;
}

static size_t looks_like_uuid(const char *text, size_t at, size_t end)
{
	static const unsigned parts[] = { 8, 4, 4, 4, 12 };
	size_t len = 0;

	for (size_t i = 0; i < EM_COUNT(parts); i++) {
		if (i > 0 && (at + len >= end || text[at + len++] != '-'))
			return 0;
		if (hex_length(text, at + len, end) != parts[i])
			return 0;
		len += parts[i];
	}
	return is_word(text, at + len, end) ? 0 : len;
}

static size_t looks_like_nqn(const char *text, size_t at, size_t end)
{
	size_t len = strlen("nqn.");

	if (end - at <= len || strncmp(text + at, "nqn.", len) != 0 ||
	    !isdigit((unsigned char)text[at + len]))
		return 0;
	while (at + len < end && isgraph((unsigned char)text[at + len]) &&
	       !strchr("\"',;()<>\\", text[at + len]))
		len++;
	return len;
}

size_t em_mask_looks_like(const char *text, size_t at, size_t end, enum em_masked *ret_kind)
{
	bool begins = at == 0 || !isalnum((unsigned char)text[at - 1]);
	size_t len;

	if (!begins && !follows(text, at, "0x"))
		return 0;
	*ret_kind = EM_MASKED_NQN;
	len = looks_like_nqn(text, at, end);
	if (len > 0)
		return len;
	*ret_kind = EM_MASKED_NAME;
	len = looks_like_uuid(text, at, end);
	return len > 0 ? len : looks_like_digits(text, at, end);
}

/* ---- dumps -------------------------------------------------------------------------------- */

bool em_dump_run_init(struct em_dump_run *run, size_t len)
{
	run->room = len / 2 + 1;
	run->bytes = len < UINT32_MAX ? malloc(run->room) : NULL;
	run->places = run->bytes ? reallocarray(NULL, run->room, sizeof(*run->places)) : NULL;
	return run->places != NULL;
}

void em_dump_run_done(struct em_dump_run *run)
{
	free(run->bytes);
	free(run->places);
}

static size_t skip(const char *text, size_t at, size_t end, const char *these, size_t max)
{
	size_t len = 0;

	while (len < max && at + len < end && strchr(these, text[at + len]) && text[at + len])
		len++;
	return at + len;
}

/* "00000010: " and "000010  " at the beginning of a line. */
static size_t skip_offset(const char *text, size_t at, size_t end)
{
	size_t start = skip(text, at, end, " \t", COLUMN_MAX);
	size_t len = hex_length(text, start, end), after = start + len;

	if (len < OFFSET_MIN || len > 16 || after >= end)
		return at;
	if (text[after] == ':' || (text[after] == ' ' && after + 1 < end && text[after + 1] == ' '))
		return skip(text, after + 1, end, " \t", COLUMN_MAX);
	return at;
}

/* Behind the last byte of a line: its characters, if it shows them, and the line's end. */
static size_t skip_line_end(const char *text, size_t at, size_t end, size_t line_bytes)
{
	size_t next = skip(text, at, end, " \t", COLUMN_MAX);

	if (next < end && (text[next] == '|' || line_bytes == LINE_BYTES))
		while (next < end && next - at < COLUMN_MAX && text[next] != '\n')
			next++;
	if (next >= end || text[next] != '\n')
		return at;
	next++;
	return skip_offset(text, next, end);
}

/* To where the next byte may stand. */
static size_t skip_gap(const char *text, size_t at, size_t end, size_t *line_bytes, bool offset)
{
	bool full = offset && *line_bytes == LINE_BYTES;
	size_t next = skip_line_end(text, at, end, full ? LINE_BYTES : 0);

	if (next != at) {
		*line_bytes = 0;
		return next;
	}
	if (full)
		return end;
	next = skip(text, at, end, " \t:.,-", GAP_MAX);
	if (next > at && next + 1 < end && text[next] == '0' && text[next + 1] == 'x')
		next += 2;
	return next;
}

static bool is_byte(const char *text, size_t at, size_t end)
{
	return is_hex(text, at, end) && is_hex(text, at + 1, end);
}

void em_dump_run_read(struct em_dump_run *run, const char *text, size_t at, size_t len)
{
	bool line = at == 0 || text[at - 1] == '\n';
	size_t next = line ? skip_offset(text, at, len) : at, line_bytes = 0;
	bool offset = next != at;

	run->count = 0;
	run->is_dump = offset;
	run->end = next > at ? next : at + 1;
	if (!offset && at > 0 && isalnum((unsigned char)text[at - 1]) && !follows(text, at, "0x"))
		return;
	while (is_byte(text, next, len) && run->count < run->room) {
		run->places[run->count] = (uint32_t)next;
		run->bytes[run->count++] =
			(char)(em_hex_digit(text[next]) << 4 | em_hex_digit(text[next + 1]));
		line_bytes++;
		run->end = next + 2;
		next = skip_gap(text, next + 2, len, &line_bytes, offset);
	}
}

/* The rest of a dump's line shows the same bytes as characters. */
static void dot_characters(char *text, size_t at, size_t len)
{
	size_t next = skip(text, at, len, " \t", COLUMN_MAX);

	if (next - at < 2)
		return;
	for (; next < len && text[next] != '\n'; next++)
		if (!strchr("| \t", text[next]))
			text[next] = '.';
}

void em_dump_fill(const struct em_dump_run *run, char *text, size_t len, size_t first,
		  const char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = first; i < first + count && i < run->count; i++) {
		unsigned byte = (unsigned char)bytes[i - first];

		text[run->places[i]] = digits[byte >> 4];
		text[run->places[i] + 1] = digits[byte & 15];
	}
	for (size_t i = first; i < run->count; i++) {
		size_t end = run->places[i] + 2u;
		bool last =
			i + 1 == run->count || memchr(text + end, '\n', run->places[i + 1] - end);

		if (last && run->is_dump)
			dot_characters(text, end, len);
		if (last && i >= first + count - 1)
			break;
	}
}
