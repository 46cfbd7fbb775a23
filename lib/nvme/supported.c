/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a controller of NVMe 2.0 says that it supports: log pages (log page 00h) and features (log
 * page 12h), four bytes for each identifier.
 *
 * All ones or all zero: no reading (the page itself would be among them).
 */
#include "lib/nvme/tables.h"

#define REF_LOGS     "NVMe Base 2.0, Supported Log Pages log page (00h), "
#define REF_FEATURES "NVMe Base 2.0, Feature Identifiers Supported and Effects log page (12h), "

#define IDENTIFIERS 256u
#define ENTRY_SIZE  4u
#define SUPPORTED   0x01

static const struct em_name scopes[] = {
	{ 0, "namespace" }, { 1, "controller" }, { 2, "nvm_set" }, { 3, "endurance_group" },
	{ 4, "domain" },    { 5, "subsystem" },	 EM_NAMES_END,
};

static bool is_unsupported(const uint8_t *entry)
{
	return !(entry[0] & SUPPORTED);
}

#define BIT(name, bit, title, says, from)                                                          \
	{                                                                                          \
		.key = name, .offset = 0, .len = ENTRY_SIZE, .type = EM_BOOL, .shift = (bit),      \
		.bits = 1, .label = title, .unit = "", .help = says, .ref = from "bit " #bit,      \
	}

static const struct em_field log_fields[] = {
	BIT("index_offset", 1, "By index", "The page can be read from an index on.", REF_LOGS),
	{
		.key = "specific",
		.offset = 0,
		.len = ENTRY_SIZE,
		.type = EM_UINT,
		.shift = 16,
		.bits = 16,
		.label = "Specific",
		.unit = "",
		.help = "What the page itself defines here.",
		.ref = REF_LOGS "bits 31:16",
	},
};

static const struct em_field feature_fields[] = {
	BIT("changes_data", 1, "Data", "Setting it may change what is stored.", REF_FEATURES),
	BIT("changes_namespace_capability", 2, "Namespace",
	    "Setting it may change what a namespace can do.", REF_FEATURES),
	BIT("changes_namespace_inventory", 3, "Inventory",
	    "Setting it may change how many namespaces there are.", REF_FEATURES),
	BIT("changes_controller_capability", 4, "Controller",
	    "Setting it may change what the controller can do.", REF_FEATURES),
	BIT("uuid_selection", 19, "UUID", "A vendor's definition can be chosen by UUID.",
	    REF_FEATURES),
	{
		.key = "scope",
		.offset = 0,
		.len = ENTRY_SIZE,
		.type = EM_BITS,
		.shift = 20,
		.bits = 12,
		.flags = EM_ZERO_ABSENT,
		.names = scopes,
		.label = "Scope",
		.unit = "",
		.help = "How far it reaches; absent when not stated.",
		.ref = REF_FEATURES "bits 31:20",
	},
};

static const struct em_group log_groups[] = {
	{
		.key = "log_pages",
		.index_key = "log_page",
		.index_from_zero = true,
		.stride = ENTRY_SIZE,
		.count = IDENTIFIERS,
		.unused = is_unsupported,
		.fields = log_fields,
		.field_count = EM_COUNT(log_fields),
	},
};

static const struct em_group feature_groups[] = {
	{
		.key = "features",
		.index_key = "feature",
		.index_from_zero = true,
		.stride = ENTRY_SIZE,
		.count = IDENTIFIERS,
		.unused = is_unsupported,
		.fields = feature_fields,
		.field_count = EM_COUNT(feature_fields),
	},
};

const struct em_page em_page_supported_logs = {
	.key = "supported_logs",
	.title = "Supported log pages",
	.code = 0x00,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = IDENTIFIERS * ENTRY_SIZE,
	.groups = log_groups,
	.group_count = EM_COUNT(log_groups),
	.ref = "NVMe Base 2.0, Supported Log Pages log page (00h)",
};

const struct em_page em_page_feature_effects = {
	.key = "feature_effects",
	.title = "Features and their effects",
	.code = 0x12,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = IDENTIFIERS * ENTRY_SIZE,
	.groups = feature_groups,
	.group_count = EM_COUNT(feature_groups),
	.ref = "NVMe Base 2.0, Feature Identifiers Supported and Effects log page (12h)",
};
