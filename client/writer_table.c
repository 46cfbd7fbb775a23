/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table writer: for people. Lines do not exceed the terminal's width, and so are not wrapped by
 * it, but for what stays whole: columns of rank 0, and some columns of a value in a narrow
 * terminal.
 */
#include "config.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "client/layout.h"
#include "client/writer.h"
#include "lib/base/cleanup.h"

#define FACT_INDENT    2u
#define FACT_WIDTH_MAX 34u /* labels longer than this push their own value to the right */
#define NOTE_WIDTH     80u /* where a heading's note ends when the width has no limit */

struct text_cell {
	char *text; /* clean */
	enum em_tone tone;
};

struct row {
	unsigned count;
	struct text_cell cells[];
};

struct table_writer {
	struct em_writer base;
	const struct em_column *columns; /* NULL: rows are facts, of two cells */
	unsigned column_count;
	struct row **rows;
	size_t row_count, row_room;
	bool below_table; /* what follows an unindented table is parted from it */
	bool started;	  /* something was printed: blank lines go before headings */
	unsigned indent;  /* of tables and paragraphs: below a heading they stand in line with its
			     facts */
};

static const char *const tone_codes[] = {
	[EM_TONE_PLAIN] = "",	     [EM_TONE_STRONG] = "\033[1m", [EM_TONE_DIM] = "\033[2m",
	[EM_TONE_GOOD] = "\033[32m", [EM_TONE_WARN] = "\033[33m",  [EM_TONE_BAD] = "\033[1;31m",
	[EM_TONE_NEW] = "\033[7m",
};

static struct table_writer *self_of(struct em_writer *w)
{
	return (struct table_writer *)w;
}

static const char *dash(const struct em_writer *w)
{
	return w->term.utf8 ? "–" : "-";
}

static void put_spaces(FILE *out, unsigned count)
{
	while (count-- > 0)
		fputc(' ', out);
}

/* len bytes of clean text in the tone's colour. */
static void put_toned(struct em_writer *w, const char *text, size_t len, enum em_tone tone)
{
	bool color = w->term.color && tone != EM_TONE_PLAIN && len > 0;

	fprintf(w->out, "%s%.*s%s", color ? tone_codes[tone] : "", (int)len, text,
		color ? "\033[0m" : "");
}

static int fill_cell(struct em_writer *w, struct text_cell *ret, const struct em_cell *cell)
{
	bool absent = !cell->text || !*cell->text;

	ret->tone = absent ? EM_TONE_DIM : cell->tone;
	ret->text = em_term_clean(absent ? dash(w) : cell->text, w->term.utf8);
	return ret->text ? 0 : -ENOMEM;
}

static struct row *row_free(struct row *row)
{
	for (unsigned i = 0; i < row->count; i++)
		free(row->cells[i].text);
	free(row);
	return NULL;
}

EM_DEFINE_CLEANUP(struct row, row_free)

static int make_row(struct em_writer *w, const struct em_cell *cells, unsigned count,
		    struct row **ret)
{
	em_cleanup(row_freep) struct row *row = NULL;

	row = calloc(1, sizeof(*row) + count * sizeof(row->cells[0]));
	if (!row)
		return -ENOMEM;
	row->count = count;
	for (unsigned i = 0; i < count; i++)
		if (fill_cell(w, &row->cells[i], &cells[i]) < 0)
			return -ENOMEM;
	*ret = em_steal(row);
	return 0;
}

static int make_room(struct table_writer *self)
{
	size_t room = self->row_room ? self->row_room * 2 : 32;
	struct row **rows;

	if (self->row_count < self->row_room)
		return 0;
	rows = reallocarray(self->rows, room, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	self->rows = rows;
	self->row_room = room;
	return 0;
}

static void add_row(struct em_writer *w, const struct em_cell *cells, unsigned count)
{
	struct table_writer *self = self_of(w);
	struct row *row;

	if (w->err == 0)
		w->err = make_room(self);
	if (w->err == 0)
		w->err = make_row(w, cells, count, &row);
	if (w->err == 0)
		self->rows[self->row_count++] = row;
}

/* Cuts to width and says so with a mark; pads on the side that the column asks for. */
static void put_cell(struct em_writer *w, const char *text, enum em_tone tone, unsigned width,
		     bool right, bool last)
{
	unsigned columns = em_term_columns(text);
	const char *mark = "";
	size_t len = strlen(text);

	if (columns > width) {
		mark = w->term.utf8 ? "…" : "~";
		len = em_term_fit(text, width - 1);
		columns = width;
	}
	if (right)
		put_spaces(w->out, width - columns);
	put_toned(w, text, len, tone);
	fputs(mark, w->out);
	if (!right && !last)
		put_spaces(w->out, width - columns);
}

/* Continues a line that stands at column indent; goes on below it when there is too much. */
static void put_wrapped(struct em_writer *w, const char *text, enum em_tone tone, unsigned indent)
{
	unsigned room = w->term.width > indent + 8 ? w->term.width - indent : 8;

	if (w->term.width == 0)
		room = (unsigned)-1;
	while (*text) {
		size_t len = em_term_line(text, room), shown = len;

		while (shown > 0 && text[shown - 1] == ' ')
			shown--;
		put_toned(w, text, shown, tone);
		fputc('\n', w->out);
		text += len;
		while (*text == ' ')
			text++;
		if (*text)
			put_spaces(w->out, indent);
	}
}

static void put_row(struct table_writer *self, const struct text_cell *cells,
		    const unsigned *widths)
{
	struct em_writer *w = &self->base;
	unsigned last = 0, at = self->indent;

	for (unsigned i = 0; i < self->column_count; i++)
		if (widths[i] > 0)
			last = i;
	put_spaces(w->out, at);
	for (unsigned i = 0; i < last; i++) {
		if (widths[i] == 0)
			continue;
		put_cell(w, cells[i].text, cells[i].tone, widths[i], self->columns[i].right, false);
		put_spaces(w->out, EM_LAYOUT_GAP);
		at += widths[i] + EM_LAYOUT_GAP;
	}
	if (self->columns[last].wrap) {
		put_wrapped(w, cells[last].text, cells[last].tone, at);
		return;
	}
	put_cell(w, cells[last].text, cells[last].tone, widths[last], self->columns[last].right,
		 true);
	fputc('\n', w->out);
}

static void measure(const struct table_writer *self, const struct row *titles, unsigned *widths)
{
	for (unsigned i = 0; i < self->column_count; i++) {
		widths[i] = em_term_columns(titles->cells[i].text);
		for (size_t r = 0; r < self->row_count; r++) {
			unsigned columns = em_term_columns(self->rows[r]->cells[i].text);

			if (columns > widths[i])
				widths[i] = columns;
		}
	}
}

/* Only to a person at a terminal: a column that is not there should not be missed in silence. */
static void name_left_out(const struct table_writer *self, const struct row *titles,
			  const unsigned *widths)
{
	const struct em_writer *w = &self->base;
	const char *before = "left out here:";

	if (!w->term.tty)
		return;
	for (unsigned i = 0; i < self->column_count; i++) {
		if (widths[i] > 0)
			continue;
		put_spaces(w->out, *before == 'l' ? self->indent : 0);
		fprintf(w->out, "%s%s %s",
			*before == 'l' && w->term.color ? tone_codes[EM_TONE_DIM] : "", before,
			titles->cells[i].text);
		before = ",";
	}
	if (*before == ',')
		fprintf(w->out, "%s\n", w->term.color ? "\033[0m" : "");
}

/* Some are made of what emberd says, and are cleaned as values are. */
static int make_titles(struct table_writer *self, struct row **ret)
{
	struct em_cell cells[EM_COLUMNS_MAX];

	for (unsigned i = 0; i < self->column_count; i++)
		cells[i] = (struct em_cell){ self->columns[i].title, EM_TONE_STRONG };
	return make_row(&self->base, cells, self->column_count, ret);
}

static void print_table(struct table_writer *self)
{
	em_cleanup(row_freep) struct row *titles = NULL;
	unsigned widths[EM_COLUMNS_MAX];

	if (self->base.err == 0)
		self->base.err = make_titles(self, &titles);
	if (!titles)
		return;
	measure(self, titles, widths);
	em_layout(self->columns, self->column_count,
		  self->base.term.width ? self->base.term.width - self->indent : 0, widths);
	put_row(self, titles->cells, widths);
	for (size_t i = 0; i < self->row_count; i++)
		put_row(self, self->rows[i]->cells, widths);
	name_left_out(self, titles, widths);
}

static void print_facts(struct table_writer *self)
{
	struct em_writer *w = &self->base;
	unsigned width = 0;

	for (size_t i = 0; i < self->row_count; i++) {
		unsigned columns = em_term_columns(self->rows[i]->cells[0].text);

		if (columns > width && columns <= FACT_WIDTH_MAX)
			width = columns;
	}
	for (size_t i = 0; i < self->row_count; i++) {
		const struct text_cell *cells = self->rows[i]->cells;
		unsigned columns = em_term_columns(cells[0].text);

		put_spaces(w->out, FACT_INDENT);
		fputs(cells[0].text, w->out);
		put_spaces(w->out, EM_LAYOUT_GAP + (columns < width ? width - columns : 0));
		put_wrapped(w, cells[1].text, cells[1].tone, FACT_INDENT + width + EM_LAYOUT_GAP);
	}
}

static void flush_rows(struct table_writer *self)
{
	if (self->columns)
		print_table(self);
	else if (self->row_count > 0)
		print_facts(self);
	if (self->columns || self->row_count > 0) {
		self->below_table = self->columns && self->indent == 0;
		self->started = true;
	}
	for (size_t i = 0; i < self->row_count; i++)
		row_free(self->rows[i]);
	self->row_count = 0;
	self->columns = NULL;
}

static void put_heading(struct em_writer *w, const char *text, const char *note,
			const struct em_cell *cell)
{
	unsigned width = w->term.width && w->term.width < NOTE_WIDTH ? w->term.width : NOTE_WIDTH;
	unsigned text_columns = em_term_columns(text), note_columns = em_term_columns(note);

	put_toned(w, text, strlen(text), EM_TONE_STRONG);
	if (note_columns > 0 && text_columns + note_columns + EM_LAYOUT_GAP <= width) {
		put_spaces(w->out, width - text_columns - note_columns);
		put_toned(w, note, strlen(note), cell->tone);
	} else if (note_columns > 0) {
		fputs("\n  ", w->out);
		put_toned(w, note, em_term_fit(note, width - 2), cell->tone);
	}
	fputc('\n', w->out);
}

static void table_heading(struct em_writer *w, const char *text, struct em_cell note)
{
	struct table_writer *self = self_of(w);
	em_cleanup(em_freep) char *clean = em_term_clean(text, w->term.utf8);
	em_cleanup(em_freep) char *clean_note =
		em_term_clean(note.text ? note.text : "", w->term.utf8);

	flush_rows(self);
	if (!clean || !clean_note) {
		w->err = -ENOMEM;
		return;
	}
	if (self->started)
		fputc('\n', w->out);
	put_heading(w, clean, clean_note, &note);
	self->started = true;
	self->indent = FACT_INDENT;
}

static void table_fact(struct em_writer *w, const char *label, struct em_cell value)
{
	/* A label may be empty, where a value goes on with the one above it. */
	struct em_cell cells[] = { { *label ? label : " ", EM_TONE_PLAIN }, value };

	if (self_of(w)->columns)
		flush_rows(self_of(w));
	add_row(w, cells, EM_COUNT(cells));
}

static void table_paragraph(struct em_writer *w, struct em_cell text)
{
	struct table_writer *self = self_of(w);
	struct text_cell clean;

	flush_rows(self);
	if (fill_cell(w, &clean, &text) < 0) {
		w->err = -ENOMEM;
		return;
	}
	if (self->below_table)
		fputc('\n', w->out);
	self->below_table = false;
	put_spaces(w->out, self->indent);
	put_wrapped(w, clean.text, clean.tone, self->indent);
	free(clean.text);
	self->started = true;
}

static void table_table(struct em_writer *w, const struct em_column *columns, unsigned count)
{
	flush_rows(self_of(w));
	self_of(w)->columns = count > 0 ? columns : NULL;
	self_of(w)->column_count = count < EM_COLUMNS_MAX ? count : EM_COLUMNS_MAX;
}

static void table_row(struct em_writer *w, const struct em_cell *cells)
{
	if (self_of(w)->columns)
		add_row(w, cells, self_of(w)->column_count);
}

static void table_line(struct em_writer *w, const struct em_cell *cells, const unsigned *widths,
		       unsigned count)
{
	unsigned indent = self_of(w)->indent;

	flush_rows(self_of(w));
	put_spaces(w->out, indent);
	for (unsigned i = 0; i < count; i++) {
		struct text_cell clean;
		unsigned columns;

		if (fill_cell(w, &clean, &cells[i]) < 0) {
			w->err = -ENOMEM;
			return;
		}
		columns = em_term_columns(clean.text);
		if (i + 1 == count) {
			put_wrapped(w, clean.text, clean.tone, indent);
		} else {
			put_toned(w, clean.text, strlen(clean.text), clean.tone);
			columns = columns < widths[i] ? widths[i] - columns : 0;
			put_spaces(w->out, columns + EM_LAYOUT_GAP);
			indent += em_term_columns(clean.text) + columns + EM_LAYOUT_GAP;
		}
		free(clean.text);
	}
	self_of(w)->started = true;
}

static int table_finish(struct em_writer *w)
{
	flush_rows(self_of(w));
	return w->err;
}

static struct em_writer *table_free(struct em_writer *w)
{
	struct table_writer *self = self_of(w);

	for (size_t i = 0; i < self->row_count; i++)
		row_free(self->rows[i]);
	free(self->rows);
	free(self);
	return NULL;
}

static const struct em_writer_ops table_ops = {
	.name = "table",
	.heading = table_heading,
	.fact = table_fact,
	.paragraph = table_paragraph,
	.table = table_table,
	.row = table_row,
	.line = table_line,
	.finish = table_finish,
	.free = table_free,
};

struct em_writer *em_writer_table_new(FILE *out, const struct em_term *term)
{
	struct table_writer *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base = (struct em_writer){ .ops = &table_ops, .out = out, .term = *term };
	return &self->base;
}
