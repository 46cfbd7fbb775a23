/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands Supported and Effects, log page 05h.
 *
 * All ones: no reading. All zero: no reading (a controller supports at least the command that
 * reads this).
 */
#include <stdio.h>

#include "lib/nvme/tables.h"

#define REF "NVMe Base 2.0, Commands Supported and Effects log page (05h), "

#define COMMANDS     256u
#define ENTRY_SIZE   4u
#define ADMIN_OFFSET 0u
#define IO_OFFSET    1024u
#define SUPPORTED    0x01 /* in byte 0 of an entry */
#define ADMIN_VENDOR 0xc0
#define IO_VENDOR    0x80

static const struct em_name admin_commands[] = {
	{ 0x00, "delete_io_submission_queue" },
	{ 0x01, "create_io_submission_queue" },
	{ 0x02, "get_log_page" },
	{ 0x04, "delete_io_completion_queue" },
	{ 0x05, "create_io_completion_queue" },
	{ 0x06, "identify" },
	{ 0x08, "abort" },
	{ 0x09, "set_features" },
	{ 0x0a, "get_features" },
	{ 0x0c, "asynchronous_event_request" },
	{ 0x0d, "namespace_management" },
	{ 0x10, "firmware_commit" },
	{ 0x11, "firmware_image_download" },
	{ 0x14, "device_self_test" },
	{ 0x15, "namespace_attachment" },
	{ 0x18, "keep_alive" },
	{ 0x19, "directive_send" },
	{ 0x1a, "directive_receive" },
	{ 0x1c, "virtualization_management" },
	{ 0x1d, "nvme_mi_send" },
	{ 0x1e, "nvme_mi_receive" },
	{ 0x20, "capacity_management" },
	{ 0x24, "lockdown" },
	{ 0x7c, "doorbell_buffer_config" },
	{ 0x7f, "fabrics" },
	{ 0x80, "format_nvm" },
	{ 0x81, "security_send" },
	{ 0x82, "security_receive" },
	{ 0x84, "sanitize" },
	{ 0x86, "get_lba_status" },
	EM_NAMES_END,
};

static const struct em_name io_commands[] = {
	{ 0x00, "flush" },
	{ 0x01, "write" },
	{ 0x02, "read" },
	{ 0x04, "write_uncorrectable" },
	{ 0x05, "compare" },
	{ 0x08, "write_zeroes" },
	{ 0x09, "dataset_management" },
	{ 0x0c, "verify" },
	{ 0x0d, "reservation_register" },
	{ 0x0e, "reservation_report" },
	{ 0x11, "reservation_acquire" },
	{ 0x12, "io_management_receive" },
	{ 0x15, "reservation_release" },
	{ 0x19, "copy" },
	{ 0x1d, "io_management_send" },
	{ 0x79, "zone_management_send" },
	{ 0x7a, "zone_management_receive" },
	{ 0x7d, "zone_append" },
	EM_NAMES_END,
};

static const struct em_name submissions[] = {
	{ 0, "none" },
	{ 1, "same_namespace" },
	{ 2, "any_namespace" },
	EM_NAMES_END,
};

static const struct em_name scopes[] = {
	{ 0, "namespace" }, { 1, "controller" }, { 2, "nvm_set" }, { 3, "endurance_group" },
	{ 4, "domain" },    { 5, "subsystem" },	 EM_NAMES_END,
};

static void get_name(const struct em_name *name, unsigned opcode, unsigned vendor,
		     struct em_value *ret)
{
	*ret = (struct em_value){ .kind = EM_V_TEXT };
	while (name->name && name->value != opcode)
		name++;
	if (name->name)
		snprintf(ret->text, sizeof(ret->text), "%s", name->name);
	else if (opcode >= vendor)
		snprintf(ret->text, sizeof(ret->text), "vendor_%02x", opcode);
	else
		snprintf(ret->text, sizeof(ret->text), "reserved_%02x", opcode);
}

static void get_admin_name(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret)
{
	(void)ctx;
	get_name(admin_commands, index, ADMIN_VENDOR, ret);
}

static void get_io_name(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret)
{
	(void)ctx;
	get_name(io_commands, index, IO_VENDOR, ret);
}

static bool is_unsupported(const uint8_t *entry)
{
	return !(entry[0] & SUPPORTED);
}

static const struct em_field command_fields[] = {
	{
		.key = "changes_data",
		.offset = 0,
		.len = 4,
		.type = EM_BOOL,
		.shift = 1,
		.bits = 1,
		.label = "Data",
		.unit = "",
		.help = "The command may change what is stored in logical blocks.",
		.ref = REF "command entry bit 1 (LBCC)",
	},
	{
		.key = "changes_namespace_capability",
		.offset = 0,
		.len = 4,
		.type = EM_BOOL,
		.shift = 2,
		.bits = 1,
		.label = "Namespace",
		.unit = "",
		.help = "The command may change what a namespace can do.",
		.ref = REF "command entry bit 2 (NCC)",
	},
	{
		.key = "changes_namespace_inventory",
		.offset = 0,
		.len = 4,
		.type = EM_BOOL,
		.shift = 3,
		.bits = 1,
		.label = "Inventory",
		.unit = "",
		.help = "The command may change how many namespaces there are or what they can "
			"do.",
		.ref = REF "command entry bit 3 (NIC)",
	},
	{
		.key = "changes_controller_capability",
		.offset = 0,
		.len = 4,
		.type = EM_BOOL,
		.shift = 4,
		.bits = 1,
		.label = "Controller",
		.unit = "",
		.help = "The command may change what the controller can do.",
		.ref = REF "command entry bit 4 (CCC)",
	},
	{
		.key = "submission",
		.offset = 0,
		.len = 4,
		.type = EM_ENUM,
		.shift = 16,
		.bits = 3,
		.names = submissions,
		.label = "Holds up",
		.unit = "",
		.help = "Which other commands must wait while this one runs: none, those to the "
			"same namespace, or those to any namespace.",
		.ref = REF "command entry bits 18:16 (CSE)",
	},
	{
		.key = "uuid_selection",
		.offset = 0,
		.len = 4,
		.type = EM_BOOL,
		.shift = 19,
		.bits = 1,
		.since = EM_VER(1, 4),
		.label = "UUID",
		.unit = "",
		.help = "The command lets a vendor's definition be chosen by UUID.",
		.ref = REF "command entry bit 19 (USS)",
	},
	{
		.key = "scope",
		.offset = 0,
		.len = 4,
		.type = EM_BITS,
		.shift = 20,
		.bits = 12,
		.flags = EM_ZERO_ABSENT,
		.since = EM_VER(2, 0),
		.names = scopes,
		.label = "Scope",
		.unit = "",
		.help = "How far the command reaches; absent when not stated.",
		.ref = REF "command entry bits 31:20 (CSP)",
	},
};

static const struct em_field command_name = {
	.key = "name",
	.type = EM_TEXT,
	.flags = EM_DERIVED,
	.label = "Command",
	.unit = "",
	.help = "Name of the command; vendor_XX and reserved_XX where the specification has none.",
	.ref = "NVMe Base 2.0, Opcodes for Admin Commands and for I/O Commands",
};

static const struct em_group groups[] = {
	{
		.key = "admin_commands",
		.index_key = "opcode",
		.index_from_zero = true,
		.offset = ADMIN_OFFSET,
		.stride = ENTRY_SIZE,
		.count = COMMANDS,
		.unused = is_unsupported,
		.fields = command_fields,
		.field_count = EM_COUNT(command_fields),
		.extra = &command_name,
		.extra_get = get_admin_name,
	},
	{
		.key = "io_commands",
		.index_key = "opcode",
		.index_from_zero = true,
		.offset = IO_OFFSET,
		.stride = ENTRY_SIZE,
		.count = COMMANDS,
		.unused = is_unsupported,
		.fields = command_fields,
		.field_count = EM_COUNT(command_fields),
		.extra = &command_name,
		.extra_get = get_io_name,
	},
};

bool em_effects_has_admin(const uint8_t *data, size_t len, uint8_t opcode)
{
	size_t at = ADMIN_OFFSET + opcode * ENTRY_SIZE;

	return at + ENTRY_SIZE <= len && !is_unsupported(data + at);
}

const struct em_page em_page_effects = {
	.key = "effects",
	.title = "Commands and their effects",
	.code = 0x05,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = 4096,
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "NVMe Base 2.0, Commands Supported and Effects log page (05h)",
};
