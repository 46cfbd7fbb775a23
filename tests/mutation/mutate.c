/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate - part of the tests of lib/nvme: makes one row of one table wrong before they begin.
 *
 * EMBER_MUTATE=list prints the mutants, one in a line; EMBER_MUTATE=N plays number N. The tables
 * are constant: the memory of the row is made writable for it, in this process alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/nvme/page.h"

static long wanted; /* number of the mutant; 0 = list them */
static long count;

static void make_writable(const void *at, size_t len)
{
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)at & ~(size - 1);

	if (mprotect((void *)from, (uintptr_t)at + len - from, PROT_READ | PROT_WRITE) < 0) {
		perror("mprotect");
		exit(EXIT_FAILURE);
	}
}

/* Counts a mutant; true when it is this one's turn. */
static bool is_turn(const char *where, const char *key, const char *what)
{
	count++;
	if (wanted == 0)
		printf("%ld %s %s: %s\n", count, where, key, what);
	return count == wanted;
}

static void mutate_u16(const char *where, const char *key, const char *what, const uint16_t *at,
		       int by)
{
	if (!is_turn(where, key, what))
		return;
	make_writable(at, sizeof(*at));
	*(uint16_t *)at = (uint16_t)(*at + by);
}

static void mutate_u8(const char *where, const char *key, const char *what, const uint8_t *at,
		      int by)
{
	if (!is_turn(where, key, what))
		return;
	make_writable(at, sizeof(*at));
	*(uint8_t *)at = (uint8_t)(*at + by);
}

static void mutate_scale(const char *where, const struct em_field *field)
{
	if (field->type != EM_UINT || !is_turn(where, field->key, "unit"))
		return;
	make_writable(&field->scale, sizeof(field->scale));
	*(uint32_t *)&field->scale = (field->scale ? field->scale : 1) * 10;
}

/* Kelvin are shown in Celsius: without that the unit is wrong. */
static void mutate_type(const char *where, const struct em_field *field)
{
	if (field->type != EM_KELVIN || !is_turn(where, field->key, "unit"))
		return;
	make_writable(&field->type, sizeof(field->type));
	*(uint8_t *)&field->type = EM_UINT;
}

static void mutate_places(const char *where, const struct em_field *field)
{
	for (const struct em_place *p = field->places; p->layouts; p++) {
		mutate_u8(where, field->key, "id", &p->id, 1);
		if (p->at != EM_AT_NORMALISED) {
			mutate_u8(where, field->key, "offset", &p->at, p->at ? -1 : 1);
			if (field->type != EM_KELVIN)
				mutate_u8(where, field->key, "width", &p->len, p->len > 1 ? -1 : 1);
		}
	}
}

static void mutate_bits(const char *where, const struct em_field *field)
{
	/* Beyond the last bit there is nothing to take with it. */
	bool last = field->shift + field->bits == 8 * field->len;

	if (field->bits > 1 || !last)
		mutate_u8(where, field->key, "bits", &field->bits, field->bits > 1 ? -1 : 1);
	mutate_u8(where, field->key, "shift", &field->shift, 1);
}

static void mutate_field(const char *where, const struct em_field *field)
{
	mutate_scale(where, field);
	mutate_type(where, field);
	if (field->places) {
		mutate_places(where, field);
		return;
	}
	if (field->derive || field->derive_text)
		return; /* a function tells where it stands */
	mutate_u16(where, field->key, "offset", &field->offset, 1);
	if (field->bits)
		mutate_bits(where, field);
	else if (field->type != EM_KELVIN) /* always two bytes */
		mutate_u16(where, field->key, "width", &field->len, field->len > 1 ? -1 : 1);
}

static void mutate_page(const struct em_page *page)
{
	char where[64];

	for (unsigned i = 0; i < page->field_count; i++)
		mutate_field(page->key, &page->fields[i]);
	for (unsigned g = 0; g < page->group_count; g++) {
		const struct em_group *group = &page->groups[g];

		snprintf(where, sizeof(where), "%s %s[]", page->key, group->key);
		for (unsigned i = 0; i < group->field_count; i++)
			mutate_field(where, &group->fields[i]);
		if (group->entry)
			continue;
		mutate_u16(where, "entry", "offset", &group->offset, 1);
		mutate_u16(where, "entry", "width", &group->stride, 1);
	}
}

__attribute__((constructor)) static void mutate(void)
{
	const char *which = getenv("EMBER_MUTATE");

	if (!which)
		return;
	wanted = strcmp(which, "list") == 0 ? 0 : strtol(which, NULL, 10);
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		mutate_page(em_pages[i]);
	for (unsigned i = 0; i < EM_REQUEST_PAGE_COUNT; i++)
		mutate_page(em_request_pages[i]);
	if (wanted == 0)
		exit(EXIT_SUCCESS);
}
