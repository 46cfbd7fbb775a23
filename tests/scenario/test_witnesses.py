# SPDX-License-Identifier: Apache-2.0
"""Ember, nvme-cli and smartctl read the same simulated drives in the same run."""
import json
import random
import re
import tempfile

import harness
import page_witnesses as pages
import witnesses


def nvme_log(host, device):
    return json.loads(host.run("nvme", "smart-log", f"/dev/{device}", "-o", "json").stdout)


def smartctl_log(host, device):
    # The exit status is a bit mask of findings; what counts is the page.
    result = host.run("smartctl", "-j", "-a", f"/dev/{device}", check=False)
    return json.loads(result.stdout)["nvme_smart_health_information_log"]


def test_table_has_every_field():
    host = harness.Host()
    host.wait_read("nvme0")
    known = {row[0] for row in witnesses.SMART}
    extra = {key for key in host.values("nvme0") if not key.endswith("_bits")} - known
    assert not extra, f"no row in tests/scenario/witnesses.py for {sorted(extra)}"


# ---- Identify, error log, effects log, sanitize status ----------------------------------------

def nvme(host, *arguments):
    return json.loads(host.run("nvme", *arguments, "-o", "json").stdout)


def smartctl(host, device):
    return json.loads(host.run("smartctl", "-j", "-i", f"/dev/{device}", check=False).stdout)


def xxd(data):
    rows = (data[at:at + 16] for at in range(0, len(data), 16))
    return "".join(f"{16 * n:08x}: {row.hex(' ')}\n" for n, row in enumerate(rows))


LETTERS = b"ABCDEFGHKLMNPQRSTUVWXYZ0123456789"


def any_identify(rng, number):
    """Bytes without sense, but for what makes a controller readable and a drive of its own."""
    page = bytearray(rng.randbytes(4096))
    page[4:24] = f"ANY{number:017}".encode()
    page[24:72] = bytes(rng.choice(LETTERS) for _ in range(48))
    page[80:84] = 0x00020000.to_bytes(4, "little")
    page[111] = 1  # an I/O controller
    page[261] |= 0x06  # effects log, long logs
    page[263] = 31  # all power states
    for at in (266, 268, 324, 326):  # thresholds on both sides of freezing
        page[at:at + 2] = rng.choice((rng.randrange(1, 273), rng.randrange(1 << 16))).to_bytes(2, "little")
    page[516:520] = rng.randrange(1, 1 << 32).to_bytes(4, "little")
    page[768:1024] = f"nqn.2014-08.org.example:{number}".encode().ljust(256, b"\0")
    return bytes(page)


def any_namespace(rng, formats):
    page = bytearray(rng.randbytes(4096))
    page[25] = formats - 1
    current = rng.randrange(formats)
    page[26] = current & 15 | rng.getrandbits(1) << 4 | current >> 4 << 5
    page[82] = 0  # no formats beyond
    page[128:384] = bytes(256)
    for at in range(128, 128 + 4 * formats, 4):
        page[at:at + 4] = bytes([rng.randrange(256), rng.randrange(256), rng.randrange(9, 17),
                                 rng.randrange(4)])
    return bytes(page)


def any_errors(rng):
    """Some entries not in use, some without a command, a block or a parameter."""
    page = bytearray(rng.randbytes(256 * 64))
    for at in range(0, len(page), 64):
        for offset, size in ((8, 4), (14, 2), (16, 8)):
            if rng.random() < 0.2:
                page[at + offset:at + offset + size] = b"\xff" * size
        page[at + 29] = rng.choice((0, 0, 1, 2, 3, 254, 77))
        if rng.random() < 0.2:
            page[at:at + 64] = bytes(64)
    return bytes(page)


def any_health(rng, coldest):
    """All counters use all of their bits; from the second drive on, temperatures below freezing."""
    page = bytearray(rng.randbytes(512))
    for at in (1, *range(200, 216, 2)):
        page[at:at + 2] = rng.randrange(coldest, coldest + 300).to_bytes(2, "little")
    page[214:216] = bytes(2)  # the last sensor is none
    return bytes(page)


def any_sanitize(rng):
    page = bytearray(512)
    page[0:8] = rng.randbytes(8)
    for at in range(8, 32, 4):
        page[at:at + 4] = rng.choice((b"\xff" * 4, rng.randbytes(4)))
    return bytes(page)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def host_with_any_bytes(count=4, poll=None):
    """The drives of the default scenario, and some whose pages are random (of a fixed seed)."""
    rng, text = random.Random(20), f"[include]\nfile = {harness.TOP}/sim/scenarios/default.conf\n"
    with tempfile.TemporaryDirectory() as directory:
        for number in range(8, 8 + count):
            made = {"identify": any_identify(rng, number), "error": any_errors(rng),
                    "namespace": any_namespace(rng, (1, 16, 17, 64)[number % 4]),
                    "effects": rng.randbytes(4096), "sanitize": any_sanitize(rng),
                    "smart": any_health(rng, (65200, 1, 200, 272)[number % 4])}
            text += f"[drive nvme{number}]\nproduct = 7940\n"
            for page, data in made.items():
                text += f"{page}-page = {write(f'{directory}/{page}-{number}.hex', xxd(data))}\n"
        return harness.Host(scenario=write(directory + "/any.conf", text), poll=poll)


def judged(results):
    found = [line for lines, _ in results for line in lines]
    compared = sum(count for _, count in results)
    assert not found, f"{len(found)} differences: " + "; ".join(found[:20])
    assert compared, "nothing was compared"
    return f"{compared} values equal"


def all_devices(host, count):
    host.wait(lambda: len(host.devices()) == count, "all drives")
    return host.devices()


def settled(host, device, page):
    """The document of a page that has been read, or that the drive does not announce."""
    def read():
        document = host.get(f"/v1/drives/{device}/{page}")
        return document if document["status"] != "never-read" else None
    return host.wait(read, f"the {page} page of {device}")


def negative(values):
    return [key for key, value in values.items() if isinstance(value, int) and value < 0]


def test_every_smart_field_of_every_drive():
    host, results, below_zero = host_with_any_bytes(poll={"smart_interval": "100ms"}), [], set()
    for device in all_devices(host, 12):
        identify = host.wait_read(device, "identify")["values"]
        host.wait_read(device)
        logs = [("nvme-cli", nvme_log(host, device), 1), ("smartctl", smartctl_log(host, device), 2)]
        # The witnesses' own commands may have moved a counter: a reading that is younger counts.
        before = host.counts(device)["commands"]
        host.wait(lambda device=device, before=before:
                  host.counts(device)["commands"] > before + 1, "another poll")
        values = host.values(device)
        below_zero.update(negative(values))
        found, count = witnesses.differences(values, identify, logs)
        results.append(([f"{device}: {line}" for line in found], count))
    assert {"temperature_celsius", "temperature_sensor_1_celsius"} <= below_zero, below_zero
    return judged(results)


def without_lists(values, *lists):
    return {key: value for key, value in values.items() if key not in lists}


def test_every_identify_field_of_every_drive():
    host, results, below_zero = host_with_any_bytes(), [], set()
    for device in all_devices(host, 12):
        values = host.wait_read(device, "identify")["values"]
        log = nvme(host, "id-ctrl", f"/dev/{device}")
        results.append(pages.compare(device, without_lists(values, "power_states"),
                                     pages.IDENTIFY, log))
        below_zero.update(negative(values))
        for state in values["power_states"]:
            results.append(pages.compare(f"{device} state {state['state']}",
                                         without_lists(state, "state"), pages.POWER_STATE,
                                         log["psds"][state["state"]]))
        manages = values["optional_admin_commands"] & pages.NAMESPACE_MANAGEMENT
        rows = [row for row in pages.SMARTCTL
                if manages or row[0] != "unallocated_capacity_bytes"]
        results.append(pages.compare_paths(device, values, rows, smartctl(host, device)))
    assert below_zero == {"warning_temp_threshold_celsius", "critical_temp_threshold_celsius",
                          "min_thermal_management_celsius", "max_thermal_management_celsius"}, \
        f"not all that have a sign were compared below zero: {below_zero}"
    return judged(results)


def compare_namespace(host, device, namespace):
    where, values = f"{device} namespace {namespace['nsid']}", namespace["values"]
    log = nvme(host, "id-ns", f"/dev/{device}", "-n", str(namespace["nsid"]))
    results = [pages.compare(where, without_lists(values, "lba_formats"), pages.NAMESPACE, log)]
    assert len(values["lba_formats"]) == len(log["lbafs"]), where
    for ours in values["lba_formats"]:
        results.append(pages.compare(f"{where} format {ours['lba_format']}",
                                     without_lists(ours, "lba_format"), pages.LBA_FORMAT,
                                     log["lbafs"][ours["lba_format"]]))
    return results


def test_every_namespace_field_of_every_drive():
    host, results = host_with_any_bytes(), []
    for device in all_devices(host, 12):
        host.wait(lambda: all(n["valid"] for n in namespaces(host, device)) and
                  namespaces(host, device), f"the namespaces of {device}")
        theirs = {n["id"]: n for n in smartctl(host, device).get("nvme_namespaces", [])}
        for namespace in namespaces(host, device):
            results += compare_namespace(host, device, namespace)
            results.append(pages.compare_paths(device, namespace["values"],
                                               pages.SMARTCTL_NAMESPACE,
                                               theirs.get(namespace["nsid"], {})))
    return judged(results)


def namespaces(host, device):
    return host.get(f"/v1/drives/{device}/namespaces")["namespaces"]


ERROR_LINE = re.compile(r"^ *(\d+) +(\d+) +(\d+|-) +(0x\w+|-) +0x(\w+) +(0x\w+|-) +(\d+|-)")


def smartctl_errors(host, device):
    """{place from 1: (error count, queue, command, status word, block)}; it has no JSON of them"""
    output = host.run("smartctl", "-l", "error,256", f"/dev/{device}", check=False).stdout
    lines = [ERROR_LINE.match(line) for line in output.splitlines()]
    return {int(m[1]) + 1: m for m in lines if m}


def compare_smartctl_error(where, entry, line):
    word = int(line[5], 16) >> 1
    seen = (line[2], line[3], line[4], word & 0xFF, word >> 8 & 7)
    ours = (entry["error_count"], "-" if entry["sqid"] is None else str(entry["sqid"]),
            entry["cmdid"] or "-", entry["sc"], entry["sct"])
    return ([] if seen == ours else [f"{where}: Ember {ours}, smartctl {seen}"]), len(seen)


def test_every_error_of_every_drive():
    host, results = host_with_any_bytes(), []
    for device in all_devices(host, 12):
        host.wait_read(device, "identify")
        host.control("error", device, "0x281", "3", "1", "1234567890123")
        host.control("error", device, "0x4002", "0", "4294967295")
        host.control("error", device, "0x006")
        before = host.wait_read(device, "errors")["attempted_at"]
        host.request(f"/v1/drives/{device}/refresh", method="POST")
        host.wait(lambda: host.get(f"/v1/drives/{device}/errors")["attempted_at"] != before,
                  f"another reading of the errors of {device}")
        values = host.values(device, "errors")
        log = nvme(host, "error-log", f"/dev/{device}", "-e", "256")["errors"]
        theirs = smartctl_errors(host, device)
        used = [n for n, entry in enumerate(log, 1) if entry["error_count"]]
        # What does not fit the drive's log is not in ours.
        used = [n for n in used if n <= len(values["entries"]) + values["unused_entries"]]
        assert used == [entry["entry"] for entry in values["entries"]] and used, device
        for entry in values["entries"]:
            where = f"{device} entry {entry['entry']}"
            results.append(pages.compare(
                where, without_lists(entry, "entry", "status", "status_text", "cause"), pages.ERROR,
                log[entry["entry"] - 1]))
            if entry["entry"] in theirs:
                results.append(compare_smartctl_error(where, entry, theirs[entry["entry"]]))
    return judged(results)


def effects_log(host, device):
    """{"admin_commands": {opcode: (name, bits)}, "io_commands": …}"""
    log = nvme(host, "effects-log", f"/dev/{device}", "-c", "0")[0]
    form = re.compile(r"I?O?A?CS_(\d+) \((.*)\)")
    return {ours: {int(m[1]): (m[2], pages.number(bits)) for key, bits in log[theirs].items()
                   if (m := form.fullmatch(key))}
            for ours, theirs in (("admin_commands", "admin_cmd_set"),
                                 ("io_commands", "io_cmd_set"))}


def as_ours(name):
    return re.sub("[^a-z0-9]+", "_", name.lower().replace("i/o", "io"))


def compare_effect(where, entry, version, name, bits):
    found, compared = [], 0
    for key, convert in pages.EFFECT:
        expected = convert(bits, None) if version >= pages.EFFECT_SINCE.get(key, (0, 0)) else None
        compared += 1
        if entry[key] != expected:
            found.append(f"{where}: {key}: Ember {entry[key]!r}, nvme-cli {expected!r}")
    if name != "Unknown" and not entry["name"].startswith(("vendor_", "reserved_")):
        compared += 1
        if entry["name"] != as_ours(name):
            found.append(f"{where}: Ember {entry['name']}, nvme-cli {name}")
    return found, compared


def test_every_effect_of_every_drive():
    host, results = host_with_any_bytes(), []
    for device in all_devices(host, 12):
        version = witnesses.version(host.wait_read(device, "identify")["values"])
        document = settled(host, device, "effects")
        if document["status"] == "unsupported":
            continue
        theirs = effects_log(host, device)
        for group, commands in theirs.items():
            ours = {entry["opcode"]: entry for entry in document["values"][group]}
            supported = {code: c for code, c in commands.items() if c[1] & 1}
            assert set(ours) == set(supported), f"{device} {group}"
            for opcode, (name, bits) in supported.items():
                results.append(compare_effect(f"{device} {group} {opcode:#x}", ours[opcode],
                                              version, name, bits))
    return judged(results)


def test_every_sanitize_field_of_every_drive():
    host, results = host_with_any_bytes(), []
    for device in all_devices(host, 12):
        identify = host.wait_read(device, "identify")["values"]
        document = settled(host, device, "sanitize")
        if document["status"] == "unsupported":
            continue
        values = {key: value for key, value in document["values"].items()
                  if key not in pages.SANITIZE_NOT_PRINTED}
        log = nvme(host, "sanitize-log", f"/dev/{device}")[device]
        if witnesses.version(identify) < (1, 4):
            log.update({key: -1 for key in log if key.endswith("_no_dealloc")})
        results.append(pages.compare(device, values, pages.SANITIZE, log))
    return judged(results)
