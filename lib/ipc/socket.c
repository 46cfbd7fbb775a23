/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"

/* More than one descriptor is not our protocol, but those that come have to be closed. */
#define FDS_MAX 8

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static int make_memfd(const uint8_t *data, size_t len, int *ret)
{
	em_cleanup(em_closep) int fd = memfd_create("ember-data", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, data, len);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	*ret = em_steal_fd(&fd);
	return 0;
}

/* passed: a descriptor to go with the packet, or -1. */
static int send_packet(int fd, const void *packet, size_t len, int passed)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (void *)packet, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (passed >= 0) {
		struct cmsghdr *c = &control.align;

		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &passed, sizeof(int));
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
	}
	do {
		n = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int em_ipc_send(int fd, const struct em_ipc_message *message)
{
	em_cleanup(em_freep) uint8_t *packet = malloc(EM_IPC_PACKET_MAX);
	em_cleanup(em_closep) int made = -1;
	int passed = -1;
	ptrdiff_t len;

	if (!packet)
		return -ENOMEM;
	len = em_ipc_encode(message, packet, EM_IPC_PACKET_MAX);
	if (len < 0)
		return (int)len;
	if (message->kind == EM_IPC_REPLY && message->reply.data_len > EM_IPC_INLINE_MAX) {
		passed = message->reply.data ? -1 : message->reply.data_fd;
		if (message->reply.data) {
			int r = make_memfd(message->reply.data, message->reply.data_len, &made);

			if (r < 0)
				return r;
			passed = made;
		}
		if (passed < 0)
			return -EINVAL;
	}
	return send_packet(fd, packet, (size_t)len, passed);
}

struct received_fds {
	int fds[FDS_MAX];
	unsigned count;
};

static void close_fds(struct received_fds *got)
{
	for (unsigned i = 0; i < got->count; i++)
		em_closep(&got->fds[i]);
}

static void collect_fds(struct msghdr *msg, struct received_fds *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count && ret->count < FDS_MAX; i++)
			memcpy(&ret->fds[ret->count++], CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
	}
}

int em_ipc_receive(int fd, uint8_t *buf, size_t size, struct em_ipc_message *ret)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	em_cleanup(close_fds) struct received_fds got = { .count = 0 };
	ssize_t n;
	int passed;

	do {
		n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -errno;
	collect_fds(&msg, &got);
	if (n == 0 && got.count == 0)
		return 0;
	if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || got.count > 1)
		return -EBADMSG;
	passed = got.count ? got.fds[0] : -1;
	if (em_ipc_decode(buf, (size_t)n, passed, ret) < 0)
		return -EBADMSG;
	got.count = 0; /* the message owns it now */
	return 1;
}
