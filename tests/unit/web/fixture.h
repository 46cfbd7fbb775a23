/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * fixture - drives made by hand, and calls without a socket. Page bytes are laid out here by the
 * specification's offsets and not by Ember's tables.
 */
#include <jansson.h>
#include "daemon/web/route.h"

#define NOW_US	      INT64_C(1792888200000000) /* 2026-10-25T00:30:00Z */
#define NOW_MONO_US   UINT64_C(5000000000)
#define MODEL_HOSTILE "PCIe3 \"1.6TB\" \\NVMe??? Adapter"

/* A drive in state ok, without any page. */
struct em_drive_snap *make_drive(const char *id, const char *device, const char *serial);
/* Puts a reading that is age_us old; len bytes of data, padded with zeros to size. */
void give_page(struct em_page_read *read, const void *data, size_t len, size_t size,
	       uint64_t age_us);
/* Log 02h: 39 Celsius, spare 100 %, bytes written beyond 64 bits, one sensor. */
void give_smart(struct em_drive_snap *drive, uint64_t age_us);
/* Log 03h of case R20's drive: three slots, the first read-only. */
void give_firmware(struct em_drive_snap *drive);
/* Log 06h: one failed test with VDI 3, nineteen unused entries. */
void give_selftest(struct em_drive_snap *drive);
/* Takes the drives. */
struct em_snapshot *make_snapshot(struct em_drive_snap **drives, unsigned count);
/* Four drives: well; hung with old data; all ones as SMART; hostile texts. */
struct em_snapshot *make_fleet(void);

/* Calls the route as the server would. The reply's body is NUL-terminated. */
struct em_reply ask(const struct em_snapshot *snap, const char *method, const char *uri);
struct em_reply ask_with(const struct em_context *context, const struct em_snapshot *snap,
			 const char *method, const char *uri);
/* Likewise, with what else the call has (body, role, wants_events); sets the rest of it,
 * now_mono_us only when it is 0: deadlines need the true one. The body may be missing. */
struct em_reply ask_call(struct em_call *call, const char *method, const char *uri);
/* The JSON of a reply with that status; fails the test otherwise. */
json_t *ask_json(const struct em_snapshot *snap, const char *uri, unsigned status);
json_t *reply_json(struct em_reply *reply, unsigned status);
/* "values.slots.0.revision"; NULL when there is nothing. */
json_t *at(json_t *root, const char *path);
#define ck_text(root, path, text) ck_assert_str_eq(json_string_value(at(root, path)), text)
#define ck_int(root, path, number)                                                                 \
	do {                                                                                       \
		ck_assert_msg(json_is_integer(at(root, path)), "%s is no integer", path);          \
		ck_assert_int_eq(json_integer_value(at(root, path)), number);                      \
	} while (0)
#define ck_null(root, path)                                                                        \
	ck_assert_msg(at(root, path) && json_is_null(at(root, path)), "%s is not null", path)
