/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * view - what several verbs show alike: values by their field rows, states, ages, warnings.
 *
 * Texts are written into the caller's buffer of EM_VIEW_SIZE bytes and returned; NULL is absent.
 * Threads: any. Blocking: never.
 */
#include <jansson.h>
#include "client/writer.h"
#include "lib/nvme/page.h"

#define EM_VIEW_SIZE 640

/* The value of a row in a "values" object (may be NULL), with its unit. */
const char *em_view_value(const struct em_field *field, const json_t *values, bool utf8,
			  char buf[EM_VIEW_SIZE]);

/* A JSON scalar (or NULL) as plain digits or text. */
const char *em_view_scalar(const json_t *value, char buf[EM_VIEW_SIZE]);

/* "spare below threshold, media read only"; "none" for an empty list; NULL for anything else. */
const char *em_view_names(const json_t *list, char buf[EM_VIEW_SIZE]);

/*
 * The bits of critical_warning in words so short that a table has room for them: "spare, temp";
 * "none", or NULL when it is absent. em_view_value() has them in full.
 */
const char *em_view_warnings(const json_t *values, char buf[EM_VIEW_SIZE]);

/* "get_log_page", a name made for programs, as words; NULL stays NULL. */
const char *em_view_words(const char *name, char buf[EM_VIEW_SIZE]);

/* "12 s ago" of the member age_seconds. */
const char *em_view_age(const json_t *object, char buf[EM_VIEW_SIZE]);

/* "2026-11-30 21:22:23 UTC" out of RFC 3339. */
const char *em_view_time(const char *rfc3339, char buf[EM_VIEW_SIZE]);

enum em_tone em_view_state_tone(const char *state);

/* Of how the last attempt to read a page ended: what a drive does not have is no cause for alarm.
 */
enum em_tone em_view_status_tone(const char *status);

/*
 * Why an attempt ended so, for a row below others: short where the row above said it already, and
 * nothing where the status says it all. *last is what the row above had; NULL at first.
 */
const char *em_view_because(const char *status, const char *detail, const char **last);

/* True when the values of a drive in this state are the last ones known, not the present ones. */
bool em_view_is_stale_state(const char *state);

/* True when age_seconds is three intervals old; an interval of 0 or below says nothing. */
bool em_view_is_overdue(const json_t *object, double interval_seconds);

/*
 * Heading of a page document, with its age, louder when that is not the present; and when the last
 * attempt to read it failed, how. state: of the drive. interval_seconds: 0 = not known. True when
 * there are values.
 */
bool em_view_page_head(struct em_writer *w, const char *title, const json_t *doc, const char *state,
		       double interval_seconds);

/*
 * The fields of the page, and in one line those that the drive does not give. history: those alone
 * that have one, where another row tells better what has none.
 */
void em_view_page(struct em_writer *w, const struct em_page *page, const json_t *values,
		  bool history);

/* A repeated part as a table; columns that no entry fills are left out. At most max entries. */
void em_view_group(struct em_writer *w, const struct em_group *group, const json_t *values,
		   size_t max);
