/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/manual.h"
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
