/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/state.h"

#include <errno.h>

#include "broker/audit.h"
#include "lib/base/clock.h"

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

void em_request_audit(const struct em_job *job, const struct em_station *station,
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

void em_request_answer(struct em_broker *broker, const struct em_job *job,
		       const struct em_station *station, const char *detail)
{
	em_request_audit(job, station, detail);
	send_reply(broker, job);
}

static enum em_answer judge(struct em_broker *broker, const struct em_job *draft,
			    const struct em_station *station, const char **ret_detail)
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

static int submit(struct em_broker *broker, const struct em_job *draft, struct em_station *station)
{
	em_cleanup(em_job_freep) struct em_job *job = NULL;
	uint32_t len = draft->request.len;
	bool large = len > EM_IPC_INLINE_MAX;
	int r;

	/* Only large ones share a limit, so that nobody's bulk keeps a page from anybody. */
	if (large && broker->large_bytes + len > EM_BROKER_DATA_MAX)
		return -ENOBUFS;
	r = em_job_new(draft, &job);
	if (r < 0)
		return r;
	if (large)
		em_job_hold(job, &broker->large_bytes);
	return em_lane_submit(station->lane, &job);
}

/* The answer to what does not get as far as a lane; EM_ANSWER_DONE when it did. */
static struct em_outcome admit(struct em_broker *broker, const struct em_job *draft,
			       struct em_station *station, const char **ret_detail)
{
	enum em_answer answer = judge(broker, draft, station, ret_detail);
	int r;

	if (answer != EM_ANSWER_DONE)
		return (struct em_outcome){ .answer = answer };
	if (em_sysfs_link(station->sysfs) == EM_LINK_BUSY) {
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
	struct em_station *station = drive ? drive->lane : NULL;
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
	em_request_answer(broker, &draft, station, detail);
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
	em_broker_tell_status(self);
}

const struct em_peers_ops em_request_peers_ops = {
	.connected = on_connected,
	.request = on_request,
	.changed = on_peers_changed,
};
