# SPDX-License-Identifier: Apache-2.0
"""From a drive to a person: discovery, faults of drives, restarts, configuration."""
import signal
import sqlite3
import threading
import time

import harness

FAST = {"smart_interval": "50ms"}


def state(host, drive):
    return host.drive(drive)["state"]


def test_eight_drives_are_listed_and_read():
    host = harness.Host()
    devices = host.wait(lambda: len(host.devices()) == 8 and host.devices(), "eight drives")
    assert devices == sorted(devices), devices
    for device in devices:
        document = host.wait_read(device)
        assert document["valid"] and document["age_seconds"] is not None, document
        assert host.emberctl("show", device).stdout


def test_hung_drive_delays_nobody():
    host = harness.Host(poll=FAST, patience="300ms")
    for device in host.devices():
        host.wait_read(device)
    host.control("hang", "nvme3")
    host.wait(lambda: state(host, "nvme3") == "unresponsive", "nvme3 to be unresponsive")
    before_log = host.values("nvme3")
    host.write_config({"smart_interval": "7d"})  # the poller is quiet: what moves would be a GET's
    host.processes["emberd"].send_signal(signal.SIGHUP)
    host.wait(lambda: "configuration" in host.read("emberd.log"), "the reload")
    requests = stable_requests(host)
    slowest = 0
    for number in range(1000):
        begun = time.monotonic()
        path = ["/v1/drives/nvme3/smart", "/v1/drives", "/metrics", "/v1/health"][number % 4]
        host.get(path)
        slowest = max(slowest, time.monotonic() - begun)
    assert slowest < 0.1, f"the slowest of 1,000 GETs took {slowest:.3f} s"
    assert int(host.metric("ember_broker_requests_total")) == requests, "a GET asked the broker"
    document = host.get("/v1/drives/nvme3/smart")
    assert document["valid"] and document["values"] == before_log
    assert document["age_seconds"] > 0.3, document["age_seconds"]
    return f"slowest GET {slowest * 1000:.1f} ms"


def stable_requests(host):
    """The counter once it stands still (answers that were out have come)."""
    last = [None, 0.0]

    def still():
        value = int(host.metric("ember_broker_requests_total"))
        if value != last[0]:
            last[:] = [value, time.monotonic()]
        return time.monotonic() - last[1] > 0.5
    host.wait(still, "the broker's requests to stand still")
    return last[0]


def seconds_of(host, device, polls):
    start, begun = host.counts(device)["commands"], time.monotonic()
    host.wait(lambda: host.counts(device)["commands"] >= start + polls, f"{polls} polls of {device}")
    return time.monotonic() - begun


def test_others_are_polled_on_time_beside_a_hung_drive():
    host = harness.Host(poll=FAST, patience="300ms")
    for device in host.devices():
        host.wait_read(device)
    alone = seconds_of(host, "nvme4", 40)
    host.control("hang", "nvme3")
    host.wait(lambda: state(host, "nvme3") == "unresponsive", "nvme3 to be unresponsive")
    took = seconds_of(host, "nvme4", 40)
    # A machine that is busy with something else is slow at both.
    assert took < max(40 * 0.05, alone) * 1.5, f"40 polls took {took:.2f} s, and before {alone:.2f} s"
    for device in host.devices():
        if device != "nvme3":
            assert host.get(f"/v1/drives/{device}/smart")["age_seconds"] < 1
    host.control("resume", "nvme3")
    host.wait(lambda: state(host, "nvme3") == "ok", "nvme3 to be ok again")


def test_ten_thousand_polls_add_no_error_entry():
    host = harness.Host(poll={"smart_interval": "10ms"})
    host.wait_read("nvme0")
    # First: the count does move for a refused command.
    before = host.counts("nvme0")["error_log_entries"]
    host.run("nvme", "get-log", "/dev/nvme0", "--log-id=0x7f", "--log-len=512", check=False)
    moved = host.counts("nvme0")["error_log_entries"]
    assert moved == before + 1, f"a refused command moved the count from {before} to {moved}"
    drives = host.devices()
    begin = {device: host.counts(device) for device in drives}
    polls = 10000

    def polled(device):
        return host.counts(device)["by_command"]["get-log 0x02"] - \
            begin[device]["by_command"].get("get-log 0x02", 0)
    for device in drives:
        host.wait(lambda device=device: polled(device) >= polls, f"{polls} polls of {device}",
                  timeout=400)
    after = {device: host.counts(device) for device in drives}
    for device in drives:
        added = after[device]["error_log_entries"] - begin[device]["error_log_entries"]
        assert added == 0, f"{device}: polling added {added} error-log entries"
    assert len(drives) == 8, drives
    commands = sum(after[device]["commands"] - begin[device]["commands"] for device in drives)
    return f"{len(drives)} drives, each polled {polls} times: {commands} commands, 0 entries"


def test_event_reaches_the_api_at_once():
    host = harness.Host(poll={"smart_interval": "1h"})
    host.wait_read("nvme0")
    host.wait(lambda: "arm-events" in host.read("broker.log"), "events to be armed")
    for bit in (1, 2):
        begun = time.monotonic()
        host.control("set", "nvme0", "critical_warning", str(1 << bit))
        host.wait(lambda: host.values("nvme0")["critical_warning"] == 1 << bit,
                  f"bit {bit} in the API", timeout=2)
        assert time.monotonic() - begun < 2


def test_events_are_armed_again_after_a_reset():
    host = harness.Host(poll={"smart_interval": "100ms"})
    host.wait_read("nvme0")
    armed = host.wait(lambda: host.read("broker.log").count("arm-events"), "events to be armed")
    host.control("state", "nvme0", "resetting")
    host.wait(lambda: state(host, "nvme0") == "busy", "nvme0 to be busy")
    host.control("state", "nvme0", "live")
    host.wait(lambda: state(host, "nvme0") == "ok", "nvme0 to be ok")
    host.wait(lambda: host.read("broker.log").count("arm-events") > armed, "arming again")
    host.control("set", "nvme0", "critical_warning", "4")
    host.wait(lambda: host.values("nvme0")["critical_warning"] == 4, "the warning", timeout=2)


def test_vanished_drive_is_removed_and_comes_back_as_itself():
    host = harness.Host(poll=FAST)
    document = host.wait_read("nvme2")
    host.control("vanish", "nvme2")
    host.wait(lambda: state(host, document["serial"]) == "removed", "nvme2 to be removed")
    removed = host.get(f"/v1/drives/{document['serial']}/smart")
    assert removed["valid"] and removed["values"] == document["values"]
    assert host.metric("ember_drive_up", serial=document["serial"]) == "0"
    assert host.metric("ember_temperature_celsius", serial=document["serial"]) is None
    host.control("return", "nvme2", "as", "nvme9")
    host.wait(lambda: state(host, document["serial"]) == "ok", "the drive to be back")
    back = host.drive("nvme9")
    assert back["id"] == document["drive"], "another id after it came back"
    assert len(host.devices()) == 8


def test_two_drives_swap_their_names():
    """Case R33: history, id and values follow the serial, not the name."""
    host = harness.Host(poll=FAST)
    for device in host.devices():
        host.wait_read(device)
    first, second = (host.drive(name) for name in ("nvme0", "nvme1"))
    hours = [host.values(drive["serial"])["power_on_hours"] for drive in (first, second)]
    for _ in range(3):
        now = [host.drive(drive["serial"])["device"] for drive in (first, second)]
        for words in (("vanish", now[0]), ("vanish", now[1]), ("return", now[0], "as", "nvme9"),
                      ("return", now[1], "as", now[0]), ("vanish", "nvme9"),
                      ("return", "nvme9", "as", now[1])):
            host.control(*words)
        for drive, device, value in zip((first, second), reversed(now), hours):
            host.wait(lambda: state(host, drive["serial"]) == "ok"
                      and host.drive(drive["serial"])["device"] == device, "the other name")
            assert host.drive(device)["id"] == drive["id"]
            read_at = host.get(f"/v1/drives/{device}/smart")["read_at"]
            host.wait(lambda: host.get(f"/v1/drives/{device}/smart")["read_at"] > read_at,
                      "a fresh reading")
            assert host.values(device)["power_on_hours"] == value
    assert len(host.devices()) == 8


def test_refused_page_is_asked_once():
    host = harness.Host(start=False)
    host.control("refuse", "nvme0", "get-log", "0x03", "0x4109")
    host.write_config({"smart_interval": "20ms", "firmware_interval": "20ms"})
    host.start_broker()
    host.start_emberd()
    host.wait_read("nvme0", "firmware")
    entries = host.counts("nvme0")["error_log_entries"]
    commands = host.counts("nvme0")["commands"]
    host.wait(lambda: host.counts("nvme0")["commands"] > commands + 20, "20 more commands")
    assert host.counts("nvme0")["error_log_entries"] == entries
    assert host.get("/v1/drives/nvme0/firmware")["status"] == "refused"
    assert state(host, "nvme0") == "ok"


def test_broker_killed_and_started_again():
    host = harness.Host(poll=FAST)
    host.wait_read("nvme0")
    host.kill("broker", signal.SIGKILL)
    host.wait(lambda: not host.get("/v1/health")["broker"]["connected"], "the loss to be noticed")
    assert host.get("/v1/health")["status"] == "degraded"
    host.start_broker()
    host.wait(lambda: host.get("/v1/health")["broker"]["connected"], "the connection")
    read_at = host.get("/v1/drives/nvme0/smart")["read_at"]
    host.wait(lambda: host.get("/v1/drives/nvme0/smart")["read_at"] > read_at, "a fresh reading")
    assert len(host.devices()) == 8


def test_broker_that_stands_still_is_noticed():
    host = harness.Host(poll=FAST)
    host.wait_read("nvme0")
    broker = host.processes["broker"]
    broker.send_signal(signal.SIGSTOP)
    try:
        host.wait(lambda: host.get("/v1/health")["status"] == "degraded", "the loss to be noticed")
        host.wait(lambda: state(host, "nvme0") == "unresponsive", "nvme0 to be unwatched")
        assert host.get("/v1/drives/nvme0/smart")["valid"]
    finally:
        broker.send_signal(signal.SIGCONT)
    host.wait(lambda: all(drive["state"] == "ok" for drive in host.get("/v1/drives")["drives"]),
              "all drives to be ok again")


def test_history_survives_sigkill():
    host = harness.Host(poll=FAST)
    # By its serial: after a start a drive has no name until the broker has told it.
    serial = host.wait_read("nvme0")["serial"]

    def points():
        return host.get(f"/v1/drives/{serial}/history?field=power_on_hours")["points"]
    seen = host.wait(lambda: len(points()) > 5 and points(), "six readings in history")
    host.kill("emberd", signal.SIGKILL)
    host.start_emberd()
    host.wait(lambda: [p for p in points() if p in seen] == seen, "all points again", timeout=5)
    database = sqlite3.connect(host.path("state/ember.db"))
    assert database.execute("pragma integrity_check").fetchone() == ("ok",)


def test_restart_without_drives_shows_the_last_values():
    host = harness.Host(poll=FAST)
    document = host.wait_read("nvme0")
    host.wait(lambda: host.get("/v1/drives/nvme0/history?field=power_on_hours")["points"], "history")
    host.kill("emberd")
    host.kill("broker")
    host.start_emberd()
    again = host.get(f"/v1/drives/{document['serial']}/smart")
    assert again["state"] == "removed" and again["valid"]
    assert again["values"] == document["values"] and again["age_seconds"] > 0


def test_bad_configuration_is_refused_and_the_old_one_kept():
    host = harness.Host(poll=FAST)
    host.wait_read("nvme0")
    host.write_config({"smart_interval": "soon"})
    checked = host.run(host.build + "/daemon/emberd", "--config", host.path("emberd.conf"),
                       "--check-config", check=False)
    assert checked.returncode != 0 and "emberd.conf:" in checked.stderr, checked.stderr
    line = next(number for number, text in enumerate(host.read("emberd.conf").splitlines(), 1)
                if "soon" in text)
    assert f"emberd.conf:{line}" in checked.stderr, checked.stderr
    host.processes["emberd"].send_signal(signal.SIGHUP)
    host.wait(lambda: f"emberd.conf:{line}" in host.read("emberd.log"), "the message")
    before = host.counts("nvme0")["commands"]
    host.wait(lambda: host.counts("nvme0")["commands"] > before + 5, "polls as before", timeout=5)


def test_identifiers_of_a_drive():
    host = harness.Host()
    drive = host.wait_read("nvme1")
    for name in (drive["drive"], drive["serial"], "nvme1", drive["drive"][:10]):
        assert host.drive(name)["id"] == drive["drive"], name
    for name, status in (("nope", 404), ("nvme99", 404)):
        try:
            host.drive(name)
        except harness.HttpError as error:
            assert error.status == status
            assert error.headers["Content-Type"].startswith("application/problem+json")
        else:
            raise AssertionError(f"{name} was found")


def test_many_readers_while_drives_come_and_go():
    host = harness.Host(poll=FAST)
    host.wait_read("nvme0")
    failures, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            try:
                host.get("/v1/drives")
                host.metrics()
            except Exception as error:  # whatever it is, it is the finding
                failures.append(error)
                return
    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            host.control("vanish", "nvme5")
            host.control("return", "nvme5")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures, failures
    host.wait(lambda: state(host, "nvme5") == "ok", "nvme5 to be ok")
