/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Additional SMART of Memblaze drives, log page CAh, in its layouts 0, 2 and 3.
 *
 * A row has one meaning; its places tell which item holds it in which layout. Layout 3 has no
 * temperature and no power: log 02h has the temperature. Items that no row knows are shown as they
 * are.
 *
 * Source: the vendor's part of nvme-cli (plugins/memblaze). What that does not say is marked by
 * the row's trust.
 */
#include "lib/nvme/items.h"
#include "lib/nvme/tables.h"

#define REF "Memblaze log page CAh, "

/* Layouts, as bits. */
enum { L0 = 1 << 0, L2 = 1 << 2, L3 = 1 << 3 };
#define L02  (L0 | L2)
#define L023 (L0 | L2 | L3)

/* NAND and host bytes are counted in these units. */
#define UNIT_BYTES (32u << 20)

#define PLACES(...)                                                                                \
	(const struct em_place[])                                                                  \
	{                                                                                          \
		__VA_ARGS__,                                                                       \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define WHOLE(layouts, id)                                                                         \
	{                                                                                          \
		layouts, id, 0, 6                                                                  \
	}
#define PART(layouts, id, at, len)                                                                 \
	{                                                                                          \
		layouts, id, at, len                                                               \
	}
#define NORMALISED(layouts, id)                                                                    \
	{                                                                                          \
		layouts, id, EM_AT_NORMALISED, 1                                                   \
	}

/* clang-format off */
/* One level of macro: the commas of PLACES would split the arguments of a second. */
#define ROW(kind, name, width, title, of, where, says, ...)                                        \
	{                                                                                          \
		.type = (kind), .key = name, .len = (width), .places = where, .label = title,       \
		.unit = of, .help = says, .ref = REF "items by id", __VA_ARGS__                     \
	}
#define METRIC(kind, name) .metric = EM_METRIC_##kind, .metric_name = name
#define LABELLED(kind, name, which, value)                                                         \
	METRIC(kind, name), .metric_label = which, .metric_label_value = value
#define DERIVED	   .trust = EM_TRUST_DERIVED
#define UNVERIFIED .trust = EM_TRUST_UNVERIFIED
#define STATED	   .trust = EM_TRUST_STATED

/* Rows that share a metric share its help. */
#define ERASE_CYCLES  "Erase cycles of a block: of the least and the most erased one, and on average."
#define RECOVERIES    "Recoveries by the internal RAID, by their outcome."
#define CORRECTED     "Errors of the drive's own memory that were corrected."
#define NOT_CORRECTED "Errors of the drive's own memory that could not be corrected."

static const struct em_field fields[] = {
	{
		.key = "layout",
		.offset = EM_ITEMS_LAYOUT_AT,
		.len = 1,
		.type = EM_UINT,
		.flags = EM_NO_HISTORY,
		.label = "Layout",
		.unit = "",
		.help = "Which layout the page has. Of one that Ember does not know (0, 2 and 3 are "
			"known) no value is shown.",
		.ref = REF "byte 511",
	},

	/* The capacitor. */
	ROW(EM_UINT, "capacitor_health_percent", 1, "Capacitor health", "percent",
	    PLACES(NORMALISED(L0, 0xec), NORMALISED(L3, 0xde)),
	    "Health of the power-loss protection, 100 when new.", DERIVED),
	ROW(EM_UINT, "capacitor_raw", 6, "Capacitor, raw", "",
	    PLACES(WHOLE(L0, 0xec), WHOLE(L3, 0xde)), "The raw value of the same item.", UNVERIFIED,
	    .flags = EM_NO_HISTORY),
	ROW(EM_UINT, "capacitor_capacitance", 2, "Capacitance", "", PLACES(PART(L2, 0xec, 0, 2)),
	    "Capacitance now, in the unit of the nominal one.", STATED),
	ROW(EM_UINT, "capacitor_nominal_capacitance", 2, "Capacitance when new", "",
	    PLACES(PART(L2, 0xec, 2, 2)), "Nominal capacitance, in the drive's own unit.", STATED),
	ROW(EM_UINT, "capacitor_threshold_capacitance", 2, "Capacitance needed", "",
	    PLACES(PART(L2, 0xec, 4, 2)),
	    "At or below this capacitance data can be lost with the power.", STATED),

	/* Wear and work. */
	ROW(EM_UINT, "wear_leveling_percent", 1, "Wear left", "percent",
	    PLACES(NORMALISED(L023, 0xad)), "How much of the flash's endurance is left.", DERIVED),
	ROW(EM_UINT, "erase_cycles_min", 2, "Least erased block", "",
	    PLACES(PART(L023, 0xad, 0, 2)),
	    ERASE_CYCLES,
	    LABELLED(GAUGE, "ember_erase_cycles", "of", "min")),
	ROW(EM_UINT, "erase_cycles_max", 2, "Most erased block", "", PLACES(PART(L023, 0xad, 2, 2)),
	    ERASE_CYCLES,
	    LABELLED(GAUGE, "ember_erase_cycles", "of", "max")),
	ROW(EM_UINT, "erase_cycles_avg", 2, "Average of blocks", "", PLACES(PART(L023, 0xad, 4, 2)),
	    ERASE_CYCLES,
	    LABELLED(GAUGE, "ember_erase_cycles", "of", "avg")),
	ROW(EM_UINT, "nand_bytes_written", 6, "Flash written", "bytes", PLACES(WHOLE(L023, 0xf4)),
	    "Bytes written to the flash, the drive's own work included.",
	    METRIC(COUNTER, "ember_nand_written_bytes_total"), .scale = UNIT_BYTES),
	ROW(EM_UINT, "nand_bytes_read", 6, "Flash read", "bytes",
	    PLACES(WHOLE(L0, 0xfa), WHOLE(L2, 0xf8)), "Bytes read from the flash.",
	    METRIC(COUNTER, "ember_nand_read_bytes_total"), .scale = UNIT_BYTES, DERIVED),
	ROW(EM_UINT, "host_bytes_written", 6, "Host written", "bytes", PLACES(WHOLE(L023, 0xf5)),
	    "Bytes written by hosts, as this page counts them.", .scale = UNIT_BYTES),
	ROW(EM_UINT, "lifetime_write_amplification", 6, "Write amplification", "",
	    PLACES(WHOLE(L2, 0xf0)), "Lifetime write amplification, in a scale of the drive's own.",
	    UNVERIFIED),
	ROW(EM_UINT, "timed_workload_wear_millipercent", 6, "Timed workload wear", "millipercent",
	    PLACES(WHOLE(L02, 0xe2)), "Wear by the timed workload, in thousandths of a percent.",
	    STATED),
	ROW(EM_UINT, "timed_workload_host_reads_percent", 6, "Timed workload reads", "percent",
	    PLACES(WHOLE(L02, 0xe3)), "Share of reads in the timed workload.", STATED),
	ROW(EM_UINT, "timed_workload_minutes", 6, "Timed workload", "minutes",
	    PLACES(WHOLE(L02, 0xe4)), "How long the timed workload has been going on.", STATED),
	ROW(EM_UINT, "system_area_life_left", 6, "System area left", "", PLACES(WHOLE(L02, 0xf6)),
	    "Life that is left in the system area, in a unit of the drive's own.", UNVERIFIED),
	ROW(EM_UINT, "free_superblocks", 6, "Free superblocks", "", PLACES(WHOLE(L2, 0xed)),
	    "State of the free superblocks, as the drive tells it.", UNVERIFIED),
	ROW(EM_UINT, "garbage_collections", 6, "Garbage collections", "", PLACES(WHOLE(L3, 0xd4)),
	    "Garbage collections.", STATED),
	ROW(EM_UINT, "wear_leveling_runs", 6, "Wear levelling runs", "", PLACES(WHOLE(L3, 0xdb)),
	    "Times that wear was levelled.", STATED),
	ROW(EM_UINT, "block_paddings", 6, "Blocks padded", "", PLACES(WHOLE(L3, 0xe1)),
	    "Blocks that were padded.", STATED),
	ROW(EM_UINT, "host_trimmed_sectors", 6, "Trimmed", "", PLACES(WHOLE(L3, 0xe5)),
	    "Sectors that hosts deallocated.", STATED),
	ROW(EM_UINT, "host_zeroed_sectors", 6, "Zeroed", "", PLACES(WHOLE(L3, 0xe7)),
	    "Sectors that hosts had written with zeroes by one command.", STATED),

	/* Failures and corrections. */
	ROW(EM_UINT, "program_fails", 6, "Program failures", "", PLACES(WHOLE(L023, 0xab)),
	    "Writes to the flash that failed.", METRIC(COUNTER, "ember_program_fails_total")),
	ROW(EM_UINT, "erase_fails", 6, "Erase failures", "", PLACES(WHOLE(L023, 0xac)),
	    "Erasures of flash that failed.", METRIC(COUNTER, "ember_erase_fails_total")),
	ROW(EM_UINT, "read_fails", 6, "Read failures", "", PLACES(WHOLE(L0, 0xf2)),
	    "Reads of the flash that failed.", METRIC(COUNTER, "ember_read_fails_total")),
	ROW(EM_UINT, "flash_media_errors", 6, "Flash errors", "", PLACES(WHOLE(L0, 0xed)),
	    "Errors of the flash.", METRIC(COUNTER, "ember_flash_media_errors_total")),
	ROW(EM_UINT, "reallocated_sectors", 6, "Reallocated sectors", "", PLACES(WHOLE(L3, 0xd0)),
	    "Sectors that were moved to others.",
	    METRIC(COUNTER, "ember_reallocated_sectors_total")),
	ROW(EM_UINT, "uncorrectable_sectors", 6, "Uncorrectable sectors", "",
	    PLACES(WHOLE(L3, 0xd1)), "Sectors that could not be corrected.",
	    METRIC(COUNTER, "ember_uncorrectable_sectors_total")),
	ROW(EM_UINT, "nand_uncorrectable_detections", 6, "Uncorrectable by ECC", "",
	    PLACES(WHOLE(L3, 0xd2)), "Reads of the flash that its error correction could not mend.",
	    METRIC(COUNTER, "ember_nand_uncorrectable_detections_total")),
	ROW(EM_UINT, "nand_xor_corrections", 6, "Mended by XOR", "", PLACES(WHOLE(L3, 0xd3)),
	    "Reads that were mended from the other dies.",
	    METRIC(COUNTER, "ember_nand_xor_corrections_total")),
	ROW(EM_UINT, "die_failures", 6, "Dies failed", "", PLACES(WHOLE(L3, 0xda)),
	    "Dies that failed.", METRIC(COUNTER, "ember_die_failures_total")),
	ROW(EM_UINT, "raid_recovery_failures", 6, "RAID recoveries failed", "",
	    PLACES(WHOLE(L3, 0xd7)), "Recoveries by the internal RAID that failed.",
	    METRIC(COUNTER, "ember_raid_recovery_failures_total")),
	ROW(EM_UINT, "xor_recoveries", 6, "XOR recoveries", "", PLACES(WHOLE(L2, 0xfe)),
	    "Times that the internal RAID was called for.", STATED),
	ROW(EM_UINT, "xor_recoveries_passed", 6, "XOR recoveries, good", "",
	    PLACES(WHOLE(L2, 0xfc)), RECOVERIES,
	    LABELLED(COUNTER, "ember_xor_recoveries_total", "result", "passed")),
	ROW(EM_UINT, "xor_recoveries_failed", 6, "XOR recoveries, failed", "",
	    PLACES(WHOLE(L2, 0xfd)), RECOVERIES,
	    LABELLED(COUNTER, "ember_xor_recoveries_total", "result", "failed")),
	ROW(EM_UINT, "read_disturbs", 6, "Read disturbs", "", PLACES(WHOLE(L3, 0xdc)),
	    "Blocks that were moved since they had been read very often.",
	    METRIC(COUNTER, "ember_read_disturbs_total")),
	ROW(EM_UINT, "data_retentions", 6, "Data retentions", "", PLACES(WHOLE(L3, 0xdd)),
	    "Blocks that were moved since they were old.",
	    METRIC(COUNTER, "ember_data_retentions_total")),
	ROW(EM_UINT, "end_to_end_errors", 6, "End-to-end errors", "", PLACES(WHOLE(L02, 0xb8)),
	    "Errors found by the protection of data on their way through the drive.",
	    METRIC(COUNTER, "ember_end_to_end_errors_total")),
	ROW(EM_UINT, "external_end_to_end_errors_0", 2, "End-to-end, external 0", "",
	    PLACES(PART(L3, 0xdf, 0, 2)), "First counter of external end-to-end errors.",
	    UNVERIFIED),
	ROW(EM_UINT, "external_end_to_end_errors_1", 2, "End-to-end, external 1", "",
	    PLACES(PART(L3, 0xdf, 2, 2)), "Second counter of external end-to-end errors.",
	    UNVERIFIED),
	ROW(EM_UINT, "external_end_to_end_errors_2", 2, "End-to-end, external 2", "",
	    PLACES(PART(L3, 0xdf, 4, 2)), "Third counter of external end-to-end errors.",
	    UNVERIFIED),
	ROW(EM_UINT, "internal_end_to_end_errors_0", 2, "End-to-end, internal 0", "",
	    PLACES(PART(L3, 0xd9, 0, 2)), "First counter of internal end-to-end errors.",
	    UNVERIFIED),
	ROW(EM_UINT, "internal_end_to_end_errors_1", 2, "End-to-end, internal 1", "",
	    PLACES(PART(L3, 0xd9, 2, 2)), "Second counter of internal end-to-end errors.",
	    UNVERIFIED),
	ROW(EM_UINT, "internal_end_to_end_errors_2", 2, "End-to-end, internal 2", "",
	    PLACES(PART(L3, 0xd9, 4, 2)), "Third counter of internal end-to-end errors.",
	    UNVERIFIED),
	ROW(EM_UINT, "pcie_crc_errors", 6, "PCIe CRC errors", "", PLACES(WHOLE(L023, 0xc7)),
	    "Errors on the PCIe link.", METRIC(COUNTER, "ember_pcie_crc_errors_total")),
	ROW(EM_UINT, "pll_lock_losses", 6, "PLL lock losses", "", PLACES(WHOLE(L02, 0xf3)),
	    "Times that a clock lost its lock.", METRIC(COUNTER, "ember_pll_lock_losses_total")),
	ROW(EM_UINT, "retry_buffer_overflows", 6, "Retry buffer overflows", "",
	    PLACES(WHOLE(L0, 0xf0)), "Overflows of the retry buffer.",
	    METRIC(COUNTER, "ember_retry_buffer_overflows_total")),
	ROW(EM_UINT, "dram_correctable_errors", 6, "DRAM, corrected", "",
	    PLACES(WHOLE(L2, 0xfa), PART(L3, 0xf6, 0, 4)),
	    CORRECTED,
	    LABELLED(COUNTER, "ember_memory_correctable_errors_total", "memory", "dram")),
	ROW(EM_UINT, "sram_correctable_errors", 4, "SRAM, corrected", "",
	    PLACES(PART(L3, 0xf8, 0, 4)), CORRECTED,
	    LABELLED(COUNTER, "ember_memory_correctable_errors_total", "memory", "sram")),
	ROW(EM_UINT, "dram_uncorrectable_errors", 6, "DRAM, not corrected", "",
	    PLACES(WHOLE(L2, 0xfb), WHOLE(L3, 0xd5)),
	    NOT_CORRECTED,
	    LABELLED(COUNTER, "ember_memory_uncorrectable_errors_total", "memory", "dram")),
	ROW(EM_UINT, "sram_uncorrectable_errors", 6, "SRAM, not corrected", "",
	    PLACES(WHOLE(L3, 0xd6)), NOT_CORRECTED,
	    LABELLED(COUNTER, "ember_memory_uncorrectable_errors_total", "memory", "sram")),
	ROW(EM_UINT, "dram_correctable_address", 4, "DRAM, where", "", PLACES(PART(L3, 0xf7, 0, 4)),
	    "Where the DRAM was corrected last.", .flags = EM_NO_HISTORY),
	ROW(EM_UINT, "sram_correctable_address", 4, "SRAM, where", "", PLACES(PART(L3, 0xf9, 0, 4)),
	    "Where the SRAM was corrected last.", .flags = EM_NO_HISTORY),

	/* Heat and power. The drive tells kelvin; 0 is none. */
	ROW(EM_KELVIN, "temperature_lifetime_max_celsius", 2, "Hottest ever", "celsius",
	    PLACES(PART(L02, 0xe7, 0, 2)), "Highest temperature since the drive was made.", STATED),
	ROW(EM_KELVIN, "temperature_lifetime_min_celsius", 2, "Coldest ever", "celsius",
	    PLACES(PART(L02, 0xe7, 2, 2)), "Lowest temperature since the drive was made.", STATED),
	ROW(EM_KELVIN, "temperature_boot_max_celsius", 2, "Hottest since boot", "celsius",
	    PLACES(PART(L02, 0xaf, 0, 2)), "Highest temperature since the drive started.", STATED),
	ROW(EM_KELVIN, "temperature_boot_min_celsius", 2, "Coldest since boot", "celsius",
	    PLACES(PART(L02, 0xaf, 2, 2)), "Lowest temperature since the drive started.", STATED),
	ROW(EM_KELVIN, "temperature_celsius", 2, "Temperature", "celsius",
	    PLACES(PART(L02, 0xaf, 4, 2)), "Temperature now, as this page tells it.", .flags = EM_NO_HISTORY),
	ROW(EM_UINT, "power_watts", 2, "Power", "watts", PLACES(PART(L02, 0xe8, 4, 2)),
	    "Power that is drawn now.", METRIC(GAUGE, "ember_power_watts"), DERIVED),
	ROW(EM_UINT, "power_max_watts", 2, "Most power", "watts", PLACES(PART(L02, 0xe8, 0, 2)),
	    "Highest power that was drawn.", DERIVED),
	ROW(EM_UINT, "power_min_watts", 2, "Least power", "watts", PLACES(PART(L02, 0xe8, 2, 2)),
	    "Lowest power that was drawn.", DERIVED),
	ROW(EM_UINT, "thermal_throttle", 1, "Throttled for heat", "",
	    PLACES(PART(L023, 0xea, 0, 1)),
	    "How far the drive slows itself for its heat now; 0: not at all.",
	    METRIC(GAUGE, "ember_thermal_throttle")),
	ROW(EM_UINT, "thermal_throttle_events", 4, "Throttled, times", "",
	    PLACES(PART(L023, 0xea, 1, 4)), "Times that the drive slowed itself for its heat.",
	    METRIC(COUNTER, "ember_thermal_throttle_events_total")),
	ROW(EM_UINT, "thermal_throttle_time", 4, "Throttled, time", "",
	    PLACES(PART(L02, 0xeb, 1, 4)),
	    "How long it slowed itself in all, in a unit of the drive's own.", UNVERIFIED),
	ROW(EM_UINT, "write_throttle", 2, "Writes throttled", "", PLACES(PART(L3, 0xfa, 0, 2)),
	    "How far writes are slowed now; 0: not at all.", UNVERIFIED),
	ROW(EM_UINT, "write_throttle_total", 2, "Writes throttled, total", "",
	    PLACES(PART(L3, 0xfa, 2, 2)), "How much writes were slowed in all.", UNVERIFIED),

	/* Commands and firmware. */
	ROW(EM_UINT, "inflight_reads", 6, "Reads under way", "", PLACES(WHOLE(L2, 0xe5)),
	    "Read commands that are under way.", .flags = EM_NO_HISTORY),
	ROW(EM_UINT, "inflight_writes", 6, "Writes under way", "", PLACES(WHOLE(L2, 0xe6)),
	    "Write commands that are under way.", .flags = EM_NO_HISTORY),
	ROW(EM_UINT, "inflight_commands", 2, "Commands under way", "", PLACES(PART(L3, 0xd8, 0, 2)),
	    "I/O commands that are under way.", .flags = EM_NO_HISTORY),
	ROW(EM_UINT, "inflight_admin_commands", 2, "Admin commands", "",
	    PLACES(PART(L3, 0xd8, 4, 2)), "Admin commands that are under way.",
	    .flags = EM_NO_HISTORY, DERIVED),
	ROW(EM_UINT, "firmware_update_count", 6, "Firmware updates", "", PLACES(WHOLE(L2, 0xf9)),
	    "Firmware updates of this drive.", STATED),
	ROW(EM_UINT, "firmware_updates_without_reset", 2, "Updated without reset", "",
	    PLACES(PART(L3, 0xe9, 0, 2)), "Firmware updates that needed no reset.", STATED),
	ROW(EM_UINT, "firmware_updates_with_reset", 2, "Updated by reset", "",
	    PLACES(PART(L3, 0xe9, 2, 2)), "Firmware updates that came with a reset.", STATED),
	ROW(EM_UINT, "firmware_updates_failed", 2, "Updates failed", "",
	    PLACES(PART(L3, 0xe9, 4, 2)), "Firmware updates that failed.", STATED),
};
/* clang-format on */

static bool is_known(uint8_t layout, uint8_t id)
{
	for (unsigned i = 0; i < EM_COUNT(fields); i++) {
		const struct em_place *place = fields[i].places;

		for (; place && place->layouts; place++)
			if (place->id == id && place->layouts >> layout & 1)
				return true;
	}
	return false;
}

static bool get_unknown(const uint8_t *page, size_t len, unsigned index, uint8_t *entry)
{
	return em_items_get(page, len, index, entry) &&
	       !is_known(page[EM_ITEMS_LAYOUT_AT], entry[0]);
}

static const struct em_field unknown_fields[] = {
	{
		.key = "id",
		.offset = 0,
		.len = 1,
		.type = EM_HEX,
		.label = "Id",
		.unit = "",
		.help = "Identifier of the item, in hexadecimal.",
		.ref = REF "item",
	},
	{
		.key = "normalised",
		.offset = 1,
		.len = 1,
		.type = EM_UINT,
		.label = "Normalised",
		.unit = "",
		.help = "Its normalised value.",
		.ref = REF "item",
	},
	{
		.key = "raw",
		.offset = 2,
		.len = EM_ITEM_RAW_BYTES,
		.type = EM_UINT,
		.label = "Raw",
		.unit = "",
		.help = "Its raw value, as one number.",
		.ref = REF "item",
	},
};

static const struct em_group groups[] = {
	{
		.key = "unknown_items",
		.stride = EM_ITEM_BYTES,
		.count = EM_ITEMS_MAX,
		.entry = get_unknown,
		.fields = unknown_fields,
		.field_count = EM_COUNT(unknown_fields),
	},
};

const struct em_page em_page_memblaze = {
	.key = "memblaze",
	.title = "Memblaze",
	.table = "memblaze",
	.code = 0xca,
	.how = EM_BY_LOG,
	.flags = EM_ONES_NO_READING | EM_ZERO_NO_READING,
	.size = EM_ITEMS_BYTES,
	.fields = fields,
	.field_count = EM_COUNT(fields),
	.groups = groups,
	.group_count = EM_COUNT(groups),
	.ref = "Memblaze additional SMART, log page CAh",
};
