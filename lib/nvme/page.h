/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * page - one log page or Identify structure: its size, when it is no reading, its fields, and its
 * repeated parts (slots, results).
 *
 * Owns:     nothing; tables are static.
 * Threads:  pure functions. Blocking: never.
 * Source:   NVMe Base specification 1.4 and 2.0; offsets checked against libnvme 1.3 by a test.
 */
#include "lib/nvme/field.h"

enum em_page_id {
	EM_PAGE_IDENTIFY_CTRL,			  /* Identify CNS 01h */
	EM_PAGE_SMART,				  /* log 02h */
	EM_PAGE_FIRMWARE,			  /* log 03h */
	EM_PAGE_SELFTEST,			  /* log 06h */
	EM_PAGE_ERRORS,				  /* log 01h */
	EM_PAGE_EFFECTS,			  /* log 05h */
	EM_PAGE_SANITIZE,			  /* log 81h */
	EM_PAGE_MEMBLAZE,			  /* log CAh of Memblaze drives */
	EM_PAGE_SECURITY,			  /* TCG level-0 discovery; see tcg.h */
	EM_PAGE_CTRL_COUNT,			  /* pages above are one per controller */
	EM_PAGE_IDENTIFY_NS = EM_PAGE_CTRL_COUNT, /* Identify CNS 00h, one per namespace */
	EM_PAGE_COUNT,
};

enum em_page_flags {
	EM_ONES_NO_READING = 1 << 0, /* every byte FFh: the drive answered nothing */
	EM_ZERO_NO_READING = 1 << 1, /* every byte 00h likewise; else it is a valid "none" */
};

enum em_page_state { EM_PAGE_VALID, EM_PAGE_SHORT, EM_PAGE_ALL_ONES, EM_PAGE_ALL_ZERO };

/* A part that repeats: firmware slots, self-test results, errors, commands. */
struct em_group {
	const char *key;       /* JSON key of the list */
	const char *index_key; /* key of the number of an entry; NULL = none */
	bool index_from_zero;  /* else the first entry is number 1 */
	uint16_t offset, stride, count;
	/* How many of count exist on this controller; NULL = all. */
	unsigned (*present)(const struct em_nvme_ctx *ctx);
	/*
	 * Writes entry number index (from 0) in a form of stride bytes; false: the page has no such
	 * one. For pages whose entries have no one place or form. NULL = offset and stride tell.
	 */
	bool (*entry)(const uint8_t *page, size_t len, unsigned index, uint8_t *entry);
	/* True for an entry that is not in use (left out of the list, counted under unused_key). */
	bool (*unused)(const uint8_t *entry);
	const char *unused_key;	       /* NULL = not counted */
	const struct em_field *fields; /* offsets relative to the entry; index_key not among them */
	unsigned field_count;
	/*
	 * One more value of an entry that no offset holds (read-only slot, name of the command);
	 * NULL = none. index is the place in the page, from 0.
	 */
	const struct em_field *extra;
	void (*extra_get)(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret);
};

/* The command that a page is asked with. */
enum em_page_how {
	EM_BY_IDENTIFY,
	EM_BY_LOG,
	EM_BY_SECURITY_RECEIVE,
	EM_BY_FEATURE, /* the page is dword 0 of the completion, lowest byte first */
};

struct em_page {
	const char *key;   /* "smart": the route's last part, the JSON "page" */
	const char *title; /* for people */
	const char *table; /* SQL table of its history; NULL = none */
	uint8_t code;	   /* log page or feature identifier, CNS, or security protocol */
	uint16_t beside;   /* EM_BY_FEATURE: bytes that come beside the page */
	uint16_t specific; /* what the security protocol is asked for */
	enum em_page_how how;
	uint16_t flags;
	uint32_t size;	   /* the fewest bytes that make a reading */
	uint32_t max_size; /* the most that a controller can have; 0 = size */
	/* How many this controller has, size..max_size; NULL = size. */
	uint32_t (*size_of)(const struct em_nvme_ctx *ctx);
	const struct em_field *fields;
	unsigned field_count;
	const struct em_group *groups;
	unsigned group_count;
	const char *ref;
};

/* Indexed by enum em_page_id. */
extern const struct em_page *const em_pages[EM_PAGE_COUNT];

/* Pages that are not in the plan: read when somebody asks, and neither kept nor measured. */
#define EM_REQUEST_PAGE_COUNT 23u
extern const struct em_page *const em_request_pages[EM_REQUEST_PAGE_COUNT];

/* NULL when there is none. */
const struct em_page *em_page_find(const char *key);
/* Among those that one command reads; the first of a code. */
const struct em_page *em_page_find_code(enum em_page_how how, uint8_t code);
const struct em_field *em_page_field(const struct em_page *page, const char *key);

/* Bytes to ask this controller for: a multiple of 4, at least page->size. */
uint32_t em_page_size(const struct em_page *page, const struct em_nvme_ctx *ctx);

/* len: as many bytes as came; those beyond the page's greatest size do not count. */
enum em_page_state em_page_check(const struct em_page *page, const uint8_t *data, size_t len);
const char *em_page_state_text(enum em_page_state state); /* "all bytes are FFh" */

/* From Identify Controller bytes; known = false when they are no reading. */
void em_nvme_ctx_from_identify(const uint8_t *identify, size_t len, struct em_nvme_ctx *ret);

/*
 * True when serial and model of Identify Controller can tell a drive from others: the page is a
 * reading and neither is blank. Without it no new drive may be made.
 */
bool em_identify_identity_valid(const uint8_t *identify, size_t len);

/* How many entries of the group exist on this controller: present(), never more than count. */
unsigned em_group_present(const struct em_group *group, const struct em_nvme_ctx *ctx);

/*
 * Entry number index (from 0) of the group: stride bytes, in data or in scratch. NULL: data does
 * not have it.
 */
#define EM_ENTRY_SCRATCH 96
const uint8_t *em_group_entry(const struct em_group *group, const uint8_t *data, size_t len,
			      unsigned index, uint8_t scratch[EM_ENTRY_SCRATCH]);

/* The number of an entry as index_key shows it; index is its place in the page, from 0. */
unsigned em_group_number(const struct em_group *group, unsigned index);

/* What the effects log says of an admin command; false when it is not in the bytes. */
bool em_effects_has_admin(const uint8_t *data, size_t len, uint8_t opcode);

/*
 * Single facts that code (not people) decides by; each reads the row of the same key, so that the
 * offset stays in the table. absent_value is returned when the field is absent.
 */
uint64_t em_page_u64(enum em_page_id id, const char *key, const uint8_t *data, size_t len,
		     const struct em_nvme_ctx *ctx, uint64_t absent_value);
