/* SPDX-License-Identifier: Apache-2.0 */
#include "client/files.h"
#include <stdio.h>
#include <string.h>
#include "lib/base/cleanup.h"

bool em_first_line(const char *path, char *buf, int size)
{
	em_cleanup(em_fclosep) FILE *file = fopen(path, "re");

	if (!file || !fgets(buf, size, file))
		return false;
	buf[strcspn(buf, "\r\n")] = '\0';
	return true;
}

void em_closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
