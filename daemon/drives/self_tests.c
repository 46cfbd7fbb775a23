/* SPDX-License-Identifier: Apache-2.0 */
/* Device self-tests: looked at first, then begun or ended, for a person or for the schedule. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/drives/drive_impl.h"
#include "daemon/drives/drives_impl.h"
#include "lib/base/clock.h"
#include "lib/nvme/status.h"

#define NSID_ALL       0xffffffffu
#define STATUS_RUNNING 0x11d /* a self-test is in progress */

#define EM_X(id, name, code) { name, code },
static const struct {
	const char *name;
	uint8_t code; /* as Device Self-test takes it */
} tests[] = { EM_SELF_TESTS(EM_X) };
#undef EM_X

const char *em_self_test_name(enum em_self_test test)
{
	return (unsigned)test < EM_SELF_TEST_COUNT ? tests[test].name : "unknown";
}

static int refuse(struct em_order *order, int error, const char *why)
{
	snprintf(order->message, sizeof(order->message), "%s", why);
	return error;
}

/* ---- one that has begun ------------------------------------------------------------------- */

static void finish(struct em_entry *entry, int result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void finish(struct em_entry *entry, int result, const char *format, ...)
{
	struct em_test_run run = entry->test;
	char message[EM_ORDER_MESSAGE_SIZE];
	va_list list;

	va_start(list, format);
	vsnprintf(message, sizeof(message), format, list);
	va_end(list);
	entry->test = (struct em_test_run){ 0 };
	if (run.order_id)
		em_orders_finish(entry->drives->orders, run.order_id, result, message);
	else if (run.done)
		run.done(run.userdata, entry->drive->id, result, message);
}

static void write_look(const struct em_drive *drive, enum em_page_id id,
		       struct em_ipc_request *request)
{
	request->op = EM_OP_GET_LOG;
	request->page = em_pages[id]->code;
	request->nsid = NSID_ALL;
	request->len = em_page_size(em_pages[id], &drive->ctx);
}

/* Asks the drive next; -EBUSY: somebody's command waits or is out. */
static int ask(struct em_entry *entry, enum em_test_step step)
{
	struct em_ipc_request request = { 0 };
	int r;

	if (step == EM_TEST_SEND) {
		request.op = EM_OP_SELF_TEST;
		request.page = tests[entry->test.test].code;
		request.nsid = NSID_ALL;
	} else {
		write_look(entry->drive, step == EM_TEST_LOOK ? EM_PAGE_SELFTEST : EM_PAGE_SANITIZE,
			   &request);
	}
	r = em_drive_command(entry->drive, &request);
	if (r == 0)
		entry->test.step = step;
	return r;
}

static void go_on(struct em_entry *entry, enum em_test_step step)
{
	/* Who asked for it has left: nothing is begun behind his back. */
	if (entry->test.order_id && !em_orders_waits(entry->drives->orders, entry->test.order_id))
		finish(entry, -ETIMEDOUT, "Nobody waits for it any more.");
	else if (ask(entry, step) < 0)
		finish(entry, -EBUSY, "Another command for the drive is under way.");
}

/* Unless the drive has no such page, or does not give it. */
static bool may_sanitize(const struct em_drive *drive)
{
	return em_drive_announces(drive, EM_PAGE_SANITIZE) &&
	       drive->pages[EM_PAGE_SANITIZE].due_us != UINT64_MAX;
}

static void looked(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	const struct em_drive *drive = entry->drive;
	bool abort = entry->test.test == EM_SELF_TEST_ABORT;
	bool running = em_page_u64(EM_PAGE_SELFTEST, "in_progress", reply->data, reply->data_len,
				   &drive->ctx, 0);
	uint64_t percent = em_page_u64(EM_PAGE_SELFTEST, "percent", reply->data, reply->data_len,
				       &drive->ctx, 0);

	if (abort && !running)
		finish(entry, -EBUSY, "No self-test is running.");
	else if (!abort && running)
		finish(entry, -EBUSY, "A self-test is running already: %u %% of it are done.",
		       (unsigned)percent);
	else if (!abort && may_sanitize(drive))
		go_on(entry, EM_TEST_LOOK_SANITIZE);
	else
		go_on(entry, EM_TEST_SEND);
}

static void looked_at_sanitize(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	enum { IN_PROGRESS = 2 };

	if (em_page_u64(EM_PAGE_SANITIZE, "state", reply->data, reply->data_len, &entry->drive->ctx,
			0) == IN_PROGRESS)
		finish(entry, -EBUSY, "The drive is being sanitized.");
	else
		go_on(entry, EM_TEST_SEND);
}

static void sent(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	uint16_t status = EM_STATUS_CODE(reply->status);

	/* What has become of it is in the log. */
	em_drive_hasten(&entry->drive->pages[EM_PAGE_SELFTEST], em_monotonic_us());
	if (reply->answer == EM_ANSWER_DONE)
		finish(entry, 0, "%s", "");
	else if (status == STATUS_RUNNING)
		finish(entry, -EBUSY, "The drive says that a self-test is running already.");
	else
		finish(entry, -EBUSY, "The drive does not do it: %s",
		       em_status_find(reply->status)->text);
}

/* False: the answer is none of the drive's, and all is said. */
static bool has_answer(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	switch (em_drive_status_of(reply)) {
	case EM_READ_OK:
	case EM_READ_STATUS:
	case EM_READ_REFUSED:
		return true;
	case EM_READ_DENIED:
		finish(entry, -EPERM, "The policy of ember-broker denies self-tests (class test).");
		break;
	case EM_READ_NEEDS_CONFIRMATION:
		finish(entry, -EPERM,
		       "The policy of ember-broker wants root's word for self-tests (class test).");
		break;
	case EM_READ_TIMEOUT:
	case EM_READ_STUCK:
		finish(entry, -ETIMEDOUT, "The drive did not answer in time.");
		break;
	default:
		finish(entry, -EAGAIN, "The drive cannot be asked now: %s.",
		       em_answer_name(reply->answer));
		break;
	}
	return false;
}

/* The bytes are a reading of the page that was asked. */
static bool is_reading(const struct em_ipc_reply *reply, enum em_page_id id)
{
	return reply->answer == EM_ANSWER_DONE && reply->data &&
	       em_page_check(em_pages[id], reply->data, reply->data_len) == EM_PAGE_VALID;
}

void em_entry_test_replied(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	enum em_test_step step = entry->test.step;

	if (!has_answer(entry, reply))
		return;
	if (step == EM_TEST_SEND)
		sent(entry, reply);
	else if (!is_reading(reply, step == EM_TEST_LOOK ? EM_PAGE_SELFTEST : EM_PAGE_SANITIZE))
		finish(entry, -EBUSY, "The drive does not tell what it is doing (log page %s).",
		       step == EM_TEST_LOOK ? "06h" : "81h");
	else if (step == EM_TEST_LOOK)
		looked(entry, reply);
	else
		looked_at_sanitize(entry, reply);
}

void em_entry_check_test(struct em_entry *entry)
{
	if (!em_drive_has_command(entry->drive))
		finish(entry, -EAGAIN, "The drive has gone, or ember-broker has.");
	else if (entry->test.order_id &&
		 !em_orders_waits(entry->drives->orders, entry->test.order_id))
		em_drive_drop_command(entry->drive);
}

/* ---- before it begins --------------------------------------------------------------------- */

static uint64_t known(const struct em_drive *drive, enum em_page_id id, const char *key)
{
	const struct em_blob *data = drive->pages[id].read.data;

	return data ? em_page_u64(id, key, data->data, data->len, &drive->ctx, 0) : 0;
}

/* Drives of one subsystem may have to take turns. */
static bool a_sibling_is_tested(const struct em_entry *entry)
{
	const struct em_drives *drives = entry->drives;
	const char *nqn = entry->drive->subsystem_nqn;

	if (!nqn[0] || !known(entry->drive, EM_PAGE_IDENTIFY_CTRL, "selftest_one_per_subsystem"))
		return false;
	for (unsigned i = 0; i < drives->count; i++) {
		const struct em_entry *other = drives->entries[i];

		if (other == entry || other->drive->handle == 0 ||
		    strcmp(other->drive->subsystem_nqn, nqn) != 0)
			continue;
		if (other->test.step != EM_TEST_NONE ||
		    known(other->drive, EM_PAGE_SELFTEST, "in_progress"))
			return true;
	}
	return false;
}

/* NULL: nothing that is known already speaks against it. */
static const char *why_not(const struct em_entry *entry, enum em_self_test test)
{
	if (entry->drive->handle == 0)
		return "The drive is not there.";
	if (!entry->drives->connected)
		return "ember-broker is not reachable.";
	if (!entry->drive->ctx.known)
		return "The drive has not yet told what it can do.";
	if (!em_drive_announces(entry->drive, EM_PAGE_SELFTEST))
		return "The drive has no device self-test.";
	if (test != EM_SELF_TEST_ABORT && a_sibling_is_tested(entry))
		return "Another drive of the same subsystem is tested, and it tests one at a time.";
	return NULL;
}

static int begin(struct em_entry *entry, const struct em_test_run *run)
{
	if (entry->test.step != EM_TEST_NONE || em_drive_has_command(entry->drive))
		return -EBUSY;
	entry->test = *run;
	return ask(entry, EM_TEST_LOOK);
}

int em_entry_order_self_test(struct em_entry *entry, struct em_order *order)
{
	const struct em_test_run run = { .test = order->test, .order_id = order->id };
	const char *problem = why_not(entry, order->test);

	if (problem)
		return refuse(order, -EBUSY, problem);
	if (!em_orders_may_wait(entry->drives->orders) || begin(entry, &run) < 0)
		return refuse(order, -EBUSY,
			      "Another command that somebody asked for is under way; ask again "
			      "when it has ended.");
	return EM_ORDER_LATER;
}

int em_drives_self_test(struct em_drives *drives, const char *drive_id, enum em_self_test test,
			em_self_test_fn *done, void *userdata, const char **ret_why)
{
	struct em_entry *entry = em_entry_by_id(drives, drive_id);
	const struct em_test_run run = { .test = test, .done = done, .userdata = userdata };

	*ret_why = entry ? why_not(entry, test) : "There is no such drive.";
	if (*ret_why)
		return -EAGAIN;
	if (begin(entry, &run) < 0) {
		*ret_why = "Another command for the drive is under way.";
		return -EAGAIN;
	}
	em_entry_wake(entry);
	return 0;
}
