/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <libnvme.h>
#include <string.h>

#include "broker/checks.h"
#include "broker/operations.h"
#include "lib/base/cleanup.h"
#include "tests/unit/runner.h"

/* Stands in for libnvme's: keeps what would have been sent. */
#define SENT_MAX 64
static struct nvme_passthru_cmd sent[SENT_MAX];
static unsigned n_sent;
static int reply_ret, reply_errno, fail_at;
static uint32_t reply_result;

int nvme_submit_admin_passthru(int fd, struct nvme_passthru_cmd *cmd, __u32 *result)
{
	(void)fd;
	ck_assert_uint_lt(n_sent, SENT_MAX);
	sent[n_sent++] = *cmd;
	if (cmd->data_len > 0)
		memset((void *)(uintptr_t)cmd->addr, (int)n_sent, cmd->data_len);
	*result = reply_result;
	errno = reply_errno;
	return (int)n_sent - 1 == fail_at ? reply_ret : 0;
}

static void setup(void)
{
	n_sent = 0;
	reply_ret = reply_errno = 0;
	reply_result = 0;
	fail_at = -1;
}

static const char *check(const struct em_ipc_request *request)
{
	return em_operation_find(request->op)->check(request);
}

static uint8_t data[4 * EM_IDENTIFY_SIZE];

static struct em_outcome run(const struct em_ipc_request *request)
{
	struct em_outcome outcome = { 0 };

	ck_assert_ptr_null(check(request));
	em_operation_find(request->op)->run(7, request, 0, data, &outcome);
	return outcome;
}

START_TEST(every_operation_has_a_row)
{
	for (int op = 0; op < EM_OP_COUNT; op++) {
		const struct em_operation *row = em_operation_find(op);

		ck_assert_ptr_nonnull(row);
		/* What reads, arms or tests works; nothing beyond that does yet. */
		ck_assert_int_eq(row->run != NULL, em_op_class(op) <= EM_CLASS_TEST);
		ck_assert_int_eq(row->run != NULL, row->check != NULL);
		/* Never shorter than the kernel's own. */
		ck_assert_uint_eq(row->timeout_ms, 0);
	}
	ck_assert_ptr_null(em_operation_find(EM_OP_COUNT));
}
END_TEST

/* Tries all 256 pages; exactly these may pass. nsid is one of several tried. */
static void check_pages(struct em_ipc_request request, const uint8_t *allowed, size_t n)
{
	static const uint32_t nsids[] = { 0, 1, EM_NSID_ALL };

	for (int page = 0; page < 256; page++) {
		bool expected = memchr(allowed, page, n) != NULL, passes = false;

		request.page = (uint8_t)page;
		for (size_t i = 0; i < 3; i++) {
			request.nsid = nsids[i];
			passes |= check(&request) == NULL;
		}
		ck_assert_msg(passes == expected, "%s page %02x", em_op_name(request.op), page);
	}
}

START_TEST(only_listed_pages_pass)
{
	static const uint8_t cns[] = { 0,    1,	   2,	 3,    4,    8,	   0x10,
				       0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17 };
	/* 07h and 08h as they stand, since no parameter may ask to capture anew; not 0Dh, which
	 * creates; not C3h, which is consumed; not 04h, 80h. */
	static const uint8_t lid[] = { 0,    1,	   2,	 3,    5,    6,	   7,	 8,    9,   0x0a,
				       0x12, 0x13, 0x81, 0xc1, 0xc2, 0xca, 0xd0, 0xd1, 0xd2 };
	static const uint8_t fid[] = { 1,    2,	   4,	 5,    6,    7,	   8,	0x0a,
				       0x0b, 0x10, 0x11, 0x17, 0x84, 0xd0, 0xe1 };
	static const uint8_t events[] = { 1, 2 };
	static const uint8_t armed[] = { 0, 0x0b };
	static const uint8_t log_0d[] = { 0x0d };
	static const uint8_t protocols[] = { 0 }, discovery[] = { 1 };
	/* Not 0: no such test; not Eh, whatever the vendor's does. */
	static const uint8_t tests[] = { 1, 2, 0x0f };

	check_pages((struct em_ipc_request){ .op = EM_OP_IDENTIFY, .len = 4096 }, cns, sizeof(cns));
	check_pages((struct em_ipc_request){ .op = EM_OP_GET_LOG, .len = 512 }, lid, sizeof(lid));
	check_pages((struct em_ipc_request){ .op = EM_OP_GET_FEATURE }, fid, sizeof(fid));
	check_pages((struct em_ipc_request){ .op = EM_OP_ACKNOWLEDGE_EVENT, .len = 512 }, events,
		    sizeof(events));
	check_pages((struct em_ipc_request){ .op = EM_OP_PERSISTENT_EVENTS, .len = 512 }, log_0d,
		    sizeof(log_0d));
	check_pages((struct em_ipc_request){ .op = EM_OP_ARM_EVENTS, .arg = 1 }, armed,
		    sizeof(armed));
	check_pages((struct em_ipc_request){ .op = EM_OP_SECURITY_RECEIVE, .len = 512 }, protocols,
		    sizeof(protocols));
	check_pages((struct em_ipc_request){ .op = EM_OP_SECURITY_RECEIVE, .lsi = 1, .len = 512 },
		    discovery, sizeof(discovery));
	check_pages((struct em_ipc_request){ .op = EM_OP_SELF_TEST }, tests, sizeof(tests));
}
END_TEST

static const struct em_ipc_request good_requests[] = {
	{ .op = EM_OP_IDENTIFY, .page = 0, .nsid = 1, .len = 4096 },
	{ .op = EM_OP_IDENTIFY, .page = 0, .nsid = EM_NSID_ALL, .len = 4096 },
	{ .op = EM_OP_IDENTIFY, .page = 2, .nsid = 0, .len = 4096 },
	{ .op = EM_OP_IDENTIFY, .page = 0x13, .lsi = 5, .len = 4096 },
	{ .op = EM_OP_GET_LOG, .page = 2, .nsid = 3, .len = 512 },
	{ .op = EM_OP_GET_LOG, .page = 9, .lsi = 1, .len = 512 },
	{ .op = EM_OP_GET_LOG, .page = 0xd2, .offset = 4096, .len = EM_IPC_DATA_MAX },
	{ .op = EM_OP_GET_FEATURE, .page = 0x0c, .len = 256 },
	{ .op = EM_OP_GET_FEATURE, .page = 0x0c, .lsp = 3 },
	{ .op = EM_OP_GET_FEATURE, .page = 0xe2, .len = 32 },
	{ .op = EM_OP_IDENTIFY_ANY, .page = 0xfe, .nsid = 9, .lsi = 5, .len = 4096 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0xc3, .nsid = EM_NSID_ALL, .len = 4096 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 7, .lsp = 1, .lsi = 3, .len = 512 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0x0d, .lsp = 0x7f, .offset = 512, .len = 4 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .nsid = 1, .len = 4096 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .nsid = EM_NSID_ALL, .len = 65536 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .offset = 4096, .len = 4 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xe2, .lsp = 3 },
	{ .op = EM_OP_ARM_EVENTS, .arg = 0x1f },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 0, .lsi = 0, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 4096 },
	{ .op = EM_OP_SELF_TEST, .page = 1 },
	{ .op = EM_OP_SELF_TEST, .page = 2, .nsid = EM_NSID_ALL },
	{ .op = EM_OP_SELF_TEST, .page = 2, .nsid = 7 },
	{ .op = EM_OP_SELF_TEST, .page = 0x0f, .nsid = EM_NSID_ALL },
};

static const struct em_ipc_request bad_requests[] = {
	{ .op = EM_OP_IDENTIFY, .page = 1, .len = 4092 },
	{ .op = EM_OP_IDENTIFY, .page = 1, .len = 4096, .nsid = 1 },
	{ .op = EM_OP_IDENTIFY, .page = 0, .len = 4096, .nsid = 0 },
	{ .op = EM_OP_IDENTIFY, .page = 3, .len = 4096, .nsid = EM_NSID_ALL },
	{ .op = EM_OP_IDENTIFY, .page = 2, .len = 4096, .nsid = 0xfffffffe },
	{ .op = EM_OP_IDENTIFY, .page = 1, .len = 4096, .lsi = 1 },
	{ .op = EM_OP_IDENTIFY, .page = 1, .len = 4096, .offset = 4 },
	{ .op = EM_OP_IDENTIFY, .page = 1, .len = 4096, .lsp = 1 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 2, .len = 512 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 0 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 65540 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 512, .offset = 2 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 512, .lsp = 1 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 512, .lsi = 1 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 512, .arg = 1 },
	{ .op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .len = 512, .nsid = 1 },
	{ .op = EM_OP_IDENTIFY_ANY, .page = 1, .len = 4092 },
	{ .op = EM_OP_IDENTIFY_ANY, .page = 1, .len = 4096, .offset = 4 },
	{ .op = EM_OP_IDENTIFY_ANY, .page = 1, .len = 4096, .lsp = 1 },
	{ .op = EM_OP_IDENTIFY_ANY, .page = 1, .len = 4096, .arg = 1 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0xc3, .len = 0 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0xc3, .len = 510 },
	/* More than one command: the second would consume, or begin, once more. */
	{ .op = EM_OP_GET_LOG_ANY, .page = 0xc3, .len = 4100 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0xc3, .len = 512, .offset = 2 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0x0d, .len = 512, .lsp = 0x80 },
	{ .op = EM_OP_GET_LOG_ANY, .page = 0xc3, .len = 512, .arg = 1 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .len = 4100 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .len = 6 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .lsp = 4 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .lsi = 1 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .offset = 4 },
	{ .op = EM_OP_GET_FEATURE_ANY, .page = 0xfe, .arg = 1 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 0 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 510 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = EM_IPC_DATA_MAX + 4 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 512, .offset = 2 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 512, .offset = UINT64_MAX - 3 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 512, .lsp = 1 },
	{ .op = EM_OP_GET_LOG, .page = 7, .len = 512, .lsp = 1 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 512, .lsi = 1 },
	{ .op = EM_OP_GET_LOG, .page = 3, .len = 512, .nsid = 1 },
	{ .op = EM_OP_GET_LOG, .page = 2, .len = 512, .arg = 1 },
	{ .op = EM_OP_GET_FEATURE, .page = 0x0b, .lsp = 4 },
	{ .op = EM_OP_GET_FEATURE, .page = 0x0b, .len = 4 },
	{ .op = EM_OP_GET_FEATURE, .page = 0x0c, .len = 255 },
	{ .op = EM_OP_GET_FEATURE, .page = 0x0b, .arg = 1 },
	{ .op = EM_OP_GET_FEATURE, .page = 0x84, .nsid = 0 },
	{ .op = EM_OP_ACKNOWLEDGE_EVENT, .page = 2, .len = 4100 },
	{ .op = EM_OP_ACKNOWLEDGE_EVENT, .page = 2, .len = 512, .nsid = 1 },
	{ .op = EM_OP_ACKNOWLEDGE_EVENT, .page = 2, .len = 512, .offset = 4 },
	{ .op = EM_OP_ARM_EVENTS, .arg = 0 },
	{ .op = EM_OP_ARM_EVENTS, .arg = 0x20 },
	{ .op = EM_OP_ARM_EVENTS, .arg = 0x11f },
	{ .op = EM_OP_ARM_EVENTS, .arg = 1, .len = 4 },
	{ .op = EM_OP_ARM_EVENTS, .arg = 1, .nsid = 1 },
	/* Certificates; a ComID's own answers; TPer reset; FIPS; ATA. */
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 0, .lsi = 1, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 0, .lsi = 2, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 0, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 2, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 0x0100, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 0x07fe, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 2, .lsi = 1, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 0xea, .lsi = 1, .len = 512 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 0 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 510 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 4100 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 512, .nsid = 1 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 512, .nsid = EM_NSID_ALL },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 512, .lsp = 1 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 512, .arg = 1 },
	{ .op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 512, .offset = 4 },
	{ .op = EM_OP_SELF_TEST, .page = 1, .len = 4 },
	{ .op = EM_OP_SELF_TEST, .page = 1, .offset = 4 },
	{ .op = EM_OP_SELF_TEST, .page = 1, .lsp = 1 },
	{ .op = EM_OP_SELF_TEST, .page = 1, .lsi = 1 },
	{ .op = EM_OP_SELF_TEST, .page = 1, .arg = 1 },
};

START_TEST(good_numbers_pass)
{
	ck_assert_ptr_null(check(&good_requests[_i]));
}
END_TEST

START_TEST(bad_numbers_are_refused)
{
	ck_assert_ptr_nonnull(check(&bad_requests[_i]));
}
END_TEST

START_TEST(a_log_is_read_with_its_event_retained)
{
	struct em_outcome outcome = run(&(struct em_ipc_request){
		.op = EM_OP_GET_LOG, .page = 2, .nsid = EM_NSID_ALL, .len = 512 });

	ck_assert_int_eq(outcome.answer, EM_ANSWER_DONE);
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].opcode, 0x02);
	ck_assert_uint_eq(sent[0].nsid, 0xffffffff);
	ck_assert_uint_eq(sent[0].cdw10, 127u << 16 | 1u << 15 | 2);
	ck_assert_uint_eq(sent[0].cdw11, 0);
	ck_assert_uint_eq(sent[0].timeout_ms, 0);
}
END_TEST

START_TEST(a_long_log_is_read_piece_by_piece)
{
	run(&(struct em_ipc_request){
		.op = EM_OP_GET_LOG, .page = 0xd1, .offset = 0xfffff000, .len = 8196 });
	ck_assert_uint_eq(n_sent, 3);
	ck_assert_uint_eq(sent[1].cdw12, 0);
	ck_assert_uint_eq(sent[1].cdw13, 1);
	ck_assert_uint_eq(sent[2].cdw12, 4096);
	ck_assert_uint_eq(sent[2].data_len, 4);
	ck_assert_uint_eq(sent[2].cdw10 >> 16, 0);
	ck_assert_uint_eq(data[0], 1);
	ck_assert_uint_eq(data[4096], 2);
	ck_assert_uint_eq(data[8195], 3);
}
END_TEST

START_TEST(a_long_log_ends_at_the_first_failure)
{
	struct em_outcome outcome;

	fail_at = 1;
	reply_ret = 0x4109;
	outcome = run(&(struct em_ipc_request){ .op = EM_OP_GET_LOG, .page = 0xd1, .len = 12288 });
	ck_assert_uint_eq(n_sent, 2);
	ck_assert_int_eq(outcome.answer, EM_ANSWER_STATUS);
	ck_assert_uint_eq(outcome.status, 0x4109);
}
END_TEST

START_TEST(acknowledging_reads_without_retaining)
{
	run(&(struct em_ipc_request){
		.op = EM_OP_ACKNOWLEDGE_EVENT, .page = 2, .nsid = EM_NSID_ALL, .len = 512 });
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].opcode, 0x02);
	ck_assert_uint_eq(sent[0].cdw10, 127u << 16 | 2);
}
END_TEST

START_TEST(arming_keeps_the_kernels_bits)
{
	struct em_outcome outcome;

	reply_result = 0x300;
	outcome = run(&(struct em_ipc_request){ .op = EM_OP_ARM_EVENTS, .arg = 0x1f });
	ck_assert_uint_eq(n_sent, 2);
	ck_assert_uint_eq(sent[0].opcode, 0x0a);
	ck_assert_uint_eq(sent[0].cdw10, 0x0b);
	ck_assert_uint_eq(sent[1].opcode, 0x09);
	ck_assert_uint_eq(sent[1].cdw10, 0x0b);
	ck_assert_uint_eq(sent[1].cdw11, 0x31f);
	ck_assert_uint_eq(outcome.result, 0x31f);
}
END_TEST

START_TEST(arming_writes_nothing_when_it_cannot_read)
{
	fail_at = 0;
	reply_ret = 2;
	ck_assert_int_eq(run(&(struct em_ipc_request){ .op = EM_OP_ARM_EVENTS, .arg = 1 }).answer,
			 EM_ANSWER_STATUS);
	ck_assert_uint_eq(n_sent, 1);
}
END_TEST

START_TEST(identify_and_features_are_laid_out)
{
	run(&(struct em_ipc_request){
		.op = EM_OP_IDENTIFY, .page = 0x12, .nsid = 9, .lsi = 0x1234, .len = 4096 });
	ck_assert_uint_eq(sent[0].opcode, 0x06);
	ck_assert_uint_eq(sent[0].cdw10, 0x12340012);
	ck_assert_uint_eq(sent[0].nsid, 9);
	run(&(struct em_ipc_request){ .op = EM_OP_IDENTIFY, .page = 4, .lsi = 2, .len = 4096 });
	ck_assert_uint_eq(sent[1].cdw10, 4);
	ck_assert_uint_eq(sent[1].cdw11, 2);
	run(&(struct em_ipc_request){ .op = EM_OP_GET_FEATURE, .page = 0x0b, .lsp = 2 });
	ck_assert_uint_eq(sent[2].opcode, 0x0a);
	ck_assert_uint_eq(sent[2].cdw10, 0x20b);
	ck_assert_uint_eq(sent[2].addr, 0);
}
END_TEST

START_TEST(discovery_is_asked_as_the_specification_says)
{
	run(&(struct em_ipc_request){
		.op = EM_OP_SECURITY_RECEIVE, .page = 1, .lsi = 1, .len = 2048 });
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].opcode, 0x82);
	ck_assert_uint_eq(sent[0].nsid, 0);
	ck_assert_uint_eq(sent[0].cdw10, 0x01000100);
	ck_assert_uint_eq(sent[0].cdw11, 2048);
	ck_assert_uint_eq(sent[0].data_len, 2048);
	ck_assert_uint_eq(sent[0].timeout_ms, 0);
}
END_TEST

START_TEST(a_self_test_is_its_code_and_a_namespace)
{
	run(&(struct em_ipc_request){ .op = EM_OP_SELF_TEST, .page = 2, .nsid = EM_NSID_ALL });
	run(&(struct em_ipc_request){ .op = EM_OP_SELF_TEST, .page = 0x0f, .nsid = 3 });
	ck_assert_uint_eq(n_sent, 2);
	ck_assert_uint_eq(sent[0].opcode, 0x14);
	ck_assert_uint_eq(sent[0].nsid, 0xffffffff);
	ck_assert_uint_eq(sent[0].cdw10, 2);
	ck_assert_uint_eq(sent[0].data_len, 0);
	ck_assert_uint_eq(sent[0].addr, 0);
	ck_assert_uint_eq(sent[1].cdw10, 0x0f);
	ck_assert_uint_eq(sent[1].nsid, 3);
}
END_TEST

/* In one command, with the event kept and what the page is to do. */
START_TEST(any_page_is_read_by_one_command)
{
	run(&(struct em_ipc_request){ .op = EM_OP_GET_LOG_ANY,
				      .page = 0x0d,
				      .lsp = 1,
				      .lsi = 3,
				      .nsid = 2,
				      .len = 4096 });
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].opcode, 0x02);
	ck_assert_uint_eq(sent[0].nsid, 2);
	ck_assert_uint_eq(sent[0].cdw10, 0x03ff810d);
	ck_assert_uint_eq(sent[0].cdw11, 0x00030000);
}
END_TEST

static unsigned action(unsigned command)
{
	return sent[command].cdw10 >> 8 & 0x7f;
}

/* Established, read, released: on every path on which it was established. */
START_TEST(context_of_the_event_log_is_released)
{
	const struct em_ipc_request request = {
		.op = EM_OP_PERSISTENT_EVENTS, .page = 0x0d, .offset = 512, .len = 8192
	};
	struct em_outcome outcome = run(&request);

	ck_assert_int_eq(outcome.answer, EM_ANSWER_DONE);
	ck_assert_uint_eq(n_sent, 4);
	ck_assert_uint_eq(action(0), 1);
	ck_assert_uint_eq(action(1), 0);
	ck_assert_uint_eq(sent[1].cdw12, 512);
	ck_assert_uint_eq(action(2), 0);
	ck_assert_uint_eq(sent[2].cdw12, 512 + 4096);
	ck_assert_uint_eq(action(3), 2);

	setup();
	reply_ret = 0x2002;
	fail_at = 2; /* the second part */
	outcome = run(&request);
	ck_assert_int_eq(outcome.answer, EM_ANSWER_STATUS);
	ck_assert_uint_eq(n_sent, 4);
	ck_assert_uint_eq(action(3), 2);

	setup();
	reply_ret = 0x000c; /* somebody else has it: it is not ours to release */
	fail_at = 0;
	outcome = run(&request);
	ck_assert_int_eq(outcome.answer, EM_ANSWER_STATUS);
	ck_assert_uint_eq(n_sent, 1);

	setup();
	reply_ret = 0x0006;
	fail_at = 3; /* what cannot be released is told */
	outcome = run(&request);
	ck_assert_int_eq(outcome.answer, EM_ANSWER_STATUS);
}
END_TEST

START_TEST(errors_of_the_host_are_no_status)
{
	static const struct em_ipc_request request = { .op = EM_OP_GET_FEATURE, .page = 1 };
	struct em_outcome outcome;

	fail_at = 0;
	reply_ret = -1;
	reply_errno = EPERM;
	outcome = run(&request);
	ck_assert_int_eq(outcome.answer, EM_ANSWER_HOST_ERROR);
	ck_assert_int_eq(outcome.err, EPERM);
	setup();
	fail_at = 0;
	reply_ret = -1;
	reply_errno = ENODEV;
	ck_assert_int_eq(run(&request).answer, EM_ANSWER_GONE);
	/* Nothing that a reply could not carry. */
	setup();
	fail_at = 0;
	reply_ret = -1;
	ck_assert_int_eq(run(&request).err, EIO);
	setup();
	fail_at = 0;
	reply_ret = 0x10000;
	ck_assert_int_eq(run(&request).answer, EM_ANSWER_HOST_ERROR);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("operations");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, every_operation_has_a_row);
	tcase_add_test(tc, only_listed_pages_pass);
	tcase_add_loop_test(tc, good_numbers_pass, 0, (int)EM_COUNT(good_requests));
	tcase_add_loop_test(tc, bad_numbers_are_refused, 0, (int)EM_COUNT(bad_requests));
	tcase_add_test(tc, a_log_is_read_with_its_event_retained);
	tcase_add_test(tc, a_long_log_is_read_piece_by_piece);
	tcase_add_test(tc, a_long_log_ends_at_the_first_failure);
	tcase_add_test(tc, acknowledging_reads_without_retaining);
	tcase_add_test(tc, arming_keeps_the_kernels_bits);
	tcase_add_test(tc, arming_writes_nothing_when_it_cannot_read);
	tcase_add_test(tc, identify_and_features_are_laid_out);
	tcase_add_test(tc, discovery_is_asked_as_the_specification_says);
	tcase_add_test(tc, a_self_test_is_its_code_and_a_namespace);
	tcase_add_test(tc, any_page_is_read_by_one_command);
	tcase_add_test(tc, context_of_the_event_log_is_released);
	tcase_add_test(tc, errors_of_the_host_are_no_status);
	return run_tests(tc);
}
