# SPDX-License-Identifier: Apache-2.0
"""Log CAh of Memblaze drives: every value of every layout, the vendor's own tool as a witness of
layout 0, the capacitor, and pages that tell nothing."""
import re

from harness import Host

UNIT_BYTES = 32 << 20
EIGHT = {"memblaze_interval": "200ms"}
KELVIN = 273

# The vendor's name of an item -> our keys, in the order in which its raw value is printed. That
# tool prints kelvin, units and a throttle time of the wrong bytes: see WRONG.
WITNESS = {
    "program_fail_count": ["program_fails"],
    "erase_fail_count": ["erase_fails"],
    "wear_leveling": ["erase_cycles_min", "erase_cycles_max", "erase_cycles_avg"],
    "end_to_end_error_detection_count": ["end_to_end_errors"],
    "crc_error_count": ["pcie_crc_errors"],
    "timed_workload_media_wear": ["timed_workload_wear_millipercent"],
    "timed_workload_host_reads": ["timed_workload_host_reads_percent"],
    "timed_workload_timer": ["timed_workload_minutes"],
    "thermal_throttle_status": ["thermal_throttle", "thermal_throttle_events"],
    "retry_buffer_overflow_count": ["retry_buffer_overflows"],
    "pll_lock_loss_count": ["pll_lock_losses"],
    "nand_bytes_written": ["nand_bytes_written"],
    "host_bytes_written": ["host_bytes_written"],
    "system_area_life_left": ["system_area_life_left"],
    "total_read": ["nand_bytes_read"],
    "tempt_since_born": ["temperature_lifetime_max_celsius", "temperature_lifetime_min_celsius", None],
    "power_consumption": ["power_max_watts", "power_min_watts", "power_watts"],
    "tempt_since_bootup": ["temperature_boot_max_celsius", "temperature_boot_min_celsius",
                           "temperature_celsius"],
    "read_fail_count": ["read_fails"],
    "flash_media_error": ["flash_media_errors"],
}
# One byte of status and four of time, which it prints as one number of six bytes.
WRONG = {"thermal_throttle_time"}
NORMALISED = {"wear_leveling": "wear_leveling_percent"}

LAYOUT_2 = {
    "layout": 2, "program_fails": 2, "erase_fails": 0, "wear_leveling_percent": 96,
    "erase_cycles_min": 88, "erase_cycles_max": 143, "erase_cycles_avg": 117,
    "end_to_end_errors": 0, "pcie_crc_errors": 1, "timed_workload_wear_millipercent": 310,
    "timed_workload_host_reads_percent": 55, "timed_workload_minutes": 40320,
    "thermal_throttle": 0, "thermal_throttle_events": 2, "lifetime_write_amplification": 137,
    "pll_lock_losses": 0, "nand_bytes_written": str(1801439 * UNIT_BYTES),
    "host_bytes_written": str(1401174 * UNIT_BYTES), "system_area_life_left": 99,
    "firmware_update_count": 3, "dram_correctable_errors": 12, "dram_uncorrectable_errors": 0,
    "xor_recoveries_passed": 4, "xor_recoveries_failed": 1, "xor_recoveries": 5,
    "inflight_reads": 31, "inflight_writes": 7, "nand_bytes_read": str(2913840 * UNIT_BYTES),
    "temperature_lifetime_max_celsius": 66, "temperature_lifetime_min_celsius": 15,
    "power_max_watts": 19, "power_min_watts": 6, "power_watts": 11,
    "temperature_boot_max_celsius": 57, "temperature_boot_min_celsius": 24,
    "temperature_celsius": 38, "thermal_throttle_time": 9, "capacitor_capacitance": 1180,
    "capacitor_nominal_capacitance": 1200, "capacitor_threshold_capacitance": 840,
    "free_superblocks": 40, "unknown_items": [],
}
LAYOUT_3 = {
    "layout": 3, "program_fails": 0, "erase_fails": 0, "wear_leveling_percent": 100,
    "erase_cycles_min": 3, "erase_cycles_max": 9, "erase_cycles_avg": 5,
    "external_end_to_end_errors_0": 0, "external_end_to_end_errors_1": 0,
    "external_end_to_end_errors_2": 0, "pcie_crc_errors": 0,
    "nand_bytes_written": str(70218 * UNIT_BYTES), "host_bytes_written": str(61011 * UNIT_BYTES),
    "reallocated_sectors": 11, "uncorrectable_sectors": 0, "nand_uncorrectable_detections": 2,
    "nand_xor_corrections": 2, "garbage_collections": 90712, "dram_uncorrectable_errors": 0,
    "sram_uncorrectable_errors": 0, "raid_recovery_failures": 0, "inflight_commands": 14,
    "inflight_admin_commands": 1, "internal_end_to_end_errors_0": 0,
    "internal_end_to_end_errors_1": 0, "internal_end_to_end_errors_2": 0, "die_failures": 0,
    "wear_leveling_runs": 33, "read_disturbs": 120, "data_retentions": 8,
    "capacitor_health_percent": 99, "capacitor_raw": 4095, "dram_correctable_errors": 7,
    "dram_correctable_address": 0x1f2040, "sram_correctable_errors": 1,
    "sram_correctable_address": 0x800, "write_throttle": 0, "write_throttle_total": 6,
    "thermal_throttle": 0, "thermal_throttle_events": 1, "block_paddings": 210,
    "host_trimmed_sectors": 8388608, "host_zeroed_sectors": 4096,
    "firmware_updates_without_reset": 2, "firmware_updates_with_reset": 1,
    "firmware_updates_failed": 0, "unknown_items": [],
}


def begun():
    host = Host(poll=EIGHT)
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    return host


def values(host, device):
    def read():
        document = host.get(f"/v1/drives/{device}/memblaze")
        return document["valid"] and document["values"]
    return host.wait(read, f"log CAh of {device}")


def numbers(text):
    return [int(number.replace(".", "")) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def shown(key, value):
    """Our value in the unit of the vendor's tool."""
    if key.endswith("_celsius"):
        return value + KELVIN
    return int(value) // UNIT_BYTES if "bytes" in key else value


def test_layout_0_as_the_vendors_tool_prints_it():
    host = begun()
    ours = values(host, "nvme0")
    compared = set()
    for line in host.run("nvme", "memblaze", "smart-log-add", "/dev/nvme0").stdout.splitlines():
        match = re.match(r"(\w+)\s*:\s*(\d+)%\s+(.*)", line)
        if not match or match[1] in WRONG:
            continue
        name, normalised, raw = match.groups()
        for key, theirs in zip(WITNESS[name], numbers(raw), strict=True):
            if key:
                assert shown(key, ours[key]) == theirs, (name, key, ours[key], theirs)
                compared.add(key)
        if name in NORMALISED:
            assert ours[NORMALISED[name]] == int(normalised), name
            compared.add(NORMALISED[name])
    # What it leaves out, or prints wrong.
    alone = {"layout": 0, "capacitor_health_percent": 98, "capacitor_raw": 98,
             "thermal_throttle_time": 17, "unknown_items": []}
    assert {key: ours[key] for key in alone} == alone
    given = {key for key, value in ours.items() if value is not None}
    assert given == compared | set(alone), given ^ (compared | set(alone))
    return f"{len(compared)} values equal"


def test_layouts_2_and_3():
    host = begun()
    for device, want in (("nvme2", LAYOUT_2), ("nvme4", LAYOUT_3)):
        given = {key: value for key, value in values(host, device).items() if value is not None}
        assert given == want, {key: (given.get(key), want.get(key)) for key in given.keys() | want
                               if given.get(key) != want.get(key)}


def capacitor(host, device):
    return host.get(f"/v1/drives/{device}/capacitor")


def test_capacitor_of_every_kind_of_drive():
    host = begun()
    for device in ("nvme0", "nvme2", "nvme4", "nvme7"):
        values(host, device)
    for device, health, source, confidence, percent in (
            ("nvme0", "ok", "percentage", "derived", 98), ("nvme2", "ok", "capacitance", "stated", 98),
            ("nvme4", "ok", "percentage", "derived", 99), ("nvme5", "unknown", "none", None, None),
            ("nvme6", "unknown", "none", None, None),
            ("nvme7", "failed", "critical_warning", "stated", 98)):
        told = capacitor(host, device)
        assert (told["health"], told["source"], told["confidence"], told["health_percent"]) == (
            health, source, confidence, percent), told
        assert (told["read_at"] is None) == (health == "unknown"), told
        serial = host.drive(device)["serial"]
        assert host.metric("ember_capacitor_state", serial=serial, state=health) == "1"
        assert host.metric("ember_capacitor_health_percent", serial=serial) == (
            None if percent is None else str(percent))


def test_others_are_not_asked():
    host = begun()
    values(host, "nvme4")
    for device in ("nvme5", "nvme6"):
        page = host.get(f"/v1/drives/{device}/memblaze")
        assert page["status"] == "unsupported" and not page["valid"], page
        assert not [c for c in host.control("log", device) if c["command"] == "get-log 0xca"]
        assert all(value is None for value in page["values"].values()), page


def page_of(host, data):
    path = host.path("page.hex")
    with open(path, "w", encoding="ascii") as file:
        for at in range(0, len(data), 16):
            file.write(f"{at:08x}: {data[at:at + 16].hex(' ')}\n")
    return path


def test_pages_that_tell_nothing_and_layouts_nobody_knows():
    host = begun()
    values(host, "nvme2")
    unknown = bytearray(512)
    unknown[0], unknown[3], unknown[5] = 0xab, 100, 7
    unknown[511] = 1
    later = bytearray(512)
    later[12 * 3], later[12 * 3 + 3], later[12 * 3 + 5] = 0x77, 5, 9
    later[511] = 2
    for data, status, want in (
            (b"\xff" * 512, "no-reading", None), (bytes(512), "no-reading", None),
            (bytes(unknown), "ok", {"layout": 1, "program_fails": None, "unknown_items": []}),
            (bytes(later), "ok", {"layout": 2, "program_fails": None,
                                  "unknown_items": [{"id": "77", "normalised": 5, "raw": 9}]})):
        host.control("page", "nvme2", "vendor", page_of(host, data))

        def settled():
            document = host.get("/v1/drives/nvme2/memblaze")
            return document["status"] == status and (
                want is None or want.items() <= document["values"].items())
        host.wait(settled, f"{status} {want}")
        if want:
            assert capacitor(host, "nvme2")["health"] == "unknown"
