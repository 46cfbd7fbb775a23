# SPDX-License-Identifier: Apache-2.0
"""Each field of Identify, error log, effects log and sanitize status, and where nvme-cli prints it.

A row is (Ember's key, nvme-cli's key, function of what nvme-cli printed and of its whole document
that makes Ember's value). nvme-cli prints bytes as they are; what a drive does not state (a zero
that means "none", a field that another field shuts off) is said here once more, from the
specification, independently of Ember's tables.
"""

# ---- what a number means ----------------------------------------------------------------------


def same(value, _):
    return value


def nonzero(value, _):
    return value or None


def raised(value, _):
    return value + 1


def digits(value, _):
    return str(value)


def nonzero_digits(value, _):
    return str(value) if value else None


def times(factor):
    return lambda value, _: str(value * factor) if value else None


def kelvin(value, _):
    return None if value in (0, 0xFFFF) else value - 273


def part(shift, count):
    return lambda value, _: value >> shift & (1 << count) - 1


def flag(bit):
    return lambda value, _: bool(value >> bit & 1)


def named(names, shift=0, count=8):
    def convert(value, _):
        number = value >> shift & (1 << count) - 1
        return names.get(number, f"reserved_{number}")
    return convert


def hexadecimal(size):
    return lambda value, _: f"{value:0{2 * size}x}" if value else None


def identifier(value, _):
    """Bytes that nvme-cli prints in hexadecimal, with or without dashes."""
    text = value.replace("-", "")
    return text if text.strip("0") else None


def text(value, _):
    return value.rstrip() or None


def version(value, _):
    if value == 0:
        return None
    major, minor, tertiary = value >> 16, value >> 8 & 0xFF, value & 0xFF
    return f"{major}.{minor}" + (f".{tertiary}" if tertiary else "")


def when(key, mask, convert):
    """Only where that field has one of these bits."""
    return lambda value, log: convert(value, log) if int(log[key]) & mask else None


def when_not_zero(key, convert):
    return lambda value, log: convert(value, log) if int(log[key]) else None


# ---- Identify Controller ----------------------------------------------------------------------

RPMB = 0x7
NAMESPACE_MANAGEMENT = 0x08
FLUSH = {0: "not_indicated", 2: "not_supported", 3: "supported"}
SGL = {0: "not_supported", 1: "any_alignment", 2: "dword_aligned"}
KEPT = {0: "not_defined", 1: "not_modified", 2: "modified"}
TYPES = {1: "io", 2: "discovery", 3: "administrative"}


def controller_type(value, _):
    return TYPES.get(value, f"reserved_{value}") if value else None


IDENTIFY = [
    ("vendor_id", "vid", hexadecimal(2)),
    ("subsystem_vendor_id", "ssvid", hexadecimal(2)),
    ("serial", "sn", text), ("model", "mn", text), ("firmware", "fr", text),
    ("arbitration_burst_exponent", "rab", same),
    ("ieee_oui", "ieee", hexadecimal(3)),
    ("multipath_capabilities", "cmic", same),
    ("max_data_transfer_exponent", "mdts", nonzero),
    ("controller_id", "cntlid", same),
    ("version", "ver", version),
    ("resume_latency_us", "rtd3r", nonzero), ("entry_latency_us", "rtd3e", nonzero),
    ("async_events", "oaes", same), ("controller_attributes", "ctratt", same),
    ("read_recovery_levels", "rrls", when("ctratt", 0x08, same)),
    ("controller_type", "cntrltype", controller_type),
    ("fru_guid", "fguid", identifier),
    ("command_retry_delay_1_ms", "crdt1", times(100)),
    ("command_retry_delay_2_ms", "crdt2", times(100)),
    ("command_retry_delay_3_ms", "crdt3", times(100)),
    ("subsystem_report", "nvmsr", same),
    ("vpd_write_cycles_remaining", "vwci", when("vwci", 0x80, part(0, 7))),
    ("management_endpoints", "mec", same),
    ("optional_admin_commands", "oacs", same),
    ("abort_command_limit", "acl", raised), ("async_event_request_limit", "aerl", raised),
    ("firmware_updates", "frmw", same),
    ("firmware_slots", "frmw", lambda value, _: value >> 1 & 7 or None),
    ("firmware_slot_1_read_only", "frmw", flag(0)),
    ("firmware_activation_without_reset", "frmw", flag(4)),
    ("firmware_overlap_detection", "frmw", flag(5)),
    ("log_page_attributes", "lpa", same),
    ("error_log_entries_max", "elpe", raised), ("power_state_count", "npss", raised),
    ("vendor_admin_standard_format", "avscc", flag(0)),
    ("autonomous_power_transitions", "apsta", flag(0)),
    ("warning_temp_threshold_celsius", "wctemp", kelvin),
    ("critical_temp_threshold_celsius", "cctemp", kelvin),
    ("max_activation_time_ms", "mtfa", times(100)),
    ("host_memory_preferred_bytes", "hmpre", times(4096)),
    ("host_memory_min_bytes", "hmmin", times(4096)),
    ("total_capacity_bytes", "tnvmcap", nonzero_digits),
    ("unallocated_capacity_bytes", "unvmcap", when("oacs", NAMESPACE_MANAGEMENT, digits)),
    ("rpmb_units", "rpmbs", lambda value, _: value & RPMB or None),
    ("rpmb_authentication", "rpmbs", when("rpmbs", RPMB, named({0: "hmac_sha_256"}, 3, 3))),
    ("rpmb_size_bytes", "rpmbs",
     when("rpmbs", RPMB, lambda value, _: str(((value >> 16 & 0xFF) + 1) * 131072))),
    ("rpmb_access_size_bytes", "rpmbs",
     when("rpmbs", RPMB, lambda value, _: str(((value >> 24) + 1) * 512))),
    ("extended_selftest_minutes", "edstt", when("oacs", 0x10, nonzero)),
    ("selftest_one_per_subsystem", "dsto", when("oacs", 0x10, flag(0))),
    ("firmware_granularity_bytes", "fwug",
     lambda value, _: None if value in (0, 0xFF) else str(value * 4096)),
    ("keep_alive_granularity_ms", "kas", times(100)),
    ("host_thermal_management", "hctma", flag(0)),
    ("min_thermal_management_celsius", "mntmt", kelvin),
    ("max_thermal_management_celsius", "mxtmt", kelvin),
    ("sanitize_capabilities", "sanicap", part(0, 30)),
    ("no_deallocate_after_sanitize", "sanicap", when("sanicap", 0x7, named(KEPT, 30, 2))),
    ("host_memory_descriptor_min_bytes", "hmminds", times(4096)),
    ("host_memory_descriptors_max", "hmmaxd", nonzero),
    ("nvm_set_id_max", "nsetidmax", when("ctratt", 0x04, same)),
    ("endurance_group_id_max", "endgidmax", when("ctratt", 0x10, same)),
    ("ana_transition_time_seconds", "anatt", when("cmic", 0x08, same)),
    ("ana_capabilities", "anacap", when("cmic", 0x08, same)),
    ("ana_group_id_max", "anagrpmax", when("cmic", 0x08, same)),
    ("ana_group_count", "nanagrpid", when("cmic", 0x08, same)),
    ("persistent_event_log_bytes", "pels", when("lpa", 0x10, times(65536))),
    ("domain_id", "domainid", when("ctratt", 0x400, same)),
    ("endurance_group_capacity_max_bytes", "megcap", nonzero_digits),
    ("submission_entry_exponent_min", "sqes", part(0, 4)),
    ("submission_entry_exponent_max", "sqes", part(4, 4)),
    ("completion_entry_exponent_min", "cqes", part(0, 4)),
    ("completion_entry_exponent_max", "cqes", part(4, 4)),
    ("outstanding_commands_max", "maxcmd", nonzero),
    ("namespace_id_max", "nn", same),
    ("optional_nvm_commands", "oncs", same), ("fused_operations", "fuses", same),
    ("format_attributes", "fna", same),
    ("volatile_write_cache", "vwc", flag(0)), ("flush_broadcast", "vwc", named(FLUSH, 1, 2)),
    ("atomic_write_blocks", "awun", raised), ("atomic_write_power_fail_blocks", "awupf", raised),
    ("vendor_nvm_standard_format", "icsvscc", flag(0)),
    ("write_protection", "nwpc", same),
    ("atomic_compare_write_blocks", "acwu", when("fuses", 0x01, raised)),
    ("copy_formats", "ocfs", when("oncs", 0x100, same)),
    ("sgl_support", "sgls", named(SGL, 0, 2)), ("sgl_keyed", "sgls", flag(2)),
    ("sgl_features", "sgls", part(16, 16)),
    ("namespaces_max", "mnan", nonzero),
    ("domain_attachments_max", "maxdna", nonzero_digits),
    ("controller_attachments_max", "maxcna", nonzero),
    ("subsystem_nqn", "subnqn", text),
    ("command_capsule_bytes", "ioccsz", times(16)),
    ("response_capsule_bytes", "iorcsz", times(16)),
    ("in_capsule_data_offset_bytes", "icdoff",
     when_not_zero("ioccsz", lambda value, _: str(value * 16))),
    ("static_controller_model", "fcatt", when_not_zero("ioccsz", flag(0))),
    ("capsule_sgl_descriptors_max", "msdbd", nonzero),
    ("optional_fabrics_commands", "ofcs", when_not_zero("ioccsz", same)),
]


def power(key, scale):
    """0.0001 W or 0.01 W by the two bits of the scale, in microwatts."""
    return lambda _, log: {1: 100, 2: 10000}[log[scale]] * log[key] if log[scale] in (1, 2) \
        else None


POWER_STATE = [
    ("max_power_microwatts", "max_power",
     lambda value, log: value * (100 if log["flags"] & 1 else 10000) or None),
    ("non_operational", "flags", flag(1)),
    ("entry_latency_us", "entry_lat", nonzero), ("exit_latency_us", "exit_lat", nonzero),
    ("relative_read_throughput", "read_tput", part(0, 5)),
    ("relative_read_latency", "read_lat", part(0, 5)),
    ("relative_write_throughput", "write_tput", part(0, 5)),
    ("relative_write_latency", "write_lat", part(0, 5)),
    ("idle_power_microwatts", "idle_power", power("idle_power", "idle_scale")),
    ("active_power_microwatts", "active_power", power("active_power", "active_scale")),
    ("active_power_workload", "active_power_work", nonzero),
]

# What smartctl -i prints besides: (Ember's key, path in its JSON, function).
SMARTCTL = [
    ("model", ("model_name",), same), ("serial", ("serial_number",), same),
    ("firmware", ("firmware_version",), same),
    ("vendor_id", ("nvme_pci_vendor", "id"), hexadecimal(2)),
    ("subsystem_vendor_id", ("nvme_pci_vendor", "subsystem_id"), hexadecimal(2)),
    ("ieee_oui", ("nvme_ieee_oui_identifier",), hexadecimal(3)),
    ("total_capacity_bytes", ("nvme_total_capacity",), nonzero_digits),
    ("unallocated_capacity_bytes", ("nvme_unallocated_capacity",), digits),
    ("controller_id", ("nvme_controller_id",), same),
    ("version", ("nvme_version", "value"), version),
    ("namespace_id_max", ("nvme_number_of_namespaces",), same),
]
SMARTCTL_NAMESPACE = [
    ("size_blocks", ("size", "blocks"), digits), ("size_bytes", ("size", "bytes"), digits),
    ("capacity_blocks", ("capacity", "blocks"), digits),
    ("capacity_bytes", ("capacity", "bytes"), digits),
    ("utilization_blocks", ("utilization", "blocks"), digits),
    ("utilization_bytes", ("utilization", "bytes"), digits),
    ("block_size_bytes", ("formatted_lba_size",), same),
]

# ---- Identify Namespace -----------------------------------------------------------------------

PROTECTION = {0: "none", 1: "type_1", 2: "type_2", 3: "type_3"}
DEALLOCATED = {0: "not_reported", 1: "zeros", 2: "ones"}
PERFORMANCE = {0: "best", 1: "better", 2: "good", 3: "degraded"}


def format_number(log):
    number = log["flbas"] & 0x0F
    return number | (log["flbas"] >> 5 & 3) << 4 if log["nlbaf"] >= 16 else number


def in_bytes(value, log):
    return str(value << log["lbafs"][format_number(log)]["ds"])


def of_format(key):
    return lambda _, log: log["lbafs"][format_number(log)][key]


NAMESPACE = [
    ("size_blocks", "nsze", digits), ("capacity_blocks", "ncap", digits),
    ("utilization_blocks", "nuse", digits),
    ("size_bytes", "nsze", in_bytes), ("capacity_bytes", "ncap", in_bytes),
    ("utilization_bytes", "nuse", in_bytes),
    ("features", "nsfeat", same), ("lba_format_count", "nlbaf", raised),
    ("lba_format", "flbas", lambda _, log: format_number(log)),
    ("metadata_extended", "flbas", flag(4)),
    ("block_size_bytes", "flbas", lambda _, log: 1 << of_format("ds")(_, log)),
    ("metadata_bytes", "flbas", of_format("ms")),
    ("metadata_capabilities", "mc", same), ("protection_capabilities", "dpc", same),
    ("protection_type", "dps", named(PROTECTION, 0, 3)), ("protection_first", "dps", flag(3)),
    ("shared", "nmic", flag(0)), ("reservation_capabilities", "rescap", same),
    ("format_remaining_percent", "fpi", when("fpi", 0x80, part(0, 7))),
    ("deallocated_read", "dlfeat", named(DEALLOCATED, 0, 3)),
    ("deallocate_write_zeroes", "dlfeat", flag(3)), ("deallocated_guard_crc", "dlfeat", flag(4)),
    ("atomic_write_blocks", "nawun", when("nsfeat", 0x02, raised)),
    ("atomic_write_power_fail_blocks", "nawupf", when("nsfeat", 0x02, raised)),
    ("atomic_compare_write_blocks", "nacwu", when("nsfeat", 0x02, raised)),
    ("atomic_boundary_blocks", "nabsn", lambda value, _: value + 1 if value else None),
    ("atomic_boundary_offset_blocks", "nabo", same),
    ("atomic_boundary_power_fail_blocks", "nabspf", lambda value, _: value + 1 if value else None),
    ("optimal_io_boundary_blocks", "noiob", nonzero),
    ("nvm_capacity_bytes", "nvmcap", nonzero_digits),
    ("preferred_write_granularity_blocks", "npwg", raised),
    ("preferred_write_alignment_blocks", "npwa", raised),
    ("preferred_deallocate_granularity_blocks", "npdg", raised),
    ("preferred_deallocate_alignment_blocks", "npda", raised),
    ("optimal_write_size_blocks", "nows", raised),
    ("copy_range_max_blocks", "mssrl", nonzero), ("copy_max_blocks", "mcl", nonzero),
    ("copy_source_ranges_max", "msrc", raised),
    ("unique_lba_format_count", "nulbaf", same),
    ("ana_group_id", "anagrpid", nonzero), ("write_protected", "nsattr", flag(0)),
    ("nvm_set_id", "nvmsetid", nonzero), ("endurance_group_id", "endgid", nonzero),
    ("nguid", "nguid", identifier), ("eui64", "eui64", identifier),
]
# nvme-cli leaves these out where there are none.
LEFT_OUT = {"npwg", "npwa", "npdg", "npda", "nows", "subnqn"}

LBA_FORMAT = [
    ("metadata_bytes", "ms", same), ("block_size_bytes", "ds", lambda value, _: 1 << value),
    ("relative_performance", "rp", named(PERFORMANCE, 0, 2)),
]

# ---- error log --------------------------------------------------------------------------------

TRANSPORTS = {1: "rdma", 2: "fc", 3: "tcp", 254: "intra_host"}


def not_all_ones(bits, convert=same):
    return lambda value, log: None if value == (1 << bits) - 1 else convert(value, log)


def transport(value, _):
    return TRANSPORTS.get(value, f"reserved_{value}") if value else None


ERROR = [
    ("error_count", "error_count", digits),
    ("sqid", "sqid", not_all_ones(16)),
    ("cmdid", "cmdid", not_all_ones(16, lambda value, _: f"0x{value:04x}")),
    ("sct", "status_field", part(8, 3)), ("sc", "status_field", part(0, 8)),
    ("retry_delay", "status_field", lambda value, _: value >> 11 & 3 or None),
    ("more", "status_field", flag(13)), ("dnr", "status_field", flag(14)),
    ("phase_tag", "phase_tag", same),
    ("parameter_error_location", "parm_error_location", not_all_ones(16)),
    ("parameter_error_byte", "parm_error_location", not_all_ones(16, part(0, 8))),
    ("parameter_error_bit", "parm_error_location", not_all_ones(16, part(8, 3))),
    ("lba", "lba", not_all_ones(64, digits)),
    ("nsid", "nsid", nonzero),
    ("vendor_log_page", "vs", nonzero),
    ("transport", "trtype", transport),
    ("command_specific", "cs", digits),
    ("transport_specific", "trtype_spec_info", when_not_zero("trtype", same)),
]

# ---- effects log ------------------------------------------------------------------------------

EXCLUSION = {0: "none", 1: "same_namespace", 2: "any_namespace"}
EFFECT = [
    ("changes_data", flag(1)), ("changes_namespace_capability", flag(2)),
    ("changes_namespace_inventory", flag(3)), ("changes_controller_capability", flag(4)),
    ("submission", named(EXCLUSION, 16, 3)), ("uuid_selection", flag(19)),
    ("scope", lambda value, _: value >> 20 or None),
]
EFFECT_SINCE = {"uuid_selection": (1, 4), "scope": (2, 0)}

# ---- sanitize status --------------------------------------------------------------------------

ACTIONS = {1: "exit_failure", 2: "block_erase", 3: "overwrite", 4: "crypto_erase"}


def action(value, _):
    number = value & 7
    return ACTIONS.get(number, f"reserved_{number}") if number else None


def estimate(value, _):
    return None if value == 0xFFFFFFFF else value


SANITIZE = [
    ("action", "cdw10_info", action),
    ("command_dword_10", "cdw10_info", same),
    ("global_data_erased", "sstat", lambda value, _: bool(value["global_erased"])),
    ("overwrite_passes_completed", "sstat", lambda value, _: value["no_cmplted_passes"]),
    ("overwrite_estimate_seconds", "time_over_write", estimate),
    ("block_erase_estimate_seconds", "time_block_erase", estimate),
    ("crypto_erase_estimate_seconds", "time_crypto_erase", estimate),
    ("overwrite_no_deallocate_estimate_seconds", "time_over_write_no_dealloc", estimate),
    ("block_erase_no_deallocate_estimate_seconds", "time_block_erase_no_dealloc", estimate),
    ("crypto_erase_no_deallocate_estimate_seconds", "time_crypto_erase_no_dealloc", estimate),
]
# The text that nvme-cli prints is about no drive in particular; the cases check these.
SANITIZE_NOT_PRINTED = {"state", "percent", "progress_permille"}


# ---- comparing --------------------------------------------------------------------------------

def number(value):
    """Large numbers are texts; some of 32 bits are printed as if they had a sign."""
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return value + (1 << 32) if isinstance(value, int) and value < 0 else value


def compare(where, values, rows, log):
    """(what differs, how many were compared). A key of values without a row differs, too."""
    found = [f"{where}: no row for {key}" for key in values
             if key not in {row[0] for row in rows} and not key.endswith("_bits")]
    compared = 0
    for key, theirs, convert in rows:
        printed = log.get(theirs)
        if printed is None and theirs in LEFT_OUT:
            expected = None
        elif isinstance(printed, str) and convert in (text, identifier):
            expected = convert(printed, log)
        else:
            expected = convert(number(printed), log)
        compared += 1
        if values[key] != expected or isinstance(values[key], bool) != isinstance(expected, bool):
            found.append(f"{where}: {key}: Ember {values[key]!r}, the witness {expected!r}")
    return found, compared


def compare_paths(where, values, rows, log):
    """The same for a witness that nests its values; what it does not print is not compared."""
    found, compared = [], 0
    for key, path, convert in rows:
        printed = log
        for step in path:
            printed = printed.get(step) if isinstance(printed, dict) else None
        if printed is None:
            continue
        compared += 1
        expected = convert(printed, log)
        if values[key] != expected:
            found.append(f"{where}: {key}: Ember {values[key]!r}, the witness {expected!r}")
    return found, compared
