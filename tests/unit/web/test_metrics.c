/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/web/metrics.h"
#include "fixture.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

static struct em_snapshot *fleet;

static void setup(void)
{
	fleet = make_fleet();
}

static void teardown(void)
{
	fleet = em_snapshot_unref(fleet);
}

static char *page_of(const struct em_snapshot *snap)
{
	struct em_reply reply = ask(snap, "GET", "/metrics");

	ck_assert_uint_eq(reply.status, 200);
	ck_assert_str_eq(reply.type, "text/plain; version=0.0.4; charset=utf-8");
	ck_assert_uint_eq(strlen(reply.body), reply.len);
	ck_assert_int_eq(reply.body[reply.len - 1], '\n');
	return reply.body;
}

static bool has_line(const char *page, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = page; (at = strstr(at, line)); at += len)
		if ((at == page || at[-1] == '\n') && at[len] == '\n')
			return true;
	return false;
}

#define A "{device=\"nvme0\",serial=\"SN-A-0001\""
#define B "{device=\"nvme1\",serial=\"SN-A-0002\""

START_TEST(golden_lines)
{
	static const char *const lines[] = {
		"# TYPE ember_temperature_celsius gauge",
		"# TYPE ember_bytes_written_total counter",
		"ember_build_info{version=\"1.2.3\"} 1",
		"ember_broker_connected 1",
		"ember_broker_requests_total 42",
		"ember_store_up 0",
		"ember_drives{state=\"ok\"} 3",
		"ember_drives{state=\"unresponsive\"} 1",
		"ember_drives{state=\"retired\"} 0",
		"ember_drive_up" A "} 1",
		"ember_drive_state" A ",state=\"ok\"} 1",
		"ember_drive_state" A ",state=\"removed\"} 0",
		"ember_page_last_read_timestamp_seconds" A ",page=\"smart\"} 1792888198.766",
		"ember_poll_duration_seconds" A "} 0.001250",
		"ember_poll_errors_total" B ",reason=\"timeout\"} 3",
		"ember_drive_health" A ",state=\"failing\"} 1",
		"ember_drive_health" A ",state=\"ok\"} 0",
		"ember_drive_health" B ",state=\"unknown\"} 1",
		"ember_drive_health" B ",state=\"failing\"} 0",
		"ember_critical_warning" A "} 2",
		"ember_critical_warning_bit" A ",bit=\"temperature_out_of_range\"} 1",
		"ember_critical_warning_bit" A ",bit=\"spare_below_threshold\"} 0",
		"ember_temperature_celsius" A "} 39",
		"ember_temperature_sensor_celsius" A ",sensor=\"1\"} 37",
		"ember_bytes_read_total" A "} 70086325248000",
		"ember_bytes_written_total" A "} 174224571863520493293247799005065324264960000",
		"ember_power_on_seconds_total" A "} 6379200",
		"ember_warning_temp_time_seconds_total" A "} 180",
		"ember_namespace_size_bytes" A ",nsid=\"1\"} 512000",
	};
	char *page = page_of(fleet);

	for (size_t i = 0; i < EM_COUNT(lines); i++)
		ck_assert_msg(has_line(page, lines[i]), "no line %s in\n%s", lines[i], page);
	free(page);
}
END_TEST

START_TEST(hostile_labels_are_escaped)
{
	char *page = page_of(fleet);

	ck_assert_msg(has_line(page,
			       "ember_drive_info{device=\"nvme10\",serial=\"SN0000000001-3?\","
			       "id=\"20000000000000d3\",model=\"PCIe3 \\\"1.6TB\\\" \\\\NVMe??? "
			       "Adapter\",firmware=\"0101?\",address=\"0000:01:00.0\","
			       "transport=\"pcie\"} 1"),
		      "%s", page);
	free(page);
}
END_TEST

/* It was away, or hangs and is reset: its state says that it is watched, and it has not answered.
 */
START_TEST(old_values_are_none)
{
	struct em_drive_snap *drive = fleet->drives[0];
	struct em_page_read *smart = &drive->pages[EM_PAGE_SMART];
	static const struct {
		uint64_t age_us, interval_us;
		bool shown;
	} cases[] = {
		{ 179000000, 60000000, true },	  { 181000000, 60000000, false },
		{ 59000000, 10000, true },	  { 61000000, 10000, false },
		{ 3600000000, 3600000000, true }, { 3600000000, 0, true },
	};

	for (size_t i = 0; i < EM_COUNT(cases) * 2; i++) {
		char *page;

		give_smart(drive, cases[i / 2].age_us);
		smart->interval_us = cases[i / 2].interval_us;
		smart->status = i % 2 ? EM_READ_TIMEOUT : EM_READ_OK;
		page = page_of(fleet);
		ck_assert_int_eq(has_line(page, "ember_temperature_celsius" A "} 39"),
				 cases[i / 2].shown);
		ck_assert_int_eq(has_line(page, "ember_critical_warning" A "} 2"),
				 cases[i / 2].shown);
		ck_assert(has_line(page, "ember_drive_up" A "} 1"));
		ck_assert_ptr_nonnull(strstr(page, "ember_page_last_read_timestamp_seconds" A
						   ",page=\"smart\"}"));
		free(page);
	}
}
END_TEST

START_TEST(a_hung_drive_has_no_values_but_is_seen)
{
	char *page = page_of(fleet);

	ck_assert(has_line(page, "ember_drive_up" B "} 0"));
	ck_assert(has_line(page, "ember_drive_state" B ",state=\"unresponsive\"} 1"));
	ck_assert(has_line(page, "ember_page_last_read_timestamp_seconds" B
				 ",page=\"smart\"} 1792884600.000"));
	ck_assert_ptr_null(strstr(page, "ember_temperature_celsius" B));
	ck_assert_ptr_null(strstr(page, "ember_critical_warning_bit" B));
	free(page);
}
END_TEST

START_TEST(unknown_values_have_no_sample)
{
	char *page = page_of(fleet);

	ck_assert_ptr_null(strstr(page, "sensor=\"2\""));
	ck_assert_ptr_null(strstr(page, "ember_temperature_celsius{device=\"nvme2\""));
	ck_assert_ptr_null(strstr(page, "ember_poll_duration_seconds{device=\"nvme2\""
					",serial=\"SN-B-0003\"} 0\n"));
	ck_assert_ptr_null(strstr(page, "NaN"));
	free(page);
}
END_TEST

/* A drive that goes on answering but no longer with a reading would look alive for ever. */
START_TEST(frozen_values_end)
{
	static const enum em_read_status ended[] = { EM_READ_NEVER,	 EM_READ_NO_READING,
						     EM_READ_SHORT,	 EM_READ_REFUSED,
						     EM_READ_STATUS,	 EM_READ_DENIED,
						     EM_READ_HOST_ERROR, EM_READ_UNSUPPORTED };
	static const enum em_read_status passing[] = { EM_READ_TIMEOUT, EM_READ_BUSY,
						       EM_READ_STUCK };

	for (size_t i = 0; i < EM_COUNT(ended); i++) {
		char *page;

		fleet->drives[0]->pages[EM_PAGE_SMART].status = ended[i];
		page = page_of(fleet);
		ck_assert_ptr_null(strstr(page, "ember_temperature_celsius" A));
		free(page);
	}
	for (size_t i = 0; i < EM_COUNT(passing); i++) {
		char *page;

		fleet->drives[0]->pages[EM_PAGE_SMART].status = passing[i];
		page = page_of(fleet);
		ck_assert_ptr_nonnull(strstr(page, "ember_temperature_celsius" A));
		free(page);
	}
}
END_TEST

START_TEST(busy_keeps_values)
{
	char *page;

	fleet->drives[0]->state = EM_STATE_BUSY;
	page = page_of(fleet);
	ck_assert(has_line(page, "ember_drive_up" A "} 1"));
	ck_assert_ptr_nonnull(strstr(page, "ember_temperature_celsius" A));
	free(page);
}
END_TEST

START_TEST(a_reserved_bit_is_named_when_set)
{
	uint8_t page_bytes[512] = { 0x40 };
	char *page = page_of(fleet);

	ck_assert_ptr_null(strstr(page, "reserved_6"));
	free(page);
	give_page(&fleet->drives[0]->pages[EM_PAGE_SMART], page_bytes, 512, 512, 1000);
	page = page_of(fleet);
	ck_assert(has_line(page, "ember_critical_warning_bit" A ",bit=\"reserved_6\"} 1"));
	free(page);
}
END_TEST

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * No series twice, no family in two places, HELP and TYPE once and before it, and device and serial
 * on whatever speaks of a drive.
 */
static void check_form(char *page)
{
	char *series[4096], *families[512], *save = NULL;
	size_t count = 0, family_count = 0;

	for (char *line = strtok_r(page, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char name[128];

		if (!strncmp(line, "# HELP ", 7)) {
			families[family_count++] = strdup(strtok(line + 7, " "));
			continue;
		}
		ck_assert_uint_gt(family_count, 0);
		if (!strncmp(line, "# TYPE ", 7)) {
			snprintf(name, sizeof(name), "%s ", families[family_count - 1]);
			ck_assert_int_eq(strncmp(line + 7, name, strlen(name)), 0);
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, "{ "), line);
		ck_assert_str_eq(name, families[family_count - 1]);
		if (strstr(line, "device="))
			ck_assert_ptr_nonnull(strstr(line, "serial="));
		*strrchr(line, ' ') = '\0';
		ck_assert_uint_lt(count, EM_COUNT(series));
		series[count++] = line;
	}
	qsort(series, count, sizeof(*series), by_text);
	qsort(families, family_count, sizeof(*families), by_text);
	for (size_t i = 1; i < count; i++)
		ck_assert_str_ne(series[i], series[i - 1]);
	for (size_t i = 0; i < family_count; i++) {
		if (i)
			ck_assert_str_ne(families[i], families[i - 1]);
	}
	for (size_t i = 0; i < family_count; i++)
		free(families[i]);
}

START_TEST(form)
{
	char *page = page_of(fleet);

	check_form(page);
	free(page);
}
END_TEST

/* A drive, its twin with the same serial, and one that left the name nvme0 and the serial behind.
 */
START_TEST(twins_stay_two)
{
	struct em_drive_snap *d[4] = {
		make_drive("00000000000000a0", "nvme0", "TWIN"),
		make_drive("00000000000000a1", "nvme1", "TWIN"),
		make_drive("00000000000000a2", "nvme0", "TWIN"),
		make_drive("00000000000000a3", "nvme0", "TWIN"),
	};
	struct em_snapshot *snap;
	char *page;

	give_smart(d[0], 1000);
	give_smart(d[1], 1000);
	give_smart(d[2], 1000);
	d[2]->state = d[3]->state = EM_STATE_REMOVED;
	snap = make_snapshot(d, 4);
	page = page_of(snap);
	ck_assert(has_line(page, "ember_drive_up{device=\"nvme0\",serial=\"TWIN\"} 1"));
	ck_assert(has_line(page, "ember_drive_up{device=\"nvme1\",serial=\"TWIN\"} 1"));
	ck_assert(has_line(page, "ember_drive_up{device=\"nvme0\",serial=\"TWIN\","
				 "id=\"00000000000000a2\"} 0"));
	check_form(page);
	free(page);
	em_snapshot_unref(snap);
}
END_TEST

START_TEST(no_drives)
{
	struct em_snapshot *empty = make_snapshot(NULL, 0);
	char *page = page_of(empty);

	ck_assert(has_line(page, "ember_drives{state=\"ok\"} 0"));
	ck_assert_ptr_null(strstr(page, "ember_drive_up"));
	free(page);
	em_snapshot_unref(empty);
}
END_TEST

/* The text format gives these characters a meaning, and help is written as it stands. */
START_TEST(rows_fit_the_format)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		for (unsigned i = 0; i < em_pages[p]->field_count; i++) {
			const struct em_field *field = &em_pages[p]->fields[i];

			if (field->metric == EM_METRIC_NONE)
				continue;
			ck_assert_ptr_nonnull(field->metric_name);
			ck_assert_uint_eq(strcspn(field->help, "\\\n"), strlen(field->help));
			/* A value of a namespace already has its nsid. */
			if (p >= EM_PAGE_CTRL_COUNT)
				ck_assert_ptr_null(field->metric_label);
		}
	}
}
END_TEST

static int run_promtool(const char *page)
{
	FILE *pipe = popen("promtool check metrics", "w");

	ck_assert_ptr_nonnull(pipe);
	fputs(page, pipe);
	return pclose(pipe);
}

START_TEST(promtool_is_content)
{
	char *page;

	if (system("command -v promtool >/dev/null") != 0)
		return;
	page = page_of(fleet);
	ck_assert_int_eq(run_promtool(page), 0);
	free(page);
}
END_TEST

START_TEST(what_is_no_drives)
{
	uint64_t events[EM_EVENT_KIND_COUNT] = { [EM_EVENT_KIND_DRIVE_REMOVED] = 3 };
	struct em_buf buf;

	em_buf_init(&buf, EM_REPLY_MAX);
	em_metrics_write_service(events, NOW_US, &buf);
	ck_assert(has_line(buf.data, "# TYPE ember_events_total counter"));
	ck_assert(has_line(buf.data, "ember_events_total{kind=\"drive-removed\"} 3"));
	ck_assert(has_line(buf.data, "ember_events_total{kind=\"broker\"} 0"));
	ck_assert(has_line(buf.data, "ember_certificate_expiry_timestamp_seconds 1792888200"));
	em_buf_done(&buf);
	/* What is not known or not there has no sample. */
	em_buf_init(&buf, EM_REPLY_MAX);
	em_metrics_write_service(NULL, 0, &buf);
	ck_assert_uint_eq(buf.len, 0);
	em_buf_done(&buf);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, golden_lines);
	tcase_add_test(tc, hostile_labels_are_escaped);
	tcase_add_test(tc, old_values_are_none);
	tcase_add_test(tc, a_hung_drive_has_no_values_but_is_seen);
	tcase_add_test(tc, unknown_values_have_no_sample);
	tcase_add_test(tc, frozen_values_end);
	tcase_add_test(tc, busy_keeps_values);
	tcase_add_test(tc, a_reserved_bit_is_named_when_set);
	tcase_add_test(tc, form);
	tcase_add_test(tc, twins_stay_two);
	tcase_add_test(tc, no_drives);
	tcase_add_test(tc, rows_fit_the_format);
	tcase_add_test(tc, promtool_is_content);
	tcase_add_test(tc, what_is_no_drives);
	return run_tests(tc);
}
