/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_device - an open device node is a connection to the simulator; an ioctl on it is a
 * request whose answer comes over a socket made for this one request.
 */
#include "sim/preload.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

static bool socket_address(const char *name, struct sockaddr_un *sa)
{
	const char *root = sim_root();

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	return root && snprintf(sa->sun_path, sizeof(sa->sun_path), "%s%s", root, name) <
			       (int)sizeof(sa->sun_path);
}

int sim_connect(const char *socket_name, int type_flags)
{
	struct sockaddr_un sa;
	int fd;

	if (!socket_address(socket_name, &sa)) {
		errno = ENODEV;
		return -1;
	}
	fd = SIM_REAL(socket)(AF_UNIX, SOCK_SEQPACKET | type_flags, 0);
	if (fd < 0)
		return -1;
	while (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		int err = errno;

		if (err == EINTR || err == EAGAIN)
			continue;
		close(fd);
		errno = err == ECONNREFUSED || err == ENOENT ? ENODEV : err;
		return -1;
	}
	return fd;
}

bool sim_is_connected_to(int fd, const char *socket_name)
{
	struct sockaddr_un want, sa = { 0 };
	socklen_t len = sizeof(sa);
	int saved = errno;
	bool same = false;

	if (socket_address(socket_name, &want) &&
	    getpeername(fd, (struct sockaddr *)&sa, &len) == 0 && sa.sun_family == AF_UNIX)
		same = strncmp(sa.sun_path, want.sun_path, sizeof(sa.sun_path)) == 0;
	errno = saved;
	return same;
}

static bool wait_again(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (errno == EINTR)
		return true;
	if (errno != EAGAIN)
		return false;
	poll(&p, 1, -1);
	return true;
}

static ssize_t send_message(int fd, const struct msghdr *msg)
{
	ssize_t n;

	do
		n = sendmsg(fd, msg, MSG_NOSIGNAL);
	while (n < 0 && wait_again(fd, POLLOUT));
	return n;
}

ssize_t sim_send_all(int fd, const void *data, size_t len)
{
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	return send_message(fd, &msg);
}

static ssize_t receive(int fd, struct iovec *iov, size_t count)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = count };
	ssize_t n;

	do
		n = SIM_REAL(recvmsg)(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && wait_again(fd, POLLIN));
	return n;
}

ssize_t sim_recv_all(int fd, void *data, size_t len)
{
	struct iovec iov = { data, len };

	return receive(fd, &iov, 1);
}

/* ---- requests on an open device ---- */

static ssize_t send_with_fd(int fd, struct iovec *iov, size_t count, int passed)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = iov,
			      .msg_iovlen = count,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &passed, sizeof(int));
	return send_message(fd, &msg);
}

/* The answer's data go to in_data, at most in_len bytes. -1 with errno when there is no answer. */
static int ask(int fd, const struct sim_request *req, const void *out, size_t out_len, void *in,
	       size_t in_len, struct sim_reply *reply)
{
	struct iovec tx[2] = { { (void *)req, sizeof(*req) }, { (void *)out, out_len } };
	struct iovec rx[2] = { { reply, sizeof(*reply) }, { in, in_len } };
	int pair[2];
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	n = send_with_fd(fd, tx, out_len ? 2 : 1, pair[1]);
	close(pair[1]);
	if (n >= 0)
		n = receive(pair[0], rx, in_len ? 2 : 1);
	close(pair[0]);
	if (n >= (ssize_t)sizeof(*reply))
		return 0;
	if (n >= 0 || errno != EFAULT)
		errno = ENODEV; /* the simulator is gone */
	return -1;
}

bool sim_node_info(const char *node, int fd, struct sim_node_info *ret)
{
	struct sim_hello hello = { .kind = SIM_HELLO_STAT };
	struct sim_request req = { .kind = SIM_REQ_STAT };
	struct sim_reply reply;
	int conn;
	bool ok;

	if (!node) {
		if (ask(fd, &req, NULL, 0, NULL, 0, &reply) < 0)
			return false;
		*ret = reply.node;
		return true;
	}
	snprintf(hello.node, sizeof(hello.node), "%s", node);
	conn = sim_connect(SIM_DEV_SOCKET, SOCK_CLOEXEC);
	if (conn < 0)
		return false;
	ok = sim_send_all(conn, &hello, sizeof(hello)) == sizeof(hello) &&
	     sim_recv_all(conn, ret, sizeof(*ret)) == sizeof(*ret) && ret->err == 0;
	close(conn);
	return ok;
}

int sim_device_open(const char *node, int flags)
{
	struct sim_hello hello = { .kind = SIM_HELLO_OPEN, .open_flags = (uint32_t)flags };
	struct sim_node_info info = { .err = ENODEV };
	char path[4096];
	int fd;

	/* A node that is not there is ENOENT, whatever the simulator would say. */
	snprintf(path, sizeof(path), "%s/dev/%s", sim_root(), node);
	if (SIM_REAL(access)(path, F_OK) < 0)
		return -1;
	snprintf(hello.node, sizeof(hello.node), "%s", node);
	fd = sim_connect(SIM_DEV_SOCKET, flags & O_CLOEXEC ? SOCK_CLOEXEC : 0);
	if (fd < 0)
		return -1;
	if (sim_send_all(fd, &hello, sizeof(hello)) == sizeof(hello) &&
	    sim_recv_all(fd, &info, sizeof(info)) == sizeof(info) && info.err == 0)
		return fd;
	close(fd);
	errno = info.err;
	return -1;
}

void sim_fix_stat(struct stat *st, const char *node, int fd)
{
	struct sim_node_info info;
	char path[4096];
	int saved = errno;

	if (!sim_root() || (!node && fd < 0))
		return;
	/* An O_PATH descriptor of a stand-in has a path; a connection has a peer. */
	if (!node && !sim_is_connected_to(fd, SIM_DEV_SOCKET)) {
		if (!sim_fd_path(fd, path) || strncmp(path, "/dev/nvme", 9) != 0)
			return;
		node = path + strlen("/dev/");
	}
	if (sim_node_info(node, fd, &info)) {
		st->st_mode = info.is_block ? S_IFBLK | 0660 : S_IFCHR | 0600;
		st->st_rdev = makedev(info.major, info.minor);
		st->st_size = 0;
	}
	errno = saved;
}

/* ---- ioctl ---- */

static int finish(const struct sim_reply *reply)
{
	if (reply->ret < 0)
		errno = reply->err;
	return reply->ret;
}

static void from_cmd(struct sim_passthru *to, const struct nvme_passthru_cmd *cmd)
{
	*to = (struct sim_passthru){
		.opcode = cmd->opcode,
		.flags = cmd->flags,
		.nsid = cmd->nsid,
		.cdw2 = cmd->cdw2,
		.cdw3 = cmd->cdw3,
		.cdw10 = cmd->cdw10,
		.cdw11 = cmd->cdw11,
		.cdw12 = cmd->cdw12,
		.cdw13 = cmd->cdw13,
		.cdw14 = cmd->cdw14,
		.cdw15 = cmd->cdw15,
		.data_len = cmd->data_len,
		.metadata_len = cmd->metadata_len,
		.timeout_ms = cmd->timeout_ms,
	};
}

static int passthru(int fd, unsigned long request, void *arg)
{
	/* The 32- and the 64-bit form agree up to the result. */
	struct nvme_passthru_cmd *cmd = arg;
	struct sim_request req = { .kind = SIM_REQ_IOCTL, .ioctl = (uint32_t)request };
	struct sim_reply reply;
	void *data = (void *)(uintptr_t)cmd->addr;
	bool wide = request == NVME_IOCTL_ADMIN64_CMD || request == NVME_IOCTL_IO64_CMD;
	bool to_drive = cmd->opcode & 1;

	from_cmd(&req.cmd, cmd);
	if (cmd->data_len > SIM_DATA_MAX || (cmd->data_len && !data)) {
		errno = data ? EINVAL : EFAULT;
		return -1;
	}
	if (ask(fd, &req, to_drive ? data : NULL, to_drive ? cmd->data_len : 0,
		to_drive ? NULL : data, to_drive ? 0 : cmd->data_len, &reply) < 0)
		return -1;
	if (wide && reply.ret >= 0)
		((struct nvme_passthru_cmd64 *)arg)->result = reply.result;
	else if (reply.ret >= 0)
		cmd->result = (uint32_t)reply.result;
	return finish(&reply);
}

/* How many bytes a block ioctl stores; 0: not one that the simulator knows. */
static size_t stored_size(unsigned long request)
{
	switch (request) {
	case BLKGETSIZE64:
		return 8;
	case BLKGETSIZE:
		return sizeof(long);
	case BLKSSZGET:
	case BLKPBSZGET:
	case BLKROGET:
	case BLKIOMIN:
	case BLKIOOPT:
	case BLKALIGNOFF:
		return 4;
	case BLKROTATIONAL:
		return 2;
	default:
		return 0;
	}
}

static int device_ioctl(int fd, unsigned long request, void *arg)
{
	struct sim_request req = { .kind = SIM_REQ_IOCTL, .ioctl = (uint32_t)request };
	struct sim_reply reply;
	size_t size = stored_size(request);

	switch (request) {
	case NVME_IOCTL_ADMIN_CMD:
	case NVME_IOCTL_ADMIN64_CMD:
	case NVME_IOCTL_IO_CMD:
	case NVME_IOCTL_IO64_CMD:
		return passthru(fd, request, arg);
	default:
		break;
	}
	if (ask(fd, &req, NULL, 0, NULL, 0, &reply) < 0)
		return -1;
	if (reply.ret == 0 && size > 0)
		memcpy(arg, &reply.result, size); /* little-endian, as everything here */
	return finish(&reply);
}

SIM_EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((_IOC_TYPE(request) == 'N' || _IOC_TYPE(request) == 0x12) &&
	    sim_is_connected_to(fd, SIM_DEV_SOCKET))
		return device_ioctl(fd, request, arg);
	return SIM_REAL(ioctl)(fd, request, arg);
}
