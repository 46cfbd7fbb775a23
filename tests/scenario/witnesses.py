# SPDX-License-Identifier: Apache-2.0
"""Each SMART field of Ember and where two independent tools print it.

A row is (Ember's key, nvme-cli's key, smartctl's key). A witness's entry is (key, function that
turns what it prints into Ember's value), NOT_PRINTED, or ("wrong", why).
nvme-cli: `nvme smart-log -o json`. smartctl: `smartctl -j -a`, nvme_smart_health_information_log.
"""
NOT_PRINTED = ("not printed",)


def same(value):
    return value


def digits(value):
    return str(value)


def unsigned(value):
    """nvme-cli prints numbers of 32 bits as if they had a sign."""
    return value + (1 << 32) if value < 0 else value


def kelvin(value):
    return value - 273


def units(value):
    return str(value * 512000)


def sensor(number):
    key = f"temperature_sensor_{number}"
    # nvme-cli leaves a sensor of 0 K out; smartctl writes null, or a shorter list.
    return (f"{key}_celsius", (key, kelvin), (("temperature_sensors", number - 1), same))


SMART = [
    ("critical_warning", ("critical_warning", same), ("critical_warning", same)),
    ("temperature_celsius", ("temperature", kelvin), ("temperature", same)),
    ("available_spare_percent", ("avail_spare", same), ("available_spare", same)),
    ("available_spare_threshold_percent", ("spare_thresh", same),
     ("available_spare_threshold", same)),
    ("percentage_used", ("percent_used", same), ("percentage_used", same)),
    ("endurance_group_critical_warning", ("endurance_grp_critical_warning_summary", same),
     NOT_PRINTED),
    ("data_units_read", ("data_units_read", digits), ("data_units_read", digits)),
    ("data_units_written", ("data_units_written", digits), ("data_units_written", digits)),
    ("bytes_read", ("data_units_read", units), ("data_units_read", units)),
    ("bytes_written", ("data_units_written", units), ("data_units_written", units)),
    ("host_read_commands", ("host_read_commands", digits), ("host_reads", digits)),
    ("host_write_commands", ("host_write_commands", digits), ("host_writes", digits)),
    ("controller_busy_time_minutes", ("controller_busy_time", digits),
     ("controller_busy_time", digits)),
    ("power_cycles", ("power_cycles", digits), ("power_cycles", digits)),
    ("power_on_hours", ("power_on_hours", digits), ("power_on_hours", digits)),
    ("unsafe_shutdowns", ("unsafe_shutdowns", digits), ("unsafe_shutdowns", digits)),
    ("media_errors", ("media_errors", digits), ("media_errors", digits)),
    ("num_err_log_entries", ("num_err_log_entries", digits), ("num_err_log_entries", digits)),
    ("warning_temp_time_minutes", ("warning_temp_time", unsigned), ("warning_temp_time", same)),
    ("critical_comp_time_minutes", ("critical_comp_time", unsigned), ("critical_comp_time", same)),
    *[sensor(number) for number in range(1, 9)],
    ("thermal_mgmt_temp1_transitions", ("thm_temp1_trans_count", unsigned), NOT_PRINTED),
    ("thermal_mgmt_temp2_transitions", ("thm_temp2_trans_count", unsigned), NOT_PRINTED),
    ("thermal_mgmt_temp1_time_seconds", ("thm_temp1_total_time", unsigned), NOT_PRINTED),
    ("thermal_mgmt_temp2_time_seconds", ("thm_temp2_total_time", unsigned), NOT_PRINTED),
]

# Neither witness knows the version of the drive: before it a reserved 0 is no value for Ember.
SINCE = {
    "warning_temp_time_minutes": (1, 2), "critical_comp_time_minutes": (1, 2),
    **{f"temperature_sensor_{number}_celsius": (1, 2) for number in range(1, 9)},
    "thermal_mgmt_temp1_transitions": (1, 3), "thermal_mgmt_temp2_transitions": (1, 3),
    "thermal_mgmt_temp1_time_seconds": (1, 3), "thermal_mgmt_temp2_time_seconds": (1, 3),
}


def printed(log, entry):
    """(True, value as Ember shows it) or (False, why there is none)"""
    if len(entry) == 1 or entry[0] == "wrong":
        return False, entry[-1]
    key, convert = entry
    if isinstance(key, tuple):
        values = log.get(key[0]) or []
        value = values[key[1]] if key[1] < len(values) else None
    else:
        value = log.get(key + "_s", log.get(key))
        if isinstance(value, str):
            value = int(value)
    return True, None if value is None else convert(value)


def version(identify):
    return tuple(int(part) for part in (identify["version"] or "0.0").split(".")[:2])


def differences(values, identify, logs):
    """What Ember and the witnesses do not agree on. logs: [(name, log, index of its column)]"""
    found, compared = [], 0
    keys = {row[0] for row in SMART}
    missing = [key for key in values if key not in keys and not key.endswith("_bits")]
    if missing:
        found.append(f"fields without a row in the witness table: {missing}")
    for row in SMART:
        for name, log, column in logs:
            is_printed, value = printed(log, row[column])
            if not is_printed:
                continue
            compared += 1
            if values[row[0]] == value:
                continue
            too_old = row[0] in SINCE and version(identify) < SINCE[row[0]]
            if too_old and values[row[0]] is None and value == 0:
                continue
            found.append(f"{row[0]}: Ember {values[row[0]]!r}, {name} {value!r}")
    return found, compared
