/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/lane.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>

/* Deep enough for libnvme and for a sanitizer's frames; only touched pages count. */
#define STACK_SIZE     (256u << 10)
#define TIMER_SLACK_US UINT64_C(10000)
#define POSTED_JOB     1u
#define POSTED_EXIT    2u

struct em_lanes {
	const struct em_lane_ops *ops;
	sd_event *event;
	sd_event_source *source;
	uint64_t patience_us;
	size_t alive;
	bool finishing;
	int fd;
	pthread_mutex_t lock; /* of the mailbox: posted and next_posted of all lanes */
	struct em_lane *posted;
};

enum patience { PATIENT, WAITS_FOR_RESET, OUT };

struct em_lane {
	struct em_lanes *lanes;
	void *self, *device;
	/* The loop's own. */
	struct em_job *running, *queue, **queue_end;
	size_t queued;
	enum patience patience;
	sd_event_source *timer;
	bool started, retired;
	pthread_t thread;
	/* Shared with the thread, under lock. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct em_job *slot;
	bool quit;
	/* Shared through the mailbox, under its lock. */
	unsigned posted;
	struct em_lane *next_posted;
};

static void post(struct em_lane *lane, unsigned what)
{
	struct em_lanes *lanes = lane->lanes;

	pthread_mutex_lock(&lanes->lock);
	if (!lane->posted) {
		lane->next_posted = lanes->posted;
		lanes->posted = lane;
	}
	lane->posted |= what;
	/* Under the lock: afterwards the loop may free everything at any moment. */
	eventfd_write(lanes->fd, 1);
	pthread_mutex_unlock(&lanes->lock);
}

static struct em_job *take_job(struct em_lane *lane)
{
	struct em_job *job;

	pthread_mutex_lock(&lane->lock);
	while (!lane->slot && !lane->quit)
		pthread_cond_wait(&lane->wake, &lane->lock);
	job = em_steal(lane->slot);
	pthread_mutex_unlock(&lane->lock);
	return job;
}

static void *lane_main(void *arg)
{
	struct em_lane *lane = arg;
	struct em_job *job;

	while ((job = take_job(lane))) {
		lane->lanes->ops->run(lane->device, job);
		post(lane, POSTED_JOB);
	}
	lane->lanes->ops->close(lane->device);
	post(lane, POSTED_EXIT);
	return NULL;
}

static int start_thread(struct em_lane *lane)
{
	pthread_attr_t attr;
	int r;

	if (lane->started)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	r = pthread_create(&lane->thread, &attr, lane_main, lane);
	pthread_attr_destroy(&attr);
	lane->started = r == 0;
	return -r;
}

static void lane_free(struct em_lane *lane)
{
	sd_event_source_disable_unref(lane->timer);
	em_job_free(lane->running);
	pthread_mutex_destroy(&lane->lock);
	pthread_cond_destroy(&lane->wake);
	lane->lanes->alive--;
	if (lane->lanes->finishing)
		em_lanes_finish(lane->lanes);
	free(lane);
}

static void answer(struct em_lane *lane, struct em_job *job)
{
	if (!job->answered)
		lane->lanes->ops->answer(lane->self, job);
	job->answered = true;
}

static void answer_with(struct em_lane *lane, struct em_job *job, enum em_answer what)
{
	job->outcome = (struct em_outcome){ .answer = what };
	answer(lane, job);
}

/* For the job that is out: its outcome belongs to the thread now, so a copy is answered. */
static void answer_running(struct em_lane *lane, enum em_answer what)
{
	struct em_job *job = lane->running, copy;

	if (job->answered)
		return;
	job->answered = true;
	copy = (struct em_job){
		.request = job->request,
		.operation = job->operation,
		.peer = job->peer,
		.peer_pid = job->peer_pid,
		.peer_uid = job->peer_uid,
		.queued_us = job->queued_us,
		.outcome = { .answer = what },
	};
	lane->lanes->ops->answer(lane->self, &copy);
}

static struct em_job *pop(struct em_lane *lane)
{
	struct em_job *job = lane->queue;

	if (!job)
		return NULL;
	lane->queue = job->next;
	if (!lane->queue)
		lane->queue_end = &lane->queue;
	lane->queued--;
	return job;
}

static void flush_queue(struct em_lane *lane, enum em_answer what)
{
	struct em_job *job;

	while ((job = pop(lane))) {
		answer_with(lane, job, what);
		em_job_free(job);
	}
}

static int on_patience(sd_event_source *source, uint64_t usec, void *self);

/* Monotonic, not boot time: while the machine sleeps no drive is late. */
static int set_timer(struct em_lane *lane)
{
	int r;

	if (!lane->timer)
		return sd_event_add_time_relative(lane->lanes->event, &lane->timer, CLOCK_MONOTONIC,
						  lane->lanes->patience_us, TIMER_SLACK_US,
						  on_patience, lane);
	r = sd_event_source_set_time_relative(lane->timer, lane->lanes->patience_us);
	return r < 0 ? r : sd_event_source_set_enabled(lane->timer, SD_EVENT_ONESHOT);
}

static void stop_timer(struct em_lane *lane)
{
	if (lane->timer)
		sd_event_source_set_enabled(lane->timer, SD_EVENT_OFF);
}

/* A command that waits for a reset is the kernel's work: no verdict, and another look later. */
static int on_patience(sd_event_source *source, uint64_t usec, void *self)
{
	struct em_lane *lane = self;
	bool resets = lane->lanes->ops->link(lane->self) == EM_LINK_BUSY;

	(void)source;
	(void)usec;
	if (!lane->running)
		return 0;
	lane->patience = resets ? WAITS_FOR_RESET : OUT;
	if (resets)
		set_timer(lane);
	answer_running(lane, resets ? EM_ANSWER_BUSY : EM_ANSWER_TIMEOUT);
	flush_queue(lane, resets ? EM_ANSWER_BUSY : EM_ANSWER_STUCK);
	return 0;
}

static int run_next(struct em_lane *lane)
{
	int r;

	if (lane->running || !lane->queue)
		return 0;
	r = start_thread(lane);
	if (r < 0)
		return r;
	r = set_timer(lane);
	if (r < 0)
		return r;
	lane->running = pop(lane);
	pthread_mutex_lock(&lane->lock);
	lane->slot = lane->running;
	pthread_cond_signal(&lane->wake);
	pthread_mutex_unlock(&lane->lock);
	return 0;
}

static void on_returned(struct em_lane *lane)
{
	struct em_job *job = em_steal(lane->running);
	bool late = job->answered;

	stop_timer(lane);
	lane->patience = PATIENT;
	if (lane->retired) {
		em_job_free(job);
		return;
	}
	if (!late)
		answer(lane, job);
	else if (job->outcome.answer != EM_ANSWER_GONE)
		lane->lanes->ops->unstuck(lane->self, job);
	em_job_free(job);
	if (run_next(lane) < 0)
		flush_queue(lane, EM_ANSWER_BUSY);
}

static void on_posted(struct em_lane *lane, unsigned posted)
{
	if (posted & POSTED_JOB)
		on_returned(lane);
	if (posted & POSTED_EXIT) {
		pthread_join(lane->thread, NULL);
		lane_free(lane);
	}
}

static int on_mailbox(sd_event_source *source, int fd, uint32_t revents, void *self)
{
	struct em_lanes *lanes = self;
	struct em_lane *lane;
	eventfd_t count;
	unsigned posted;

	(void)source;
	(void)revents;
	eventfd_read(fd, &count);
	for (;;) {
		pthread_mutex_lock(&lanes->lock);
		lane = lanes->posted;
		posted = lane ? lane->posted : 0;
		if (lane) {
			lanes->posted = lane->next_posted;
			lane->posted = 0;
		}
		pthread_mutex_unlock(&lanes->lock);
		if (!lane)
			return 0;
		on_posted(lane, posted);
	}
}

int em_lanes_new(sd_event *event, const struct em_lane_ops *ops, uint64_t patience_us,
		 struct em_lanes **ret)
{
	struct em_lanes *lanes = calloc(1, sizeof(*lanes));
	int r;

	if (!lanes)
		return -ENOMEM;
	lanes->ops = ops;
	lanes->patience_us = patience_us;
	lanes->event = sd_event_ref(event);
	pthread_mutex_init(&lanes->lock, NULL);
	lanes->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = lanes->fd < 0
		    ? -errno
		    : sd_event_add_io(event, &lanes->source, lanes->fd, EPOLLIN, on_mailbox, lanes);
	/* Before the timers: an answer that is here already is not late. */
	if (r >= 0)
		r = sd_event_source_set_priority(lanes->source, SD_EVENT_PRIORITY_NORMAL - 1);
	if (r < 0) {
		em_lanes_free(lanes);
		return r;
	}
	*ret = lanes;
	return 0;
}

struct em_lanes *em_lanes_free(struct em_lanes *lanes)
{
	if (!lanes)
		return NULL;
	sd_event_source_disable_unref(lanes->source);
	sd_event_unref(lanes->event);
	em_closep(&lanes->fd);
	pthread_mutex_destroy(&lanes->lock);
	free(lanes);
	return NULL;
}

void em_lanes_set_patience(struct em_lanes *lanes, uint64_t patience_us)
{
	lanes->patience_us = patience_us;
}

bool em_lanes_idle(const struct em_lanes *lanes)
{
	return lanes->alive == 0;
}

void em_lanes_finish(struct em_lanes *lanes)
{
	lanes->finishing = true;
	if (em_lanes_idle(lanes))
		sd_event_exit(lanes->event, 0);
}

int em_lane_new(struct em_lanes *lanes, void *self, void *device, struct em_lane **ret)
{
	struct em_lane *lane = calloc(1, sizeof(*lane));

	if (!lane) {
		lanes->ops->close(device);
		return -ENOMEM;
	}
	lane->lanes = lanes;
	lane->self = self;
	lane->device = device;
	lane->queue_end = &lane->queue;
	pthread_mutex_init(&lane->lock, NULL);
	pthread_cond_init(&lane->wake, NULL);
	lanes->alive++;
	*ret = lane;
	return 0;
}

static int refusal(struct em_lane *lane)
{
	if (lane->patience == WAITS_FOR_RESET)
		return -EBUSY;
	if (lane->patience == OUT)
		return lane->lanes->ops->link(lane->self) == EM_LINK_BUSY ? -EBUSY : -ETIMEDOUT;
	return lane->queued >= EM_LANE_QUEUE_MAX ? -ENOBUFS : 0;
}

int em_lane_submit(struct em_lane *lane, struct em_job **job)
{
	struct em_job *mine = *job;
	int r = refusal(lane);

	if (r < 0)
		return r;
	mine->next = NULL;
	*lane->queue_end = mine;
	lane->queue_end = &mine->next;
	lane->queued++;
	r = run_next(lane);
	if (r < 0) {
		/* Nothing runs, so ours is the only one in the queue. */
		pop(lane);
		return r;
	}
	*job = NULL;
	return 0;
}

void em_lane_retire(struct em_lane *lane)
{
	if (lane->running)
		answer_running(lane, EM_ANSWER_GONE);
	flush_queue(lane, EM_ANSWER_GONE);
	stop_timer(lane);
	lane->retired = true;
	lane->self = NULL;
	if (!lane->started) {
		lane->lanes->ops->close(lane->device);
		lane_free(lane);
		return;
	}
	pthread_mutex_lock(&lane->lock);
	lane->quit = true;
	pthread_cond_signal(&lane->wake);
	pthread_mutex_unlock(&lane->lock);
}
