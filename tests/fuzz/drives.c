/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emberd's side of the broker protocol as a whole: a broker that tells, answers and lies as the
 * input says, over a real socket, and what comes of it on every page.
 * Input: steps. The first byte of a step says what it is; see step().
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "daemon/drives/drives.h"
#include "daemon/drives/history.h"
#include "daemon/web/call.h"
#include "daemon/web/events.h"
#include "daemon/web/json.h"
#include "daemon/web/metrics.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/le.h"
#include "lib/base/log.h"
#include "lib/ipc/proto.h"
#include "tests/fuzz/fuzz.h"

#define METRICS_MAX  ((size_t)16 << 20)
#define EVENTS_MAX   256
#define STEPS_MAX    64
#define REQUESTS_MAX 128
#define TURNS_MAX    16
#define HANDLES	     4
#define DATA_SIZE    (EM_IPC_INLINE_MAX + 1)

struct scene {
	sd_event *event;
	struct em_hub *hub;
	struct em_event_log *events;
	struct em_drives *drives;
	int listen_fd, fd;
	struct em_ipc_request requests[REQUESTS_MAX]; /* not answered yet */
	unsigned request_count;
};

static int listen_fd = -1;
static char path[FUZZ_PATH_SIZE];

static int listener(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (listen_fd >= 0)
		return listen_fd;
	em_log_init("fuzz", LOG_EMERG);
	fuzz_path(path, "broker.sock");
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", path);
	listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	fuzz_check(listen_fd >= 0);
	fuzz_check(bind(listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	fuzz_check(listen(listen_fd, 8) == 0);
	return listen_fd;
}

static void turn(struct scene *scene)
{
	static uint8_t packet[EM_IPC_PACKET_MAX];
	struct em_ipc_message message;

	for (unsigned i = 0; i < TURNS_MAX && sd_event_run(scene->event, 0) > 0; i++)
		;
	if (scene->fd < 0)
		scene->fd = accept4(scene->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (scene->fd >= 0 && em_ipc_receive(scene->fd, packet, sizeof(packet), &message) == 1) {
		fuzz_check(message.kind == EM_IPC_REQUEST);
		if (scene->request_count < REQUESTS_MAX)
			scene->requests[scene->request_count++] = message.request;
	}
}

static void say(struct scene *scene, const struct em_ipc_message *message)
{
	if (scene->fd < 0 || em_ipc_send(scene->fd, message) >= 0)
		return;
	em_closep(&scene->fd);
}

static void text(struct fuzz_input *in, char *buf, size_t size)
{
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, fuzz_u8(in) % size, &len);

	snprintf(buf, size, "%.*s", (int)len, len ? (const char *)bytes : "");
}

static void tell_drive(struct scene *scene, struct fuzz_input *in)
{
	struct em_ipc_message message = { .kind = EM_IPC_DRIVE };
	struct em_ipc_drive *drive = &message.drive;
	uint8_t what = fuzz_u8(in);

	drive->drive = 1 + what % HANDLES;
	drive->change = (enum em_drive_change)(EM_DRIVE_PRESENT + (what >> 2) % 3);
	snprintf(drive->device, sizeof(drive->device), "nvme%u", what >> 4);
	strcpy(drive->state, what & 0x40 ? "resetting" : "live");
	strcpy(drive->transport, what & 0x80 ? "tcp" : "pcie");
	text(in, drive->serial, 24);
	text(in, drive->subsystem_nqn, 64);
	text(in, drive->firmware, 12);
	text(in, drive->address, 16);
	text(in, drive->cntlid, 8);
	text(in, drive->model, 48);
	if (what & 0x20)
		text(in, drive->state, sizeof(drive->state));
	say(scene, &message);
}

static void tell_event(struct scene *scene, struct fuzz_input *in)
{
	struct em_ipc_message message = { .kind = EM_IPC_EVENT };

	message.event.drive = 1 + fuzz_u8(in) % HANDLES;
	message.event.kind = (enum em_event_kind)(EM_EVENT_AEN + fuzz_u8(in) % 4);
	if (message.event.kind == EM_EVENT_AEN)
		message.event.aen = fuzz_u32(in) & 0xffffff;
	say(scene, &message);
}

static void fill_identify(uint8_t page, uint8_t *data)
{
	static const uint8_t capacity[8] = { 0, 0, 0, 1 };

	switch (page) {
	case 0: /* a namespace: size, capacity, use, 512-byte blocks */
		for (unsigned i = 0; i < 3; i++)
			memcpy(data + i * sizeof(capacity), capacity, sizeof(capacity));
		data[130] = 9;
		return;
	case 1: /* the controller: VER, OACS, FRMW, LPA, ELPE, NN, SANICAP */
		memcpy(data + 4, "SN1", 3);
		memcpy(data + 24, "MODEL", 5);
		memcpy(data + 64, "0101", 4);
		em_put_le32(data + 80, EM_VER(2, 0));
		data[256] = 0x1f;
		data[260] = 0x17;
		data[261] = 0x0f;
		data[262] = 3;
		data[328] = 7;
		em_put_le32(data + 516, 8);
		return;
	case 2: /* active namespaces */
		em_put_le32(data, 1);
		em_put_le32(data + 4, 7);
		return;
	default:
		return;
	}
}

static void fill_log(uint8_t page, uint8_t *data)
{
	switch (page) {
	case 2:
		em_put_le16(data + 1, 310);
		data[3] = 100;
		return;
	case 3:
		data[0] = 1;
		memcpy(data + 8, "0101", 4);
		return;
	case 5: /* a few commands, the self-test and Security Receive among them */
		data[4 * 0x02] = data[4 * 0x06] = data[4 * 0x14] = data[4 * 0x82] = 1;
		return;
	default:
		return;
	}
}

/* TCG level-0 discovery: the header, and locking, locked. */
static void fill_discovery(uint8_t *data)
{
	static const uint8_t locking[] = { 0x00, 0x02, 0x10, 1, 0x07 };

	data[3] = 44 + sizeof(locking);
	memcpy(data + 48, locking, sizeof(locking));
}

/* What a drive would say that is well; data has DATA_SIZE zero bytes. */
static void fill(const struct em_ipc_request *request, uint8_t *data)
{
	if (request->op == EM_OP_IDENTIFY)
		fill_identify(request->page, data);
	else if (request->op == EM_OP_GET_LOG)
		fill_log(request->page, data);
	else if (request->op == EM_OP_SECURITY_RECEIVE)
		fill_discovery(data);
}

static uint8_t *new_data(void)
{
	uint8_t *data = calloc(1, DATA_SIZE);

	fuzz_check(data);
	return data;
}

static struct em_ipc_request take_request(struct scene *scene, unsigned place)
{
	struct em_ipc_request request = { 0 };

	if (!scene->request_count)
		return request;
	place %= scene->request_count;
	request = scene->requests[place];
	scene->requests[place] = scene->requests[--scene->request_count];
	return request;
}

/* Everything that is asked is answered as by drives that are well. */
static void answer_all(struct scene *scene)
{
	while (scene->request_count) {
		struct em_ipc_request request = take_request(scene, 0);
		em_cleanup(em_freep) uint8_t *data = new_data();
		struct em_ipc_message message = { .kind = EM_IPC_REPLY };

		fill(&request, data);
		message.reply.id = request.id;
		message.reply.drive = request.drive;
		message.reply.answer = EM_ANSWER_DONE;
		message.reply.data_len = request.len;
		message.reply.data = request.len ? data : NULL;
		message.reply.data_fd = -1;
		say(scene, &message);
	}
}

/* Good data, some of which the input changes. */
static void spoil(struct em_ipc_reply *reply, struct fuzz_input *in, uint8_t *data)
{
	size_t at = fuzz_u16(in), room, len;
	const uint8_t *bytes;

	if (!reply->data_len)
		return;
	at %= reply->data_len;
	room = reply->data_len - at;
	bytes = fuzz_bytes(in, fuzz_u16(in) % (room + 1), &len);
	if (len)
		memcpy(data + at, bytes, len);
	reply->data = data;
}

/* A lie is told one bit at a time: a wrong id, drive, length or a status where none belongs. */
static void answer(struct scene *scene, struct fuzz_input *in, uint8_t lie)
{
	struct em_ipc_request request = take_request(scene, fuzz_u8(in));
	struct em_ipc_message message = { .kind = EM_IPC_REPLY };
	struct em_ipc_reply *reply = &message.reply;
	em_cleanup(em_freep) uint8_t *data = new_data();

	reply->id = request.id + (lie & 1);
	reply->drive = lie & 2 ? fuzz_u8(in) : request.drive;
	reply->answer = (enum em_answer)(fuzz_u8(in) % EM_ANSWER_COUNT);
	reply->status = reply->answer == EM_ANSWER_STATUS ? fuzz_u16(in) : 0;
	reply->err = reply->answer == EM_ANSWER_HOST_ERROR ? 1 + fuzz_u8(in) % 120 : 0;
	reply->result = fuzz_u32(in);
	reply->data_fd = -1;
	if (reply->answer == EM_ANSWER_DONE) {
		reply->data_len = lie & 4 ? fuzz_u16(in) : request.len;
		fill(&request, data);
		if (lie & 8)
			memset(data, 0xff, DATA_SIZE);
		spoil(reply, in, data);
	}
	say(scene, &message);
}

static void say_raw(struct scene *scene, struct fuzz_input *in)
{
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, fuzz_u16(in), &len);

	if (scene->fd >= 0 && len && send(scene->fd, bytes, len, MSG_NOSIGNAL) < 0)
		em_closep(&scene->fd);
}

static void step(struct scene *scene, struct fuzz_input *in)
{
	uint8_t what = fuzz_u8(in);

	switch (what & 7) {
	case 0:
	case 1:
		tell_drive(scene, in);
		break;
	case 2:
		say(scene, &(struct em_ipc_message){ .kind = EM_IPC_SYNC });
		break;
	case 3:
		tell_event(scene, in);
		break;
	case 4:
	case 5:
		answer(scene, in, what & 8 ? what >> 4 : 0);
		break;
	case 6:
		if (what & 8)
			say_raw(scene, in);
		else
			em_closep(&scene->fd);
		break;
	case 7:
		answer_all(scene);
		break;
	}
	turn(scene);
}

/* What is shown is JSON, UTF-8 in it, and means the same when it is read again. Takes it over. */
static void check_json(json_t *shown)
{
	em_cleanup(em_freep) char *dump = json_dumps(shown, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_t *again = dump ? json_loads(dump, JSON_REJECT_DUPLICATES, NULL) : NULL;

	fuzz_check(json_is_object(shown) && again);
	fuzz_check(json_object_size(again) == json_object_size(shown));
	json_decref(again);
	json_decref(shown);
}

/* What is no reading, or was never read, is none; values there are stand for bytes that came. */
static void check_page(const struct em_drive_snap *drive, enum em_page_id id,
		       const struct em_page_read *read, const struct em_call *call)
{
	const struct em_blob *data = read->data;

	fuzz_check((unsigned)read->status < EM_READ_COUNT);
	fuzz_check(!data == !read->read_us && (data || read->status != EM_READ_OK));
	if (data)
		fuzz_check(em_page_check(em_pages[id], data->data, data->len) == EM_PAGE_VALID);
	check_json(em_json_page(drive, em_pages[id], read, call));
}

static void check_drive(const struct em_drive_snap *drive, const struct em_call *call)
{
	fuzz_check((unsigned)drive->state < EM_STATE_COUNT);
	for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++)
		check_page(drive, (enum em_page_id)p, &drive->pages[p], call);
	for (unsigned i = 0; i < drive->namespace_count; i++)
		check_page(drive, EM_PAGE_IDENTIFY_NS, &drive->namespaces[i].page, call);
	check_json(em_json_summary(drive, call));
}

/* Whatever was told: what is shown holds together. */
static void check_snapshot(struct em_hub *hub)
{
	static struct em_metrics *metrics;
	struct em_store_status store = { .ok = true };
	struct em_snapshot *snap = em_hub_get(hub);
	struct em_call call = { .snap = snap,
				.now_us = em_realtime_us(),
				.now_mono_us = em_monotonic_us() };
	struct em_buf buf;

	if (!metrics)
		metrics = em_metrics_new();
	em_buf_init(&buf, METRICS_MAX);
	for (unsigned i = 0; i < snap->count; i++)
		check_drive(snap->drives[i], &call);
	em_metrics_write(metrics, snap, &store, "1.2.3", snap->taken_mono_us, snap->taken_us, &buf);
	fuzz_check(buf.data && buf.len);
	em_buf_done(&buf);
	em_snapshot_unref(snap);
}

static void check_events(struct em_event_log *log)
{
	static struct em_event events[EVENTS_MAX];
	unsigned count = em_event_log_read(log, 0, events, EVENTS_MAX);
	int64_t before = 0;

	for (unsigned i = 0; i < count; i++) {
		check_json(em_json_event(&events[i]));
		fuzz_check(events[i].id > before && events[i].summary[0]);
		before = events[i].id;
	}
}

static void set_up(struct scene *scene)
{
	struct em_drives_config config = { .answer_timeout_us = 5 * EM_US_PER_SEC };
	unsigned tables;

	em_history_tables(&tables);
	scene->listen_fd = listener();
	snprintf(config.broker_socket, sizeof(config.broker_socket), "%.100s", path);
	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		config.intervals.page_us[i] = 10 * EM_US_PER_MS;
	scene->hub = em_hub_new();
	scene->events = em_event_log_new();
	fuzz_check(scene->hub && scene->events && sd_event_new(&scene->event) >= 0);
	fuzz_check(em_drives_new(&scene->drives, scene->event, &config, scene->hub, NULL,
				 scene->events) == 0);
	for (unsigned i = 0; i < 100 && scene->fd < 0; i++) {
		fuzz_check(sd_event_run(scene->event, 100 * EM_US_PER_MS) >= 0);
		scene->fd = accept4(scene->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	}
	fuzz_check(scene->fd >= 0);
}

static void tear_down(struct scene *scene)
{
	int left;

	em_drives_free(scene->drives);
	em_hub_free(scene->hub);
	em_event_log_free(scene->events);
	sd_event_unref(scene->event);
	em_closep(&scene->fd);
	while ((left = accept4(scene->listen_fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scene scene;
	struct fuzz_input in = { data, size };

	scene = (struct scene){ .fd = -1 };
	set_up(&scene);
	for (unsigned i = 0; i < STEPS_MAX && in.left; i++)
		step(&scene, &in);
	check_snapshot(scene.hub);
	check_events(scene.events);
	tear_down(&scene);
	return 0;
}
