/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that a person has us send: from an order to the drive, and its answer back. */
#include <errno.h>
#include <stdio.h>

#include "daemon/drives/drive_impl.h"
#include "daemon/drives/drives_impl.h"
#include "lib/base/clock.h"

/* By whether they may read any page. */
static const enum em_op operations[EM_COMMAND_COUNT][2] = {
	[EM_COMMAND_IDENTIFY] = { EM_OP_IDENTIFY, EM_OP_IDENTIFY_ANY },
	[EM_COMMAND_LOG] = { EM_OP_GET_LOG, EM_OP_GET_LOG_ANY },
	[EM_COMMAND_FEATURE] = { EM_OP_GET_FEATURE, EM_OP_GET_FEATURE_ANY },
};

/* The persistent event log: reading it as such leaves no context behind. */
#define LID_EVENTS 0x0d

static enum em_op operation_of(const struct em_command *command)
{
	if (command->kind == EM_COMMAND_LOG && command->consume && command->page == LID_EVENTS &&
	    command->specific == 0)
		return EM_OP_PERSISTENT_EVENTS;
	return operations[command->kind][command->consume];
}

static int refuse(struct em_order *order, int error, const char *why)
{
	snprintf(order->message, sizeof(order->message), "%s", why);
	return error;
}

int em_entry_order_command(struct em_entry *entry, struct em_order *order)
{
	const struct em_command *command = &order->command;
	const struct em_ipc_request request = {
		.op = operation_of(command),
		.page = command->page,
		.lsp = command->specific,
		.lsi = command->id,
		.nsid = command->nsid,
		.len = command->len,
		.offset = command->offset,
	};

	if (entry->drive->handle == 0)
		return refuse(order, -EBUSY, "The drive is not there: nothing can be read.");
	if (!entry->drives->connected)
		return refuse(order, -EBUSY, "ember-broker is not reachable: nothing can be read.");
	if (!em_orders_may_wait(entry->drives->orders) ||
	    em_drive_command(entry->drive, &request) < 0)
		return refuse(order, -EBUSY,
			      "Another command that somebody asked for is under way; ask again "
			      "when it has ended.");
	entry->command_id = order->id;
	return EM_ORDER_LATER;
}

static void answer_order(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	bool lost = reply->data_len > 0 && !reply->data; /* said to be there, and is not */
	enum em_read_status status = em_drive_status_of(reply);
	struct em_command_answer answer = {
		.read = { .status = status,
			  .nvme_status = reply->answer == EM_ANSWER_STATUS ? reply->status : 0,
			  .err = reply->err,
			  .attempted_us = em_realtime_us() },
		.not_allowed = reply->answer == EM_ANSWER_INVALID ||
			       reply->answer == EM_ANSWER_NOT_SUPPORTED,
		.result = reply->result,
		.duration_us = reply->elapsed_us,
	};

	if (status == EM_READ_OK && !lost) {
		answer.read.read_us = answer.read.attempted_us;
		answer.read.data = em_blob_new(reply->data, reply->data_len);
	}
	if (status == EM_READ_OK && !answer.read.data)
		answer.read = (struct em_page_read){ .status = EM_READ_HOST_ERROR,
						     .err = lost ? EPROTO : ENOMEM };
	em_orders_answer(entry->drives->orders, entry->command_id, &answer);
	em_blob_unref(answer.read.data);
	entry->command_id = 0;
}

void em_entry_answer_command(struct em_entry *entry, const struct em_ipc_reply *reply)
{
	if (entry->test.step != EM_TEST_NONE)
		em_entry_test_replied(entry, reply);
	else
		answer_order(entry, reply);
}

void em_entry_check_command(struct em_entry *entry)
{
	const struct em_ipc_reply gone = { .answer = EM_ANSWER_GONE };

	if (entry->test.step != EM_TEST_NONE)
		em_entry_check_test(entry);
	if (entry->command_id == 0)
		return;
	if (!em_drive_has_command(entry->drive))
		em_entry_answer_command(entry, &gone);
	else if (!em_orders_waits(entry->drives->orders, entry->command_id))
		em_drive_drop_command(entry->drive);
}
