/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * recorded - one drive on its way into a recording: what to ask next, and what came.
 *
 * Asked is what the drive announces, and only what reading leaves as it is: operations of the class
 * read, with their checks.
 *
 * Owns:    the pages. Threads: the loop's. Blocking: sysfs reads, in em_recorded_new().
 * Limits:  EM_RECORDED_NAMESPACES_MAX namespaces; the rest is counted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "broker/execute.h"
#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"

#define EM_RECORDED_NAMESPACES_MAX 256u

/* A page that was asked for: key names it in the simulator's language, NULL when that has none. */
struct em_recorded_page {
	const char *key;
	struct em_ipc_request request;
	struct em_outcome outcome;
	uint8_t *data; /* request.len bytes; NULL: none came */
};

struct em_recorded_namespace {
	uint32_t nsid, node; /* node: of /dev/nvme0nNODE; 0 = unknown */
};

struct em_recorded {
	struct em_ipc_drive info;
	/* Of its PCI function; "" where there is none. */
	char vendor[16], device_id[16], subsystem_vendor[16], subsystem_device[16], slot[64];
	unsigned number; /* of its name */
	struct em_recorded_page *pages;
	unsigned page_count;
	struct em_recorded_namespace namespaces[EM_RECORDED_NAMESPACES_MAX];
	unsigned namespace_count, namespaces_left_out;
	unsigned step, next_namespace;
	bool cut; /* the last page ended it: no answer, or no drive any more */
	bool done;
};

/* The controller as sysfs shows it in this directory. -ENOMEM. */
int em_recorded_new(const struct em_ipc_drive *info, const char *sysfs, struct em_recorded **ret);
struct em_recorded *em_recorded_free(struct em_recorded *recorded);
EM_DEFINE_CLEANUP(struct em_recorded, em_recorded_free)

/* What to ask now; false: nothing any more. *ret_key as in struct em_recorded_page. */
bool em_recorded_next(struct em_recorded *recorded, struct em_ipc_request *ret,
		      const char **ret_key);
/* What came of it; takes a copy of data, which may be NULL. -ENOMEM. */
int em_recorded_take(struct em_recorded *recorded, const struct em_ipc_request *request,
		     const char *key, const struct em_outcome *outcome, const uint8_t *data);

/* Which node of /dev each namespace has, from the controller's directory. */
void em_recorded_find_nodes(struct em_recorded *recorded, const char *sysfs);

/* The NQN is one that Linux made of vendor, serial and model. */
bool em_recorded_is_made(const char *nqn);

/* A page that came, or NULL. */
const struct em_recorded_page *em_recorded_find(const struct em_recorded *recorded,
						const char *key);
/* Identify Controller, where it came; it belongs to the recording. */
uint8_t *em_recorded_identify(const struct em_recorded *recorded);
unsigned em_recorded_count(const struct em_recorded *recorded); /* of pages that came */
/* Identify of a namespace. */
bool em_recorded_is_namespace(const struct em_recorded_page *page);
/* What each controller of a drive has for itself. */
bool em_recorded_is_own(const struct em_recorded_page *page);
