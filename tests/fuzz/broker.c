/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's side of the protocol as a whole: clients that ask and babble, drives that come, go
 * and answer as the input says. Real are the socket, the policy, the checks, the lanes with their
 * threads and the operations; only finding drives and the last call into the kernel are ours, and
 * that call looks at what would have reached a drive.
 * Input: policy (1 byte), steps. The first byte of a step says what it is; see step().
 */
#include <errno.h>
#include <libnvme.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "broker/broker.h"
#include "broker/checks.h"
#include "broker/discover.h"
#include "broker/policy.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/ipc/proto.h"
#include "tests/fuzz/fuzz.h"

#define DRIVES	     2
#define CLIENTS	     2
#define REQUESTS_MAX 64 /* of one client; it is also the number of ids */
#define STEPS_MAX    48
#define TURNS_MAX    32
#define PATIENCE_US  (10 * EM_US_PER_SEC)
#define PATTERN	     0x5a	/* what drives say */
#define EVENTS_SET   0x100	/* what the kernel has set in feature 0Bh */
#define LOG_RETAIN   (1u << 15) /* Get Log Page, dword 10 */

struct em_discover {
	const struct em_discover_ops *ops;
	void *self;
	struct em_drive drives[DRIVES];
	uint32_t last_handle;
};

struct client {
	int fd; /* -1: none */
	unsigned asked, answered;
	enum em_op ops[REQUESTS_MAX];
	uint32_t lens[REQUESTS_MAX];
	bool is_answered[REQUESTS_MAX];
};

static struct em_discover discover;
static struct client clients[CLIENTS];
static enum em_verdict verdicts[EM_CLASS_COUNT];
static char socket_path[FUZZ_PATH_SIZE], policy_path[FUZZ_PATH_SIZE], sysfs_path[FUZZ_PATH_SIZE];
static char serial_path[FUZZ_PATH_SIZE], state_path[FUZZ_PATH_SIZE];

/* What the next commands come back with; a lane's thread reads it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t outcome;

/* ---- the kernel -------------------------------------------------------------------------- */

static bool is_allowed(enum em_class cls)
{
	return verdicts[cls] == EM_VERDICT_ALLOW;
}

/* Listed pages by class read, any page by class arm. */
static bool may_read(void)
{
	return is_allowed(EM_CLASS_READ) || is_allowed(EM_CLASS_ARM);
}

/* Nothing gets here but what its class may do, and of Set Features just the bits of the events. */
static void check_command(const struct nvme_passthru_cmd *cmd)
{
	uint32_t page = cmd->cdw10 & 0xff;

	fuzz_check(cmd->timeout_ms == 0 && cmd->data_len <= EM_IDENTIFY_SIZE);
	switch (cmd->opcode) {
	case nvme_admin_identify:
		fuzz_check(may_read() && cmd->data_len == EM_IDENTIFY_SIZE);
		return;
	case nvme_admin_get_log_page:
		fuzz_check(cmd->data_len > 0 && cmd->data_len % 4 == 0);
		fuzz_check(((cmd->cdw10 >> 16) + 1) * 4 == cmd->data_len);
		if (cmd->cdw10 & LOG_RETAIN)
			fuzz_check(may_read());
		else
			fuzz_check(is_allowed(EM_CLASS_ARM) &&
				   (page == EM_LID_ERROR || page == EM_LID_SMART));
		return;
	case nvme_admin_get_features:
		fuzz_check(may_read());
		return;
	case nvme_admin_dev_self_test:
		fuzz_check(is_allowed(EM_CLASS_TEST) && cmd->data_len == 0);
		fuzz_check(cmd->cdw10 == EM_STC_SHORT || cmd->cdw10 == EM_STC_EXTENDED ||
			   cmd->cdw10 == EM_STC_ABORT);
		return;
	case nvme_admin_set_features:
		fuzz_check(is_allowed(EM_CLASS_ARM) && cmd->cdw10 == EM_FID_EVENTS);
		fuzz_check((cmd->cdw11 & ~EM_EVENTS_SMART) == EVENTS_SET);
		return;
	case nvme_admin_security_recv: /* the list of protocols, level-0 discovery */
		fuzz_check(is_allowed(EM_CLASS_READ) && cmd->nsid == 0);
		fuzz_check(cmd->cdw10 == 0 || cmd->cdw10 == 0x01000100);
		fuzz_check(cmd->data_len > 0 && cmd->cdw11 == cmd->data_len);
		return;
	default:
		fuzz_check(!"another command");
	}
}

/* The linker gives it for libnvme's. */
int __wrap_nvme_submit_admin_passthru(int fd, struct nvme_passthru_cmd *cmd, __u32 *result);

int __wrap_nvme_submit_admin_passthru(int fd, struct nvme_passthru_cmd *cmd, __u32 *result)
{
	static const int errors[] = { ENODEV, EAGAIN, EINTR, EIO, EPERM, ENOENT };
	uint8_t what;

	fuzz_check(fd >= 0);
	check_command(cmd);
	pthread_mutex_lock(&lock);
	what = outcome;
	pthread_mutex_unlock(&lock);
	if (what >= 192) {
		errno = errors[what % EM_COUNT(errors)];
		return -1;
	}
	if (what >= 128)
		return what == 128 ? 0x370 : what == 129 ? 0x10000 : what;
	if (cmd->data_len)
		memset((void *)(uintptr_t)cmd->addr, PATTERN, cmd->data_len);
	*result = EVENTS_SET;
	return 0;
}

/* ---- discovery --------------------------------------------------------------------------- */

static void appear(unsigned place)
{
	struct em_drive *drive = &discover.drives[place];

	if (drive->seen)
		return;
	*drive = (struct em_drive){ .sysfs = sysfs_path, .seen = true };
	drive->info.drive = ++discover.last_handle;
	drive->info.change = EM_DRIVE_PRESENT;
	/* A node that can be opened everywhere, and does nothing. */
	strcpy(drive->info.device, "null");
	strcpy(drive->info.serial, "SN1");
	discover.ops->appeared(discover.self, drive);
}

static void vanish(unsigned place)
{
	struct em_drive *drive = &discover.drives[place];

	if (!drive->seen)
		return;
	drive->info.change = EM_DRIVE_GONE;
	drive->seen = false;
	discover.ops->gone(discover.self, drive);
}

int em_discover_new(sd_event *event, const struct em_discover_ops *ops, void *self,
		    struct em_discover **ret)
{
	fuzz_check(event);
	discover = (struct em_discover){ .ops = ops, .self = self };
	*ret = &discover;
	appear(0);
	return 0;
}

struct em_discover *em_discover_free(struct em_discover *which)
{
	for (unsigned i = 0; which && i < DRIVES; i++)
		vanish(i);
	return NULL;
}

struct em_drive *em_discover_find(struct em_discover *which, uint32_t handle)
{
	for (unsigned i = 0; i < DRIVES; i++)
		if (which->drives[i].seen && which->drives[i].info.drive == handle)
			return &which->drives[i];
	return NULL;
}

struct em_drive *em_discover_first(struct em_discover *which)
{
	struct em_drive *first = NULL;

	for (unsigned i = 0; i < DRIVES; i++) {
		if (!which->drives[i].seen)
			continue;
		which->drives[i].next = first;
		first = &which->drives[i];
	}
	return first;
}

unsigned em_discover_count(const struct em_discover *which)
{
	unsigned count = 0;

	for (unsigned i = 0; i < DRIVES; i++)
		count += which->drives[i].seen;
	return count;
}

void em_discover_compare_soon(struct em_discover *which)
{
	(void)which;
}

/* ---- clients ----------------------------------------------------------------------------- */

static void leave(struct client *client)
{
	em_closep(&client->fd);
	*client = (struct client){ .fd = -1 };
}

static void join(struct client *client)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	leave(client);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", socket_path);
	client->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	fuzz_check(client->fd >= 0);
	if (connect(client->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		leave(client);
}

/* What a drive said, all of it, and nothing else. */
static void check_data(const struct em_ipc_reply *reply, uint32_t wanted)
{
	fuzz_check(reply->data_len == wanted);
	for (uint32_t i = 0; reply->data && i < reply->data_len; i++)
		fuzz_check(reply->data[i] == PATTERN);
	if (reply->data_fd >= 0) {
		uint8_t last;

		fuzz_check(pread(reply->data_fd, &last, 1, reply->data_len - 1) == 1);
		fuzz_check(last == PATTERN);
		close(reply->data_fd);
	}
}

/* Each request is answered once, and as the policy says. */
static void check_reply(struct client *client, const struct em_ipc_reply *reply)
{
	enum em_class cls;

	fuzz_check(reply->id < client->asked && !client->is_answered[reply->id]);
	client->is_answered[reply->id] = true;
	client->answered++;
	cls = em_op_class(client->ops[reply->id]);
	if (reply->answer == EM_ANSWER_DENIED)
		fuzz_check(verdicts[cls] == EM_VERDICT_DENY);
	else if (reply->answer == EM_ANSWER_NEEDS_CONFIRMATION)
		fuzz_check(verdicts[cls] == EM_VERDICT_CONFIRM);
	else if (reply->answer != EM_ANSWER_GONE)
		fuzz_check(is_allowed(cls));
	if (reply->answer == EM_ANSWER_DONE)
		check_data(reply, client->lens[reply->id]);
	else
		fuzz_check(!reply->data && reply->data_fd < 0 && reply->data_len == 0);
}

/* Whoever was closed by the broker has no answers to come. */
static void listen_to(struct client *client)
{
	static uint8_t packet[EM_IPC_PACKET_MAX];
	struct em_ipc_message message;
	int r = 1;

	while (client->fd >= 0 && r == 1) {
		r = em_ipc_receive(client->fd, packet, sizeof(packet), &message);
		if (r == 1 && message.kind == EM_IPC_REPLY)
			check_reply(client, &message.reply);
		fuzz_check(r != -EBADMSG && (r != 1 || message.kind != EM_IPC_REQUEST));
	}
	if (r != -EAGAIN)
		leave(client);
}

/* True when something was done. */
static bool turn(sd_event *event, uint64_t wait_us)
{
	int r = sd_event_run(event, wait_us);

	fuzz_check(r >= 0);
	for (unsigned i = 0; i < CLIENTS; i++)
		listen_to(&clients[i]);
	return r > 0;
}

static bool waits(void)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (clients[i].fd >= 0 && clients[i].answered < clients[i].asked)
			return true;
	return false;
}

/* A lane's thread may take its time; an answer that never comes is a fault. */
static void wait_for_answers(sd_event *event)
{
	uint64_t end = em_monotonic_us() + PATIENCE_US;

	while (waits()) {
		turn(event, PATIENCE_US);
		fuzz_check(em_monotonic_us() < end);
	}
}

static uint32_t any_len(struct fuzz_input *in)
{
	static const uint32_t usual[] = { 0, 4, 512, 4096, 564, 8192, EM_IPC_INLINE_MAX + 4 };
	uint8_t what = fuzz_u8(in);

	return what < 0xf0 ? usual[what % EM_COUNT(usual)] : fuzz_u32(in);
}

static void ask(struct client *client, struct fuzz_input *in)
{
	struct em_ipc_message message = { .kind = EM_IPC_REQUEST };
	struct em_ipc_request *request = &message.request;
	uint8_t what = fuzz_u8(in), flags = fuzz_u8(in);

	if (client->fd < 0 || client->asked == REQUESTS_MAX)
		return;
	request->id = client->asked;
	request->op = (enum em_op)(what % EM_OP_COUNT);
	request->drive = discover.last_handle - (flags & 1);
	request->page = fuzz_u8(in);
	request->len = any_len(in);
	request->nsid = flags & 2 ? EM_NSID_ALL : flags & 4 ? fuzz_u8(in) : 0;
	request->lsp = flags & 8 ? fuzz_u8(in) : 0;
	request->lsi = flags & 16 ? fuzz_u16(in) : 0;
	request->arg = flags & 32 ? fuzz_u8(in) : 0;
	request->offset = flags & 64 ? (uint64_t)fuzz_u32(in) << (flags & 128 ? 32 : 0) : 0;
	client->ops[client->asked] = request->op;
	client->lens[client->asked] = request->len;
	if (em_ipc_send(client->fd, &message) >= 0)
		client->asked++;
}

/* Of raw bytes the answers could not be told from those of others: whoever babbles asks no more. */
static void babble(struct client *client, struct fuzz_input *in)
{
	size_t len;
	const uint8_t *bytes = fuzz_bytes(in, fuzz_u8(in), &len);

	if (client->fd >= 0 && client->asked == 0 && len)
		send(client->fd, bytes, len, MSG_NOSIGNAL);
	if (client->asked == 0)
		leave(client);
}

/* ---- the play ---------------------------------------------------------------------------- */

static void set_state(uint8_t what)
{
	static const char *const states[] = { "live\n",	    "live\n", "resetting\n",
					      "deleting\n", "?\n",    "" };
	const char *state = states[what % EM_COUNT(states)];

	fuzz_write(state_path, state, strlen(state));
}

static void set_outcome(uint8_t what)
{
	pthread_mutex_lock(&lock);
	outcome = what;
	pthread_mutex_unlock(&lock);
}

static void step(sd_event *event, struct fuzz_input *in)
{
	uint8_t what = fuzz_u8(in);
	struct client *client = &clients[what >> 3 & 1];

	switch (what & 7) {
	case 0:
	case 1:
		ask(client, in);
		break;
	case 2:
		ask(client, in);
		return; /* several at once */
	case 3:
		babble(client, in);
		break;
	case 4:
		join(client);
		break;
	case 5:
		set_state(fuzz_u8(in));
		break;
	case 6:
		set_outcome(fuzz_u8(in));
		break;
	case 7:
		if (what & 16)
			vanish(what >> 5 & 1);
		else
			appear(what >> 5 & 1);
		break;
	}
	for (unsigned i = 0; i < TURNS_MAX && turn(event, 0); i++)
		;
}

/* Two bits a class that anything is done for; the others are what they are without a file. */
static void write_policy(uint8_t what)
{
	char text[256] = "[default]\n";

	for (unsigned cls = 0; cls < EM_CLASS_COUNT; cls++) {
		size_t len = strlen(text);

		verdicts[cls] = em_policy_built_in((enum em_class)cls);
		if (cls <= EM_CLASS_PROVISION)
			verdicts[cls] = (enum em_verdict)((what >> 2 * cls & 3) % 3);
		snprintf(text + len, sizeof(text) - len, "%s=%s\n",
			 em_class_name((enum em_class)cls), em_verdict_name(verdicts[cls]));
	}
	fuzz_write(policy_path, text, strlen(text));
}

static void remove_sysfs(void)
{
	unlink(serial_path);
	unlink(state_path);
	rmdir(sysfs_path);
}

static void start(void)
{
	if (socket_path[0])
		return;
	em_log_init("fuzz", LOG_EMERG);
	fuzz_path(socket_path, "broker.sock");
	fuzz_path(policy_path, "policy.conf");
	fuzz_path(sysfs_path, "nvme0");
	fuzz_path(serial_path, "nvme0/serial");
	fuzz_path(state_path, "nvme0/state");
	fuzz_check(mkdir(sysfs_path, 0700) == 0);
	atexit(remove_sysfs);
	fuzz_write(serial_path, "SN1\n", 4);
}

static void play(sd_event *event, struct fuzz_input *in)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		clients[i] = (struct client){ .fd = -1 };
	join(&clients[0]);
	turn(event, 0);
	for (unsigned i = 0; i < STEPS_MAX && in->left; i++)
		step(event, in);
	wait_for_answers(event);
	for (unsigned i = 0; i < CLIENTS; i++)
		leave(&clients[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct em_options options = { .socket = socket_path,
				      .policy = policy_path,
				      .policy_given = true,
				      .client_uid = geteuid(),
				      .client_gid = (gid_t)-1,
				      .patience_us = PATIENCE_US };
	struct em_broker *broker = NULL;
	sd_event *event = NULL;

	start();
	write_policy(fuzz_u8(&in));
	set_state(0);
	set_outcome(0);
	fuzz_check(sd_event_new(&event) >= 0);
	fuzz_check(em_broker_new(event, &options, &broker) == 0);
	play(event, &in);
	em_broker_stop(broker);
	fuzz_check(sd_event_loop(event) >= 0 && em_broker_is_clean(broker));
	em_broker_free(broker);
	sd_event_unref(event);
	return 0;
}
