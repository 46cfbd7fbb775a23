/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware Slot Information, log page 03h.
 *
 * All ones: no reading. All zero: no reading (the running firmware has a slot and a revision).
 */
#include "lib/nvme/tables.h"

#define REF	  "NVMe Base 2.0, Firmware Slot Information log page (03h), "
#define SLOTS_MAX 7

/* Identify Controller FRMW */
#define FRMW_SLOT1_READ_ONLY 0x01
#define FRMW_SLOTS(frmw)     ((frmw) >> 1 & 7)

static unsigned slots_present(const struct em_nvme_ctx *ctx)
{
	/* A controller that claims no slot at all has not filled in FRMW. */
	if (!ctx->known || FRMW_SLOTS(ctx->frmw) == 0)
		return SLOTS_MAX;
	return FRMW_SLOTS(ctx->frmw);
}

static void get_read_only(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret)
{
	*ret = (struct em_value){ .kind = EM_V_ABSENT };
	if (!ctx->known)
		return;
	ret->kind = EM_V_BOOL;
	ret->number = index == 0 && ctx->frmw & FRMW_SLOT1_READ_ONLY;
}

static const struct em_field slot_fields[] = {
	{
		.key = "revision",
		.offset = 0,
		.len = 8,
		.type = EM_TEXT,
		.label = "Revision",
		.unit = "",
		.help = "Firmware revision stored in this slot; absent when the slot is empty.",
		.ref = REF "bytes 63:8",
	},
};

static const struct em_field read_only = {
	.key = "read_only",
	.type = EM_BOOL,
	.flags = EM_DERIVED,
	.label = "Read-only",
	.unit = "",
	.help = "The slot cannot be written.",
	.ref = "NVMe Base 2.0, Identify Controller data structure, byte 260 bit 0",
};

static const struct em_group groups[] = {
	{
		.key = "slots",
		.index_key = "slot",
		.offset = 8,
		.stride = 8,
		.count = SLOTS_MAX,
		.present = slots_present,
		.fields = slot_fields,
		.field_count = EM_COUNT(slot_fields),
		.extra = &read_only,
		.extra_get = get_read_only,
	},
};

static const struct em_field fields[] = {
	{
		.key = "active_slot",
		.offset = 0,
		.len = 1,
		.type = EM_UINT,
		.bits = 3,
		.flags = EM_ZERO_ABSENT,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_firmware_active_slot",
		.label = "Active slot",
		.unit = "",
		.help = "Firmware slot that the running firmware was loaded from.",
		.ref = REF "byte 0 bits 2:0",
	},
	{
		.key = "next_reset_slot",
		.offset = 0,
		.len = 1,
		.type = EM_UINT,
		.shift = 4,
		.bits = 3,
		.flags = EM_ZERO_ABSENT,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_firmware_next_reset_slot",
		.label = "Slot after reset",
		.unit = "",
		.help = "Firmware slot that the next controller level reset will activate; absent "
			"when none is pending.",
		.ref = REF "byte 0 bits 6:4",
	},
};

const struct em_page em_page_firmware = {
	.key = "firmware",
	.title = "Firmware slots",
	.code = 0x03,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = 512,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "NVMe Base 2.0, Firmware Slot Information log page (03h)",
};
