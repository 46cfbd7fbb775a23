# SPDX-License-Identifier: Apache-2.0
"""Events: each kind by what causes it, within five seconds where the kernel tells, also across restarts."""
import signal
import time

from harness import Host
from test_drives import all_events, asked, kinds, settle, state

QUIET = {"smart_interval": "1h"}
FAST = {"smart_interval": "50ms", "firmware_interval": "50ms", "selftest_interval": "50ms",
        "sanitize_interval": "50ms", "identify_interval": "50ms"}
ONE = """
[drive]
product = 6530
serial = SNA
namespace = 1 800GB 512
namespace = 2 800GB 4096
"""


def begun(poll=None, scenario=ONE):
    host = Host(scenario=scenario, poll=poll or FAST)
    settle(host, "SNA")
    host.wait(lambda: len(host.get("/v1/drives/SNA/namespaces")["namespaces"]) == 2, "namespaces")
    return host


def heard(host, kind, since="0", timeout=30, **want):
    """The first event of that kind after that id, once it is there."""
    def find():
        for event in all_events(host, kind=kind):
            if int(event["id"]) > int(since) and want.items() <= event.items():
                return event
        return None
    return host.wait(find, f"an event {kind} {want}", timeout=timeout)


def newest(host):
    return all_events(host)[-1]["id"]


def test_names_and_namespaces_within_five_seconds():
    """All that the kernel tells, while nothing is polled."""
    host = begun(poll={**QUIET, "identify_interval": "1h"})
    for words, kind, want in (
            (("attach", "nvme0", "5", "800000000000"), "namespace-added", {"nsid": 5}),
            (("detach", "nvme0", "2"), "namespace-removed", {"nsid": 2}),
            (("vanish", "nvme0"), "drive-removed", {}),
            (("return", "nvme0", "as", "nvme4"), "drive-renamed",
             {"old_value": "nvme0", "new_value": "nvme4"}),
            (("vanish", "nvme4"), "drive-removed", {}),
            (("return", "nvme4", "at", "0000:07:00.0"), "drive-moved",
             {"old_value": "0000:01:00.0", "new_value": "0000:07:00.0"})):
        since, begin = newest(host), time.monotonic()
        host.control(*words)
        event = heard(host, kind, since, timeout=5, **want)
        assert time.monotonic() - begin < 5, words
        assert event["change"] and event["serial"] == "SNA" and event["summary"], event
    assert kinds(host.get("/v1/changes?order=oldest")["events"])[-1] == "drive-moved"


def test_a_storm_of_attaching_ends_in_the_truth():
    host = begun(poll=QUIET)
    for number in range(10, 30):
        host.control("attach", "nvme0", str(number), "1000000000")
    host.wait(lambda: len(host.get("/v1/drives/SNA/namespaces")["namespaces"]) == 22,
              "all namespaces", timeout=5)
    # An event is shown once it is written, later than the list of namespaces.
    host.wait(lambda: {event["nsid"] for event in all_events(host, kind="namespace-added")} ==
              set(range(10, 30)), "an event for each")


def attachments(host):
    return {entry["nsid"]: entry["attached"]
            for entry in host.get("/v1/drives/SNA/namespaces")["namespaces"]}


def test_namespaces_that_are_not_attached():
    """Of these the kernel tells nothing when they come, change or go: the poll of the page does."""
    host = begun()
    for words, kind, want, are in (
            (("create", "nvme0", "7", "4000000000"), "namespace-added", {"nsid": 7},
             {1: True, 2: True, 7: False}),
            (("attach", "nvme0", "7", "4000000000"), "namespace-changed",
             {"nsid": 7, "subject": "attached", "old_value": "no", "new_value": "yes"},
             {1: True, 2: True, 7: True}),
            (("detach", "nvme0", "2", "keep"), "namespace-changed",
             {"nsid": 2, "subject": "attached", "old_value": "yes", "new_value": "no"},
             {1: True, 2: False, 7: True}),
            (("delete", "nvme0", "2"), "namespace-removed", {"nsid": 2}, {1: True, 7: True}),
            (("detach", "nvme0", "7"), "namespace-removed", {"nsid": 7}, {1: True})):
        since = newest(host)
        host.control(*words)
        heard(host, kind, since, timeout=5, **want)
        assert attachments(host) == are, words
    # One that was attached and is deleted is not told as detached first.
    told = [event["subject"] for event in all_events(host, kind="namespace-changed")]
    assert told == ["attached", "attached"], told
    # A namespace of another size under the same number, as one poll or two see it.
    def size():
        return [entry["values"]["size_bytes"] for entry in
                host.get("/v1/drives/SNA/namespaces")["namespaces"]
                if entry["nsid"] == 9 and entry["valid"]]
    host.control("create", "nvme0", "9", "4096000000")
    heard(host, "namespace-added", since, nsid=9)
    host.wait(lambda: size() == ["4096000000"], "namespace 9")
    since = newest(host)
    host.control("delete", "nvme0", "9")
    host.control("create", "nvme0", "9", "8192000000")
    host.wait(lambda: size() == ["8192000000"], "its other size")

    def told_of_9():
        told = {event["kind"] for event in all_events(host)
                if int(event["id"]) > int(since) and event["nsid"] == 9}
        return told in ({"namespace-changed"}, {"namespace-removed", "namespace-added"})
    host.wait(told_of_9, "the events of namespace 9")
    assert "9, not attached" in host.emberctl("show", "SNA").stdout
    # A restart has nothing to tell of them.
    last = newest(host)
    host.kill("emberd")
    host.start_emberd()
    settle(host, "SNA")
    before = asked(host, "nvme0", "identify 0x10")
    host.wait(lambda: asked(host, "nvme0", "identify 0x10") > before + 2, "more readings")
    assert attachments(host) == {1: True, 9: False}
    told = [event for event in all_events(host) if int(event["id"]) > int(last)]
    assert set(kinds(told)) <= {"broker"}, told


def test_what_pages_tell():
    host = begun()
    since = newest(host)
    for words, kind, want in (
            (("set", "nvme0", "frs2", "SB001"), "slot-changed", {"subject": "slot 2"}),
            (("set", "nvme0", "afi", "0x21"), "active-slot-changed",
             {"subject": "next_reset_slot", "new_value": "2"}),
            (("set", "nvme0", "critical_warning", "2"), "critical-warning",
             {"old_value": "none", "new_value": "temperature_out_of_range"}),
            (("error", "nvme0", "0x4281"), "error-log-grew", {}),
            (("set", "nvme0", "sstat", "2"), "sanitize-state", {"new_value": "in_progress"})):
        host.control(*words)
        event = heard(host, kind, since, **want)
        assert event["drive"] == host.drive("SNA")["id"], event
    # The page of errors was read at once, not within its hour.
    host.wait(lambda: host.get("/v1/drives/SNA/errors")["values"]["entries"], "the entry")


def test_firmware_and_self_test():
    host = begun()
    since, old = newest(host), host.drive("SNA")["firmware"]
    host.run("nvme", "device-self-test", "/dev/nvme0", "-s", "1")
    host.control("speed", "600")
    ended = heard(host, "selftest-ended", since)
    assert (ended["subject"], ended["new_value"]) == ("short", "passed"), ended
    host.control("set", "nvme0", "firmware", "NEW00042")
    changed = heard(host, "firmware-changed", since, new_value="NEW00042")
    assert changed["old_value"] == old, changed


def test_states_and_the_broker():
    host = begun()
    since = newest(host)
    host.control("state", "nvme0", "resetting")
    heard(host, "drive-state", since, new_value="busy")
    host.control("state", "nvme0", "live")
    heard(host, "drive-state", since, new_value="ok")
    host.kill("broker")
    heard(host, "broker", since, new_value="lost", drive=None)
    host.start_broker()
    heard(host, "broker", since, new_value="connected")


def test_what_happened_while_emberd_was_away():
    host = begun(scenario=ONE + "[drive]\nproduct = 6530\nserial = SNB\n")
    settle(host, "SNB")
    since, old = newest(host), host.drive("SNA")["firmware"]
    host.kill("emberd", signal.SIGKILL)
    for words in (("set", "nvme0", "firmware", "NEW00042"), ("set", "nvme0", "afi", "0x21"),
                  ("attach", "nvme0", "7", "1000000000"), ("detach", "nvme0", "2"),
                  ("vanish", "nvme1"), ("vanish", "nvme0"), ("return", "nvme0", "as", "nvme3")):
        host.control(*words)
    host.start_emberd()
    heard(host, "drive-removed", since, serial="SNB")
    heard(host, "drive-renamed", since, serial="SNA", old_value="nvme0", new_value="nvme3")
    heard(host, "firmware-changed", since, old_value=old, new_value="NEW00042")
    heard(host, "active-slot-changed", since, new_value="2")
    heard(host, "namespace-added", since, nsid=7)
    heard(host, "namespace-removed", since, nsid=2)
    # Once each: the next start has nothing to tell.
    settle(host, "SNA")
    assert state(host, "SNB") == "removed"
    told = [event for event in all_events(host) if int(event["id"]) > int(since)]
    once = [event for event in kinds(told) if event != "broker"]
    assert len(once) == len(set(once)), once
    since = newest(host)
    host.kill("emberd")
    host.start_emberd()
    settle(host, "SNA")
    before = asked(host, "nvme3", "identify 0x01")
    host.wait(lambda: asked(host, "nvme3", "identify 0x01") > before + 2, "more readings")
    told = [event for event in all_events(host) if int(event["id"]) > int(since)]
    assert set(kinds(told)) <= {"broker"}, told


def test_ids_ascend_over_restarts():
    host = begun()
    seen = [int(event["id"]) for event in all_events(host)]
    for _ in range(2):
        host.kill("emberd", signal.SIGKILL)
        host.start_emberd()
        settle(host, "SNA")
        ids = [int(event["id"]) for event in all_events(host)]
        assert ids == sorted(set(ids)) and ids[:len(seen)] == seen, (seen, ids)
        seen = ids
