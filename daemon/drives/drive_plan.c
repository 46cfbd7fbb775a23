/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "daemon/drives/drive_impl.h"

#define NEVER		   UINT64_MAX
#define NSID_ALL	   0xffffffffu
#define CNS_ACTIVE_LIST	   0x02 /* Identify: active namespace ID list */
#define CNS_ALLOCATED_LIST 0x10 /* allocated namespace ID list */
#define CNS_ALLOCATED	   0x11 /* Identify Namespace, attached or not */
#define LIST_BYTES	   4096u
#define ERROR_LOG	   0x01
#define ERROR_ENTRY_BYTES  64u
#define SMART_EVENTS	   0x1fu /* feature 0Bh bits 4:0: one per critical warning */

static uint64_t identify_u64(const struct em_drive *drive, const char *key, uint64_t absent)
{
	const struct em_blob *data = drive->pages[EM_PAGE_IDENTIFY_CTRL].read.data;

	if (!data || !drive->ctx.known)
		return absent;
	return em_page_u64(EM_PAGE_IDENTIFY_CTRL, key, data->data, data->len, &drive->ctx, absent);
}

/* Unless the drive tells its commands and this one is not among them. */
static bool has_command(const struct em_drive *drive, uint8_t opcode)
{
	const struct em_blob *effects = drive->pages[EM_PAGE_EFFECTS].read.data;

	return !effects || em_effects_has_admin(effects->data, effects->len, opcode);
}

/* By who made the controller; the subsystem may carry the name of who sells it. */
static bool is_memblaze(const struct em_drive *drive)
{
	const struct em_field *field = em_page_field(em_pages[EM_PAGE_IDENTIFY_CTRL], "vendor_id");
	const struct em_blob *data = drive->pages[EM_PAGE_IDENTIFY_CTRL].read.data;
	struct em_value value;

	if (!data || !drive->ctx.known)
		return false;
	em_field_get(field, data->data, data->len, &drive->ctx, &value);
	return strcmp(value.text, "1c5f") == 0;
}

bool em_drive_announces(const struct em_drive *drive, enum em_page_id page)
{
	enum { OACS_SECURITY = 1 << 0, OACS_SELF_TEST = 1 << 4, LPA_EFFECTS = 1 << 1 };
	enum { SELF_TEST = 0x14, SECURITY_RECEIVE = 0x82 };

	switch (page) {
	case EM_PAGE_SELFTEST:
		return identify_u64(drive, "optional_admin_commands", 0) & OACS_SELF_TEST &&
		       has_command(drive, SELF_TEST);
	case EM_PAGE_EFFECTS:
		return identify_u64(drive, "log_page_attributes", 0) & LPA_EFFECTS;
	case EM_PAGE_SANITIZE:
		return identify_u64(drive, "sanitize_capabilities", 0) != 0;
	case EM_PAGE_MEMBLAZE:
		return is_memblaze(drive);
	case EM_PAGE_SECURITY:
		return identify_u64(drive, "optional_admin_commands", 0) & OACS_SECURITY &&
		       has_command(drive, SECURITY_RECEIVE);
	case EM_PAGE_IDENTIFY_CTRL:
	case EM_PAGE_SMART:
	case EM_PAGE_FIRMWARE:
	case EM_PAGE_ERRORS:
	case EM_PAGE_IDENTIFY_NS:
	case EM_PAGE_COUNT:
		break;
	}
	return true;
}

bool em_drive_has_list(const struct em_drive *drive)
{
	return drive->ctx.ver >= EM_VER(1, 1);
}

bool em_drive_wants_allocated(const struct em_drive *drive)
{
	enum { OACS_NAMESPACES = 1 << 3 };

	return !drive->allocated_known && drive->allocated.due_us != NEVER &&
	       drive->ctx.ver >= EM_VER(1, 2) &&
	       identify_u64(drive, "optional_admin_commands", 0) & OACS_NAMESPACES;
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

/* The effects log is not about to be read. Pages behind it in the list come after it anyway. */
static bool effects_are_settled(const struct em_drive *drive)
{
	return drive->pages[EM_PAGE_EFFECTS].due_us > drive->pages[EM_PAGE_SELFTEST].due_us ||
	       !em_drive_announces(drive, EM_PAGE_EFFECTS);
}

/*
 * Before Identify was read nothing is asked that a drive may lack, and before the effects log
 * nothing that it tells of.
 */
static bool askable(const struct em_drive *drive, enum em_page_id page)
{
	if (page == EM_PAGE_SELFTEST && !effects_are_settled(drive))
		return false;
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
	if (drive->command_waits)
		return 0;
	due = wants_now(drive) ? 0 : earliest(drive);
	return due < drive->hold_us ? drive->hold_us : due;
}

static void ask_page(struct em_drive *drive, enum em_page_id id, int64_t real_us,
		     struct em_ipc_request *request)
{
	static const enum em_op ops[] = {
		[EM_BY_IDENTIFY] = EM_OP_IDENTIFY,
		[EM_BY_LOG] = EM_OP_GET_LOG,
		[EM_BY_SECURITY_RECEIVE] = EM_OP_SECURITY_RECEIVE,
	};
	const struct em_page *page = em_pages[id];

	drive->asked = EM_ASK_PAGE;
	drive->asked_page = id;
	drive->pages[id].asked_us = real_us;
	request->op = ops[page->how];
	request->page = page->code;
	request->lsi = page->specific;
	request->nsid = page->how == EM_BY_LOG ? NSID_ALL : 0;
	request->len = em_page_size(page, &drive->ctx);
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
	bool allocated = em_drive_wants_allocated(drive);

	drive->asked = allocated ? EM_ASK_ALLOCATED_LIST : EM_ASK_NAMESPACE_LIST;
	(allocated ? &drive->allocated : &drive->list)->asked_us = real_us;
	request->op = EM_OP_IDENTIFY;
	request->page = allocated ? CNS_ALLOCATED_LIST : CNS_ACTIVE_LIST;
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
	request->page = task->attached ? em_pages[EM_PAGE_IDENTIFY_NS]->code : CNS_ALLOCATED;
	request->nsid = task->nsid;
	request->len = em_pages[EM_PAGE_IDENTIFY_NS]->size;
}

static const struct em_store_capability *sisters_refuse(const struct em_drive *drive,
							const char *what)
{
	return em_capabilities_find(drive->capabilities, drive->model, drive->firmware, what);
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
	if (!drive->insist_arm && sisters_refuse(drive, EM_CAPABILITY_ARM))
		return false;
	drive->asked = EM_ASK_ARM;
	request->op = EM_OP_ARM_EVENTS;
	request->arg = SMART_EVENTS;
	return true;
}

static void skip_page(struct em_drive *drive, struct em_page_task *task, enum em_read_status why,
		      uint16_t nvme_status)
{
	task->due_us = NEVER;
	task->read.status = why;
	task->read.nvme_status = nvme_status;
	task->remembered = why == EM_READ_REFUSED;
	drive->changed = true;
}

void em_drive_name_capability(const struct em_drive *drive, enum em_page_id page,
			      char name[EM_CAPABILITY_SIZE])
{
	if (em_drive_must_have(page))
		snprintf(name, EM_CAPABILITY_SIZE, "%.10s@%s", em_pages[page]->key, drive->id);
	else
		snprintf(name, EM_CAPABILITY_SIZE, "%s", em_pages[page]->key);
}

static void skip_if_refused(struct em_drive *drive, struct em_page_task *task, const char *what)
{
	const struct em_store_capability *refused = sisters_refuse(drive, what);

	if (refused && !task->insist)
		skip_page(drive, task, EM_READ_REFUSED, refused->nvme_status);
}

/* What the drive does not announce, or its sisters were refused, is not asked. */
static void skip_needless(struct em_drive *drive, uint64_t now_us)
{
	char name[EM_CAPABILITY_SIZE];

	for (unsigned i = 0; drive->ctx.known && i < EM_PAGE_CTRL_COUNT; i++) {
		struct em_page_task *task = &drive->pages[i];

		if (task->due_us > now_us || !askable(drive, i) || i == EM_PAGE_IDENTIFY_CTRL)
			continue;
		em_drive_name_capability(drive, i, name);
		if (!em_drive_announces(drive, i))
			skip_page(drive, task, EM_READ_UNSUPPORTED, 0);
		else
			skip_if_refused(drive, task, name);
	}
	if (!drive->ctx.known || drive->list.due_us > now_us)
		return;
	skip_if_refused(drive, &drive->list, EM_CAPABILITY_LIST);
	if (em_drive_wants_allocated(drive))
		skip_if_refused(drive, &drive->allocated, EM_CAPABILITY_ALLOCATED);
}

/* Without a list, the namespaces are 1..NN. */
static void plan_without_list(struct em_drive *drive, uint64_t now_us)
{
	struct em_listed listed[EM_NAMESPACES_MAX];
	unsigned count = em_drive_namespaces_max(drive);

	for (unsigned i = 0; i < count; i++)
		listed[i] = (struct em_listed){ i + 1, true };
	drive->list.due_us = NEVER;
	drive->list.read.status = EM_READ_UNSUPPORTED;
	em_drive_take_namespaces(drive, listed, count, now_us);
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

int em_drive_command(struct em_drive *drive, const struct em_ipc_request *command)
{
	if (em_drive_has_command(drive))
		return -EBUSY;
	drive->command_waits = true;
	drive->command = *command;
	return 0;
}

void em_drive_drop_command(struct em_drive *drive)
{
	drive->command_waits = false;
}

bool em_drive_has_command(const struct em_drive *drive)
{
	return drive->command_waits || drive->asked == EM_ASK_COMMAND;
}

static void ask_command(struct em_drive *drive, struct em_ipc_request *request)
{
	drive->command_waits = false;
	drive->asked = EM_ASK_COMMAND;
	*request = drive->command;
	request->drive = drive->handle;
	drive->asked_len = request->len;
}

static bool ask_due(struct em_drive *drive, uint64_t now_us, int64_t real_us,
		    struct em_ipc_request *request)
{
	uint64_t due = earliest(drive);

	return due <= now_us && ask_planned(drive, due, real_us, request);
}

/*
 * What is urgent and gets no answer would be asked for ever, and no page: whoever waits for a
 * page of such a drive would never learn that it is not read.
 */
static bool ask_something(struct em_drive *drive, uint64_t now_us, int64_t real_us,
			  struct em_ipc_request *request)
{
	if (drive->misses > 0 && ask_due(drive, now_us, real_us, request))
		return true;
	return ask_urgent(drive, real_us, request) || ask_due(drive, now_us, real_us, request);
}

bool em_drive_next(struct em_drive *drive, uint64_t now_us, int64_t real_us,
		   struct em_ipc_request *ret)
{
	struct em_ipc_request request = { .drive = drive->handle };

	if (em_drive_due_us(drive) > now_us)
		return false;
	if (drive->command_waits) {
		ask_command(drive, ret);
		return true;
	}
	skip_needless(drive, now_us);
	if (drive->ctx.known && drive->list.due_us <= now_us && !em_drive_has_list(drive))
		plan_without_list(drive, now_us);
	if (!ask_something(drive, now_us, real_us, &request))
		return false;
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
