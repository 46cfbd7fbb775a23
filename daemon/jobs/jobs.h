/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * jobs - what is begun without anybody asking: device self-tests by the clock.
 *
 * A schedule calls for a run of every drive at once; drives begin one after another, stagger_us
 * apart. Which call each drive had last is in the store: with catch_up, one that came while the
 * host was down, or the drive away, is made up for once.
 *
 * Owns:     its event sources, a child process at most, what it knows of each drive's runs.
 * Threads:  loop thread only, but for em_jobs_problem().
 * Blocking: never.
 * Errors:   -errno; a schedule that systemd does not understand is told by the journal and by
 *           em_jobs_problem(), and the other one goes on.
 * Limits:   EM_STORE_TEST_RUNS_MAX runs are known; drives beyond are not tested.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define EM_JOBS_PROBLEM_SIZE 400

struct em_jobs_config {
	char short_schedule[128], extended_schedule[128]; /* "" = none */
	uint64_t stagger_us;
	bool catch_up;
};

struct em_drives;
struct em_hub;
struct em_store;
struct em_jobs;

/* store may be NULL: after a restart nothing is known of earlier runs. Hub and store outlive it. */
int em_jobs_new(struct em_jobs **ret, sd_event *event, const struct em_jobs_config *config,
		struct em_drives *drives, struct em_hub *hub, struct em_store *store);
void em_jobs_reconfigure(struct em_jobs *jobs, const struct em_jobs_config *config);
/* After the drives, which tell it of a test that begins. NULL ok. */
struct em_jobs *em_jobs_free(struct em_jobs *jobs);
/* What keeps a schedule from being kept, as a sentence; false: nothing. Any thread. NULL ok. */
bool em_jobs_problem(struct em_jobs *jobs, char text[EM_JOBS_PROBLEM_SIZE]);
/* Blocks: both schedules, as em_calendar_check() has it; message names the one. */
int em_jobs_check(const struct em_jobs_config *config, char message[EM_JOBS_PROBLEM_SIZE]);
