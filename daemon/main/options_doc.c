/* SPDX-License-Identifier: Apache-2.0 */
/* options-doc - what is made of emberd's option table at build: man, file or names. */
#include "daemon/main/options.h"
#include "lib/base/cleanup.h"
#include "lib/base/manual.h"

int main(int argc, char **argv)
{
	static const struct em_manual_document documents[] = {
		{ "man", em_options_print_man },
		{ "file", em_options_print_file },
		{ "names", em_options_print_names },
	};

	return em_manual_main(argc, argv, documents, EM_COUNT(documents));
}
