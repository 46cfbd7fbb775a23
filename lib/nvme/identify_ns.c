/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identify Namespace of the NVM command set, CNS 00h.
 *
 * All ones: no reading. All zero: no reading (the specification's answer for an inactive
 * namespace).
 */
#include "lib/base/le.h"
#include "lib/nvme/tables.h"

#define REF "NVMe NVM Command Set 1.0, Identify Namespace data structure, "

#define FORMATS_OFFSET	128
#define FORMAT_SIZE	4
#define FORMATS_MAX	64
#define FORMAT_COUNT_AT 25 /* 0-based */
#define FORMAT_INDEX_AT 26
#define FORMATS_LOW	16 /* up to so many, bits 6:5 of the index do not count */
#define BLOCK_SHIFT_MIN 9  /* smaller blocks do not exist; 0 marks a format that is not there */
#define BLOCK_SHIFT_MAX 31

static const struct em_name feature_bits[] = {
	{ 0, "thin_provisioning" },
	{ 1, "namespace_atomic_writes" },
	{ 2, "deallocated_block_error" },
	{ 3, "ids_never_reused" },
	{ 4, "optimal_io" },
	EM_NAMES_END,
};

static const struct em_name metadata_bits[] = {
	{ 0, "extended_block" },
	{ 1, "separate_buffer" },
	EM_NAMES_END,
};

static const struct em_name protection_bits[] = {
	{ 0, "type_1" },      { 1, "type_2" },	   { 2, "type_3" },
	{ 3, "first_bytes" }, { 4, "last_bytes" }, EM_NAMES_END,
};

static const struct em_name protection_types[] = {
	{ 0, "none" }, { 1, "type_1" }, { 2, "type_2" }, { 3, "type_3" }, EM_NAMES_END,
};

static const struct em_name reservation_bits[] = {
	{ 0, "persist_through_power_loss" },
	{ 1, "write_exclusive" },
	{ 2, "exclusive_access" },
	{ 3, "write_exclusive_registrants" },
	{ 4, "exclusive_access_registrants" },
	{ 5, "write_exclusive_all_registrants" },
	{ 6, "exclusive_access_all_registrants" },
	{ 7, "ignore_existing_key" },
	EM_NAMES_END,
};

static const struct em_name deallocated_values[] = {
	{ 0, "not_reported" },
	{ 1, "zeros" },
	{ 2, "ones" },
	EM_NAMES_END,
};

static const struct em_name performance_values[] = {
	{ 0, "best" }, { 1, "better" }, { 2, "good" }, { 3, "degraded" }, EM_NAMES_END,
};

static unsigned format_index(const uint8_t *page)
{
	unsigned index = page[FORMAT_INDEX_AT] & 0x0f;

	if (page[FORMAT_COUNT_AT] + 1 > FORMATS_LOW)
		index |= (page[FORMAT_INDEX_AT] >> 5 & 3u) << 4;
	return index;
}

/* The format that the namespace has; NULL when the page is too short for it. */
static const uint8_t *current_format(const uint8_t *page, size_t len)
{
	if (len < FORMATS_OFFSET + FORMATS_MAX * FORMAT_SIZE)
		return NULL;
	return page + FORMATS_OFFSET + format_index(page) * FORMAT_SIZE;
}

/* Data size of a format in bytes; false when it is none that can be. */
static bool format_block_size(const uint8_t *format, size_t len, em_u128 *ret)
{
	if (len < FORMAT_SIZE || format[2] < BLOCK_SHIFT_MIN || format[2] > BLOCK_SHIFT_MAX)
		return false;
	*ret = (em_u128)1 << format[2];
	return true;
}

static bool block_size(const uint8_t *page, size_t len, em_u128 *ret)
{
	const uint8_t *format = current_format(page, len);

	return format && format_block_size(format, FORMAT_SIZE, ret);
}

static bool metadata_size(const uint8_t *page, size_t len, em_u128 *ret)
{
	const uint8_t *format = current_format(page, len);

	if (!format)
		return false;
	*ret = em_le16(format);
	return true;
}

static bool lba_format(const uint8_t *page, size_t len, em_u128 *ret)
{
	if (len <= FORMAT_INDEX_AT)
		return false;
	*ret = format_index(page);
	return true;
}

/* A count of blocks at offset, in bytes. */
static bool blocks_to_bytes(const uint8_t *page, size_t len, unsigned offset, em_u128 *ret)
{
	em_u128 size;

	if (!block_size(page, len, &size))
		return false;
	*ret = em_le64(page + offset) * size;
	return true;
}

static bool size_bytes(const uint8_t *page, size_t len, em_u128 *ret)
{
	return blocks_to_bytes(page, len, 0, ret);
}

static bool capacity_bytes(const uint8_t *page, size_t len, em_u128 *ret)
{
	return blocks_to_bytes(page, len, 8, ret);
}

static bool utilization_bytes(const uint8_t *page, size_t len, em_u128 *ret)
{
	return blocks_to_bytes(page, len, 16, ret);
}

static bool is_unused_format(const uint8_t *format)
{
	return format[2] == 0;
}

static void get_format_number(const struct em_nvme_ctx *ctx, unsigned index, struct em_value *ret)
{
	(void)ctx;
	*ret = (struct em_value){ .kind = EM_V_UINT, .number = index };
}

static const struct em_field format_number = {
	.key = "lba_format",
	.type = EM_UINT,
	.len = 1,
	.flags = EM_DERIVED,
	.label = "Format",
	.unit = "",
	.help = "Number of the block format.",
	.ref = REF "bytes 383:128",
};

static const struct em_field format_fields[] = {
	{
		.key = "metadata_bytes",
		.offset = 0,
		.len = 2,
		.type = EM_UINT,
		.label = "Metadata size",
		.unit = "bytes",
		.help = "Bytes of metadata beside each block.",
		.ref = REF "block format bytes 1:0",
	},
	{
		.key = "block_size_bytes",
		.offset = 0,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = format_block_size,
		.label = "Block size",
		.unit = "bytes",
		.help = "Bytes of data in a block.",
		.ref = REF "block format byte 2",
	},
	{
		.key = "relative_performance",
		.offset = 3,
		.len = 1,
		.type = EM_ENUM,
		.bits = 2,
		.names = performance_values,
		.label = "Performance",
		.unit = "",
		.help = "Performance compared with the other formats of the namespace.",
		.ref = REF "block format byte 3 bits 1:0",
	},
};

static const struct em_group groups[] = {
	{
		.key = "lba_formats",
		.offset = FORMATS_OFFSET,
		.stride = FORMAT_SIZE,
		.count = FORMATS_MAX,
		.unused = is_unused_format,
		.fields = format_fields,
		.field_count = EM_COUNT(format_fields),
		.extra = &format_number,
		.extra_get = get_format_number,
	},
};

static const struct em_field fields[] = {
	{
		.key = "size_blocks",
		.offset = 0,
		.len = 8,
		.type = EM_UINT,
		.label = "Size",
		.unit = "blocks",
		.help = "Size of the namespace in logical blocks.",
		.ref = REF "bytes 7:0",
	},
	{
		.key = "capacity_blocks",
		.offset = 8,
		.len = 8,
		.type = EM_UINT,
		.label = "Capacity",
		.unit = "blocks",
		.help = "Blocks that may be allocated at a time.",
		.ref = REF "bytes 15:8",
	},
	{
		.key = "utilization_blocks",
		.offset = 16,
		.len = 8,
		.type = EM_UINT,
		.label = "In use",
		.unit = "blocks",
		.help = "Blocks that are allocated now.",
		.ref = REF "bytes 23:16",
	},
	{
		.key = "size_bytes",
		.offset = 0,
		.len = 16,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = size_bytes,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_namespace_size_bytes",
		.label = "Size",
		.unit = "bytes",
		.help = "Size of the namespace in bytes.",
		.ref = REF "bytes 7:0 and 26, block format",
	},
	{
		.key = "capacity_bytes",
		.offset = 8,
		.len = 16,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = capacity_bytes,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_namespace_capacity_bytes",
		.label = "Capacity",
		.unit = "bytes",
		.help = "Bytes that may be allocated at a time.",
		.ref = REF "bytes 15:8 and 26, block format",
	},
	{
		.key = "utilization_bytes",
		.offset = 16,
		.len = 16,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = utilization_bytes,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_namespace_utilization_bytes",
		.label = "In use",
		.unit = "bytes",
		.help = "Bytes that are allocated now.",
		.ref = REF "bytes 23:16 and 26, block format",
	},
	{
		.key = "features",
		.offset = 24,
		.len = 1,
		.type = EM_BITS,
		.names = feature_bits,
		.label = "Features",
		.unit = "",
		.help = "Optional abilities of the namespace.",
		.ref = REF "byte 24",
	},
	{
		.key = "lba_format_count",
		.offset = 25,
		.len = 1,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.label = "Block formats",
		.unit = "",
		.help = "Block formats that the namespace supports, without those that need "
			"unique attributes.",
		.ref = REF "byte 25",
	},
	{
		.key = "lba_format",
		.offset = 26,
		.len = 1,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = lba_format,
		.label = "Block format",
		.unit = "",
		.help = "Number of the block format that the namespace has.",
		.ref = REF "byte 26 bits 6:5 and 3:0",
	},
	{
		.key = "metadata_extended",
		.offset = 26,
		.len = 1,
		.type = EM_BOOL,
		.shift = 4,
		.bits = 1,
		.label = "Metadata in block",
		.unit = "",
		.help = "Metadata travels at the end of each block and not in a buffer of its own.",
		.ref = REF "byte 26 bit 4",
	},
	{
		.key = "block_size_bytes",
		.offset = 26,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = block_size,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_namespace_block_size_bytes",
		.label = "Block size",
		.unit = "bytes",
		.help = "Bytes of data in a logical block.",
		.ref = REF "byte 26, block format",
	},
	{
		.key = "metadata_bytes",
		.offset = 26,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_DERIVED,
		.derive = metadata_size,
		.label = "Metadata size",
		.unit = "bytes",
		.help = "Bytes of metadata beside each logical block.",
		.ref = REF "byte 26, block format",
	},
	{
		.key = "metadata_capabilities",
		.offset = 27,
		.len = 1,
		.type = EM_BITS,
		.names = metadata_bits,
		.label = "Metadata",
		.unit = "",
		.help = "Ways in which metadata can travel.",
		.ref = REF "byte 27",
	},
	{
		.key = "protection_capabilities",
		.offset = 28,
		.len = 1,
		.type = EM_BITS,
		.names = protection_bits,
		.label = "Protection types",
		.unit = "",
		.help = "Kinds of end-to-end protection that the namespace supports.",
		.ref = REF "byte 28",
	},
	{
		.key = "protection_type",
		.offset = 29,
		.len = 1,
		.type = EM_ENUM,
		.bits = 3,
		.names = protection_types,
		.label = "Protection",
		.unit = "",
		.help = "End-to-end protection that is on.",
		.ref = REF "byte 29 bits 2:0",
	},
	{
		.key = "protection_first",
		.offset = 29,
		.len = 1,
		.type = EM_BOOL,
		.shift = 3,
		.bits = 1,
		.label = "Protection first",
		.unit = "",
		.help = "Protection information stands in the first bytes of the metadata.",
		.ref = REF "byte 29 bit 3",
	},
	{
		.key = "shared",
		.offset = 30,
		.len = 1,
		.type = EM_BOOL,
		.bits = 1,
		.label = "Shared",
		.unit = "",
		.help = "The namespace may be attached to several controllers at a time.",
		.ref = REF "byte 30 bit 0",
	},
	{
		.key = "reservation_capabilities",
		.offset = 31,
		.len = 1,
		.type = EM_BITS,
		.names = reservation_bits,
		.label = "Reservations",
		.unit = "",
		.help = "Kinds of reservation that the namespace supports.",
		.ref = REF "byte 31",
	},
	{
		.key = "format_remaining_percent",
		.offset = 32,
		.len = 1,
		.type = EM_UINT,
		.bits = 7,
		.gate_offset = 32,
		.gate_mask = 0x80,
		.label = "Format left",
		.unit = "percent",
		.help = "How much of a running format is left; absent when the drive does not say.",
		.ref = REF "byte 32 bits 6:0",
	},
	{
		.key = "deallocated_read",
		.offset = 33,
		.len = 1,
		.type = EM_ENUM,
		.bits = 3,
		.names = deallocated_values,
		.label = "Deallocated blocks read",
		.unit = "",
		.help = "What a deallocated block reads as.",
		.ref = REF "byte 33 bits 2:0",
	},
	{
		.key = "deallocate_write_zeroes",
		.offset = 33,
		.len = 1,
		.type = EM_BOOL,
		.shift = 3,
		.bits = 1,
		.label = "Write Zeroes deallocates",
		.unit = "",
		.help = "Write Zeroes can deallocate blocks.",
		.ref = REF "byte 33 bit 3",
	},
	{
		.key = "deallocated_guard_crc",
		.offset = 33,
		.len = 1,
		.type = EM_BOOL,
		.shift = 4,
		.bits = 1,
		.label = "Deallocated guard",
		.unit = "",
		.help = "A deallocated block has a guard that fits its data.",
		.ref = REF "byte 33 bit 4",
	},
	{
		.key = "atomic_write_blocks",
		.offset = 34,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x02,
		.label = "Atomic write",
		.unit = "blocks",
		.help = "Blocks written atomically in normal operation.",
		.ref = REF "bytes 35:34",
	},
	{
		.key = "atomic_write_power_fail_blocks",
		.offset = 36,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x02,
		.label = "Atomic write, power fail",
		.unit = "blocks",
		.help = "Blocks written atomically also when power fails.",
		.ref = REF "bytes 37:36",
	},
	{
		.key = "atomic_compare_write_blocks",
		.offset = 38,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x02,
		.label = "Atomic compare and write",
		.unit = "blocks",
		.help = "Blocks that a fused compare and write handles atomically.",
		.ref = REF "bytes 39:38",
	},
	{
		.key = "atomic_boundary_blocks",
		.offset = 40,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT | EM_RAISE_ONE,
		.label = "Atomic boundary",
		.unit = "blocks",
		.help = "Writes across a multiple of this are not atomic; absent without such a "
			"boundary.",
		.ref = REF "bytes 41:40",
	},
	{
		.key = "atomic_boundary_offset_blocks",
		.offset = 42,
		.len = 2,
		.type = EM_UINT,
		.label = "Atomic boundary offset",
		.unit = "blocks",
		.help = "Block at which the first atomic boundary lies.",
		.ref = REF "bytes 43:42",
	},
	{
		.key = "atomic_boundary_power_fail_blocks",
		.offset = 44,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT | EM_RAISE_ONE,
		.label = "Atomic boundary, power fail",
		.unit = "blocks",
		.help = "As the atomic boundary, for power failures; absent without one.",
		.ref = REF "bytes 45:44",
	},
	{
		.key = "optimal_io_boundary_blocks",
		.offset = 46,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Optimal I/O boundary",
		.unit = "blocks",
		.help = "I/O across a multiple of this is slower; absent when not stated.",
		.ref = REF "bytes 47:46",
	},
	{
		.key = "nvm_capacity_bytes",
		.offset = 48,
		.len = 16,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Media capacity",
		.unit = "bytes",
		.help = "Media that the namespace takes up; absent when the drive does not say.",
		.ref = REF "bytes 63:48",
	},
	{
		.key = "preferred_write_granularity_blocks",
		.offset = 64,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x10,
		.label = "Write granularity",
		.unit = "blocks",
		.help = "Writes in multiples of this are fastest.",
		.ref = REF "bytes 65:64",
	},
	{
		.key = "preferred_write_alignment_blocks",
		.offset = 66,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x10,
		.label = "Write alignment",
		.unit = "blocks",
		.help = "Writes aligned to this are fastest.",
		.ref = REF "bytes 67:66",
	},
	{
		.key = "preferred_deallocate_granularity_blocks",
		.offset = 68,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x10,
		.label = "Deallocate granularity",
		.unit = "blocks",
		.help = "Deallocation in multiples of this works best.",
		.ref = REF "bytes 69:68",
	},
	{
		.key = "preferred_deallocate_alignment_blocks",
		.offset = 70,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x10,
		.label = "Deallocate alignment",
		.unit = "blocks",
		.help = "Deallocation aligned to this works best.",
		.ref = REF "bytes 71:70",
	},
	{
		.key = "optimal_write_size_blocks",
		.offset = 72,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.gate_offset = 24,
		.gate_mask = 0x10,
		.label = "Optimal write size",
		.unit = "blocks",
		.help = "Size of a write for the best performance.",
		.ref = REF "bytes 73:72",
	},
	{
		.key = "copy_range_max_blocks",
		.offset = 74,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Copy range",
		.unit = "blocks",
		.help = "Longest single range of a Copy command; absent when not stated.",
		.ref = REF "bytes 75:74",
	},
	{
		.key = "copy_max_blocks",
		.offset = 76,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Copy length",
		.unit = "blocks",
		.help = "Most blocks of one Copy command; absent when not stated.",
		.ref = REF "bytes 79:76",
	},
	{
		.key = "copy_source_ranges_max",
		.offset = 80,
		.len = 1,
		.type = EM_UINT,
		.flags = EM_RAISE_ONE,
		.label = "Copy ranges",
		.unit = "",
		.help = "Source ranges of one Copy command.",
		.ref = REF "byte 80",
	},
	{
		.key = "unique_lba_format_count",
		.offset = 82,
		.len = 1,
		.type = EM_UINT,
		.label = "Unique block formats",
		.unit = "",
		.help = "Block formats that need unique attributes.",
		.ref = REF "byte 82",
	},
	{
		.key = "ana_group_id",
		.offset = 92,
		.len = 4,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "ANA group",
		.unit = "",
		.help = "ANA group that the namespace is in; absent when in none.",
		.ref = REF "bytes 95:92",
	},
	{
		.key = "write_protected",
		.offset = 99,
		.len = 1,
		.type = EM_BOOL,
		.bits = 1,
		.metric = EM_METRIC_GAUGE,
		.metric_name = "ember_namespace_write_protected",
		.label = "Write-protected",
		.unit = "",
		.help = "The namespace is write-protected now.",
		.ref = REF "byte 99 bit 0",
	},
	{
		.key = "nvm_set_id",
		.offset = 100,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "NVM set",
		.unit = "",
		.help = "NVM set that the namespace is in; absent when in none.",
		.ref = REF "bytes 101:100",
	},
	{
		.key = "endurance_group_id",
		.offset = 102,
		.len = 2,
		.type = EM_UINT,
		.flags = EM_ZERO_ABSENT,
		.label = "Endurance group",
		.unit = "",
		.help = "Endurance group that the namespace is in; absent when in none.",
		.ref = REF "bytes 103:102",
	},
	{
		.key = "nguid",
		.offset = 104,
		.len = 16,
		.type = EM_HEX,
		.label = "NGUID",
		.unit = "",
		.help = "Globally unique identifier of the namespace.",
		.ref = REF "bytes 119:104",
	},
	{
		.key = "eui64",
		.offset = 120,
		.len = 8,
		.type = EM_HEX,
		.label = "EUI-64",
		.unit = "",
		.help = "IEEE extended unique identifier of the namespace.",
		.ref = REF "bytes 127:120",
	},
};

const struct em_page em_page_identify_ns = {
	.key = "namespace",
	.title = "Identify namespace",
	.code = 0x00,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = 4096,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "NVMe NVM Command Set 1.0, Identify Namespace data structure (CNS 00h)",
};
