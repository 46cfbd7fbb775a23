/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/web/tokens.h"
#include "tests/unit/runner.h"

#define NOW_US INT64_C(1792888200000000)
#define DAY_US INT64_C(86400000000)

static char dir[64], path[96];
static struct em_tokens *tokens;

static void reopen(void)
{
	const char *message = "?";

	tokens = em_tokens_free(tokens);
	ck_assert_int_eq(em_tokens_open(&tokens, path, &message), 0);
	ck_assert_ptr_null(message);
}

static void start(void)
{
	strcpy(dir, "/tmp/ember-tokens-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/tokens.json", dir);
	reopen();
}

static void stop(void)
{
	char command[128];

	tokens = em_tokens_free(tokens);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static struct em_token create(const char *name, char secret[EM_TOKEN_SECRET_SIZE])
{
	struct em_token token = { 0 };

	ck_assert_int_eq(em_tokens_create(tokens, name, EM_ROLE_VIEWER, NOW_US, 0, &token, secret),
			 0);
	return token;
}

static size_t read_file(char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	ck_assert_ptr_nonnull(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return len;
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(what_was_made_is_known_also_after_a_restart)
{
	char a[EM_TOKEN_SECRET_SIZE], b[EM_TOKEN_SECRET_SIZE], text[8192];
	struct em_token one = create("prometheus", a), two = create("spare", b),
			list[EM_TOKENS_MAX];
	struct stat st;

	ck_assert_int_eq(strncmp(a, "ember_", 6), 0);
	ck_assert_uint_lt(strlen(a), EM_TOKEN_SECRET_SIZE);
	ck_assert_str_ne(a, b);
	ck_assert_str_ne(one.id, two.id);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(em_tokens_check(tokens, a, NOW_US + 5, NULL), EM_ROLE_VIEWER);
		ck_assert_int_eq(em_tokens_check(tokens, b, NOW_US + 6, NULL), EM_ROLE_VIEWER);
		reopen();
		ck_assert_uint_eq(em_tokens_list(tokens, list), 2);
		ck_assert_str_eq(list[0].name, "prometheus");
		ck_assert_str_eq(list[0].id, one.id);
		ck_assert_int_eq(list[0].created_us, NOW_US);
		ck_assert_int_eq(list[0].last_used_us, NOW_US + 5);
	}
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	/* The file does not help whoever reads it: neither the secret nor what is behind the id. */
	read_file(text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, one.id));
	ck_assert_ptr_null(strstr(text, strrchr(a, '_') + 1));
}
END_TEST

START_TEST(anything_else_is_nobody)
{
	char secret[EM_TOKEN_SECRET_SIZE], other[EM_TOKEN_SECRET_SIZE], wrong[256];

	create("a", secret);
	create("b", other);
	/* Each single digit counts. */
	for (size_t i = 0; i < strlen(secret); i++) {
		strcpy(wrong, secret);
		wrong[i] = wrong[i] == '0' ? '1' : '0';
		ck_assert_msg(em_tokens_check(tokens, wrong, NOW_US, NULL) == EM_ROLE_NONE, "%zu",
			      i);
	}
	snprintf(wrong, sizeof(wrong), "%s0", secret);
	ck_assert_int_eq(em_tokens_check(tokens, wrong, NOW_US, NULL), EM_ROLE_NONE);
	snprintf(wrong, sizeof(wrong), "%.*s", (int)strlen(secret) - 1, secret);
	ck_assert_int_eq(em_tokens_check(tokens, wrong, NOW_US, NULL), EM_ROLE_NONE);
	/* The id of one and the key of the other. */
	snprintf(wrong, sizeof(wrong), "%.*s%s", (int)(strrchr(secret, '_') - secret), secret,
		 strrchr(other, '_'));
	ck_assert_int_eq(em_tokens_check(tokens, wrong, NOW_US, NULL), EM_ROLE_NONE);
	ck_assert_int_eq(em_tokens_check(tokens, "", NOW_US, NULL), EM_ROLE_NONE);
	ck_assert_int_eq(em_tokens_check(tokens, "ember_", NOW_US, NULL), EM_ROLE_NONE);
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_VIEWER);
}
END_TEST

START_TEST(it_ends_when_it_expires)
{
	char secret[EM_TOKEN_SECRET_SIZE];
	struct em_token token;

	ck_assert_int_eq(em_tokens_create(tokens, "a", EM_ROLE_VIEWER, NOW_US, NOW_US + DAY_US,
					  &token, secret),
			 0);
	reopen();
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US + DAY_US - 1, NULL),
			 EM_ROLE_VIEWER);
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US + DAY_US, NULL), EM_ROLE_NONE);
	ck_assert(em_tokens_is_valid(tokens, token.id, NOW_US + DAY_US - 1));
	ck_assert(!em_tokens_is_valid(tokens, token.id, NOW_US + DAY_US));
}
END_TEST

START_TEST(a_revoked_one_stays_so)
{
	char a[EM_TOKEN_SECRET_SIZE], b[EM_TOKEN_SECRET_SIZE];
	struct em_token one = create("a", a), list[EM_TOKENS_MAX];

	create("b", b);
	ck_assert_int_eq(em_tokens_revoke(tokens, one.id), 0);
	ck_assert_int_eq(em_tokens_revoke(tokens, one.id), -ENOENT);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(em_tokens_check(tokens, a, NOW_US, NULL), EM_ROLE_NONE);
		ck_assert(!em_tokens_is_valid(tokens, one.id, NOW_US));
		ck_assert_int_eq(em_tokens_check(tokens, b, NOW_US, NULL), EM_ROLE_VIEWER);
		ck_assert_uint_eq(em_tokens_list(tokens, list), 1);
		reopen();
	}
}
END_TEST

START_TEST(names_and_limits)
{
	char secret[EM_TOKEN_SECRET_SIZE], name[EM_TOKEN_NAME_SIZE + 1];
	struct em_token token, list[EM_TOKENS_MAX];
	static const char *const bad[] = { "", " a", "a ", "a\nb", "\xc3\xa4" };

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(
			em_tokens_create(tokens, bad[i], EM_ROLE_VIEWER, NOW_US, 0, &token, secret),
			-EINVAL);
	memset(name, 'n', sizeof(name));
	name[EM_TOKEN_NAME_SIZE] = '\0';
	ck_assert_int_eq(em_tokens_create(tokens, name, EM_ROLE_VIEWER, NOW_US, 0, &token, secret),
			 -EINVAL);
	ck_assert_int_eq(em_tokens_create(tokens, "n", EM_ROLE_NONE, NOW_US, 0, &token, secret),
			 -EINVAL);
	for (unsigned i = 0; i < EM_TOKENS_MAX; i++) {
		snprintf(name, sizeof(name), "%02u%.*s", i, EM_TOKEN_NAME_SIZE - 3,
			 "\"\\............................................................");
		create(name, secret);
	}
	ck_assert_int_eq(em_tokens_create(tokens, "n", EM_ROLE_VIEWER, NOW_US, 0, &token, secret),
			 -ENOSPC);
	reopen();
	ck_assert_uint_eq(em_tokens_list(tokens, list), EM_TOKENS_MAX);
	ck_assert_str_eq(list[EM_TOKENS_MAX - 1].name, name);
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_VIEWER);
	ck_assert_int_eq(em_tokens_revoke(tokens, list[0].id), 0);
	ck_assert_int_eq(em_tokens_create(tokens, name, EM_ROLE_VIEWER, NOW_US, 0, &token, secret),
			 -EEXIST);
	create("n", secret);
}
END_TEST

static void expect_set_aside(const char *text)
{
	struct em_token list[EM_TOKENS_MAX];
	const char *message = NULL;
	char command[160];

	tokens = em_tokens_free(tokens);
	write_file(text);
	ck_assert_int_eq(em_tokens_open(&tokens, path, &message), 0);
	ck_assert_msg(message && em_tokens_list(tokens, list) == 0, "%s", text);
	snprintf(command, sizeof(command), "rm %s.broken-*", path);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(a_broken_file_lets_nobody_in)
{
	char secret[EM_TOKEN_SECRET_SIZE], text[8192], half[8192], *at, digit;
	size_t len;

	create("a", secret);
	len = read_file(text, sizeof(text));
	snprintf(half, sizeof(half), "%.*s", (int)len / 2, text);
	expect_set_aside(half);
	expect_set_aside("");
	expect_set_aside("[]");
	expect_set_aside("{\"format\": 2, \"tokens\": []}");
	at = strstr(text, "\"sha256\": \"") + 11;
	digit = *at;
	*at = 'x';
	expect_set_aside(text);
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_NONE);
	*at = digit == '0' ? '1' : '0'; /* a hash, but another one */
	tokens = em_tokens_free(tokens);
	write_file(text);
	reopen();
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_NONE);
}
END_TEST

/* Whoever is there twice would be there still when it was revoked. */
START_TEST(nobody_is_in_the_file_twice)
{
	static const char *const rows[] = {
		"0123456789abcdef\", \"name\": \"b\"",
		"1123456789abcdef\", \"name\": \"a\"",
		"1123456789abcdef\", \"name\": \"b\"",
	};
	static const char rest[] =
		", \"role\": \"viewer\", \"created_us\": 1, \"expires_us\": 0, "
		"\"last_used_us\": 0, \"salt\": "
		"\"00000000000000000000000000000000\", \"sha256\": \"00000000000000"
		"00000000000000000000000000000000000000000000000000\"}";
	struct em_token list[EM_TOKENS_MAX];
	char text[2048];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(text, sizeof(text),
			 "{\"format\": 1, \"tokens\": [{\"id\": \"0123456789abcdef\", \"name\": "
			 "\"a\"%s, {\"id\": \"%s%s]}",
			 rest, rows[i], rest);
		if (i < 2) {
			expect_set_aside(text);
			continue;
		}
		tokens = em_tokens_free(tokens);
		write_file(text);
		reopen();
		ck_assert_uint_eq(em_tokens_list(tokens, list), 2);
	}
}
END_TEST

static void expect_moved(void)
{
	const char *message = NULL;
	char command[160];

	ck_assert_int_eq(em_tokens_open(&tokens, path, &message), 0);
	ck_assert_ptr_nonnull(message);
	snprintf(command, sizeof(command), "rm -r %s.broken-*", path);
	ck_assert_int_eq(system(command), 0);
}

/* Nothing else at its place keeps emberd from starting, or waiting for ever. */
START_TEST(what_is_no_file_is_set_aside)
{
	tokens = em_tokens_free(tokens);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	expect_moved();
	tokens = em_tokens_free(tokens);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	expect_moved();
	tokens = em_tokens_free(tokens);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	expect_moved();
}
END_TEST

#define MAKERS	  4u
#define PER_MAKER 8u

static void *make_some(void *userdata)
{
	char name[32], secret[EM_TOKEN_SECRET_SIZE];
	struct em_token token;
	unsigned made = 0;

	for (unsigned i = 0; i < PER_MAKER; i++) {
		/* Each name is wanted by all of them, and one gets it. */
		snprintf(name, sizeof(name), "n%u", i);
		made += em_tokens_create(tokens, name, EM_ROLE_VIEWER, NOW_US, 0, &token, secret) ==
			0;
	}
	*(unsigned *)userdata = made;
	return NULL;
}

START_TEST(many_make_tokens_at_once)
{
	struct em_token list[EM_TOKENS_MAX];
	pthread_t threads[MAKERS];
	unsigned made[MAKERS], all = 0;

	for (unsigned i = 0; i < MAKERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, make_some, &made[i]), 0);
	for (unsigned i = 0; i < MAKERS; i++) {
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
		all += made[i];
	}
	ck_assert_uint_eq(all, PER_MAKER);
	reopen();
	ck_assert_uint_eq(em_tokens_list(tokens, list), PER_MAKER);
}
END_TEST

static void note(void *userdata)
{
	++*(unsigned *)userdata;
}

START_TEST(who_watches_hears_of_revocations)
{
	char secret[EM_TOKEN_SECRET_SIZE];
	struct em_token one = create("a", secret), two = create("b", secret);
	unsigned count = 0;

	em_tokens_watch(tokens, note, &count);
	ck_assert_int_eq(em_tokens_revoke(tokens, "0123456789abcdef"), -ENOENT);
	ck_assert_uint_eq(count, 0);
	ck_assert_int_eq(em_tokens_revoke(tokens, one.id), 0);
	ck_assert_uint_eq(count, 1);
	em_tokens_watch(tokens, NULL, NULL);
	ck_assert_int_eq(em_tokens_revoke(tokens, two.id), 0);
	ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(a_disk_that_takes_nothing)
{
	char secret[EM_TOKEN_SECRET_SIZE], unused[EM_TOKEN_SECRET_SIZE], other[128];
	struct em_token one = create("a", secret), two;

	/* Also root cannot write where a directory is. */
	snprintf(other, sizeof(other), "%s.new", path);
	ck_assert_int_eq(mkdir(other, 0700), 0);
	ck_assert_int_lt(em_tokens_create(tokens, "b", EM_ROLE_VIEWER, NOW_US, 0, &two, unused), 0);
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_VIEWER);
	/* The caller learns that it is not for good, and yet it works at once. */
	ck_assert_int_lt(em_tokens_revoke(tokens, one.id), 0);
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_NONE);
	ck_assert_int_eq(rmdir(other), 0);
	reopen();
	ck_assert_int_eq(em_tokens_check(tokens, secret, NOW_US, NULL), EM_ROLE_NONE);
}
END_TEST

START_TEST(role_names)
{
	enum em_role role;

	ck_assert_str_eq(em_role_name(EM_ROLE_VIEWER), "viewer");
	ck_assert_ptr_null(em_role_name(EM_ROLE_NONE));
	ck_assert_int_eq(em_role_find("admin", &role), 0);
	ck_assert_int_eq(role, EM_ROLE_ADMIN);
	ck_assert_int_eq(em_role_find("root", &role), -ENOENT);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_was_made_is_known_also_after_a_restart);
	tcase_add_test(tc, anything_else_is_nobody);
	tcase_add_test(tc, it_ends_when_it_expires);
	tcase_add_test(tc, a_revoked_one_stays_so);
	tcase_add_test(tc, names_and_limits);
	tcase_add_test(tc, a_broken_file_lets_nobody_in);
	tcase_add_test(tc, nobody_is_in_the_file_twice);
	tcase_add_test(tc, what_is_no_file_is_set_aside);
	tcase_add_test(tc, many_make_tokens_at_once);
	tcase_add_test(tc, who_watches_hears_of_revocations);
	tcase_add_test(tc, a_disk_that_takes_nothing);
	tcase_add_test(tc, role_names);
	return run_tests(tc);
}
