/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reservation Notification, log page 80h: the oldest notification that was not read, which reading
 * takes away.
 *
 * All ones: no reading. All zero: a valid "none".
 */
#include "lib/nvme/tables.h"

#define REF "NVMe Base 2.0, Reservation Notification log page (80h), "

static const struct em_name types[] = {
	{ 1, "registration_preempted" },
	{ 2, "reservation_released" },
	{ 3, "reservation_preempted" },
	EM_NAMES_END,
};

static const struct em_field fields[] = {
	{
		.key = "notification_count",
		.offset = 0,
		.len = 8,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Number",
		.unit = "",
		.help = "Number of the notification, counted by the controller.",
		.ref = REF "bytes 7:0",
	},
	{
		.key = "type",
		.offset = 8,
		.len = 1,
		.type = EM_ENUM,
		.flags = EM_ZERO_ABSENT,
		.names = types,
		.label = "What happened",
		.unit = "",
		.help = "What happened to the reservation; absent when there is no notification.",
		.ref = REF "byte 8",
	},
	{
		.key = "more_notifications",
		.offset = 9,
		.len = 1,
		.type = EM_UINT,
		.label = "More",
		.unit = "",
		.help = "Notifications that wait behind this one.",
		.ref = REF "byte 9",
	},
	{
		.key = "nsid",
		.offset = 12,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Namespace",
		.unit = "",
		.help = "The namespace that it is about.",
		.ref = REF "bytes 15:12",
	},
};

const struct em_page em_page_reservation = {
	.key = "reservation",
	.title = "Reservation notification",
	.code = 0x80,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING,
	.size = 64,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.ref = "NVMe Base 2.0, Reservation Notification log page (80h)",
};
