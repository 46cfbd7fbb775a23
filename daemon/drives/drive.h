/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * drive - one drive as a state machine: what to ask next, and what an answer means.
 *
 * A drive may have several controllers, told one by one: it is asked through one of them, and
 * another takes over when that one goes, resets or does not answer.
 *
 * No I/O and no clock of its own: the caller passes the time, sends the request that
 * em_drive_next() writes, and hands the reply back. At most one request is out at a time.
 *
 * Owns:     page bytes, namespaces.
 * Threads:  loop thread only.
 * Blocking: never.
 * Errors:   -ENOMEM where said; a reading that cannot be kept is counted and lost.
 */
#include "daemon/drives/capabilities.h"
#include "daemon/drives/drives.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/ipc/proto.h"

/*
 * A drive whose answer fails to come this often in a row is unresponsive, and so is one that
 * answers without a reading of a page that every drive has.
 */
#define EM_MISSES_MAX 3u
/* After a miss, or while the kernel is busy with it, we look again this soon at the latest. */
#define EM_RETRY_US	 (5 * EM_US_PER_SEC)
#define EM_BUSY_RETRY_US EM_US_PER_SEC
/* However often the kernel tells of namespaces, the list is not read more often than this. */
#define EM_LIST_PAUSE_US EM_US_PER_SEC
/* A sanitize that runs is looked at this often at least. */
#define EM_PROGRESS_US (30 * EM_US_PER_SEC)
/* And so is a self-test; a short one takes two minutes. */
#define EM_TEST_PROGRESS_US (5 * EM_US_PER_SEC)

struct em_page_task {
	struct em_page_read read;
	uint64_t due_us;   /* monotonic; UINT64_MAX = not planned */
	uint64_t asked_us; /* real time of the request that is out */
	bool insist;	   /* asked even though sisters were refused */
	bool remembered;   /* refused by sisters, not by this drive */
	unsigned failures; /* answers in a row without a reading; of pages that every drive has */
};

struct em_path {
	uint32_t handle; /* the broker's; 0 = not told since we connected */
	char device[32], address[64], transport[32], cntlid[16], state[16];
	struct em_pcie_link link;
	int numa_node;
	bool failed;	  /* three misses: another one is asked, if there is one */
	bool event_waits; /* it told of an event while another one was asked */
};

struct em_namespace_task {
	uint32_t nsid;
	bool attached; /* to the controller that is asked */
	struct em_page_task page;
};

enum em_ask { /* what the request that is out is for */
	      EM_ASK_NOTHING,
	      EM_ASK_PAGE, /* .page */
	      EM_ASK_ALLOCATED_LIST,
	      EM_ASK_NAMESPACE_LIST,
	      EM_ASK_NAMESPACE,	  /* .nsid */
	      EM_ASK_ACKNOWLEDGE, /* .page is EM_PAGE_SMART, or EM_PAGE_COUNT for the error log */
	      EM_ASK_ARM,
	      EM_ASK_COMMAND, /* of a person */
};

struct em_drive {
	/* Who it is. */
	char id[EM_DRIVE_ID_SIZE];
	uint8_t identity[600];
	unsigned identity_len;
	unsigned ordinal; /* 0, or more when present drives share NQN and serial */
	char device[32], serial[64], model[64], firmware[32];
	char subsystem_nqn[256], address[64], transport[32], cntlid[16];
	int64_t first_seen_us;

	/* Where it stands. */
	struct em_path paths[EM_CONTROLLERS_MAX]; /* by device */
	unsigned path_count;
	uint32_t handle; /* of the path that is asked; 0 = not present */
	enum em_drive_state state;
	int64_t state_since_us;
	char state_detail[160];
	int64_t last_answer_us;
	unsigned misses;
	bool was_unresponsive; /* when emberd last ended; an answer has to show that it is not */
	struct em_nvme_ctx ctx;

	/* What is read. */
	const struct em_capabilities *capabilities; /* borrowed; NULL = nothing is remembered */
	struct em_poll_intervals intervals;
	struct em_page_task pages[EM_PAGE_CTRL_COUNT];
	struct em_page_task list;
	/*
	 * Namespaces that exist, attached or not. Asked right before the other list, which then
	 * tells of both: what goes from the drive must not look as if it was only detached.
	 */
	struct em_page_task allocated;
	bool allocated_known;		      /* asked since the other list was last read */
	struct em_namespace_task *namespaces; /* ascending nsid */
	unsigned namespace_count;
	bool arm;	     /* events have to be armed (again) */
	bool insist_arm;     /* even though sisters refused it */
	bool acknowledge[2]; /* [0] error log, [1] SMART: an event waits to be cleared */
	uint64_t hold_us;    /* monotonic: ask nothing before */
	bool command_waits;  /* a person's command is sent next */
	struct em_ipc_request command;

	/* The request that is out. */
	enum em_ask asked;
	enum em_page_id asked_page;
	uint32_t asked_nsid, asked_len, request_id;
	uint64_t sent_us; /* monotonic */

	uint64_t commands, events, errors[EM_READ_COUNT], last_duration_us;
	bool changed;	       /* something a snapshot shows changed */
	bool notable;	       /* and it may be an event */
	bool identity_changed; /* something the store keeps of the drive changed */
};

/* What a reply brought, for the caller to store. */
struct em_drive_news {
	bool fresh; /* a new valid reading of page (and nsid) stands in read */
	enum em_page_id page;
	uint32_t nsid;
	const struct em_page_read *read; /* borrowed from the drive until its next call */
	bool list;			 /* a new list of namespaces */
	/* What can be remembered of the answer, for the model and firmware; "" = nothing. */
	char capability[EM_CAPABILITY_SIZE];
	enum em_read_status status; /* OK: the drive has it; REFUSED: it does not */
	uint16_t nvme_status;
};

/* identity: raw NQN, NUL, raw serial. Computes the id. */
struct em_drive *em_drive_new(const void *identity, size_t len, unsigned ordinal);
struct em_drive *em_drive_free(struct em_drive *drive);
EM_DEFINE_CLEANUP(struct em_drive, em_drive_free)

/*
 * The broker has it (again), or one more controller of it. When it was not there, everything is due
 * and events are to be armed.
 */
void em_drive_present(struct em_drive *drive, const struct em_ipc_drive *message, uint64_t now_us,
		      int64_t real_us);
/* Its attributes changed: name, sysfs state. */
void em_drive_update(struct em_drive *drive, const struct em_ipc_drive *message, uint64_t now_us,
		     int64_t real_us);
/* One of its controllers went, and with the last one the drive. */
void em_drive_path_gone(struct em_drive *drive, uint32_t handle, const char *why, uint64_t now_us,
			int64_t real_us);
void em_drive_gone(struct em_drive *drive, const char *why, int64_t real_us);
/* Handles mean nothing any more; the broker tells its drives anew. */
void em_drive_disconnected(struct em_drive *drive);
/* It has told all: controllers that it did not name are gone. */
void em_drive_drop_untold(struct em_drive *drive, const char *why, int64_t real_us);
bool em_drive_has_path(const struct em_drive *drive, uint32_t handle);
/* Whether a controller of this id can be one more of this drive, and not another drive. */
bool em_drive_takes_path(const struct em_drive *drive, const char *cntlid);
void em_drive_event(struct em_drive *drive, const struct em_ipc_event *event, uint64_t now_us);
/* The request that was out will not be answered; an event that it was for still waits. */
void em_drive_forget_request(struct em_drive *drive);
/* Sends it next, before what is planned. -EBUSY: another one waits or is out. */
int em_drive_command(struct em_drive *drive, const struct em_ipc_request *command);
/* Nobody waits for its answer any more: one that was not sent will not be. */
void em_drive_drop_command(struct em_drive *drive);
/* One waits or is out. */
bool em_drive_has_command(const struct em_drive *drive);
/* Everything in the plan is due now; refused: what the drive refused before, too. */
void em_drive_refresh(struct em_drive *drive, bool refused, uint64_t now_us);
/* A drive that is gone was taken away on purpose, or was not. */
void em_drive_retire(struct em_drive *drive, bool retired, int64_t real_us);
/* The broker stays away: the drive can no longer be watched. */
void em_drive_unwatched(struct em_drive *drive, const char *why, int64_t real_us);
void em_drive_set_intervals(struct em_drive *drive, const struct em_poll_intervals *intervals,
			    uint64_t now_us);

/* Monotonic time at which em_drive_next() has something; UINT64_MAX = not before an event. */
uint64_t em_drive_due_us(const struct em_drive *drive);
/* Writes the next request (without id); false when nothing is due or a request is out. */
bool em_drive_next(struct em_drive *drive, uint64_t now_us, int64_t real_us,
		   struct em_ipc_request *ret);
/* The request was sent under this id. */
void em_drive_sent(struct em_drive *drive, uint32_t request_id, uint64_t now_us);
/* Data that was not asked for, or came as a memfd, counts as a failure (EPROTO). */
struct em_drive_news em_drive_reply(struct em_drive *drive, const struct em_ipc_reply *reply,
				    uint64_t now_us, int64_t real_us);

/* It gave what this name stands for (a page, a list of namespaces), now or to an earlier start. */
bool em_drive_has(struct em_drive *drive, const char *capability);
/* Sisters do have what they were thought to refuse: what was not asked for that reason is due. */
void em_drive_ask_remembered(struct em_drive *drive, const char *capability, uint64_t now_us);

/*
 * A page of an earlier start, read back from the store: namespaces before their list, which drops
 * those that it does not have.
 */
void em_drive_restore_page(struct em_drive *drive, const char *page, uint32_t nsid, int64_t at_us,
			   const void *data, size_t len);

/* The lists as such a page: namespaces that are attached, a zero, and those that are not. */
void em_drive_restore_list(struct em_drive *drive, int64_t at_us, const void *data, size_t len);

/* NULL: no memory. */
struct em_drive_snap *em_drive_snapshot(const struct em_drive *drive);
