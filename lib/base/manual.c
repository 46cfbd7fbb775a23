/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/manual.h"
#include <stdio.h>
#include <string.h>

void em_manual_roff(struct em_buf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		em_buf_adds(out, "\\&");
	for (; *text; text++) {
		if (*text == '\\')
			em_buf_adds(out, "\\e");
		else if (*text == '-')
			em_buf_adds(out, "\\-");
		else
			em_buf_addc(out, *text);
	}
}

void em_manual_comment(struct em_buf *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > 0 && column + 1 + len > EM_MANUAL_WIDTH) {
			em_buf_addc(out, '\n');
			column = 0;
		}
		em_buf_adds(out, column == 0 ? "# " : " ");
		em_buf_add(out, text, len);
		column += len + (column == 0 ? 2 : 1);
		text += len + strspn(text + len, " ");
	}
	em_buf_addc(out, '\n');
}

/* Far above what any table can print. */
#define DOCUMENT_MAX (1u << 20)

static int print_document(const struct em_manual_document *document)
{
	struct em_buf out;
	int status = 1;

	em_buf_init(&out, DOCUMENT_MAX);
	document->print(&out);
	if (!em_buf_failed(&out) && fwrite(out.data, 1, out.len, stdout) == out.len &&
	    fflush(stdout) == 0)
		status = 0;
	em_buf_done(&out);
	return status;
}

int em_manual_main(int argc, char **argv, const struct em_manual_document *documents, size_t count)
{
	for (size_t i = 0; i < count && argc == 2; i++)
		if (strcmp(argv[1], documents[i].name) == 0)
			return print_document(&documents[i]);
	fprintf(stderr, "usage: %s", argv[0]);
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s%s", i ? "|" : " ", documents[i].name);
	fputc('\n', stderr);
	return 2;
}
