/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/ini.h"

#include <string.h>

#define BLANKS	  " \t\r\n"
#define BYTE_MARK "\xef\xbb\xbf"

_Static_assert(EM_INI_LINE_MAX == 1000, "the text below says so");

char *em_ini_trim(char *text)
{
	size_t len;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len > 0 && strchr(BLANKS, text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

static const char *parse_section(char *text, struct em_ini_line *ret)
{
	char *end = strchr(text, ']');

	if (!end || end[1] != '\0')
		return "a section is [NAME], with nothing behind it on the line";
	*end = '\0';
	*ret = (struct em_ini_line){ .kind = EM_INI_SECTION, .name = text + 1 };
	return NULL;
}

static const char *parse_key(char *text, struct em_ini_line *ret)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return "write [SECTION], KEY=VALUE, or # and a comment";
	*equals = '\0';
	*ret = (struct em_ini_line){ .kind = EM_INI_KEY,
				     .name = em_ini_trim(text),
				     .value = em_ini_trim(equals + 1) };
	return NULL;
}

const char *em_ini_parse(char *text, size_t len, struct em_ini_line *ret)
{
	if (len > EM_INI_LINE_MAX)
		return "the line is too long; at most 1000 characters";
	if (strlen(text) != len)
		return "a NUL byte; this is no text file";
	if (strncmp(text, BYTE_MARK, strlen(BYTE_MARK)) == 0)
		return "a byte order mark; save the file as UTF-8 without one";
	text = em_ini_trim(text);
	if (*text == '\0' || *text == '#') {
		*ret = (struct em_ini_line){ .kind = EM_INI_EMPTY };
		return NULL;
	}
	/* Not cut off: better no rule than one for another drive. */
	if (strchr(text, '#'))
		return "only a comment can contain #, and a comment needs a line of its own";
	return *text == '[' ? parse_section(text, ret) : parse_key(text, ret);
}
