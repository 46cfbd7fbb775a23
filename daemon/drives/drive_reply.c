/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "daemon/drives/drive_impl.h"
#include "lib/nvme/status.h"

#define NEVER UINT64_MAX

enum em_read_status em_drive_status_of(const struct em_ipc_reply *reply)
{
	switch (reply->answer) {
	case EM_ANSWER_DONE:
		return EM_READ_OK;
	case EM_ANSWER_STATUS:
		return em_status_retry(reply->status) == EM_RETRY_REFUSED ? EM_READ_REFUSED
									  : EM_READ_STATUS;
	case EM_ANSWER_DENIED:
		return EM_READ_DENIED;
	case EM_ANSWER_NEEDS_CONFIRMATION:
		return EM_READ_NEEDS_CONFIRMATION;
	case EM_ANSWER_TIMEOUT:
		return EM_READ_TIMEOUT;
	case EM_ANSWER_STUCK:
		return EM_READ_STUCK;
	case EM_ANSWER_BUSY:
	case EM_ANSWER_QUEUE_FULL:
		return EM_READ_BUSY;
	case EM_ANSWER_GONE:
		return EM_READ_GONE;
	case EM_ANSWER_INVALID:
	case EM_ANSWER_NOT_SUPPORTED:
	case EM_ANSWER_HOST_ERROR:
	case EM_ANSWER_COUNT:
		break;
	}
	return EM_READ_HOST_ERROR;
}

/* When to look again at a page whose attempt ended like this. */
static uint64_t next_due(const struct em_page_task *task, enum em_read_status status,
			 uint64_t now_us)
{
	uint64_t interval = task->read.interval_us;
	uint64_t due;

	if (status == EM_READ_REFUSED)
		return NEVER;
	if (em_read_is_open(status))
		return now_us; /* the drive's hold time decides */
	/* Stay in step with the plan; a plan that is behind starts anew. */
	due = task->due_us + interval;
	return due > now_us && due <= now_us + interval ? due : now_us + interval;
}

static void record_attempt(struct em_page_task *task, const struct em_ipc_reply *reply,
			   enum em_read_status status, uint64_t now_us)
{
	struct em_page_read *read = &task->read;

	read->status = status;
	read->nvme_status = reply->answer == EM_ANSWER_STATUS ? reply->status : 0;
	read->err = reply->answer == EM_ANSWER_HOST_ERROR ? reply->err : 0;
	read->attempted_us = task->asked_us;
	if (em_read_is_answer(status))
		task->insist = task->remembered = false;
	task->due_us = next_due(task, status, now_us);
}

static bool same_bytes(const struct em_blob *a, const struct em_blob *b)
{
	return a && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* Takes the bytes when they are a reading; else says in status why they are none. */
static bool take_bytes(struct em_drive *drive, struct em_page_task *task,
		       const struct em_page *page, const struct em_ipc_reply *reply,
		       uint64_t now_us, int64_t real_us)
{
	struct em_page_read *read = &task->read;
	enum em_page_state state = em_page_check(page, reply->data, reply->data_len);
	struct em_blob *data;

	if (state != EM_PAGE_VALID) {
		read->status = state == EM_PAGE_SHORT ? EM_READ_SHORT : EM_READ_NO_READING;
		read->zeroes = state == EM_PAGE_ALL_ZERO;
		return false;
	}
	data = em_blob_new(reply->data, reply->data_len);
	if (!data) {
		read->status = EM_READ_HOST_ERROR;
		read->err = ENOMEM;
		return false;
	}
	if (!read->same_mono_us || !same_bytes(read->data, data))
		read->same_mono_us = now_us;
	em_blob_unref(read->data);
	drive->notable = true;
	read->data = data;
	read->read_us = real_us;
	read->read_mono_us = now_us;
	return true;
}

static bool warning_changed(const struct em_drive *drive, const uint8_t *before, uint32_t len)
{
	const struct em_blob *now = drive->pages[EM_PAGE_SMART].read.data;

	return em_page_u64(EM_PAGE_SMART, "critical_warning", before, len, &drive->ctx, 0) !=
	       em_page_u64(EM_PAGE_SMART, "critical_warning", now->data, now->len, &drive->ctx, 0);
}

/*
 * A warning that changed without an event heard: the event may have been lost on its way, and the
 * next would be held back until log 02h is read once without retaining it.
 */
static void mend_lost_event(struct em_drive *drive, const struct em_blob *before)
{
	if (before && drive->asked == EM_ASK_PAGE &&
	    warning_changed(drive, before->data, before->len))
		drive->acknowledge[1] = true;
}

static uint64_t smart_errors(const struct em_drive *drive, const struct em_blob *data)
{
	return em_page_u64(EM_PAGE_SMART, "num_err_log_entries", data->data, data->len, &drive->ctx,
			   0);
}

static void took_smart(struct em_drive *drive, const struct em_blob *before, uint64_t now_us)
{
	const struct em_blob *now = drive->pages[EM_PAGE_SMART].read.data;

	mend_lost_event(drive, before);
	if (before && smart_errors(drive, now) > smart_errors(drive, before))
		em_drive_hasten(&drive->pages[EM_PAGE_ERRORS], now_us);
}

/* Progress is worth looking at more often. */
static void took_sanitize(struct em_drive *drive, uint64_t now_us)
{
	enum { IN_PROGRESS = 2 };
	struct em_page_task *task = &drive->pages[EM_PAGE_SANITIZE];
	const struct em_blob *data = task->read.data;

	if (em_page_u64(EM_PAGE_SANITIZE, "state", data->data, data->len, &drive->ctx, 0) ==
	    IN_PROGRESS)
		em_drive_hasten(task, now_us + EM_PROGRESS_US);
}

static void took_selftest(struct em_drive *drive, uint64_t now_us)
{
	struct em_page_task *task = &drive->pages[EM_PAGE_SELFTEST];
	const struct em_blob *data = task->read.data;

	if (em_page_u64(EM_PAGE_SELFTEST, "in_progress", data->data, data->len, &drive->ctx, 0))
		em_drive_hasten(task, now_us + EM_TEST_PROGRESS_US);
}

/* Without it most pages are not asked at all, so an hour is too long to wait for it. */
static void ask_identify_soon(struct em_drive *drive, uint64_t now_us)
{
	struct em_page_task *task = &drive->pages[EM_PAGE_IDENTIFY_CTRL];
	uint64_t soon = now_us + drive->intervals.page_us[EM_PAGE_SMART];

	if (task->due_us != NEVER && task->due_us > soon)
		task->due_us = soon;
}

static bool reply_page(struct em_drive *drive, enum em_page_id id, const struct em_ipc_reply *reply,
		       enum em_read_status status, uint64_t now_us, int64_t real_us)
{
	struct em_page_task *task = &drive->pages[id];
	struct em_blob *before = em_blob_ref(task->read.data);
	bool fresh = false;

	record_attempt(task, reply, status, now_us);
	if (status == EM_READ_OK)
		fresh = take_bytes(drive, task, em_pages[id], reply, now_us, real_us);
	if (fresh && id == EM_PAGE_IDENTIFY_CTRL)
		em_drive_learn_identify(drive, task->read.data, now_us);
	else if (id == EM_PAGE_IDENTIFY_CTRL)
		ask_identify_soon(drive, now_us);
	if (em_drive_must_have(id))
		em_drive_count_failure(task, id);
	if (fresh && id == EM_PAGE_SMART)
		took_smart(drive, before, now_us);
	if (fresh && id == EM_PAGE_SANITIZE)
		took_sanitize(drive, now_us);
	if (fresh && id == EM_PAGE_SELFTEST)
		took_selftest(drive, now_us);
	em_blob_unref(before);
	return fresh;
}

/* How many namespaces a list names, or -1 with the status that says why it is none. */
static int take_list(const struct em_drive *drive, struct em_page_task *task,
		     const struct em_ipc_reply *reply, uint32_t nsids[EM_NAMESPACES_MAX])
{
	int count;

	/* A list that was cut must not look like namespaces that were deleted. */
	if (reply->data_len < drive->asked_len) {
		task->read.status = EM_READ_SHORT;
		return -1;
	}
	count = em_drive_parse_list(reply->data, reply->data_len, nsids, NULL);
	if (count < 0)
		task->read.status = EM_READ_NO_READING;
	return count;
}

/* It means nothing by itself: the list of those that are attached comes next. */
static void reply_allocated(struct em_drive *drive, const struct em_ipc_reply *reply,
			    enum em_read_status status, uint64_t now_us)
{
	struct em_page_task *task = &drive->allocated;
	uint32_t nsids[EM_NAMESPACES_MAX];

	record_attempt(task, reply, status, now_us);
	drive->allocated_known = !em_read_is_open(status);
	if (status == EM_READ_REFUSED)
		task->read.data = em_blob_unref(task->read.data);
	if (status != EM_READ_OK || take_list(drive, task, reply, nsids) < 0)
		return;
	em_blob_unref(task->read.data);
	task->read.data = em_blob_new(reply->data, reply->data_len);
}

static int take_both_lists(struct em_drive *drive, const uint32_t *attached, unsigned count,
			   uint64_t now_us)
{
	const struct em_blob *data = drive->allocated.read.data;
	uint32_t allocated[EM_NAMESPACES_MAX];
	struct em_listed listed[EM_NAMESPACES_MAX];
	int allocated_count =
		data ? em_drive_parse_list(data->data, data->len, allocated, NULL) : 0;

	count = em_drive_merge_lists(attached, count, allocated, (unsigned)allocated_count, listed);
	return em_drive_take_namespaces(drive, listed, count, now_us);
}

static bool reply_list(struct em_drive *drive, const struct em_ipc_reply *reply,
		       enum em_read_status status, uint64_t now_us, int64_t real_us)
{
	uint32_t nsids[EM_NAMESPACES_MAX];
	int count;

	record_attempt(&drive->list, reply, status, now_us);
	if (em_read_is_open(status))
		return false;
	drive->allocated_known = false;
	if (status != EM_READ_OK)
		return false;
	count = take_list(drive, &drive->list, reply, nsids);
	if (count < 0 || take_both_lists(drive, nsids, (unsigned)count, now_us) < 0)
		return false;
	drive->list.read.read_us = real_us;
	drive->list.read.read_mono_us = now_us;
	return true;
}

static bool reply_namespace(struct em_drive *drive, const struct em_ipc_reply *reply,
			    enum em_read_status status, uint64_t now_us, int64_t real_us)
{
	struct em_namespace_task *task = em_drive_namespace(drive, drive->asked_nsid);

	if (!task)
		return false;
	record_attempt(&task->page, reply, status, now_us);
	return status == EM_READ_OK && take_bytes(drive, &task->page, em_pages[EM_PAGE_IDENTIFY_NS],
						  reply, now_us, real_us);
}

/* An event read that failed is tried again, unless the drive or the policy refuses it. */
static bool reply_acknowledge(struct em_drive *drive, const struct em_ipc_reply *reply,
			      enum em_read_status status, uint64_t now_us, int64_t real_us)
{
	bool smart = drive->asked_page == EM_PAGE_SMART;

	if (em_read_is_open(status))
		drive->acknowledge[smart] = true;
	return smart && status == EM_READ_OK &&
	       reply_page(drive, EM_PAGE_SMART, reply, status, now_us, real_us);
}

/* Of a list, or of arming events: they have no page. */
static void news_of_other(struct em_drive *drive, const struct em_ipc_reply *reply,
			  enum em_read_status status, uint64_t now_us, int64_t real_us,
			  struct em_drive_news *news)
{
	switch (drive->asked) {
	case EM_ASK_ALLOCATED_LIST:
		strcpy(news->capability, EM_CAPABILITY_ALLOCATED);
		reply_allocated(drive, reply, status, now_us);
		break;
	case EM_ASK_NAMESPACE_LIST:
		strcpy(news->capability, EM_CAPABILITY_LIST);
		news->list = reply_list(drive, reply, status, now_us, real_us);
		break;
	case EM_ASK_ARM:
		strcpy(news->capability, EM_CAPABILITY_ARM);
		drive->arm = em_read_is_open(status);
		drive->insist_arm = drive->insist_arm && drive->arm;
		break;
	default:
		break;
	}
}

static struct em_drive_news news_of(struct em_drive *drive, const struct em_ipc_reply *reply,
				    enum em_read_status status, uint64_t now_us, int64_t real_us)
{
	struct em_drive_news news = {
		.page = drive->asked_page,
		.status = status,
		.nvme_status = reply->answer == EM_ANSWER_STATUS ? reply->status : 0,
	};

	switch (drive->asked) {
	case EM_ASK_PAGE:
		em_drive_name_capability(drive, news.page, news.capability);
		news.fresh = reply_page(drive, news.page, reply, status, now_us, real_us);
		news.read = &drive->pages[news.page].read;
		break;
	case EM_ASK_ACKNOWLEDGE:
		news.fresh = reply_acknowledge(drive, reply, status, now_us, real_us);
		news.read = &drive->pages[EM_PAGE_SMART].read;
		break;
	case EM_ASK_NAMESPACE:
		news.page = EM_PAGE_IDENTIFY_NS;
		news.nsid = drive->asked_nsid;
		news.fresh = reply_namespace(drive, reply, status, now_us, real_us);
		if (news.fresh)
			news.read = &em_drive_namespace(drive, news.nsid)->page.read;
		break;
	default:
		news_of_other(drive, reply, status, now_us, real_us, &news);
		break;
	}
	return news;
}

static bool data_fits(const struct em_drive *drive, const struct em_ipc_reply *reply)
{
	return reply->data_len <= drive->asked_len && (reply->data || reply->data_len == 0);
}

/* A person's command may be one that host or policy refuse; that is no trouble of the drive. */
static bool tells_of_drive(enum em_read_status status)
{
	return em_read_is_answer(status) ||
	       (em_read_is_open(status) && status != EM_READ_HOST_ERROR);
}

struct em_drive_news em_drive_reply(struct em_drive *drive, const struct em_ipc_reply *reply,
				    uint64_t now_us, int64_t real_us)
{
	const struct em_ipc_reply unfit = { .answer = EM_ANSWER_HOST_ERROR, .err = EPROTO };
	struct em_drive_news news = { 0 };
	enum em_read_status status;

	if (drive->asked == EM_ASK_NOTHING || reply->id != drive->request_id)
		return news; /* late, of an earlier connection */
	if (!data_fits(drive, reply))
		reply = &unfit;
	status = em_drive_status_of(reply);
	if (em_read_is_answer(status))
		drive->last_duration_us = reply->elapsed_us;
	else
		drive->errors[status]++;
	if (status == EM_READ_STATUS || status == EM_READ_REFUSED)
		drive->errors[status]++;
	news = news_of(drive, reply, status, now_us, real_us);
	if (drive->asked != EM_ASK_COMMAND || tells_of_drive(status))
		em_drive_judge(drive, status, now_us, real_us);
	em_drive_clear_request(drive);
	em_drive_choose_path(drive, now_us, real_us);
	drive->changed = true;
	return news;
}
