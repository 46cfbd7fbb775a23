/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "broker/lane.h"
#include "lib/base/clock.h"
#include "tests/unit/runner.h"

/* Long where no verdict is wanted, short where it is waited for. */
#define PATIENCE_US   (600 * EM_US_PER_SEC)
#define IMPATIENCE_US (20 * EM_US_PER_MS)
#define ANSWERS_MAX   32

/* A drive whose answers the test lets out one by one. */
struct fake {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int permits; /* commands that may come back */
	int entered, closed;
	enum em_answer outcome;
};

/* What the loop's side saw. */
struct seen {
	enum em_answer answers[ANSWERS_MAX];
	uint32_t ids[ANSWERS_MAX];
	int n_answers, n_unstuck, looks;
	enum em_link link;
};

static struct fake fake;
static struct seen seen;
static sd_event *event;
static struct em_lanes *lanes;
static struct em_lane *lane;

static void fake_run(void *device, struct em_job *job)
{
	struct fake *f = device;

	pthread_mutex_lock(&f->lock);
	f->entered++;
	pthread_cond_broadcast(&f->moved);
	while (f->permits == 0)
		pthread_cond_wait(&f->moved, &f->lock);
	f->permits--;
	job->outcome = (struct em_outcome){ .answer = f->outcome, .result = job->request.id };
	if (job->data)
		memset(job->data, 0xab, job->request.len);
	pthread_mutex_unlock(&f->lock);
}

static void fake_close(void *device)
{
	struct fake *f = device;

	pthread_mutex_lock(&f->lock);
	f->closed++;
	pthread_mutex_unlock(&f->lock);
}

static enum em_link fake_link(void *self)
{
	struct seen *s = self;

	s->looks++;
	return s->link;
}

static void fake_answer(void *self, struct em_job *job)
{
	struct seen *s = self;

	ck_assert_int_lt(s->n_answers, ANSWERS_MAX);
	s->ids[s->n_answers] = job->request.id;
	s->answers[s->n_answers++] = job->outcome.answer;
}

static void fake_unstuck(void *self, const struct em_job *job)
{
	struct seen *s = self;

	ck_assert(job->answered);
	s->n_unstuck++;
}

static const struct em_lane_ops ops = {
	.run = fake_run,
	.close = fake_close,
	.link = fake_link,
	.answer = fake_answer,
	.unstuck = fake_unstuck,
};

static void let_out(int n)
{
	pthread_mutex_lock(&fake.lock);
	fake.permits += n;
	pthread_cond_broadcast(&fake.moved);
	pthread_mutex_unlock(&fake.lock);
}

static void setup(void)
{
	memset(&seen, 0, sizeof(seen));
	seen.link = EM_LINK_LIVE;
	fake = (struct fake){ .outcome = EM_ANSWER_DONE };
	pthread_mutex_init(&fake.lock, NULL);
	pthread_cond_init(&fake.moved, NULL);
	ck_assert_int_eq(sd_event_new(&event), 0);
	ck_assert_int_eq(em_lanes_new(event, &ops, PATIENCE_US, &lanes), 0);
	ck_assert_int_eq(em_lane_new(lanes, &seen, &fake, &lane), 0);
}

/* Turns the loop until the condition holds. */
#define turn_until(condition)                                                                      \
	do {                                                                                       \
		uint64_t limit_ = em_monotonic_us() + 10 * EM_US_PER_SEC;                          \
		while (!(condition)) {                                                             \
			ck_assert_uint_lt(em_monotonic_us(), limit_);                              \
			ck_assert_int_ge(sd_event_run(event, EM_US_PER_SEC), 0);                   \
		}                                                                                  \
	} while (0)

static void finish(void)
{
	let_out(ANSWERS_MAX);
	if (lane)
		em_lane_retire(lane);
	turn_until(em_lanes_idle(lanes));
	ck_assert_int_eq(fake.closed, 1);
	em_lanes_free(lanes);
	sd_event_unref(event);
}

static int submit(uint32_t id)
{
	struct em_job draft = { .request = { .id = id, .len = 4096 } }, *job;
	int r;

	ck_assert_int_eq(em_job_new(&draft, &job), 0);
	r = em_lane_submit(lane, &job);
	ck_assert_int_eq(r == 0, job == NULL);
	em_job_free(job);
	return r;
}

START_TEST(jobs_run_one_by_one_in_order)
{
	for (uint32_t id = 1; id <= 3; id++)
		ck_assert_int_eq(submit(id), 0);
	let_out(1);
	turn_until(seen.n_answers == 1);
	let_out(2);
	turn_until(seen.n_answers == 3);
	for (uint32_t id = 1; id <= 3; id++) {
		ck_assert_uint_eq(seen.ids[id - 1], id);
		ck_assert_int_eq(seen.answers[id - 1], EM_ANSWER_DONE);
	}
	ck_assert_int_eq(seen.n_unstuck, 0);
	finish();
}
END_TEST

START_TEST(the_queue_is_bounded)
{
	/* One runs, the others wait. */
	for (uint32_t id = 0; id <= EM_LANE_QUEUE_MAX; id++)
		ck_assert_int_eq(submit(id), 0);
	ck_assert_int_eq(submit(99), -ENOBUFS);
	let_out(1);
	turn_until(seen.n_answers == 1);
	ck_assert_int_eq(submit(100), 0);
	let_out(ANSWERS_MAX);
	turn_until(seen.n_answers == (int)EM_LANE_QUEUE_MAX + 2);
	finish();
}
END_TEST

START_TEST(a_hung_drive_is_answered_for)
{
	em_lanes_set_patience(lanes, IMPATIENCE_US);
	ck_assert_int_eq(submit(1), 0);
	ck_assert_int_eq(submit(2), 0);
	turn_until(seen.n_answers == 2);
	ck_assert_int_eq(seen.answers[0], EM_ANSWER_TIMEOUT);
	ck_assert_int_eq(seen.answers[1], EM_ANSWER_STUCK);
	ck_assert_int_eq(submit(3), -ETIMEDOUT);
	/* The late answer is dropped, told as an event, and the drive serves again. */
	let_out(1);
	turn_until(seen.n_unstuck == 1);
	ck_assert_int_eq(seen.n_answers, 2);
	em_lanes_set_patience(lanes, PATIENCE_US);
	ck_assert_int_eq(submit(4), 0);
	let_out(1);
	turn_until(seen.n_answers == 3);
	ck_assert_int_eq(seen.answers[2], EM_ANSWER_DONE);
	ck_assert_int_eq(fake.entered, 2);
	finish();
}
END_TEST

START_TEST(a_late_answer_of_a_vanished_drive_is_no_good_news)
{
	em_lanes_set_patience(lanes, IMPATIENCE_US);
	fake.outcome = EM_ANSWER_GONE;
	ck_assert_int_eq(submit(1), 0);
	turn_until(seen.n_answers == 1);
	let_out(1);
	turn_until(submit(2) == 0);
	ck_assert_int_eq(seen.n_unstuck, 0);
	finish();
}
END_TEST

START_TEST(a_reset_is_no_timeout)
{
	em_lanes_set_patience(lanes, IMPATIENCE_US);
	seen.link = EM_LINK_BUSY;
	ck_assert_int_eq(submit(1), 0);
	ck_assert_int_eq(submit(2), 0);
	turn_until(seen.n_answers == 2);
	ck_assert_int_eq(seen.answers[0], EM_ANSWER_BUSY);
	ck_assert_int_eq(seen.answers[1], EM_ANSWER_BUSY);
	ck_assert_int_eq(submit(3), -EBUSY);
	em_lanes_set_patience(lanes, PATIENCE_US);
	let_out(1);
	turn_until(submit(4) == 0);
	let_out(1);
	turn_until(seen.n_answers == 3);
	ck_assert_int_eq(seen.answers[2], EM_ANSWER_DONE);
	finish();
}
END_TEST

START_TEST(a_command_that_outlives_a_reset_is_stuck)
{
	em_lanes_set_patience(lanes, IMPATIENCE_US);
	seen.link = EM_LINK_BUSY;
	ck_assert_int_eq(submit(1), 0);
	turn_until(seen.n_answers == 1);
	seen.link = EM_LINK_LIVE;
	ck_assert_int_eq(submit(2), -EBUSY);
	turn_until(submit(3) == -ETIMEDOUT);
	/* The kernel's own timeout comes and resets the controller: that is its work again. */
	seen.link = EM_LINK_BUSY;
	ck_assert_int_eq(submit(4), -EBUSY);
	ck_assert_int_eq(seen.n_answers, 1);
	finish();
}
END_TEST

START_TEST(retiring_answers_everything_and_waits_for_nobody)
{
	ck_assert_int_eq(submit(1), 0);
	ck_assert_int_eq(submit(2), 0);
	em_lane_retire(em_steal(lane));
	ck_assert_int_eq(seen.n_answers, 2);
	ck_assert_int_eq(seen.answers[0], EM_ANSWER_GONE);
	ck_assert_int_eq(seen.answers[1], EM_ANSWER_GONE);
	/* Stuck: not idle, and the loop is ours all the same. */
	ck_assert_int_ge(sd_event_run(event, 0), 0);
	ck_assert(!em_lanes_idle(lanes));
	finish();
	ck_assert_int_eq(seen.n_answers, 2);
	ck_assert_int_eq(seen.n_unstuck, 0);
}
END_TEST

START_TEST(the_loop_ends_when_the_last_lane_has)
{
	ck_assert_int_eq(submit(1), 0);
	em_lane_retire(em_steal(lane));
	em_lanes_finish(lanes);
	ck_assert_int_ne(sd_event_get_state(event), SD_EVENT_EXITING);
	let_out(1);
	ck_assert_int_eq(sd_event_loop(event), 0);
	ck_assert(em_lanes_idle(lanes));
	finish();
}
END_TEST

START_TEST(an_unused_lane_has_no_thread)
{
	em_lane_retire(em_steal(lane));
	ck_assert(em_lanes_idle(lanes));
	finish();
	ck_assert_int_eq(fake.entered, 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("lane");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, jobs_run_one_by_one_in_order);
	tcase_add_test(tc, the_queue_is_bounded);
	tcase_add_test(tc, a_hung_drive_is_answered_for);
	tcase_add_test(tc, a_late_answer_of_a_vanished_drive_is_no_good_news);
	tcase_add_test(tc, a_reset_is_no_timeout);
	tcase_add_test(tc, a_command_that_outlives_a_reset_is_stuck);
	tcase_add_test(tc, retiring_answers_everything_and_waits_for_nobody);
	tcase_add_test(tc, the_loop_ends_when_the_last_lane_has);
	tcase_add_test(tc, an_unused_lane_has_no_thread);
	return run_tests(tc);
}
