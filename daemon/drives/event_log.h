/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * event_log - what happened lately, for readers on other threads: the newest events in memory, and
 * a call to whoever waits for the next.
 *
 * An event is visible once it is on the disk (or has failed to get there), so that nothing that was
 * shown is lost by a power cut. Older ones are the store's (em_store_events()).
 *
 * Owns:     copies of the newest EM_EVENT_LOG_MAX events.
 * Threads:  add on the loop thread; settled on the store's; all others from any.
 * Blocking: never (a mutex held for a copy).
 * Errors:   -ENOENT, -EBUSY; those of em_store_put_event(), and the event is visible all the same.
 * Limits:   EM_EVENT_LOG_MAX events, EM_EVENT_WATCHERS_MAX watchers.
 */
#include <stdbool.h>
#include <stdint.h>
#include "daemon/store/store.h"

#define EM_EVENT_LOG_MAX      1024u
#define EM_EVENT_WATCHERS_MAX 64u

/* Kind, name, and whether it is a change that belongs into /v1/changes. */
#define EM_EVENT_KINDS(X)                                                                          \
	X(DRIVE_APPEARED, "drive-appeared", true) /* seen for the first time */                    \
	X(DRIVE_RETURNED, "drive-returned", true)                                                  \
	X(DRIVE_REMOVED, "drive-removed", true)                                                    \
	X(DRIVE_RENAMED, "drive-renamed", true) /* another device name */                          \
	X(DRIVE_MOVED, "drive-moved", true)	/* another address: slot, bus */                   \
	X(DRIVE_RETIRED, "drive-retired", true) /* and taken back: old and new state tell */       \
	X(DRIVE_STATE, "drive-state", false)	/* ok, busy, unresponsive */                       \
	X(PATH_ADDED, "path-added", true)	/* another controller of the same drive */         \
	X(PATH_REMOVED, "path-removed", true)                                                      \
	X(FIRMWARE_CHANGED, "firmware-changed", true)	    /* the revision that runs */           \
	X(SLOT_CHANGED, "slot-changed", true)		    /* what a firmware slot holds */       \
	X(ACTIVE_SLOT_CHANGED, "active-slot-changed", true) /* active, or the one after a reset */ \
	X(NAMESPACE_ADDED, "namespace-added", true)                                                \
	X(NAMESPACE_REMOVED, "namespace-removed", true)                                            \
	X(NAMESPACE_CHANGED, "namespace-changed", true) /* attached, size, format, identifiers */  \
	X(CRITICAL_WARNING, "critical-warning", false)	/* bits that came or went */               \
	X(ERROR_LOG_GREW, "error-log-grew", false)                                                 \
	X(SELFTEST_STARTED, "selftest-started", false) /* whoever began it */                      \
	X(SELFTEST_ENDED, "selftest-ended", false)                                                 \
	X(SANITIZE_STATE, "sanitize-state", false)                                                 \
	X(BROKER, "broker", false) /* connected, lost */

#define EM_X(id, name, change) EM_EVENT_KIND_##id,
enum em_event_kind_id { EM_EVENT_KINDS(EM_X) EM_EVENT_KIND_COUNT };
#undef EM_X
const char *em_event_kind_name(enum em_event_kind_id kind);
bool em_event_kind_is_change(enum em_event_kind_id kind);
int em_event_kind_find(const char *name, enum em_event_kind_id *ret); /* -ENOENT */

struct em_event_log;
struct em_event_log *em_event_log_new(void); /* NULL: no memory */
struct em_event_log *em_event_log_free(struct em_event_log *log);

/* At start, oldest first: events of an earlier run, visible at once. */
void em_event_log_restore(struct em_event_log *log, const struct em_event *event);
/* Gives it id, time and kind and puts it into the store; without one it is visible at once. */
int em_event_log_add(struct em_event_log *log, struct em_store *store, enum em_event_kind_id kind,
		     struct em_event *event);
/* em_store_settled_fn; userdata is the log. */
void em_event_log_settled(void *log, int64_t id);

/* Ids of the oldest and newest visible event in memory; 0 = none. */
void em_event_log_bounds(struct em_event_log *log, int64_t *ret_oldest, int64_t *ret_newest);
/* Copies up to max visible events with ids greater than after, oldest first; how many. */
unsigned em_event_log_read(struct em_event_log *log, int64_t after, struct em_event *ret,
			   unsigned max);

/* How many of each kind were added since the log was made; those restored do not count. */
void em_event_log_counts(struct em_event_log *log, uint64_t ret[EM_EVENT_KIND_COUNT]);

/* fn is called, on any thread and without locks of ours, when events became visible; no blocking.
 */
typedef void em_event_log_fn(void *userdata);
/* -EBUSY: EM_EVENT_WATCHERS_MAX watch already. */
int em_event_log_watch(struct em_event_log *log, em_event_log_fn *fn, void *userdata);
/* When it returns, fn is not running and will not be called. Never from within fn. */
void em_event_log_unwatch(struct em_event_log *log, void *userdata);
