/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "lib/nvme/tables.h"

/* Below it (49 days in 1970) a clock that nobody has set counts since the drive was started. */
#define SET_FROM_MS   (UINT64_C(1) << 32)
#define YEAR_10000_MS UINT64_C(253402300800000)

bool em_memblaze_time(uint64_t ms, char text[EM_VALUE_TEXT_SIZE])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	if (ms < SET_FROM_MS || ms >= YEAR_10000_MS || !gmtime_r(&seconds, &tm))
		return false;
	snprintf(text, EM_VALUE_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03" PRIu64 "Z",
		 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 ms % 1000);
	return true;
}
