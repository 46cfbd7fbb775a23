/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * snapshot - what emberd knows of all drives at one moment, for readers on other threads.
 *
 * The loop thread builds a new snapshot from the drives that changed and the unchanged parts of the
 * last one, and publishes it. Readers take a reference, read as long as they like, and give it
 * back.
 *
 * Owns:     a snapshot owns references to its drives, a drive to its page bytes. Immutable once
 *           published.
 * Threads:  hub get/publish and ref/unref from any thread; building on the loop thread only.
 * Blocking: never (a mutex held for a pointer swap).
 * Limits:   EM_NAMESPACES_MAX namespaces and EM_CONTROLLERS_MAX controllers per drive.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/health/verdict.h"
#include "lib/nvme/capacitor.h"
#include "lib/nvme/crypto_erase.h"
#include "lib/nvme/page.h"
#include "lib/nvme/tcg.h"

#define EM_DRIVE_ID_SIZE   17 /* 16 hexadecimal digits and NUL */
#define EM_NAMESPACES_MAX  1024u
#define EM_CONTROLLERS_MAX 16u

#define EM_DRIVE_STATES(X)                                                                         \
	X(OK, "ok")                                                                                \
	X(BUSY, "busy")			/* the kernel is resetting it */                           \
	X(UNRESPONSIVE, "unresponsive") /* three misses, or three answers that say nothing */      \
	X(REMOVED, "removed")		/* its node is gone */                                     \
	X(RETIRED, "retired")		/* taken away by a person */

#define EM_X(id, name) EM_STATE_##id,
enum em_drive_state { EM_DRIVE_STATES(EM_X) EM_STATE_COUNT };
#undef EM_X
const char *em_drive_state_name(enum em_drive_state state);
/* Removed or retired: nothing can be asked of it. */
bool em_drive_state_is_gone(enum em_drive_state state);

/* How the last attempt to read a page ended. */
#define EM_READ_STATUSES(X)                                                                        \
	X(NEVER, "never-read")                                                                     \
	X(OK, "ok")                                                                                \
	X(NO_READING, "no-reading")   /* the drive answered bytes that are none */                 \
	X(SHORT, "short")	      /* fewer bytes than the page has */                          \
	X(REFUSED, "refused")	      /* the drive does not have it: not asked again */            \
	X(UNSUPPORTED, "unsupported") /* the drive does not announce it: never asked */            \
	X(STATUS, "status")	      /* another NVMe status */                                    \
	X(TIMEOUT, "timeout")                                                                      \
	X(STUCK, "stuck")                                                                          \
	X(BUSY, "busy")                                                                            \
	X(GONE, "gone")                                                                            \
	X(DENIED, "denied")                                                                        \
	X(NEEDS_CONFIRMATION, "needs-confirmation")                                                \
	X(HOST_ERROR, "host-error")

#define EM_X(id, name) EM_READ_##id,
enum em_read_status { EM_READ_STATUSES(EM_X) EM_READ_COUNT };
#undef EM_X
const char *em_read_status_name(enum em_read_status status);

/* Page bytes shared by snapshots. */
struct em_blob {
	int refs; /* atomic */
	uint32_t len;
	uint8_t data[];
};
struct em_blob *em_blob_new(const void *data, size_t len); /* NULL: no memory */
struct em_blob *em_blob_ref(struct em_blob *blob);
struct em_blob *em_blob_unref(struct em_blob *blob); /* NULL ok; returns NULL */

/*
 * One page of one drive or namespace. data stays the last valid reading while later attempts fail:
 * status tells of the attempt, read_* of the data.
 */
struct em_page_read {
	enum em_read_status status;
	uint16_t nvme_status;  /* EM_READ_STATUS, EM_READ_REFUSED */
	int err;	       /* EM_READ_HOST_ERROR */
	bool zeroes;	       /* EM_READ_NO_READING: all zero (else all ones) */
	int64_t attempted_us;  /* real time; 0 = never */
	int64_t read_us;       /* real time of data; 0 = no data */
	uint64_t read_mono_us; /* the same by em_monotonic_us(); 0 = before this start of emberd */
	uint64_t same_mono_us; /* when bytes like those of data were first read; 0 like above */
	uint64_t interval_us;  /* how often it is read; 0 = not at all */
	struct em_blob *data;  /* NULL = no valid reading yet */
};

struct em_namespace_snap {
	uint32_t nsid;
	bool attached; /* false: it exists, and this host does not see it */
	struct em_page_read page;
};

/* What Linux tells of a PCIe link; 0 = not told. max: what the device could do. */
struct em_pcie_link {
	double speed_gts, speed_max_gts;
	unsigned width, width_max;
};
#define EM_NUMA_UNKNOWN (-1)

/* One controller of a drive: a way to it. */
struct em_controller_snap {
	/* Clean text; state is the kernel's: live, resetting, connecting, deleting, dead. */
	char device[32], address[64], transport[32], cntlid[16], state[16];
	bool active; /* the one that is asked */
	struct em_pcie_link link;
	int numa_node; /* EM_NUMA_UNKNOWN: none, or not told */
};

struct em_drive_snap {
	int refs; /* atomic */
	char id[EM_DRIVE_ID_SIZE];
	/* Clean text (lib/base/text.h). */
	char device[32], serial[64], model[64], firmware[32];
	char subsystem_nqn[256], address[64], transport[32], cntlid[16];
	/* By device in natural order; texts above are the first one's. None: the drive is gone. */
	unsigned controller_count;
	struct em_controller_snap *controllers;
	enum em_drive_state state;
	int64_t state_since_us; /* real time */
	char state_detail[160]; /* why, for people; "" = nothing to say */
	int64_t last_answer_us; /* real time of the last completed command; 0 = never */
	struct em_nvme_ctx ctx;
	uint64_t sanitize_stalled_us; /* struct em_health_input */
	struct em_page_read pages[EM_PAGE_CTRL_COUNT];
	struct em_page_read namespace_list; /* no data; status and times of the list itself */
	unsigned namespace_count;
	struct em_namespace_snap *namespaces; /* ascending nsid */
	uint64_t commands, events;	      /* sent to the broker for it; events heard */
	uint64_t errors[EM_READ_COUNT];	      /* attempts by how they ended, all but OK and NEVER */
	unsigned misses;		      /* in a row */
	uint64_t last_duration_us;	      /* of the last completed command */
	bool judged;			      /* lasting is set */
	enum em_severity lasting; /* the worst that its pages tell, em_health_lasting() */
};

struct em_snapshot {
	int refs; /* atomic */
	int64_t taken_us;
	uint64_t taken_mono_us;
	bool broker_connected;
	uint64_t broker_requests; /* sent since start */
	uint64_t removed_keep_us; /* metrics leave out drives that are gone for longer; 0 = none */
	unsigned count;
	struct em_drive_snap *drives[]; /* by device in natural order, those that are gone last */
};

struct em_drive_snap *em_drive_snap_new(void); /* zeroed, one reference */
struct em_drive_snap *em_drive_snap_ref(struct em_drive_snap *snap);
struct em_drive_snap *em_drive_snap_unref(struct em_drive_snap *snap);
struct em_snapshot *em_snapshot_new(unsigned count); /* zeroed, one reference */
struct em_snapshot *em_snapshot_ref(struct em_snapshot *snap);
struct em_snapshot *em_snapshot_unref(struct em_snapshot *snap);

/* What the last readings tell of the capacitor. */
struct em_capacitor em_drive_snap_capacitor(const struct em_drive_snap *drive);
/* The reading that its state was told from; NULL: it is unknown. */
const struct em_page_read *em_drive_snap_capacitor_read(const struct em_drive_snap *drive,
							const struct em_capacitor *capacitor);

/* The last reading of the drive's discovery; false: there is none, and *ret has no value. */
bool em_drive_snap_tcg(const struct em_drive_snap *drive, struct em_tcg *ret);
struct em_crypto_erase em_drive_snap_crypto_erase(const struct em_drive_snap *drive);

/* The drive's verdict at now, from what its last readings tell. */
void em_drive_snap_health(const struct em_drive_snap *drive, uint64_t now_mono_us, int64_t now_us,
			  struct em_health *ret);
/* Sets lasting: what builds a snapshot does so when its pages are there. */
void em_drive_snap_settle(struct em_drive_snap *drive);
/* The verdict alone; cheap for a settled drive. */
enum em_verdict em_drive_snap_verdict(const struct em_drive_snap *drive, uint64_t now_mono_us,
				      int64_t now_us);

/* Age of a reading at now (both clocks given, so that tests choose); -1 when there is none. */
int64_t em_page_read_age_us(const struct em_page_read *page, uint64_t now_mono_us, int64_t now_us);

/*
 * Finds a drive by id, serial, device name or unique prefix of id or serial (exact before prefix).
 * Returns its index, -ENOENT, or -ENOTUNIQ.
 */
int em_snapshot_find(const struct em_snapshot *snap, const char *text);

struct em_hub;
struct em_hub *em_hub_new(void); /* holds an empty snapshot */
struct em_hub *em_hub_free(struct em_hub *hub);
void em_hub_publish(struct em_hub *hub, struct em_snapshot *snap); /* takes the reference */
struct em_snapshot *em_hub_get(struct em_hub *hub);		   /* a new reference, never NULL */
