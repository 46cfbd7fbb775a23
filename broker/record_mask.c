/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/record_mask.h"

#include <errno.h>
#include <string.h>

#include "broker/identify.h"
#include "lib/base/text.h"

#define SEARCHED_SERIAL 4 /* shorter ones stand anywhere by chance */
#define SEARCHED_NQN	12

enum kind { SERIAL, NQN, NAME, KIND_COUNT };

struct known {
	struct known *next;
	enum kind kind;
	unsigned number;
	size_t len;
	uint8_t bytes[];
};

struct em_record_mask {
	struct known *known;
	unsigned counts[KIND_COUNT];
	bool failed;
};

struct em_record_mask *em_record_mask_new(void)
{
	return calloc(1, sizeof(struct em_record_mask));
}

struct em_record_mask *em_record_mask_free(struct em_record_mask *mask)
{
	struct known *next;

	if (!mask)
		return NULL;
	for (struct known *k = mask->known; k; k = next) {
		next = k->next;
		free(k);
	}
	free(mask);
	return NULL;
}

/* Of its kind and from 1 on; 0: no memory. */
static unsigned number_of(struct em_record_mask *mask, enum kind kind, const void *bytes,
			  size_t len)
{
	struct known *k;

	for (k = mask->known; k; k = k->next)
		if (k->kind == kind && k->len == len && memcmp(k->bytes, bytes, len) == 0)
			return k->number;
	k = malloc(sizeof(*k) + len);
	if (!k) {
		mask->failed = true;
		return 0;
	}
	memcpy(k->bytes, bytes, len);
	k->kind = kind;
	k->len = len;
	k->number = ++mask->counts[kind];
	k->next = mask->known;
	mask->known = k;
	return k->number;
}

/* "M0000001", "nqn.2014-08.masked:0001": what there is room for, the number at the end. */
static void write_word(const char *prefix, unsigned number, char *to, size_t len)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	size_t before = strlen(prefix);

	if (before + 3 > len)
		before = len > 3 ? len - 3 : 0;
	memcpy(to, prefix, before);
	for (size_t at = len; at-- > before; number /= 36)
		to[at] = digits[number % 36];
}

static bool tells_nothing(const char *nqn, size_t len)
{
	static const char everybodys[] = "nqn.2014-08.org.nvmexpress.discovery";

	return len == strlen(everybodys) && memcmp(nqn, everybodys, len) == 0;
}

static void mask_binary(struct em_record_mask *mask, uint8_t *id, size_t size)
{
	unsigned number;

	if (em_bytes_all(id, size, 0) || em_bytes_all(id, size, 0xff))
		return;
	number = number_of(mask, NAME, id, size);
	memset(id, 0, size);
	memcpy(id, "\002MSK", 4); /* 02h: locally administered */
	for (unsigned i = 0; i < 4; i++, number >>= 8)
		id[size - 1 - i] = (uint8_t)number;
}

/* A text in its field, with the word that takes its place: both without the padding around. */
struct word {
	char *at;
	size_t len;
	bool searched; /* it is replaced wherever else it stands, too */
	char before[EM_IPC_STRING_MAX], after[EM_IPC_STRING_MAX];
};

static void find_word(char *text, size_t size, struct word *ret)
{
	size_t len = strnlen(text, size < sizeof(ret->before) ? size : sizeof(ret->before));

	while (len > 0 && text[len - 1] == ' ')
		len--;
	for (; len > 0 && *text == ' '; len--)
		text++;
	ret->at = text;
	ret->len = len;
	memcpy(ret->before, text, len);
}

static void choose_word(struct em_record_mask *mask, enum kind kind, char *text, size_t size,
			struct word *ret)
{
	*ret = (struct word){ 0 };
	find_word(text, size, ret);
	if (ret->len == 0 || (kind == NQN && tells_nothing(ret->before, ret->len))) {
		ret->len = 0;
		return;
	}
	write_word(kind == NQN ? "nqn.2014-08.masked:" : "M",
		   number_of(mask, kind, ret->before, ret->len), ret->after, ret->len);
	if (memcmp(ret->before, ret->after, ret->len) == 0)
		ret->after[0] = '-';
	ret->searched = ret->len >= (kind == NQN ? SEARCHED_NQN : SEARCHED_SERIAL);
}

static void replace(void *in, size_t in_len, const struct word *w)
{
	char *at = in, *end = at + in_len;

	while ((at = memmem(at, (size_t)(end - at), w->before, w->len))) {
		memcpy(at, w->after, w->len);
		at += w->len;
	}
}

static void replace_everywhere(struct em_recorded *r, const struct word *w)
{
	struct em_ipc_drive *i = &r->info;

	if (!w->searched)
		return;
	for (unsigned n = 0; n < r->page_count; n++)
		if (r->pages[n].data)
			replace(r->pages[n].data, r->pages[n].request.len, w);
	replace(i->subsystem_nqn, strlen(i->subsystem_nqn), w);
	replace(i->model, strlen(i->model), w);
	replace(i->firmware, strlen(i->firmware), w);
	replace(i->address, strlen(i->address), w);
}

static void mask_names(struct em_record_mask *mask, struct em_recorded *r, uint8_t *identify)
{
	if (identify)
		mask_binary(mask, identify + EM_ID_FGUID, EM_GUID_SIZE);
	for (unsigned i = 0; i < r->page_count; i++) {
		struct em_recorded_page *page = &r->pages[i];

		if (!page->data || !em_recorded_is_namespace(page))
			continue;
		mask_binary(mask, page->data + EM_NS_NGUID, EM_GUID_SIZE);
		mask_binary(mask, page->data + EM_NS_EUI64, EM_EUI64_SIZE);
	}
}

/* NQNs first: a serial number may be part of one. The fields themselves at the end. */
int em_record_mask_drive(struct em_record_mask *mask, struct em_recorded *r)
{
	uint8_t *identify = em_recorded_identify(r);
	struct em_ipc_drive *i = &r->info;
	struct word words[4] = { 0 };

	choose_word(mask, SERIAL, i->serial, sizeof(i->serial), &words[2]);
	if (identify)
		choose_word(mask, SERIAL, (char *)identify + EM_ID_SERIAL, EM_ID_SERIAL_SIZE,
			    &words[3]);
	/* A name that Linux made changes with the serial number in it. */
	if (!(words[2].searched && em_recorded_is_made(i->subsystem_nqn)))
		choose_word(mask, NQN, i->subsystem_nqn, sizeof(i->subsystem_nqn), &words[0]);
	if (identify &&
	    !(words[3].searched && em_recorded_is_made((char *)identify + EM_ID_SUBNQN)))
		choose_word(mask, NQN, (char *)identify + EM_ID_SUBNQN, EM_ID_SUBNQN_SIZE,
			    &words[1]);
	for (unsigned n = 0; n < EM_COUNT(words); n++)
		replace_everywhere(r, &words[n]);
	for (unsigned n = 0; n < EM_COUNT(words); n++)
		if (words[n].len)
			memcpy(words[n].at, words[n].after, words[n].len);
	mask_names(mask, r, identify);
	return mask->failed ? -ENOMEM : 0;
}
