/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <nvme/types.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/nvme/page.h"
#include "tests/unit/runner.h"

/* Where libnvme, written by others, puts what our rows name: a second opinion on every offset. */
struct place {
	const char *key;
	size_t offset, size;
};

#define PLACE(type, member, row)                                                                   \
	{                                                                                          \
		row, offsetof(type, member), sizeof(((type *)NULL)->member)                        \
	}

/* clang-format off */
static const struct place ctrl[] = {
	PLACE(struct nvme_id_ctrl, vid, "vendor_id"),
	PLACE(struct nvme_id_ctrl, ssvid, "subsystem_vendor_id"),
	PLACE(struct nvme_id_ctrl, sn, "serial"),
	PLACE(struct nvme_id_ctrl, mn, "model"),
	PLACE(struct nvme_id_ctrl, fr, "firmware"),
	PLACE(struct nvme_id_ctrl, rab, "arbitration_burst_exponent"),
	PLACE(struct nvme_id_ctrl, ieee, "ieee_oui"),
	PLACE(struct nvme_id_ctrl, cmic, "multipath_capabilities"),
	PLACE(struct nvme_id_ctrl, mdts, "max_data_transfer_exponent"),
	PLACE(struct nvme_id_ctrl, cntlid, "controller_id"),
	PLACE(struct nvme_id_ctrl, ver, "version"),
	PLACE(struct nvme_id_ctrl, rtd3r, "resume_latency_us"),
	PLACE(struct nvme_id_ctrl, rtd3e, "entry_latency_us"),
	PLACE(struct nvme_id_ctrl, oaes, "async_events"),
	PLACE(struct nvme_id_ctrl, ctratt, "controller_attributes"),
	PLACE(struct nvme_id_ctrl, rrls, "read_recovery_levels"),
	PLACE(struct nvme_id_ctrl, cntrltype, "controller_type"),
	PLACE(struct nvme_id_ctrl, fguid, "fru_guid"),
	PLACE(struct nvme_id_ctrl, crdt1, "command_retry_delay_1_ms"),
	PLACE(struct nvme_id_ctrl, crdt2, "command_retry_delay_2_ms"),
	PLACE(struct nvme_id_ctrl, crdt3, "command_retry_delay_3_ms"),
	PLACE(struct nvme_id_ctrl, nvmsr, "subsystem_report"),
	PLACE(struct nvme_id_ctrl, vwci, "vpd_write_cycles_remaining"),
	PLACE(struct nvme_id_ctrl, mec, "management_endpoints"),
	PLACE(struct nvme_id_ctrl, oacs, "optional_admin_commands"),
	PLACE(struct nvme_id_ctrl, acl, "abort_command_limit"),
	PLACE(struct nvme_id_ctrl, aerl, "async_event_request_limit"),
	PLACE(struct nvme_id_ctrl, frmw, "firmware_updates"),
	PLACE(struct nvme_id_ctrl, frmw, "firmware_slots"),
	PLACE(struct nvme_id_ctrl, frmw, "firmware_slot_1_read_only"),
	PLACE(struct nvme_id_ctrl, frmw, "firmware_activation_without_reset"),
	PLACE(struct nvme_id_ctrl, frmw, "firmware_overlap_detection"),
	PLACE(struct nvme_id_ctrl, lpa, "log_page_attributes"),
	PLACE(struct nvme_id_ctrl, elpe, "error_log_entries_max"),
	PLACE(struct nvme_id_ctrl, npss, "power_state_count"),
	PLACE(struct nvme_id_ctrl, avscc, "vendor_admin_standard_format"),
	PLACE(struct nvme_id_ctrl, apsta, "autonomous_power_transitions"),
	PLACE(struct nvme_id_ctrl, wctemp, "warning_temp_threshold_celsius"),
	PLACE(struct nvme_id_ctrl, cctemp, "critical_temp_threshold_celsius"),
	PLACE(struct nvme_id_ctrl, mtfa, "max_activation_time_ms"),
	PLACE(struct nvme_id_ctrl, hmpre, "host_memory_preferred_bytes"),
	PLACE(struct nvme_id_ctrl, hmmin, "host_memory_min_bytes"),
	PLACE(struct nvme_id_ctrl, tnvmcap, "total_capacity_bytes"),
	PLACE(struct nvme_id_ctrl, unvmcap, "unallocated_capacity_bytes"),
	PLACE(struct nvme_id_ctrl, rpmbs, "rpmb_units"),
	PLACE(struct nvme_id_ctrl, rpmbs, "rpmb_authentication"),
	PLACE(struct nvme_id_ctrl, rpmbs, "rpmb_size_bytes"),
	PLACE(struct nvme_id_ctrl, rpmbs, "rpmb_access_size_bytes"),
	PLACE(struct nvme_id_ctrl, edstt, "extended_selftest_minutes"),
	PLACE(struct nvme_id_ctrl, dsto, "selftest_one_per_subsystem"),
	PLACE(struct nvme_id_ctrl, fwug, "firmware_granularity_bytes"),
	PLACE(struct nvme_id_ctrl, kas, "keep_alive_granularity_ms"),
	PLACE(struct nvme_id_ctrl, hctma, "host_thermal_management"),
	PLACE(struct nvme_id_ctrl, mntmt, "min_thermal_management_celsius"),
	PLACE(struct nvme_id_ctrl, mxtmt, "max_thermal_management_celsius"),
	PLACE(struct nvme_id_ctrl, sanicap, "sanitize_capabilities"),
	PLACE(struct nvme_id_ctrl, sanicap, "no_deallocate_after_sanitize"),
	PLACE(struct nvme_id_ctrl, hmminds, "host_memory_descriptor_min_bytes"),
	PLACE(struct nvme_id_ctrl, hmmaxd, "host_memory_descriptors_max"),
	PLACE(struct nvme_id_ctrl, nsetidmax, "nvm_set_id_max"),
	PLACE(struct nvme_id_ctrl, endgidmax, "endurance_group_id_max"),
	PLACE(struct nvme_id_ctrl, anatt, "ana_transition_time_seconds"),
	PLACE(struct nvme_id_ctrl, anacap, "ana_capabilities"),
	PLACE(struct nvme_id_ctrl, anagrpmax, "ana_group_id_max"),
	PLACE(struct nvme_id_ctrl, nanagrpid, "ana_group_count"),
	PLACE(struct nvme_id_ctrl, pels, "persistent_event_log_bytes"),
	PLACE(struct nvme_id_ctrl, domainid, "domain_id"),
	PLACE(struct nvme_id_ctrl, megcap, "endurance_group_capacity_max_bytes"),
	PLACE(struct nvme_id_ctrl, sqes, "submission_entry_exponent_min"),
	PLACE(struct nvme_id_ctrl, sqes, "submission_entry_exponent_max"),
	PLACE(struct nvme_id_ctrl, cqes, "completion_entry_exponent_min"),
	PLACE(struct nvme_id_ctrl, cqes, "completion_entry_exponent_max"),
	PLACE(struct nvme_id_ctrl, maxcmd, "outstanding_commands_max"),
	PLACE(struct nvme_id_ctrl, nn, "namespace_id_max"),
	PLACE(struct nvme_id_ctrl, oncs, "optional_nvm_commands"),
	PLACE(struct nvme_id_ctrl, fuses, "fused_operations"),
	PLACE(struct nvme_id_ctrl, fna, "format_attributes"),
	PLACE(struct nvme_id_ctrl, vwc, "volatile_write_cache"),
	PLACE(struct nvme_id_ctrl, vwc, "flush_broadcast"),
	PLACE(struct nvme_id_ctrl, awun, "atomic_write_blocks"),
	PLACE(struct nvme_id_ctrl, awupf, "atomic_write_power_fail_blocks"),
	PLACE(struct nvme_id_ctrl, icsvscc, "vendor_nvm_standard_format"),
	PLACE(struct nvme_id_ctrl, nwpc, "write_protection"),
	PLACE(struct nvme_id_ctrl, acwu, "atomic_compare_write_blocks"),
	PLACE(struct nvme_id_ctrl, ocfs, "copy_formats"),
	PLACE(struct nvme_id_ctrl, sgls, "sgl_support"),
	PLACE(struct nvme_id_ctrl, sgls, "sgl_keyed"),
	PLACE(struct nvme_id_ctrl, sgls, "sgl_features"),
	PLACE(struct nvme_id_ctrl, mnan, "namespaces_max"),
	PLACE(struct nvme_id_ctrl, maxdna, "domain_attachments_max"),
	PLACE(struct nvme_id_ctrl, maxcna, "controller_attachments_max"),
	PLACE(struct nvme_id_ctrl, subnqn, "subsystem_nqn"),
	PLACE(struct nvme_id_ctrl, ioccsz, "command_capsule_bytes"),
	PLACE(struct nvme_id_ctrl, iorcsz, "response_capsule_bytes"),
	PLACE(struct nvme_id_ctrl, icdoff, "in_capsule_data_offset_bytes"),
	PLACE(struct nvme_id_ctrl, fcatt, "static_controller_model"),
	PLACE(struct nvme_id_ctrl, msdbd, "capsule_sgl_descriptors_max"),
	PLACE(struct nvme_id_ctrl, ofcs, "optional_fabrics_commands"),
};

static const struct place smart[] = {
	PLACE(struct nvme_smart_log, critical_warning, "critical_warning"),
	PLACE(struct nvme_smart_log, temperature, "temperature_celsius"),
	PLACE(struct nvme_smart_log, avail_spare, "available_spare_percent"),
	PLACE(struct nvme_smart_log, spare_thresh, "available_spare_threshold_percent"),
	PLACE(struct nvme_smart_log, percent_used, "percentage_used"),
	PLACE(struct nvme_smart_log, endu_grp_crit_warn_sumry, "endurance_group_critical_warning"),
	PLACE(struct nvme_smart_log, data_units_read, "data_units_read"),
	PLACE(struct nvme_smart_log, data_units_written, "data_units_written"),
	PLACE(struct nvme_smart_log, data_units_read, "bytes_read"),
	PLACE(struct nvme_smart_log, data_units_written, "bytes_written"),
	PLACE(struct nvme_smart_log, host_reads, "host_read_commands"),
	PLACE(struct nvme_smart_log, host_writes, "host_write_commands"),
	PLACE(struct nvme_smart_log, ctrl_busy_time, "controller_busy_time_minutes"),
	PLACE(struct nvme_smart_log, power_cycles, "power_cycles"),
	PLACE(struct nvme_smart_log, power_on_hours, "power_on_hours"),
	PLACE(struct nvme_smart_log, unsafe_shutdowns, "unsafe_shutdowns"),
	PLACE(struct nvme_smart_log, media_errors, "media_errors"),
	PLACE(struct nvme_smart_log, num_err_log_entries, "num_err_log_entries"),
	PLACE(struct nvme_smart_log, warning_temp_time, "warning_temp_time_minutes"),
	PLACE(struct nvme_smart_log, critical_comp_time, "critical_comp_time_minutes"),
	PLACE(struct nvme_smart_log, temp_sensor[0], "temperature_sensor_1_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[1], "temperature_sensor_2_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[2], "temperature_sensor_3_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[3], "temperature_sensor_4_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[4], "temperature_sensor_5_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[5], "temperature_sensor_6_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[6], "temperature_sensor_7_celsius"),
	PLACE(struct nvme_smart_log, temp_sensor[7], "temperature_sensor_8_celsius"),
	PLACE(struct nvme_smart_log, thm_temp1_trans_count, "thermal_mgmt_temp1_transitions"),
	PLACE(struct nvme_smart_log, thm_temp2_trans_count, "thermal_mgmt_temp2_transitions"),
	PLACE(struct nvme_smart_log, thm_temp1_total_time, "thermal_mgmt_temp1_time_seconds"),
	PLACE(struct nvme_smart_log, thm_temp2_total_time, "thermal_mgmt_temp2_time_seconds"),
};

static const struct place ns[] = {
	PLACE(struct nvme_id_ns, nsze, "size_blocks"),
	PLACE(struct nvme_id_ns, ncap, "capacity_blocks"),
	PLACE(struct nvme_id_ns, nuse, "utilization_blocks"),
	PLACE(struct nvme_id_ns, nsfeat, "features"),
	PLACE(struct nvme_id_ns, nlbaf, "lba_format_count"),
	PLACE(struct nvme_id_ns, flbas, "metadata_extended"),
	PLACE(struct nvme_id_ns, mc, "metadata_capabilities"),
	PLACE(struct nvme_id_ns, dpc, "protection_capabilities"),
	PLACE(struct nvme_id_ns, dps, "protection_type"),
	PLACE(struct nvme_id_ns, dps, "protection_first"),
	PLACE(struct nvme_id_ns, nmic, "shared"),
	PLACE(struct nvme_id_ns, rescap, "reservation_capabilities"),
	PLACE(struct nvme_id_ns, fpi, "format_remaining_percent"),
	PLACE(struct nvme_id_ns, dlfeat, "deallocated_read"),
	PLACE(struct nvme_id_ns, dlfeat, "deallocate_write_zeroes"),
	PLACE(struct nvme_id_ns, dlfeat, "deallocated_guard_crc"),
	PLACE(struct nvme_id_ns, nawun, "atomic_write_blocks"),
	PLACE(struct nvme_id_ns, nawupf, "atomic_write_power_fail_blocks"),
	PLACE(struct nvme_id_ns, nacwu, "atomic_compare_write_blocks"),
	PLACE(struct nvme_id_ns, nabsn, "atomic_boundary_blocks"),
	PLACE(struct nvme_id_ns, nabo, "atomic_boundary_offset_blocks"),
	PLACE(struct nvme_id_ns, nabspf, "atomic_boundary_power_fail_blocks"),
	PLACE(struct nvme_id_ns, noiob, "optimal_io_boundary_blocks"),
	PLACE(struct nvme_id_ns, nvmcap, "nvm_capacity_bytes"),
	PLACE(struct nvme_id_ns, npwg, "preferred_write_granularity_blocks"),
	PLACE(struct nvme_id_ns, npwa, "preferred_write_alignment_blocks"),
	PLACE(struct nvme_id_ns, npdg, "preferred_deallocate_granularity_blocks"),
	PLACE(struct nvme_id_ns, npda, "preferred_deallocate_alignment_blocks"),
	PLACE(struct nvme_id_ns, nows, "optimal_write_size_blocks"),
	PLACE(struct nvme_id_ns, mssrl, "copy_range_max_blocks"),
	PLACE(struct nvme_id_ns, mcl, "copy_max_blocks"),
	PLACE(struct nvme_id_ns, msrc, "copy_source_ranges_max"),
	PLACE(struct nvme_id_ns, nulbaf, "unique_lba_format_count"),
	PLACE(struct nvme_id_ns, anagrpid, "ana_group_id"),
	PLACE(struct nvme_id_ns, nsattr, "write_protected"),
	PLACE(struct nvme_id_ns, nvmsetid, "nvm_set_id"),
	PLACE(struct nvme_id_ns, endgid, "endurance_group_id"),
	PLACE(struct nvme_id_ns, nguid, "nguid"),
	PLACE(struct nvme_id_ns, eui64, "eui64"),
};

static const struct place firmware[] = {
	PLACE(struct nvme_firmware_slot, afi, "active_slot"),
	PLACE(struct nvme_firmware_slot, afi, "next_reset_slot"),
};

static const struct place selftest[] = {
	PLACE(struct nvme_self_test_log, current_operation, "in_progress"),
	PLACE(struct nvme_self_test_log, current_operation, "running_test"),
	PLACE(struct nvme_self_test_log, completion, "percent"),
	PLACE(struct nvme_self_test_log, result[0].dsts, "last_passed"),
};

static const struct place result_entry[] = {
	PLACE(struct nvme_st_result, dsts, "test"),
	PLACE(struct nvme_st_result, dsts, "result_code"),
	PLACE(struct nvme_st_result, dsts, "result"),
	PLACE(struct nvme_st_result, seg, "segment"),
	PLACE(struct nvme_st_result, poh, "power_on_hours"),
	PLACE(struct nvme_st_result, nsid, "nsid"),
	PLACE(struct nvme_st_result, flba, "failing_lba"),
	PLACE(struct nvme_st_result, sct, "sct"),
	PLACE(struct nvme_st_result, sc, "sc"),
};

static const struct place error_entry[] = {
	PLACE(struct nvme_error_log_page, error_count, "error_count"),
	PLACE(struct nvme_error_log_page, sqid, "sqid"),
	PLACE(struct nvme_error_log_page, cmdid, "cmdid"),
	PLACE(struct nvme_error_log_page, status_field, "status"),
	PLACE(struct nvme_error_log_page, status_field, "status_text"),
	PLACE(struct nvme_error_log_page, status_field, "cause"),
	PLACE(struct nvme_error_log_page, status_field, "sct"),
	PLACE(struct nvme_error_log_page, status_field, "sc"),
	PLACE(struct nvme_error_log_page, status_field, "dnr"),
	PLACE(struct nvme_error_log_page, status_field, "more"),
	PLACE(struct nvme_error_log_page, status_field, "retry_delay"),
	PLACE(struct nvme_error_log_page, status_field, "phase_tag"),
	PLACE(struct nvme_error_log_page, parm_error_location, "parameter_error_location"),
	PLACE(struct nvme_error_log_page, lba, "lba"),
	PLACE(struct nvme_error_log_page, nsid, "nsid"),
	PLACE(struct nvme_error_log_page, vs, "vendor_log_page"),
	PLACE(struct nvme_error_log_page, trtype, "transport"),
	PLACE(struct nvme_error_log_page, cs, "command_specific"),
	PLACE(struct nvme_error_log_page, trtype_spec_info, "transport_specific"),
};

#define EFFECT(row)                                                                                \
	{                                                                                          \
		row, 0, sizeof(__le32)                                                             \
	}
static const struct place effect[] = {
	EFFECT("changes_data"),
	EFFECT("changes_namespace_capability"),
	EFFECT("changes_namespace_inventory"),
	EFFECT("changes_controller_capability"),
	EFFECT("submission"),
	EFFECT("uuid_selection"),
	EFFECT("scope"),
};

static const struct place sanitize[] = {
	PLACE(struct nvme_sanitize_log_page, sstat, "state"),
	PLACE(struct nvme_sanitize_log_page, scdw10, "action"),
	PLACE(struct nvme_sanitize_log_page, sstat, "global_data_erased"),
	PLACE(struct nvme_sanitize_log_page, sstat, "overwrite_passes_completed"),
	PLACE(struct nvme_sanitize_log_page, scdw10, "command_dword_10"),
	PLACE(struct nvme_sanitize_log_page, eto, "overwrite_estimate_seconds"),
	PLACE(struct nvme_sanitize_log_page, etbe, "block_erase_estimate_seconds"),
	PLACE(struct nvme_sanitize_log_page, etce, "crypto_erase_estimate_seconds"),
	PLACE(struct nvme_sanitize_log_page, etond, "overwrite_no_deallocate_estimate_seconds"),
	PLACE(struct nvme_sanitize_log_page, etbend, "block_erase_no_deallocate_estimate_seconds"),
	PLACE(struct nvme_sanitize_log_page, etcend, "crypto_erase_no_deallocate_estimate_seconds"),
};

static const struct place power_state[] = {
	PLACE(struct nvme_id_psd, enlat, "entry_latency_us"),
	PLACE(struct nvme_id_psd, exlat, "exit_latency_us"),
	PLACE(struct nvme_id_psd, flags, "non_operational"),
	PLACE(struct nvme_id_psd, rrt, "relative_read_throughput"),
	PLACE(struct nvme_id_psd, rrl, "relative_read_latency"),
	PLACE(struct nvme_id_psd, rwt, "relative_write_throughput"),
	PLACE(struct nvme_id_psd, rwl, "relative_write_latency"),
	PLACE(struct nvme_id_psd, apws, "active_power_workload"),
};

static const struct place lba_format[] = {
	PLACE(struct nvme_lbaf, ms, "metadata_bytes"),
	PLACE(struct nvme_lbaf, rp, "relative_performance"),
};

static const struct place slot[] = {
	{ "revision", 0, sizeof(((struct nvme_firmware_slot *)NULL)->frs[0]) },
};
/* clang-format on */

static void check_rows(const struct em_field *fields, unsigned count, const struct place *places,
		       size_t place_count)
{
	for (unsigned i = 0; i < count; i++) {
		const struct place *place = NULL;

		if (fields[i].derive)
			continue; /* its value is checked in test_page.c */
		for (size_t j = 0; j < place_count; j++)
			if (!strcmp(places[j].key, fields[i].key))
				place = &places[j];
		ck_assert_msg(place != NULL, "%s has no second opinion", fields[i].key);
		ck_assert_msg(place->offset == fields[i].offset, "%s: offset %u, not %zu",
			      fields[i].key, fields[i].offset, place->offset);
		ck_assert_msg(place->size == fields[i].len, "%s: %u bytes, not %zu", fields[i].key,
			      fields[i].len, place->size);
	}
}

static void check_page(enum em_page_id id, const struct place *places, size_t count)
{
	check_rows(em_pages[id]->fields, em_pages[id]->field_count, places, count);
}

START_TEST(offsets_agree_with_libnvme)
{
	check_page(EM_PAGE_IDENTIFY_CTRL, ctrl, EM_COUNT(ctrl));
	check_page(EM_PAGE_IDENTIFY_NS, ns, EM_COUNT(ns));
	check_page(EM_PAGE_SMART, smart, EM_COUNT(smart));
	check_page(EM_PAGE_FIRMWARE, firmware, EM_COUNT(firmware));
	check_page(EM_PAGE_SELFTEST, selftest, EM_COUNT(selftest));
	check_page(EM_PAGE_SANITIZE, sanitize, EM_COUNT(sanitize));
}
END_TEST

static void check_any_group(const struct em_group *group, size_t offset, size_t stride,
			    size_t count, const struct place *places, size_t place_count)
{
	ck_assert_uint_eq(group->offset, offset);
	ck_assert_uint_eq(group->stride, stride);
	ck_assert_uint_eq(group->count, count);
	check_rows(group->fields, group->field_count, places, place_count);
}

static void check_group(enum em_page_id id, size_t offset, size_t stride, size_t count,
			const struct place *places, size_t place_count)
{
	ck_assert_uint_eq(em_pages[id]->group_count, 1);
	check_any_group(&em_pages[id]->groups[0], offset, stride, count, places, place_count);
}

START_TEST(groups_agree_with_libnvme)
{
	check_group(EM_PAGE_IDENTIFY_CTRL, offsetof(struct nvme_id_ctrl, psd),
		    sizeof(struct nvme_id_psd), 32, power_state, EM_COUNT(power_state));
	check_group(EM_PAGE_IDENTIFY_NS, offsetof(struct nvme_id_ns, lbaf),
		    sizeof(struct nvme_lbaf), 64, lba_format, EM_COUNT(lba_format));
	check_group(EM_PAGE_FIRMWARE, offsetof(struct nvme_firmware_slot, frs), 8, 7, slot,
		    EM_COUNT(slot));
	check_group(EM_PAGE_SELFTEST, offsetof(struct nvme_self_test_log, result),
		    sizeof(struct nvme_st_result), NVME_LOG_ST_MAX_RESULTS, result_entry,
		    EM_COUNT(result_entry));
	check_group(EM_PAGE_ERRORS, 0, sizeof(struct nvme_error_log_page), 256, error_entry,
		    EM_COUNT(error_entry));
	ck_assert_uint_eq(em_pages[EM_PAGE_EFFECTS]->group_count, 2);
	check_any_group(&em_pages[EM_PAGE_EFFECTS]->groups[0],
			offsetof(struct nvme_cmd_effects_log, acs), sizeof(__le32), 256, effect,
			EM_COUNT(effect));
	check_any_group(&em_pages[EM_PAGE_EFFECTS]->groups[1],
			offsetof(struct nvme_cmd_effects_log, iocs), sizeof(__le32), 256, effect,
			EM_COUNT(effect));
}
END_TEST

/* Each bit alone, set by libnvme's name for it, shows as the value of our name for it. */
START_TEST(bits_agree_with_libnvme)
{
	static const struct {
		uint32_t bit;
		const char *key;
	} expected[] = {
		{ NVME_CMD_EFFECTS_LBCC, "changes_data" },
		{ NVME_CMD_EFFECTS_NCC, "changes_namespace_capability" },
		{ NVME_CMD_EFFECTS_NIC, "changes_namespace_inventory" },
		{ NVME_CMD_EFFECTS_CCC, "changes_controller_capability" },
		{ NVME_CMD_EFFECTS_UUID_SEL, "uuid_selection" },
	};
	const struct em_nvme_ctx ctx = { .known = true, .ver = EM_VER(2, 0) };
	const struct em_group *group = &em_pages[EM_PAGE_EFFECTS]->groups[0];

	for (size_t i = 0; i < EM_COUNT(expected); i++) {
		uint8_t entry[4];

		em_put_le32(entry, NVME_CMD_EFFECTS_CSUPP | expected[i].bit);
		ck_assert(!group->unused(entry));
		for (unsigned f = 0; f < group->field_count; f++) {
			struct em_value value;

			em_field_get(&group->fields[f], entry, 4, &ctx, &value);
			if (value.kind == EM_V_BOOL)
				ck_assert_msg((bool)value.number == !strcmp(group->fields[f].key,
									    expected[i].key),
					      "%s by the bit of %s", group->fields[f].key,
					      expected[i].key);
		}
	}
}
END_TEST

START_TEST(pages_have_the_size_and_code_of_the_specification)
{
	static const struct {
		enum em_page_id id;
		size_t size;
		unsigned code;
		enum em_page_how how;
	} expected[] = {
		{ EM_PAGE_IDENTIFY_CTRL, sizeof(struct nvme_id_ctrl), NVME_IDENTIFY_CNS_CTRL,
		  EM_BY_IDENTIFY },
		{ EM_PAGE_IDENTIFY_NS, sizeof(struct nvme_id_ns), NVME_IDENTIFY_CNS_NS,
		  EM_BY_IDENTIFY },
		{ EM_PAGE_SMART, sizeof(struct nvme_smart_log), NVME_LOG_LID_SMART, EM_BY_LOG },
		{ EM_PAGE_FIRMWARE, sizeof(struct nvme_firmware_slot), NVME_LOG_LID_FW_SLOT,
		  EM_BY_LOG },
		{ EM_PAGE_SELFTEST, sizeof(struct nvme_self_test_log),
		  NVME_LOG_LID_DEVICE_SELF_TEST, EM_BY_LOG },
		{ EM_PAGE_ERRORS, sizeof(struct nvme_error_log_page), NVME_LOG_LID_ERROR,
		  EM_BY_LOG },
		{ EM_PAGE_EFFECTS, sizeof(struct nvme_cmd_effects_log), NVME_LOG_LID_CMD_EFFECTS,
		  EM_BY_LOG },
		{ EM_PAGE_SANITIZE, sizeof(struct nvme_sanitize_log_page), NVME_LOG_LID_SANITIZE,
		  EM_BY_LOG },
		{ EM_PAGE_MEMBLAZE, 512, 0xca, EM_BY_LOG },
		{ EM_PAGE_SECURITY, 48, 1, EM_BY_SECURITY_RECEIVE },
	};

	ck_assert_uint_eq(EM_COUNT(expected), EM_PAGE_COUNT);
	for (size_t i = 0; i < EM_COUNT(expected); i++) {
		const struct em_page *page = em_pages[expected[i].id];

		ck_assert_uint_eq(page->size, expected[i].size);
		ck_assert_uint_eq(page->code, expected[i].code);
		ck_assert_int_eq(page->how, expected[i].how);
		ck_assert_ptr_eq(em_page_find(page->key), page);
	}
	ck_assert_ptr_null(em_page_find("nonsense"));
}
END_TEST

static void check_word(const char *word)
{
	ck_assert_msg(word && *word, "an empty name");
	ck_assert_msg(word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0', "%s",
		      word);
}

static void check_metric(const struct em_field *field)
{
	uint64_t scale = (uint64_t)(field->scale ? field->scale : 1) *
			 (field->metric_scale ? field->metric_scale : 1);
	size_t len;

	ck_assert_msg(!field->metric == !field->metric_name, "%s", field->key);
	ck_assert_msg(!field->metric_label == !field->metric_label_value, "%s", field->key);
	if (!field->metric_name)
		return;
	check_word(field->metric_name);
	len = strlen(field->metric_name);
	ck_assert_msg(!strncmp(field->metric_name, "ember_", 6), "%s", field->metric_name);
	ck_assert_msg((field->metric == EM_METRIC_COUNTER) ==
			      !strcmp(field->metric_name + len - 6, "_total"),
		      "%s", field->metric_name);
	ck_assert_msg(scale <= UINT32_MAX, "%s: the scale is too large", field->key);
}

static void check_row(const struct em_field *field, size_t size)
{
	bool numeric = field->type == EM_UINT || field->type == EM_BITS || field->type == EM_ENUM ||
		       field->type == EM_BOOL || field->type == EM_VERSION;

	check_word(field->key);
	ck_assert_msg(field->label && *field->label, "%s: no label", field->key);
	ck_assert_msg(field->help && field->help[strlen(field->help) - 1] == '.', "%s: help",
		      field->key);
	ck_assert_msg(field->ref && *field->ref, "%s: no ref", field->key);
	ck_assert_msg(field->unit != NULL, "%s: no unit", field->key);
	ck_assert_msg(field->offset + (size_t)field->len <= size, "%s: beyond the page",
		      field->key);
	ck_assert_msg(!field->gate_mask || field->gate_offset < size, "%s: gate", field->key);
	ck_assert_msg(!numeric || field->len <= 16, "%s: too wide", field->key);
	ck_assert_msg(field->shift + field->bits <= field->len * 8, "%s: bits", field->key);
	ck_assert_msg(field->len * 2u < EM_VALUE_TEXT_SIZE, "%s: too long", field->key);
	ck_assert_msg(field->scale <= 1 || field->type == EM_UINT, "%s: scale", field->key);
	ck_assert_msg((field->type == EM_BITS || field->type == EM_ENUM) == (field->names != NULL),
		      "%s: names", field->key);
	ck_assert_msg(field->type != EM_KELVIN || field->len == 2, "%s: kelvin", field->key);
	for (const struct em_name *name = field->names; name && name->name; name++)
		check_word(name->name);
	check_metric(field);
}

static void check_unique(const struct em_field *fields, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < i; j++)
			ck_assert_str_ne(fields[i].key, fields[j].key);
}

static bool overlap(const struct em_place *a, const struct em_place *b)
{
	return a->layouts & b->layouts && a->id == b->id && a->at < b->at + b->len &&
	       b->at < a->at + a->len;
}

/* Places are sound, and no two of them hold the same bytes of an item. */
static void check_places(const struct em_field *field, const struct em_field *others,
			 unsigned other_count)
{
	for (const struct em_place *place = field->places; place && place->layouts; place++) {
		ck_assert_msg(place->id && place->len && place->len <= field->len, "%s",
			      field->key);
		ck_assert_msg(place->at == EM_AT_NORMALISED ? place->len == 1
							    : place->at + place->len <= 6,
			      "%s", field->key);
		for (unsigned i = 0; i < other_count; i++)
			for (const struct em_place *o = others[i].places; o && o->layouts; o++)
				ck_assert_msg(!overlap(place, o), "%s overlaps %s", field->key,
					      others[i].key);
	}
}

static size_t greatest_size(const struct em_page *page)
{
	return page->max_size ? page->max_size : page->size;
}

START_TEST(rows_are_sound)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		const struct em_page *page = em_pages[p];

		check_word(page->key);
		check_unique(page->fields, page->field_count);
		for (unsigned i = 0; i < page->field_count; i++) {
			check_row(&page->fields[i], page->size);
			check_places(&page->fields[i], page->fields, i);
		}
		for (unsigned g = 0; g < page->group_count; g++) {
			const struct em_group *group = &page->groups[g];

			check_word(group->key);
			ck_assert_ptr_null(em_page_field(page, group->key));
			if (group->entry)
				ck_assert_uint_le(group->stride, EM_ENTRY_SCRATCH);
			else
				ck_assert_uint_le(group->offset +
							  (size_t)group->stride * group->count,
						  greatest_size(page));
			check_unique(group->fields, group->field_count);
			for (unsigned i = 0; i < group->field_count; i++)
				check_row(&group->fields[i], group->stride);
			if (group->extra)
				check_row(group->extra, group->stride);
		}
	}
}
END_TEST

/* Which bits of a page a row owns. */
static void claim(const struct em_field *field, const char *owner[])
{
	unsigned first = field->offset * 8u + field->shift;
	unsigned count = field->bits ? field->bits : field->len * 8u - field->shift;

	if (field->flags & EM_DERIVED || field->places)
		return;
	for (unsigned i = first; i < first + count; i++) {
		ck_assert_msg(owner[i] == NULL, "%s overlaps %s", field->key, owner[i]);
		owner[i] = field->key;
	}
}

START_TEST(no_two_rows_own_the_same_bits)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		const struct em_page *page = em_pages[p];
		const char **owner = calloc(greatest_size(page) * 8, sizeof(*owner));

		ck_assert_ptr_nonnull(owner);
		for (unsigned i = 0; i < page->field_count; i++)
			claim(&page->fields[i], owner);
		for (unsigned g = 0; g < page->group_count; g++) {
			const struct em_group *group = &page->groups[g];

			for (unsigned i = 0; i < group->field_count && !group->entry; i++)
				claim(&group->fields[i], owner + group->offset * 8u);
		}
		free(owner);
	}
}
END_TEST

/* Several rows may feed one metric, told apart by a label, but then type and help are one. */
START_TEST(metric_names_are_unique_but_for_their_label)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		for (unsigned q = 0; q < em_pages[p]->field_count * EM_PAGE_COUNT; q++) {
			const struct em_page *other = em_pages[q % EM_PAGE_COUNT];

			for (unsigned j = 0; j < other->field_count; j++) {
				const struct em_field *a = &em_pages[p]->fields[q / EM_PAGE_COUNT];
				const struct em_field *b = &other->fields[j];

				if (a == b || !a->metric_name || !b->metric_name ||
				    strcmp(a->metric_name, b->metric_name))
					continue;
				ck_assert_msg(a->metric_label && b->metric_label, "%s", a->key);
				ck_assert_str_ne(a->metric_label_value, b->metric_label_value);
				ck_assert_str_eq(a->help, b->help);
				ck_assert_int_eq(a->metric, b->metric);
			}
		}
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("tables");

	tcase_add_test(tcase, offsets_agree_with_libnvme);
	tcase_add_test(tcase, groups_agree_with_libnvme);
	tcase_add_test(tcase, bits_agree_with_libnvme);
	tcase_add_test(tcase, pages_have_the_size_and_code_of_the_specification);
	tcase_add_test(tcase, rows_are_sound);
	tcase_add_test(tcase, no_two_rows_own_the_same_bits);
	tcase_add_test(tcase, metric_names_are_unique_but_for_their_label);
	return run_tests(tcase);
}
