/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/drives/history.h"
#include "daemon/web/metrics.h"
#include "lib/base/le.h"

struct em_drive_snap *make_drive(const char *id, const char *device, const char *serial)
{
	struct em_drive_snap *drive = em_drive_snap_new();

	snprintf(drive->id, sizeof(drive->id), "%s", id);
	snprintf(drive->device, sizeof(drive->device), "%s", device);
	snprintf(drive->serial, sizeof(drive->serial), "%s", serial);
	strcpy(drive->model, "PBlaze7 7940");
	strcpy(drive->firmware, "FW100");
	strcpy(drive->transport, "pcie");
	strcpy(drive->address, "0000:01:00.0");
	drive->state = EM_STATE_OK;
	drive->state_since_us = NOW_US - 60000000;
	drive->last_answer_us = NOW_US - 1500000;
	drive->last_duration_us = 1250;
	drive->ctx = (struct em_nvme_ctx){ .known = true, .ver = EM_VER(1, 4), .frmw = 0x17 };
	return drive;
}

void give_page(struct em_page_read *read, const void *data, size_t len, size_t size,
	       uint64_t age_us)
{
	uint8_t *bytes = calloc(1, size);

	memcpy(bytes, data, len);
	em_blob_unref(read->data);
	read->data = em_blob_new(bytes, size);
	read->status = EM_READ_OK;
	read->attempted_us = read->read_us = NOW_US - (int64_t)age_us;
	read->read_mono_us = NOW_MONO_US - age_us;
	read->interval_us = 60000000;
	free(bytes);
}

void give_smart(struct em_drive_snap *drive, uint64_t age_us)
{
	uint8_t page[512] = { 0x02, 0x38, 0x01, 100, 10, 1 }; /* 0138h kelvin */

	em_put_le64(page + 32, 136887354);
	memset(page + 48, 0xff, 16); /* the most units there can be */
	em_put_le64(page + 64, UINT64_C(1) << 60);
	em_put_le64(page + 112, 12);
	em_put_le64(page + 128, 1772);
	em_put_le32(page + 192, 3);
	em_put_le16(page + 200, 310);
	give_page(&drive->pages[EM_PAGE_SMART], page, sizeof(page), 512, age_us);
}

void give_firmware(struct em_drive_snap *drive)
{
	uint8_t page[512] = { 0x11 };

	memcpy(page + 8, "GPNA4B3Q", 8);
	give_page(&drive->pages[EM_PAGE_FIRMWARE], page, sizeof(page), 512, 1500000);
}

void give_selftest(struct em_drive_snap *drive)
{
	uint8_t page[564] = { 0 };
	uint8_t *entry = page + 4;

	for (unsigned i = 0; i < 20; i++)
		page[4 + 28 * i] = 0x0f;
	entry[0] = 0x27; /* extended; failed in a known segment */
	entry[1] = 7;
	entry[2] = 3;
	em_put_le64(entry + 4, 1772);
	em_put_le32(entry + 12, 1);
	give_page(&drive->pages[EM_PAGE_SELFTEST], page, sizeof(page), 564, 1500000);
}

struct em_snapshot *make_snapshot(struct em_drive_snap **drives, unsigned count)
{
	struct em_snapshot *snap = em_snapshot_new(count);

	snap->taken_us = NOW_US;
	snap->taken_mono_us = NOW_MONO_US;
	snap->broker_connected = true;
	snap->broker_requests = 42;
	for (unsigned i = 0; i < count; i++)
		snap->drives[i] = drives[i];
	return snap;
}

static void give_namespace(struct em_drive_snap *drive)
{
	uint8_t page[4096] = { 0 };

	em_put_le64(page + 0, 1000);
	em_put_le64(page + 8, 1000);
	em_put_le64(page + 16, 500);
	page[128 + 2] = 9;
	drive->namespaces = calloc(1, sizeof(*drive->namespaces));
	drive->namespace_count = 1;
	drive->namespaces[0].nsid = 1;
	give_page(&drive->namespaces[0].page, page, sizeof(page), 4096, 1500000);
	drive->namespace_list.status = EM_READ_OK;
	drive->namespace_list.read_us = NOW_US - 1500000;
	drive->namespace_list.read_mono_us = NOW_MONO_US - 1500000;
}

struct em_snapshot *make_fleet(void)
{
	struct em_drive_snap *d[4] = {
		make_drive("00000000000000a0", "nvme0", "SN-A-0001"),
		make_drive("00000000000000b1", "nvme1", "SN-A-0002"),
		make_drive("10000000000000c2", "nvme2", "SN-B-0003"),
		make_drive("20000000000000d3", "nvme10", "SN0000000001-3?"),
	};

	give_smart(d[0], 1234000);
	give_firmware(d[0]);
	give_selftest(d[0]);
	give_namespace(d[0]);

	give_smart(d[1], 3600000000);
	d[1]->state = EM_STATE_UNRESPONSIVE;
	strcpy(d[1]->state_detail, "three commands were not answered");
	d[1]->pages[EM_PAGE_SMART].status = EM_READ_TIMEOUT;
	d[1]->pages[EM_PAGE_SMART].attempted_us = NOW_US - 2000000;
	d[1]->errors[EM_READ_TIMEOUT] = 3;
	d[1]->misses = 3;

	d[2]->pages[EM_PAGE_SMART].status = EM_READ_NO_READING;
	d[2]->pages[EM_PAGE_SMART].attempted_us = NOW_US - 2000000;
	d[2]->pages[EM_PAGE_SELFTEST].status = EM_READ_REFUSED;
	d[2]->pages[EM_PAGE_SELFTEST].nvme_status = 0x4109; /* Invalid Log Page, do not retry */
	d[2]->pages[EM_PAGE_SELFTEST].attempted_us = NOW_US - 2000000;

	strcpy(d[3]->model, MODEL_HOSTILE);
	strcpy(d[3]->firmware, "0101?");
	return make_snapshot(d, 4);
}

/* Whatever a route answers with has to be among what its row says. */
static void expect_documented(const struct em_route *route, const struct em_reply *reply)
{
	unsigned statuses[EM_STATUSES_MAX], count = em_route_statuses(route, statuses);
	bool found = false;

	for (unsigned i = 0; i < count; i++)
		found |= statuses[i] == reply->status;
	ck_assert_msg(found, "%s is answered with %u", route->op_id, reply->status);
}

struct em_reply ask_call(struct em_call *call, const char *method, const char *uri)
{
	struct em_reply reply = { 0 };

	call->now_us = NOW_US;
	if (!call->now_mono_us)
		call->now_mono_us = NOW_MONO_US;
	if (em_route_resolve(call, method, uri, &reply))
		call->route->handle(call, &reply);
	if (call->route)
		expect_documented(call->route, &reply);
	return reply;
}

struct em_reply ask_with(const struct em_context *context, const struct em_snapshot *snap,
			 const char *method, const char *uri)
{
	struct em_call call = { .context = context, .snap = snap, .last_event_id = -1 };
	struct em_reply reply = ask_call(&call, method, uri);

	ck_assert_ptr_nonnull(reply.body);
	return reply;
}

struct em_reply ask(const struct em_snapshot *snap, const char *method, const char *uri)
{
	struct em_context context = { .version = "1.2.3",
				      .started_us = NOW_US - 60000000,
				      .started_mono_us = NOW_MONO_US - 60000000,
				      .metrics = em_metrics_new() };
	struct em_reply reply;
	unsigned tables;

	em_history_tables(&tables);
	reply = ask_with(&context, snap, method, uri);
	em_metrics_free(context.metrics);
	return reply;
}

json_t *reply_json(struct em_reply *reply, unsigned status)
{
	json_error_t error;
	json_t *root;

	ck_assert_msg(reply->status == status, "%u: %s", reply->status, reply->body);
	ck_assert_str_eq(reply->type, status < 300 ? EM_TYPE_JSON : EM_TYPE_PROBLEM);
	root = json_loads(reply->body, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(root != NULL, "%s: %s", error.text, reply->body);
	em_reply_done(reply);
	return root;
}

json_t *ask_json(const struct em_snapshot *snap, const char *uri, unsigned status)
{
	struct em_reply reply = ask(snap, "GET", uri);

	return reply_json(&reply, status);
}

json_t *at(json_t *root, const char *path)
{
	char key[64];

	while (root && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		root = json_is_array(root) ? json_array_get(root, (size_t)atoi(key))
					   : json_object_get(root, key);
		path += len;
		path += *path == '.';
	}
	return root;
}
