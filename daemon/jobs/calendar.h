/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * calendar - when a schedule in systemd's own words (systemd.time(7)) is next, told by
 * systemd-analyze: there is one reading of "Mon..Fri *-*-1..7 03:00", and it is systemd's.
 *
 * Owns:     the child process, its pipe and event sources.
 * Threads:  loop thread only, but for em_calendar_check() and em_calendar_read().
 * Blocking: never; em_calendar_check() does, EM_CALENDAR_WAIT_US at most.
 * Limits:   EM_CALENDAR_OUTPUT_MAX bytes of output are read, the child is ended after
 *           EM_CALENDAR_WAIT_US.
 */
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>
#include "lib/base/clock.h"

#define EM_CALENDAR_MESSAGE_SIZE 200
#define EM_CALENDAR_OUTPUT_MAX	 4096u
#define EM_CALENDAR_WAIT_US	 (10 * EM_US_PER_SEC)
#define EM_CALENDAR_NEVER	 INT64_MAX

struct em_calendar;

/*
 * Called once, from the loop: 0 and when it is next after the base (real time, or NEVER); -EINVAL:
 * systemd does not understand it; else it could not be asked. message: for people, when not 0.
 */
typedef void em_calendar_fn(void *userdata, int r, int64_t next_us, const char *message);

int em_calendar_ask(struct em_calendar **ret, sd_event *event, const char *text, int64_t base_us,
		    em_calendar_fn *fn, void *userdata);
/* Whether it was answered or not; fn may call it. NULL ok. */
struct em_calendar *em_calendar_free(struct em_calendar *calendar);

/* -EINVAL: systemd does not understand it; else it could not be asked. */
int em_calendar_check(const char *text, char message[EM_CALENDAR_MESSAGE_SIZE]);

/* Out of what systemd-analyze prints. -EBADMSG. */
int em_calendar_read(const char *output, int64_t *ret_next_us);
