/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * clock - the two clocks, and UTC text.
 *
 * Monotonic time (CLOCK_BOOTTIME, so that sleep counts) measures ages and deadlines; real time is
 * only stored and shown. Both in microseconds.
 * Threads: any. Blocking: never.
 */
#include <stddef.h>
#include <stdint.h>

#define EM_US_PER_MS  UINT64_C(1000)
#define EM_US_PER_SEC UINT64_C(1000000)

/* "2026-11-30T21:22:23.456Z" and its NUL. */
#define EM_TIME_SIZE 32

uint64_t em_monotonic_us(void);
int64_t em_realtime_us(void);

/* RFC 3339 in UTC with milliseconds; times before 1970 and after 9999 are clamped. */
const char *em_time_format(char buf[EM_TIME_SIZE], int64_t realtime_us);

/*
 * Accepts RFC 3339 with Z or a numeric offset ("2026-10-25T02:30:00+02:00", fraction and seconds
 * optional), plain seconds since 1970 ("1792888200", fraction allowed), and "now" or "-15min"
 * relative to now_us. -EINVAL when it is none of these, -ERANGE when outside 1970..9999.
 */
int em_time_parse(const char *text, int64_t now_us, int64_t *ret_us);
