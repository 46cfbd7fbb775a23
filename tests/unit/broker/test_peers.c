/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "broker/peers.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

static char dir[] = "/tmp/ember-peers-XXXXXX";
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static sd_event *event;
static struct em_peers *peers;
static int connected, requests;
static uint64_t last_peer;
static struct em_ipc_request last_request;

static void on_connected(void *self, const struct em_peer_id *peer)
{
	(void)self;
	ck_assert_uint_eq(peer->uid, geteuid());
	ck_assert_int_eq(peer->pid, getpid());
	last_peer = peer->id;
	connected++;
}

static void on_request(void *self, const struct em_peer_id *peer,
		       const struct em_ipc_request *request)
{
	(void)self;
	last_peer = peer->id;
	last_request = *request;
	requests++;
}

static void on_changed(void *self)
{
	(void)self;
}

static const struct em_peers_ops ops = { on_connected, on_request, on_changed };

static void start(uid_t uid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_eq(em_peers_new(event, fd, uid, &ops, NULL, &peers), 0);
}

static void finish(void)
{
	em_peers_free(peers);
	sd_event_unref(event);
	unlink(address.sun_path);
	rmdir(dir);
}

static int join(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

#define turn_until(condition)                                                                      \
	do {                                                                                       \
		uint64_t limit_ = em_monotonic_us() + 10 * EM_US_PER_SEC;                          \
		while (!(condition)) {                                                             \
			ck_assert_uint_lt(em_monotonic_us(), limit_);                              \
			ck_assert_int_ge(sd_event_run(event, EM_US_PER_SEC), 0);                   \
		}                                                                                  \
	} while (0)

/* The broker closed it; what waits in the socket may be read before. */
static bool is_closed(int fd)
{
	static uint8_t buf[EM_IPC_PACKET_MAX];
	ssize_t n;

	do {
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	} while (n > 0);
	return n == 0 || errno == ECONNRESET;
}

static void send_request(int fd, uint32_t id)
{
	struct em_ipc_message message = {
		.kind = EM_IPC_REQUEST,
		.request = { .id = id, .op = EM_OP_IDENTIFY, .len = 4096 },
	};

	ck_assert_int_eq(em_ipc_send(fd, &message), 0);
}

START_TEST(the_client_user_is_heard)
{
	em_cleanup(em_closep) int fd = -1;

	start(geteuid());
	fd = join();
	turn_until(connected == 1);
	send_request(fd, 77);
	turn_until(requests == 1);
	ck_assert_uint_eq(last_request.id, 77);
	ck_assert_uint_eq(em_peers_count(peers), 1);
	finish();
}
END_TEST

START_TEST(any_other_user_is_closed_at_once)
{
	em_cleanup(em_closep) int fd = -1;

	/* We are the other user, be it root. */
	start(geteuid() + 1);
	fd = join();
	send_request(fd, 1);
	turn_until(is_closed(fd));
	ck_assert_int_eq(connected, 0);
	ck_assert_int_eq(requests, 0);
	finish();
}
END_TEST

START_TEST(connections_are_counted)
{
	int fds[EM_PEERS_MAX + 1];

	start(geteuid());
	for (unsigned i = 0; i <= EM_PEERS_MAX; i++)
		fds[i] = join();
	turn_until(is_closed(fds[EM_PEERS_MAX]));
	ck_assert_uint_eq(em_peers_count(peers), EM_PEERS_MAX);
	/* A place that gets free is given away again. */
	close(fds[0]);
	turn_until(em_peers_count(peers) == EM_PEERS_MAX - 1);
	ck_assert_int_ge(sd_event_run(event, 0), 0);
	fds[0] = join();
	turn_until(em_peers_count(peers) == EM_PEERS_MAX);
	for (unsigned i = 0; i <= EM_PEERS_MAX; i++)
		close(fds[i]);
	finish();
}
END_TEST

static const char *const garbage[] = { "x", "Embr", "0123456789abcdef0123456789abcdef0123456789" };

START_TEST(garbage_ends_the_connection)
{
	em_cleanup(em_closep) int fd = -1;

	start(geteuid());
	fd = join();
	turn_until(connected == 1);
	send(fd, garbage[_i], strlen(garbage[_i]), 0);
	send(fd, garbage[_i], strlen(garbage[_i]), MSG_NOSIGNAL);
	turn_until(is_closed(fd));
	ck_assert_int_eq(requests, 0);
	finish();
}
END_TEST

START_TEST(a_message_of_the_brokers_own_kind_ends_the_connection)
{
	struct em_ipc_message message = { .kind = EM_IPC_SYNC };
	em_cleanup(em_closep) int fd = -1;

	start(geteuid());
	fd = join();
	ck_assert_int_eq(em_ipc_send(fd, &message), 0);
	turn_until(is_closed(fd));
	finish();
}
END_TEST

static void send_reply(uint32_t id, const uint8_t *data, uint32_t len)
{
	struct em_ipc_message message = {
		.kind = EM_IPC_REPLY,
		.reply = { .id = id, .data = data, .data_len = len, .data_fd = -1 },
	};

	em_peers_send(peers, last_peer, &message);
}

/* More than the socket takes: the rest waits, keeps its order, and its bytes are copies. */
START_TEST(answers_wait_for_a_slow_reader)
{
	static uint8_t data[32768], packet[EM_IPC_PACKET_MAX];
	struct em_ipc_message message;
	em_cleanup(em_closep) int fd = -1;
	int r;

	start(geteuid());
	fd = join();
	turn_until(connected == 1);
	for (uint32_t id = 0; id < 64; id++) {
		memset(data, (int)id, sizeof(data));
		send_reply(id, data, sizeof(data));
	}
	for (uint32_t id = 0; id < 64; id++) {
		turn_until((r = em_ipc_receive(fd, packet, sizeof(packet), &message)) != -EAGAIN);
		ck_assert_int_eq(r, 1);
		ck_assert_uint_eq(message.reply.id, id);
		ck_assert_uint_eq(message.reply.data[32767], id);
	}
	finish();
}
END_TEST

START_TEST(a_client_that_does_not_read_is_dropped)
{
	static uint8_t data[65536];
	em_cleanup(em_closep) int fd = -1;

	start(geteuid());
	fd = join();
	turn_until(connected == 1);
	for (uint32_t id = 0; id < EM_PEER_QUEUE_BYTES / sizeof(data) + 8; id++)
		send_reply(id, data, sizeof(data));
	ck_assert_uint_eq(em_peers_count(peers), 0);
	ck_assert_int_ge(sd_event_run(event, 0), 0);
	ck_assert(is_closed(fd));
	finish();
}
END_TEST

START_TEST(a_client_that_does_not_read_is_dropped_by_count_too)
{
	em_cleanup(em_closep) int fd = -1;

	start(geteuid());
	fd = join();
	turn_until(connected == 1);
	for (uint32_t id = 0; id < 2 * EM_PEER_QUEUE_MAX && em_peers_count(peers); id++)
		send_reply(id, NULL, 0);
	ck_assert_uint_eq(em_peers_count(peers), 0);
	finish();
}
END_TEST

START_TEST(large_data_goes_as_memfd)
{
	static uint8_t data[EM_IPC_INLINE_MAX + 4], packet[EM_IPC_PACKET_MAX];
	struct em_ipc_message message;
	em_cleanup(em_closep) int fd = -1;

	start(geteuid());
	fd = join();
	turn_until(connected == 1);
	send_reply(5, data, sizeof(data));
	ck_assert_int_eq(em_ipc_receive(fd, packet, sizeof(packet), &message), 1);
	ck_assert_uint_eq(message.reply.data_len, sizeof(data));
	ck_assert_int_ge(message.reply.data_fd, 0);
	close(message.reply.data_fd);
	finish();
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("peers");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, the_client_user_is_heard);
	tcase_add_test(tc, any_other_user_is_closed_at_once);
	tcase_add_test(tc, connections_are_counted);
	tcase_add_loop_test(tc, garbage_ends_the_connection, 0, (int)EM_COUNT(garbage));
	tcase_add_test(tc, a_message_of_the_brokers_own_kind_ends_the_connection);
	tcase_add_test(tc, answers_wait_for_a_slow_reader);
	tcase_add_test(tc, a_client_that_does_not_read_is_dropped);
	tcase_add_test(tc, a_client_that_does_not_read_is_dropped_by_count_too);
	tcase_add_test(tc, large_data_goes_as_memfd);
	return run_tests(tc);
}
