/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/term.h"
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>
#include "lib/base/parse.h"

#define WIDTH_MIN 20u
#define WIDTH_MAX 10000u

static unsigned find_width(int fd, bool tty)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (columns && em_parse_u64(columns, 1, WIDTH_MAX, &width) == 0)
		return width < WIDTH_MIN ? WIDTH_MIN : (unsigned)width;
	if (!tty || ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return tty ? 80 : 0;
	return size.ws_col < WIDTH_MIN ? WIDTH_MIN : size.ws_col;
}

static unsigned find_height(int fd, bool tty)
{
	struct winsize size;

	if (!tty || ioctl(fd, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_row;
}

static bool has_cursor(bool tty)
{
	const char *term = getenv("TERM");

	return tty && term && *term && strcmp(term, "dumb") != 0;
}

static bool wants_color(bool tty)
{
	const char *no_color = getenv("NO_COLOR");

	return has_cursor(tty) && !(no_color && *no_color);
}

void em_term_detect(struct em_term *ret, int fd)
{
	bool tty = isatty(fd) == 1;

	*ret = (struct em_term){
		.tty = tty,
		.width = find_width(fd, tty),
		.height = find_height(fd, tty),
		.cursor = has_cursor(tty),
		.color = wants_color(tty),
		.utf8 = strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0,
	};
}

/* Bytes of the character at text and its columns; 1 byte and no column when it may not be shown. */
static size_t next_char(const char *text, bool utf8, int *ret_columns)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t len;

	*ret_columns = 0;
	if ((unsigned char)*text < 0x80) {
		*ret_columns = *text >= 0x20 && *text < 0x7f;
		return 1;
	}
	if (!utf8)
		return 1;
	len = mbrtowc(&wide, text, strlen(text), &state);
	if (len == 0 || len > strlen(text))
		return 1;
	*ret_columns = wcwidth(wide);
	if (*ret_columns < 0)
		*ret_columns = 0;
	return len;
}

char *em_term_clean(const char *text, bool utf8)
{
	char *copy = malloc(strlen(text) + 1);
	char *out = copy;
	int columns;

	if (!copy)
		return NULL;
	while (*text) {
		size_t len = next_char(text, utf8, &columns);

		if (columns > 0) {
			memcpy(out, text, len);
			out += len;
		} else {
			*out++ = '?';
		}
		text += len;
	}
	*out = '\0';
	return copy;
}

unsigned em_term_columns(const char *text)
{
	unsigned total = 0;
	int columns;

	while (*text) {
		text += next_char(text, true, &columns);
		total += (unsigned)columns;
	}
	return total;
}

size_t em_term_fit(const char *text, unsigned columns)
{
	const char *p = text;
	unsigned total = 0;
	int wide;

	while (*p) {
		size_t len = next_char(p, true, &wide);

		total += (unsigned)wide;
		if (total > columns)
			break;
		p += len;
	}
	return (size_t)(p - text);
}

size_t em_term_line(const char *text, unsigned columns)
{
	size_t fits = em_term_fit(text, columns);
	size_t cut = fits;

	if (text[fits] == '\0')
		return fits;
	while (cut > 0 && text[cut] != ' ')
		cut--;
	if (cut > 0)
		return cut;
	return fits > 0 ? fits : 1;
}
