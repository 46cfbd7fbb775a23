/* SPDX-License-Identifier: Apache-2.0 */
#include "client/writer.h"
#include <errno.h>

void em_writer_document(struct em_writer *w, const char *name, const char *json, size_t len)
{
	if (w->ops->document)
		w->ops->document(w, name, json, len);
}

void em_writer_heading(struct em_writer *w, const char *text, struct em_cell note)
{
	if (w->ops->heading)
		w->ops->heading(w, text, note);
}

void em_writer_fact(struct em_writer *w, const char *label, struct em_cell value)
{
	if (w->ops->fact)
		w->ops->fact(w, label, value);
}

void em_writer_paragraph(struct em_writer *w, struct em_cell text)
{
	if (w->ops->paragraph)
		w->ops->paragraph(w, text);
}

void em_writer_table(struct em_writer *w, const struct em_column *columns, unsigned count)
{
	if (w->ops->table)
		w->ops->table(w, columns, count);
}

void em_writer_row(struct em_writer *w, const struct em_cell *cells)
{
	if (w->ops->row)
		w->ops->row(w, cells);
}

void em_writer_line(struct em_writer *w, const struct em_cell *cells, const unsigned *widths,
		    unsigned count)
{
	if (w->ops->line)
		w->ops->line(w, cells, widths, count);
}

void em_writer_records(struct em_writer *w, const json_t *list, const char *const *paths,
		       unsigned count)
{
	if (w->ops->records)
		w->ops->records(w, list, paths, count);
}

int em_writer_finish(struct em_writer *w)
{
	int r = w->ops->finish(w);

	if (r < 0)
		return r;
	errno = 0;
	if (fflush(w->out) != 0 || ferror(w->out))
		return errno ? -errno : -EIO;
	return 0;
}

struct em_writer *em_writer_free(struct em_writer *w)
{
	return w ? w->ops->free(w) : NULL;
}
