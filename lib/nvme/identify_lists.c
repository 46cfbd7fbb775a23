/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smaller Identify structures: lists of namespaces (CNS 02h, 10h) and controllers (12h, 13h),
 * the identifiers of a namespace (03h), NVM sets (04h), granularity of namespaces (16h); and the
 * list of changed namespaces, log page 04h, which has the same form.
 *
 * All ones: no reading. All zero: a valid "none", but for identifiers.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/le.h"
#include "lib/nvme/tables.h"

#define STRUCTURE 4096u

/* ---- lists of namespaces ------------------------------------------------------------------ */

#define REF_NAMESPACES "NVMe Base 2.0, Namespace List, 4 bytes for each"

static bool is_no_namespace(const uint8_t *entry)
{
	return em_le32(entry) == 0;
}

static const struct em_field namespace_fields[] = {
	{
		.key = "nsid",
		.len = 4,
		.type = EM_UINT,
		.label = "Namespace",
		.unit = "",
		.help = "A namespace; in log page 04h FFFFFFFFh means that there were too many.",
		.ref = REF_NAMESPACES,
	},
};

static const struct em_group namespace_groups[] = {
	{
		.key = "namespaces",
		.stride = 4,
		.count = STRUCTURE / 4,
		.unused = is_no_namespace,
		.fields = namespace_fields,
		.field_count = EM_COUNT(namespace_fields),
	},
};

#define NAMESPACES(name, says, number, by)                                                         \
	{                                                                                          \
		.key = name, .title = says, .code = number, .how = by,                             \
		.flags = EM_ONES_NO_READING, .size = STRUCTURE, .groups = namespace_groups,        \
		.group_count = EM_COUNT(namespace_groups), .ref = REF_NAMESPACES,                  \
	}

const struct em_page em_page_active_namespaces =
	NAMESPACES("active_namespaces", "Attached namespaces", 0x02, EM_BY_IDENTIFY);
const struct em_page em_page_allocated_namespaces =
	NAMESPACES("allocated_namespaces", "Namespaces that exist", 0x10, EM_BY_IDENTIFY);
const struct em_page em_page_changed_namespaces =
	NAMESPACES("changed_namespaces", "Changed namespaces", 0x04, EM_BY_LOG);

/* ---- lists of controllers ----------------------------------------------------------------- */

#define REF_CONTROLLERS "NVMe Base 2.0, Controller List"

/* The list begins with how many there are. */
static bool get_controller(const uint8_t *page, size_t len, unsigned index, uint8_t *entry)
{
	if (len < 2 || index >= em_le16(page) || 2 * ((size_t)index + 2) > len)
		return false;
	memcpy(entry, page + 2 + 2 * (size_t)index, 2);
	return true;
}

static const struct em_field controller_fields[] = {
	{
		.key = "controller_id",
		.len = 2,
		.type = EM_UINT,
		.label = "Controller",
		.unit = "",
		.help = "Identifier of a controller in the subsystem.",
		.ref = REF_CONTROLLERS,
	},
};

static const struct em_group controller_groups[] = {
	{
		.key = "controllers",
		.stride = 2,
		.count = STRUCTURE / 2 - 1,
		.entry = get_controller,
		.fields = controller_fields,
		.field_count = EM_COUNT(controller_fields),
	},
};

#define CONTROLLERS(name, says, number)                                                            \
	{                                                                                          \
		.key = name, .title = says, .code = number, .how = EM_BY_IDENTIFY,                 \
		.flags = EM_ONES_NO_READING, .size = STRUCTURE, .groups = controller_groups,       \
		.group_count = EM_COUNT(controller_groups), .ref = REF_CONTROLLERS,                \
	}

const struct em_page em_page_attached_controllers =
	CONTROLLERS("attached_controllers", "Controllers that a namespace is attached to", 0x12);
const struct em_page em_page_controllers =
	CONTROLLERS("controllers", "Controllers of the subsystem", 0x13);

/* ---- identifiers of a namespace ----------------------------------------------------------- */

#define REF_IDENTIFIERS "NVMe Base 2.0, Namespace Identification Descriptor list (CNS 03h), type "

enum { TYPE_EUI64 = 1, TYPE_NGUID, TYPE_UUID, TYPE_COMMAND_SET };

/* The value of the first descriptor of that type and length; NULL: there is none. */
static const uint8_t *find_descriptor(const uint8_t *page, size_t len, uint8_t type, size_t size)
{
	size_t at = 0;

	while (at + 4 <= len && page[at] != 0 && page[at + 1] != 0) {
		size_t its = page[at + 1];

		if (page[at] == type && its == size && at + 4 + its <= len)
			return page + at + 4;
		at += 4 + its;
	}
	return NULL;
}

static bool hex_of(const uint8_t *page, size_t len, uint8_t type, size_t size,
		   char text[EM_VALUE_TEXT_SIZE])
{
	const uint8_t *value = find_descriptor(page, len, type, size);

	for (size_t i = 0; value && i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", value[i]);
	return value != NULL;
}

static bool eui64(const uint8_t *page, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	return hex_of(page, len, TYPE_EUI64, 8, text);
}

static bool nguid(const uint8_t *page, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	return hex_of(page, len, TYPE_NGUID, 16, text);
}

/* In the form that people write: 8-4-4-4-12 digits. */
static bool uuid(const uint8_t *page, size_t len, char text[EM_VALUE_TEXT_SIZE])
{
	const uint8_t *v = find_descriptor(page, len, TYPE_UUID, 16);

	if (!v)
		return false;
	snprintf(text, EM_VALUE_TEXT_SIZE,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", v[0], v[1],
		 v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14],
		 v[15]);
	return true;
}

static bool command_set(const uint8_t *page, size_t len, em_u128 *ret)
{
	const uint8_t *value = find_descriptor(page, len, TYPE_COMMAND_SET, 1);

	if (value)
		*ret = *value;
	return value != NULL;
}

#define IDENTIFIER(name, get, width, title, says, kind)                                            \
	{                                                                                          \
		.key = name, .len = width, .type = EM_TEXT, .derive_text = get, .label = title,    \
		.unit = "", .help = says, .ref = REF_IDENTIFIERS kind,                             \
	}

static const struct em_field identifier_fields[] = {
	IDENTIFIER("eui64", eui64, 8, "EUI-64", "IEEE extended unique identifier.", "1"),
	IDENTIFIER("nguid", nguid, 16, "NGUID", "Globally unique identifier.", "2"),
	IDENTIFIER("uuid", uuid, 16, "UUID", "Universally unique identifier.", "3"),
	{
		.key = "command_set",
		.len = 1,
		.type = EM_UINT,
		.derive = command_set,
		.label = "Command set",
		.unit = "",
		.help = "Identifier of the command set: 0 is NVM.",
		.ref = REF_IDENTIFIERS "4",
	},
};

const struct em_page em_page_namespace_identifiers = {
	.key = "namespace_identifiers",
	.title = "Identifiers of a namespace",
	.code = 0x03,
	.how = EM_BY_IDENTIFY,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = STRUCTURE,
	.fields = identifier_fields,
	.field_count = EM_COUNT(identifier_fields),
	.ref = "NVMe Base 2.0, Namespace Identification Descriptor list (CNS 03h)",
};

/* ---- NVM sets ----------------------------------------------------------------------------- */

#define REF_SETS "NVMe Base 2.0, NVM Set List (CNS 04h), "

static bool is_no_set(const uint8_t *entry)
{
	return em_le16(entry) == 0;
}

#define SET(name, at, width, title, of, says)                                                      \
	{                                                                                          \
		.key = name, .offset = (at), .len = width, .type = EM_UINT, .label = title,        \
		.unit = of, .help = says, .ref = REF_SETS "entry bytes at " #at,                   \
	}

static const struct em_field set_fields[] = {
	SET("nvm_set_id", 0, 2, "Set", "", "Identifier of the NVM set."),
	SET("endurance_group_id", 2, 2, "Endurance group", "", "The endurance group it is in."),
	{
		.key = "random_read_typical_ns",
		.offset = 8,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.scale = 100,
		.label = "Typical read",
		.unit = "nanoseconds",
		.help = "Typical time of a random read of 4 KiB; absent when not stated.",
		.ref = REF_SETS "entry bytes at 8",
	},
	SET("optimal_write_bytes", 12, 4, "Write size", "bytes", "Size of a write that suits it."),
	SET("total_bytes", 16, 16, "Capacity", "bytes", "Capacity of the set."),
	SET("unallocated_bytes", 32, 16, "Free", "bytes", "Capacity that no namespace has."),
};

static const struct em_group set_groups[] = {
	{
		.key = "nvm_sets",
		.offset = 128,
		.stride = 128,
		.count = 31,
		.unused = is_no_set,
		.fields = set_fields,
		.field_count = EM_COUNT(set_fields),
	},
};

const struct em_page em_page_nvm_sets = {
	.key = "nvm_sets",
	.title = "NVM sets",
	.code = 0x04,
	.how = EM_BY_IDENTIFY,
	.flags = EM_ONES_NO_READING,
	.size = STRUCTURE,
	.groups = set_groups,
	.group_count = EM_COUNT(set_groups),
	.ref = "NVMe Base 2.0, NVM Set List (CNS 04h)",
};

/* ---- granularity -------------------------------------------------------------------------- */

#define REF_GRANULARITY "NVMe NVM Command Set 1.0, Namespace Granularity List (CNS 16h), "

#define GRANULARITY_AT	 32u
#define GRANULARITY_SIZE 16u

static bool get_granularity(const uint8_t *page, size_t len, unsigned index, uint8_t *entry)
{
	size_t at = GRANULARITY_AT + (size_t)index * GRANULARITY_SIZE;

	if (at + GRANULARITY_SIZE > len || index > (page[4] & 0x0f))
		return false;
	memcpy(entry, page + at, GRANULARITY_SIZE);
	return true;
}

static const struct em_field granularity_fields[] = {
	{
		.key = "size_bytes",
		.offset = 0,
		.len = 8,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Size",
		.unit = "bytes",
		.help = "Sizes of namespaces that waste nothing are multiples of this.",
		.ref = REF_GRANULARITY "entry bytes 7:0",
	},
	{
		.key = "capacity_bytes",
		.offset = 8,
		.len = 8,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Capacity",
		.unit = "bytes",
		.help = "Capacities of namespaces that waste nothing are multiples of this.",
		.ref = REF_GRANULARITY "entry bytes 15:8",
	},
};

static const struct em_group granularity_groups[] = {
	{
		.key = "granularities",
		.index_key = "lba_format",
		.index_from_zero = true,
		.stride = GRANULARITY_SIZE,
		.count = 16,
		.entry = get_granularity,
		.fields = granularity_fields,
		.field_count = EM_COUNT(granularity_fields),
	},
};

static const struct em_field granularity_page_fields[] = {
	{
		.key = "for_each_lba_format",
		.offset = 0,
		.len = 4,
		.type = EM_BOOL,
		.bits = 1,
		.label = "For each format",
		.unit = "",
		.help = "The entries belong to LBA formats, one by one; else the first is for all.",
		.ref = REF_GRANULARITY "bytes 3:0 bit 0",
	},
};

const struct em_page em_page_granularity = {
	.key = "granularity",
	.title = "Granularity of namespaces",
	.code = 0x16,
	.how = EM_BY_IDENTIFY,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = STRUCTURE,
	.fields = granularity_page_fields,
	.field_count = EM_COUNT(granularity_page_fields),
	.groups = granularity_groups,
	.group_count = EM_COUNT(granularity_groups),
	.ref = "NVMe NVM Command Set 1.0, Namespace Granularity List (CNS 16h)",
};
