/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * state - what the broker's own files share: broker.c composes, requests.c is the clients' side,
 * stations.c the drives'. Nobody else includes this.
 *
 * Threads: the loop's.
 */
#include "broker/broker.h"
#include "broker/discover.h"
#include "broker/lane.h"
#include "broker/peers.h"
#include "broker/policy.h"

struct em_broker {
	sd_event *event;
	struct em_options *options;
	struct em_policy *policy;
	bool policy_from_file;
	struct em_lanes *lanes;
	struct em_discover *discover;
	struct em_peers *peers;
	size_t large_bytes; /* held by jobs above EM_IPC_INLINE_MAX */
	sd_event_source *grace;
};

/* A lane's self: what an answer needs when the drive itself is gone already. */
struct em_station {
	struct em_broker *broker;
	struct em_lane *lane;
	uint32_t handle;
	char device[32];
	char serial[EM_IPC_STRING_MAX];
	char *sysfs;
};

extern const struct em_lane_ops em_station_lane_ops;
extern const struct em_discover_ops em_station_discover_ops;
extern const struct em_peers_ops em_request_peers_ops;

void em_broker_tell_status(struct em_broker *broker);
/* The journal's line, where one is due. */
void em_request_audit(const struct em_job *job, const struct em_station *station,
		      const char *detail);
/* That line, and job->outcome to the client that asked. */
void em_request_answer(struct em_broker *broker, const struct em_job *job,
		       const struct em_station *station, const char *detail);
