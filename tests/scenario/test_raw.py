# SPDX-License-Identifier: Apache-2.0
"""Pages that somebody has read now: the bytes against nvme-cli, what is let pass, and a drive that
does not answer."""
import struct
import subprocess
import threading

from harness import Host, HttpError

SLOW = {"smart_interval": "1h", "identify_interval": "1h"}


def begun(**more):
    host = Host(poll=SLOW, **more)
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    for device in host.devices():
        host.wait_read(device)
    return host


def ask(host, drive, **query):
    words = "&".join(f"{key}={value}" for key, value in query.items())
    return host.get(f"/v1/drives/{drive}/raw?{words}", method="POST")


def refused_with(status, call):
    try:
        call()
    except HttpError as error:
        assert error.status == status, error
        return error.body
    raise AssertionError(f"expected {status}")


def witness(host, *words):
    result = subprocess.run(["nvme", *words, "--raw-binary"], env=host.env, capture_output=True,
                            timeout=60, check=True)
    return result.stdout


def test_bytes_are_those_that_nvme_cli_reads():
    host = begun()
    for page, length in (0x03, 512), (0x06, 564), (0xca, 512):
        answer = ask(host, "nvme0", kind="log", page=page)
        assert bytes.fromhex(answer["data"]) == witness(
            host, "get-log", "/dev/nvme0", f"--log-id={page}", f"--log-len={length}"), page
        assert answer["length"] == length and answer["status"] == "ok", answer
    answer = ask(host, "nvme0", kind="identify", page=1)
    assert bytes.fromhex(answer["data"]) == witness(host, "id-ctrl", "/dev/nvme0")
    assert answer["values"] == host.get("/v1/drives/nvme0/identify")["values"]
    part = ask(host, "nvme0", kind="log", page=0xca, offset=504, length=8)
    assert part["data"] == ask(host, "nvme0", kind="log", page=0xca)["data"][-16:]
    assert part["values"] is None, "a part is not the page"


def test_a_feature_has_its_value():
    host = begun()
    host.wait(lambda: ask(host, "nvme0", kind="feature", page=0x0b)["result"] & 0x1f == 0x1f,
              "armed events")
    answer = ask(host, "nvme0", kind="feature", page=0x0b)
    assert answer["length"] == 0 and answer["values"] is None, answer


def test_only_what_reading_leaves_as_it_is_unless_told():
    host = begun()
    before = host.counts("nvme0")["error_log_entries"]
    text = refused_with(400, lambda: ask(host, "nvme0", kind="log", page=0xc3))
    assert "consume=true" in str(text), text
    assert host.counts("nvme0")["error_log_entries"] == before, "it was not sent"
    answer = ask(host, "nvme0", kind="log", page=0xc3, consume="true")
    assert answer["status"] == "refused" and answer["nvme_status"] & 0x7ff == 0x109, answer
    assert answer["data"] is None and answer["status_detail"], answer
    assert host.counts("nvme0")["error_log_entries"] == before + 1, "counted as ours"
    assert host.drive("nvme0")["state"] == "ok"


def test_the_policy_has_the_last_word():
    host = begun(policy="[default]\narm = deny\n")
    answer = ask(host, "nvme0", kind="log", page=0xc3, consume="true")
    assert answer["status"] == "denied", answer
    assert ask(host, "nvme0", kind="log", page=2)["status"] == "ok"


def test_a_drive_that_does_not_answer_holds_up_nobody():
    host = begun()
    host.control("hang", "nvme1")
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(ask(host, "nvme1", kind="log", page=2)))
    thread.start()
    host.wait(lambda: host.counts("nvme1")["outstanding"], "the command is out")
    assert host.get("/v1/drives/nvme0/smart")["valid"]
    assert host.get("/v1/drives/nvme0/history?field=temperature_celsius")["points"] is not None
    thread.join(30)
    assert answers and answers[0]["status"] in ("timeout", "stuck"), answers
    host.control("resume", "nvme1")


def test_the_verb():
    host = begun()
    text = host.emberctl("raw", "log", "nvme0", "0xca", "--hex").stdout
    assert text.splitlines()[0].startswith("Log page CAh of nvme0"), text
    assert "000000  " in text and "|" in text, text
    assert "Endurance used" in host.emberctl("raw", "log", "nvme0", "2").stdout
    path = host.path("page.bin")
    host.emberctl("raw", "log", "nvme0", "0xca", "--out", path)
    with open(path, "rb") as file:
        assert file.read().hex() == ask(host, "nvme0", kind="log", page=0xca)["data"]
    again = host.emberctl("raw", "log", "nvme0", "0xca", "--out", path, check=False)
    assert again.returncode != 0 and "exists" in again.stderr, again
    wrong = host.emberctl("raw", "log", "nvme0", "smart", check=False)
    assert wrong.returncode == 2 and "number" in wrong.stderr, wrong
    refused = host.emberctl("raw", "log", "nvme0", "0xc3", check=False)
    assert refused.returncode != 0 and "--consume" in refused.stderr, refused


def test_the_event_log_leaves_no_context_behind():
    """Whoever reads it needs a context, of which the drive has one: nvme-cli can have it at once."""
    host = begun()
    answer = ask(host, "nvme4", kind="log", page=0x0d, consume="true", length=608)
    assert answer["status"] == "ok" and answer["values"]["total_events"] == 3, answer
    assert answer["values"]["log_bytes"] == "608" and answer["values"]["model"] == "P7940DT0768M00"
    theirs = witness(host, "get-log", "/dev/nvme4", "--log-id=13", "--log-len=608", "--lsp=1")
    assert bytes.fromhex(answer["data"]) == theirs
    before = host.counts("nvme4")["error_log_entries"]
    busy = ask(host, "nvme4", kind="log", page=0x0d, consume="true")
    assert busy["status"] == "status" and busy["nvme_status"] & 0x7ff == 0x0c, busy
    assert host.counts("nvme4")["error_log_entries"] == before + 1
    host.run("nvme", "get-log", "/dev/nvme4", "--log-id=13", "--log-len=512", "--lsp=2")
    part = ask(host, "nvme4", kind="log", page=0x0d, consume="true", offset=512, length=96)
    assert bytes.fromhex(part["data"]) == theirs[512:]
    # How long it is, only the drive knows: nothing beyond its end is asked for.
    whole = ask(host, "nvme4", kind="log", page=0x0d, consume="true")
    assert [e["type"] for e in whole["values"]["events"]] == [
        "power_on_or_reset", "thermal_excursion", "firmware_commit"], whole["values"]
    lengths = [4 * ((c["cdw10"] >> 16) + 1) for c in host.control("log", "nvme4")
               if c["command"] == "get-log 0x0d"][-3:]
    assert lengths == [512, 608, 512] and len(whole["data"]) == 2 * 4096, lengths


def test_slow_commands_of_a_memblaze_drive():
    """Drives 2 and 4 are of the generations that have log D1h, 0 is of the one before."""
    host = begun()
    for name in "nvme2", "nvme4":
        answer = ask(host, name, kind="log", page=0xd1)
        data = bytes.fromhex(answer["data"])
        assert data == witness(host, "get-log", f"/dev/{name}", "--log-id=209", "--log-len=65540")
        assert answer["length"] == 4 + 1024 * 64 and answer["values"]["version"] == 1, answer["values"]
        read, write, trim = answer["values"]["commands"]
        assert read == {
            "entry": 1, "timestamp_ms": "1792888200123", "time": "2026-10-25T00:30:00.123Z",
            "latency_us": 31250, "queue": 3, "opcode": 2, "nsid": 1, "slba": "4886718345", "blocks": 8,
            "command_id": 0x1a2b, "fua": False, "limited_retry": True, "fuse": 0, "psdt": 0,
            "directive_type": 0, "protection": 0}, read
        assert (write["opcode"], write["fuse"], write["psdt"], write["command_id"]) == (1, 1, 2, 0xfffe), write
        assert (write["fua"], write["directive_type"], write["protection"]) == (True, 1, 9), write
        assert (trim["time"], trim["timestamp_ms"]) == (None, "86400017"), trim
        few = ask(host, name, kind="log", page=0xd1, length=4 + 2 * 64)
        assert few["values"]["commands"] == [read, write], few["values"]
        text = host.emberctl("raw", "log", name, "0xd1").stdout
        assert "31,250" in text and "2026-10-25" in text, text
        assert "10,001" not in text, "behind the end of the list"
    assert ask(host, "nvme0", kind="log", page=0xd1)["status"] == "refused"


HOUR = 6 + 3600 * 24


def scaled(data, at, step, scale_at):
    return int.from_bytes(data[at:at + 2], "little") * step ** data[scale_at]


def numbers_of(version, half):
    """IOPS, bandwidth, latency and longest latency of one half of a second."""
    if version == 1:
        thousands, mib, total, longest = struct.unpack("<HHII", half)
        return thousands * 1000, mib << 20, total, longest
    return (scaled(half, 0, 10, 8), scaled(half, 2, 1024, 9), scaled(half, 4, 1000, 10),
            scaled(half, 6, 1000, 11))


def hour_of(data, number):
    """One entry, counted from the bytes."""
    version, hour = data[0], data[4 + number * HOUR:4 + (number + 1) * HOUR]
    seconds = [hour[at:at + 24] for at in range(6, HOUR, 24)]
    active = [second for second in seconds if any(second)]
    entry = {"timestamp_ms": int.from_bytes(hour[:6], "little"), "active_seconds": len(active)}
    for name, at in (("read", 0), ("write", 12)):
        iops, bandwidth, latency, longest = zip(*(numbers_of(version, s[at:at + 12]) for s in active))
        of = sum(iops) if version == 1 else sum(1 for one in latency if one)
        means = [sum(iops) // len(active), sum(bandwidth) // len(active), sum(latency) // of]
        most = [max(iops), max(bandwidth), max(longest)]
        keys = (("iops_{}", "bytes_per_second_{}", "latency_{}_us") if version == 1 else
                ("iops_{}", "bandwidth_{}_raw", "latency_{}_raw"))
        for key, mean, greatest in zip(keys, means, most):
            entry[f"{name}_" + key.format("mean")] = mean
            entry[f"{name}_" + key.format("max")] = greatest
    return entry


def test_performance_of_a_memblaze_drive():
    """Version 1 of the page, and version 2; two hours, and all of which the drive has three."""
    host = begun()
    for name, version in ("nvme2", 1), ("nvme4", 2):
        answer = ask(host, name, kind="log", page=0xd2)
        data = bytes.fromhex(answer["data"])
        theirs = b"".join(witness(host, "get-log", f"/dev/{name}", "--log-id=210", f"--lpo={at}",
                                  f"--log-len={min(65536, len(data) - at)}")
                          for at in range(0, len(data), 65536))
        assert data == theirs and len(data) == 4 + 2 * HOUR
        assert answer["values"]["version"] == version, answer["values"]["version"]
        hours = answer["values"]["hours"]
        assert [hour["hour"] for hour in hours] == [1, 2], hours
        for number, hour in enumerate(hours):
            expected = hour_of(data, number)
            known = {key: value for key, value in hour.items() if value is not None}
            assert expected.items() <= known.items(), (expected, known)
            assert known.keys() - expected.keys() == {"hour", "time", "unreadable_seconds"}, known
            assert hour["unreadable_seconds"] == 0 and hour["active_seconds"] == 3240, hour
        assert hours[0]["time"] == "2026-10-25T00:30:00.123Z", hours[0]
        day = ask(host, name, kind="log", page=0xd2, length=4 + 24 * HOUR)
        assert day["length"] == 4 + 24 * HOUR and day["data"].startswith(answer["data"])
        assert day["values"]["hours"][:2] == hours and len(day["values"]["hours"]) == 3
        part = ask(host, name, kind="log", page=0xd2, length=65536)
        assert part["values"] is None, "not one whole hour"
        text = host.emberctl("raw", "log", name, "0xd2").stdout
        assert "2026-10-25" in text and "3,240" in text, text
        path = host.path(f"{name}.bin")
        host.emberctl("raw", "log", name, "0xd2", "--length", str(4 + 24 * HOUR), "--out", path)
        with open(path, "rb") as file:
            assert file.read().hex() == day["data"]
    assert ask(host, "nvme0", kind="log", page=0xd2)["status"] == "refused"


def test_what_a_memblaze_drive_records():
    host = begun()
    for name in "nvme2", "nvme4":
        answer = ask(host, name, kind="feature", page=0xd0)
        assert answer["result"] == 0x31130937 and answer["length"] == 0, answer
        assert answer["values"] == {
            "latency_statistics": True, "slow_commands": True, "performance": True, "of_reads": True,
            "of_writes": True, "of_trims": False, "slow_read_ms": "100", "slow_write_ms": "200",
            "slow_trim_ms": "500"}, answer
        assert ask(host, name, kind="feature", page=0xd0, lsp=1)["values"] == answer["values"]
        assert ask(host, name, kind="feature", page=0xd0, lsp=3)["values"] is None, "capabilities"
        old = ask(host, name, kind="feature", page=0xe1)
        assert old["values"] == {"slow_commands": True, "slow_ms": 300}, old
        old = ask(host, name, kind="feature", page=0xe2)
        assert old["values"] == {"latency_statistics": True} and old["length"] == 32, old
        text = host.emberctl("raw", "feature", name, "0xd0").stdout
        assert "0x31130937" in text and "Slow trim" in text and "500 ms" in text, text
    host.run("nvme", "set-feature", "/dev/nvme4", "--feature-id=0xd0", "--value=0")
    values = ask(host, "nvme4", kind="feature", page=0xd0)["values"]
    assert not values["performance"] and values["slow_read_ms"] == "10", values
    assert ask(host, "nvme0", kind="feature", page=0xd0)["status"] in ("status", "refused")
