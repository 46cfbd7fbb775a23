/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/state.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "broker/listen.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Commands on their way get this long at the end; TimeoutStopSec= of the unit is longer. */
#define STOP_GRACE_US  (2 * EM_US_PER_SEC)
#define HOST_NAME_SIZE 256

void em_broker_tell_status(struct em_broker *broker)
{
	unsigned clients = broker->peers ? em_peers_count(broker->peers) : 0;
	unsigned drives = broker->discover ? em_discover_count(broker->discover) : 0;

	sd_notifyf(0, "STATUS=%u drives, %u clients", drives, clients);
}

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
	r = em_lanes_new(broker->event, &em_station_lane_ops, broker->options->patience_us,
			 &broker->lanes);
	if (r < 0)
		return r;
	r = em_discover_new(broker->event, &em_station_discover_ops, broker, &broker->discover);
	if (r < 0) {
		em_error("Cannot find the drives: %s", strerror(-r));
		return r;
	}
	r = em_listen(broker->options, &fd);
	if (r < 0)
		return r;
	return em_peers_new(broker->event, fd, broker->options->client_uid, &em_request_peers_ops,
			    broker, &broker->peers);
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
	em_broker_tell_status(broker);
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
