/* SPDX-License-Identifier: Apache-2.0 */
/* options-doc - what is made of emberd's option table at build: man, file or names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/main/options.h"
#include "lib/base/cleanup.h"

#define TEXT_MAX (1u << 20)

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(struct em_buf *out);
	} documents[] = {
		{ "man", em_options_print_man },
		{ "file", em_options_print_file },
		{ "names", em_options_print_names },
	};
	struct em_buf out;
	int status = 2;

	em_buf_init(&out, TEXT_MAX);
	for (size_t i = 0; i < EM_COUNT(documents); i++) {
		if (argc != 2 || strcmp(argv[1], documents[i].name) != 0)
			continue;
		documents[i].print(&out);
		status = !em_buf_failed(&out) && fwrite(out.data, 1, out.len, stdout) == out.len &&
					 fflush(stdout) == 0
				 ? 0
				 : 1;
	}
	em_buf_done(&out);
	if (status != 0)
		fputs("usage: options-doc man|file|names\n", stderr);
	return status;
}
