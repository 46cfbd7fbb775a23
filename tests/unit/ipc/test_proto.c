/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"
#include "tests/unit/runner.h"

#define SAMPLES 6
#define BIG	(EM_IPC_INLINE_MAX + 4096)

static uint8_t packet[EM_IPC_PACKET_MAX];
static const uint8_t data[4] = { 1, 2, 3, 4 };

static void fill_reply(struct em_ipc_message *message, enum em_answer answer)
{
	message->kind = EM_IPC_REPLY;
	message->reply = (struct em_ipc_reply){ .id = 0x01020304,
						.drive = 5,
						.answer = answer,
						.elapsed_us = UINT64_C(0x1122334455667788),
						.data_fd = -1 };
}

static void fill_drive(struct em_ipc_message *message)
{
	struct em_ipc_drive *drive = &message->drive;

	message->kind = EM_IPC_DRIVE;
	drive->drive = 9;
	drive->change = EM_DRIVE_PRESENT;
	strcpy(drive->device, "nvme0");
	memset(drive->serial, 's', EM_IPC_STRING_MAX - 1);
	strcpy(drive->model, "line\nfeed \xff");
	strcpy(drive->subsystem_nqn, "nqn.2014-08.org.example:x");
	strcpy(drive->address, "0000:01:00.0");
	strcpy(drive->transport, "pcie");
	strcpy(drive->state, "live");
	strcpy(drive->cntlid, "1");
}

/* One message of each kind, and replies of each shape. */
static void fill(unsigned which, struct em_ipc_message *ret)
{
	memset(ret, 0, sizeof(*ret));
	switch (which) {
	case 0:
		ret->kind = EM_IPC_REQUEST;
		ret->request = (struct em_ipc_request){ .id = 7,
							.drive = 3,
							.op = EM_OP_SANITIZE,
							.page = 0xca,
							.lsp = 5,
							.lsi = 0x1234,
							.nsid = UINT32_MAX,
							.offset = UINT64_C(0x0123456789abcdef),
							.len = EM_IPC_DATA_MAX,
							.arg = 0x1f };
		break;
	case 1:
		fill_reply(ret, EM_ANSWER_DONE);
		ret->reply.data = data;
		ret->reply.data_len = sizeof(data);
		ret->reply.result = 0x80000001;
		break;
	case 2:
		fill_reply(ret, EM_ANSWER_STATUS);
		ret->reply.status = 0x6115;
		break;
	case 3:
		fill_drive(ret);
		break;
	case 4:
		ret->kind = EM_IPC_EVENT;
		ret->event = (struct em_ipc_event){ 4, EM_EVENT_AEN, 0x020101 };
		break;
	case 5:
		ret->kind = EM_IPC_SYNC;
		break;
	}
}

static size_t encode(unsigned which)
{
	struct em_ipc_message message;
	ptrdiff_t len;

	fill(which, &message);
	len = em_ipc_encode(&message, packet, sizeof(packet));
	ck_assert_int_gt(len, 0);
	return (size_t)len;
}

/* The decoder gets a copy of exactly len bytes, so that the sanitizer sees any step beyond. */
static int decode(const uint8_t *bytes, size_t len, struct em_ipc_message *ret)
{
	uint8_t *copy = malloc(len ? len : 1);
	int r;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	r = em_ipc_decode(copy, len, -1, ret);
	if (r == 0 && ret->kind == EM_IPC_REPLY && ret->reply.data)
		ck_assert_mem_eq(ret->reply.data, bytes + len - ret->reply.data_len,
				 ret->reply.data_len);
	free(copy);
	return r;
}

START_TEST(what_is_encoded_is_decoded)
{
	struct em_ipc_message sent, got;

	for (unsigned i = 0; i < SAMPLES; i++) {
		size_t len = encode(i);

		fill(i, &sent);
		ck_assert_int_eq(em_ipc_decode(packet, len, -1, &got), 0);
		ck_assert_int_eq(got.kind, sent.kind);
		if (sent.kind == EM_IPC_REPLY && sent.reply.data) {
			ck_assert_mem_eq(got.reply.data, sent.reply.data, sent.reply.data_len);
			got.reply.data = sent.reply.data;
		}
		ck_assert_mem_eq(&got, &sent, sizeof(sent));
	}
}
END_TEST

START_TEST(the_wire_does_not_change_unnoticed)
{
	static const uint8_t event[] = { 'E', 'm', 'b', 'r', 1, 0, 4, 0, 12, 0, 0, 0, 0, 0,
					 0,   0,   4,	0,   0, 0, 1, 0, 0,  0, 1, 1, 2, 0 };

	ck_assert_uint_eq(encode(4), sizeof(event));
	ck_assert_mem_eq(packet, event, sizeof(event));
}
END_TEST

START_TEST(every_truncation_and_every_excess_is_refused)
{
	struct em_ipc_message got;

	for (unsigned i = 0; i < SAMPLES; i++) {
		size_t len = encode(i);

		for (size_t cut = 0; cut < len; cut++)
			ck_assert_int_eq(decode(packet, cut, &got), -EBADMSG);
		packet[len] = 0;
		ck_assert_int_eq(decode(packet, len + 1, &got), -EBADMSG);
	}
}
END_TEST

START_TEST(every_flipped_bit_of_the_header_is_refused)
{
	struct em_ipc_message got;

	for (unsigned i = 0; i < SAMPLES; i++) {
		size_t len = encode(i);

		for (unsigned bit = 0; bit < 16 * 8; bit++) {
			packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
			ck_assert_msg(decode(packet, len, &got) == -EBADMSG, "%u bit %u", i, bit);
			packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}
END_TEST

/* A flip in the body may be another good message, but then it must encode to those very bytes. */
START_TEST(what_is_decoded_encodes_to_the_same_bytes)
{
	static uint8_t again[EM_IPC_PACKET_MAX];
	struct em_ipc_message got;

	for (unsigned i = 0; i < SAMPLES; i++) {
		size_t len = encode(i);

		for (size_t bit = 16 * 8; bit < len * 8; bit++) {
			packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
			if (em_ipc_decode(packet, len, -1, &got) == 0) {
				ck_assert_int_eq(em_ipc_encode(&got, again, sizeof(again)),
						 (ptrdiff_t)len);
				ck_assert_mem_eq(again, packet, len);
			}
			packet[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
}
END_TEST

START_TEST(two_changed_bytes_never_break_the_decoder)
{
	struct em_ipc_message got;
	uint32_t seed = 1;

	for (unsigned round = 0; round < 20000; round++) {
		size_t len = encode(round % SAMPLES);

		for (unsigned i = 0; i < 2; i++) {
			seed = seed * 1664525 + 1013904223;
			packet[(seed >> 8) % len] = (uint8_t)(seed >> 24);
		}
		decode(packet, len, &got);
	}
}
END_TEST

START_TEST(messages_that_make_no_sense_are_not_encoded)
{
	struct em_ipc_message message;

	fill(0, &message);
	message.request.len = EM_IPC_DATA_MAX + 1;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(0, &message);
	message.request.op = EM_OP_COUNT;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(2, &message);
	message.reply.status = 0;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(1, &message);
	message.reply.err = 5;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(1, &message);
	message.reply.answer = EM_ANSWER_TIMEOUT;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(3, &message);
	strcpy(message.drive.device, "../x");
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(3, &message);
	message.drive.drive = 0;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
	fill(3, &message);
	ck_assert_int_eq(em_ipc_encode(&message, packet, 100), -EMSGSIZE);
	message.kind = (enum em_ipc_kind)6;
	ck_assert_int_eq(em_ipc_encode(&message, packet, sizeof(packet)), -EINVAL);
}
END_TEST

START_TEST(names_and_classes)
{
	enum em_class cls = EM_CLASS_READ;
	enum em_op op = EM_OP_IDENTIFY;

	for (unsigned i = 0; i < EM_OP_COUNT; i++) {
		ck_assert_int_eq(em_op_find(em_op_name((enum em_op)i), &op), 0);
		ck_assert_int_eq(op, i);
	}
	ck_assert_int_eq(em_op_class(EM_OP_GET_LOG), EM_CLASS_READ);
	ck_assert_int_eq(em_op_class(EM_OP_ARM_EVENTS), EM_CLASS_ARM);
	ck_assert_int_eq(em_op_class(EM_OP_FORMAT), EM_CLASS_ERASE);
	ck_assert_int_eq(em_op_class((enum em_op)99), EM_CLASS_ERASE);
	ck_assert_int_eq(em_class_find("firmware", &cls), 0);
	ck_assert_int_eq(cls, EM_CLASS_FIRMWARE);
	ck_assert_int_eq(em_class_find("nothing", &cls), -ENOENT);
	ck_assert_str_eq(em_answer_name(EM_ANSWER_NEEDS_CONFIRMATION), "needs-confirmation");
	ck_assert_str_eq(em_answer_name((enum em_answer)99), "unknown");
}
END_TEST

static void make_pair(int pair[2])
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

static unsigned open_fds(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

START_TEST(messages_travel_and_the_end_is_told)
{
	struct em_ipc_message sent, got;
	int pair[2];

	make_pair(pair);
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, sizeof(packet), &got), -EAGAIN);
	fill(1, &sent);
	ck_assert_int_eq(em_ipc_send(pair[0], &sent), 0);
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, sizeof(packet), &got), 1);
	ck_assert_int_eq(got.reply.data_fd, -1);
	ck_assert_mem_eq(got.reply.data, data, sizeof(data));
	close(pair[0]);
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, sizeof(packet), &got), 0);
	ck_assert_int_eq(em_ipc_send(pair[1], &sent), -EPIPE);
	close(pair[1]);
}
END_TEST

START_TEST(a_peer_that_does_not_read_is_told_from_one_that_is_gone)
{
	struct em_ipc_message sent;
	int pair[2], r = 0;

	make_pair(pair);
	fill(3, &sent);
	for (unsigned i = 0; i < 100000 && r == 0; i++)
		r = em_ipc_send(pair[0], &sent);
	ck_assert_int_eq(r, -EAGAIN);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(much_data_travels_as_a_sealed_memfd)
{
	uint8_t *big = malloc(BIG), *back = malloc(BIG);
	unsigned before = open_fds();
	struct em_ipc_message sent, got;
	int pair[2];

	memset(big, 0xa5, BIG);
	make_pair(pair);
	fill_reply(&sent, EM_ANSWER_DONE);
	sent.reply.data = big;
	sent.reply.data_len = BIG;
	ck_assert_int_eq(em_ipc_send(pair[0], &sent), 0);
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, sizeof(packet), &got), 1);
	ck_assert_ptr_null(got.reply.data);
	ck_assert_uint_eq(got.reply.data_len, BIG);
	ck_assert_int_eq(pread(got.reply.data_fd, back, BIG, 0), BIG);
	ck_assert_mem_eq(big, back, BIG);
	ck_assert_int_lt(pwrite(got.reply.data_fd, "x", 1, 0), 0);
	close(got.reply.data_fd);
	close(pair[0]);
	close(pair[1]);
	ck_assert_uint_eq(open_fds(), before);
	free(big);
	free(back);
}
END_TEST

/* Sends a packet of ours with count copies of passed. */
static void send_raw(int fd, size_t len, int passed, unsigned count)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { packet, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes };

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(count * sizeof(int));
	msg.msg_controllen = CMSG_SPACE(count * sizeof(int));
	for (unsigned i = 0; i < count; i++)
		memcpy(CMSG_DATA(&control.align) + i * sizeof(int), &passed, sizeof(int));
	ck_assert_int_eq(sendmsg(fd, &msg, 0), (ssize_t)len);
}

/* What receive says to a reply that names BIG bytes when these descriptors come with it. */
static int receive_with(int passed, unsigned count)
{
	struct em_ipc_message message, got;
	unsigned before = open_fds();
	ptrdiff_t len;
	int pair[2], r;

	make_pair(pair);
	fill_reply(&message, EM_ANSWER_DONE);
	message.reply.data_len = BIG;
	len = em_ipc_encode(&message, packet, sizeof(packet));
	ck_assert_int_gt(len, 0);
	if (count)
		send_raw(pair[0], (size_t)len, passed, count);
	else
		ck_assert_int_eq(send(pair[0], packet, (size_t)len, 0), len);
	r = em_ipc_receive(pair[1], packet, sizeof(packet), &got);
	if (r == 1)
		close(got.reply.data_fd);
	close(pair[0]);
	close(pair[1]);
	ck_assert_uint_eq(open_fds(), before);
	return r;
}

static int memfd(off_t size, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, size), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

START_TEST(a_descriptor_that_could_change_is_refused)
{
	static const struct {
		off_t size;
		int seals, expected;
	} cases[] = {
		{ BIG, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE, 1 },
		{ BIG, F_SEAL_GROW | F_SEAL_WRITE, -EBADMSG },
		{ BIG, F_SEAL_SHRINK | F_SEAL_WRITE, -EBADMSG },
		{ BIG, F_SEAL_SHRINK | F_SEAL_GROW, -EBADMSG },
		{ BIG - 1, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE, -EBADMSG },
		{ BIG + 1, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE, -EBADMSG },
	};

	for (size_t i = 0; i < EM_COUNT(cases); i++) {
		int fd = memfd(cases[i].size, cases[i].seals);

		ck_assert_int_eq(receive_with(fd, 1), cases[i].expected);
		close(fd);
	}
}
END_TEST

START_TEST(missing_and_unasked_descriptors_are_refused_and_closed)
{
	int fd = memfd(BIG, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), pair[2];
	struct em_ipc_message got;
	unsigned before = open_fds();
	size_t len;

	ck_assert_int_eq(receive_with(-1, 0), -EBADMSG);
	ck_assert_int_eq(receive_with(null, 1), -EBADMSG);
	ck_assert_int_eq(receive_with(fd, 2), -EBADMSG);
	make_pair(pair);
	len = encode(1);
	send_raw(pair[0], len, null, 1);
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, sizeof(packet), &got), -EBADMSG);
	close(pair[0]);
	close(pair[1]);
	ck_assert_uint_eq(open_fds(), before);
	close(fd);
	close(null);
}
END_TEST

START_TEST(a_packet_above_the_limit_is_refused)
{
	static uint8_t huge[EM_IPC_PACKET_MAX + 1];
	struct em_ipc_message got;
	size_t len;
	int pair[2];

	make_pair(pair);
	ck_assert_int_eq(send(pair[0], huge, sizeof(huge), 0), sizeof(huge));
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, sizeof(packet), &got), -EBADMSG);
	len = encode(1); /* a good message, and more behind it that the buffer does not hold */
	ck_assert_int_eq(send(pair[0], packet, len + 1, 0), (ssize_t)len + 1);
	ck_assert_int_eq(em_ipc_receive(pair[1], packet, len, &got), -EBADMSG);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

/* The device name is the first string: 16 bytes of header and 8 of the drive stand before it. */
START_TEST(a_string_longer_than_its_place_is_refused)
{
	static uint8_t longer[EM_IPC_PACKET_MAX];
	struct em_ipc_message got;
	size_t len = encode(3), at = 16 + 8, old = strlen("nvme0");

	for (size_t name = 31; name <= 32; name++) {
		size_t body = len - 16 - old + name;

		memcpy(longer, packet, at);
		longer[8] = (uint8_t)body;
		longer[9] = (uint8_t)(body >> 8);
		longer[at] = (uint8_t)name;
		longer[at + 1] = 0;
		memset(longer + at + 2, 'n', name);
		memcpy(longer + at + 2 + name, packet + at + 2 + old, len - at - 2 - old);
		ck_assert_int_eq(decode(longer, 16 + body, &got), name == 31 ? 0 : -EBADMSG);
	}
}
END_TEST

START_TEST(the_most_inline_data_fits_a_packet)
{
	uint8_t *most = calloc(1, EM_IPC_INLINE_MAX);
	struct em_ipc_message sent;

	fill_reply(&sent, EM_ANSWER_DONE);
	sent.reply.data = most;
	sent.reply.data_len = EM_IPC_INLINE_MAX;
	ck_assert_int_gt(em_ipc_encode(&sent, packet, sizeof(packet)), EM_IPC_INLINE_MAX);
	free(most);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("proto");

	tcase_add_test(tcase, what_is_encoded_is_decoded);
	tcase_add_test(tcase, the_wire_does_not_change_unnoticed);
	tcase_add_test(tcase, every_truncation_and_every_excess_is_refused);
	tcase_add_test(tcase, every_flipped_bit_of_the_header_is_refused);
	tcase_add_test(tcase, what_is_decoded_encodes_to_the_same_bytes);
	tcase_add_test(tcase, two_changed_bytes_never_break_the_decoder);
	tcase_add_test(tcase, messages_that_make_no_sense_are_not_encoded);
	tcase_add_test(tcase, names_and_classes);
	tcase_add_test(tcase, messages_travel_and_the_end_is_told);
	tcase_add_test(tcase, a_peer_that_does_not_read_is_told_from_one_that_is_gone);
	tcase_add_test(tcase, much_data_travels_as_a_sealed_memfd);
	tcase_add_test(tcase, a_descriptor_that_could_change_is_refused);
	tcase_add_test(tcase, missing_and_unasked_descriptors_are_refused_and_closed);
	tcase_add_test(tcase, a_packet_above_the_limit_is_refused);
	tcase_add_test(tcase, a_string_longer_than_its_place_is_refused);
	tcase_add_test(tcase, the_most_inline_data_fits_a_packet);
	return run_tests(tcase);
}
