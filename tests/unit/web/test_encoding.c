/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "daemon/web/encoding.h"
#include "tests/unit/runner.h"

START_TEST(tags_stand_for_bytes)
{
	char a[EM_ETAG_SIZE], b[EM_ETAG_SIZE];

	ck_assert(em_etag(a, "one", 3) && em_etag(b, "one", 3));
	ck_assert_str_eq(a, b);
	ck_assert(em_etag(b, "two", 3));
	ck_assert_str_ne(a, b);
	ck_assert(a[0] == '"' && a[strlen(a) - 1] == '"');
}
END_TEST

START_TEST(lists_of_tags)
{
	static const char *const yes[] = { "\"x\"",	  "W/\"x\"",	  "*",
					   " * ",	  "\"a\", \"x\"", "\"a\",W/\"x\" , \"b\"",
					   "\"a,\",\"x\"" };
	static const char *const no[] = { "",	 "x",	     "\"X\"",	 "\"xx\"",
					  "\"x", "\"a\", x", "*, \"a\"", "\"ax\"",
					  ",,",	 "W/",	     "\"" };

	for (unsigned i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(em_etag_matches(yes[i], "\"x\""), "%s", yes[i]);
	for (unsigned i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!em_etag_matches(no[i], "\"x\""), "%s", no[i]);
}
END_TEST

START_TEST(what_may_be_compressed)
{
	static const char *const yes[] = { "gzip",	  "deflate, gzip;q=0.5", "GZIP",      "*",
					   "br, *;q=0.1", "gzip ; q=1",		 "*;q=0,gzip" };
	static const char *const no[] = { "",		"identity", "gzip;q=0", "gzip; q=0.000",
					  "gzip;q=0,*", "*;q=0",    "xgzip",	"gzip-x" };

	for (unsigned i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		ck_assert_msg(em_accepts_gzip(yes[i]), "%s", yes[i]);
	for (unsigned i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		ck_assert_msg(!em_accepts_gzip(no[i]), "%s", no[i]);
	ck_assert(em_accepts_type("text/html, text/event-stream;q=0.9", "text/event-stream"));
	ck_assert(!em_accepts_type("text/*, */*", "text/event-stream"));
}
END_TEST

static struct em_reply make_reply(size_t len, bool noise)
{
	struct em_reply reply = { .status = 200, .body = malloc(len), .len = len };
	unsigned dice = 1;

	for (size_t i = 0; i < len; i++) {
		dice = dice * 1103515245 + 12345;
		reply.body[i] = noise ? (char)(dice >> 16) : "ember "[i % 6];
	}
	return reply;
}

START_TEST(compressed_is_the_same)
{
	struct em_reply reply = make_reply(100000, false), plain = make_reply(100000, false);
	char tag[EM_ETAG_SIZE], *back = malloc(plain.len);
	z_stream stream = { 0 };

	ck_assert(em_etag(reply.etag, reply.body, reply.len));
	strcpy(tag, reply.etag);
	em_reply_gzip(&reply);
	ck_assert(reply.gzip && reply.len < plain.len / 10);
	/* Another form, another tag. */
	ck_assert_str_ne(tag, reply.etag);
	ck_assert(em_etag_matches(reply.etag, reply.etag));
	ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = (Bytef *)reply.body;
	stream.avail_in = (uInt)reply.len;
	stream.next_out = (Bytef *)back;
	stream.avail_out = (uInt)plain.len;
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(stream.total_out, plain.len);
	ck_assert_int_eq(memcmp(back, plain.body, plain.len), 0);
	inflateEnd(&stream);
	free(back);
	em_reply_done(&reply);
	em_reply_done(&plain);
}
END_TEST

static void expect_plain(size_t len, bool noise)
{
	struct em_reply reply = make_reply(len, noise);

	em_reply_gzip(&reply);
	ck_assert(!reply.gzip && reply.len == len);
	em_reply_done(&reply);
}

START_TEST(not_worth_it)
{
	struct em_reply none = { .status = 204 };

	expect_plain(EM_GZIP_MIN - 1, false);
	expect_plain(EM_GZIP_MAX + 1, false);
	expect_plain(10000, true);
	em_reply_gzip(&none);
	ck_assert(!none.gzip);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, tags_stand_for_bytes);
	tcase_add_test(tc, lists_of_tags);
	tcase_add_test(tc, what_may_be_compressed);
	tcase_add_test(tc, compressed_is_the_same);
	tcase_add_test(tc, not_worth_it);
	return run_tests(tc);
}
