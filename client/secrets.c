/* SPDX-License-Identifier: Apache-2.0 */
#include "client/secrets.h"
#include <ctype.h>
#include <string.h>
#include "lib/base/cleanup.h"

#define REMOVED	    "[removed]"
#define TOKEN_CHARS 16u /* what is shorter is a name: ember_drives */
#define HEAD_MAX    80u

static bool begins(const char *text, size_t len, const char *with)
{
	size_t need = strlen(with);

	return len >= need && memcmp(text, with, need) == 0;
}

static size_t token_length(const char *text, size_t len)
{
	static const char prefix[] = "ember_";
	size_t used = sizeof(prefix) - 1;

	if (!begins(text, len, prefix))
		return 0;
	while (used < len && (isxdigit((unsigned char)text[used]) || text[used] == '_'))
		used++;
	return used >= sizeof(prefix) - 1 + TOKEN_CHARS ? used : 0;
}

static size_t bearer_length(const char *text, size_t len)
{
	static const char prefix[] = "Bearer ";
	size_t used = sizeof(prefix) - 1;

	if (!begins(text, len, prefix))
		return 0;
	while (used < len && isgraph((unsigned char)text[used]) && text[used] != '"')
		used++;
	return used;
}

/* Without its end, all that follows. */
static size_t key_length(const char *text, size_t len)
{
	static const char begin[] = "-----BEGIN ", private[] = "PRIVATE KEY-----";
	const char *first, *last;

	if (!begins(text, len, begin))
		return 0;
	first = memmem(text, len < HEAD_MAX ? len : HEAD_MAX, private, sizeof(private) - 1);
	if (!first)
		return 0;
	first += sizeof(private) - 1;
	last = memmem(first, len - (size_t)(first - text), private, sizeof(private) - 1);
	return last ? (size_t)(last - text) + sizeof(private) - 1 : len;
}

void em_secrets_remove(const char *text, size_t len, struct em_buf *out)
{
	static size_t (*const kinds[])(const char *text, size_t len) = {
		token_length,
		bearer_length,
		key_length,
	};
	size_t at = 0;

	while (at < len) {
		size_t secret = 0;

		for (size_t i = 0; i < EM_COUNT(kinds) && secret == 0; i++)
			secret = kinds[i](text + at, len - at);
		if (secret > 0)
			em_buf_adds(out, REMOVED);
		else
			em_buf_addc(out, text[at]);
		at += secret > 0 ? secret : 1;
	}
}
