/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker protocol, read by either side.
 * Input: what descriptor came along (1 byte: 0 none, 1 any, 2 a sealed memfd of the size in the
 * next 3 bytes), the packet.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "broker/operations.h"
#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"
#include "tests/fuzz/fuzz.h"

/* There is one way to say a thing: what is understood is what would be said. */
static void check_same(const struct em_ipc_message *message, const uint8_t *packet, size_t len)
{
	static uint8_t again[EM_IPC_PACKET_MAX];

	fuzz_check(em_ipc_encode(message, again, sizeof(again)) == (ptrdiff_t)len);
	fuzz_check(memcmp(again, packet, len) == 0);
}

/* What is understood can be said again, and means the same. */
static void check_again(const struct em_ipc_message *message)
{
	static uint8_t first[EM_IPC_PACKET_MAX], second[EM_IPC_PACKET_MAX];
	struct em_ipc_message again;
	ptrdiff_t len = em_ipc_encode(message, first, sizeof(first));

	fuzz_check(len > 0);
	fuzz_check(em_ipc_decode(first, (size_t)len, -1, &again) == 0);
	fuzz_check(again.kind == message->kind);
	fuzz_check(em_ipc_encode(&again, second, sizeof(second)) == len);
	fuzz_check(memcmp(first, second, (size_t)len) == 0);
}

/* The broker's side: nothing gets to a drive that the operation's row does not allow. */
static void check_request(const struct em_ipc_request *request)
{
	const struct em_operation *operation;

	fuzz_check((unsigned)request->op < EM_OP_COUNT);
	fuzz_check((unsigned)em_op_class(request->op) < EM_CLASS_COUNT);
	operation = em_operation_find(request->op);
	fuzz_check(operation);
	if (!operation->run || operation->check(request))
		return;
	fuzz_check(request->len <= EM_IPC_DATA_MAX);
	fuzz_check(em_op_class(request->op) <= EM_CLASS_TEST);
}

static void check_texts(const struct em_ipc_drive *drive)
{
	fuzz_check(memchr(drive->device, '\0', sizeof(drive->device)));
	fuzz_check(memchr(drive->serial, '\0', sizeof(drive->serial)));
	fuzz_check(memchr(drive->model, '\0', sizeof(drive->model)));
	fuzz_check(memchr(drive->state, '\0', sizeof(drive->state)));
}

static void check_reply(const struct em_ipc_reply *reply, const uint8_t *packet, size_t len)
{
	fuzz_check((unsigned)reply->answer < EM_ANSWER_COUNT);
	if (reply->data)
		fuzz_check(reply->data >= packet && reply->data + reply->data_len <= packet + len);
	fuzz_check(reply->data_len <= EM_IPC_DATA_MAX);
}

static int take_fd(struct fuzz_input *in)
{
	uint32_t size;
	int fd;

	switch (fuzz_u8(in) % 3) {
	case 1:
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	case 2:
		size = fuzz_u16(in);
		size |= (uint32_t)fuzz_u8(in) << 16;
		fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		fuzz_check(fd >= 0 && ftruncate(fd, size) == 0);
		fuzz_check(fcntl(fd, F_ADD_SEALS,
				 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0);
		return fd;
	default:
		return -1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	int fd = take_fd(&in);
	em_cleanup(em_freep) uint8_t *packet = NULL;
	struct em_ipc_message message;
	bool has_fd;
	size_t len;

	packet = fuzz_copy(&in, in.left, &len);
	if (em_ipc_decode(packet, len, fd, &message) < 0) {
		em_closep(&fd);
		return 0;
	}
	has_fd = message.kind == EM_IPC_REPLY && message.reply.data_fd >= 0;
	if (message.kind == EM_IPC_REQUEST)
		check_request(&message.request);
	else if (message.kind == EM_IPC_REPLY)
		check_reply(&message.reply, packet, len);
	else if (message.kind == EM_IPC_DRIVE)
		check_texts(&message.drive);
	fuzz_check(has_fd == (fd >= 0));
	if (!has_fd) {
		check_same(&message, packet, len);
		check_again(&message);
	}
	em_closep(&fd);
	return 0;
}
