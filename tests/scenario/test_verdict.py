# SPDX-License-Identifier: Apache-2.0
"""One verdict per drive, through the API, the metrics and emberctl: what the simulated drives show,
what a fault makes of it, and what becomes of it when it passes."""
import harness
from harness import Host

FAST = {"smart_interval": "100ms", "identify_interval": "300ms", "selftest_interval": "100ms",
        "errors_interval": "100ms", "memblaze_interval": "200ms"}
VERDICTS = ("unknown", "ok", "degraded", "failing")
CODES = {"ok": 0, "degraded": 6, "failing": 7, "unknown": 8}
GIVEN = harness.TOP + "/tests/cases/given/"


def health(host, drive):
    return host.get(f"/v1/drives/{drive}/health")


def rules(document):
    return [reason["rule"] for reason in document["reasons"] if reason["severity"] != "info"]


def wait(host, drive, verdict, *expected, timeout=30):
    """Until the drive has the verdict for these reasons and no others; the document."""
    last = None

    def settled():
        nonlocal last
        last = health(host, drive)
        return last["health"] == verdict and set(rules(last)) == set(expected) and last
    try:
        return host.wait(settled, f"{verdict} of {drive} for {expected}", timeout=timeout)
    except AssertionError as error:
        raise AssertionError(f"{last}\n{error}") from None


def agree(host, drive, verdict):
    """Every surface says the same."""
    document = wait(host, drive, verdict, *rules(health(host, drive)))
    one = host.drive(drive)
    listed = [d for d in host.get("/v1/drives")["drives"] if d["id"] == one["id"]][0]
    worst = document["reasons"][0] if rules(document) else None
    for summary in (one, listed):
        assert summary["health"] == verdict, summary
        assert summary["health_reason"] == (worst and worst["text"]), summary
    for state in VERDICTS:
        assert host.metric("ember_drive_health", serial=one["serial"], state=state) == (
            "1" if state == verdict else "0"), state
    result = host.emberctl("health", one["serial"], check=False)
    assert result.returncode == CODES[verdict], result
    assert verdict in result.stdout
    return document


def test_the_drives_of_the_demo():
    host = Host(poll=FAST)
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    for device in ("nvme0", "nvme1", "nvme2", "nvme3", "nvme4", "nvme5", "nvme6"):
        wait(host, device, "ok")
        agree(host, device, "ok")
    # Media errors at first sight are told, and decide nothing.
    assert [r["rule"] for r in health(host, "nvme3")["reasons"]] == ["media_errors"]
    bad = wait(host, "nvme7", "failing", "critical_warning.spare_below_threshold",
               "critical_warning.temperature_out_of_range", "critical_warning.reliability_degraded",
               "critical_warning.volatile_backup_failed", "spare.below_threshold",
               "endurance_consumed", *hot(host))
    agree(host, "nvme7", "failing")
    by_rule = {reason["rule"]: reason for reason in bad["reasons"]}
    worn = by_rule["endurance_consumed"]
    assert (worn["severity"], worn["value"], worn["limit"], worn["page"], worn["field"]) == (
        "degraded", 143, 100, "smart", "percentage_used"), worn
    assert by_rule["spare.below_threshold"]["value"] == 4 and bad["capacitor"] == "failed"
    assert worn["age_seconds"] is not None and worn["next_step"]
    result = host.emberctl("health", check=False)
    assert result.returncode == 7 and "failing" in result.stdout, result
    table = host.emberctl("drives", env={"COLUMNS": "80"}).stdout
    assert "Health" in table.splitlines()[0] and all(len(l) <= 80 for l in table.splitlines()), table


def hot(host):
    """What 84 degrees are beside the limits that the drive announces."""
    identify = host.values("nvme7", "identify")
    if identify["critical_temp_threshold_celsius"] and identify["critical_temp_threshold_celsius"] <= 84:
        return ["temperature.critical"]
    limit = identify["warning_temp_threshold_celsius"]
    return ["temperature.warning"] if limit and limit <= 84 else []


def one(product="6530", more=""):
    host = Host(scenario=f"[drive]\nproduct = {product}\nserial = ONE0001\n{more}", poll=FAST)
    host.wait_read("nvme0")
    wait(host, "nvme0", "ok")
    return host


def test_values_that_come_and_go():
    host = one(more="wctemp_kelvin = 343\ncctemp_kelvin = 353\n")
    for name, value, back, verdict, expected in (
            ("critical_warning", 0x08, 0, "failing", ["critical_warning.media_read_only"]),
            ("critical_warning", 0x20, 0, "degraded", ["critical_warning.pmr_unreliable"]),
            ("endurance_group_critical_warning", 0x04, 0, "failing", ["endurance_group.reliability_degraded"]),
            ("available_spare", 10, 100, "degraded", ["spare.at_threshold"]),
            ("percentage_used", 100, 3, "degraded", ["endurance_consumed"]),
            ("temperature_celsius", 75, 38, "degraded", ["temperature.warning"]),
            ("temperature_celsius", 80, 38, "failing", ["temperature.critical"])):
        host.control("set", "nvme0", name, str(value))
        wait(host, "nvme0", verdict, *expected)
        agree(host, "nvme0", verdict)
        host.control("set", "nvme0", name, str(back))
        wait(host, "nvme0", "ok")


def test_entries_of_the_error_log_one_by_one():
    host = one()
    for status in ("0x4002", "0x4001", "0x4109", "0x7", "0x10a"):
        host.control("error", "nvme0", status)
    host.control("error", "nvme0", "0x4286", "1", "1", "77")  # locked

    def told():
        return [r for r in health(host, "nvme0")["reasons"] if r["rule"].startswith("errors.")]
    host.wait(told, "the locked range to be told")
    assert [(r["rule"], r["severity"], r["value"]) for r in told()] == [("errors.locked", "info", 1)], told()
    agree(host, "nvme0", "ok")
    host.control("error", "nvme0", "0x4281", "1", "1", "4711")
    wait(host, "nvme0", "degraded", "errors.device")
    found = agree(host, "nvme0", "degraded")["reasons"][0]
    assert (found["detail"], found["value"], found["page"]) == ("unrecovered_read_error", 1, "errors"), found
    host.control("error", "nvme0", "0x4281", "1", "1", "4712")
    host.wait(lambda: health(host, "nvme0")["reasons"][0]["value"] == 2, "two of them")


def test_thousands_of_entries_that_hosts_made():
    """R17: 8,382 entries after four power cycles, and none of them tells of the drive."""
    host = Host(scenario=f"[drive]\nproduct = generic\nserial = R17\nsmart-page = {GIVEN}R17.hex\n"
                "elpe = 255\n", poll=FAST)
    statuses = ("0x4002", "0x4001", "0x4109")
    for number in range(96):
        host.control("error", "nvme0", statuses[number % 3], "0")
    host.wait_read("nvme0")
    host.wait(lambda: len(host.values("nvme0", "errors")["entries"]) >= 96, "the entries")
    wait(host, "nvme0", "ok")
    agree(host, "nvme0", "ok")
    entries = host.values("nvme0", "errors")["entries"]
    assert {(e["cause"], e["sqid"]) for e in entries} == {("host", 0)}, entries[0]
    assert {e["status"] for e in entries} == {"invalid_field", "invalid_opcode", "invalid_log_page"}
    count = host.values("nvme0")["num_err_log_entries"]
    assert int(count) == 8382, f"{count}: and none by us"
    assert "host" in host.emberctl("errors", "nvme0").stdout.splitlines()[-1].split()


def test_a_sanitize_that_stands_still():
    """R22a: one percent done, and the same a week later; without an estimate there is no other limit."""
    host = Host(scenario="[drive]\nproduct = 7940\nserial = R22\n",
                poll={**FAST, "sanitize_interval": "50ms", "sanitize_stalled_after": "500ms"})
    host.wait_read("nvme0")
    wait(host, "nvme0", "ok")
    host.control("page", "nvme0", "sanitize", GIVEN + "R22a.hex")
    wait(host, "nvme0", "degraded", "sanitize.stalled")
    reason = agree(host, "nvme0", "degraded")["reasons"][0]
    assert (reason["page"], reason["field"], reason["limit"]) == ("sanitize", "percent", 0), reason
    values = host.values("nvme0", "sanitize")
    assert (values["state"], values["percent"]) == ("in_progress", 1), values
    assert values["block_erase_estimate_seconds"] is None, values
    # One step more, and it goes on.
    host.control("set", "nvme0", "sprog", "656")
    wait(host, "nvme0", "ok")
    host.control("set", "nvme0", "sstat", "3")
    wait(host, "nvme0", "degraded", "sanitize.failed")


def vendor_page(host, name, items):
    """Log CAh of layout 2: slots of 12 bytes."""
    page = bytearray(512)
    for slot, (number, words) in enumerate(items):
        page[12 * slot] = number
        for place, word in enumerate(words):
            page[12 * slot + 5 + 2 * place:12 * slot + 7 + 2 * place] = word.to_bytes(2, "little")
    page[511] = 2
    text = "".join(f"{at:08x}: {page[at:at + 16].hex()}\n" for at in range(0, 512, 16))
    return host.write(name, text)


def test_a_capacitor_that_wears_out():
    host = one()
    host.control("page", "nvme0", "vendor", vendor_page(host, "low.hex", [(0xec, (840, 1200, 840))]))
    wait(host, "nvme0", "failing", "capacitor.failed")
    document = agree(host, "nvme0", "failing")
    found = document["reasons"][0]
    assert (found["field"], found["value"], found["limit"], found["confidence"], document["capacitor"]) == (
        "capacitor_capacitance", 840, 840, "stated", "failed"), found
    host.control("page", "nvme0", "vendor", vendor_page(host, "good.hex", [(0xec, (1100, 1200, 840))]))
    wait(host, "nvme0", "ok")
    # A layout without the value: the capacitor is unknown and never ok, and the drive is not for that.
    host.control("page", "nvme0", "vendor", vendor_page(host, "none.hex", [(0xab, (1,))]))
    host.wait(lambda: health(host, "nvme0")["capacitor"] == "unknown", "an unknown capacitor")
    agree(host, "nvme0", "ok")


def test_a_self_test_that_failed():
    host = Host(
        scenario=f"[drive]\nproduct = 6530\nserial = R18\nselftest-page = {GIVEN}R18.hex\n", poll=FAST)
    host.wait_read("nvme0", "selftest")
    wait(host, "nvme0", "failing", "selftest.failed")
    found = agree(host, "nvme0", "failing")["reasons"][0]
    assert (found["detail"], found["value"], found["page"]) == ("extended", 7, "selftest"), found


def test_reports_from_the_field():
    cases = {"R01": ("ok", []), "R02b": ("ok", []), "R14": ("ok", []), "R17": ("ok", []),
             "R05": ("failing", ["critical_warning.reliability_degraded", "endurance_consumed"]),
             "R07": ("failing", ["critical_warning.reliability_degraded", "endurance_consumed"]),
             "R08": ("failing", ["critical_warning.volatile_backup_failed"])}
    host = Host(scenario="".join(f"[drive]\nproduct = generic\nserial = {case}\nsmart-page = {GIVEN}{case}.hex\n"
                                 for case in cases), poll=FAST)
    host.wait(lambda: len(host.devices()) == len(cases), "all drives")
    for case, (verdict, expected) in cases.items():
        wait(host, case, verdict, *expected)
        agree(host, case, verdict)


def test_what_is_not_known():
    """SMART that grows old while its drive answers, a drive that hangs, one that is gone."""
    host = Host(scenario="".join(f"[drive]\nproduct = generic\nserial = U{i}\n" for i in range(4)),
                poll=FAST, patience="500ms")
    host.wait(lambda: len(host.devices()) == 4, "four drives")
    for i in range(4):
        wait(host, f"U{i}", "ok")
    host.control("refuse", "nvme0", "get-log", "0x02", "0x4109")  # and so not asked again
    host.control("set", "nvme1", "critical_warning", "8")
    wait(host, "U1", "failing", "critical_warning.media_read_only")
    host.control("hang", "nvme1")
    host.control("vanish", "nvme2")
    old = wait(host, "U0", "unknown", "smart.old")
    assert old["reasons"][0]["value"] >= 5 and old["state"] == "ok", old
    agree(host, "U0", "unknown")
    # Its last readings stand below, and do not make it failing.
    hung = wait(host, "U1", "unknown", "drive.unresponsive", "smart.old", "critical_warning.media_read_only")
    assert hung["reasons"][0]["rule"] == "drive.unresponsive"
    agree(host, "U1", "unknown")
    host.wait(lambda: "drive.removed" in rules(health(host, "U2")), "a removed drive")
    assert health(host, "U2")["health"] == "unknown"
    assert host.emberctl("health", check=False).returncode == 8
    wait(host, "U3", "ok")
    host.control("resume", "nvme1")
    wait(host, "U1", "failing", "critical_warning.media_read_only")


def test_never_read():
    host = Host(scenario="[drive]\nproduct = generic\nserial = N1\nat = 0s refuse get-log 0x02 0x4109\n", poll=FAST)
    host.wait(lambda: host.devices() == ["nvme0"], "the drive")
    host.wait(lambda: host.get("/v1/drives/nvme0/smart")["status"] == "refused", "a refusal")
    wait(host, "nvme0", "unknown", "smart.unread")
    agree(host, "nvme0", "unknown")
