/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every page table on arbitrary bytes, as the row says and as each surface shows it: numbers are
 * those that stand in the bytes, and a page of which less came says less, never something else.
 * Input: page and where to cut it short (1 byte), context (fuzz_ctx), the page's bytes.
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

#define METRICS_MAX	((size_t)16 << 20)
#define PAGES		(EM_PAGE_COUNT + EM_REQUEST_PAGE_COUNT)
#define CUTS		(256 / PAGES)
#define LARGE		16384 /* a page of which an input can be no whole one */
#define ENTRIES_CHECKED 8     /* one after the other; then every so many */

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

/* Bit by bit, unlike the decoder, out of the field's own bytes and no others. */
static em_u128 bits_of(const struct em_field *field, const uint8_t *page)
{
	unsigned count = field->bits ? field->bits : field->len * 8u - field->shift;
	em_u128 number = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = field->shift + i;

		number |= (em_u128)(page[field->offset + at / 8] >> at % 8 & 1) << i;
	}
	return number;
}

/* All digits count, which a double or 64 bits could not tell. */
static uint32_t decimal_modulo(const char *digits, uint32_t prime)
{
	uint64_t rest = 0;

	for (; *digits; digits++)
		rest = (rest * 10 + (uint64_t)(*digits - '0')) % prime;
	return (uint32_t)rest;
}

/* A number is shown as it stands in the page, whatever its width. */
static void check_exact(const struct em_field *field, const struct em_value *value,
			const char *text, const uint8_t *page)
{
	static const uint32_t primes[] = { 4294967291, 4294967279 };
	uint64_t scale = field->scale ? field->scale : 1;

	if (value->kind != EM_V_UINT)
		return;
	if (!field->derive && !field->places)
		fuzz_check(value->number ==
			   bits_of(field, page) + (field->flags & EM_RAISE_ONE ? 1 : 0));
	for (unsigned i = 0; i < EM_COUNT(primes); i++) {
		uint64_t rest = (uint64_t)(value->number % primes[i]);

		fuzz_check(decimal_modulo(text, primes[i]) ==
			   (em_u128)rest * (scale % primes[i]) % primes[i]);
	}
}

/* Of fewer bytes the same value comes, or none; none at all when the field's last byte is missing.
 */
static void check_short(const struct em_field *field, const struct em_value *whole,
			const uint8_t *cut, size_t len, const struct em_nvme_ctx *ctx)
{
	size_t end = (size_t)field->offset + field->len;
	struct em_value value;

	em_field_get(field, cut, len, ctx, &value);
	if (end > len)
		fuzz_check(value.kind == EM_V_ABSENT);
	if (value.kind == EM_V_ABSENT)
		return;
	fuzz_check(value.kind == whole->kind && value.number == whole->number);
	fuzz_check(value.integer == whole->integer && strcmp(value.text, whole->text) == 0);
}

/* A whole page, and the first bytes of it in memory of their own. */
struct bytes {
	const uint8_t *page, *cut;
	size_t len, cut_len;
};

static struct bytes bytes_from(const struct bytes *bytes, size_t at)
{
	struct bytes rest = { .page = bytes->page + at, .len = bytes->len - at };

	if (at < bytes->cut_len) {
		rest.cut = bytes->cut + at;
		rest.cut_len = bytes->cut_len - at;
	}
	return rest;
}

static void check_field(const struct em_field *field, const struct bytes *bytes,
			const struct em_nvme_ctx *ctx)
{
	char buf[EM_VALUE_TEXT_SIZE], bit[EM_BIT_NAME_SIZE];
	struct em_value value;
	const char *text;

	em_field_get(field, bytes->page, bytes->len, ctx, &value);
	check_short(field, &value, bytes->cut, bytes->cut_len, ctx);
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
	if (value.kind != EM_V_ABSENT)
		check_exact(field, &value, text, bytes->page);
}

/* Of an entry that is made, not found, there is no shorter form. */
static bool find_entry(const struct em_group *group, const struct bytes *bytes, unsigned i,
		       struct bytes *ret)
{
	static uint8_t scratch[EM_ENTRY_SCRATCH];
	size_t at = group->offset + (size_t)i * group->stride;

	if (!group->entry) {
		if (at >= bytes->len)
			return false;
		*ret = bytes_from(bytes, at);
		return true;
	}
	*ret = (struct bytes){ .page = scratch, .len = group->stride };
	return em_group_entry(group, bytes->page, bytes->len, i, scratch);
}

static void check_group(const struct em_group *group, const struct bytes *bytes,
			const struct em_nvme_ctx *ctx)
{
	unsigned count = em_group_present(group, ctx);
	struct em_value extra;

	fuzz_check(count <= group->count);
	/* All have the same rows, so few of them tell as much as all. */
	for (unsigned i = 0; i < count; i += i < ENTRIES_CHECKED ? 1 : ENTRIES_CHECKED) {
		struct bytes entry;

		if (group->extra)
			group->extra_get(ctx, i, &extra);
		if (!find_entry(group, bytes, i, &entry))
			continue;
		for (unsigned f = 0; f < group->field_count; f++)
			check_field(&group->fields[f], &entry, ctx);
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

/* A comment, or a name, perhaps labels, and a number. */
static void check_line(const char *line)
{
	const char *number = strrchr(line, ' ');
	char *end;

	if (strncmp(line, "# HELP ember_", 13) == 0 || strncmp(line, "# TYPE ember_", 13) == 0)
		return;
	fuzz_check(strncmp(line, "ember_", 6) == 0 && number && number[1]);
	strtod(number + 1, &end);
	fuzz_check(*end == '\0');
}

static void check_metrics(const struct em_snapshot *snap)
{
	static struct em_metrics *metrics;
	struct em_store_status store = { .ok = true };
	struct em_buf buf;

	if (!metrics)
		metrics = em_metrics_new();
	em_buf_init(&buf, METRICS_MAX);
	em_metrics_write(metrics, snap, &store, "1.2.3", snap->taken_mono_us, snap->taken_us, &buf);
	fuzz_check(buf.data && buf.len && buf.data[buf.len - 1] == '\n');
	fuzz_check(!memchr(buf.data, '\0', buf.len));
	for (char *line = strtok(buf.data, "\n"); line; line = strtok(NULL, "\n"))
		check_line(line);
	em_buf_done(&buf);
}

/* Whatever the bytes are: what was found lies in them, and their end is known or it is said. */
static void check_discovery(const uint8_t *data, size_t len)
{
	struct em_tcg tcg;

	em_tcg_decode(data, len, &tcg);
	fuzz_check((unsigned)tcg.ssc < EM_SSC_COUNT);
	fuzz_check(tcg.has_ssc || (!tcg.complete && tcg.ssc == EM_SSC_NONE));
	fuzz_check(tcg.unknown_count <= EM_TCG_FEATURES_MAX);
	fuzz_check(!tcg.locked.known || tcg.locked.value <= 1);
	for (unsigned i = 0; i < tcg.unknown_count; i++)
		fuzz_check(tcg.unknown[i].at + (size_t)tcg.unknown[i].len <= len);
}

static void check_page(const struct em_page *page, const struct bytes *bytes,
		       const struct em_nvme_ctx *ctx)
{
	if (bytes->len < page->size)
		fuzz_check(em_page_check(page, bytes->page, bytes->len) == EM_PAGE_SHORT);
	em_page_check(page, bytes->page, bytes->len);
	em_identify_identity_valid(bytes->page, bytes->len);
	for (unsigned i = 0; i < page->field_count; i++)
		check_field(&page->fields[i], bytes, ctx);
	for (unsigned i = 0; i < page->group_count; i++)
		check_group(&page->groups[i], bytes, ctx);
}

static void check_surfaces(enum em_page_id id, const uint8_t *bytes, size_t len,
			   const struct em_nvme_ctx *ctx)
{
	struct em_snapshot *snap = fuzz_snapshot(id, ctx, bytes, len);
	struct em_blob *blob = em_blob_new(bytes, len);

	check_json(em_pages[id], blob, ctx);
	em_blob_unref(blob);
	check_metrics(snap);
	em_snapshot_unref(snap);
}

/* Of a page that is longer than inputs are: the bytes again and again. */
static const uint8_t *repeat(const uint8_t *bytes, size_t *len, size_t wanted)
{
	uint8_t *whole;

	if (*len == 0)
		return bytes;
	whole = malloc(wanted);
	fuzz_check(whole != NULL);
	for (size_t i = 0; i < wanted; i++)
		whole[i] = bytes[i % *len];
	free((void *)bytes);
	*len = wanted;
	return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint8_t what = fuzz_u8(&in);
	unsigned id = what % PAGES;
	const struct em_page *page =
		id < EM_PAGE_COUNT ? em_pages[id] : em_request_pages[id - EM_PAGE_COUNT];
	struct fuzz_input again;
	struct em_nvme_ctx ctx;
	struct bytes bytes;

	fuzz_ctx(&in, &ctx);
	again = in;
	bytes.page = fuzz_copy(&in, in.left, &bytes.len);
	if (page->size > LARGE)
		bytes.page = repeat(bytes.page, &bytes.len, page->size + what % LARGE);
	bytes.cut = fuzz_copy(&again, bytes.len * (what / PAGES) / CUTS, &bytes.cut_len);
	check_page(page, &bytes, &ctx);
	if (id == EM_PAGE_SECURITY) {
		check_discovery(bytes.page, bytes.len);
		check_discovery(bytes.cut, bytes.cut_len);
	}
	/* It takes most of the time: not for each cut of the same page. */
	if (bytes.cut_len == 0 && id < EM_PAGE_COUNT)
		check_surfaces(id, bytes.page, bytes.len, &ctx);
	free((void *)bytes.page);
	free((void *)bytes.cut);
	return 0;
}
