/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/server.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"

/* An open descriptor of a device node. */
struct sim_device_conn {
	struct sim_watch watch;
	struct sim_device_conn *next;
	struct sim_host *host; /* NULL before the hello */
	unsigned generation;
	uint32_t nsid; /* 0: the controller */
	bool exclusive;
};

/* A passthrough command on its way to its drive, or parked at a drive that does not answer. */
struct sim_command {
	struct sim_command *next;
	struct sim_host *host;
	struct sim_passthru cmd;
	uint8_t *data;
	int reply_fd;
	uint64_t answer_us;   /* not before */
	uint64_t deadline_us; /* then Linux resets the controller */
	uint64_t log_index;
};

static const struct sim_namespace *find_ns(const struct sim_drive *drive, uint32_t nsid)
{
	for (unsigned i = 0; i < drive->ns_count; i++)
		if (drive->ns[i].nsid == nsid)
			return &drive->ns[i];
	return NULL;
}

static bool is_live(const struct sim_drive *drive)
{
	return strcmp(drive->state, "live") == 0;
}

/* ---- open ---- */

static bool find_node(struct sim_server *srv, const char *node, struct sim_host **ret_host,
		      uint32_t *ret_nsid)
{
	char name[48];

	for (unsigned i = 0; i < srv->host_count; i++) {
		struct sim_drive *d = srv->hosts[i].drive;

		if (d->gone)
			continue;
		*ret_host = &srv->hosts[i];
		*ret_nsid = 0;
		if (strcmp(d->name, node) == 0)
			return true;
		/* Disks of a drive that is alone begin with its name: spares a thousand others. */
		if (!d->first && strncmp(d->name, node, strlen(d->name)) != 0)
			continue;
		for (unsigned n = 0; n < d->ns_count; n++) {
			*ret_nsid = d->ns[n].nsid;
			if (strcmp(sim_node_name(d, &d->ns[n], name), node) == 0)
				return true;
		}
	}
	return false;
}

static void describe(const struct sim_drive *drive, uint32_t nsid, struct sim_node_info *info)
{
	const struct sim_namespace *ns = nsid ? find_ns(drive, nsid) : NULL;

	info->is_block = nsid != 0;
	info->major = nsid ? SIM_MAJOR_BLOCK : SIM_MAJOR_CTRL;
	info->minor = ns ? sim_ns_minor(drive, ns) : drive->minor;
}

static bool is_held(const struct sim_server *srv, const struct sim_host *host, uint32_t nsid)
{
	for (const struct sim_device_conn *c = srv->devices; c; c = c->next)
		if (c->host == host && c->nsid == nsid && c->exclusive &&
		    c->generation == host->generation)
			return true;
	return false;
}

static void answer_hello(struct sim_server *srv, struct sim_device_conn *conn,
			 const struct sim_hello *hello)
{
	struct sim_node_info info = { 0 };
	struct sim_host *host = NULL;
	bool exclusive = hello->open_flags & O_EXCL;
	uint32_t nsid = 0;
	char node[sizeof(hello->node) + 1] = { 0 };

	memcpy(node, hello->node, sizeof(hello->node));
	if (!find_node(srv, node, &host, &nsid))
		info.err = ENODEV;
	else if (hello->kind == SIM_HELLO_OPEN && nsid == 0 && !is_live(host->drive))
		info.err = EAGAIN;
	else if (hello->kind == SIM_HELLO_OPEN && nsid && exclusive && is_held(srv, host, nsid))
		info.err = EBUSY;
	else
		describe(host->drive, nsid, &info);
	if (info.err == 0 && hello->kind == SIM_HELLO_OPEN) {
		conn->host = host;
		conn->generation = host->generation;
		conn->nsid = nsid;
		conn->exclusive = nsid && exclusive;
	}
	send(conn->watch.fd, &info, sizeof(info), MSG_NOSIGNAL | MSG_DONTWAIT);
	/* There is no block I/O: a read finds the end instead of waiting for ever. */
	shutdown(conn->watch.fd, SHUT_WR);
}

/* ---- answers ---- */

static void answer(int fd, const struct sim_reply *reply, const void *data)
{
	struct iovec iov[2] = { { (void *)reply, sizeof(*reply) },
				{ (void *)data, reply->data_len } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = reply->data_len ? 2 : 1 };

	/* The socket was made for this one message: there is room. */
	sendmsg(fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void answer_error(int fd, int err)
{
	struct sim_reply reply = { .ret = -1, .err = err };

	answer(fd, &reply, NULL);
}

static void finish_log(struct sim_drive *drive, uint64_t index, int32_t ret)
{
	if (drive->log_count - index <= SIM_LOG_MAX)
		drive->log[index % SIM_LOG_MAX].ret = ret;
}

static struct sim_command *command_free(struct sim_command *c)
{
	free(c->data);
	free(c);
	return NULL;
}

static void end_command(struct sim_command *c, int ret, int err)
{
	struct sim_reply reply = { .ret = ret, .err = err };

	finish_log(c->host->drive, c->log_index, ret < 0 ? -err : ret);
	answer(c->reply_fd, &reply, NULL);
	command_free(c);
}

static void execute(struct sim_command *c)
{
	struct sim_drive *drive = c->host->drive;
	uint8_t *out = calloc(1, c->cmd.data_len + 1);
	struct sim_exec x = { .cmd = &c->cmd, .in = c->data, .out = out };
	struct sim_reply reply = { 0 };

	if (!out) {
		end_command(c, -1, ENOMEM);
		return;
	}
	reply.ret = sim_model_execute(drive, &x);
	reply.result = x.dw0;
	reply.data_len = c->cmd.opcode & 1 ? 0 : x.out_len;
	finish_log(drive, c->log_index, reply.ret);
	answer(c->reply_fd, &reply, out);
	free(out);
	command_free(c);
}

static void end_all(struct sim_host *host, int err)
{
	struct sim_command **at = &host->srv->waiting;

	while (*at) {
		struct sim_command *c = *at;

		if (c->host != host) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		end_command(c, -1, err);
	}
}

unsigned sim_kernel_outstanding(const struct sim_host *host)
{
	unsigned n = 0;

	for (const struct sim_command *c = host->srv->waiting; c; c = c->next)
		n += c->host == host;
	return n;
}

/* ---- resets and hot plug ---- */

int sim_kernel_state(struct sim_host *host, const char *state)
{
	struct sim_drive *drive = host->drive;
	bool was_live = is_live(drive);
	int r;

	if (drive->gone)
		return -ENODEV;
	snprintf(drive->state, sizeof(drive->state), "%s", state);
	r = sim_tree_set_state(host->srv->root, drive);
	if (!was_live && is_live(drive)) {
		sim_model_start(drive);
		sim_uevent_send(host->srv, drive, NULL, "change", "NVME_EVENT=connected");
	}
	return r;
}

void sim_kernel_reset(struct sim_host *host)
{
	sim_kernel_state(host, "resetting");
	end_all(host, EINTR); /* as nvme_cancel_request() ends passthrough commands */
	sim_kernel_state(host, "live");
}

/* Whether the disks stay when this controller goes, and were there before it came. */
static bool has_other_path(const struct sim_host *host)
{
	for (const struct sim_drive *d = sim_drive_owner(host->drive); d; d = d->sibling)
		if (d != host->drive && !d->gone)
			return true;
	return false;
}

/* The controller that stands for a subsystem's disks: one that is there. */
static struct sim_drive *present_path(struct sim_host *host)
{
	for (struct sim_drive *d = sim_drive_owner(host->drive); d; d = d->sibling)
		if (!d->gone)
			return d;
	return NULL;
}

int sim_kernel_create(struct sim_host *host, const struct sim_namespace *ns)
{
	int r = 0;

	for (struct sim_drive *d = sim_drive_owner(host->drive); d && r == 0; d = d->sibling)
		r = sim_spare_add(d, ns);
	return r;
}

int sim_kernel_delete(struct sim_host *host, uint32_t nsid)
{
	int r = 0;

	for (struct sim_drive *d = sim_drive_owner(host->drive); d; d = d->sibling)
		r = sim_spare_remove(d, nsid);
	return r;
}

int sim_kernel_attach(struct sim_host *host, const struct sim_namespace *ns)
{
	struct sim_drive *shown = present_path(host);
	int r = 0;

	for (struct sim_drive *d = sim_drive_owner(host->drive); d && r == 0; d = d->sibling)
		r = sim_namespace_add(d, ns->nsid, ns->node, ns->blocks << ns->block_shift,
				      ns->block_shift);
	if (r < 0 || !shown)
		return r;
	sim_kernel_delete(host, ns->nsid); /* it may have been there, not attached */
	for (unsigned i = 0; i < shown->ns_count; i++) {
		if (shown->ns[i].nsid != ns->nsid)
			continue;
		r = sim_tree_add_namespace(host->srv->root, shown, &shown->ns[i]);
		if (r == 0)
			sim_uevent_send(host->srv, shown, &shown->ns[i], "add", NULL);
	}
	return r;
}

int sim_kernel_detach(struct sim_host *host, uint32_t nsid, bool keep)
{
	struct sim_drive *shown = present_path(host);
	const struct sim_namespace *ns = find_ns(host->drive, nsid);
	struct sim_namespace gone;

	if (!ns)
		return -ENOENT;
	gone = *ns;
	for (struct sim_drive *d = sim_drive_owner(host->drive); d; d = d->sibling)
		sim_namespace_remove(d, nsid);
	if (keep)
		sim_kernel_create(host, &gone);
	if (shown) {
		sim_tree_remove_namespace(host->srv->root, shown, &gone);
		sim_uevent_send(host->srv, shown, &gone, "remove", NULL);
	}
	return 0;
}

void sim_kernel_vanish(struct sim_host *host)
{
	struct sim_drive *d = host->drive;
	bool disks_stay = has_other_path(host);

	if (d->gone)
		return;
	d->gone = true;
	host->generation++;
	sim_tree_remove(host->srv->root, d, disks_stay);
	end_all(host, EINTR);
	for (unsigned i = 0; i < d->ns_count && !disks_stay; i++)
		sim_uevent_send(host->srv, d, &d->ns[i], "remove", NULL);
	sim_uevent_send(host->srv, d, NULL, "remove", NULL);
	sim_uevent_pci(host->srv, d, "remove");
}

int sim_kernel_return(struct sim_host *host, const char *as, const char *at)
{
	struct sim_drive *d = host->drive;
	unsigned number = d->minor;
	bool disks_stayed = has_other_path(host);
	int r;

	if (!d->gone)
		return -EEXIST;
	if (as && sscanf(as, "nvme%u", &number) != 1)
		return -EINVAL;
	for (unsigned i = 0; i < host->srv->host_count; i++) {
		const struct sim_drive *other = host->srv->hosts[i].drive;

		if (other != d && other->minor == number && !other->gone)
			return -EBUSY;
	}
	if (at && (strlen(at) >= sizeof(d->address) || strchr(at, '/') || at[0] == '.'))
		return -EINVAL;
	if (at)
		strcpy(d->address, at);
	d->minor = number;
	snprintf(d->name, sizeof(d->name), "nvme%u", number);
	snprintf(d->state, sizeof(d->state), "live");
	d->gone = false;
	sim_model_start(d);
	r = sim_tree_add(host->srv->root, d);
	if (r < 0)
		return r;
	sim_uevent_pci(host->srv, d, "add");
	sim_uevent_send(host->srv, d, NULL, "add", NULL);
	for (unsigned i = 0; i < d->ns_count && !disks_stayed; i++)
		sim_uevent_send(host->srv, d, &d->ns[i], "add", NULL);
	sim_uevent_send(host->srv, d, NULL, "change", "NVME_EVENT=connected");
	return 0;
}

void sim_kernel_resume(struct sim_host *host)
{
	host->drive->hung = false;
}

uint64_t sim_kernel_run_due(struct sim_server *srv, uint64_t now_us)
{
	struct sim_command **at = &srv->waiting;
	uint64_t next = UINT64_MAX;

	while (*at) {
		struct sim_command *c = *at;
		uint64_t due = c->host->drive->hung ? c->deadline_us : c->answer_us;

		if (due > now_us) {
			next = due < next ? due : next;
			at = &c->next;
		} else if (c->host->drive->hung) {
			sim_kernel_reset(c->host); /* ends this one and its fellows */
			at = &srv->waiting;
		} else {
			*at = c->next;
			execute(c);
		}
	}
	return next;
}

/* ---- requests ---- */

static void start_command(struct sim_device_conn *conn, const struct sim_passthru *cmd,
			  const void *data, size_t len, int reply_fd)
{
	struct sim_host *host = conn->host;
	struct sim_drive *drive = host->drive;
	struct sim_command *c = calloc(1, sizeof(*c)), **end = &host->srv->waiting;
	uint64_t now = em_monotonic_us();

	if (!c || (len && !(c->data = malloc(len)))) {
		free(c);
		answer_error(reply_fd, ENOMEM);
		return;
	}
	if (len)
		memcpy(c->data, data, len);
	c->host = host;
	c->cmd = *cmd;
	c->reply_fd = reply_fd;
	c->answer_us = now + drive->delay_us;
	c->deadline_us = now + (cmd->timeout_ms ? cmd->timeout_ms * EM_US_PER_MS
						: host->srv->admin_timeout_us);
	c->log_index = drive->log_count++;
	drive->log[c->log_index % SIM_LOG_MAX] =
		(struct sim_log_entry){ .at_us = now, .cmd = *cmd, .ret = -1 };
	sim_model_count(drive, cmd);
	if (!drive->hung && drive->delay_us == 0) {
		execute(c);
		return;
	}
	while (*end)
		end = &(*end)->next;
	*end = c;
}

static void answer_block(struct sim_device_conn *conn, uint32_t request, int reply_fd)
{
	const struct sim_namespace *ns = find_ns(conn->host->drive, conn->nsid);
	struct sim_reply reply = { 0 };

	switch (request) {
	case (uint32_t)BLKGETSIZE64:
		reply.result = ns->blocks << ns->block_shift;
		break;
	case BLKGETSIZE:
		reply.result = ns->blocks << (ns->block_shift - 9);
		break;
	case BLKSSZGET:
	case BLKPBSZGET:
	case BLKIOMIN:
		reply.result = 1u << ns->block_shift;
		break;
	case BLKROGET:
	case BLKIOOPT:
	case BLKALIGNOFF:
	case BLKROTATIONAL:
		break;
	default:
		reply.ret = -1;
		reply.err = ENOTTY;
	}
	answer(reply_fd, &reply, NULL);
}

static void answer_value(int reply_fd, int ret)
{
	struct sim_reply reply = { .ret = ret };

	answer(reply_fd, &reply, NULL);
}

static void answer_admin(struct sim_device_conn *conn, const struct sim_request *req,
			 const void *data, size_t len, int reply_fd)
{
	if (req->cmd.flags)
		answer_error(reply_fd, EINVAL);
	else if (!is_live(conn->host->drive))
		answer_value(reply_fd, SIM_ST_HOST_PATH);
	else
		start_command(conn, &req->cmd, data, len, reply_fd);
}

static void answer_ioctl(struct sim_device_conn *conn, const struct sim_request *req,
			 const void *data, size_t len, int reply_fd)
{
	struct sim_host *host = conn->host;

	if (conn->generation != host->generation) {
		answer_error(reply_fd, ENODEV);
		return;
	}
	switch (req->ioctl) {
	case (uint32_t)NVME_IOCTL_ADMIN_CMD:
	case (uint32_t)NVME_IOCTL_ADMIN64_CMD:
		answer_admin(conn, req, data, len, reply_fd);
		break;
	case (uint32_t)NVME_IOCTL_IO_CMD:
	case (uint32_t)NVME_IOCTL_IO64_CMD:
		answer_error(reply_fd,
			     conn->nsid && req->cmd.nsid == conn->nsid ? EOPNOTSUPP : EINVAL);
		break;
	case NVME_IOCTL_RESET:
		if (conn->nsid == 0)
			sim_kernel_reset(host);
		/* fall through */
	case NVME_IOCTL_RESCAN:
		if (conn->nsid == 0)
			answer_value(reply_fd, 0);
		else
			answer_error(reply_fd, ENOTTY);
		break;
	case NVME_IOCTL_ID:
		if (conn->nsid)
			answer_value(reply_fd, (int)conn->nsid);
		else
			answer_error(reply_fd, ENOTTY);
		break;
	default:
		if (conn->nsid && find_ns(host->drive, conn->nsid))
			answer_block(conn, req->ioctl, reply_fd);
		else
			answer_error(reply_fd, ENOTTY);
	}
}

static void answer_stat(struct sim_device_conn *conn, int reply_fd)
{
	struct sim_reply reply = { 0 };

	describe(conn->host->drive, conn->nsid, &reply.node);
	answer(reply_fd, &reply, NULL);
}

static void close_conn(struct sim_server *srv, struct sim_device_conn *conn)
{
	struct sim_device_conn **at = &srv->devices;

	while (*at != conn)
		at = &(*at)->next;
	*at = conn->next;
	sim_server_unwatch(srv, &conn->watch);
	free(conn);
}

static ssize_t receive(int fd, void *data, size_t size, int *ret_fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { data, size };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c;

	*ret_fd = -1;
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(c), sizeof(int));
	return n;
}

static void on_device(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	static uint8_t message[sizeof(struct sim_request) + SIM_DATA_MAX];
	struct sim_device_conn *conn = (struct sim_device_conn *)watch;
	struct sim_request req;
	struct sim_hello hello;
	int reply_fd;
	ssize_t n = receive(watch->fd, message, sizeof(message), &reply_fd);

	(void)events;
	if (n == -EAGAIN)
		return;
	if (n <= 0) {
		close_conn(srv, conn);
	} else if (n == sizeof(hello) && reply_fd < 0 && !conn->host) {
		memcpy(&hello, message, sizeof(hello));
		answer_hello(srv, conn, &hello);
	} else if (n >= (ssize_t)sizeof(req) && reply_fd >= 0 && conn->host) {
		memcpy(&req, message, sizeof(req));
		if (req.kind == SIM_REQ_STAT)
			answer_stat(conn, reply_fd);
		else
			answer_ioctl(conn, &req, message + sizeof(req), (size_t)n - sizeof(req),
				     reply_fd);
	} else {
		em_closep(&reply_fd);
	}
}

void sim_kernel_accept(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	struct sim_device_conn *conn;
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	conn = calloc(1, sizeof(*conn));
	if (!conn) {
		close(fd);
		return;
	}
	conn->watch = (struct sim_watch){ .fd = fd, .on = on_device };
	conn->next = srv->devices;
	srv->devices = conn;
	if (sim_server_watch(srv, &conn->watch, EPOLLIN) < 0)
		close_conn(srv, conn);
}

void sim_kernel_done(struct sim_server *srv)
{
	while (srv->waiting) {
		struct sim_command *c = srv->waiting;

		srv->waiting = c->next;
		end_command(c, -1, ENODEV);
	}
	while (srv->devices)
		close_conn(srv, srv->devices);
}
