/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict, row by row of its table, on pages laid out here by the specification's offsets; the
 * drives of reports from the field; and bytes that are no reading.
 */
#include <check.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/health/verdict.h"
#include "tests/unit/runner.h"

#define SECOND INT64_C(1000000)

static uint8_t smart[512], identify[4096], selftest[564], errors[64 * 64], memblaze[512];
static struct em_health_input input;
static struct em_health health;

static void give(enum em_page_id id, const uint8_t *data, size_t len)
{
	input.pages[id] = (struct em_health_page){ .data = data,
						   .len = len,
						   .expected = true,
						   .age_us = 10 * SECOND,
						   .interval_us = 60 * SECOND };
}

/* A drive that is well: 38 Celsius, spare 100 of 10, 3 % used. */
static void setup(void)
{
	memset(smart, 0, sizeof(smart));
	memset(identify, 0, sizeof(identify));
	memset(selftest, 0, sizeof(selftest));
	memset(errors, 0, sizeof(errors));
	memset(memblaze, 0, sizeof(memblaze));
	em_put_le16(smart + 1, 311);
	smart[3] = 100;
	smart[4] = 10;
	smart[5] = 3;
	memcpy(identify + 4, "SERIAL", 6);
	em_put_le32(identify + 80, EM_VER(1, 4));
	em_put_le16(identify + 266, 343); /* WCTEMP 70 */
	em_put_le16(identify + 268, 353); /* CCTEMP 80 */
	for (unsigned i = 0; i < 20; i++)
		selftest[4 + 28 * i] = 0x0f;
	memset(&input, 0, sizeof(input));
	input.ctx = (struct em_nvme_ctx){ .known = true, .ver = EM_VER(1, 4), .error_entries = 64 };
	give(EM_PAGE_SMART, smart, sizeof(smart));
	give(EM_PAGE_IDENTIFY_CTRL, identify, sizeof(identify));
	give(EM_PAGE_SELFTEST, selftest, sizeof(selftest));
	give(EM_PAGE_ERRORS, errors, sizeof(errors));
}

static void judge(void)
{
	input.capacitor = em_capacitor_judge(
		input.pages[EM_PAGE_SMART].data, input.pages[EM_PAGE_SMART].len,
		input.pages[EM_PAGE_MEMBLAZE].data, input.pages[EM_PAGE_MEMBLAZE].len, &input.ctx);
	memset(&health, 0xa5, sizeof(health));
	em_health_judge(&input, &health);
	ck_assert_uint_le(health.count, EM_REASONS_MAX);
	/* In two steps it is the same. */
	ck_assert_int_eq(em_health_verdict(&input, em_health_lasting(&health)), health.verdict);
}

static const struct em_finding *find(const char *rule)
{
	for (unsigned i = 0; i < health.count; i++)
		if (strcmp(health.reasons[i].rule, rule) == 0)
			return &health.reasons[i];
	return NULL;
}

static void expect(enum em_verdict verdict, const char *const *rules)
{
	unsigned count = 0;

	judge();
	for (; rules[count]; count++)
		ck_assert_msg(find(rules[count]), "no %s", rules[count]);
	ck_assert_msg(health.count == count, "%u reasons and not %u, the first is %s", health.count,
		      count, health.count ? health.reasons[0].rule : "none");
	ck_assert_msg(health.verdict == verdict, "%s and not %s", em_verdict_name(health.verdict),
		      em_verdict_name(verdict));
}

/* Exactly these reasons, and the verdict. */
#define EXPECT(verdict, ...)                                                                       \
	expect(EM_VERDICT_##verdict, (const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static void expect_numbers(const char *rule, int64_t value, int64_t limit)
{
	const struct em_finding *finding = find(rule);

	ck_assert_ptr_nonnull(finding);
	ck_assert(finding->has_value && finding->has_limit);
	ck_assert_int_eq(finding->value, value);
	ck_assert_int_eq(finding->limit, limit);
}

START_TEST(a_drive_that_is_well)
{
	EXPECT(OK);
	ck_assert_ptr_null(em_health_reason(&health));
}
END_TEST

START_TEST(each_bit_of_the_critical_warning)
{
	static const struct {
		const char *rule;
		enum em_verdict verdict;
	} bits[] = {
		{ "critical_warning.spare_below_threshold", EM_VERDICT_FAILING },
		{ "critical_warning.temperature_out_of_range", EM_VERDICT_DEGRADED },
		{ "critical_warning.reliability_degraded", EM_VERDICT_FAILING },
		{ "critical_warning.media_read_only", EM_VERDICT_FAILING },
		{ "critical_warning.volatile_backup_failed", EM_VERDICT_FAILING },
		{ "critical_warning.pmr_unreliable", EM_VERDICT_DEGRADED },
		{ "critical_warning.reserved", EM_VERDICT_DEGRADED },
		{ "critical_warning.reserved", EM_VERDICT_DEGRADED },
	};

	for (unsigned i = 0; i < EM_COUNT(bits); i++) {
		setup();
		smart[0] = (uint8_t)(1u << i);
		judge();
		ck_assert_int_eq(health.verdict, bits[i].verdict);
		ck_assert_str_eq(health.reasons[0].rule, bits[i].rule);
		ck_assert_int_eq(health.reasons[0].page, EM_PAGE_SMART);
		ck_assert_str_eq(health.reasons[0].field, "critical_warning");
		ck_assert_int_eq(health.reasons[0].value, 1 << i);
		ck_assert_int_gt(strlen(health.reasons[0].next_step), 0);
		ck_assert_ptr_eq(em_health_reason(&health), health.reasons[0].text);
		for (unsigned r = 1; r < health.count; r++)
			ck_assert_int_eq(health.reasons[r].severity, EM_SEVERITY_INFO);
	}
}
END_TEST

START_TEST(each_bit_of_the_endurance_groups)
{
	smart[6] = 0x01;
	EXPECT(FAILING, "endurance_group.spare_below_threshold");
	smart[6] = 0x04;
	EXPECT(FAILING, "endurance_group.reliability_degraded");
	smart[6] = 0x08;
	EXPECT(FAILING, "endurance_group.media_read_only");
}
END_TEST

START_TEST(spare_beside_its_threshold)
{
	smart[3] = 11;
	EXPECT(OK);
	smart[3] = 10;
	EXPECT(DEGRADED, "spare.at_threshold");
	smart[3] = 9;
	EXPECT(FAILING, "spare.below_threshold");
	expect_numbers("spare.below_threshold", 9, 10);
	smart[3] = smart[4] = 0; /* a threshold of 0 tells nothing */
	EXPECT(OK);
	smart[3] = 50;
	smart[4] = 200; /* no percentage */
	EXPECT(OK);
	smart[3] = 255;
	smart[4] = 100;
	EXPECT(OK);
}
END_TEST

START_TEST(endurance_is_no_failure)
{
	smart[5] = 99;
	EXPECT(OK);
	smart[5] = 100;
	EXPECT(DEGRADED, "endurance_consumed");
	expect_numbers("endurance_consumed", 100, 100);
	smart[5] = 143;
	EXPECT(DEGRADED, "endurance_consumed");
	smart[5] = 255;
	EXPECT(DEGRADED, "endurance_consumed");
	expect_numbers("endurance_consumed", 255, 100);
}
END_TEST

START_TEST(temperature_beside_the_limits_of_identify)
{
	em_put_le16(smart + 1, 342);
	EXPECT(OK);
	em_put_le16(smart + 1, 343);
	EXPECT(DEGRADED, "temperature.warning");
	expect_numbers("temperature.warning", 70, 70);
	em_put_le16(smart + 1, 353); /* one reason, the worse */
	EXPECT(FAILING, "temperature.critical");
	expect_numbers("temperature.critical", 80, 80);
	em_put_le16(identify + 266, 0);
	em_put_le16(identify + 268, 0); /* not reported: -273 is no limit */
	EXPECT(OK);
	em_put_le16(smart + 1, 0); /* no temperature */
	em_put_le16(identify + 266, 343);
	EXPECT(OK);
	em_put_le16(smart + 1, 400);
	give(EM_PAGE_IDENTIFY_CTRL, NULL, 0);
	EXPECT(OK);
}
END_TEST

/* Below its limit, and yet the drive warns: what it has stands beside, and decides nothing. */
START_TEST(values_beside_a_warning)
{
	smart[0] = 0x06;
	EXPECT(FAILING, "critical_warning.temperature_out_of_range", "temperature.beside_warning",
	       "critical_warning.reliability_degraded", "spare.beside_reliability");
	expect_numbers("spare.beside_reliability", 100, 10);
	expect_numbers("temperature.beside_warning", 38, 70);
	ck_assert_int_eq(find("spare.beside_reliability")->severity, EM_SEVERITY_INFO);
}
END_TEST

START_TEST(media_errors_alone_decide_nothing)
{
	em_put_le64(smart + 160, 731);
	EXPECT(OK, "media_errors");
	expect_numbers("media_errors", 731, 1);
	ck_assert_ptr_null(em_health_reason(&health));
	memset(smart + 160, 0xff, 16);
	EXPECT(OK, "media_errors");
	expect_numbers("media_errors", INT64_MAX, 1);
}
END_TEST

/* ---- the capacitor -------------------------------------------------------------------------- */

static void give_capacitance(uint16_t now, uint16_t needed)
{
	memset(memblaze, 0, sizeof(memblaze));
	memblaze[0] = 0xec;
	em_put_le16(memblaze + 5, now);
	em_put_le16(memblaze + 7, 1200);
	em_put_le16(memblaze + 9, needed);
	memblaze[511] = 2;
	give(EM_PAGE_MEMBLAZE, memblaze, sizeof(memblaze));
}

static void give_percent(uint8_t percent)
{
	memset(memblaze, 0, sizeof(memblaze));
	memblaze[0] = 0xec;
	memblaze[3] = percent;
	give(EM_PAGE_MEMBLAZE, memblaze, sizeof(memblaze));
}

START_TEST(capacitor_by_capacitance_and_percentage)
{
	give_capacitance(1180, 840);
	EXPECT(OK);
	give_capacitance(840, 840);
	EXPECT(FAILING, "capacitor.failed");
	expect_numbers("capacitor.failed", 840, 840);
	ck_assert_str_eq(find("capacitor.failed")->field, "capacitor_capacitance");
	ck_assert_int_eq(find("capacitor.failed")->trust, EM_TRUST_STATED);
	give_percent(98);
	EXPECT(OK);
	give_percent(10);
	EXPECT(DEGRADED, "capacitor.low");
	expect_numbers("capacitor.low", 10, 10);
	ck_assert_int_eq(find("capacitor.low")->trust, EM_TRUST_DERIVED);
	give_percent(0);
	EXPECT(FAILING, "capacitor.failed");
	ck_assert_str_eq(find("capacitor.failed")->field, "capacitor_health_percent");
	smart[0] = 0x10; /* told once, by the warning */
	EXPECT(FAILING, "critical_warning.volatile_backup_failed");
}
END_TEST

START_TEST(capacitor_that_is_not_known)
{
	give_percent(98);
	input.pages[EM_PAGE_MEMBLAZE].age_us = 181 * SECOND;
	EXPECT(UNKNOWN, "capacitor.old");
	expect_numbers("capacitor.old", 181, 180);
	give_percent(0); /* a failure does not pass by waiting */
	input.pages[EM_PAGE_MEMBLAZE].age_us = 181 * SECOND;
	EXPECT(FAILING, "capacitor.old", "capacitor.failed");
	give(EM_PAGE_MEMBLAZE, NULL, 0);
	EXPECT(UNKNOWN, "capacitor.old");
	memset(memblaze, 0xff, sizeof(memblaze));
	give(EM_PAGE_MEMBLAZE, memblaze, sizeof(memblaze));
	EXPECT(UNKNOWN, "capacitor.old");
	/* No such page, or one without the field: unknown, and no reason to doubt the rest. */
	input.pages[EM_PAGE_MEMBLAZE] = (struct em_health_page){ .age_us = -1 };
	EXPECT(OK);
	memset(memblaze, 0, sizeof(memblaze));
	memblaze[0] = 0xab;
	memblaze[511] = 2;
	give(EM_PAGE_MEMBLAZE, memblaze, sizeof(memblaze));
	EXPECT(OK);
	ck_assert_int_eq(input.capacitor.state, EM_CAPACITOR_UNKNOWN);
}
END_TEST

/* ---- self-tests ----------------------------------------------------------------------------- */

static void put_test(unsigned index, unsigned kind, unsigned result)
{
	selftest[4 + 28 * index] = (uint8_t)(kind << 4 | result);
}

START_TEST(the_newest_completed_test_of_each_kind_decides)
{
	put_test(0, 2, 7);
	EXPECT(FAILING, "selftest.failed");
	ck_assert_str_eq(find("selftest.failed")->detail, "extended");
	ck_assert_int_eq(find("selftest.failed")->value, 7);
	put_test(0, 2, 6);
	EXPECT(FAILING, "selftest.failed");
	put_test(0, 2, 5);
	EXPECT(DEGRADED, "selftest.fatal_error");
	put_test(0, 2, 0); /* passed since */
	put_test(1, 2, 7);
	EXPECT(OK);
	put_test(0, 1, 0); /* another kind says nothing of it */
	EXPECT(FAILING, "selftest.failed");
	for (unsigned result = 1; result <= 9; result++) { /* neither does one that was ended */
		if (result >= 5 && result <= 7)
			continue;
		put_test(0, 2, result);
		EXPECT(FAILING, "selftest.failed");
	}
	put_test(0, 1, 6);
	EXPECT(FAILING, "selftest.failed", "selftest.failed");
}
END_TEST

/* ---- the error log -------------------------------------------------------------------------- */

static void put_error(unsigned index, uint16_t status)
{
	em_put_le64(errors + 64 * index, 1000 - index);
	em_put_le16(errors + 64 * index + 12, (uint16_t)(status << 1 | 1));
}

START_TEST(entries_of_the_error_log)
{
	put_error(0, 0x002);
	put_error(1, 0x4109); /* with Do Not Retry */
	put_error(2, 0x001);
	EXPECT(OK);
	put_error(3, 0x4281);
	put_error(5, 0x281); /* 4 is not in use */
	EXPECT(DEGRADED, "errors.device");
	ck_assert_int_eq(find("errors.device")->value, 2);
	ck_assert_str_eq(find("errors.device")->detail, "unrecovered_read_error");
	put_error(3, 0x286);
	put_error(5, 0x286);
	EXPECT(OK, "errors.locked");
	ck_assert_int_eq(find("errors.locked")->value, 2);
	put_error(6, 0x7aa);
	EXPECT(OK, "errors.locked", "errors.unclear");
	ck_assert_int_eq(find("errors.unclear")->severity, EM_SEVERITY_INFO);
	put_error(7, 0x006);
	put_error(8, 0x282);
	EXPECT(DEGRADED, "errors.device", "errors.device", "errors.locked", "errors.unclear");
}
END_TEST

START_TEST(many_kinds_of_errors_are_bounded)
{
	int64_t sum = 0;

	for (unsigned i = 0; i < 64; i++)
		put_error(i, (uint16_t)(0x280 + i % 5)); /* 5 kinds */
	put_error(0, 0x006);
	put_error(1, 0x01c);
	put_error(2, 0x288);
	put_error(3, 0x300);
	put_error(4, 0x2ff);
	judge();
	ck_assert_uint_eq(health.count, EM_ERROR_REASONS_MAX);
	for (unsigned i = 0; i < health.count; i++)
		sum += health.reasons[i].value;
	ck_assert_int_eq(sum, 64);
	ck_assert_int_eq(health.verdict, EM_VERDICT_DEGRADED);
}
END_TEST

/* ---- what is not known ---------------------------------------------------------------------- */

static uint8_t sanitize[512];

START_TEST(a_sanitize_that_fails_or_stands_still)
{
	memset(sanitize, 0, sizeof(sanitize));
	give(EM_PAGE_SANITIZE, sanitize, sizeof(sanitize));
	input.sanitize_stalled_us = 3600 * SECOND;
	EXPECT(OK);
	sanitize[2] = 3;
	EXPECT(DEGRADED, "sanitize.failed");
	sanitize[2] = 2;
	em_put_le16(sanitize, 655);
	input.pages[EM_PAGE_SANITIZE].same_us = 3600 * SECOND - 1;
	EXPECT(OK);
	input.pages[EM_PAGE_SANITIZE].same_us = 3600 * SECOND;
	EXPECT(DEGRADED, "sanitize.stalled");
	ck_assert_int_eq(find("sanitize.stalled")->value, 3600);
	ck_assert_int_eq(find("sanitize.stalled")->limit, 3600);
	sanitize[2] = 1; /* completed: it may stay so for years */
	EXPECT(OK);
	sanitize[2] = 2;
	input.sanitize_stalled_us = 0;
	EXPECT(OK);
}
END_TEST

START_TEST(smart_that_is_missing_or_old)
{
	input.pages[EM_PAGE_SMART].age_us = 180 * SECOND;
	EXPECT(OK);
	input.pages[EM_PAGE_SMART].age_us = 181 * SECOND;
	EXPECT(UNKNOWN, "smart.old");
	expect_numbers("smart.old", 181, 180);
	smart[0] = 0x08; /* what it told stands there, and does not decide */
	EXPECT(UNKNOWN, "smart.old", "critical_warning.media_read_only");
	ck_assert_str_eq(health.reasons[0].rule, "smart.old");
	ck_assert_str_eq(em_severity_name(health.reasons[0].severity), "unknown");
	smart[0] = 0;
	input.pages[EM_PAGE_SMART].age_us = -1;
	EXPECT(UNKNOWN, "smart.old");
	give(EM_PAGE_SMART, smart, sizeof(smart));
	input.pages[EM_PAGE_SMART].interval_us = 0;
	EXPECT(UNKNOWN, "smart.old");
	/* Not before some seconds, however often it is read. */
	input.pages[EM_PAGE_SMART] = (struct em_health_page){
		.data = smart, .len = sizeof(smart), .age_us = 5 * SECOND, .interval_us = 1000
	};
	EXPECT(OK);
	input.pages[EM_PAGE_SMART].age_us++;
	EXPECT(UNKNOWN, "smart.old");
	give(EM_PAGE_SMART, NULL, 0);
	EXPECT(UNKNOWN, "smart.unread");
}
END_TEST

START_TEST(drives_that_are_not_there)
{
	input.presence = EM_UNRESPONSIVE;
	EXPECT(UNKNOWN, "drive.unresponsive");
	input.presence = EM_REMOVED;
	EXPECT(UNKNOWN, "drive.removed");
	input.presence = EM_RETIRED;
	smart[5] = 120;
	EXPECT(UNKNOWN, "drive.retired", "endurance_consumed");
	ck_assert_str_eq(health.reasons[0].rule, "drive.retired");
}
END_TEST

START_TEST(bytes_that_are_no_reading)
{
	memset(smart, 0xff, sizeof(smart));
	EXPECT(UNKNOWN, "smart.unread");
	memset(smart, 0, sizeof(smart));
	EXPECT(UNKNOWN, "smart.unread");
	setup();
	input.pages[EM_PAGE_SMART].len = 511;
	EXPECT(UNKNOWN, "smart.unread");
	setup();
	smart[5] = 100;
	memset(selftest, 0xff, sizeof(selftest));
	memset(errors, 0xff, sizeof(errors));
	memset(identify, 0xff, sizeof(identify));
	EXPECT(DEGRADED, "endurance_consumed");
	memset(&input, 0, sizeof(input));
	EXPECT(UNKNOWN, "smart.unread");
}
END_TEST

/* All but one byte FFh: a reading, and a hostile one. */
START_TEST(nearly_all_ones)
{
	memset(smart, 0xff, sizeof(smart));
	memset(selftest, 0xff, sizeof(selftest));
	memset(errors, 0xff, sizeof(errors));
	smart[511] = selftest[563] = errors[0] = 0;
	judge();
	ck_assert_int_eq(health.verdict, EM_VERDICT_FAILING);
	for (unsigned i = 0; i < 20; i++)
		put_test(i, 15 - i % 16, 6);
	judge();
	ck_assert_int_eq(health.verdict, EM_VERDICT_FAILING);
}
END_TEST

START_TEST(the_worst_comes_first)
{
	smart[0] = 0x0a;
	smart[5] = 150;
	em_put_le64(smart + 160, 4);
	put_test(0, 1, 7);
	put_error(0, 0x280);
	judge();
	ck_assert_int_eq(health.verdict, EM_VERDICT_FAILING);
	ck_assert_str_eq(health.reasons[0].rule, "critical_warning.media_read_only");
	for (unsigned i = 1; i < health.count; i++)
		ck_assert_int_ge(health.reasons[i - 1].severity, health.reasons[i].severity);
}
END_TEST

/* ---- from the field ------------------------------------------------------------------------- */

/* critical_warning, kelvin, spare, threshold, used of drives that people reported. */
static void report(uint8_t warning, uint16_t kelvin, uint8_t spare, uint8_t threshold, uint8_t used)
{
	setup();
	smart[0] = warning;
	em_put_le16(smart + 1, kelvin);
	smart[3] = spare;
	smart[4] = threshold;
	smart[5] = used;
}

START_TEST(drives_of_reports)
{
	report(0, 312, 100, 10, 1); /* R01: power-on hours 0 */
	EXPECT(OK);
	report(0, 0, 100, 10, 0); /* R02b: 0 K */
	EXPECT(OK);
	report(4, 314, 100, 10, 104); /* R05 */
	EXPECT(FAILING, "critical_warning.reliability_degraded", "endurance_consumed",
	       "spare.beside_reliability");
	report(4, 301, 100, 10, 100); /* R07: at exactly 100 */
	EXPECT(FAILING, "critical_warning.reliability_degraded", "endurance_consumed",
	       "spare.beside_reliability");
	report(16, 313, 100, 10, 0); /* R08: the power-loss protection alone */
	EXPECT(FAILING, "critical_warning.volatile_backup_failed");
	report(0, 294, 99, 10, 41); /* R09: an NVMe 1.0 drive */
	input.ctx.ver = 0;
	EXPECT(OK);
	report(0, 304, 100, 0, 1); /* R10: no threshold, no limits */
	em_put_le16(identify + 266, 0);
	em_put_le16(identify + 268, 0);
	EXPECT(OK);
	report(2, 357, 100, 10, 4); /* R12a */
	em_put_le16(identify + 266, 0);
	em_put_le16(identify + 268, 0);
	EXPECT(DEGRADED, "critical_warning.temperature_out_of_range", "temperature.beside_warning");
	ck_assert_int_eq(find("temperature.beside_warning")->value, 84);
	report(0, 309, 100, 10, 4); /* R12b */
	EXPECT(OK);
	report(0, 303, 100, 10, 0); /* R14: unsafe shutdowns and error entries at first sight */
	em_put_le64(smart + 144, 3682);
	em_put_le64(smart + 176, 4804);
	EXPECT(OK);
	report(0, 311, 100, 5, 1); /* R17: 8382 entries, of questions it did not know */
	em_put_le64(smart + 176, 8382);
	put_error(0, 0x002);
	put_error(1, 0x001);
	put_error(2, 0x109);
	EXPECT(OK);
	report(0, 311, 100, 10, 1); /* R18: extended test failed in a known segment */
	put_test(0, 2, 7);
	selftest[4 + 1] = 7;
	selftest[4 + 2] = 3;
	EXPECT(FAILING, "selftest.failed");
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("verdict");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, a_drive_that_is_well);
	tcase_add_test(tcase, each_bit_of_the_critical_warning);
	tcase_add_test(tcase, each_bit_of_the_endurance_groups);
	tcase_add_test(tcase, spare_beside_its_threshold);
	tcase_add_test(tcase, endurance_is_no_failure);
	tcase_add_test(tcase, temperature_beside_the_limits_of_identify);
	tcase_add_test(tcase, values_beside_a_warning);
	tcase_add_test(tcase, media_errors_alone_decide_nothing);
	tcase_add_test(tcase, capacitor_by_capacitance_and_percentage);
	tcase_add_test(tcase, capacitor_that_is_not_known);
	tcase_add_test(tcase, the_newest_completed_test_of_each_kind_decides);
	tcase_add_test(tcase, entries_of_the_error_log);
	tcase_add_test(tcase, many_kinds_of_errors_are_bounded);
	tcase_add_test(tcase, a_sanitize_that_fails_or_stands_still);
	tcase_add_test(tcase, smart_that_is_missing_or_old);
	tcase_add_test(tcase, drives_that_are_not_there);
	tcase_add_test(tcase, bytes_that_are_no_reading);
	tcase_add_test(tcase, nearly_all_ones);
	tcase_add_test(tcase, the_worst_comes_first);
	tcase_add_test(tcase, drives_of_reports);
	return run_tests(tcase);
}
