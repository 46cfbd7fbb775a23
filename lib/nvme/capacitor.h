/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * capacitor - one value out of all that a drive says of its power-loss protection.
 *
 * What counts, in this order:
 *  1. SMART critical warning bit 4 (volatile memory backup failed): failed, whatever else is said.
 *  2. Memblaze layout 2: capacitance now against the one that is needed, and the nominal one.
 *  3. Memblaze layouts 0 and 3: a normalised percentage. That it is a percentage of health is
 *     derived from the vendor's tables, and the vendor names no limit for it.
 *  4. Else nothing is known. A clear bit 4 alone is no proof of health: unknown, never ok.
 *
 * Threads:  pure functions. Blocking: never.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/nvme/field.h"

/* At or below it a capacitor of which only a percentage is known is low. Ember's own choice. */
#define EM_CAPACITOR_LOW_PERCENT 10

enum em_capacitor_state {
	EM_CAPACITOR_UNKNOWN,
	EM_CAPACITOR_OK,
	EM_CAPACITOR_LOW,    /* works, and will not for long */
	EM_CAPACITOR_FAILED, /* data that was not flushed may be lost with the power */
	EM_CAPACITOR_STATE_COUNT,
};

enum em_capacitor_source {
	EM_CAPACITOR_BY_NOTHING,
	EM_CAPACITOR_BY_WARNING,     /* 1 */
	EM_CAPACITOR_BY_CAPACITANCE, /* 2 */
	EM_CAPACITOR_BY_PERCENTAGE,  /* 3 */
	EM_CAPACITOR_SOURCE_COUNT,
};

struct em_capacitor {
	enum em_capacitor_state state;
	enum em_capacitor_source source;
	enum em_trust trust;
	bool has_percent; /* also beside a warning, when the drive gives one */
	uint8_t health_percent;
	bool has_capacitance; /* in the drive's own unit */
	uint16_t capacitance, nominal_capacitance, threshold_capacitance;
};

/* Page bytes; NULL = that page has no reading. */
struct em_capacitor em_capacitor_judge(const uint8_t *smart, size_t smart_len,
				       const uint8_t *memblaze, size_t memblaze_len,
				       const struct em_nvme_ctx *ctx);

const char *em_capacitor_state_name(enum em_capacitor_state state);    /* "ok" */
const char *em_capacitor_source_name(enum em_capacitor_source source); /* "critical_warning" */
