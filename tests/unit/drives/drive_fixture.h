/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * drive_fixture - a drive whose broker and clocks are made of arguments: ask(), look at what was
 * asked, answer(). One drive and one request at a time.
 */
#include <check.h>
#include <string.h>

#include "daemon/drives/drive.h"
#include "lib/base/le.h"

#define SECOND UINT64_C(1000000)
#define NEVER  UINT64_MAX

static struct em_drive *drive;
static uint64_t now;
static uint32_t next_id;
static struct em_ipc_request asked;
static uint8_t page[4096];

static inline struct em_ipc_drive node(const char *state)
{
	struct em_ipc_drive message = { .drive = 7, .change = EM_DRIVE_PRESENT };

	strcpy(message.device, "nvme0");
	strcpy(message.serial, "SN0");
	strcpy(message.model, "P6530DT0384M00");
	strcpy(message.subsystem_nqn, "nqn.test:0");
	strcpy(message.transport, "pcie");
	strcpy(message.state, state);
	return message;
}

static inline void start(void)
{
	struct em_poll_intervals intervals;
	struct em_ipc_drive message = node("live");

	for (unsigned i = 0; i < EM_PAGE_COUNT; i++)
		intervals.page_us[i] = 3600 * SECOND;
	intervals.page_us[EM_PAGE_SMART] = 60 * SECOND;
	now = 1000 * SECOND;
	next_id = 0;
	drive = em_drive_new("nqn.test:0\0SN0", 14, 0);
	em_drive_set_intervals(drive, &intervals, now);
	em_drive_present(drive, &message, now, (int64_t)now);
}

static inline void stop(void)
{
	drive = em_drive_free(drive);
}

static inline bool ask(void)
{
	if (!em_drive_next(drive, now, (int64_t)now, &asked))
		return false;
	em_drive_sent(drive, ++next_id, now);
	return true;
}

static inline struct em_drive_news answer(enum em_answer how, uint16_t status, const void *data,
					  uint32_t len)
{
	struct em_ipc_reply reply = { .id = next_id,
				      .drive = 7,
				      .answer = how,
				      .status = status,
				      .data = data,
				      .data_len = len,
				      .data_fd = -1 };

	return em_drive_reply(drive, &reply, now, (int64_t)now);
}

/* Identify Controller by hand: VER at 80, OACS at 256, NN at 516. */
static inline const uint8_t *identify(uint32_t ver, uint16_t oacs)
{
	memset(page, 0, sizeof(page));
	memcpy(page + 4, "SN0                 ", 20);
	memcpy(page + 24, "P6530DT0384M00                          ", 40);
	memcpy(page + 64, "FW000001", 8);
	em_put_le32(page + 80, ver);
	em_put_le16(page + 256, oacs);
	em_put_le32(page + 516, 2);
	return page;
}

static inline const uint8_t *smart(uint8_t warning)
{
	memset(page, 0, sizeof(page));
	page[0] = warning;
	em_put_le16(page + 1, 300);
	page[3] = 100;
	return page;
}

/* Answers whatever is asked until nothing is due; returns how many commands that took. */
static inline unsigned serve(uint32_t ver, uint16_t oacs)
{
	unsigned count = 0;

	while (ask()) {
		count++;
		ck_assert_uint_lt(count, 100);
		if (asked.op == EM_OP_IDENTIFY && asked.page == 1) {
			answer(EM_ANSWER_DONE, 0, identify(ver, oacs), 4096);
		} else if (asked.op == EM_OP_IDENTIFY && asked.page == 2) {
			memset(page, 0, sizeof(page));
			page[0] = 1;
			page[4] = 9;
			answer(EM_ANSWER_DONE, 0, page, 4096);
		} else if (asked.op == EM_OP_IDENTIFY) {
			memset(page, 0, sizeof(page));
			page[0] = 0xff;
			answer(EM_ANSWER_DONE, 0, page, 4096);
		} else if (asked.op == EM_OP_ARM_EVENTS) {
			ck_assert_uint_eq(asked.arg, 0x1f);
			answer(EM_ANSWER_DONE, 0, NULL, 0);
		} else {
			answer(EM_ANSWER_DONE, 0, smart(0), asked.len);
		}
	}
	return count;
}
