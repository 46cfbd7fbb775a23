/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/drives/orders.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define RETRY_FIRST_US (250 * EM_US_PER_MS)
#define RETRY_LAST_US  (5 * EM_US_PER_SEC)
/* So that one busy connection does not keep the loop from everything else. */
#define MESSAGES_AT_ONCE 64

struct em_link {
	sd_event *event;
	sd_event_source *io, *timer;
	struct sockaddr_un address;
	int fd;
	uint64_t retry_us, heard_us;
	struct em_link_callbacks callbacks;
	void *userdata;
	uint8_t packet[EM_IPC_PACKET_MAX];
};

static void try_connect(struct em_link *link);

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	try_connect(userdata);
	return 0;
}

static void plan_retry(struct em_link *link)
{
	uint64_t at = em_monotonic_us() + link->retry_us;

	link->retry_us = link->retry_us * 2 < RETRY_LAST_US ? link->retry_us * 2 : RETRY_LAST_US;
	sd_event_source_set_time(link->timer, at);
	sd_event_source_set_enabled(link->timer, SD_EVENT_ONESHOT);
}

static void drop(struct em_link *link, const char *why)
{
	link->io = sd_event_source_unref(link->io);
	em_closep(&link->fd);
	plan_retry(link);
	link->callbacks.disconnected(link->userdata, why);
}

/*
 * A large answer comes as a file in memory. NULL: there is none, it is larger than what anybody
 * asks for, or it is shorter than it was said to be; then the reply stays without data.
 */
static uint8_t *take_large(struct em_ipc_reply *reply)
{
	uint8_t *data;
	size_t at = 0;
	ssize_t n = 1;

	if (reply->data_fd < 0 || reply->data || reply->data_len > EM_COMMAND_DATA_MAX)
		return NULL;
	data = malloc(reply->data_len);
	while (data && n > 0 && at < reply->data_len) {
		n = pread(reply->data_fd, data + at, reply->data_len - at, (off_t)at);
		at += n > 0 ? (size_t)n : 0;
	}
	if (data && at == reply->data_len)
		reply->data = data;
	return data;
}

static void hand_on(struct em_link *link, struct em_ipc_message *message)
{
	em_cleanup(em_freep) uint8_t *large = NULL;

	if (message->kind == EM_IPC_REPLY)
		large = take_large(&message->reply);
	link->callbacks.message(link->userdata, message);
	if (message->kind == EM_IPC_REPLY)
		em_closep(&message->reply.data_fd);
}

static int on_readable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct em_link *link = userdata;

	(void)source;
	(void)revents;
	for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
		struct em_ipc_message message;
		int r = em_ipc_receive(fd, link->packet, sizeof(link->packet), &message);

		if (r == -EAGAIN || r == -EINTR)
			return 0;
		if (r <= 0) {
			drop(link, r == 0 ? "ember-broker closed the connection" : strerror(-r));
			return 0;
		}
		/* Not before: a broker may accept us only to turn us away. */
		link->retry_us = RETRY_FIRST_US;
		link->heard_us = em_monotonic_us();
		hand_on(link, &message);
		if (link->fd < 0)
			return 0;
	}
	return 0;
}

static void try_connect(struct em_link *link)
{
	int r;

	link->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (link->fd < 0) {
		drop(link, strerror(errno));
		return;
	}
	if (connect(link->fd, (const struct sockaddr *)&link->address, sizeof(link->address)) < 0) {
		drop(link, strerror(errno));
		return;
	}
	r = sd_event_add_io(link->event, &link->io, link->fd, EPOLLIN, on_readable, link);
	if (r < 0) {
		drop(link, strerror(-r));
		return;
	}
	link->callbacks.connected(link->userdata);
}

int em_link_new(struct em_link **ret, sd_event *event, const char *path,
		const struct em_link_callbacks *callbacks, void *userdata)
{
	struct em_link *link;
	int r;

	if (strlen(path) >= sizeof(link->address.sun_path))
		return -ENAMETOOLONG;
	link = calloc(1, sizeof(*link));
	if (!link)
		return -ENOMEM;
	link->fd = -1;
	link->event = sd_event_ref(event);
	link->address.sun_family = AF_UNIX;
	strcpy(link->address.sun_path, path);
	link->retry_us = RETRY_FIRST_US;
	link->callbacks = *callbacks;
	link->userdata = userdata;
	/* Fires at once: the first attempt is made from the loop, like every other. */
	r = sd_event_add_time(event, &link->timer, CLOCK_BOOTTIME, 0, 1, on_timer, link);
	if (r < 0) {
		em_link_free(link);
		return r;
	}
	*ret = link;
	return 0;
}

struct em_link *em_link_free(struct em_link *link)
{
	if (!link)
		return NULL;
	sd_event_source_unref(link->io);
	sd_event_source_unref(link->timer);
	em_closep(&link->fd);
	sd_event_unref(link->event);
	free(link);
	return NULL;
}

int em_link_send(struct em_link *link, const struct em_ipc_message *message)
{
	if (link->fd < 0)
		return -ENOTCONN;
	return em_ipc_send(link->fd, message);
}

uint64_t em_link_heard_us(const struct em_link *link)
{
	return link->heard_us;
}

void em_link_reset(struct em_link *link, const char *why)
{
	if (link->fd >= 0)
		drop(link, why);
}
