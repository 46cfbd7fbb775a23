/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * writer - one way for verbs to say what they found, several ways to show it.
 *
 * A verb hands over all of it: the API's documents (the JSON writer prints these and nothing else),
 * headings, facts and rows (the table writer prints these), and the list that the rows came from
 * (the CSV writer prints this). A new form is one more struct em_writer_ops.
 *
 * Owns:     copies of what it was given until it is printed.
 * Threads:  one caller. Blocking: as the output stream.
 * Errors:   sticky, told by em_writer_finish().
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "client/term.h"

/* How a value is meant; a colour where there are colours. */
enum em_tone {
	EM_TONE_PLAIN,
	EM_TONE_STRONG,
	EM_TONE_DIM,
	EM_TONE_GOOD,
	EM_TONE_WARN,
	EM_TONE_BAD,
	EM_TONE_NEW /* differs from what stood there before */
};

/* text NULL or "" is absent, and shown as a dash. Any bytes: the writer makes them harmless. */
struct em_cell {
	const char *text;
	enum em_tone tone;
};

#define EM_COLUMNS_MAX 24u

struct em_column {
	const char *title;
	bool right;	  /* flush right: numbers */
	bool wrap;	  /* the last column alone: goes on below itself and is not cut */
	uint8_t rank;	  /* 0 stays whole; in a narrow terminal the highest gives way first */
	uint8_t shortest; /* may be cut to this many columns before it is left out; 0 = not cut */
};

struct em_writer;

/* What a form does not print is NULL; finish and free are always there. */
struct em_writer_ops {
	const char *name;
	/* name: key in the answer when a verb reads several documents, else NULL. */
	void (*document)(struct em_writer *w, const char *name, const char *json, size_t len);
	/* note stands at the right end: the age of what follows. */
	void (*heading)(struct em_writer *w, const char *text, struct em_cell note);
	void (*fact)(struct em_writer *w, const char *label, struct em_cell value);
	void (*paragraph)(struct em_writer *w, struct em_cell text);
	/*
	 * columns must outlive the table, which ends at the next heading, fact, paragraph, table or
	 * finish; columns NULL only ends the one before.
	 */
	void (*table)(struct em_writer *w, const struct em_column *columns, unsigned count);
	void (*row)(struct em_writer *w, const struct em_cell *cells);
	/*
	 * One line at once, its cells at least so wide; the last is wrapped below itself. For lists
	 * that go on.
	 */
	void (*line)(struct em_writer *w, const struct em_cell *cells, const unsigned *widths,
		     unsigned count);
	/*
	 * The objects of list, and where in each the columns stand: "serial", "smart.read_at". A
	 * second list of the same columns goes on below the first.
	 */
	void (*records)(struct em_writer *w, const json_t *list, const char *const *paths,
			unsigned count);
	int (*finish)(struct em_writer *w);
	struct em_writer *(*free)(struct em_writer *w);
};

/* Every writer's structure begins with this. */
struct em_writer {
	const struct em_writer_ops *ops;
	FILE *out;
	struct em_term term;
	int err; /* sticky: -errno */
};

struct em_writer *em_writer_table_new(FILE *out, const struct em_term *term); /* NULL: no memory */
struct em_writer *em_writer_json_new(FILE *out, const struct em_term *term);
struct em_writer *em_writer_csv_new(FILE *out, const struct em_term *term);

void em_writer_document(struct em_writer *w, const char *name, const char *json, size_t len);
void em_writer_heading(struct em_writer *w, const char *text, struct em_cell note);
void em_writer_fact(struct em_writer *w, const char *label, struct em_cell value);
void em_writer_paragraph(struct em_writer *w, struct em_cell text);
void em_writer_table(struct em_writer *w, const struct em_column *columns, unsigned count);
void em_writer_row(struct em_writer *w, const struct em_cell *cells);
void em_writer_line(struct em_writer *w, const struct em_cell *cells, const unsigned *widths,
		    unsigned count);
void em_writer_records(struct em_writer *w, const json_t *list, const char *const *paths,
		       unsigned count);
/* Prints what waits, and sends it off; may be called again and again. 0, -ENOMEM, or the error of
 * the output stream. */
int em_writer_finish(struct em_writer *w);
struct em_writer *em_writer_free(struct em_writer *w);
