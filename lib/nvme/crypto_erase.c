/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nvme/crypto_erase.h"

#include "lib/nvme/page.h"

#define ABSENT UINT64_MAX

const char *em_erase_reason_name(enum em_erase_reason reason)
{
#define EM_X(id, name) [EM_ERASE_##id] = name,
	static const char *const names[] = { EM_ERASE_REASONS(EM_X) };
#undef EM_X

	return names[reason];
}

static struct em_tcg_value truth(uint64_t bits, unsigned bit)
{
	return (struct em_tcg_value){ bits != ABSENT, bits != ABSENT && bits >> bit & 1 };
}

static enum em_erase_reason reason_of(const struct em_crypto_erase *erase, bool has_format,
				      const struct em_tcg *tcg)
{
	if (!has_format)
		return EM_ERASE_NO_FORMAT;
	if (!erase->by_format.value)
		return EM_ERASE_NO_CRYPTO_ERASE;
	if (erase->erase_affects_all.value)
		return EM_ERASE_ERASE_ALL;
	if (erase->format_affects_all.value)
		return EM_ERASE_FORMAT_ALL;
	return tcg && tcg->keys_max.known && tcg->keys_max.value > 0 ? EM_ERASE_KEYS
								     : EM_ERASE_ANNOUNCED;
}

struct em_crypto_erase em_crypto_erase_judge(const uint8_t *identify, size_t len,
					     const struct em_nvme_ctx *ctx,
					     const struct em_tcg *tcg)
{
	enum { FNA_FORMAT_ALL, FNA_ERASE_ALL, FNA_CRYPTO, OACS_FORMAT = 1, SANICAP_CRYPTO = 0 };
	struct em_crypto_erase ret = { .reason = EM_ERASE_UNKNOWN };
	uint64_t oacs, fna, sanicap;

	if (!identify)
		return ret;
	oacs = em_page_u64(EM_PAGE_IDENTIFY_CTRL, "optional_admin_commands", identify, len, ctx,
			   ABSENT);
	fna = em_page_u64(EM_PAGE_IDENTIFY_CTRL, "format_attributes", identify, len, ctx, ABSENT);
	sanicap = em_page_u64(EM_PAGE_IDENTIFY_CTRL, "sanitize_capabilities", identify, len, ctx,
			      ABSENT);
	ret.by_sanitize = truth(sanicap, SANICAP_CRYPTO);
	if (oacs == ABSENT || fna == ABSENT)
		return ret;
	ret.by_format = truth(oacs >> OACS_FORMAT & fna >> FNA_CRYPTO, 0);
	ret.format_affects_all = truth(fna, FNA_FORMAT_ALL);
	ret.erase_affects_all = truth(fna, FNA_ERASE_ALL);
	ret.reason = reason_of(&ret, oacs >> OACS_FORMAT & 1, tcg);
	ret.alone = truth(ret.reason >= EM_ERASE_ANNOUNCED, 0);
	return ret;
}
