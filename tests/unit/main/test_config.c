/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/main/config.h"
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>
#include "daemon/main/options.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

#define SECOND UINT64_C(1000000)

static char dir[64], file[96], drop_in[128], message[EM_CONFIG_MESSAGE_SIZE];
static struct em_config *config;

static void start(void)
{
	strcpy(dir, "/tmp/ember-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/emberd.conf", dir);
	snprintf(drop_in, sizeof(drop_in), "%s.d", file);
	ck_assert_int_eq(mkdir(drop_in, 0755), 0);
	config = NULL;
}

static void stop(void)
{
	char command[128];

	config = em_config_free(config);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void write_bytes(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void write_main(const char *text)
{
	write_bytes(file, text, strlen(text));
}

static void write_drop_in(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", drop_in, name);
	write_bytes(path, text, strlen(text));
}

static void load(void)
{
	config = em_config_free(config);
	ck_assert_msg(em_config_new(&config, file, true, message) == 0, "%s", message);
	ck_assert_str_eq(message, "");
}

/* The message begins with file:line, and contains words. */
static void check_bad_at(const char *path, unsigned line, const char *words)
{
	char place[300];
	int r = em_config_new(&config, file, true, message);

	ck_assert_int_lt(r, 0);
	ck_assert_ptr_null(config);
	if (line)
		snprintf(place, sizeof(place), "%s:%u: ", path, line);
	else
		snprintf(place, sizeof(place), "%s: ", path);
	ck_assert_msg(strncmp(message, place, strlen(place)) == 0 && strstr(message, words),
		      "wanted %s...%s, got %s", place, words, message);
}

static void check_bad(const char *text, unsigned line, const char *words)
{
	write_main(text);
	check_bad_at(file, line, words);
}

static void check_defaults(void)
{
	const uint64_t *page_us = config->drives.intervals.page_us;

	ck_assert_str_eq(config->http_socket, "/run/ember/emberd.sock");
	ck_assert_str_eq(config->http_listen, "");
	ck_assert_str_eq(config->store_directory, "/var/lib/ember");
	ck_assert_uint_eq(config->raw_keep_us, 30 * 86400 * SECOND);
	ck_assert_str_eq(config->drives.broker_socket, "/run/ember/broker.sock");
	ck_assert_uint_eq(page_us[EM_PAGE_SMART], 60 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_SELFTEST], 300 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_FIRMWARE], 3600 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_IDENTIFY_CTRL], 3600 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_IDENTIFY_NS], 3600 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_ERRORS], 3600 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_EFFECTS], 86400 * SECOND);
	ck_assert_uint_eq(page_us[EM_PAGE_SANITIZE], 300 * SECOND);
	ck_assert_uint_eq(config->drives.override_count, 0);
	ck_assert(!config->drives.pcie_only);
	ck_assert_str_eq(config->admin_group, "ember-admin");
	ck_assert_str_eq(config->https_listen, "");
	ck_assert_str_eq(config->https_certificate, "/etc/ember/tls/cert.pem");
	ck_assert_str_eq(config->https_key, "/etc/ember/tls/key.pem");
	ck_assert_uint_eq(config->events_keep_us, 730 * 86400 * SECOND);
	ck_assert_int_eq(config->log_level, LOG_INFO);
}

START_TEST(without_a_file_all_is_default)
{
	ck_assert_int_eq(em_config_new(&config, NULL, false, message), 0);
	check_defaults();
	config = em_config_free(config);
	ck_assert_int_eq(em_config_new(&config, file, false, message), 0);
	check_defaults();
}
END_TEST

START_TEST(a_named_file_must_exist)
{
	ck_assert_int_eq(em_config_new(&config, file, true, message), -ENOENT);
	ck_assert_msg(strstr(message, file), "%s", message);
	ck_assert_ptr_null(config);
}
END_TEST

START_TEST(every_option_is_read)
{
	write_main("# a comment\n\n[http]\n socket = /a b/c \nlisten=[::1]:9980\n"
		   "[store]\ndirectory=/s\nraw_keep=1h\n[broker]\r\nsocket=/b\r\n"
		   "[poll]\nsmart_interval=10ms\nselftest_interval=1min 30s\n"
		   "firmware_interval=7d\nidentify_interval=2h\n"
		   "[selftest]\nshort_schedule=Sat *-*-* 02:00\nstagger=1h\ncatch_up=no\n"
		   "[log]\nlevel=debug");
	load();
	ck_assert_str_eq(config->http_socket, "/a b/c");
	ck_assert_str_eq(config->http_listen, "[::1]:9980");
	ck_assert_str_eq(config->store_directory, "/s");
	ck_assert_uint_eq(config->raw_keep_us, 3600 * SECOND);
	ck_assert_str_eq(config->jobs.short_schedule, "Sat *-*-* 02:00");
	ck_assert_str_eq(config->jobs.extended_schedule, "");
	ck_assert_uint_eq(config->jobs.stagger_us, 3600 * SECOND);
	ck_assert(!config->jobs.catch_up);
	ck_assert_str_eq(config->drives.broker_socket, "/b");
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_SMART], 10000);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_SELFTEST], 90 * SECOND);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_FIRMWARE], 604800 * SECOND);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_IDENTIFY_CTRL], 7200 * SECOND);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_IDENTIFY_NS], 7200 * SECOND);
	ck_assert_int_eq(config->log_level, LOG_DEBUG);
}
END_TEST

START_TEST(options_of_the_network_are_read)
{
	write_main("[http]\nadmin_group=storage\n[https]\nlisten=[::]:9443\ncertificate=/c.pem\n"
		   "key=/k.pem\n[store]\nevents_keep=1d\n[drives]\ntransport=pcie\n"
		   "[poll]\nerrors_interval=1s\neffects_interval=2s\nsanitize_interval=3s\n");
	load();
	ck_assert_str_eq(config->admin_group, "storage");
	ck_assert_str_eq(config->https_listen, "[::]:9443");
	ck_assert_str_eq(config->https_certificate, "/c.pem");
	ck_assert_str_eq(config->https_key, "/k.pem");
	ck_assert_uint_eq(config->events_keep_us, 86400 * SECOND);
	ck_assert(config->drives.pcie_only);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_ERRORS], 1 * SECOND);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_EFFECTS], 2 * SECOND);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_SANITIZE], 3 * SECOND);
}
END_TEST

START_TEST(drop_ins_win_in_the_order_of_their_names)
{
	write_main("[http]\nsocket=/main\n[log]\nlevel=error\n[store]\ndirectory=/main\n");
	write_drop_in("20-b.conf", "[http]\nsocket=/b\n");
	write_drop_in("10-a.conf", "[http]\nsocket=/a\n[log]\nlevel=notice\n");
	write_drop_in("99-not.conf.bak", "nonsense");
	write_drop_in(".hidden.conf", "nonsense");
	load();
	ck_assert_str_eq(config->http_socket, "/b");
	ck_assert_int_eq(config->log_level, LOG_NOTICE);
	ck_assert_str_eq(config->store_directory, "/main");
	/* A drop-in can also take an option back. */
	write_drop_in("30-c.conf", "[http]\nlisten=\n");
	write_main("[http]\nlisten=127.0.0.1:80\n");
	load();
	ck_assert_str_eq(config->http_listen, "");
}
END_TEST

START_TEST(an_error_in_a_drop_in_names_it)
{
	char path[256];

	write_main("[log]\nlevel=info\n");
	write_drop_in("50-x.conf", "[log]\n\nlevel=loud\n");
	snprintf(path, sizeof(path), "%s/50-x.conf", drop_in);
	check_bad_at(path, 3, "level=loud: write error, warning, notice, info or debug");
	write_drop_in("50-x.conf", "[log]\nloudness=3\n");
	check_bad_at(path, 2, "unknown key \"loudness\" in [log]");
	write_drop_in("50-x.conf", "\n[logs]\n");
	check_bad_at(path, 2, "unknown section [logs]");
	write_drop_in("50-x.conf", "[log]\nlevel=info\nlevel=info\n");
	check_bad_at(path, 3, "set already in line 2");
	write_drop_in("50-x.conf", "[log]\nlevel info\n");
	check_bad_at(path, 2, "KEY=VALUE");
	/* The same key in two files is what drop-ins are for. */
	write_drop_in("50-x.conf", "[log]\nlevel=debug\n");
	load();
	ck_assert_int_eq(config->log_level, LOG_DEBUG);
}
END_TEST

START_TEST(a_drive_has_options_of_its_own)
{
	const struct em_poll_override *first, *second;

	write_main("[drive S N 1]\nsmart_interval=1s\n[drive B]\nidentify_interval=5h\n"
		   "[poll]\nsmart_interval=20s\nselftest_interval=30s\n");
	write_drop_in("a.conf",
		      "[drive S N 1]\nfirmware_interval=3s\n[poll]\nselftest_interval=31s\n");
	load();
	ck_assert_uint_eq(config->drives.override_count, 2);
	first = &config->drives.overrides[0];
	second = &config->drives.overrides[1];
	ck_assert_str_eq(first->serial, "S N 1");
	ck_assert_uint_eq(first->intervals.page_us[EM_PAGE_SMART], 1 * SECOND);
	ck_assert_uint_eq(first->intervals.page_us[EM_PAGE_FIRMWARE], 3 * SECOND);
	ck_assert_uint_eq(first->intervals.page_us[EM_PAGE_SELFTEST], 31 * SECOND);
	ck_assert_uint_eq(first->intervals.page_us[EM_PAGE_IDENTIFY_NS], 3600 * SECOND);
	ck_assert_str_eq(second->serial, "B");
	ck_assert_uint_eq(second->intervals.page_us[EM_PAGE_SMART], 20 * SECOND);
	ck_assert_uint_eq(second->intervals.page_us[EM_PAGE_IDENTIFY_CTRL], 5 * 3600 * SECOND);
	ck_assert_uint_eq(second->intervals.page_us[EM_PAGE_IDENTIFY_NS], 5 * 3600 * SECOND);
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_SMART], 20 * SECOND);
}
END_TEST

START_TEST(what_is_not_understood_is_an_error)
{
	check_bad("[htp]\n", 1, "unknown section [htp]; there are [http], [https]");
	check_bad("[http]\nsocket=/a\nsoket=/b\n", 3,
		  "unknown key \"soket\" in [http]; there are socket, listen");
	check_bad("[drive S]\nlevel=info\n", 2,
		  "unknown key \"level\" in [drive S]; there are smart_interval");
	check_bad("[drive A\001]\nsmart_interval=1s\n", 1, "[drive SERIAL]");
	check_bad("[drive \xc3\xa9]\nsmart_interval=1s\n", 1, "[drive SERIAL]");
	check_bad("[drive ]\nsmart_interval=1s\n", 1, "[drive SERIAL]");
	check_bad("socket=/a\n", 1, "[SECTION] must come before");
	check_bad("[http\n", 1, "a section is [NAME]");
	check_bad("[http] x\n", 1, "a section is [NAME]");
	check_bad("[]\n", 1, "unknown section []");
	check_bad("[http]\n=1\n", 2, "KEY=VALUE");
	check_bad("[http]\nsocket\n", 2, "KEY=VALUE");
	check_bad("[http]\nsocket=/a\n  /b\n", 3, "KEY=VALUE");
	check_bad("[http]\n; comment\n", 2, "KEY=VALUE");
	check_bad("[http]\n\n\nsocket=/a # comment\n", 4, "a line of its own");
}
END_TEST

START_TEST(a_key_twice_in_one_file_is_an_error)
{
	check_bad("[http]\nsocket=/a\nsocket=/a\n", 3, "set already in line 2");
	check_bad("[http]\nsocket=/a\n[log]\nlevel=info\n[http]\nsocket=/b\n", 6,
		  "set already in line 2");
	check_bad("[drive A]\nsmart_interval=1s\n[drive B]\nsmart_interval=1s\n"
		  "[drive  A]\nsmart_interval=1s\n",
		  6, "set already in line 2");
}
END_TEST

START_TEST(bad_values_are_errors)
{
	char text[600] = "[http]\nsocket=/";

	check_bad("[http]\nsocket=a\n", 2, "begins with /");
	check_bad("[http]\nsocket=\n", 2, "begins with /");
	memset(text + strlen(text), 'x', 200);
	check_bad(text, 2, "at most 107 characters");
	check_bad("[poll]\nsmart_interval=9ms\n", 2, "from 10ms to 7d");
	check_bad("[poll]\nsmart_interval=8d\n", 2, "from 10ms to 7d");
	check_bad("[poll]\nsmart_interval=soon\n", 2, "such as 60s");
	check_bad("[poll]\nsmart_interval=\n", 2, "such as 60s");
	check_bad("[poll]\nsmart_interval=-5s\n", 2, "such as 60s");
	check_bad("[drive A]\nsmart_interval=0\n", 2, "from 10ms");
	check_bad("[store]\nraw_keep=1s\n", 2, "such as 30d");
	check_bad("[log]\nlevel=\n", 2, "write error, warning");
	check_bad("[https]\nlisten=9443\n", 2, "such as 0.0.0.0:9443");
	check_bad("[https]\nlisten=host.example:9443\n", 2, "such as 0.0.0.0:9443");
	check_bad("[https]\nkey=key.pem\n", 2, "begins with /");
	check_bad("[http]\nadmin_group=a b\n", 2, "write a name");
	check_bad("[http]\nadmin_group=-a\n", 2, "write a name");
	check_bad("[drives]\ntransport=tcp\n", 2, "write all or pcie");
	check_bad("[selftest]\ncatch_up=true\n", 2, "write yes or no");
	check_bad("[selftest]\nshort_schedule=a\x01\n", 2, "calendar event of systemd.time(7)");
}
END_TEST

START_TEST(only_loopback_is_listened_on)
{
	static const char *const good[] = { "127.0.0.1:9980", "127.9.8.7:1", "[::1]:65535", "" };
	static const char *const bad[] = { "0.0.0.0:9980", "192.168.1.1:80",
					   "[::]:9980",	   "::1:9980",
					   "localhost:80", "9980",
					   ":9980",	   "127.0.0.1",
					   "127.0.0.1:0",  "127.0.0.1:65536",
					   "127.0.0.1:",   "127.0.0.1:9980x",
					   "127.1:80",	   "[::ffff:127.0.0.1]:80",
					   "[::1]9980",	   "127.0.0.1:0x50",
					   "127.0.0.1:+80" };
	ck_assert_int_eq(em_config_new(&config, NULL, false, message), 0);
	for (size_t i = 0; i < EM_COUNT(good); i++) {
		ck_assert_int_eq(em_config_set(config, "http", "listen", good[i], "--l", message),
				 0);
		ck_assert_str_eq(config->http_listen, good[i]);
	}
	for (size_t i = 0; i < EM_COUNT(bad); i++) {
		ck_assert_msg(em_config_set(config, "http", "listen", bad[i], "--l", message) ==
				      -EINVAL,
			      "%s", bad[i]);
		ck_assert_msg(strstr(message, "loopback"), "%s", message);
	}
	ck_assert_str_eq(config->http_listen, "");
}
END_TEST

START_TEST(strange_files_are_errors)
{
	static char big[(1 << 20) + 4096];
	char long_line[1200];

	write_bytes(file, "[log]\nlev\0el=info\n", 18);
	check_bad_at(file, 2, "no text file");
	memset(long_line, 'a', sizeof(long_line));
	write_bytes(file, long_line, sizeof(long_line));
	check_bad_at(file, 1, "too long");
	memset(big, '\n', sizeof(big));
	write_bytes(file, big, sizeof(big));
	check_bad_at(file, 0, "too long");
	unlink(file);
	ck_assert_int_eq(mkdir(file, 0755), 0);
	check_bad_at(file, 0, "directory");
	rmdir(file);
	/* A reload that waited for a writer would stop the loop. */
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	check_bad_at(file, 0, "no regular file");
	unlink(file);
	/* One that has no end must not be read into memory to find that out. */
	ck_assert_int_eq(symlink("/dev/zero", file), 0);
	check_bad_at(file, 0, "no regular file");
	unlink(file);
	ck_assert_int_eq(symlink("/dev/null", file), 0);
	load();
	check_defaults();
	config = em_config_free(config);
	unlink(file);
	ck_assert_int_eq(symlink("nowhere", file), 0);
	ck_assert_int_eq(em_config_new(&config, file, false, message), -ENOENT);
	ck_assert_msg(strstr(message, file), "%s", message);
}
END_TEST

/* Editors of other systems: their line ends say the same, their mark is named. */
START_TEST(line_ends_and_marks)
{
	write_main("[poll]\r\nsmart_interval=30s\r\n[http]\r\nlisten=127.0.0.1:9980\r\n"
		   "[drive S 1]\r\nsmart_interval = 10s\r\n[store]\r\ndirectory=/x");
	load();
	ck_assert_uint_eq(config->drives.intervals.page_us[EM_PAGE_SMART], 30 * SECOND);
	ck_assert_str_eq(config->http_listen, "127.0.0.1:9980");
	ck_assert_str_eq(config->drives.overrides[0].serial, "S 1");
	ck_assert_uint_eq(config->drives.overrides[0].intervals.page_us[EM_PAGE_SMART],
			  10 * SECOND);
	ck_assert_str_eq(config->store_directory, "/x");
	config = em_config_free(config);
	check_bad("\xef\xbb\xbf[log]\nlevel=info\n", 1, "byte order mark");
}
END_TEST

START_TEST(an_empty_file_is_a_file)
{
	write_main("");
	load();
	check_defaults();
	write_main("[http]\n[store]\n[drive X]\n");
	load();
	check_defaults();
}
END_TEST

/* Reading what was printed gives the same configuration. */
START_TEST(what_is_printed_reads_the_same)
{
	struct em_buf first, second;

	write_main("[http]\nlisten=[::1]:9980\nadmin_group=\n[drives]\ntransport=pcie\n"
		   "[https]\nlisten=0.0.0.0:9443\n[log]\nlevel=debug\n[poll]\nsmart_interval=90s\n"
		   "[drive S 1]\nerrors_interval=2h\n[drive S2]\nsmart_interval=1500ms\n");
	load();
	em_buf_init(&first, 1 << 20);
	em_config_print(config, &first);
	ck_assert_msg(strstr(first.data, "[drive S 1]\nerrors_interval=2h\n[drive S2]\n"), "%s",
		      first.data);
	write_main(first.data);
	load();
	em_buf_init(&second, 1 << 20);
	em_config_print(config, &second);
	ck_assert_str_eq(first.data, second.data);
	ck_assert_uint_eq(config->drives.overrides[1].intervals.page_us[EM_PAGE_SMART], 1500000);
	ck_assert_str_eq(config->admin_group, "");
	ck_assert(config->drives.pcie_only);
	ck_assert_int_eq(config->log_level, LOG_DEBUG);
	em_buf_done(&first);
	em_buf_done(&second);
}
END_TEST

START_TEST(what_differs_is_told_by_option)
{
	struct em_config *other;

	write_main("[http]\nlisten=127.0.0.1:1\n[poll]\nsmart_interval=60000ms\n[drives]\n"
		   "transport=pcie\n[store]\nraw_keep=31d\n[log]\nlevel=debug\n");
	load();
	ck_assert_int_eq(em_config_new(&other, NULL, false, message), 0);
	for (unsigned i = 0; i < em_option_count; i++) {
		const char *key = em_options[i].key;
		bool differs = (strcmp(key, "listen") == 0 &&
				strcmp(em_options[i].section, "http") == 0) ||
			       strcmp(key, "transport") == 0 || strcmp(key, "raw_keep") == 0 ||
			       strcmp(key, "level") == 0;

		ck_assert_msg(em_config_same(config, other, &em_options[i]) == !differs, "%s", key);
	}
	em_config_free(other);
}
END_TEST

START_TEST(the_command_line_has_the_same_checks)
{
	ck_assert_int_eq(em_config_new(&config, NULL, false, message), 0);
	ck_assert_int_eq(em_config_set(config, "log", "level", "debug", "--l", message), 0);
	ck_assert_int_eq(config->log_level, LOG_DEBUG);
	ck_assert_int_eq(em_config_set(config, "log", "level", "7", "--l", message), -EINVAL);
	ck_assert_msg(strstr(message, "--l 7: write error, "), "%s", message);
	ck_assert_int_eq(em_config_set(config, "log", "none", "7", "--l", message), -ENOENT);
	ck_assert_int_eq(config->log_level, LOG_DEBUG);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("config");

	tcase_add_checked_fixture(tcase, start, stop);
	tcase_add_test(tcase, without_a_file_all_is_default);
	tcase_add_test(tcase, a_named_file_must_exist);
	tcase_add_test(tcase, every_option_is_read);
	tcase_add_test(tcase, options_of_the_network_are_read);
	tcase_add_test(tcase, drop_ins_win_in_the_order_of_their_names);
	tcase_add_test(tcase, an_error_in_a_drop_in_names_it);
	tcase_add_test(tcase, a_drive_has_options_of_its_own);
	tcase_add_test(tcase, what_is_not_understood_is_an_error);
	tcase_add_test(tcase, a_key_twice_in_one_file_is_an_error);
	tcase_add_test(tcase, bad_values_are_errors);
	tcase_add_test(tcase, only_loopback_is_listened_on);
	tcase_add_test(tcase, strange_files_are_errors);
	tcase_add_test(tcase, line_ends_and_marks);
	tcase_add_test(tcase, an_empty_file_is_a_file);
	tcase_add_test(tcase, what_is_printed_reads_the_same);
	tcase_add_test(tcase, what_differs_is_told_by_option);
	tcase_add_test(tcase, the_command_line_has_the_same_checks);
	return run_tests(tcase);
}
