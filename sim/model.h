/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * model - one simulated NVMe drive: its pages, its answers, and the way Linux shows it.
 *
 * Written from the specification facts alone. It shares nothing with Ember's decoder, so that a
 * wrong offset there cannot agree with the same wrong offset here.
 *
 * Threads: one (the server's loop). Blocking: never. Limits: see the constants.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include "lib/base/u128.h"
#include "sim/wire.h"

#define SIM_NAMESPACES_MAX 256
#define SIM_SPARES_MAX	   32
#define SIM_ERRORS_MAX	   256
#define SIM_RULES_MAX	   32
#define SIM_RATES_MAX	   16
#define SIM_FLIPS_MAX	   64
#define SIM_SPEED_MAX	   1000000
#define SIM_COUNTS_MAX	   96
#define SIM_LOG_MAX	   256

/* NVMe statuses as Linux returns them: SCT << 8 | SC, with More (2000h) and Do Not Retry (4000h).
 */
#define SIM_ST_OPCODE	      0x4001
#define SIM_ST_FIELD	      0x4002
#define SIM_ST_NSID	      0x400b
#define SIM_ST_LOG_PAGE	      0x4109
#define SIM_ST_SELFTEST_BUSY  0x411d
#define SIM_ST_FEATURE_SAVE   0x410d
#define SIM_ST_FEATURE_CHANGE 0x410e
#define SIM_ST_HOST_PATH      0x0370 /* made by Linux: the controller is not live */

enum sim_opcode {
	SIM_OP_GET_LOG = 0x02,
	SIM_OP_IDENTIFY = 0x06,
	SIM_OP_ABORT = 0x08,
	SIM_OP_SET_FEATURES = 0x09,
	SIM_OP_GET_FEATURES = 0x0a,
	SIM_OP_SELF_TEST = 0x14,
	SIM_OP_SECURITY_RECEIVE = 0x82,
};

#define SIM_EVENTS_BYTES 4096u /* the most of log 0Dh that a file gives */

#define SIM_FEATURE_TEMP_THRESHOLD 0x04
#define SIM_FEATURE_ASYNC_EVENTS   0x0b

enum sim_page {
	SIM_PAGE_IDENTIFY,  /* 4096 */
	SIM_PAGE_NAMESPACE, /* 4096, replaces Identify Namespace of every namespace */
	SIM_PAGE_ERROR,	    /* 256 * 64 */
	SIM_PAGE_SMART,	    /* 512 */
	SIM_PAGE_FIRMWARE,  /* 512 */
	SIM_PAGE_EFFECTS,   /* 4096 */
	SIM_PAGE_SELFTEST,  /* 564 */
	SIM_PAGE_SANITIZE,  /* 512 */
	SIM_PAGE_VENDOR,    /* log CAh, 512 */
	SIM_PAGE_SECURITY,  /* TCG level-0 discovery, 2048 */
	SIM_PAGE_SUPPORTED, /* log 00h, 1024 */
	/* These three are laid out by the drive itself unless a file gives them. */
	SIM_PAGE_TELEMETRY, /* header of logs 07h and 08h, 512 */
	SIM_PAGE_ENDURANCE, /* log 09h of every group, 512 */
	SIM_PAGE_EVENTS,    /* log 0Dh, SIM_EVENTS_BYTES */
	SIM_PAGE_COUNT,
};

struct sim_namespace {
	uint32_t nsid, node; /* /dev/nvmeXn<node> */
	uint64_t blocks;
	uint8_t block_shift; /* 9 or 12 */
	uint32_t minor;
	uint8_t nguid[16], eui64[8];
};

/* What Identify Namespace answers for one namespace, given in the scenario. */
struct sim_namespace_page {
	uint32_t nsid;
	uint8_t bytes[4096];
};

/* Who had it captured. */
enum sim_telemetry_log { SIM_TELEMETRY_HOST, SIM_TELEMETRY_CONTROLLER, SIM_TELEMETRY_COUNT };

struct sim_telemetry {
	uint16_t last[3];      /* last block of areas 1, 2 and 3 */
	uint8_t generation;    /* grows with each capture, and around */
	bool there;	       /* something was captured */
	uint32_t every, times; /* captures anew after so many readings of data, so many times */
	uint32_t readings;
};

/* A command that the drive refuses (status), or answers with only `bytes` bytes of data. */
struct sim_rule {
	uint8_t opcode;
	int32_t page; /* LID, CNS, FID or security protocol; -1: any */
	uint16_t status;
	int32_t bytes; /* -1: all */
};

/* A bit that arrives wrong: what the drive holds stays as it is. */
struct sim_flip {
	enum sim_page page;
	uint16_t byte;
	uint8_t mask;
};

enum sim_value_kind { SIM_NUMBER, SIM_TEXT, SIM_CELSIUS };

/* A value that scenarios and control words know by name. */
struct sim_value {
	const char *name;
	enum sim_page page;
	uint16_t offset;
	uint8_t size;
	enum sim_value_kind kind;
};

/* A value that moves with time; see sim_rate_set(). */
struct sim_rate {
	const struct sim_value *value;
	int64_t amount; /* in per_us */
	uint64_t per_us;
	bool has_limit;
	em_u128 limit;
	__int128 rest; /* of the time that passed: less than one step, as amount * us */
};

struct sim_count {
	uint8_t opcode;
	int32_t page;
	uint64_t count;
};

struct sim_log_entry {
	uint64_t at_us;
	struct sim_passthru cmd;
	int32_t ret; /* -1 while unanswered */
};

struct sim_drive {
	char name[16];	    /* nvme0 */
	char next_name[16]; /* the name it returns as */
	char address[256], transport[32], slot[64], nqn[224], state[32];
	uint16_t device_id, subsystem_vendor, subsystem_device;
	unsigned minor, queue_count;
	int numa_node;
	char link_speed[32], link_speed_max[32]; /* "" = 16 GT/s */
	unsigned link_width, link_width_max;	 /* 0 = 4 */
	bool announces_nqn;
	bool recorded; /* supports what its pages say */
	/*
	 * A subsystem of several controllers: its number, and the controller that the shared pages
	 * belong to. -1 and NULL for a drive with one controller.
	 */
	int subsystem;
	struct sim_drive *first, *sibling; /* sibling: the next controller after first */

	uint8_t *page[SIM_PAGE_COUNT]; /* of first where the controllers share it */
	bool fixed[SIM_PAGE_COUNT];    /* given as a hex file: left byte for byte as it is */
	bool has_log[256], has_feature[256], has_opcode[256];
	struct sim_namespace_page *ns_pages; /* of the owner */
	unsigned ns_page_count;
	uint32_t feature[256], feature_default[256];
	struct sim_namespace ns[SIM_NAMESPACES_MAX];
	unsigned ns_count;
	struct sim_namespace spare[SIM_SPARES_MAX]; /* not attached: Linux does not see them */
	unsigned spare_count;

	/* Errors, newest last; the log page is laid out when it is read. */
	struct sim_error {
		uint64_t count, lba;
		uint16_t sqid, cmdid, status, param;
		uint32_t nsid;
	} errors[SIM_ERRORS_MAX];
	uint64_t error_count;
	uint16_t next_cmdid;

	/* Events of type SMART: one out at a time, the next after log 02h was read with RAE=0. */
	bool smart_event_out;
	uint8_t smart_events_held; /* bit n: event information n */
	void (*on_event)(struct sim_drive *drive, uint32_t dw0);

	struct sim_telemetry telemetry[SIM_TELEMETRY_COUNT]; /* of the owner */
	bool events_context; /* of the persistent event log; of the owner */

	struct sim_rule rules[SIM_RULES_MAX];
	unsigned rule_count;
	struct sim_flip flips[SIM_FLIPS_MAX];
	unsigned flip_count;
	struct sim_rate rates[SIM_RATES_MAX];
	unsigned rate_count;
	uint64_t rates_at_us; /* they have been applied up to here */
	uint32_t speed;	      /* simulated seconds in a real one */
	bool hung, gone;
	uint64_t delay_us;
	uint64_t selftest_seen_us; /* until when its time was counted, real time */
	uint64_t selftest_spent_us, selftest_length_us; /* simulated */
	uint8_t selftest_result, selftest_segment;	/* how the next one ends by itself */

	uint64_t commands;
	struct sim_count counts[SIM_COUNTS_MAX];
	unsigned count_count;
	struct sim_log_entry log[SIM_LOG_MAX];
	uint64_t log_count;
	void *host; /* the server's part */
};

/* One admin command. out has room for cmd->data_len bytes; out_len says how many were written. */
struct sim_exec {
	const struct sim_passthru *cmd;
	const uint8_t *in;
	uint8_t *out;
	uint32_t out_len;
	uint32_t dw0;
	uint16_t error_param; /* byte of the command that was wrong, for the error log */
};

struct sim_drive *sim_drive_new(unsigned index);
/* Pages that first owns stay; siblings must not be used any more then. */
struct sim_drive *sim_drive_free(struct sim_drive *drive);
/* Makes drive one more controller of first's subsystem, with everything else as first's. */
void sim_drive_join(struct sim_drive *drive, struct sim_drive *first);
/* For a drive that joined and is given up before it was used. */
void sim_drive_leave(struct sim_drive *drive);
bool sim_drive_shares(const struct sim_drive *drive, const struct sim_drive *other);
/* The controller that keeps what the subsystem has only once: itself for a drive that is alone. */
struct sim_drive *sim_drive_owner(struct sim_drive *drive);
size_t sim_page_size(enum sim_page page);

uint16_t sim_model_execute(struct sim_drive *drive, struct sim_exec *x);
/* What a controller start by Linux does: asynchronous events as the kernel sets them. */
void sim_model_start(struct sim_drive *drive);
/* Raises the events for bits that became set in critical_warning. */
void sim_model_warning_changed(struct sim_drive *drive, uint8_t before, uint8_t after);
/* The LID, CNS, FID or security protocol of a command; -1 when its opcode has none. */
int32_t sim_model_page_of(const struct sim_passthru *cmd);
void sim_model_count(struct sim_drive *drive, const struct sim_passthru *cmd);

uint16_t sim_model_identify(struct sim_drive *drive, struct sim_exec *x);
uint16_t sim_model_get_log(struct sim_drive *drive, struct sim_exec *x);
/* Of logs 07h and 08h, from offset on. */
uint16_t sim_model_event_log(struct sim_drive *drive, struct sim_exec *x, uint64_t offset,
			     uint64_t wanted);
uint16_t sim_model_telemetry(struct sim_drive *drive, struct sim_exec *x, uint64_t offset,
			     uint64_t wanted);
/* What a product begins with; and one more capture. */
/* Logs D1h and D2h. */
uint16_t sim_memblaze_log(struct sim_drive *drive, struct sim_exec *x, uint64_t offset,
			  uint64_t wanted);
void sim_telemetry_start(struct sim_drive *drive);
void sim_telemetry_capture(struct sim_telemetry *telemetry);
uint16_t sim_model_get_feature(struct sim_drive *drive, struct sim_exec *x);
uint16_t sim_model_set_feature(struct sim_drive *drive, struct sim_exec *x);
uint16_t sim_model_security_receive(struct sim_drive *drive, struct sim_exec *x);
uint16_t sim_model_self_test(struct sim_drive *drive, struct sim_exec *x);
/* Into the caller's buffer: part of a page, with the flips of that page. */
void sim_model_copy(const struct sim_drive *drive, struct sim_exec *x, enum sim_page page,
		    const void *bytes, uint64_t offset, uint64_t wanted);
/* The same of 4096 bytes that are no page of enum sim_page (lists). */
void sim_model_copy_list(struct sim_exec *x, const uint8_t bytes[4096]);
/* An error that no refused command made: one more entry of log 01h. -1: about no queue. */
void sim_model_add_error(struct sim_drive *drive, uint16_t status, int queue, uint32_t nsid,
			 uint64_t lba);

/* Sets the drive's identity, pages and abilities to a product's. -ENOENT: no such product. */
int sim_product_apply(struct sim_drive *drive, const char *name);
/* After all settings: the subsystem's name follows from what was set. */
void sim_product_settle(struct sim_drive *drive);

/* Log CAh in a layout (0, 2 or 3) into 512 bytes of zero. */
void sim_memblaze_lay_out(uint8_t *page, unsigned layout);
/* TCG level-0 discovery of an Opal 2 drive into 2048 bytes of zero; unlocked. */
void sim_security_lay_out(uint8_t *page, bool namespace_keys);
/* Locking enabled and locked, or neither. -ENOENT: the drive tells nothing of locking. */
int sim_security_lock(struct sim_drive *drive, bool locked);
/* Changes one value by name ("ver", "temperature_celsius"). -ENOENT, -EINVAL, -ERANGE. */
int sim_value_set(struct sim_drive *drive, const char *name, const char *text);
const struct sim_value *sim_value_find(const char *name); /* NULL */
int sim_value_parse(const struct sim_value *value, const char *text, em_u128 *ret);
em_u128 sim_value_get(const struct sim_drive *drive, const struct sim_value *value);
void sim_value_put(struct sim_drive *drive, const struct sim_value *value, em_u128 number);
/*
 * From now on NAME moves by "AMOUNT/TIME" ("1000/s", "-1/30min", "2/h"), up to limit where that is
 * not NULL; amount 0 ends it. -ENOENT, -EINVAL, -ERANGE, -ENOSPC.
 */
int sim_rate_set(struct sim_drive *drive, const char *name, const char *rate, const char *limit);
/* Moves the values to what they are now; a temperature or spare that crosses its threshold sets its
 * bit of critical_warning, and clears it on the way back. */
void sim_rate_apply(struct sim_drive *drive, uint64_t now_us);
int sim_page_by_name(const char *name); /* "smart" -> SIM_PAGE_SMART, or -ENOENT */
/* A line of a hex dump into a page. 0, -EINVAL: no such line, -ERANGE: beyond the page. */
int sim_page_read_line(const char *line, uint8_t *page, size_t size);
/* Replaces a page and has the drive support its log. */
void sim_page_give(struct sim_drive *drive, enum sim_page page, const uint8_t *bytes);
/* Identify Namespace of one namespace. -ENOENT: the drive has none of that NSID. */
int sim_namespace_page_give(struct sim_drive *drive, uint32_t nsid, const uint8_t bytes[4096]);
const struct sim_namespace_page *sim_namespace_page_find(struct sim_drive *drive, uint32_t nsid);
/* Reads a hex file as xxd -r does. Missing bytes are zero. */
int sim_page_load(struct sim_drive *drive, enum sim_page page, const char *path, char *error,
		  size_t error_size);
/* -ENOENT when no name matches; numbers (0x06) are taken too. */
int sim_opcode_by_name(const char *name);
const char *sim_opcode_name(uint8_t opcode);
/* blocks and shift as Linux shows them. nsid 0: the next free one. */
int sim_namespace_add(struct sim_drive *drive, uint32_t nsid, uint32_t node, uint64_t bytes,
		      uint8_t block_shift);
/* -ENOENT */
int sim_namespace_remove(struct sim_drive *drive, uint32_t nsid);
/* Those that exist and are not attached; both lists ascend. -EEXIST, -ENOSPC; -ENOENT */
int sim_spare_add(struct sim_drive *drive, const struct sim_namespace *ns);
int sim_spare_remove(struct sim_drive *drive, uint32_t nsid);
void sim_namespace_clear(struct sim_drive *drive);
