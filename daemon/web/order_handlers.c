/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/web/handlers.h"
#include "daemon/web/json.h"
#include "lib/base/clock.h"

static void answer_order(const struct em_call *call, const struct em_order *order, int r,
			 struct em_reply *reply)
{
	switch (r) {
	case -ENOENT:
		em_reply_problem(reply, call, 404, "The drive is not known any more.");
		break;
	case -EBUSY:
	case -EAGAIN:
		/* The drive's state, or all who want something at once. */
		if (order->message[0])
			em_reply_problem(reply, call, 409, "%s", order->message);
		else
			em_reply_unavailable(reply, call, "Too much is asked at once.");
		break;
	case -EPERM:
		em_reply_problem(reply, call, 403, "%s", order->message);
		break;
	case -ETIMEDOUT:
		em_reply_unavailable(reply, call,
				     order->kind == EM_ORDER_COMMAND ||
						     order->kind == EM_ORDER_SELF_TEST
					     ? "The drive did not answer in time."
					     : "emberd is too busy now; nothing was done.");
		break;
	case -ESHUTDOWN:
		em_reply_unavailable(reply, call, "emberd is ending.");
		break;
	default:
		em_reply_problem(reply, call, 500, "%s",
				 order->message[0] ? order->message : strerrordesc_np(-r));
		break;
	}
}

bool em_call_give(const struct em_call *call, struct em_order *order,
		  const struct em_drive_snap *drive, uint64_t wait_us, struct em_reply *reply)
{
	int r;

	if (!call->context->orders) {
		em_reply_unavailable(reply, call, "emberd looks after no drives now.");
		return false;
	}
	strcpy(order->drive_id, drive->id);
	r = em_orders_give(call->context->orders, order, call->now_mono_us + wait_us);
	if (r < 0)
		answer_order(call, order, r, reply);
	return r == 0;
}

static bool give(const struct em_call *call, enum em_order_kind kind,
		 const struct em_drive_snap *drive, struct em_reply *reply)
{
	struct em_order order = { .kind = kind };

	order.refused = kind == EM_ORDER_REFRESH && call->args[EM_REFRESH_REFUSED].number;
	return em_call_give(call, &order, drive, EM_WAIT_US, reply);
}

/* Those that the order makes due. */
static json_t *planned_json(const struct em_drive_snap *drive, bool refused)
{
	json_t *list = json_array();

	for (unsigned p = 0; list && p < EM_PAGE_CTRL_COUNT; p++) {
		const struct em_page_read *read = &drive->pages[p];
		bool is_refused = read->status == EM_READ_REFUSED;

		if (is_refused ? !refused : !read->interval_us)
			continue;
		if (json_array_append_new(list, json_string(em_pages[p]->key)) == 0)
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

void em_handle_refresh(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);

	if (!drive || !give(call, EM_ORDER_REFRESH, drive, reply))
		return;
	em_reply_json(reply, json_pack("{s:s, s:o, s:o}", "drive", drive->id, "requested_at",
				       em_json_time(call->now_us), "pages",
				       planned_json(drive, call->args[EM_REFRESH_REFUSED].number)));
	em_reply_success(reply, call->route->status);
	snprintf(reply->location, sizeof(reply->location), "/v1/drives/%s", drive->id);
}

/* A person is told that it is done when a power cut cannot undo it. */
static bool keep(const struct em_call *call, struct em_reply *reply)
{
	struct em_store_status status;
	char why[sizeof(status.detail) + 128];
	int r;

	if (!call->context->store) {
		em_reply_unavailable(reply, call,
				     "It is done, but no database is open: after a "
				     "restart it is forgotten.");
		return false;
	}
	r = em_store_flush(call->context->store, call->now_mono_us + EM_WAIT_US);
	if (r == 0)
		return true;
	em_store_get_status(call->context->store, &status);
	snprintf(why, sizeof(why), "It is done, but it is not on the disk yet: %s",
		 status.ok ? "the disk is slow." : status.detail);
	em_reply_unavailable(reply, call, why);
	return false;
}

static void change_state(struct em_call *call, enum em_order_kind kind, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	struct em_snapshot *now;
	int index;

	if (!drive || !give(call, kind, drive, reply) || !keep(call, reply))
		return;
	now = em_hub_get(call->context->hub);
	index = em_snapshot_find(now, drive->id);
	if (index < 0)
		em_reply_problem(reply, call, 404, "The drive is not known any more.");
	else
		em_reply_json(reply, em_json_summary(now->drives[index], call));
	em_snapshot_unref(now);
}

void em_handle_retire(struct em_call *call, struct em_reply *reply)
{
	change_state(call, EM_ORDER_RETIRE, reply);
}

void em_handle_unretire(struct em_call *call, struct em_reply *reply)
{
	change_state(call, EM_ORDER_UNRETIRE, reply);
}

void em_handle_self_test(struct em_call *call, struct em_reply *reply)
{
	const struct em_drive_snap *drive = em_call_drive(call, reply);
	struct em_order order = { .kind = EM_ORDER_SELF_TEST };

	if (!drive)
		return;
	order.test = (enum em_self_test)call->args[EM_SELF_TEST_ARG_TEST].number;
	if (!em_call_give(call, &order, drive, EM_DRIVE_WAIT_US, reply))
		return;
	em_reply_json(reply, json_pack("{s:s, s:s, s:s, s:s, s:o}", "drive", drive->id, "device",
				       drive->device, "serial", drive->serial, "test",
				       em_self_test_name(order.test), "accepted_at",
				       em_json_time(em_realtime_us())));
	em_reply_success(reply, call->route->status);
	snprintf(reply->location, sizeof(reply->location), "/v1/drives/%s/selftest", drive->id);
}
