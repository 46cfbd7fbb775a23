/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/jobs/jobs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/drives/drives.h"
#include "daemon/jobs/calendar.h"
#include "daemon/store/store.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Drives come and go, and clocks are set: that we look again, whatever was planned. */
#define LOOK_US (5 * EM_US_PER_SEC)
/* What did not work now is tried again after this. */
#define RETRY_US     (30 * EM_US_PER_SEC)
#define ASK_AGAIN_US (60 * EM_US_PER_SEC)
/* A call that is so old came while the host slept. */
#define MISSED_US (60 * EM_US_PER_SEC)

/* By enum em_self_test; an abort has no schedule. */
#define SCHEDULES 2u
_Static_assert(EM_SELF_TEST_SHORT < SCHEDULES && EM_SELF_TEST_EXTENDED < SCHEDULES, "");

/* One kind of test of one drive. */
struct run {
	struct em_store_test_run kept; /* the last call that is settled, as the store has it */
	enum em_self_test test;
	int64_t due_us;	   /* the call that waits for its turn; 0 = none */
	uint64_t retry_us; /* monotonic: not before */
	bool unchecked;	   /* of an earlier start: something may have been missed since */
	bool is_here;	   /* the drive can be tested */
};

struct schedule {
	const char *text;
	int64_t next_us; /* 0 = not known */
	uint64_t ask_us; /* monotonic: not before; UINT64_MAX: systemd does not understand it */
	char problem[EM_CALENDAR_MESSAGE_SIZE];
};

struct em_jobs {
	sd_event *event;
	sd_event_source *timer;
	struct em_jobs_config config;
	struct em_drives *drives;
	struct em_hub *hub;
	struct em_store *store;
	struct schedule schedules[SCHEDULES];
	struct run **runs; /* by drive and test */
	unsigned count, room;
	struct em_calendar *asking;
	enum em_self_test asked;
	int64_t asked_slot_us; /* what was missed since this call is asked; 0: what is next */
	bool beginning;	       /* a drive is about to begin this test */
	enum em_self_test beginning_test;
	uint64_t turn_us; /* monotonic: the next drive begins then at the earliest */
	pthread_mutex_t lock;
	char problem[EM_JOBS_PROBLEM_SIZE]; /* under the lock */
};

static const char *const option_names[SCHEDULES] = {
	[EM_SELF_TEST_SHORT] = "short_schedule",
	[EM_SELF_TEST_EXTENDED] = "extended_schedule",
};

/* ---- what is known of each drive's runs --------------------------------------------------- */

static int compare(const struct run *run, const char *drive, enum em_self_test test)
{
	int order = strcmp(run->kept.drive, drive);

	return order ? order : (int)run->test - (int)test;
}

/* Where the run stands, or would. */
static unsigned place_of(const struct em_jobs *jobs, const char *drive, enum em_self_test test)
{
	unsigned low = 0, high = jobs->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (compare(jobs->runs[middle], drive, test) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct run *find_run(struct em_jobs *jobs, const char *drive, enum em_self_test test)
{
	unsigned place = place_of(jobs, drive, test);

	return place < jobs->count && compare(jobs->runs[place], drive, test) == 0
		       ? jobs->runs[place]
		       : NULL;
}

static bool make_room(struct em_jobs *jobs)
{
	unsigned room = jobs->room ? 2 * jobs->room : 64;
	struct run **more;

	if (jobs->count < jobs->room)
		return true;
	if (jobs->count == EM_STORE_TEST_RUNS_MAX)
		return false;
	more = realloc(jobs->runs, room * sizeof(struct run *));
	if (!more)
		return false;
	jobs->runs = more;
	jobs->room = room;
	return true;
}

/* One that is not there yet. */
static struct run *add_run(struct em_jobs *jobs, const char *drive, enum em_self_test test)
{
	unsigned place = place_of(jobs, drive, test);
	struct run *run = make_room(jobs) ? calloc(1, sizeof(*run)) : NULL;

	if (!run)
		return NULL;
	run->test = test;
	snprintf(run->kept.drive, sizeof(run->kept.drive), "%s", drive);
	snprintf(run->kept.test, sizeof(run->kept.test), "%s", em_self_test_name(test));
	memmove(jobs->runs + place + 1, jobs->runs + place,
		(jobs->count - place) * sizeof(struct run *));
	jobs->runs[place] = run;
	jobs->count++;
	return run;
}

/* The call of slot_us, and all before, are done with. */
static void settle(struct em_jobs *jobs, struct run *run, int64_t slot_us)
{
	run->due_us = 0;
	run->retry_us = 0;
	run->unchecked = false;
	run->kept.slot_us = slot_us;
	snprintf(run->kept.calendar, sizeof(run->kept.calendar), "%s",
		 jobs->schedules[run->test].text);
	if (jobs->store)
		em_store_put_test_run(jobs->store, &run->kept);
}

static int restore(void *userdata, const struct em_store_test_run *kept)
{
	struct em_jobs *jobs = userdata;
	struct run *run;

	for (unsigned test = 0; test < SCHEDULES; test++) {
		if (strcmp(kept->test, em_self_test_name(test)) != 0)
			continue;
		run = add_run(jobs, kept->drive, test);
		if (!run)
			return -ENOMEM;
		run->kept = *kept;
		run->unchecked = true;
	}
	return 0;
}

static bool can_be_tested(const struct em_drive_snap *drive)
{
	enum em_read_status status = drive->pages[EM_PAGE_SELFTEST].status;

	return drive->state == EM_STATE_OK && drive->ctx.known && status != EM_READ_NEVER &&
	       status != EM_READ_UNSUPPORTED && status != EM_READ_REFUSED;
}

/* Nothing that came before a drive was first seen, or under another schedule, was missed. */
static void see_drive(struct em_jobs *jobs, const char *drive, enum em_self_test test)
{
	struct run *run = find_run(jobs, drive, test);

	if (!run) {
		run = add_run(jobs, drive, test);
		if (!run)
			return;
		settle(jobs, run, em_realtime_us());
	} else if (strcmp(run->kept.calendar, jobs->schedules[test].text) != 0) {
		settle(jobs, run, em_realtime_us());
	}
	run->is_here = true;
}

static void see_drives(struct em_jobs *jobs, const struct em_snapshot *snap)
{
	for (unsigned i = 0; i < jobs->count; i++)
		jobs->runs[i]->is_here = false;
	for (unsigned i = 0; i < snap->count; i++)
		for (unsigned test = 0; test < SCHEDULES; test++)
			if (jobs->schedules[test].text[0] && can_be_tested(snap->drives[i]))
				see_drive(jobs, snap->drives[i]->id, test);
}

/* ---- when --------------------------------------------------------------------------------- */

static void tell_problem(struct em_jobs *jobs)
{
	pthread_mutex_lock(&jobs->lock);
	jobs->problem[0] = 0;
	for (unsigned test = 0; test < SCHEDULES; test++)
		if (jobs->schedules[test].problem[0])
			snprintf(jobs->problem, sizeof(jobs->problem),
				 "no %s self-test is begun by the clock ([selftest] %s): %s",
				 em_self_test_name(test), option_names[test],
				 jobs->schedules[test].problem);
	pthread_mutex_unlock(&jobs->lock);
}

static void set_problem(struct em_jobs *jobs, enum em_self_test test, int r, const char *why)
{
	struct schedule *schedule = &jobs->schedules[test];

	schedule->ask_us = r == -EINVAL ? UINT64_MAX : em_monotonic_us() + ASK_AGAIN_US;
	if (strcmp(schedule->problem, why) == 0)
		return;
	snprintf(schedule->problem, sizeof(schedule->problem), "%s", why);
	if (why[0])
		em_error("[selftest] %s=%s: %s", option_names[test], schedule->text, why);
	tell_problem(jobs);
}

/* The first call after that of slot_us, which all these drives had, is known. */
static void check_missed(struct em_jobs *jobs, int64_t slot_us, int64_t next_us)
{
	int64_t now = em_realtime_us();

	for (unsigned i = 0; i < jobs->count; i++) {
		struct run *run = jobs->runs[i];

		if (!run->unchecked || run->test != jobs->asked || run->kept.slot_us != slot_us)
			continue;
		run->unchecked = false;
		if (next_us > now)
			continue;
		if (jobs->config.catch_up)
			run->due_us = next_us;
		else
			settle(jobs, run, now);
	}
}

static void look_soon(struct em_jobs *jobs);

static void on_calendar(void *userdata, int r, int64_t next_us, const char *message)
{
	struct em_jobs *jobs = userdata;
	enum em_self_test test = jobs->asked;

	jobs->asking = em_calendar_free(jobs->asking);
	if (r < 0) {
		set_problem(jobs, test, r, message);
	} else {
		set_problem(jobs, test, 0, "");
		jobs->schedules[test].ask_us = 0;
		if (jobs->asked_slot_us)
			check_missed(jobs, jobs->asked_slot_us, next_us);
		else
			jobs->schedules[test].next_us = next_us;
	}
	look_soon(jobs);
}

/* Runs of an earlier start that nobody has looked at: the call that one of them had; 0 = none. */
static int64_t unchecked_slot(const struct em_jobs *jobs, enum em_self_test test)
{
	for (unsigned i = 0; i < jobs->count; i++) {
		const struct run *run = jobs->runs[i];

		if (run->unchecked && run->test == test && run->kept.slot_us > 0 &&
		    strcmp(run->kept.calendar, jobs->schedules[test].text) == 0)
			return run->kept.slot_us;
	}
	return 0;
}

/* One question at a time: what was missed first, then what is next. */
static void ask_calendar(struct em_jobs *jobs)
{
	for (unsigned test = 0; test < SCHEDULES && !jobs->asking; test++) {
		struct schedule *schedule = &jobs->schedules[test];
		int64_t slot = unchecked_slot(jobs, test);
		int r;

		if (!schedule->text[0] || em_monotonic_us() < schedule->ask_us ||
		    (!slot && schedule->next_us))
			continue;
		jobs->asked = test;
		jobs->asked_slot_us = slot;
		r = em_calendar_ask(&jobs->asking, jobs->event, schedule->text,
				    slot ? slot : em_realtime_us(), on_calendar, jobs);
		if (r < 0)
			set_problem(jobs, test, r, "systemd-analyze cannot be run");
	}
}

static void call_drive(struct em_jobs *jobs, struct run *run, int64_t slot_us, bool missed)
{
	/* A clock that was wrong calls for what was long ago. */
	if (run->kept.slot_us >= slot_us)
		return;
	if (jobs->config.catch_up || (run->is_here && !missed))
		run->due_us = slot_us;
	else
		settle(jobs, run, slot_us);
}

static void call(struct em_jobs *jobs, enum em_self_test test, int64_t slot_us, bool missed)
{
	em_info("the schedule calls for the %s self-test of all drives", em_self_test_name(test));
	for (unsigned i = 0; i < jobs->count; i++) {
		struct run *run = jobs->runs[i];

		if (run->test == test &&
		    strcmp(run->kept.calendar, jobs->schedules[test].text) == 0)
			call_drive(jobs, run, slot_us, missed);
	}
}

static void call_what_is_due(struct em_jobs *jobs)
{
	int64_t now = em_realtime_us();

	for (unsigned test = 0; test < SCHEDULES; test++) {
		struct schedule *schedule = &jobs->schedules[test];

		if (!schedule->text[0] || !schedule->next_us || schedule->next_us > now)
			continue;
		call(jobs, test, schedule->next_us, now - schedule->next_us > (int64_t)MISSED_US);
		schedule->next_us = 0;
	}
}

/* ---- whose turn it is --------------------------------------------------------------------- */

/* How it went with the run that was about to begin. */
static void end_turn(struct em_jobs *jobs, struct run *run, int result, const char *why)
{
	const char *test = em_self_test_name(run->test), *drive = run->kept.drive;

	jobs->beginning = false;
	if (result == -EAGAIN || result == -ETIMEDOUT) {
		em_info("drive %s: the %s self-test that is due has to wait: %s", drive, test, why);
		run->retry_us = em_monotonic_us() + RETRY_US;
		return;
	}
	if (result == 0) {
		em_notice("drive %s: the %s self-test has begun, as scheduled", drive, test);
		jobs->turn_us = em_monotonic_us() + jobs->config.stagger_us;
	} else {
		em_warning("drive %s: the %s self-test is left out this time: %s", drive, test,
			   why);
	}
	/* A reload may have taken the call back meanwhile. */
	settle(jobs, run, run->due_us ? run->due_us : em_realtime_us());
}

static void on_begun(void *userdata, const char *drive_id, int result, const char *why)
{
	struct em_jobs *jobs = userdata;
	struct run *run = find_run(jobs, drive_id, jobs->beginning_test);

	if (run && jobs->beginning)
		end_turn(jobs, run, result, why);
	jobs->beginning = false;
	look_soon(jobs);
}

static void begin(struct em_jobs *jobs, struct run *run)
{
	const char *why = "";
	int r;

	jobs->beginning = true;
	jobs->beginning_test = run->test;
	r = em_drives_self_test(jobs->drives, run->kept.drive, run->test, on_begun, jobs, &why);
	if (r < 0)
		end_turn(jobs, run, r, why);
}

static bool is_ready(const struct run *run)
{
	return run && run->is_here && run->due_us && em_monotonic_us() >= run->retry_us;
}

/* The extended test does all that the short one does. */
static struct run *next_run(struct em_jobs *jobs, const char *drive)
{
	struct run *brief = find_run(jobs, drive, EM_SELF_TEST_SHORT);
	struct run *extended = find_run(jobs, drive, EM_SELF_TEST_EXTENDED);

	if (!is_ready(extended))
		return is_ready(brief) ? brief : NULL;
	if (brief && brief->due_us)
		settle(jobs, brief, brief->due_us);
	return extended;
}

/* Drives begin in the order of their names. */
static void begin_what_is_due(struct em_jobs *jobs, const struct em_snapshot *snap)
{
	for (unsigned i = 0; i < snap->count; i++) {
		struct run *run;

		if (jobs->beginning || em_monotonic_us() < jobs->turn_us)
			return;
		run = next_run(jobs, snap->drives[i]->id);
		if (run)
			begin(jobs, run);
	}
}

/* ---- life --------------------------------------------------------------------------------- */

static bool has_schedule(const struct em_jobs *jobs)
{
	return jobs->schedules[EM_SELF_TEST_SHORT].text[0] ||
	       jobs->schedules[EM_SELF_TEST_EXTENDED].text[0];
}

static uint64_t sooner(uint64_t wait_us, int64_t at_us, int64_t now_us)
{
	uint64_t left = at_us > now_us ? (uint64_t)(at_us - now_us) : 0;

	return left < wait_us ? left : wait_us;
}

/* How long nothing is to be done for all that is known now. */
static uint64_t idle_us(const struct em_jobs *jobs)
{
	uint64_t wait_us = LOOK_US;

	for (unsigned test = 0; test < SCHEDULES; test++)
		if (jobs->schedules[test].text[0] && jobs->schedules[test].next_us)
			wait_us = sooner(wait_us, jobs->schedules[test].next_us, em_realtime_us());
	if (jobs->turn_us > em_monotonic_us())
		wait_us = sooner(wait_us, (int64_t)jobs->turn_us, (int64_t)em_monotonic_us());
	return wait_us;
}

static void set_timer(struct em_jobs *jobs, uint64_t wait_us)
{
	sd_event_source_set_time(jobs->timer, em_monotonic_us() + wait_us);
	sd_event_source_set_enabled(jobs->timer,
				    has_schedule(jobs) ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

static void look_soon(struct em_jobs *jobs)
{
	set_timer(jobs, 0);
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct em_jobs *jobs = userdata;
	struct em_snapshot *snap = em_hub_get(jobs->hub);

	(void)source;
	(void)usec;
	if (snap) {
		see_drives(jobs, snap);
		call_what_is_due(jobs);
		begin_what_is_due(jobs, snap);
	}
	em_snapshot_unref(snap);
	ask_calendar(jobs);
	set_timer(jobs, idle_us(jobs));
	return 0;
}

static void take_config(struct em_jobs *jobs, const struct em_jobs_config *config)
{
	jobs->config = *config;
	jobs->schedules[EM_SELF_TEST_SHORT].text = jobs->config.short_schedule;
	jobs->schedules[EM_SELF_TEST_EXTENDED].text = jobs->config.extended_schedule;
	for (unsigned test = 0; test < SCHEDULES; test++) {
		jobs->schedules[test].next_us = 0;
		jobs->schedules[test].ask_us = 0;
		jobs->schedules[test].problem[0] = 0;
	}
	tell_problem(jobs);
}

void em_jobs_reconfigure(struct em_jobs *jobs, const struct em_jobs_config *config)
{
	jobs->asking = em_calendar_free(jobs->asking);
	take_config(jobs, config);
	/* What another schedule called for is called for no longer. */
	for (unsigned i = 0; i < jobs->count; i++) {
		struct run *run = jobs->runs[i];

		if (strcmp(run->kept.calendar, jobs->schedules[run->test].text) != 0)
			run->due_us = 0;
	}
	look_soon(jobs);
}

int em_jobs_new(struct em_jobs **ret, sd_event *event, const struct em_jobs_config *config,
		struct em_drives *drives, struct em_hub *hub, struct em_store *store)
{
	struct em_jobs *jobs = calloc(1, sizeof(*jobs));
	int r;

	if (!jobs)
		return -ENOMEM;
	pthread_mutex_init(&jobs->lock, NULL);
	jobs->event = sd_event_ref(event);
	jobs->drives = drives;
	jobs->hub = hub;
	jobs->store = store;
	take_config(jobs, config);
	r = sd_event_add_time(event, &jobs->timer, CLOCK_BOOTTIME, 0, 1, on_look, jobs);
	if (r < 0) {
		em_jobs_free(jobs);
		return r;
	}
	/* What cannot be read is not known: nothing is made up for. */
	if (store)
		em_store_load_test_runs(store, restore, jobs);
	look_soon(jobs);
	*ret = jobs;
	return 0;
}

struct em_jobs *em_jobs_free(struct em_jobs *jobs)
{
	if (!jobs)
		return NULL;
	em_calendar_free(jobs->asking);
	sd_event_source_disable_unref(jobs->timer);
	sd_event_unref(jobs->event);
	pthread_mutex_destroy(&jobs->lock);
	for (unsigned i = 0; i < jobs->count; i++)
		free(jobs->runs[i]);
	free(jobs->runs);
	free(jobs);
	return NULL;
}

bool em_jobs_problem(struct em_jobs *jobs, char text[EM_JOBS_PROBLEM_SIZE])
{
	text[0] = 0;
	if (!jobs)
		return false;
	pthread_mutex_lock(&jobs->lock);
	snprintf(text, EM_JOBS_PROBLEM_SIZE, "%s", jobs->problem);
	pthread_mutex_unlock(&jobs->lock);
	return text[0] != 0;
}

int em_jobs_check(const struct em_jobs_config *config, char message[EM_JOBS_PROBLEM_SIZE])
{
	const char *const texts[SCHEDULES] = { config->short_schedule, config->extended_schedule };
	char why[EM_CALENDAR_MESSAGE_SIZE];
	int r = 0;

	for (unsigned test = 0; r == 0 && test < SCHEDULES; test++) {
		if (!texts[test][0])
			continue;
		r = em_calendar_check(texts[test], why);
		if (r < 0)
			snprintf(message, EM_JOBS_PROBLEM_SIZE, "[selftest] %s: %s",
				 option_names[test], why);
	}
	return r;
}
