/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/state.h"

#include <errno.h>
#include <string.h>

#include "broker/audit.h"
#include "broker/device.h"
#include "lib/base/log.h"

/* At the end clients are let go first, so that no drive seems to leave them. */
static void broadcast(struct em_broker *broker, const struct em_ipc_message *message)
{
	if (broker->peers)
		em_peers_broadcast(broker->peers, message);
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
	struct em_station *station = self;

	return em_sysfs_link(station->sysfs);
}

static void log_verdict(const struct em_station *station, enum em_answer answer)
{
	struct em_log_fields fields = { .device = station->device };

	if (answer == EM_ANSWER_TIMEOUT)
		em_log(LOG_WARNING, &fields, "%s does not answer; nothing more is sent to it",
		       station->device);
}

static void lane_answer(void *self, struct em_job *job)
{
	struct em_station *station = self;
	struct em_broker *broker = station->broker;

	log_verdict(station, job->outcome.answer);
	em_request_answer(broker, job, station, NULL);
	if (broker->discover &&
	    (job->outcome.answer == EM_ANSWER_GONE || job->outcome.answer == EM_ANSWER_BUSY))
		em_discover_compare_soon(broker->discover);
}

static void lane_unstuck(void *self, const struct em_job *job)
{
	struct em_station *station = self;
	struct em_log_fields fields = { .device = station->device };
	struct em_ipc_message message = {
		.kind = EM_IPC_EVENT,
		.event = { .drive = station->handle, .kind = EM_EVENT_UNSTUCK },
	};

	em_log(LOG_NOTICE, &fields, "%s answers again", station->device);
	if (em_op_class(job->request.op) != EM_CLASS_READ)
		em_request_audit(job, station, "came back late");
	broadcast(station->broker, &message);
}

const struct em_lane_ops em_station_lane_ops = {
	.run = lane_run,
	.close = lane_close,
	.link = lane_link,
	.answer = lane_answer,
	.unstuck = lane_unstuck,
};

/* Drives */

static void tell_drive(struct em_broker *broker, const struct em_drive *drive)
{
	struct em_ipc_message message = { .kind = EM_IPC_DRIVE, .drive = drive->info };

	broadcast(broker, &message);
	em_broker_tell_status(broker);
}

static struct em_station *station_free(struct em_station *station)
{
	if (station)
		free(station->sysfs);
	free(station);
	return NULL;
}
EM_DEFINE_CLEANUP(struct em_station, station_free)

static int open_station(struct em_broker *broker, const struct em_drive *drive,
			struct em_station **ret)
{
	em_cleanup(station_freep) struct em_station *station = calloc(1, sizeof(*station));
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
	struct em_station *station = NULL;
	int r = open_station(broker, drive, &station);

	if (r < 0)
		em_log(LOG_ERR, &fields, "%s cannot be used: %s", drive->info.device, strerror(-r));
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
	struct em_station *station = em_steal(drive->lane);

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

const struct em_discover_ops em_station_discover_ops = {
	.appeared = on_appeared,
	.changed = on_changed,
	.gone = on_gone,
	.event = on_event,
};
