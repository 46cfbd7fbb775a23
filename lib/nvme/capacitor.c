/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nvme/capacitor.h"

#include "lib/nvme/page.h"

#define ABSENT	      UINT64_MAX
#define BACKUP_FAILED 0x10 /* critical_warning: volatile memory backup failed */

static uint64_t get(enum em_page_id id, const char *key, const uint8_t *data, size_t len,
		    const struct em_nvme_ctx *ctx)
{
	return data ? em_page_u64(id, key, data, len, ctx, ABSENT) : ABSENT;
}

static void put_percent(struct em_capacitor *ret, uint64_t percent)
{
	ret->has_percent = true;
	ret->health_percent = (uint8_t)(percent < 100 ? percent : 100);
}

static bool judge_capacitance(const uint8_t *data, size_t len, const struct em_nvme_ctx *ctx,
			      struct em_capacitor *ret)
{
	uint64_t now = get(EM_PAGE_MEMBLAZE, "capacitor_capacitance", data, len, ctx);
	uint64_t nominal = get(EM_PAGE_MEMBLAZE, "capacitor_nominal_capacitance", data, len, ctx);
	uint64_t needed = get(EM_PAGE_MEMBLAZE, "capacitor_threshold_capacitance", data, len, ctx);

	/* Without a nominal value or a limit the drive has not filled the item. */
	if (now == ABSENT || nominal == 0 || needed == 0)
		return false;
	ret->has_capacitance = true;
	ret->capacitance = (uint16_t)now;
	ret->nominal_capacitance = (uint16_t)nominal;
	ret->threshold_capacitance = (uint16_t)needed;
	put_percent(ret, now * 100 / nominal);
	ret->source = EM_CAPACITOR_BY_CAPACITANCE;
	ret->trust = EM_TRUST_STATED;
	ret->state = now <= needed ? EM_CAPACITOR_FAILED : EM_CAPACITOR_OK;
	return true;
}

static void judge_percentage(const uint8_t *data, size_t len, const struct em_nvme_ctx *ctx,
			     struct em_capacitor *ret)
{
	uint64_t percent = get(EM_PAGE_MEMBLAZE, "capacitor_health_percent", data, len, ctx);

	if (percent > 100) /* absent, or no percentage */
		return;
	put_percent(ret, percent);
	ret->source = EM_CAPACITOR_BY_PERCENTAGE;
	ret->trust = EM_TRUST_DERIVED;
	ret->state = percent == 0			   ? EM_CAPACITOR_FAILED
		     : percent <= EM_CAPACITOR_LOW_PERCENT ? EM_CAPACITOR_LOW
							   : EM_CAPACITOR_OK;
}

struct em_capacitor em_capacitor_judge(const uint8_t *smart, size_t smart_len,
				       const uint8_t *memblaze, size_t memblaze_len,
				       const struct em_nvme_ctx *ctx)
{
	uint64_t warnings = get(EM_PAGE_SMART, "critical_warning", smart, smart_len, ctx);
	struct em_capacitor ret = { .state = EM_CAPACITOR_UNKNOWN };

	if (!judge_capacitance(memblaze, memblaze_len, ctx, &ret))
		judge_percentage(memblaze, memblaze_len, ctx, &ret);
	if (warnings != ABSENT && warnings & BACKUP_FAILED) {
		ret.state = EM_CAPACITOR_FAILED;
		ret.source = EM_CAPACITOR_BY_WARNING;
		ret.trust = EM_TRUST_STATED;
	}
	return ret;
}

const char *em_capacitor_state_name(enum em_capacitor_state state)
{
	static const char *const names[EM_CAPACITOR_STATE_COUNT] = {
		[EM_CAPACITOR_UNKNOWN] = "unknown",
		[EM_CAPACITOR_OK] = "ok",
		[EM_CAPACITOR_LOW] = "low",
		[EM_CAPACITOR_FAILED] = "failed",
	};

	return names[state];
}

const char *em_capacitor_source_name(enum em_capacitor_source source)
{
	static const char *const names[EM_CAPACITOR_SOURCE_COUNT] = {
		[EM_CAPACITOR_BY_NOTHING] = "none",
		[EM_CAPACITOR_BY_WARNING] = "critical_warning",
		[EM_CAPACITOR_BY_CAPACITANCE] = "capacitance",
		[EM_CAPACITOR_BY_PERCENTAGE] = "percentage",
	};

	return names[source];
}
