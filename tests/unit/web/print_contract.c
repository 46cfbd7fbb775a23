/* SPDX-License-Identifier: Apache-2.0 */
/* Prints docs/openapi.json or docs/names/json.txt; "make update-contract" runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/openapi.h"

#include "config.h"

int main(int argc, char **argv)
{
	size_t len = 0;
	char *text = NULL;

	if (argc == 2 && !strcmp(argv[1], "openapi"))
		text = em_openapi_text(PACKAGE_VERSION, &len);
	else if (argc == 2 && !strcmp(argv[1], "names"))
		text = em_openapi_names(&len);
	if (!text)
		return 1;
	fwrite(text, 1, len, stdout);
	free(text);
	return 0;
}
