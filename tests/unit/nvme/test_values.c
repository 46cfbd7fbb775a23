/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One expected value for each row of each table, in values.txt: what it makes of three pages of
 * bytes that differ from their neighbours. A row that moves, widens, or changes its unit gives
 * another value; a new row wants a new line. EMBER_VALUES=print prints the lines as they are now,
 * to be compared with the specification before they are put there.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/nvme/page.h"
#include "tests/unit/runner.h"

#define PATTERNS  12u
#define PAGE_MAX  16384u
#define LINES_MAX (1u << 20)
#define EXPECTED  EM_TOP_SRCDIR "/tests/unit/nvme/values.txt"

static uint8_t data[PATTERNS][PAGE_MAX];
static const struct em_nvme_ctx ctx = {
	.known = true, .ver = EM_VER(2, 0), .frmw = 0xff, .log_offset = true, .error_entries = 64
};

/* Any bytes do that are never the same side by side; half of all gates are open in each page. */
static void lay_out(void)
{
	enum { LAYOUT_AT = 511 }; /* of Memblaze's page */
	static const uint8_t layouts[] = { 0, 2, 3 };
	uint32_t state = 2463534242u;

	for (unsigned p = 0; p < PATTERNS; p++) {
		for (size_t i = 0; i < PAGE_MAX; i++) {
			state ^= state << 13;
			state ^= state >> 17;
			state ^= state << 5;
			data[p][i] = (uint8_t)(state >> 11);
		}
		data[p][LAYOUT_AT] = layouts[p % sizeof(layouts)];
	}
}

/* Of the longest page its beginning will do. */
static size_t size_of(const struct em_page *page)
{
	size_t most = page->max_size ? page->max_size : page->size;

	return most < PAGE_MAX ? most : PAGE_MAX;
}

static void add_value(struct em_buf *out, const struct em_field *field, const uint8_t *bytes,
		      size_t len)
{
	char text[EM_VALUE_TEXT_SIZE];
	struct em_value value;

	em_field_get(field, bytes, len, &ctx, &value);
	em_buf_addf(out, " %s",
		    value.kind == EM_V_ABSENT ? "-" : em_value_text(field, &value, text));
}

static void add_field(struct em_buf *out, const struct em_page *page, const struct em_field *field)
{
	em_buf_addf(out, "%s %s", page->key, field->key);
	for (unsigned p = 0; p < PATTERNS; p++)
		add_value(out, field, data[p], size_of(page));
	em_buf_addc(out, '\n');
}

/* A page of entries that are made of many bytes: the pattern again and again. */
static const uint8_t *bytes_of(const struct em_page *page, unsigned p, size_t *len)
{
	static uint8_t large[1 << 18];

	*len = size_of(page);
	if (page->size <= PAGE_MAX)
		return data[p];
	for (size_t at = 0; at < sizeof(large); at += PAGE_MAX)
		memcpy(large + at, data[p], PAGE_MAX);
	*len = sizeof(large);
	return large;
}

static void add_entries(struct em_buf *out, const struct em_page *page,
			const struct em_group *group, const struct em_field *field)
{
	em_buf_addf(out, "%s %s[].%s", page->key, group->key, field->key);
	for (unsigned p = 0; p < PATTERNS; p++) {
		uint8_t scratch[EM_ENTRY_SCRATCH];
		size_t len;
		const uint8_t *bytes = bytes_of(page, p, &len);
		const uint8_t *entry = em_group_entry(group, bytes, len, 1, scratch);

		if (entry)
			add_value(out, field, entry, group->stride);
		else
			em_buf_adds(out, " -");
	}
	em_buf_addc(out, '\n');
}

/* Entries are shown of a version alone that stands before them. */
static void set_version(const struct em_page *page)
{
	bool has = !strcmp(page->key, "memblaze_slow_commands") ||
		   !strcmp(page->key, "memblaze_performance");

	for (unsigned p = 0; p < PATTERNS && has; p++)
		memcpy(data[p], "\1\0\0", 4);
}

static void add_page(struct em_buf *out, const struct em_page *page)
{
	lay_out();
	set_version(page);
	for (unsigned i = 0; i < page->field_count; i++)
		add_field(out, page, &page->fields[i]);
	for (unsigned g = 0; g < page->group_count; g++)
		for (unsigned i = 0; i < page->groups[g].field_count; i++)
			add_entries(out, page, &page->groups[g], &page->groups[g].fields[i]);
}

static void add_all(struct em_buf *out)
{
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		add_page(out, em_pages[i]);
	for (unsigned i = 0; i < EM_REQUEST_PAGE_COUNT; i++)
		add_page(out, em_request_pages[i]);
}

/* Line by line, so that the first one that differs is told. */
START_TEST(every_row_has_its_value)
{
	em_cleanup(em_buf_done) struct em_buf out = { 0 };
	FILE *file = fopen(EXPECTED, "re");
	char line[8192], *at, *end;

	ck_assert_ptr_nonnull(file);
	em_buf_init(&out, LINES_MAX);
	add_all(&out);
	ck_assert(!em_buf_failed(&out));
	for (at = out.data; *at; at = end + 1) {
		end = strchr(at, '\n');
		*end = 0;
		ck_assert_msg(fgets(line, sizeof(line), file) != NULL,
			      "values.txt has no line for: %s", at);
		line[strcspn(line, "\n")] = 0;
		ck_assert_msg(strcmp(line, at) == 0, "values.txt: %s\nand it is:  %s", line, at);
	}
	ck_assert_msg(fgets(line, sizeof(line), file) == NULL, "no row any more: %s", line);
	fclose(file);
}
END_TEST

int main(void)
{
	TCase *tc;

	if (getenv("EMBER_VALUES")) {
		struct em_buf out;

		em_buf_init(&out, LINES_MAX);
		add_all(&out);
		fputs(out.data, stdout);
		em_buf_done(&out);
		return EXIT_SUCCESS;
	}
	tc = tcase_create("all");
	tcase_add_test(tc, every_row_has_its_value);
	return run_tests(tc);
}
