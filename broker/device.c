/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "broker/sysfs.h"

struct em_device {
	char path[64];
	char *sysfs, *serial;
	int fd;
};

/* Made by the kernel, not the drive: SCT 3, "host path error" and "aborted by host". */
#define STATUS_HOST_PATH    0x370
#define STATUS_HOST_ABORTED 0x371
#define STATUS_CODE	    0x7ff

int em_device_new(const char *name, const char *sysfs, const char *serial, struct em_device **ret)
{
	em_cleanup(em_device_freep) struct em_device *device = calloc(1, sizeof(*device));

	if (!device)
		return -ENOMEM;
	device->fd = -1;
	snprintf(device->path, sizeof(device->path), "/dev/%s", name);
	device->sysfs = strdup(sysfs);
	device->serial = strdup(serial);
	if (!device->sysfs || !device->serial)
		return -ENOMEM;
	*ret = em_steal(device);
	return 0;
}

struct em_device *em_device_free(struct em_device *device)
{
	if (!device)
		return NULL;
	em_closep(&device->fd);
	free(device->sysfs);
	free(device->serial);
	free(device);
	return NULL;
}

/* While we hold a descriptor its number is not given away, so sysfs speaks of the same drive. */
static int open_node(struct em_device *device)
{
	em_cleanup(em_closep) int fd = open(device->path, O_RDONLY | O_CLOEXEC);
	char serial[EM_IPC_STRING_MAX];

	if (fd < 0)
		return -errno;
	em_sysfs_read(device->sysfs, "serial", serial, sizeof(serial));
	if (strcmp(serial, device->serial) != 0)
		return -ENODEV;
	device->fd = em_steal_fd(&fd);
	return 0;
}

static bool may_be_a_reset(const struct em_outcome *outcome)
{
	uint16_t code = outcome->status & STATUS_CODE;

	if (outcome->answer == EM_ANSWER_STATUS)
		return code == STATUS_HOST_PATH || code == STATUS_HOST_ABORTED;
	return outcome->answer == EM_ANSWER_HOST_ERROR &&
	       (outcome->err == EAGAIN || outcome->err == EINTR);
}

/* The same word means "later" while the kernel resets the controller, and trouble when not. */
static void weigh(const struct em_device *device, struct em_outcome *outcome)
{
	enum em_link link;

	if (!may_be_a_reset(outcome))
		return;
	link = em_sysfs_link(device->sysfs);
	if (link == EM_LINK_BUSY)
		*outcome = (struct em_outcome){ .answer = EM_ANSWER_BUSY };
	else if (link == EM_LINK_ENDING || link == EM_LINK_GONE)
		*outcome = (struct em_outcome){ .answer = EM_ANSWER_GONE };
}

void em_device_run(struct em_device *device, struct em_job *job)
{
	int r = device->fd < 0 ? open_node(device) : 0;

	if (r < 0)
		job->outcome = em_outcome_of_errno(-r);
	else
		job->operation->run(device->fd, &job->request, job->operation->timeout_ms,
				    job->data, &job->outcome);
	weigh(device, &job->outcome);
	if (job->outcome.answer == EM_ANSWER_GONE)
		em_closep(&device->fd);
}
