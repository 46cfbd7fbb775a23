/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * drives - the state of every drive: who it is, what was read of it and when, what is read next.
 *
 * Talks to the broker, decides when a drive is busy, unresponsive or removed, learns what a drive
 * does not have, publishes snapshots and puts readings into the store.
 *
 * Owns:     its event sources, the connection to the broker, all drive state.
 * Threads:  loop thread only; readers use the hub.
 * Blocking: never.
 * Limits:   EM_DRIVES_MAX drives, the longest removed making room; 256 of one NQN and serial; one
 *           request per drive is out at a time.
 */
#include <systemd/sd-event.h>
#include "daemon/drives/event_log.h"
#include "daemon/drives/orders.h"
#include "daemon/drives/snapshot.h"
#include "daemon/store/store.h"

#define EM_DRIVES_MAX 4096u

/* How often each page is read, and for how long it may stand still; 0 is not allowed (10 ms .. 7
 * days). */
struct em_poll_intervals {
	uint64_t page_us[EM_PAGE_COUNT]; /* EM_PAGE_IDENTIFY_NS: namespaces; set it like Identify */
	uint64_t sanitize_stalled_us;	 /* struct em_health_input */
};

/* Intervals of one drive that differ from the common ones. */
struct em_poll_override {
	char serial[64];
	struct em_poll_intervals intervals;
};

struct em_drives_config {
	char broker_socket[108];
	uint64_t answer_timeout_us; /* of the broker, above its own patience with a drive */
	struct em_poll_intervals intervals;
	bool pcie_only;			    /* other transports are not watched at all */
	uint64_t removed_keep_us;	    /* see struct em_snapshot */
	struct em_poll_override *overrides; /* owned by the config's maker; copied by drives */
	unsigned override_count;
};

struct em_drives;

/* store and events may be NULL (nothing is kept, nothing is told). Loads known drives from it: they
 * are `removed` until seen. */
int em_drives_new(struct em_drives **ret, sd_event *event, const struct em_drives_config *config,
		  struct em_hub *hub, struct em_store *store, struct em_event_log *events);
/* Where HTTP threads leave orders; lives as long as drives. */
struct em_orders *em_drives_orders(struct em_drives *drives);
/*
 * Begins a self-test for nobody who waits. 0: done is called later, from the loop, with 0 or
 * -errno and a reason: -EAGAIN and -ETIMEDOUT may be otherwise soon. -EAGAIN: it does not begin
 * now, and *ret_why (static) says why.
 */
typedef void em_self_test_fn(void *userdata, const char *drive_id, int result, const char *why);
int em_drives_self_test(struct em_drives *drives, const char *drive_id, enum em_self_test test,
			em_self_test_fn *done, void *userdata, const char **ret_why);
/* New intervals take effect at once; the broker's socket is fixed at start. */
int em_drives_reconfigure(struct em_drives *drives, const struct em_drives_config *config);
struct em_drives *em_drives_free(struct em_drives *drives);
