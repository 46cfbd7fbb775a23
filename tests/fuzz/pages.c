/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every page table on arbitrary bytes, as the row says and as each surface shows it.
 * Input: page (1 byte), context (fuzz_ctx), the page's bytes.
 */
#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include "daemon/web/json.h"
#include "daemon/web/metrics.h"
#include "lib/base/cleanup.h"
#include "lib/nvme/status.h"
#include "tests/fuzz/drive.h"
#include "tests/fuzz/fuzz.h"

#define METRICS_MAX ((size_t)16 << 20)

static void check_number(const char *text)
{
	fuzz_check(*text == '-' || isdigit((unsigned char)*text));
	for (const char *c = text + 1; *c; c++)
		fuzz_check(isdigit((unsigned char)*c));
}

static void check_clean(const char *text)
{
	for (const char *c = text; *c; c++)
		fuzz_check(*c >= 0x20 && *c <= 0x7e);
}

static void check_metric(const struct em_field *field, const struct em_value *value)
{
	char buf[EM_U128_DEC_SIZE];
	double number;

	if (em_value_metric(field, value, &number))
		fuzz_check(number == number);
	if (em_value_metric_text(field, value, buf))
		check_number(buf);
}

static void check_field(const struct em_field *field, const uint8_t *page, size_t len,
			const struct em_nvme_ctx *ctx)
{
	char buf[EM_VALUE_TEXT_SIZE], bit[EM_BIT_NAME_SIZE];
	struct em_value value;
	const char *text;

	em_field_get(field, page, len, ctx, &value);
	text = em_value_text(field, &value, buf);
	check_clean(text);
	check_metric(field, &value);
	for (unsigned i = 0; field->type == EM_BITS && i < 64; i++)
		if (value.number >> i & 1)
			check_clean(em_field_bit_name(field, i, bit));
	if (value.kind == EM_V_ABSENT)
		fuzz_check(*text == '\0');
	else if (em_field_json_type(field) == EM_JSON_INTEGER ||
		 em_field_json_type(field) == EM_JSON_DECIMAL_STRING)
		check_number(text);
}

static void check_group(const struct em_group *group, const uint8_t *page, size_t len,
			const struct em_nvme_ctx *ctx)
{
	unsigned count = em_group_present(group, ctx);
	struct em_value extra;

	fuzz_check(count <= group->count);
	for (unsigned i = 0; i < count; i++) {
		uint8_t scratch[EM_ENTRY_SCRATCH];
		const uint8_t *entry = em_group_entry(group, page, len, i, scratch);

		if (group->extra)
			group->extra_get(ctx, i, &extra);
		for (unsigned f = 0; f < group->field_count && entry; f++)
			check_field(&group->fields[f], entry, group->stride, ctx);
	}
}

/* What is written can be read again, and is the same then. */
static void check_json(const struct em_page *page, const struct em_blob *blob,
		       const struct em_nvme_ctx *ctx)
{
	json_t *values = em_json_values(page, blob, ctx), *again;
	em_cleanup(em_freep) char *text = json_dumps(values, JSON_COMPACT);

	fuzz_check(values && text);
	again = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	fuzz_check(again && json_equal(values, again));
	json_decref(again);
	json_decref(values);
}

static void check_metrics(const struct em_snapshot *snap)
{
	static struct em_metrics *metrics;
	struct em_store_status store = { .ok = true };
	struct em_buf buf;

	if (!metrics)
		metrics = em_metrics_new();
	em_buf_init(&buf, METRICS_MAX);
	em_metrics_write(metrics, snap, &store, "1.2.3", &buf);
	fuzz_check(buf.data && buf.len && buf.data[buf.len - 1] == '\n');
	fuzz_check(!memchr(buf.data, '\0', buf.len));
	em_buf_done(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	enum em_page_id id = fuzz_u8(&in) % EM_PAGE_COUNT;
	const struct em_page *page = em_pages[id];
	em_cleanup(em_freep) uint8_t *bytes = NULL;
	struct em_nvme_ctx ctx;
	struct em_snapshot *snap;
	struct em_blob *blob;
	size_t len;

	fuzz_ctx(&in, &ctx);
	bytes = fuzz_copy(&in, in.left, &len);
	em_page_check(page, bytes, len);
	em_identify_identity_valid(bytes, len);
	for (unsigned i = 0; i < page->field_count; i++)
		check_field(&page->fields[i], bytes, len, &ctx);
	for (unsigned i = 0; i < page->group_count; i++)
		check_group(&page->groups[i], bytes, len, &ctx);
	snap = fuzz_snapshot(id, &ctx, bytes, len);
	blob = em_blob_new(bytes, len);
	check_json(page, blob, &ctx);
	em_blob_unref(blob);
	check_metrics(snap);
	em_snapshot_unref(snap);
	return 0;
}
