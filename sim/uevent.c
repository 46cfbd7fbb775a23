/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"

/* A receiver that does not read loses events beyond this, as with a full netlink socket. */
#define BACKLOG_MAX 8192

#define GROUP_KERNEL 1u
#define GROUP_UDEV   2u

struct message {
	struct message *next;
	size_t len;
	char bytes[];
};

struct sim_event_conn {
	struct sim_watch watch;
	struct sim_event_conn *next;
	uint32_t groups;
	struct message *first, **last;
	unsigned queued;
};

static void close_conn(struct sim_server *srv, struct sim_event_conn *conn)
{
	struct sim_event_conn **at = &srv->monitors;

	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	while (conn->first) {
		struct message *m = conn->first;

		conn->first = m->next;
		free(m);
	}
	sim_server_unwatch(srv, &conn->watch);
	free(conn);
}

static bool send_now(struct sim_event_conn *conn, const char *bytes, size_t len)
{
	return send(conn->watch.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
	       (errno != EAGAIN && errno != ENOBUFS);
}

static void flush(struct sim_server *srv, struct sim_event_conn *conn)
{
	while (conn->first && send_now(conn, conn->first->bytes, conn->first->len)) {
		struct message *m = conn->first;

		conn->first = m->next;
		conn->queued--;
		free(m);
	}
	if (!conn->first)
		conn->last = &conn->first;
	sim_server_watch(srv, &conn->watch, conn->first ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void post(struct sim_server *srv, struct sim_event_conn *conn, const char *bytes, size_t len)
{
	struct message *m;

	if (!conn->first && send_now(conn, bytes, len))
		return;
	m = conn->queued < BACKLOG_MAX ? malloc(sizeof(*m) + len) : NULL;
	if (!m)
		return;
	m->next = NULL;
	m->len = len;
	memcpy(m->bytes, bytes, len);
	*conn->last = m;
	conn->last = &m->next;
	conn->queued++;
	sim_server_watch(srv, &conn->watch, EPOLLIN | EPOLLOUT);
}

static void on_monitor(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	struct sim_event_conn *conn = (struct sim_event_conn *)watch;
	uint32_t groups;
	ssize_t n;

	if (events & EPOLLOUT)
		flush(srv, conn);
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	n = recv(watch->fd, &groups, sizeof(groups), MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n != sizeof(groups)) {
		close_conn(srv, conn);
		return;
	}
	/* The answer goes out before any event of these groups. */
	send(watch->fd, &groups, sizeof(groups), MSG_DONTWAIT | MSG_NOSIGNAL);
	conn->groups = groups;
}

void sim_uevent_accept(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int size = 1024 * 1024;
	struct sim_event_conn *conn;

	(void)events;
	if (fd < 0)
		return;
	conn = calloc(1, sizeof(*conn));
	if (!conn) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	conn->watch = (struct sim_watch){ .fd = fd, .on = on_monitor };
	conn->last = &conn->first;
	conn->next = srv->monitors;
	srv->monitors = conn;
	if (sim_server_watch(srv, &conn->watch, EPOLLIN) < 0)
		close_conn(srv, conn);
}

/* The kernel's form: "change@/devices/…", then the properties. */
static void send_kernel(struct sim_server *srv, const char *action, const char *devpath,
			const struct em_buf *properties)
{
	struct em_buf text;

	em_buf_init(&text, 8192);
	em_buf_addf(&text, "%s@%s", action, devpath);
	em_buf_addc(&text, '\0');
	em_buf_add(&text, properties->data, properties->len);
	for (struct sim_event_conn *c = srv->monitors; c && !em_buf_failed(&text); c = c->next)
		if (c->groups & GROUP_KERNEL)
			post(srv, c, text.data, text.len);
	em_buf_done(&text);
}

/* udevd's form: a header, then the properties with what its database adds. */
static void send_udev(struct sim_server *srv, const struct em_buf *properties)
{
	struct sim_udev_header header = {
		.prefix = "libudev",
		.magic = htonl(0xfeedcafe),
		.header_size = sizeof(header),
		.properties_off = sizeof(header),
	};
	static const char more[] = "USEC_INITIALIZED=1000000\0TAGS=:systemd:";
	struct em_buf text;

	em_buf_init(&text, 8192);
	header.properties_len = (uint32_t)(properties->len + sizeof(more));
	em_buf_add(&text, &header, sizeof(header));
	em_buf_add(&text, properties->data, properties->len);
	em_buf_add(&text, more, sizeof(more));
	for (struct sim_event_conn *c = srv->monitors; c && !em_buf_failed(&text); c = c->next)
		if (c->groups & GROUP_UDEV)
			post(srv, c, text.data, text.len);
	em_buf_done(&text);
}

__attribute__((format(printf, 2, 3))) static void property(struct em_buf *to, const char *format,
							   ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	em_buf_add(to, text, strlen(text) + 1);
}

static void send_both(struct sim_server *srv, const char *action, const char *devpath,
		      struct em_buf *properties)
{
	send_kernel(srv, action, devpath, properties);
	send_udev(srv, properties);
	em_buf_done(properties);
}

static void begin(struct sim_server *srv, struct em_buf *to, const char *action,
		  const char *devpath, const char *subsystem)
{
	em_buf_init(to, 4096);
	property(to, "ACTION=%s", action);
	property(to, "DEVPATH=%s", devpath);
	property(to, "SUBSYSTEM=%s", subsystem);
	property(to, "SEQNUM=%llu", (unsigned long long)++srv->seqnum);
}

void sim_uevent_send(struct sim_server *srv, const struct sim_drive *drive,
		     const struct sim_namespace *ns, const char *action, const char *more)
{
	char devpath[SIM_PATH_MAX], node[48];
	struct em_buf properties;

	sim_devpath(drive, ns, devpath);
	begin(srv, &properties, action, devpath, ns ? "block" : "nvme");
	property(&properties, "MAJOR=%u", ns ? SIM_MAJOR_BLOCK : SIM_MAJOR_CTRL);
	property(&properties, "MINOR=%u", ns ? sim_ns_minor(drive, ns) : drive->minor);
	property(&properties, "DEVNAME=/dev/%s", sim_node_name(drive, ns, node));
	if (ns)
		property(&properties, "DEVTYPE=disk");
	else
		property(&properties, "NVME_TRTYPE=%s", drive->transport);
	if (more)
		property(&properties, "%s", more);
	send_both(srv, action, devpath, &properties);
}

void sim_uevent_pci(struct sim_server *srv, const struct sim_drive *drive, const char *action)
{
	char devpath[SIM_PATH_MAX];
	struct em_buf properties;

	if (!sim_is_pcie(drive))
		return;
	snprintf(devpath, sizeof(devpath), "/devices/pci0000:00/%s", drive->address);
	begin(srv, &properties, action, devpath, "pci");
	property(&properties, "PCI_CLASS=10802");
	property(&properties, "PCI_ID=%04X:%04X", em_le16(drive->page[SIM_PAGE_IDENTIFY]),
		 drive->device_id);
	property(&properties, "PCI_SLOT_NAME=%s", drive->address);
	send_both(srv, action, devpath, &properties);
}

void sim_uevent_done(struct sim_server *srv)
{
	while (srv->monitors)
		close_conn(srv, srv->monitors);
}
