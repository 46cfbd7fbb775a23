/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/broker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "broker/audit.h"
#include "broker/device.h"
#include "broker/discover.h"
#include "broker/lane.h"
#include "broker/listen.h"
#include "broker/peers.h"
#include "broker/policy.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Commands on their way get this long at the end; TimeoutStopSec= of the unit is longer. */
#define STOP_GRACE_US	(2 * EM_US_PER_SEC)
#define HOST_NAME_SIZE	256

struct em_broker {
	sd_event *event;
	struct em_options *options;
	struct em_policy *policy;
	bool policy_from_file;
	struct em_lanes *lanes;
	struct em_discover *discover;
	struct em_peers *peers;
	size_t data_bytes; /* of jobs in lanes */
	sd_event_source *grace;
};

/* A lane's self: what an answer needs when the drive itself is gone already. */
struct station {
	struct em_broker *broker;
	struct em_lane *lane;
	uint32_t handle;
	char device[32];
	char serial[EM_IPC_STRING_MAX];
	char *sysfs;
};

/* Answers */

static void send_reply(struct em_broker *broker, const struct em_job *job)
{
	const struct em_outcome *outcome = &job->outcome;
	bool done = outcome->answer == EM_ANSWER_DONE;
	struct em_ipc_message message = {
		.kind = EM_IPC_REPLY,
		.reply = {
			.id = job->request.id,
			.drive = job->request.drive,
			.answer = outcome->answer,
			.status = outcome->status,
			.err = outcome->err,
			.result = outcome->result,
			.elapsed_us = em_monotonic_us() - job->queued_us,
			.data = done ? job->data : NULL,
			.data_len = done && job->data ? job->request.len : 0,
			.data_fd = -1,
		},
	};

	if (broker->peers)
		em_peers_send(broker->peers, job->peer, &message);
}

/* At the end clients are let go first, so that no drive seems to leave them. */
static void broadcast(struct em_broker *broker, const struct em_ipc_message *message)
{
	if (broker->peers)
		em_peers_broadcast(broker->peers, message);
}

static void write_audit(const struct em_job *job, const struct station *station,
			const char *detail)
{
	em_audit_write(&(struct em_audit){
		.pid = job->peer_pid,
		.uid = job->peer_uid,
		.device = station ? station->device : NULL,
		.serial = station ? station->serial : NULL,
		.op = job->request.op,
		.page = job->request.page,
		.answer = job->outcome.answer,
		.detail = detail,
	});
}

/* Lanes */

static void lane_run(void *device, struct em_job *job)
{
	em_device_run(device, job);
}

static void lane_close(void *device)
{
	em_device_free(device);
}

static enum em_link lane_link(void *self)
{
	struct station *station = self;

	return em_sysfs_link(station->sysfs);
}

static void log_verdict(const struct station *station, enum em_answer answer)
{
	struct em_log_fields fields = { .device = station->device };

	if (answer == EM_ANSWER_TIMEOUT)
		em_log(LOG_WARNING, &fields, "%s does not answer; nothing more is sent to it",
		       station->device);
}

static void lane_answer(void *self, struct em_job *job)
{
	struct station *station = self;
	struct em_broker *broker = station->broker;

	broker->data_bytes -= job->request.len;
	log_verdict(station, job->outcome.answer);
	write_audit(job, station, NULL);
	send_reply(broker, job);
	if (broker->discover &&
	    (job->outcome.answer == EM_ANSWER_GONE || job->outcome.answer == EM_ANSWER_BUSY))
		em_discover_compare_soon(broker->discover);
}

static void lane_unstuck(void *self, const struct em_job *job)
{
	struct station *station = self;
	struct em_log_fields fields = { .device = station->device };
	struct em_ipc_message message = {
		.kind = EM_IPC_EVENT,
		.event = { .drive = station->handle, .kind = EM_EVENT_UNSTUCK },
	};

	em_log(LOG_NOTICE, &fields, "%s answers again", station->device);
	if (em_op_class(job->request.op) != EM_CLASS_READ)
		write_audit(job, station, "came back late");
	broadcast(station->broker, &message);
}

static const struct em_lane_ops lane_ops = {
	.run = lane_run,
	.close = lane_close,
	.link = lane_link,
	.answer = lane_answer,
	.unstuck = lane_unstuck,
};

/* Drives */

static void tell_status(struct em_broker *broker)
{
	unsigned clients = broker->peers ? em_peers_count(broker->peers) : 0;
	unsigned drives = broker->discover ? em_discover_count(broker->discover) : 0;

	sd_notifyf(0, "STATUS=%u drives, %u clients", drives, clients);
}

static void tell_drive(struct em_broker *broker, const struct em_drive *drive)
{
	struct em_ipc_message message = { .kind = EM_IPC_DRIVE, .drive = drive->info };

	broadcast(broker, &message);
	tell_status(broker);
}

static struct station *station_free(struct station *station)
{
	if (station)
		free(station->sysfs);
	free(station);
	return NULL;
}
EM_DEFINE_CLEANUP(struct station, station_free)

static int open_station(struct em_broker *broker, const struct em_drive *drive,
			struct station **ret)
{
	em_cleanup(station_freep) struct station *station = calloc(1, sizeof(*station));
	struct em_device *device;
	int r;

	if (!station)
		return -ENOMEM;
	station->broker = broker;
	station->handle = drive->info.drive;
	memcpy(station->device, drive->info.device, sizeof(station->device));
	memcpy(station->serial, drive->info.serial, sizeof(station->serial));
	station->sysfs = strdup(drive->sysfs);
	if (!station->sysfs)
		return -ENOMEM;
	r = em_device_new(drive->info.device, drive->sysfs, drive->info.serial, &device);
	if (r < 0)
		return r;
	r = em_lane_new(broker->lanes, station, device, &station->lane);
	if (r < 0)
		return r;
	*ret = em_steal(station);
	return 0;
}

static void on_appeared(void *self, struct em_drive *drive)
{
	struct em_broker *broker = self;
	struct em_log_fields fields = { .device = drive->info.device };
	struct station *station = NULL;
	int r = open_station(broker, drive, &station);

	if (r < 0)
		em_log(LOG_ERR, &fields, "%s cannot be used: %s", drive->info.device,
		       strerror(-r));
	drive->lane = station;
	em_log(LOG_INFO, &fields, "%s appeared", drive->info.device);
	tell_drive(broker, drive);
}

static void on_changed(void *self, struct em_drive *drive)
{
	tell_drive(self, drive);
}

static void on_gone(void *self, struct em_drive *drive)
{
	struct em_broker *broker = self;
	struct em_log_fields fields = { .device = drive->info.device };
	struct station *station = em_steal(drive->lane);

	if (station)
		em_lane_retire(station->lane);
	station_free(station);
	em_log(LOG_INFO, &fields, "%s is gone", drive->info.device);
	tell_drive(broker, drive);
}

static void on_event(void *self, struct em_drive *drive, enum em_event_kind kind, uint32_t aen)
{
	struct em_broker *broker = self;
	struct em_ipc_message message = {
		.kind = EM_IPC_EVENT,
		.event = { .drive = drive->info.drive, .kind = kind, .aen = aen },
	};

	broadcast(broker, &message);
}

static const struct em_discover_ops discover_ops = {
	.appeared = on_appeared,
	.changed = on_changed,
	.gone = on_gone,
	.event = on_event,
};

/* Requests */

static enum em_answer judge(struct em_broker *broker, const struct em_job *draft,
			    const struct station *station, const char **ret_detail)
{
	enum em_class cls = em_op_class(draft->request.op);

	switch (em_policy_judge(broker->policy, cls, station->serial)) {
	case EM_VERDICT_ALLOW:
		break;
	case EM_VERDICT_CONFIRM:
		return EM_ANSWER_NEEDS_CONFIRMATION;
	case EM_VERDICT_DENY:
		return EM_ANSWER_DENIED;
	}
	if (!draft->operation->run)
		return EM_ANSWER_NOT_SUPPORTED;
	*ret_detail = draft->operation->check(&draft->request);
	return *ret_detail ? EM_ANSWER_INVALID : EM_ANSWER_DONE;
}

static struct em_outcome outcome_of_submit(int r)
{
	switch (r) {
	case -ENOBUFS:
		return (struct em_outcome){ .answer = EM_ANSWER_QUEUE_FULL };
	case -ETIMEDOUT:
		return (struct em_outcome){ .answer = EM_ANSWER_STUCK };
	case -EBUSY:
		return (struct em_outcome){ .answer = EM_ANSWER_BUSY };
	default:
		return em_outcome_of_errno(-r);
	}
}

static int submit(struct em_broker *broker, const struct em_job *draft, struct station *station)
{
	em_cleanup(em_job_freep) struct em_job *job = NULL;
	uint32_t len = draft->request.len;
	int r;

	if (broker->data_bytes + len > EM_BROKER_DATA_MAX)
		return -ENOBUFS;
	r = em_job_new(draft, &job);
	if (r < 0)
		return r;
	r = em_lane_submit(station->lane, &job);
	if (r >= 0)
		broker->data_bytes += len;
	return r;
}

/* The answer to what does not get as far as a lane; EM_ANSWER_DONE when it did. */
static struct em_outcome admit(struct em_broker *broker, struct em_job *draft,
			       struct station *station, const char **ret_detail)
{
	struct em_drive *drive = em_discover_find(broker->discover, draft->request.drive);
	enum em_answer answer = judge(broker, draft, station, ret_detail);
	int r;

	if (answer != EM_ANSWER_DONE)
		return (struct em_outcome){ .answer = answer };
	if (em_sysfs_link(drive->sysfs) == EM_LINK_BUSY) {
		em_discover_compare_soon(broker->discover);
		return (struct em_outcome){ .answer = EM_ANSWER_BUSY };
	}
	r = submit(broker, draft, station);
	return r < 0 ? outcome_of_submit(r) : (struct em_outcome){ .answer = EM_ANSWER_DONE };
}

static void on_request(void *self, const struct em_peer_id *peer,
		       const struct em_ipc_request *request)
{
	struct em_broker *broker = self;
	struct em_drive *drive = em_discover_find(broker->discover, request->drive);
	struct station *station = drive ? drive->lane : NULL;
	struct em_job draft = {
		.request = *request,
		.operation = em_operation_find(request->op),
		.peer = peer->id,
		.peer_pid = peer->pid,
		.peer_uid = peer->uid,
		.queued_us = em_monotonic_us(),
		.outcome = { .answer = EM_ANSWER_GONE },
	};
	const char *detail = NULL;

	if (station)
		draft.outcome = admit(broker, &draft, station, &detail);
	if (draft.outcome.answer == EM_ANSWER_DONE)
		return;
	write_audit(&draft, station, detail);
	send_reply(broker, &draft);
}

static void on_connected(void *self, const struct em_peer_id *peer)
{
	struct em_broker *broker = self;
	struct em_ipc_message message = { .kind = EM_IPC_DRIVE };

	for (struct em_drive *drive = em_discover_first(broker->discover); drive;
	     drive = drive->next) {
		message.drive = drive->info;
		message.drive.change = EM_DRIVE_PRESENT;
		em_peers_send(broker->peers, peer->id, &message);
	}
	message = (struct em_ipc_message){ .kind = EM_IPC_SYNC };
	em_peers_send(broker->peers, peer->id, &message);
}

static void on_peers_changed(void *self)
{
	tell_status(self);
}

static const struct em_peers_ops peers_ops = {
	.connected = on_connected,
	.request = on_request,
	.changed = on_peers_changed,
};

/* Start, reload, stop */

/* A policy that was there and vanished is no reason to allow more than it did. */
static int load_policy(struct em_broker *broker)
{
	em_cleanup(em_policy_freep) struct em_policy *policy = NULL;
	const char *path = broker->options->policy;
	char hostname[HOST_NAME_SIZE] = "", error[EM_CONF_ERROR_SIZE] = "out of memory";
	bool needed = broker->options->policy_given || broker->policy_from_file;
	int r;

	gethostname(hostname, sizeof(hostname) - 1);
	r = em_policy_load(path, hostname, &policy, error);
	if (r == -ENOENT && !needed) {
		em_info("No policy file %s: the built-in policy holds", path);
		r = em_policy_default(&policy);
	} else if (r == 0) {
		broker->policy_from_file = true;
	}
	if (r < 0) {
		em_error("Policy: %s", error);
		return r;
	}
	em_policy_free(broker->policy);
	broker->policy = em_steal(policy);
	return 0;
}

static int open_all(struct em_broker *broker)
{
	int r, fd;

	r = load_policy(broker);
	if (r < 0)
		return r;
	r = em_lanes_new(broker->event, &lane_ops, broker->options->patience_us, &broker->lanes);
	if (r < 0)
		return r;
	r = em_discover_new(broker->event, &discover_ops, broker, &broker->discover);
	if (r < 0) {
		em_error("Cannot find the drives: %s", strerror(-r));
		return r;
	}
	r = em_listen(broker->options, &fd);
	if (r < 0)
		return r;
	return em_peers_new(broker->event, fd, broker->options->client_uid, &peers_ops, broker,
			    &broker->peers);
}

int em_broker_new(sd_event *event, struct em_options *options, struct em_broker **ret)
{
	em_cleanup(em_broker_freep) struct em_broker *broker = calloc(1, sizeof(*broker));
	int r;

	if (!broker)
		return -ENOMEM;
	broker->event = sd_event_ref(event);
	broker->options = options;
	r = open_all(broker);
	if (r < 0)
		return r;
	tell_status(broker);
	*ret = em_steal(broker);
	return 0;
}

static void let_go(struct em_broker *broker)
{
	broker->peers = em_peers_free(broker->peers);
	broker->discover = em_discover_free(broker->discover);
}

struct em_broker *em_broker_free(struct em_broker *broker)
{
	if (!broker)
		return NULL;
	let_go(broker);
	em_lanes_free(broker->lanes);
	em_policy_free(broker->policy);
	sd_event_source_disable_unref(broker->grace);
	sd_event_unref(broker->event);
	free(broker);
	return NULL;
}

void em_broker_reload(struct em_broker *broker)
{
	struct em_options loaded = *broker->options;
	char error[EM_CONF_ERROR_SIZE];

	if (load_policy(broker) < 0)
		em_warning("The policy stays as it was");
	if (em_options_load(&loaded, error) < 0) {
		em_error("Configuration: %s", error);
		em_warning("The configuration stays as it was");
		return;
	}
	if (loaded.client_uid != broker->options->client_uid)
		em_warning("Another client_user needs a restart");
	loaded.client_uid = broker->options->client_uid;
	loaded.client_gid = broker->options->client_gid;
	*broker->options = loaded;
	em_lanes_set_patience(broker->lanes, loaded.patience_us);
	em_info("Configuration read again");
}

static int on_grace(sd_event_source *source, uint64_t usec, void *self)
{
	struct em_broker *broker = self;

	(void)source;
	(void)usec;
	em_warning("A drive holds a command back; leaving without it");
	return sd_event_exit(broker->event, 0);
}

void em_broker_stop(struct em_broker *broker)
{
	if (!broker->peers)
		return;
	let_go(broker);
	if (sd_event_add_time_relative(broker->event, &broker->grace, CLOCK_MONOTONIC,
				       STOP_GRACE_US, 0, on_grace, broker) < 0)
		sd_event_exit(broker->event, 0);
	em_lanes_finish(broker->lanes);
}

bool em_broker_is_clean(const struct em_broker *broker)
{
	return em_lanes_idle(broker->lanes);
}
