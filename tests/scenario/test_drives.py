# SPDX-License-Identifier: Apache-2.0
"""Drives that are moved, shared, remote, refused, retired: cases R33, R35, R36 and what is learned."""
import contextlib
import datetime
import json
import os
import signal
import sqlite3
import tempfile
import time

from harness import LONG, TOP, Host, HttpError

FAST = {"smart_interval": "50ms"}
QUIET = {"smart_interval": "1h"}
SCENARIOS = TOP + "/sim/scenarios/"


def state(host, name):
    try:
        return host.drive(name)["state"]
    except HttpError as error:
        return error.status


def all_events(host, **query):
    parameters = "&".join(["order=oldest", "limit=1000"] + [f"{k}={v}" for k, v in query.items()])
    return host.get("/v1/events?" + parameters)["events"]


def kinds(events):
    return [event["kind"] for event in events]


def wait_told(host, expected, view, **query):
    """Until view() of the events (None = leave out) is what is expected: they are shown once kept."""
    seen = []

    def told():
        seen[:] = [item for item in map(view, all_events(host, **query)) if item is not None]
        return len(seen) >= len(expected)
    host.wait(told, f"events {expected}, and not {seen}")
    assert seen == expected, f"{seen}, and not {expected}"


def post(host, path):
    status, _, body = host.request(path, method="POST")
    return status, json.loads(body)


def settle(host, *devices):
    """Until everything in the plan of these drives was read once."""
    def settled(device):
        return state(host, device) == "ok" and \
            all(page["status"] != "never-read" for page in host.drive(device)["pages"])
    for device in devices:
        host.wait(lambda device=device: settled(device), f"all pages of {device}")


def values(event):
    return event["kind"], event["old_value"], event["new_value"]


def commands(host, device):
    return host.counts(device)["by_command"]


def asked(host, device, command):
    return commands(host, device).get(command, 0)


def restart_emberd(host, sig=signal.SIGTERM):
    host.kill("emberd", sig)
    host.start_emberd()


# ---- R33: names move ---------------------------------------------------------------------------

WORN = """
[drive]
product = 6530
serial = SNA
percentage_used = 40
[drive]
product = 6530
serial = SNB
percentage_used = 3
"""


def points(host, serial):
    return [point["value"] for point in
            host.get(f"/v1/drives/{serial}/history?field=percentage_used")["points"]]


def test_r33_names_that_swapped_between_two_starts():
    host = Host(scenario=WORN, poll=FAST)
    settle(host, "nvme0", "nvme1")
    ids = {serial: host.drive(serial)["id"] for serial in ("SNA", "SNB")}
    host.wait(lambda: len(points(host, "SNA")) > 3 and len(points(host, "SNB")) > 3, "history")
    last = all_events(host)[-1]["id"]
    host.kill("emberd")
    for words in (("vanish", "nvme0"), ("vanish", "nvme1"), ("return", "nvme0", "as", "nvme9"),
                  ("return", "nvme1", "as", "nvme0"), ("vanish", "nvme9"),
                  ("return", "nvme9", "as", "nvme1")):
        host.control(*words)
    host.start_emberd()
    host.wait(lambda: state(host, "SNA") == "ok" and host.drive("SNA")["device"] == "nvme1",
              "SNA under its other name")
    settle(host, "nvme0", "nvme1")
    assert {serial: host.drive(serial)["id"] for serial in ids} == ids
    assert host.drive("nvme0")["serial"] == "SNB"
    before = len(points(host, "SNA"))
    host.wait(lambda: len(points(host, "SNA")) > before + 3, "more history")
    assert set(points(host, "SNA")) == {40} and set(points(host, "SNB")) == {3}
    new = [event for event in all_events(host) if int(event["id"]) > int(last)]
    renamed = {(event["serial"], event["old_value"], event["new_value"]) for event in new
               if event["kind"] == "drive-renamed"}
    assert renamed == {("SNA", "nvme0", "nvme1"), ("SNB", "nvme1", "nvme0")}, new
    others = set(kinds(new)) - {"drive-renamed", "drive-moved", "broker"}
    assert not others, new
    assert len(host.get("/v1/drives")["drives"]) == 2


def test_r33_back_under_another_name():
    host = Host(scenario=WORN, poll=FAST)
    settle(host, "nvme0", "nvme1")
    drive = host.drive("SNB")
    host.control("vanish", "nvme1")
    host.wait(lambda: state(host, "SNB") == "removed", "SNB to be removed")
    host.control("return", "nvme1", "as", "nvme7")
    host.wait(lambda: state(host, "SNB") == "ok", "SNB to be back")
    assert host.drive("nvme7")["id"] == drive["id"]
    wait_told(host, [("drive-appeared", None, "nvme1"), ("drive-removed", "ok", "removed"),
                     ("drive-returned", "removed", "ok"), ("drive-renamed", "nvme1", "nvme7")],
              lambda event: values(event) if event["change"] else None, drive=drive["id"])
    assert host.metric("ember_percentage_used", serial="SNB", device="nvme7") == "3"
    assert set(points(host, "SNB")) == {3}


# ---- R35: fabrics, discovery -------------------------------------------------------------------

def test_r35_fabrics_are_listed_and_left_alone():
    host = Host(scenario=SCENARIOS + "fabrics.conf", poll=FAST)
    host.wait(lambda: len(host.devices()) == 3, "three drives")
    settle(host, "LOCAL00001", "REMOTE0001", "REMOTE0002")
    drives = {drive["serial"]: drive for drive in host.get("/v1/drives")["drives"]}
    assert set(drives) == {"LOCAL00001", "REMOTE0001", "REMOTE0002"}, drives.keys()
    assert drives["REMOTE0001"]["transport"] == "tcp"
    for serial, status in (("REMOTE0001", "no-reading"), ("REMOTE0002", "refused")):
        document = host.get(f"/v1/drives/{serial}/smart")
        assert (document["valid"], document["status"]) == (False, status), document
        assert set(map(str, document["values"].values())) <= {"None", "[]"}, document["values"]
        assert drives[serial]["state"] == "ok", drives[serial]
    # No storm: the zeros are read once each interval, the refused page never again.
    device = drives["REMOTE0002"]["device"]
    refused = asked(host, device, "get-log 0x02")
    entries = host.counts(device)["error_log_entries"]
    local = drives["LOCAL00001"]["device"]
    before = asked(host, local, "get-log 0x02")
    host.wait(lambda: asked(host, local, "get-log 0x02") > before + 20, "20 polls")
    assert asked(host, device, "get-log 0x02") == refused == 1
    assert host.counts(device)["error_log_entries"] == entries
    assert [drive["state"] for drive in host.get("/v1/drives")["drives"]] == ["ok"] * 3
    assert set(kinds(all_events(host))) == {"broker", "drive-appeared"}
    # Not even after a restart.
    restart_emberd(host)
    settle(host, "REMOTE0002")
    assert asked(host, device, "get-log 0x02") == 1
    assert host.get("/v1/drives/REMOTE0002/smart")["status"] == "refused"


DISCOVERY = """
[drive]
product = 6530
serial = LOCAL00001
[drive]
product = discovery
transport = tcp
serial = BYTYPE
nqn = nqn.2014-08.org.example:where-drives-are
[drive]
product = target
transport = tcp
serial = BYNAME
nqn = nqn.2014-08.org.nvmexpress.discovery
[drive]
product = target
transport = tcp
serial = REMOTE0001
"""


def test_discovery_controllers_are_no_drives_whatever_they_call_themselves():
    host = Host(scenario=DISCOVERY, poll=FAST)
    settle(host, "LOCAL00001", "REMOTE0001")
    assert {drive["serial"] for drive in host.get("/v1/drives")["drives"]} == \
        {"LOCAL00001", "REMOTE0001"}


def test_r35_one_switch_limits_to_pcie():
    host = Host(scenario=SCENARIOS + "fabrics.conf", poll=FAST)
    host.wait(lambda: len(host.devices()) == 3, "three drives")
    host.kill("emberd")
    host.write_config(FAST, "[drives]\ntransport = pcie\n")
    host.start_emberd()
    host.wait(lambda: state(host, "LOCAL00001") == "ok", "the local drive")
    assert [drive["serial"] for drive in host.get("/v1/drives")["drives"]] == ["LOCAL00001"]
    assert "drive-removed" not in kinds(all_events(host))


def test_two_controllers_are_one_drive():
    host = Host(scenario=SCENARIOS + "multipath.conf", poll=FAST)
    host.wait(lambda: len(host.devices()) == 2, "two drives")
    settle(host, "DUALPORT01", "SINGLE0001")
    drive = host.drive("DUALPORT01")
    assert [path["device"] for path in drive["controllers"]] == ["nvme0", "nvme1"], drive
    assert [path["active"] for path in drive["controllers"]] == [True, False], drive
    assert drive["device"] == "nvme0" and host.drive("nvme1")["id"] == drive["id"]
    assert host.counts("nvme1")["commands"] == 0, "both controllers are asked"

    host.control("vanish", "nvme0")
    host.wait(lambda: len(host.drive("DUALPORT01")["controllers"]) == 1, "one controller")
    read_at = host.get("/v1/drives/DUALPORT01/smart")["read_at"]
    host.wait(lambda: host.get("/v1/drives/DUALPORT01/smart")["read_at"] > read_at,
              "a reading through the other")
    assert host.counts("nvme1")["commands"] > 0
    host.control("return", "nvme0")
    host.wait(lambda: len(host.drive("DUALPORT01")["controllers"]) == 2, "both again")
    wait_told(host, [("drive-appeared", None, "nvme0"), ("path-removed", "nvme0", None),
                     ("path-added", None, "nvme0")],
              lambda event: values(event) if event["change"] else None, drive=drive["id"])
    # A reset of one is none of the drive, and a hung one is left.
    active = next(path["device"] for path in host.drive("DUALPORT01")["controllers"]
                  if path["active"])
    host.control("hang", active)
    host.wait(lambda: any(path["active"] and path["device"] != active
                          for path in host.drive("DUALPORT01")["controllers"]), "the other one")
    host.control("resume", active)
    assert host.drive("DUALPORT01")["state"] == "ok"
    # Nothing of all that is told again by a restart.
    last = int(all_events(host)[-1]["id"])
    restart_emberd(host)
    settle(host, "DUALPORT01")
    new = [event for event in all_events(host) if int(event["id"]) > last]
    assert set(kinds(new)) <= {"broker"}, new


# ---- R36: dying, resetting, coming back ----------------------------------------------------------

def test_r36_states_and_ages():
    host = Host(scenario=WORN, poll=FAST, patience="200ms")
    settle(host, "nvme0", "nvme1")
    # Once is no reason: a delay longer than our patience with one command.
    host.control("hang", "nvme0")
    host.control("wait", "nvme0", "outstanding>=1")
    host.wait(lambda: host.drive("SNA")["polls"]["misses"] == 1, "one miss")
    host.control("resume", "nvme0")
    host.wait(lambda: host.drive("SNA")["polls"]["misses"] == 0, "an answer")
    assert "drive-state" not in kinds(all_events(host))
    # Three are.
    host.control("hang", "nvme0")
    host.wait(lambda: state(host, "SNA") == "unresponsive", "three misses")
    document = host.get("/v1/drives/SNA/smart")
    assert document["valid"] and document["age_seconds"] > 0.2, document
    assert host.metric("ember_drive_up", serial="SNA") == "0"
    assert host.metric("ember_temperature_celsius", serial="SNA") is None
    seen = host.metric("ember_page_last_read_timestamp_seconds", serial="SNA", page="smart")
    assert seen and float(seen) > 0
    # Then its node goes, and it comes back elsewhere.
    host.control("vanish", "nvme0")
    host.wait(lambda: state(host, "SNA") == "removed", "its end")
    drives = host.get("/v1/drives")["drives"]
    assert [drive["serial"] for drive in drives] == ["SNB", "SNA"], "removed ones are not last"
    host.control("resume", "nvme0")
    host.control("return", "nvme0", "as", "nvme5")
    host.wait(lambda: state(host, "SNA") == "ok", "its return")
    wait_told(host, [("drive-appeared", None, "nvme0"), ("drive-state", "ok", "unresponsive"),
                     ("drive-removed", "unresponsive", "removed"),
                     ("drive-returned", "removed", "ok"), ("drive-renamed", "nvme0", "nvme5")],
              lambda event: values(event) if event["kind"].startswith("drive-") else None,
              drive=host.drive("SNA")["id"])


def test_drive_that_answers_with_errors_alone_is_not_ok():
    host = Host(scenario=WORN, poll=FAST)
    settle(host, "nvme0", "nvme1")
    host.control("refuse", "nvme0", "get-log", "0x02", "0x0006")
    host.wait(lambda: state(host, "SNA") == "unresponsive", "three answers that say nothing")
    drive = host.drive("SNA")
    assert "smart" in drive["state_detail"] and "internal error" in drive["state_detail"], drive
    assert host.metric("ember_drive_up", serial="SNA") == "0"
    assert host.metric("ember_temperature_celsius", serial="SNA") is None
    assert host.get("/v1/drives/SNA/smart")["valid"], "the last values are not kept"
    # What else it answers, and a reset, make it no better.
    status, _ = post(host, "/v1/drives/SNA/refresh")
    assert status == 202
    host.control("reset", "nvme0")
    before = asked(host, "nvme0", "get-log 0x02")
    host.wait(lambda: asked(host, "nvme0", "get-log 0x02") > before + 5, "five more polls")
    assert state(host, "SNA") == "unresponsive"
    host.control("accept", "nvme0")
    host.wait(lambda: state(host, "SNA") == "ok", "its recovery")
    wait_told(host, [("drive-state", "ok", "unresponsive"), ("drive-state", "unresponsive", "ok")],
              lambda event: values(event) if event["kind"] == "drive-state" else None,
              drive=drive["id"])
    assert state(host, "SNB") == "ok"


def test_r36_removed_drive_is_told_for_as_long_as_configured():
    host = Host(scenario=WORN, poll=FAST)
    settle(host, "nvme0", "nvme1")
    host.control("vanish", "nvme0")
    host.wait(lambda: state(host, "SNA") == "removed", "SNA to be removed")
    assert host.metric("ember_drive_up", serial="SNA") == "0"
    host.write_config(FAST, "[drives]\nremoved_keep = 10ms\n")
    host.processes["emberd"].send_signal(signal.SIGHUP)
    host.wait(lambda: host.metric("ember_drive_up", serial="SNA") is None, "its series to end")
    assert not [labels for _, labels in host.metrics() if ("serial", "SNA") in labels]
    assert host.metric("ember_drives", state="removed") == "1", "it is no longer counted"
    assert state(host, "SNA") == "removed" and host.metric("ember_drive_up", serial="SNB") == "1"
    host.control("return", "nvme0")
    host.wait(lambda: host.metric("ember_drive_up", serial="SNA") == "1", "its return")


def test_a_drive_that_is_lost_over_a_restart_is_told():
    """It was well for longer than removed drives are told of: it is removed since now, not since then."""
    host = Host(scenario=WORN, poll=FAST)
    settle(host, "nvme0", "nvme1")
    host.kill("emberd")
    host.control("vanish", "nvme0")
    with contextlib.closing(sqlite3.connect(host.path("state/ember.db"))) as db, db:
        db.execute("UPDATE drive SET state_since_us = 1700000000000000")
    begun = time.time()
    for _ in range(2):
        host.start_emberd()
        host.wait(lambda: state(host, "SNB") == "ok", "the other one")
        host.wait(lambda: "drive-removed" in kinds(all_events(host)), "the event")
        assert host.metric("ember_drive_up", serial="SNA") == "0"
        since = datetime.datetime.fromisoformat(host.drive("SNA")["state_since"]).timestamp()
        assert begun - 1 <= since <= time.time() + 1, since
        host.kill("emberd")


def test_restart_of_emberd_makes_no_drive_well():
    host = Host(scenario=WORN, poll=FAST, patience="200ms")
    settle(host, "nvme0", "nvme1")
    host.control("hang", "nvme0")
    host.wait(lambda: state(host, "SNA") == "unresponsive", "three misses")
    host.wait(lambda: "drive-state" in kinds(all_events(host)), "the event")
    last = int(all_events(host)[-1]["id"])
    restart_emberd(host)
    host.wait(lambda: host.get("/v1/health")["broker"]["connected"], "the broker")
    host.wait(lambda: host.drive("SNA")["device"] == "nvme0" and
              host.drive("SNA")["polls"]["misses"] >= 4, "it to be asked again")
    new = [event for event in all_events(host) if int(event["id"]) > last]
    assert set(kinds(new)) <= {"broker"}, new
    host.control("resume", "nvme0")
    wait_told(host, [("drive-state", "ok", "unresponsive"), ("drive-state", "unresponsive", "ok")],
              lambda event: values(event) if event["kind"] == "drive-state" else None)


def resources(host, name):
    base = f"/proc/{host.processes[name].pid}/"
    return len(os.listdir(base + "fd")), len(os.listdir(base + "task"))


def test_r36_no_leak():
    rounds = 1000 if LONG else 60
    host = Host(scenario=WORN, poll=QUIET)
    settle(host, "nvme0", "nvme1")

    def come_and_go(times):
        for _ in range(times):
            host.control("vanish", "nvme1")
            host.wait(lambda: state(host, "SNB") == "removed", "the end")
            host.control("return", "nvme1")
            host.wait(lambda: state(host, "SNB") == "ok", "the return")
    come_and_go(5)
    settle(host, "nvme1")
    before = {name: resources(host, name) for name in ("emberd", "broker")}
    come_and_go(rounds)

    def as_before():
        return all(resources(host, name)[0] <= before[name][0] + 1
                   and resources(host, name)[1] <= before[name][1] + 1 for name in before)
    host.wait(as_before, f"descriptors and threads as before {before}")
    assert len(host.get("/v1/drives")["drives"]) == 2
    return f"{rounds} rounds"


# ---- few, many, the same, none ---------------------------------------------------------------------

ODD = """
[drive]
product = 6530
serial = BARE
namespaces = none
[drive]
product = 6530
serial = MANY
{many}
[drive]
product = generic
identify-page = {nameless}
[drive]
product = 6530
serial = TWIN
percentage_used = 11
[drive]
product = 6530
serial = TWIN
percentage_used = 22
"""


def nameless_identify(directory):
    """A drive that forgot its serial number and its model."""
    page = bytearray(128)
    page[4:72] = b" " * 68
    page[80:84] = (0x00010400).to_bytes(4, "little")
    path = directory + "/nameless.hex"
    with open(path, "w", encoding="ascii") as file:
        for at in range(0, len(page), 16):
            file.write(f"{at:08x}: {page[at:at + 16].hex()}\n")
    return path


def odd_host():
    many = "\n".join(f"namespace = {n} 1GB 512" for n in range(1, 121))
    with tempfile.TemporaryDirectory() as directory:
        return Host(scenario=ODD.format(many=many, nameless=nameless_identify(directory)),
                    poll=FAST)


def test_no_namespace_and_120_of_them():
    host = odd_host()
    settle(host, "BARE", "MANY")
    bare = host.get("/v1/drives/BARE/namespaces")
    assert bare["namespaces"] == [] and bare["list_status"] == "ok", bare

    def read():
        return [entry["nsid"] for entry in host.get("/v1/drives/MANY/namespaces")["namespaces"]
                if entry["valid"]]
    host.wait(lambda: read() == list(range(1, 121)), "120 namespaces")
    assert host.drive("MANY")["namespaces"] == list(range(1, 121))
    sizes = [dict(labels)["nsid"] for name, labels in host.metrics()
             if name == "ember_namespace_size_bytes" and ("serial", "MANY") in labels]
    assert len(sizes) == len(set(sizes)) == 120
    assert host.emberctl("show", "MANY").stdout.count("GB") >= 120
    # They did not come in the way of what has to be read often.
    assert host.get("/v1/drives/MANY/smart")["age_seconds"] < 5
    # After a restart they are there at once, and nothing happened.
    last = int(all_events(host)[-1]["id"])
    host.kill("broker")
    restart_emberd(host)
    assert len(host.drive("MANY")["namespaces"]) == 120 and host.drive("BARE")["namespaces"] == []
    new = [event for event in all_events(host) if int(event["id"]) > last]
    assert set(kinds(new)) <= {"broker"}, new


def test_same_serial_number_is_two_drives_and_none_is_no_drive():
    host = odd_host()

    def twins():
        drives = [drive for drive in host.get("/v1/drives")["drives"] if drive["serial"] == "TWIN"]
        return drives if [drive["state"] for drive in drives] == ["ok", "ok"] else None
    found = host.wait(twins, "both twins")
    assert len({drive["id"] for drive in found}) == 2
    for drive, used in zip(found, (11, 22)):
        host.wait_read(drive["id"])
        assert host.values(drive["id"])["percentage_used"] == used
    assert state(host, "TWIN") == 409
    # The one without a number is not mistaken for anything; the journal names it.
    assert len(host.get("/v1/drives")["drives"]) == 4, host.devices()
    assert "nvme2 gives no serial number" in host.read("emberd.log")
    assert host.counts("nvme2")["by_command"].keys() <= {"identify 0x01"}
    # Each keeps its history over a restart.
    ids = [drive["id"] for drive in found]
    host.wait(lambda: all(points(host, one) for one in ids), "history of both")
    restart_emberd(host)
    assert [drive["id"] for drive in host.wait(twins, "both twins again")] == ids
    assert [set(points(host, one)) for one in ids] == [{11}, {22}]


# ---- orders --------------------------------------------------------------------------------------

def test_retired_drive_is_no_longer_missing():
    host = Host(scenario=WORN, poll=FAST)
    settle(host, "nvme0", "nvme1")
    status, problem = post(host, "/v1/drives/SNB/retire")
    assert status == 409 and "removed" in problem["detail"], problem
    host.control("vanish", "nvme1")
    host.wait(lambda: state(host, "SNB") == "removed", "SNB to be removed")
    status, summary = post(host, "/v1/drives/SNB/retire")
    assert (status, summary["state"]) == (200, "retired"), summary
    # The 2xx was said when it was on the disk.
    host.kill("emberd", signal.SIGKILL)
    host.start_emberd()
    host.wait(lambda: state(host, "SNA") == "ok", "emberd to be back")
    assert state(host, "SNB") == "retired"
    assert [drive["serial"] for drive in host.get("/v1/drives")["drives"]] == ["SNA", "SNB"]
    assert post(host, "/v1/drives/SNB/unretire")[1]["state"] == "removed"
    assert post(host, "/v1/drives/SNB/retire")[1]["state"] == "retired"
    # It comes back by itself.
    host.control("return", "nvme1")
    host.wait(lambda: state(host, "SNB") == "ok", "its return")
    assert post(host, "/v1/drives/SNB/unretire")[0] == 409
    wait_told(host, [("drive-appeared", None, "nvme1"), ("drive-removed", "ok", "removed"),
                     ("drive-retired", "removed", "retired"),
                     ("drive-retired", "retired", "removed"),
                     ("drive-retired", "removed", "retired"), ("drive-returned", "retired", "ok")],
              values, drive=host.drive("SNB")["id"])


def test_refresh_reads_everything_now():
    host = Host(scenario=WORN, poll=QUIET)
    settle(host, "nvme0", "nvme1")
    before = {page["page"]: page["attempted_at"] for page in host.drive("SNA")["pages"]
              if page["interval_seconds"]}
    status, reply = post(host, "/v1/drives/SNA/refresh")
    assert status == 202 and set(reply["pages"]) <= set(before), reply
    host.wait(lambda: all(page["attempted_at"] > before[page["page"]]
                          for page in host.drive("SNA")["pages"] if page["page"] in before),
              "all pages to be read again")
    host.control("vanish", "nvme0")
    host.wait(lambda: state(host, "SNA") == "removed", "SNA to be removed")
    assert post(host, "/v1/drives/SNA/refresh")[0] == 409


# ---- what is learned -----------------------------------------------------------------------------

SISTERS = """
[drive]
product = 6530
serial = SNA
at = 0s refuse get-log 0x03 0x4109
[drive]
product = 6530
serial = SNB
at = 0s refuse get-log 0x03 0x4109
"""


def test_refusals_are_remembered_by_model_and_firmware():
    # One drive first: the second one comes when the first has been refused.
    host = Host(scenario=SISTERS, poll={**FAST, "firmware_interval": "50ms"}, start=False)
    host.control("vanish", "nvme1")
    host.start_broker()
    host.start_emberd()
    settle(host, "SNA")
    assert asked(host, "nvme0", "get-log 0x03") == 1
    host.control("return", "nvme1")
    host.wait(lambda: state(host, "SNB") == "ok", "the sister")
    settle(host, "SNB")
    assert asked(host, "nvme1", "get-log 0x03") == 0
    document = host.get("/v1/drives/SNB/firmware")
    assert (document["status"], document["valid"]) == ("refused", False), document
    # Nor does the next start ask, however this one ended.
    for sig in (signal.SIGTERM, signal.SIGKILL):
        restart_emberd(host, sig)
        settle(host, "SNA", "SNB")
        assert asked(host, "nvme0", "get-log 0x03") == 1
        assert asked(host, "nvme1", "get-log 0x03") == 0
    # A person may want it asked again, and then all are.
    host.control("accept", "nvme0")
    host.control("accept", "nvme1")
    post(host, "/v1/drives/SNA/refresh?refused=true")
    for serial in ("SNA", "SNB"):
        host.wait(lambda serial=serial: host.get(f"/v1/drives/{serial}/firmware")["valid"],
                  f"the firmware page of {serial}")
    restart_emberd(host)
    settle(host, "SNA", "SNB")
    assert host.get("/v1/drives/SNB/firmware")["status"] == "ok"


def test_refusal_of_one_is_not_that_of_its_sister():
    host = Host(scenario=WORN, poll=FAST, start=False)
    host.control("refuse", "nvme0", "get-log", "0x03", "0x4109")
    host.control("vanish", "nvme0")
    host.start_broker()
    host.start_emberd()
    settle(host, "SNB")
    host.control("return", "nvme0")
    host.wait(lambda: state(host, "SNA") == "ok", "SNA")
    settle(host, "SNA")
    assert host.get("/v1/drives/SNA/firmware")["status"] == "refused"
    restart_emberd(host)
    settle(host, "SNA", "SNB")
    assert host.get("/v1/drives/SNB/firmware")["status"] == "ok"


def test_plan_follows_what_drives_announce():
    host = Host(poll=QUIET)
    devices = host.wait(lambda: len(host.devices()) == 8 and host.devices(), "eight drives")
    settle(host, *devices)
    entries = {device: host.counts(device)["error_log_entries"] for device in devices}
    statuses = {}
    for device in devices:
        counts = commands(host, device)
        for page in host.drive(device)["pages"]:
            statuses.setdefault(page["page"], set()).add(page["status"])
            assert page["status"] in ("ok", "unsupported", "no-reading"), (device, page)
            assert (page["interval_seconds"] is None) == (page["status"] == "unsupported"), page
        assert counts.get("get-log 0x01", 0) >= 1, counts
    for page in ("errors", "effects", "sanitize", "selftest"):
        assert "ok" in statuses[page], statuses
    assert "unsupported" in statuses["sanitize"] and "unsupported" in statuses["effects"], statuses
    # What was asked was had: no entry of an error log is ours.
    assert all(host.counts(device)["error_log_entries"] == entries[device] for device in devices)
    refused = {device: [command for command in host.control("log", device) if command["ret"] > 0]
               for device in devices}
    assert not any(refused.values()), refused


def test_steady_poll_is_three_commands_at_most():
    host = Host(poll={"smart_interval": "100ms"})
    devices = host.wait(lambda: len(host.devices()) == 8 and host.devices(), "eight drives")
    settle(host, *devices)
    before = {device: commands(host, device) for device in devices}
    host.wait(lambda: asked(host, "nvme0", "get-log 0x02") > before["nvme0"]["get-log 0x02"] + 30,
              "30 polls")
    for device in devices:
        after = commands(host, device)
        polls = after["get-log 0x02"] - before[device]["get-log 0x02"]
        total = sum(after.values()) - sum(before[device].values())
        assert total <= 3 * polls, (device, polls, total)


NARROW = """\
[drive]
product = 6536
link_speed = 8.0 GT/s PCIe
link_width = 2
numa_node = 1
"""


def test_the_link_is_told_with_what_it_could_be():
    host = Host(scenario=NARROW)
    host.wait_read("nvme0")
    path = host.drive("nvme0")["controllers"][0]
    told = {key: path[key] for key in ("link_speed_gts", "link_width", "link_speed_max_gts",
                                       "link_width_max", "numa_node")}
    assert told == {"link_speed_gts": 8.0, "link_width": 2, "link_speed_max_gts": 16.0,
                    "link_width_max": 4, "numa_node": 1}, told
    assert "8 GT/s x2 of 16 GT/s x4" in host.emberctl("show", "nvme0").stdout
