/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * tcg - the answer of a drive to TCG level-0 discovery (Security Receive, protocol 1, ComID 1):
 * what it can lock, and what is locked now.
 *
 * A header of 48 bytes and then a list of descriptors, each with a code, a length and a payload;
 * numbers are big-endian. Descriptors are found by their code. What the list does not have, or a
 * payload is too short for, is absent; a descriptor that does not fit into what came ends the list.
 *
 * Owns:     nothing; the result holds copies, and offsets into the bytes decoded.
 * Threads:  pure functions. Blocking: never.
 * Errors:   none; .complete tells whether the list could be walked to its end.
 * Limits:   EM_TCG_FEATURES_MAX descriptors. Of two with one code the first counts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EM_TCG_HEADER_BYTES 48u
#define EM_TCG_ASK_BYTES    2048u /* as Linux and other tools ask; an answer is far shorter */
#define EM_TCG_FEATURES_MAX 64u

/* Security subsystem classes, from none to the one that is told first. */
#define EM_SSCS(X)                                                                                 \
	X(NONE, "none")                                                                            \
	X(OPALITE, "opalite")                                                                      \
	X(PYRITE1, "pyrite1")                                                                      \
	X(PYRITE2, "pyrite2")                                                                      \
	X(ENTERPRISE, "enterprise")                                                                \
	X(OPAL1, "opal1")                                                                          \
	X(OPAL2, "opal2")                                                                          \
	X(RUBY, "ruby")

#define EM_X(id, name) EM_SSC_##id,
enum em_ssc { EM_SSCS(EM_X) EM_SSC_COUNT };
#undef EM_X
const char *em_ssc_name(enum em_ssc ssc); /* "opal2" */

/* Ways of removing data, by bit. */
#define EM_REMOVALS(X)                                                                             \
	X(OVERWRITE, 0, "overwrite")                                                               \
	X(BLOCK_ERASE, 1, "block_erase")                                                           \
	X(CRYPTO_ERASE, 2, "crypto_erase")                                                         \
	X(VENDOR_ERASE, 4, "vendor_erase")

/* A value that may be absent. Truths are 0 and 1. */
struct em_tcg_value {
	bool known;
	uint32_t value;
};

struct em_tcg_feature {
	uint16_t code;
	uint8_t version, len;
	uint16_t at; /* of its payload */
};

struct em_tcg {
	bool complete;
	bool has_ssc; /* false: the list ended early and told none so far */
	enum em_ssc ssc;
	struct em_tcg_value locking_supported, locking_enabled, locked, media_encryption;
	/* mbr_shadowed: the drive shows its small pre-boot image in place of the data. */
	struct em_tcg_value mbr_enabled, mbr_done, mbr_shadowed;
	/* sid_value_state: bit 0 as it is; which state of the owner's PIN it means is not stated.
	 */
	struct em_tcg_value sid_value_state, sid_blocked;
	struct em_tcg_value keys_max, keys_unused, ranges_per_namespace_max; /* feature 0403h */
	struct em_tcg_value single_user_objects;			     /* feature 0201h */
	struct em_tcg_value base_comid, comid_count;			     /* of ssc */
	struct em_tcg_value data_removal;		    /* bits of EM_REMOVALS */
	struct em_tcg_feature unknown[EM_TCG_FEATURES_MAX]; /* codes that mean nothing to us */
	unsigned unknown_count;
};

/* Bytes beyond what the header's length names do not count. */
void em_tcg_decode(const uint8_t *data, size_t len, struct em_tcg *ret);
