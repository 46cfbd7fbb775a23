/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/cleanup.h"
#include "lib/nvme/status.h"

#define TYPE(code) ((code) >> 8)

#define ROW(number, class, word, sentence)                                                         \
	{                                                                                          \
		.code = number, .retry = EM_RETRY_##class, .name = word, .text = sentence,         \
	}

/* Ascending by code. SCT 0 generic, 1 command specific, 2 media and data, 3 path (370h: kernel). */
static const struct em_status statuses[] = {
	ROW(0x000, NO, "success", "the command succeeded"),
	ROW(0x001, REFUSED, "invalid_opcode", "the drive does not have this command"),
	ROW(0x002, REFUSED, "invalid_field",
	    "the drive does not support a parameter of this command"),
	ROW(0x003, LATER, "command_id_conflict", "the command identifier was already in use"),
	ROW(0x004, LATER, "data_transfer_error",
	    "data could not be transferred between host and drive"),
	ROW(0x005, LATER, "aborted_power_loss", "aborted because power is being lost"),
	ROW(0x006, LATER, "internal_error", "the drive had an internal error"),
	ROW(0x007, LATER, "abort_requested", "aborted on request of the host"),
	ROW(0x008, LATER, "aborted_queue_deleted", "aborted because its queue was deleted"),
	ROW(0x009, NO, "aborted_fused_failed", "aborted because the other fused command failed"),
	ROW(0x00a, NO, "aborted_fused_missing",
	    "aborted because the other fused command is missing"),
	ROW(0x00b, NO, "invalid_namespace",
	    "there is no such namespace or format for this command"),
	ROW(0x00c, NO, "command_sequence_error", "the command came out of order"),
	ROW(0x00d, NO, "invalid_sgl_segment", "a scatter gather list has an invalid last segment"),
	ROW(0x00e, NO, "invalid_sgl_count",
	    "a scatter gather list has an invalid number of descriptors"),
	ROW(0x00f, NO, "invalid_sgl_data_length",
	    "a scatter gather list has the wrong data length"),
	ROW(0x010, NO, "invalid_sgl_metadata_length",
	    "a scatter gather list has the wrong metadata length"),
	ROW(0x011, NO, "invalid_sgl_type", "a scatter gather list has an invalid descriptor type"),
	ROW(0x012, NO, "invalid_controller_memory_use",
	    "the controller memory buffer was used wrongly"),
	ROW(0x013, NO, "invalid_prp_offset", "a page pointer has an invalid offset"),
	ROW(0x014, NO, "atomic_write_exceeded", "the write is longer than the atomic write unit"),
	ROW(0x015, NO, "operation_denied",
	    "the drive denied the operation: access rights are missing"),
	ROW(0x016, NO, "invalid_sgl_offset", "a scatter gather list has an invalid offset"),
	ROW(0x018, NO, "host_id_inconsistent",
	    "controllers of the subsystem have host identifiers of different length"),
	ROW(0x019, LATER, "keep_alive_expired", "the keep alive timer expired"),
	ROW(0x01a, NO, "invalid_keep_alive", "the keep alive timeout is invalid"),
	ROW(0x01b, LATER, "aborted_preempted", "aborted because a reservation was preempted"),
	ROW(0x01c, NO, "sanitize_failed",
	    "the last sanitize failed: only a new one that succeeds ends this"),
	ROW(0x01d, LATER, "sanitize_in_progress", "a sanitize is running: wait until it ends"),
	ROW(0x01e, NO, "invalid_sgl_granularity",
	    "a scatter gather list has an invalid granularity"),
	ROW(0x01f, NO, "not_supported_in_memory_queue",
	    "the command is not supported in a queue in controller memory"),
	ROW(0x020, NO, "namespace_write_protected", "the namespace is write-protected"),
	ROW(0x021, LATER, "command_interrupted", "the drive interrupted the command: ask again"),
	ROW(0x022, LATER, "transient_transport_error", "a passing error of the transport"),
	ROW(0x023, NO, "prohibited_by_lockdown", "the command is locked down on this drive"),
	ROW(0x024, LATER, "media_not_ready", "the media needed by the command is not ready yet"),
	ROW(0x080, NO, "lba_out_of_range", "a block beyond the end of the namespace"),
	ROW(0x081, NO, "capacity_exceeded", "the capacity of the namespace is used up"),
	ROW(0x082, LATER, "namespace_not_ready", "the namespace is not ready yet"),
	ROW(0x083, NO, "reservation_conflict", "another host holds a reservation"),
	ROW(0x084, LATER, "format_in_progress",
	    "the namespace is being formatted: wait until it ends"),
	ROW(0x100, NO, "invalid_completion_queue", "the completion queue is invalid"),
	ROW(0x101, NO, "invalid_queue_id", "the queue identifier is invalid"),
	ROW(0x102, NO, "invalid_queue_size", "the queue size is invalid"),
	ROW(0x103, LATER, "abort_limit_exceeded", "too many abort commands are outstanding"),
	ROW(0x105, LATER, "event_request_limit_exceeded",
	    "too many event requests are outstanding"),
	ROW(0x106, NO, "invalid_firmware_slot",
	    "there is no such firmware slot, or it is read-only"),
	ROW(0x107, NO, "invalid_firmware_image", "the drive does not accept this firmware image"),
	ROW(0x108, NO, "invalid_interrupt_vector", "the interrupt vector is invalid"),
	ROW(0x109, REFUSED, "invalid_log_page", "the drive does not have this log page"),
	ROW(0x10a, NO, "invalid_format", "the drive does not support this format"),
	ROW(0x10b, ACCEPTED, "needs_conventional_reset",
	    "the firmware is committed; a power cycle or PCI reset activates it"),
	ROW(0x10c, NO, "invalid_queue_deletion", "the queue cannot be deleted yet"),
	ROW(0x10d, NO, "feature_not_saveable", "the feature cannot be saved"),
	ROW(0x10e, NO, "feature_not_changeable", "the feature cannot be changed"),
	ROW(0x10f, NO, "feature_not_namespace_specific",
	    "the feature does not exist per namespace"),
	ROW(0x110, ACCEPTED, "needs_subsystem_reset",
	    "the firmware is committed; an NVM subsystem reset or power cycle activates it"),
	ROW(0x111, ACCEPTED, "needs_controller_reset",
	    "the firmware is committed; a controller level reset activates it"),
	ROW(0x112, NO, "activation_time_exceeded",
	    "activation now would take longer than the drive promises: activate at a reset"),
	ROW(0x113, NO, "activation_prohibited",
	    "the drive does not allow this firmware to be activated"),
	ROW(0x114, NO, "overlapping_range", "parts of the downloaded firmware overlap"),
	ROW(0x115, NO, "namespace_insufficient_capacity",
	    "too little unallocated capacity for this namespace"),
	ROW(0x116, NO, "namespace_id_unavailable", "no namespace identifier is left"),
	ROW(0x118, NO, "namespace_already_attached",
	    "the namespace is attached to this controller already"),
	ROW(0x119, NO, "namespace_is_private", "the namespace is private and attached elsewhere"),
	ROW(0x11a, NO, "namespace_not_attached",
	    "the namespace is not attached to this controller"),
	ROW(0x11b, NO, "thin_provisioning_not_supported",
	    "the drive does not support thin provisioning"),
	ROW(0x11c, NO, "invalid_controller_list", "the list of controllers is invalid"),
	ROW(0x11d, LATER, "self_test_in_progress",
	    "a device self-test is running: wait until it ends or abort it"),
	ROW(0x11e, NO, "boot_partition_write_prohibited", "the boot partition is write-protected"),
	ROW(0x11f, NO, "invalid_controller_id", "the controller identifier is invalid"),
	ROW(0x120, NO, "invalid_secondary_controller_state",
	    "the secondary controller is in the wrong state"),
	ROW(0x121, NO, "invalid_controller_resources",
	    "the number of controller resources is invalid"),
	ROW(0x122, NO, "invalid_resource_id", "the resource identifier is invalid"),
	ROW(0x123, NO, "sanitize_prohibited_pmr",
	    "no sanitize while the persistent memory region is on"),
	ROW(0x124, NO, "invalid_ana_group", "the ANA group identifier is invalid"),
	ROW(0x125, NO, "ana_attach_failed",
	    "the namespace was not attached because of its access state"),
	ROW(0x126, NO, "insufficient_capacity", "too little unallocated capacity"),
	ROW(0x127, NO, "attachment_limit_exceeded", "too many namespaces are attached"),
	ROW(0x128, NO, "lockdown_not_supported", "the drive cannot lock down this command"),
	ROW(0x129, REFUSED, "command_set_not_supported",
	    "the drive does not have this I/O command set"),
	ROW(0x12a, NO, "command_set_not_enabled", "this I/O command set is not enabled"),
	ROW(0x12b, NO, "command_set_combination_rejected",
	    "the combination of I/O command sets was rejected"),
	ROW(0x12c, NO, "invalid_command_set", "the I/O command set is invalid for this command"),
	ROW(0x12d, NO, "identifier_unavailable", "no identifier is left"),
	ROW(0x12e, NO, "namespace_is_dispersed", "the namespace is spread over several subsystems"),
	ROW(0x12f, NO, "invalid_discovery_information", "the discovery information is invalid"),
	ROW(0x130, NO, "zoning_data_locked", "the zoning data is locked"),
	ROW(0x131, NO, "zoning_data_not_found", "the zoning data was not found"),
	ROW(0x132, NO, "insufficient_discovery_resources", "too few discovery resources"),
	ROW(0x133, NO, "function_disabled", "the requested function is disabled"),
	ROW(0x134, NO, "invalid_zone_group_originator", "the zone group belongs to somebody else"),
	ROW(0x180, NO, "conflicting_attributes", "attributes of the command contradict each other"),
	ROW(0x181, NO, "invalid_protection_information", "the protection information is invalid"),
	ROW(0x182, NO, "write_to_read_only_range", "a write to a read-only range"),
	ROW(0x183, NO, "command_size_limit_exceeded",
	    "the command is longer than the drive allows"),
	ROW(0x1b6, NO, "zone_invalid_operation", "the zone operation is invalid"),
	ROW(0x1b7, LATER, "zone_resources_unavailable", "no zone random write resources are left"),
	ROW(0x1b8, NO, "zone_boundary_error", "the command crosses a zone boundary"),
	ROW(0x1b9, NO, "zone_is_full", "the zone is full"),
	ROW(0x1ba, NO, "zone_is_read_only", "the zone is read-only"),
	ROW(0x1bb, NO, "zone_is_offline", "the zone is offline"),
	ROW(0x1bc, NO, "zone_invalid_write", "the write is not at the write pointer of the zone"),
	ROW(0x1bd, LATER, "too_many_active_zones", "too many zones are active"),
	ROW(0x1be, LATER, "too_many_open_zones", "too many zones are open"),
	ROW(0x1bf, NO, "invalid_zone_transition", "the zone cannot change to this state"),
	ROW(0x280, NO, "write_fault", "the media could not be written"),
	ROW(0x281, NO, "unrecovered_read_error", "the media could not be read"),
	ROW(0x282, NO, "guard_check_error", "the guard of a block does not fit its data"),
	ROW(0x283, NO, "application_tag_check_error", "the application tag of a block is wrong"),
	ROW(0x284, NO, "reference_tag_check_error", "the reference tag of a block is wrong"),
	ROW(0x285, NO, "compare_failure", "the data differs from the expected data"),
	ROW(0x286, NO, "access_denied", "access to the range is denied; it may be locked"),
	ROW(0x287, NO, "deallocated_block", "the block is deallocated or was never written"),
	ROW(0x288, NO, "storage_tag_check_error", "the storage tag of a block is wrong"),
	ROW(0x300, LATER, "internal_path_error", "the path inside the subsystem failed"),
	ROW(0x301, NO, "ana_persistent_loss",
	    "this controller lost access to the namespace for good"),
	ROW(0x302, LATER, "ana_inaccessible",
	    "the namespace cannot be reached through this controller now"),
	ROW(0x303, LATER, "ana_transition", "access through this controller is changing"),
	ROW(0x360, LATER, "controller_path_error", "the controller found an error of the path"),
	ROW(0x370, LATER, "host_path_error",
	    "the kernel cannot reach the controller now, for example while firmware is activated"),
	ROW(0x371, LATER, "aborted_by_host", "the kernel aborted the command"),
};

/* By status code type, for codes that the table does not have. */
static const struct em_status unknown[] = {
	ROW(0x000, NO, "unknown_generic", "a generic status that is not known"),
	ROW(0x100, NO, "unknown_command_specific", "a command specific status that is not known"),
	ROW(0x200, NO, "unknown_media", "a media or data error that is not known"),
	ROW(0x300, LATER, "unknown_path", "a path error that is not known"),
	ROW(0x400, NO, "reserved_type_4", "a status of a reserved type"),
	ROW(0x500, NO, "reserved_type_5", "a status of a reserved type"),
	ROW(0x600, NO, "reserved_type_6", "a status of a reserved type"),
	ROW(0x700, NO, "vendor_specific", "a status that only the vendor can explain"),
};

const struct em_status *em_status_find(uint16_t word)
{
	uint16_t code = EM_STATUS_CODE(word);
	size_t low = 0, high = EM_COUNT(statuses);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (statuses[middle].code == code)
			return &statuses[middle];
		if (statuses[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return &unknown[TYPE(code)];
}

enum em_retry em_status_retry(uint16_t word)
{
	enum em_retry retry = em_status_find(word)->retry;

	return retry == EM_RETRY_LATER && EM_STATUS_DNR(word) ? EM_RETRY_NO : retry;
}
