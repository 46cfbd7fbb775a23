/* SPDX-License-Identifier: Apache-2.0 */
#include "client/writer.h"
#include "tests/unit/runner.h"
#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t text_len;
static FILE *out;
static struct em_writer *w;

static void start(struct em_writer *(*make)(FILE *, const struct em_term *), struct em_term term)
{
	out = open_memstream(&text, &text_len);
	ck_assert_ptr_nonnull(out);
	w = make(out, &term);
	ck_assert_ptr_nonnull(w);
}

static void finish(const char *expected)
{
	ck_assert_int_eq(em_writer_finish(w), 0);
	em_writer_free(w);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

static const struct em_column columns[] = {
	{ .title = "Name" },
	{ .title = "Value", .right = true, .rank = 1 },
	{ .title = "Text", .rank = 2, .shortest = 4 },
};

static void put_rows(void)
{
	const struct em_cell first[] = { { "a", EM_TONE_GOOD },
					 { "1", EM_TONE_PLAIN },
					 { "some words", EM_TONE_PLAIN } };
	const struct em_cell second[] = { { "bb", EM_TONE_PLAIN },
					  { NULL, EM_TONE_PLAIN },
					  { "e\033m", EM_TONE_PLAIN } };

	em_writer_table(w, columns, 3);
	em_writer_row(w, first);
	em_writer_row(w, second);
}

START_TEST(table_without_limit)
{
	start(em_writer_table_new, (struct em_term){ .utf8 = true });
	put_rows();
	finish("Name  Value  Text\n"
	       "a         1  some words\n"
	       "bb        –  e?m\n");
}
END_TEST

START_TEST(table_cuts_with_a_mark)
{
	start(em_writer_table_new, (struct em_term){ .width = 18, .utf8 = true });
	put_rows();
	finish("Name  Value  Text\n"
	       "a         1  some…\n"
	       "bb        –  e?m\n");
	start(em_writer_table_new, (struct em_term){ .width = 18 });
	put_rows();
	finish("Name  Value  Text\n"
	       "a         1  some~\n"
	       "bb        -  e?m\n");
}
END_TEST

START_TEST(a_last_column_may_go_on_below_itself)
{
	static const struct em_column wrapped[] = {
		{ .title = "A" },
		{ .title = "B", .wrap = true, .rank = 1, .shortest = 4 },
	};
	const struct em_cell cells[] = { { "a", EM_TONE_PLAIN },
					 { "some more words", EM_TONE_PLAIN } };

	start(em_writer_table_new, (struct em_term){ .width = 13 });
	em_writer_table(w, wrapped, 2);
	em_writer_row(w, cells);
	finish("A  B\n"
	       "a  some more\n"
	       "   words\n");
}
END_TEST

START_TEST(csv_has_names_and_exact_values)
{
	static const char *const paths[] = { "a", "b.c" };
	json_t *list = json_loads("[{\"a\": \"x,\\\"y\\\"\\n\", \"b\": {\"c\": null}},"
				  " {\"a\": 1.25, \"b\": {\"c\": true}}, 3]",
				  0, NULL);

	start(em_writer_csv_new, (struct em_term){ .tty = true, .color = true });
	put_rows();
	em_writer_records(w, list, paths, 2);
	em_writer_records(w, list, paths, 0);
	finish("a,b_c\r\n"
	       "\"x,\"\"y\"\"?\",\r\n"
	       "1.25,true\r\n"
	       ",\r\n"
	       "\r\n\r\n\r\n");
	json_decref(list);
}
END_TEST

START_TEST(lines_stand_in_rows_and_wrap)
{
	static const unsigned widths[] = { 4, 0 };
	const struct em_cell cells[] = { { "a", EM_TONE_PLAIN },
					 { "some more words", EM_TONE_PLAIN } };

	start(em_writer_table_new, (struct em_term){ .width = 16 });
	em_writer_line(w, cells, widths, 2);
	finish("a     some more\n"
	       "      words\n");
}
END_TEST

START_TEST(a_person_is_told_what_is_left_out)
{
	start(em_writer_table_new, (struct em_term){ .width = 14, .tty = true });
	put_rows();
	finish("Name  Value\n"
	       "a         1\n"
	       "bb        -\n"
	       "left out here: Text\n");
}
END_TEST

START_TEST(colour_only_where_wanted)
{
	start(em_writer_table_new, (struct em_term){ .color = true });
	em_writer_fact(w, "State", (struct em_cell){ "ok", EM_TONE_GOOD });
	finish("  State  \033[32mok\033[0m\n");
	start(em_writer_table_new, (struct em_term){ 0 });
	em_writer_fact(w, "State", (struct em_cell){ "ok", EM_TONE_GOOD });
	finish("  State  ok\n");
}
END_TEST

START_TEST(facts_go_on_below_themselves)
{
	start(em_writer_table_new, (struct em_term){ .width = 24 });
	em_writer_heading(w, "Title", (struct em_cell){ "note", EM_TONE_DIM });
	em_writer_fact(w, "Label", (struct em_cell){ "one two three  four", EM_TONE_PLAIN });
	em_writer_fact(w, "Hex", (struct em_cell){ "0123456789abcdef0123", EM_TONE_PLAIN });
	finish("Title               note\n"
	       "  Label  one two three\n"
	       "         four\n"
	       "  Hex    0123456789abcde\n"
	       "         f0123\n");
}
END_TEST

START_TEST(json_passes_one_document_through)
{
	const char *json = "{\"a\": 1}\n";

	start(em_writer_json_new, (struct em_term){ 0 });
	em_writer_document(w, NULL, json, strlen(json));
	put_rows();
	finish("{\"a\": 1}\n");
}
END_TEST

START_TEST(json_names_several_documents)
{
	start(em_writer_json_new, (struct em_term){ 0 });
	em_writer_document(w, "x", "{}", 2);
	em_writer_document(w, "y", "[1]", 3);
	finish("{\"x\":{},\n\"y\":[1]}\n");
}
END_TEST

START_TEST(json_escapes_what_a_terminal_obeys)
{
	const char *json = "{\"a\": \"\x7f \xc2\x9b °\"}";

	start(em_writer_json_new, (struct em_term){ 0 });
	em_writer_document(w, NULL, json, strlen(json));
	finish("{\"a\": \"\\u007f \\u009b °\"}\n");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("writer");

	if (!setlocale(LC_ALL, "C.UTF-8"))
		return 77;
	tcase_add_test(tcase, table_without_limit);
	tcase_add_test(tcase, table_cuts_with_a_mark);
	tcase_add_test(tcase, a_last_column_may_go_on_below_itself);
	tcase_add_test(tcase, csv_has_names_and_exact_values);
	tcase_add_test(tcase, lines_stand_in_rows_and_wrap);
	tcase_add_test(tcase, a_person_is_told_what_is_left_out);
	tcase_add_test(tcase, colour_only_where_wanted);
	tcase_add_test(tcase, facts_go_on_below_themselves);
	tcase_add_test(tcase, json_passes_one_document_through);
	tcase_add_test(tcase, json_names_several_documents);
	tcase_add_test(tcase, json_escapes_what_a_terminal_obeys);
	return run_tests(tcase);
}
