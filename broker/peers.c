/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/peers.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/log.h"

/* Fairness: so many messages of one client, then the others' turn. */
#define MESSAGES_PER_TURN 16

struct output {
	struct output *next;
	struct em_ipc_message message;
	uint8_t data[];
};

struct peer {
	struct em_peers *peers;
	struct em_peer_id who;
	int fd; /* -1: closed, waits to be freed */
	sd_event_source *source;
	struct output *queue, **queue_end;
	size_t queued, queued_bytes;
};

struct em_peers {
	const struct em_peers_ops *ops;
	void *self;
	sd_event *event;
	sd_event_source *listener, *reaper;
	int fd;
	uid_t uid;
	uint64_t last_id;
	struct peer *slots[EM_PEERS_MAX];
	uint8_t packet[EM_IPC_PACKET_MAX];
};

static void pop_output(struct peer *peer)
{
	struct output *out = peer->queue;

	peer->queue = out->next;
	if (!peer->queue)
		peer->queue_end = &peer->queue;
	peer->queued--;
	if (out->message.kind == EM_IPC_REPLY)
		peer->queued_bytes -= out->message.reply.data_len;
	free(out);
}

static void free_peer(struct peer *peer)
{
	while (peer->queue)
		pop_output(peer);
	sd_event_source_disable_unref(peer->source);
	em_closep(&peer->fd);
	free(peer);
}

/* Memory is freed by the reaper: a callback further up may still hold the peer. */
static void close_peer(struct peer *peer)
{
	if (peer->fd < 0)
		return;
	peer->source = sd_event_source_disable_unref(peer->source);
	em_closep(&peer->fd);
	sd_event_source_set_enabled(peer->peers->reaper, SD_EVENT_ONESHOT);
}

static int on_reap(sd_event_source *source, void *self)
{
	struct em_peers *peers = self;

	(void)source;
	for (size_t i = 0; i < EM_PEERS_MAX; i++) {
		if (!peers->slots[i] || peers->slots[i]->fd >= 0)
			continue;
		free_peer(peers->slots[i]);
		peers->slots[i] = NULL;
	}
	peers->ops->changed(peers->self);
	return 0;
}

static void drop(struct peer *peer, int priority, const char *why)
{
	struct em_log_fields fields = {
		.peer_pid = peer->who.pid,
		.peer_uid = peer->who.uid,
		.has_peer = 1,
	};

	em_log(priority, &fields, "Connection of pid %ld (uid %ld) closed: %s", (long)peer->who.pid,
	       (long)peer->who.uid, why);
	close_peer(peer);
}

static int enqueue(struct peer *peer, const struct em_ipc_message *message)
{
	size_t len = message->kind == EM_IPC_REPLY ? message->reply.data_len : 0;
	struct output *out;

	if (peer->queued >= EM_PEER_QUEUE_MAX || peer->queued_bytes + len > EM_PEER_QUEUE_BYTES)
		return -ENOBUFS;
	out = malloc(sizeof(*out) + len);
	if (!out)
		return -ENOMEM;
	out->next = NULL;
	out->message = *message;
	if (len > 0) {
		memcpy(out->data, message->reply.data, len);
		out->message.reply.data = out->data;
	}
	*peer->queue_end = out;
	peer->queue_end = &out->next;
	peer->queued++;
	peer->queued_bytes += len;
	return 0;
}

static void want_output(struct peer *peer, bool wanted)
{
	sd_event_source_set_io_events(peer->source, EPOLLIN | (wanted ? EPOLLOUT : 0));
}

static void send_to(struct peer *peer, const struct em_ipc_message *message)
{
	int r;

	if (peer->fd < 0)
		return;
	r = peer->queue ? -EAGAIN : em_ipc_send(peer->fd, message);
	if (r >= 0)
		return;
	if (r != -EAGAIN) {
		drop(peer, LOG_INFO, strerror(-r));
		return;
	}
	if (enqueue(peer, message) < 0)
		drop(peer, LOG_WARNING, "it does not read what it asked for");
	else
		want_output(peer, true);
}

static void flush_output(struct peer *peer)
{
	while (peer->queue) {
		int r = em_ipc_send(peer->fd, &peer->queue->message);

		if (r == -EAGAIN)
			return;
		if (r < 0) {
			drop(peer, LOG_INFO, strerror(-r));
			return;
		}
		pop_output(peer);
	}
	want_output(peer, false);
}

/* Only requests come this way; anything else is no client of ours. */
static void handle(struct peer *peer, const struct em_ipc_message *message)
{
	if (message->kind == EM_IPC_REQUEST) {
		peer->peers->ops->request(peer->peers->self, &peer->who, &message->request);
		return;
	}
	if (message->kind == EM_IPC_REPLY && message->reply.data_fd >= 0)
		close(message->reply.data_fd);
	drop(peer, LOG_WARNING, "it sent a message that only the broker sends");
}

static void read_input(struct peer *peer)
{
	struct em_peers *peers = peer->peers;
	struct em_ipc_message message;

	for (int i = 0; i < MESSAGES_PER_TURN && peer->fd >= 0; i++) {
		int r = em_ipc_receive(peer->fd, peers->packet, sizeof(peers->packet), &message);

		if (r == -EAGAIN)
			return;
		if (r > 0)
			handle(peer, &message);
		else if (r == 0)
			drop(peer, LOG_INFO, "it hung up");
		else if (r == -EBADMSG)
			drop(peer, LOG_WARNING, "it sent something that is not our protocol");
		else
			drop(peer, LOG_INFO, strerror(-r));
	}
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *self)
{
	struct peer *peer = self;

	(void)source;
	(void)fd;
	if (revents & EPOLLOUT)
		flush_output(peer);
	if (revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_input(peer);
	return 0;
}

static int add_peer(struct em_peers *peers, struct peer **slot, int *fd, const struct ucred *cred)
{
	struct peer *peer = calloc(1, sizeof(*peer));
	int r;

	if (!peer)
		return -ENOMEM;
	peer->peers = peers;
	peer->who = (struct em_peer_id){ ++peers->last_id, cred->pid, cred->uid };
	peer->queue_end = &peer->queue;
	peer->fd = *fd;
	r = sd_event_add_io(peers->event, &peer->source, *fd, EPOLLIN, on_io, peer);
	if (r < 0) {
		free(peer);
		return r;
	}
	em_steal_fd(fd);
	*slot = peer;
	return 0;
}

static struct peer **free_slot(struct em_peers *peers)
{
	for (size_t i = 0; i < EM_PEERS_MAX; i++)
		if (!peers->slots[i])
			return &peers->slots[i];
	return NULL;
}

static void refuse(const struct ucred *cred, const char *why)
{
	struct em_log_fields fields = {
		.peer_pid = cred->pid,
		.peer_uid = cred->uid,
		.has_peer = 1,
	};

	em_log(LOG_WARNING, &fields, "Connection of pid %ld (uid %ld) refused: %s", (long)cred->pid,
	       (long)cred->uid, why);
}

static int on_connection(sd_event_source *source, int listen_fd, uint32_t revents, void *self)
{
	em_cleanup(em_closep) int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct em_peers *peers = self;
	struct peer **slot = free_slot(peers);
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);

	(void)source;
	(void)revents;
	if (fd < 0)
		return 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0 || len != sizeof(cred))
		return 0;
	if (cred.uid != peers->uid) {
		refuse(&cred, "only the client user may speak here");
		return 0;
	}
	if (!slot) {
		refuse(&cred, "too many connections");
		return 0;
	}
	if (add_peer(peers, slot, &fd, &cred) < 0) {
		refuse(&cred, "out of memory");
		return 0;
	}
	em_info("pid %ld (uid %ld) connected", (long)cred.pid, (long)cred.uid);
	peers->ops->connected(peers->self, &(*slot)->who);
	peers->ops->changed(peers->self);
	return 0;
}

int em_peers_new(sd_event *event, int listen_fd, uid_t uid, const struct em_peers_ops *ops,
		 void *self, struct em_peers **ret)
{
	em_cleanup(em_closep) int fd = listen_fd;
	em_cleanup(em_peers_freep) struct em_peers *peers = calloc(1, sizeof(*peers));
	int r;

	if (!peers)
		return -ENOMEM;
	peers->fd = em_steal_fd(&fd);
	peers->event = sd_event_ref(event);
	peers->ops = ops;
	peers->self = self;
	peers->uid = uid;
	r = sd_event_add_io(event, &peers->listener, peers->fd, EPOLLIN, on_connection, peers);
	if (r < 0)
		return r;
	r = sd_event_add_defer(event, &peers->reaper, on_reap, peers);
	if (r < 0)
		return r;
	r = sd_event_source_set_enabled(peers->reaper, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = em_steal(peers);
	return 0;
}

struct em_peers *em_peers_free(struct em_peers *peers)
{
	if (!peers)
		return NULL;
	for (size_t i = 0; i < EM_PEERS_MAX; i++)
		if (peers->slots[i])
			free_peer(peers->slots[i]);
	sd_event_source_disable_unref(peers->listener);
	sd_event_source_disable_unref(peers->reaper);
	sd_event_unref(peers->event);
	em_closep(&peers->fd);
	free(peers);
	return NULL;
}

unsigned em_peers_count(const struct em_peers *peers)
{
	unsigned n = 0;

	for (size_t i = 0; i < EM_PEERS_MAX; i++)
		n += peers->slots[i] && peers->slots[i]->fd >= 0;
	return n;
}

void em_peers_send(struct em_peers *peers, uint64_t id, const struct em_ipc_message *message)
{
	for (size_t i = 0; i < EM_PEERS_MAX; i++)
		if (peers->slots[i] && peers->slots[i]->who.id == id)
			send_to(peers->slots[i], message);
}

void em_peers_broadcast(struct em_peers *peers, const struct em_ipc_message *message)
{
	for (size_t i = 0; i < EM_PEERS_MAX; i++)
		if (peers->slots[i])
			send_to(peers->slots[i], message);
}
