/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the field tables say: docs/fields.md for people, and the public names one a line, so
 * that a renamed key or metric shows in review.
 *
 *   fields-doc md | keys | metrics
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nvme/page.h"

static const char *json_type(const struct em_field *field)
{
	switch (em_field_json_type(field)) {
	case EM_JSON_INTEGER:
		return "integer";
	case EM_JSON_DECIMAL_STRING:
		return "decimal string";
	case EM_JSON_STRING:
		return "string";
	case EM_JSON_BOOLEAN:
		return "boolean";
	}
	return "?";
}

/* "layout 0: item ADh, raw bytes 0-5" */
static void print_where(const struct em_field *field)
{
	printf(" | %s", field->ref);
	for (const struct em_place *place = field->places; place && place->layouts; place++) {
		printf("%s", place == field->places ? ": " : "; ");
		printf("%02Xh ", place->id);
		if (place->at == EM_AT_NORMALISED)
			printf("normalised");
		else
			printf("raw %u-%u", place->at, place->at + place->len - 1u);
		printf(" in");
		for (unsigned layout = 0; layout < 8; layout++)
			if (place->layouts >> layout & 1)
				printf(" %u", layout);
	}
	printf(" |\n");
}

static void print_row(const struct em_field *field)
{
	const char *metric = field->metric_name ? field->metric_name : "";

	printf("| `%s` | %s | %s | ", field->key, json_type(field), field->unit);
	if (field->metric_label)
		printf("`%s{%s=\"%s\"}`", metric, field->metric_label, field->metric_label_value);
	else if (*metric)
		printf("`%s`", metric);
	printf(" | %s", field->help);
	if (field->since)
		printf(" Since NVMe %u.%u.", field->since >> 16, field->since >> 8 & 0xff);
	if (*em_field_caveat(field))
		printf(" %s", em_field_caveat(field));
	print_where(field);
}

static void print_names(const struct em_field *field)
{
	if (!field->names)
		return;
	printf("- `%s`:", field->key);
	for (const struct em_name *name = field->names; name->name; name++)
		printf(" %u `%s`%s", name->value, name->name, name[1].name ? "," : "\n");
}

static void print_table(const struct em_field *fields, unsigned count, const struct em_field *extra)
{
	printf("\n| key | JSON | unit | metric | meaning | where |\n|---|---|---|---|---|---|\n");
	for (unsigned i = 0; i < count; i++)
		print_row(&fields[i]);
	if (extra)
		print_row(extra);
	printf("\n");
	for (unsigned i = 0; i < count; i++)
		print_names(&fields[i]);
}

static void print_group(const struct em_group *group)
{
	printf("\n### `%s`\n\nA list of at most %u entries.", group->key, group->count);
	if (group->index_key)
		printf(" `%s` is the number of the entry, from %u.", group->index_key,
		       em_group_number(group, 0));
	if (group->unused_key)
		printf(" Entries that are not in use are left out and counted in `%s`.",
		       group->unused_key);
	else if (group->unused)
		printf(" Entries that are not in use are left out.");
	printf("\n");
	print_table(group->fields, group->field_count, group->extra);
}

static void print_history(const struct em_page *page)
{
	const char *sep = ", except ";

	if (!page->table) {
		printf("\nNo history.\n");
		return;
	}
	printf("\nWith a history, in the table `%s`", page->table);
	for (unsigned i = 0; i < page->field_count; i++) {
		if (!(page->fields[i].flags & EM_NO_HISTORY))
			continue;
		printf("%s`%s`", sep, page->fields[i].key);
		sep = ", ";
	}
	printf(".\n");
}

static void print_page(const struct em_page *page)
{
	printf("\n## %s: `%s`\n\n%s, %u", page->title, page->key, page->ref, page->size);
	if (page->max_size)
		printf(" to %u", page->max_size);
	printf(" bytes. All bytes FFh: no reading. All bytes 00h: %s.\n",
	       page->flags & EM_ZERO_NO_READING ? "no reading" : "a valid \"none\"");
	print_history(page);
	if (page->field_count)
		print_table(page->fields, page->field_count, NULL);
	for (unsigned i = 0; i < page->group_count; i++)
		print_group(&page->groups[i]);
	if (!page->field_count && !page->group_count)
		printf("\nIts values have no fixed places and are no fields: `/v1/drives/{id}/%s` "
		       "has "
		       "them, see [api.md](api.md).\n",
		       page->key);
}

static void print_markdown(void)
{
	printf("<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
	       "<!-- Made by lib/nvme/fields-doc from the tables in lib/nvme: `make update-docs`. "
	       "-->\n\n"
	       "# Fields\n\n"
	       "A key is the JSON key of the API and, for values with a history, the column in the "
	       "database. A value that the drive does not give is null in JSON, NULL in the "
	       "database, and has no metric sample. Keys of bit sets have a companion `KEY_bits` "
	       "with the names of the bits that are set; a bit or value without a name is shown "
	       "as `reserved_N`.\n");
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		print_page(em_pages[i]);
	printf("\n# Pages that are read when somebody asks\n\n"
	       "`emberctl raw` shows their values. They are not polled, and have neither history "
	       "nor "
	       "metrics.\n");
	for (unsigned i = 0; i < EM_REQUEST_PAGE_COUNT; i++)
		print_page(em_request_pages[i]);
}

static void print_group_keys(const struct em_page *page, const struct em_group *group)
{
	for (unsigned i = 0; i < group->field_count; i++)
		printf("%s %s[].%s\n", page->key, group->key, group->fields[i].key);
	if (group->extra)
		printf("%s %s[].%s\n", page->key, group->key, group->extra->key);
	if (group->index_key)
		printf("%s %s[].%s\n", page->key, group->key, group->index_key);
	if (group->unused_key)
		printf("%s %s\n", page->key, group->unused_key);
}

static void print_page_keys(const struct em_page *page)
{
	for (unsigned i = 0; i < page->field_count; i++)
		printf("%s %s\n", page->key, page->fields[i].key);
	for (unsigned i = 0; i < page->group_count; i++)
		print_group_keys(page, &page->groups[i]);
}

static void print_keys(void)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++)
		print_page_keys(em_pages[p]);
	for (unsigned p = 0; p < EM_REQUEST_PAGE_COUNT; p++)
		print_page_keys(em_request_pages[p]);
}

static void print_metrics(void)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		for (unsigned i = 0; i < em_pages[p]->field_count; i++) {
			const struct em_field *field = &em_pages[p]->fields[i];

			if (!field->metric_name)
				continue;
			printf("%s %s", field->metric_name,
			       field->metric == EM_METRIC_COUNTER ? "counter" : "gauge");
			if (field->metric_label)
				printf(" %s=%s", field->metric_label, field->metric_label_value);
			printf("\n");
		}
	}
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!strcmp(what, "md")) {
		print_markdown();
	} else if (!strcmp(what, "keys")) {
		print_keys();
	} else if (!strcmp(what, "metrics")) {
		print_metrics();
	} else {
		fprintf(stderr, "usage: fields-doc md | keys | metrics\n");
		return EXIT_FAILURE;
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
