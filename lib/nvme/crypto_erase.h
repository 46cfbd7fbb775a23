/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * crypto_erase - whether a drive can erase by changing keys, and one namespace by itself.
 *
 * Format NVM with a crypto erase changes the keys of one namespace unless Identify says that it
 * touches all (FNA). Feature 0403h of TCG level-0 discovery, which counts keys, is the proof; it
 * never overrules FNA.
 *
 * Threads:  pure functions. Blocking: never.
 */
#include "lib/nvme/field.h"
#include "lib/nvme/tcg.h"

#define EM_ERASE_REASONS(X)                                                                        \
	X(UNKNOWN, "unknown")		      /* no reading of Identify Controller */              \
	X(NO_FORMAT, "no_format")	      /* the drive has no Format NVM */                    \
	X(NO_CRYPTO_ERASE, "no_crypto_erase") /* or it cannot change keys by it */                 \
	X(ERASE_ALL, "erase_affects_all")     /* it changes those of all namespaces */             \
	X(FORMAT_ALL, "format_affects_all")   /* it formats all namespaces */                      \
	X(ANNOUNCED, "announced")	      /* it can: Identify says so */                       \
	X(KEYS, "namespace_keys")	      /* likewise, and it counts keys of namespaces */

#define EM_X(id, name) EM_ERASE_##id,
enum em_erase_reason { EM_ERASE_REASONS(EM_X) EM_ERASE_REASON_COUNT };
#undef EM_X
const char *em_erase_reason_name(enum em_erase_reason reason); /* "no_format" */

struct em_crypto_erase {
	struct em_tcg_value by_format, by_sanitize; /* the drive has it at all */
	struct em_tcg_value format_affects_all, erase_affects_all;
	struct em_tcg_value alone; /* one namespace by itself */
	enum em_erase_reason reason;
};

/* identify: of the controller, NULL = no reading. tcg: NULL = none. */
struct em_crypto_erase em_crypto_erase_judge(const uint8_t *identify, size_t len,
					     const struct em_nvme_ctx *ctx,
					     const struct em_tcg *tcg);
