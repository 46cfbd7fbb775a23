/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preload_uevent - a NETLINK_KOBJECT_UEVENT socket is a connection to the simulator, dressed so
 * that sd-device and libudev take what arrives for messages of udevd (or of the kernel).
 */
#include "sim/preload.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SOL_NETLINK
#define SOL_NETLINK 270
#endif

SIM_EXPORT int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK || protocol != NETLINK_KOBJECT_UEVENT || !sim_root())
		return SIM_REAL(socket)(domain, type, protocol);
	return sim_connect(SIM_EVENT_SOCKET, type & (SOCK_CLOEXEC | SOCK_NONBLOCK));
}

static bool is_uevent_socket(int fd)
{
	return sim_root() && sim_is_connected_to(fd, SIM_EVENT_SOCKET);
}

/* Returns only when the simulator has taken the groups: no event after bind() is lost. */
SIM_EXPORT int bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_nl nl;
	uint32_t groups;

	if (!addr || addr->sa_family != AF_NETLINK || len < sizeof(nl) || !is_uevent_socket(fd))
		return SIM_REAL(bind)(fd, addr, len);
	memcpy(&nl, addr, sizeof(nl));
	groups = nl.nl_groups;
	if (sim_send_all(fd, &groups, sizeof(groups)) == sizeof(groups) &&
	    sim_recv_all(fd, &groups, sizeof(groups)) == sizeof(groups))
		return 0;
	errno = ENODEV;
	return -1;
}

SIM_EXPORT int getsockname(int fd, struct sockaddr *addr, socklen_t *len)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_pid = (uint32_t)getpid() };

	if (!is_uevent_socket(fd))
		return SIM_REAL(getsockname)(fd, addr, len);
	memcpy(addr, &nl, *len < sizeof(nl) ? *len : sizeof(nl));
	*len = sizeof(nl);
	return 0;
}

SIM_EXPORT int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	bool netlink_only =
		level == SOL_NETLINK ||
		(level == SOL_SOCKET && (name == SO_ATTACH_FILTER || name == SO_DETACH_FILTER));

	/* Filters compare hashes that only save work: receivers check the words again. */
	if (netlink_only && is_uevent_socket(fd))
		return 0;
	return SIM_REAL(setsockopt)(fd, level, name, value, len);
}

static void dress_sender(void *name, socklen_t size, uint32_t groups)
{
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_groups = groups };

	if (name)
		memcpy(name, &nl, size < sizeof(nl) ? size : sizeof(nl));
}

static uint32_t group_of(const struct iovec *iov, size_t count)
{
	return count > 0 && iov[0].iov_len >= 8 && memcmp(iov[0].iov_base, "libudev", 8) == 0 ? 2
											      : 1;
}

/* Only root's events count; the simulator may run as anybody. */
static void dress_credentials(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct ucred cred;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		cred.uid = 0;
		cred.gid = 0;
		memcpy(CMSG_DATA(c), &cred, sizeof(cred));
	}
}

SIM_EXPORT ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	socklen_t name_size = msg->msg_namelen;
	ssize_t n = SIM_REAL(recvmsg)(fd, msg, flags);

	if (n <= 0 || !is_uevent_socket(fd))
		return n;
	dress_sender(msg->msg_name, name_size, group_of(msg->msg_iov, msg->msg_iovlen));
	msg->msg_namelen = msg->msg_name ? sizeof(struct sockaddr_nl) : 0;
	dress_credentials(msg);
	return n;
}

SIM_EXPORT ssize_t recvfrom(int fd, void *data, size_t len, int flags, struct sockaddr *addr,
			    socklen_t *addr_len)
{
	ssize_t n = SIM_REAL(recvfrom)(fd, data, len, flags, addr, addr_len);
	struct iovec iov = { data, len };

	if (n <= 0 || !addr || !is_uevent_socket(fd))
		return n;
	dress_sender(addr, sizeof(struct sockaddr_nl), group_of(&iov, 1));
	*addr_len = sizeof(struct sockaddr_nl);
	return n;
}
