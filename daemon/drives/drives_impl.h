/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* drives_impl - what the files of struct em_drives share among themselves; for no one else. */
#include "daemon/drives/capabilities.h"
#include "daemon/drives/drive.h"
#include "daemon/drives/link.h"
#include "daemon/drives/orders.h"

#define EM_ORDINAL_MAX	   UINT8_MAX
#define EM_WHY_UNREACHABLE "ember-broker is not reachable"
#define EM_WHY_GONE	   "its device node is gone"

/* What the command that is out for a self-test is for. */
enum em_test_step { EM_TEST_NONE, EM_TEST_LOOK, EM_TEST_LOOK_SANITIZE, EM_TEST_SEND };

struct em_test_run {
	enum em_test_step step;
	enum em_self_test test;
	uint64_t order_id;     /* of the order that it is for; 0 = of none */
	em_self_test_fn *done; /* when it is for no order */
	void *userdata;
};

struct em_entry {
	struct em_drives *drives;
	struct em_drive *drive;
	sd_event_source *timer;
	struct em_drive_snap *snap;	  /* as readers get it; NULL = none yet */
	struct em_drive_snap *told;	  /* as events have told it; NULL = never seen */
	enum em_drive_state stored_state; /* when the last start ended */
	uint64_t command_id;		  /* of the order that a command is for; 0 = none */
	struct em_test_run test;	  /* a self-test that is to begin or end */
	bool seen;			  /* since the broker began to tell its drives */
};

struct em_drives {
	sd_event *event;
	sd_event_source *publish, *unwatched;
	struct em_link *link;
	struct em_hub *hub;
	struct em_store *store;
	struct em_event_log *events;
	struct em_orders *orders;
	struct em_capabilities *capabilities;
	struct em_poll_intervals intervals;
	struct em_poll_override *overrides;
	unsigned override_count;
	bool pcie_only;
	struct em_entry *entries[EM_DRIVES_MAX];
	unsigned count;
	/* listing: the broker tells what there is, and has not come to its end. */
	bool connected, listing, full_told, twins_told, unwatched_told;
	uint32_t last_request_id;
	uint64_t requests, answer_timeout_us, removed_keep_us;
	uint64_t unpublished_us; /* since when something new waits to be published; 0 = nothing */
};

/* ---- entries.c: the drives that there are ---- */
const struct em_poll_intervals *em_drives_intervals(const struct em_drives *drives,
						    const struct em_drive *drive);
struct em_entry *em_entry_add(struct em_drives *drives, struct em_drive *drive);
void em_entry_free(struct em_entry *entry);
struct em_entry *em_entry_by_handle(struct em_drives *drives, uint32_t handle);
struct em_entry *em_entry_by_id(struct em_drives *drives, const char *id);
/* The one that this node belongs to, or a new one; NULL: it cannot be watched. */
struct em_entry *em_entry_for(struct em_drives *drives, const struct em_ipc_drive *message);
bool em_entry_is(const struct em_entry *entry, const struct em_ipc_drive *message);

/* ---- ask.c: requests and their answers ---- */
/* Sends what is due now, and sets the timer for what is due later. */
void em_entry_pursue(struct em_entry *entry);
/* The same, once the loop is done with what it is doing. */
void em_entry_wake(struct em_entry *entry);
void em_entry_rest(struct em_entry *entry); /* nothing is due */
int em_entry_on_due(sd_event_source *source, uint64_t usec, void *userdata);
void em_drives_heard_reply(struct em_drives *drives, const struct em_ipc_reply *reply);

/* ---- commands.c: what a person has us send ---- */
/* Sends it next and returns EM_ORDER_LATER, or says in the order why not. */
int em_entry_order_command(struct em_entry *entry, struct em_order *order);
void em_entry_answer_command(struct em_entry *entry, const struct em_ipc_reply *reply);
/* One that the drive lost is answered so; one that nobody waits for is not sent. */
void em_entry_check_command(struct em_entry *entry);

/* ---- self_tests.c ---- */
/* As em_entry_order_command(). */
int em_entry_order_self_test(struct em_entry *entry, struct em_order *order);
/* The answer to what was asked for the test that is to begin. */
void em_entry_test_replied(struct em_entry *entry, const struct em_ipc_reply *reply);
/* As em_entry_check_command(), which calls it. */
void em_entry_check_test(struct em_entry *entry);

/* ---- heard.c: what the broker tells ---- */
extern const struct em_link_callbacks em_drives_callbacks;
/* Starts to wait for a broker that is away. */
void em_drives_watch_for_broker(struct em_drives *drives);
int em_drives_on_unwatched(sd_event_source *source, uint64_t usec, void *userdata);
void em_drives_log(const struct em_drive *drive, int priority, const char *what, const char *why);

/* ---- publish.c: for readers, the store and those who wait for events ---- */
void em_drives_publish(struct em_drives *drives);
int em_drives_on_publish(sd_event_source *source, void *userdata);
/* Soon: when the loop has nothing better to do. */
void em_drives_publish_soon(struct em_drives *drives);
/* Tells the events that a drive's last change made, and lets the store know the drive. */
void em_entry_settle(struct em_entry *entry);
void em_drives_tell_broker(struct em_drives *drives, bool connected, const char *why);
