/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/drive.h"

#include <string.h>
#include "lib/base/le.h"
#include "tests/fuzz/fuzz.h"

#define IDENTIFY_SIZE 4096
#define IDENTIFY_VER  80 /* NVMe Base 2.0, figure 275 */
#define CTX_CHANGES   6

void fuzz_ctx(struct fuzz_input *in, struct em_nvme_ctx *ret)
{
	uint8_t identify[IDENTIFY_SIZE] = { 0x1d, 0xbf, 0x1d, 0xbf, 'S', 'N', '1' };

	memcpy(identify + 24, "MODEL", 5);
	em_put_le32(identify + IDENTIFY_VER, EM_VER(2, 0));
	if (fuzz_u8(in) & 1) {
		*ret = (struct em_nvme_ctx){ .known = false };
		return;
	}
	for (unsigned i = 0; i < CTX_CHANGES; i++) {
		uint16_t offset = fuzz_u16(in);

		identify[offset % IDENTIFY_SIZE] ^= fuzz_u8(in);
	}
	em_nvme_ctx_from_identify(identify, sizeof(identify), ret);
}

static void give_page(struct em_page_read *read, const uint8_t *data, size_t len)
{
	read->status = EM_READ_OK;
	read->attempted_us = read->read_us = FUZZ_NOW_US - 1500000;
	read->read_mono_us = FUZZ_NOW_MONO_US - 1500000;
	read->interval_us = 60000000;
	read->data = em_blob_new(data, len);
	fuzz_check(read->data);
}

static void give_namespace(struct em_drive_snap *drive, const uint8_t *data, size_t len)
{
	drive->namespaces = calloc(1, sizeof(*drive->namespaces));
	fuzz_check(drive->namespaces);
	drive->namespace_count = 1;
	drive->namespaces[0].nsid = 1;
	give_page(&drive->namespaces[0].page, data, len);
}

struct em_snapshot *fuzz_snapshot(enum em_page_id page, const struct em_nvme_ctx *ctx,
				  const uint8_t *data, size_t len)
{
	struct em_drive_snap *drive = em_drive_snap_new();
	struct em_snapshot *snap = em_snapshot_new(1);

	fuzz_check(drive && snap);
	strcpy(drive->id, "00000000000000a0");
	strcpy(drive->device, "nvme0");
	strcpy(drive->serial, "SN-A-0001");
	strcpy(drive->model, "Model \"1\"");
	strcpy(drive->firmware, "0101");
	strcpy(drive->transport, "pcie");
	drive->state = EM_STATE_OK;
	drive->ctx = *ctx;
	if (data && page < EM_PAGE_CTRL_COUNT)
		give_page(&drive->pages[page], data, len);
	else if (data)
		give_namespace(drive, data, len);
	snap->taken_us = FUZZ_NOW_US;
	snap->taken_mono_us = FUZZ_NOW_MONO_US;
	snap->drives[0] = drive;
	return snap;
}

struct em_event_log *fuzz_events(void)
{
	struct em_event_log *log = em_event_log_new();

	fuzz_check(log);
	for (unsigned kind = 0; kind < EM_EVENT_KIND_COUNT; kind++) {
		struct em_event event = { .id = FUZZ_NOW_US - 1000 + kind,
					  .at_us = FUZZ_NOW_US - 1000 + kind,
					  .drive = "00000000000000a0",
					  .device = "nvme0",
					  .old_value = "old \"1\"",
					  .summary = "Something happened." };

		snprintf(event.kind, sizeof(event.kind), "%s", em_event_kind_name(kind));
		em_event_log_restore(log, &event);
	}
	return log;
}
