/* SPDX-License-Identifier: Apache-2.0 */
/* Prints docs/openapi.json, docs/names/json.txt or docs/api.md; "make update-contract" runs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/openapi.h"
#include "daemon/web/reference.h"

#include "config.h"

int main(int argc, char **argv)
{
	size_t len = 0;
	char *text = NULL;

	if (argc == 2 && !strcmp(argv[1], "openapi"))
		text = em_openapi_text(PACKAGE_VERSION, &len);
	else if (argc == 2 && !strcmp(argv[1], "names"))
		text = em_openapi_names(&len);
	else if (argc == 2 && !strcmp(argv[1], "reference"))
		text = em_reference_text(&len);
	if (!text)
		return 1;
	fwrite(text, 1, len, stdout);
	free(text);
	return 0;
}
