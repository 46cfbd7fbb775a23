/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "daemon/drives/drive_impl.h"

#define NEVER           UINT64_MAX
#define NSID_ALL        0xffffffffu
#define CNS_ACTIVE_LIST 0x02 /* Identify: active namespace ID list */
#define LIST_BYTES      4096u
#define ERROR_LOG       0x01
#define ERROR_ENTRY_BYTES 64u
#define SMART_EVENTS    0x1fu /* feature 0Bh bits 4:0: one per critical warning */

static uint64_t identify_u64(const struct em_drive *drive, const char *key, uint64_t absent)
{
	const struct em_blob *data = drive->pages[EM_PAGE_IDENTIFY_CTRL].read.data;

	if (!data || !drive->ctx.known)
		return absent;
	return em_page_u64(EM_PAGE_IDENTIFY_CTRL, key, data->data, data->len, &drive->ctx, absent);
}

bool em_drive_announces(const struct em_drive *drive, enum em_page_id page)
{
	enum { OACS_SELF_TEST = 1 << 4 };

	if (page == EM_PAGE_SELFTEST)
		return identify_u64(drive, "optional_admin_commands", 0) & OACS_SELF_TEST;
	if (page == EM_PAGE_ERRORS || page == EM_PAGE_EFFECTS || page == EM_PAGE_SANITIZE)
		return false; /* no plan of theirs yet */
	return true;
}

bool em_drive_has_list(const struct em_drive *drive)
{
	return drive->ctx.ver >= EM_VER(1, 1);
}

unsigned em_drive_namespaces_max(const struct em_drive *drive)
{
	uint64_t max = identify_u64(drive, "namespace_id_max", 0);

	return max < EM_NAMESPACES_MAX ? (unsigned)max : EM_NAMESPACES_MAX;
}

bool em_drive_must_have(enum em_page_id page)
{
	return page == EM_PAGE_IDENTIFY_CTRL || page == EM_PAGE_SMART;
}

/* Before Identify was read nothing is asked that a drive may lack. */
static bool askable(const struct em_drive *drive, enum em_page_id page)
{
	return drive->ctx.known || em_drive_must_have(page);
}

static uint64_t earliest(const struct em_drive *drive)
{
	uint64_t due = NEVER;

	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		if (askable(drive, i) && drive->pages[i].due_us < due)
			due = drive->pages[i].due_us;
	}
	if (!drive->ctx.known)
		return due;
	if (drive->list.due_us < due)
		due = drive->list.due_us;
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		if (drive->namespaces[i].page.due_us < due)
			due = drive->namespaces[i].page.due_us;
	}
	return due;
}

static bool wants_now(const struct em_drive *drive)
{
	return drive->acknowledge[0] || drive->acknowledge[1] || (drive->arm && drive->ctx.known);
}

uint64_t em_drive_due_us(const struct em_drive *drive)
{
	uint64_t due;

	if (drive->handle == 0 || drive->asked != EM_ASK_NOTHING)
		return NEVER;
	due = wants_now(drive) ? 0 : earliest(drive);
	return due < drive->hold_us ? drive->hold_us : due;
}

static void ask_page(struct em_drive *drive, enum em_page_id id, int64_t real_us,
		     struct em_ipc_request *request)
{
	const struct em_page *page = em_pages[id];

	drive->asked = EM_ASK_PAGE;
	drive->asked_page = id;
	drive->pages[id].asked_us = real_us;
	request->op = page->is_log ? EM_OP_GET_LOG : EM_OP_IDENTIFY;
	request->page = page->code;
	request->nsid = page->is_log ? NSID_ALL : 0;
	request->len = page->size;
}

static void ask_acknowledge(struct em_drive *drive, bool smart, int64_t real_us,
			    struct em_ipc_request *request)
{
	const struct em_page *page = em_pages[EM_PAGE_SMART];

	drive->asked = EM_ASK_ACKNOWLEDGE;
	drive->asked_page = smart ? EM_PAGE_SMART : EM_PAGE_COUNT;
	drive->pages[EM_PAGE_SMART].asked_us = real_us;
	request->op = EM_OP_ACKNOWLEDGE_EVENT;
	request->page = smart ? page->code : ERROR_LOG;
	request->nsid = NSID_ALL;
	request->len = smart ? page->size : ERROR_ENTRY_BYTES;
}

static void ask_list(struct em_drive *drive, int64_t real_us, struct em_ipc_request *request)
{
	drive->asked = EM_ASK_NAMESPACE_LIST;
	drive->list.asked_us = real_us;
	request->op = EM_OP_IDENTIFY;
	request->page = CNS_ACTIVE_LIST;
	request->nsid = 0;
	request->len = LIST_BYTES;
}

static void ask_namespace(struct em_drive *drive, struct em_namespace_task *task, int64_t real_us,
			  struct em_ipc_request *request)
{
	drive->asked = EM_ASK_NAMESPACE;
	drive->asked_nsid = task->nsid;
	task->page.asked_us = real_us;
	request->op = EM_OP_IDENTIFY;
	request->page = em_pages[EM_PAGE_IDENTIFY_NS]->code;
	request->nsid = task->nsid;
	request->len = em_pages[EM_PAGE_IDENTIFY_NS]->size;
}

/* Things that an event asks for go before the plan. */
static bool ask_urgent(struct em_drive *drive, int64_t real_us, struct em_ipc_request *request)
{
	for (unsigned i = 0; i < EM_COUNT(drive->acknowledge); i++) {
		if (!drive->acknowledge[i])
			continue;
		drive->acknowledge[i] = false;
		ask_acknowledge(drive, i == 1, real_us, request);
		return true;
	}
	if (!drive->arm || !drive->ctx.known)
		return false;
	drive->arm = false;
	drive->asked = EM_ASK_ARM;
	request->op = EM_OP_ARM_EVENTS;
	request->arg = SMART_EVENTS;
	return true;
}

static void skip_unannounced(struct em_drive *drive)
{
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		struct em_page_task *task = &drive->pages[i];

		if (task->due_us == NEVER || !drive->ctx.known || em_drive_announces(drive, i))
			continue;
		task->due_us = NEVER;
		task->read.status = EM_READ_UNSUPPORTED;
		drive->changed = true;
	}
}

/* Without a list, the namespaces are 1..NN. */
static void plan_without_list(struct em_drive *drive, uint64_t now_us)
{
	uint32_t nsids[EM_NAMESPACES_MAX];
	unsigned count = em_drive_namespaces_max(drive);

	for (unsigned i = 0; i < count; i++)
		nsids[i] = i + 1;
	drive->list.due_us = NEVER;
	drive->list.read.status = EM_READ_UNSUPPORTED;
	em_drive_take_namespaces(drive, nsids, count, now_us);
}

static bool ask_planned(struct em_drive *drive, uint64_t due, int64_t real_us,
			struct em_ipc_request *request)
{
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		if (askable(drive, i) && drive->pages[i].due_us == due) {
			ask_page(drive, i, real_us, request);
			return true;
		}
	}
	if (!drive->ctx.known)
		return false;
	if (drive->list.due_us == due) {
		ask_list(drive, real_us, request);
		return true;
	}
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		if (drive->namespaces[i].page.due_us == due) {
			ask_namespace(drive, &drive->namespaces[i], real_us, request);
			return true;
		}
	}
	return false;
}

bool em_drive_next(struct em_drive *drive, uint64_t now_us, int64_t real_us,
		   struct em_ipc_request *ret)
{
	struct em_ipc_request request = { .drive = drive->handle };

	if (em_drive_due_us(drive) > now_us)
		return false;
	skip_unannounced(drive);
	if (drive->ctx.known && drive->list.due_us <= now_us && !em_drive_has_list(drive))
		plan_without_list(drive, now_us);
	if (!ask_urgent(drive, real_us, &request)) {
		uint64_t due = earliest(drive);

		if (due > now_us || !ask_planned(drive, due, real_us, &request))
			return false;
	}
	drive->asked_len = request.len;
	*ret = request;
	return true;
}

void em_drive_sent(struct em_drive *drive, uint32_t request_id, uint64_t now_us)
{
	drive->request_id = request_id;
	drive->sent_us = now_us;
	drive->commands++;
}

static uint64_t closer(uint64_t due, uint64_t interval, uint64_t now_us)
{
	return due != NEVER && due > now_us + interval ? now_us + interval : due;
}

void em_drive_set_intervals(struct em_drive *drive, const struct em_poll_intervals *intervals,
			    uint64_t now_us)
{
	drive->intervals = *intervals;
	for (unsigned i = 0; i < EM_PAGE_CTRL_COUNT; i++) {
		drive->pages[i].read.interval_us = intervals->page_us[i];
		drive->pages[i].due_us =
			closer(drive->pages[i].due_us, intervals->page_us[i], now_us);
	}
	drive->list.read.interval_us = intervals->page_us[EM_PAGE_IDENTIFY_NS];
	drive->list.due_us = closer(drive->list.due_us, drive->list.read.interval_us, now_us);
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		struct em_page_task *task = &drive->namespaces[i].page;

		task->read.interval_us = drive->list.read.interval_us;
		task->due_us = closer(task->due_us, task->read.interval_us, now_us);
	}
	drive->changed = true;
}
