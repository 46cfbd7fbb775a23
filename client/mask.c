/* SPDX-License-Identifier: Apache-2.0 */
#include "client/mask.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client/mask_parts.h"
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"

#define BUCKETS	   65536u
#define HASHED	   4u /* characters that a form begins with; what is shorter, by its first one */
#define LABEL_SIZE 40u
#define TEXT_SIZE  300u
#define FORM_MAX   (2 * TEXT_SIZE)

/* One form of an identifier. */
struct form {
	struct form *next;
	uint32_t identity;
	uint16_t len;
	char text[]; /* folded */
};

struct identity {
	enum em_masked kind;
	unsigned number;
};

/*
 * Forms by their whole text, so that thousands that begin alike cost no more than one: at a place
 * where any of them may begin, each length that there is is looked up once.
 */
struct table {
	struct form *buckets[BUCKETS];
	bool begins[BUCKETS]; /* some form begins with such characters */
	bool lengths[FORM_MAX + 1];
	size_t longest;
};

struct em_mask {
	struct table words; /* as they stand in texts */
	struct table bytes; /* as they stand, byte by byte, in dumps */
	struct identity *identities;
	uint32_t count, room;
	unsigned numbers[EM_MASKED_COUNT];
	bool failed;
};

struct em_mask *em_mask_new(void)
{
	return calloc(1, sizeof(struct em_mask));
}

static void free_forms(struct table *table)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		while (table->buckets[i]) {
			struct form *form = table->buckets[i];

			table->buckets[i] = form->next;
			free(form);
		}
}

struct em_mask *em_mask_free(struct em_mask *mask)
{
	if (!mask)
		return NULL;
	free_forms(&mask->words);
	free_forms(&mask->bytes);
	free(mask->identities);
	free(mask);
	return NULL;
}

bool em_mask_failed(const struct em_mask *mask)
{
	return mask->failed;
}

static const char *kind_name(enum em_masked kind)
{
#define EM_X(id, name) [EM_MASKED_##id] = (name),
	static const char *const names[] = { EM_MASKED_KINDS(EM_X) };
#undef EM_X
	return names[kind];
}

/* ---- what is known ------------------------------------------------------------------------ */

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static unsigned bucket_of(const char *text, size_t len)
{
	uint64_t hash = EM_HASH_START;

	for (size_t i = 0; i < len; i++) {
		char folded = fold(text[i]);

		hash = em_hash(hash, &folded, 1);
	}
	return (unsigned)(hash ^ hash >> 32) % BUCKETS;
}

/* How a form of this length begins. */
static unsigned beginning_of(const char *text, size_t len)
{
	return bucket_of(text, len < HASHED ? 1 : HASHED);
}

static bool is_equal(const struct form *form, const char *text)
{
	for (size_t i = 0; i < form->len; i++)
		if (form->text[i] != fold(text[i]))
			return false;
	return true;
}

static const struct form *find_exact(const struct table *table, const char *text, size_t len)
{
	const struct form *form = len ? table->buckets[bucket_of(text, len)] : NULL;

	while (form && (form->len != len || !is_equal(form, text)))
		form = form->next;
	return form;
}

static void add_form(struct em_mask *mask, struct table *table, uint32_t identity, const char *text,
		     size_t len)
{
	struct form *form;
	struct form **bucket;

	if (len == 0 || len > FORM_MAX || find_exact(table, text, len))
		return;
	form = calloc(1, sizeof(*form) + len);
	if (!form) {
		mask->failed = true;
		return;
	}
	for (size_t i = 0; i < len; i++)
		form->text[i] = fold(text[i]);
	form->len = (uint16_t)len;
	form->identity = identity;
	bucket = &table->buckets[bucket_of(text, len)];
	form->next = *bucket;
	*bucket = form;
	table->begins[beginning_of(text, len)] = true;
	table->lengths[len] = true;
	table->longest = len > table->longest ? len : table->longest;
}

static bool add_identity(struct em_mask *mask, enum em_masked kind)
{
	if (mask->count == mask->room) {
		uint32_t room = mask->room ? 2 * mask->room : 64;
		struct identity *grown =
			room <= EM_MASK_MAX ? reallocarray(mask->identities, room, sizeof(*grown))
					    : NULL;

		if (!grown) {
			mask->failed = true;
			return false;
		}
		mask->identities = grown;
		mask->room = room;
	}
	mask->identities[mask->count++] =
		(struct identity){ .kind = kind, .number = ++mask->numbers[kind] };
	return true;
}

/* Whole bytes out of digits, dashes left out; 0: it is something else. */
static size_t decode(const char *text, size_t len, char ret[TEXT_SIZE / 2])
{
	size_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		int digit = em_hex_digit(text[i]);

		if (text[i] == '-')
			continue;
		if (digit < 0 || digits / 2 == TEXT_SIZE / 2)
			return 0;
		ret[digits / 2] = (char)(digits % 2 ? ret[digits / 2] << 4 | digit : digit);
		digits++;
	}
	return digits % 2 ? 0 : digits / 2;
}

/* The text itself, and where it is told by its bytes. */
static void add_text_forms(struct em_mask *mask, uint32_t identity, const char *text, size_t len)
{
	char hex[2 * TEXT_SIZE + 1];

	add_form(mask, &mask->words, identity, text, len);
	if (len < HASHED)
		return;
	em_text_hex(hex, text, len);
	add_form(mask, &mask->words, identity, hex, 2 * len);
	add_form(mask, &mask->bytes, identity, text, len);
}

static void add_name_forms(struct em_mask *mask, uint32_t identity, const char *text, size_t len)
{
	char raw[TEXT_SIZE / 2], hex[TEXT_SIZE + 1];
	size_t bytes = decode(text, len, raw);

	add_form(mask, &mask->words, identity, text, len);
	if (bytes < HASHED)
		return;
	em_text_hex(hex, raw, bytes);
	add_form(mask, &mask->words, identity, hex, 2 * bytes);
	add_form(mask, &mask->bytes, identity, raw, bytes);
}

void em_mask_add(struct em_mask *mask, enum em_masked kind, const char *text)
{
	size_t len;

	text += strspn(text, " ");
	len = strlen(text);
	while (len > 0 && text[len - 1] == ' ')
		len--;
	if (len == 0 || len >= TEXT_SIZE || find_exact(&mask->words, text, len) ||
	    !add_identity(mask, kind))
		return;
	if (kind == EM_MASKED_NAME || kind == EM_MASKED_DRIVE)
		add_name_forms(mask, mask->count - 1, text, len);
	else
		add_text_forms(mask, mask->count - 1, text, len);
}

/* ---- what a document teaches -------------------------------------------------------------- */

static void learn_member(struct em_mask *mask, const json_t *object, const char *key,
			 const char *text)
{
	static const struct {
		const char *key;
		enum em_masked kind;
		const char *beside; /* a member that has to be there too; NULL = none */
	} members[] = {
		{ "serial", EM_MASKED_SERIAL, NULL },
		{ "subsystem_nqn", EM_MASKED_NQN, NULL },
		{ "nguid", EM_MASKED_NAME, NULL },
		{ "eui64", EM_MASKED_NAME, NULL },
		{ "uuid", EM_MASKED_NAME, NULL },
		{ "drive", EM_MASKED_DRIVE, NULL },
		{ "id", EM_MASKED_DRIVE, "subsystem_nqn" },
	};

	for (size_t i = 0; i < EM_COUNT(members); i++)
		if (strcmp(members[i].key, key) == 0 &&
		    (!members[i].beside || json_object_get(object, members[i].beside)))
			em_mask_add(mask, members[i].kind, text);
}

/* As deep as jansson reads documents. */
void em_mask_learn(struct em_mask *mask, const json_t *document)
{
	const json_t *entry;
	const char *key;
	size_t i;

	json_array_foreach(document, i, entry) em_mask_learn(mask, entry);
	json_object_foreach((json_t *)document, key, entry)
	{
		if (json_is_string(entry))
			learn_member(mask, document, key, json_string_value(entry));
		else
			em_mask_learn(mask, entry);
	}
}

/* ---- what is found ------------------------------------------------------------------------ */

static bool is_alone(const char *text, size_t at, size_t len, size_t end)
{
	return (at == 0 || !isalnum((unsigned char)text[at - 1])) &&
	       (at + len == end || !isalnum((unsigned char)text[at + len]));
}

/* The longest that begins here. */
static const struct form *find_in(const struct table *table, const char *text, size_t at,
				  size_t end)
{
	size_t left = end - at, len = table->longest < left ? table->longest : left;
	bool begins = left >= HASHED && table->begins[beginning_of(text + at, HASHED)];
	bool begins_short = table->begins[beginning_of(text + at, 1)];

	for (; len > 0 && (begins || begins_short); len--) {
		const struct form *form =
			table->lengths[len] && (len < HASHED ? begins_short : begins)
				? find_exact(table, text + at, len)
				: NULL;

		if (form && (len >= HASHED || is_alone(text, at, len, end)))
			return form;
	}
	return NULL;
}

/* Bytes of what looks like an identifier that begins here, be it known or not. */
static uint32_t look_up(struct em_mask *mask, enum em_masked kind, const char *text, size_t len)
{
	char copy[TEXT_SIZE], raw[TEXT_SIZE / 2], hex[TEXT_SIZE + 1];
	size_t bytes = kind == EM_MASKED_NAME && len < TEXT_SIZE ? decode(text, len, raw) : 0;
	const struct form *form;

	if (bytes > 0) {
		em_text_hex(hex, raw, bytes);
		text = hex;
		len = 2 * bytes;
	}
	snprintf(copy, sizeof(copy), "%.*s", (int)len, text);
	em_mask_add(mask, kind, copy);
	form = find_exact(&mask->words, copy, strlen(copy));
	return form ? form->identity : UINT32_MAX;
}

static void add_label(const struct em_mask *mask, uint32_t identity, struct em_buf *out)
{
	if (identity < mask->count)
		em_buf_addf(out, "masked-%s-%u", kind_name(mask->identities[identity].kind),
			    mask->identities[identity].number);
	else
		em_buf_adds(out, "masked");
}

static void mask_words(struct em_mask *mask, const char *text, size_t len, struct em_buf *out)
{
	size_t at = 0;

	while (at < len) {
		const struct form *form = find_in(&mask->words, text, at, len);
		enum em_masked kind = EM_MASKED_NAME;
		size_t like = form ? 0 : em_mask_looks_like(text, at, len, &kind);

		if (form)
			add_label(mask, form->identity, out);
		else if (like > 0)
			add_label(mask, look_up(mask, kind, text + at, like), out);
		else
			em_buf_addc(out, text[at]);
		at += form ? form->len : like > 0 ? like : 1;
	}
}

/* ---- dumps -------------------------------------------------------------------------------- */

/* "12-serial**": the number first, where there is little room. */
static void fill(const struct em_mask *mask, const struct form *form, struct em_dump_run *run,
		 size_t first, char *text, size_t len)
{
	const struct identity *identity = &mask->identities[form->identity];
	char bytes[TEXT_SIZE];
	int used = snprintf(bytes, sizeof(bytes), "%u-%s", identity->number,
			    kind_name(identity->kind));

	memset(bytes + used, '*', sizeof(bytes) - (size_t)used);
	em_dump_fill(run, text, len, first, bytes, form->len);
}

static void mask_run(const struct em_mask *mask, struct em_dump_run *run, char *text, size_t len)
{
	for (size_t at = 0; at < run->count;) {
		const struct form *form = find_in(&mask->bytes, run->bytes, at, run->count);

		if (form)
			fill(mask, form, run, at, text, len);
		at += form ? form->len : 1;
	}
}

static void mask_dumps(struct em_mask *mask, char *text, size_t len)
{
	em_cleanup(em_dump_run_done) struct em_dump_run run = { 0 };

	if (!em_dump_run_init(&run, len)) {
		mask->failed = true;
		return;
	}
	for (size_t at = 0; at < len; at = run.end) {
		em_dump_run_read(&run, text, at, len);
		if (run.count >= HASHED)
			mask_run(mask, &run, text, len);
	}
}

void em_mask_text(struct em_mask *mask, const char *text, size_t len, struct em_buf *out)
{
	size_t from = out->len;

	mask_words(mask, text, len, out);
	if (!em_buf_failed(out) && out->len > from)
		mask_dumps(mask, out->data + from, out->len - from);
	mask->failed |= em_buf_failed(out);
}
