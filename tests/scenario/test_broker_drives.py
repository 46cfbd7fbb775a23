# SPDX-License-Identifier: Apache-2.0
"""The broker alone and its drives: reading, hanging, resetting, coming and going, events, reload."""
import json
import os
import pwd

from broker_client import CLASSES, OPERATIONS, BrokerClient
from harness import Host, other_user

ALL = 0xFFFFFFFF


def broker_host(**kwargs):
    host = Host(start=False, **kwargs)
    host.start_broker()
    return host


def connect(host):
    return BrokerClient(host.path("broker.sock"))


def commands(host, drive):
    return host.counts(drive)["commands"]


def total_commands(host, client):
    return sum(commands(host, drive) for drive in client.drives)


def test_drives_are_told():
    host = broker_host()
    with connect(host) as client:
        assert sorted(client.drives) == [f"nvme{i}" for i in range(8)], client.drives.keys()
        assert len({drive["drive"] for drive in client.drives.values()}) == 8
        for drive in client.drives.values():
            assert drive["transport"] == "pcie" and drive["state"] == "live", drive
            identify = client.identify(drive["device"])
            assert identify.answer == "done" and len(identify.data) == 4096, identify
            serial = identify.data[4:24].decode("latin-1")
            assert serial.strip() == drive["serial"].strip() != "", (serial, drive)
        assert total_commands(host, client) == 8, "finding drives must not send commands"


def test_pages_are_read():
    host = broker_host()
    with connect(host) as client:
        smart = client.smart("nvme0")
        assert smart.answer == "done" and len(smart.data) == 512 and any(smart.data), smart
        assert smart.elapsed_us < 5_000_000
        effects = client.ask("nvme0", "get-log", page=5, length=4096)
        assert effects.answer == "done" and len(effects.data) == 4096, effects
        feature = client.ask("nvme0", "get-feature", page=0x0B)
        assert (feature.answer, feature.result) == ("done", 0x300), feature


def test_a_refusal_of_the_drive_is_its_status():
    host = broker_host()
    host.control("refuse", "nvme1", "get-log", "0x06", "0x4109")
    with connect(host) as client:
        reply = client.ask("nvme1", "get-log", page=6, length=564)
        assert (reply.answer, reply.status, reply.data) == ("status", 0x4109, b""), reply


def test_checks_send_nothing():
    host = broker_host()
    bad = [("get-log", dict(page=0x07, length=512, nsid=ALL, lsp=1)),
           ("get-log", dict(page=0x0D, length=512, nsid=ALL)),
           ("get-log", dict(page=0xC3, length=4096, nsid=ALL)),
           ("get-log", dict(page=0x02, length=510, nsid=ALL)),
           ("identify", dict(page=0x01, length=512)),
           ("identify", dict(page=0x1C, length=4096)),
           ("arm-events", dict(arg=0x300)),
           ("self-test", dict(page=0x0E, nsid=ALL)),
           ("self-test", dict(page=0x00, nsid=ALL)),
           ("self-test", dict(page=0x01, nsid=ALL, length=4)),
           ("acknowledge-event", dict(page=0x04, length=4096))]
    with connect(host) as client:
        for op, fields in bad:
            assert client.ask("nvme0", op, **fields).answer == "invalid", (op, fields)
        assert commands(host, "nvme0") == 0
    assert host.read("broker.log").count(": invalid: ") == len(bad), host.read("broker.log")


def as_user(uid, function):
    """function() in a process of that user; its result, which has to be JSON."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if uid != os.getuid():
                os.setgroups([])
                os.setgid(pwd.getpwuid(uid).pw_gid)
                os.setuid(uid)
            os.write(writer, json.dumps(function()).encode())
        except BaseException as error:  # the parent has to hear of everything
            os.write(writer, json.dumps(repr(error)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def ask_each_class(host, classes, uid):
    """{class: answer} to one operation of each class, asked by that user."""
    def ask():
        fields = {"read": dict(page=1, length=4096), "arm": dict(page=1, length=4096),
                  "test": dict(page=1)}
        with connect(host) as client:
            return {cls: client.ask("nvme0", next(op for op in OPERATIONS if CLASSES[op] == cls),
                                    **fields.get(cls, {})).answer for cls in classes}
    return as_user(uid, ask)


def test_the_client_user_needs_no_privilege():
    """The socket lets the client user in, and the policy alone decides what it gets."""
    stranger = other_user()
    if stranger is None:
        return "needs root: not run"
    host = broker_host(client=stranger)
    answers = ask_each_class(host, list(dict.fromkeys(CLASSES.values())), stranger)
    assert answers == {"read": "done", "arm": "done", "test": "done",
                       "provision": "needs-confirmation", "firmware": "needs-confirmation",
                       "erase": "needs-confirmation"}, answers
    assert commands(host, "nvme0") == 3
    assert f"uid {stranger}): needs-confirmation" in host.read("broker.log")
    return None


def test_one_drive_is_denied():
    host = Host(start=False)
    serial = next(drive["serial"] for drive in host.control("list") if drive["drive"] == "nvme2")
    host.policy = f"[drive {serial.strip()}]\nread = deny\n[drive other]\nread = deny\n"
    host.write("policy.conf", host.policy)
    host.start_broker()
    with connect(host) as client:
        assert client.identify("nvme2").answer == "denied"
        assert client.identify("nvme3").answer == "done"
        assert commands(host, "nvme2") == 0


def test_a_hung_drive():
    host = broker_host(patience="300ms")
    with connect(host) as client:
        assert client.smart("nvme3").answer == "done"
        host.control("hang", "nvme3")
        first, second = (client.send("nvme3", "get-log", page=2, nsid=ALL, length=512)
                         for _ in range(2))
        for i in (0, 1, 2, 4, 5, 6, 7):
            assert client.smart(f"nvme{i}").answer == "done", "others are not held up"
        assert client.reply(first).answer == "timeout"
        assert client.reply(second).answer == "stuck"
        sent = commands(host, "nvme3")
        assert client.smart("nvme3").answer == "stuck"
        assert commands(host, "nvme3") == sent, "nothing is sent behind the one that is out"
        host.control("resume", "nvme3")
        client.wait_event("nvme3", "unstuck")
        assert client.smart("nvme3").answer == "done"


def test_a_hung_drive_does_not_hold_the_end():
    host = broker_host(patience="300ms")
    with connect(host) as client:
        host.control("hang", "nvme3")
        assert client.smart("nvme3").answer == "timeout"
        assert host.kill("broker", timeout=8) == 0


def test_a_reset_is_busy():
    host = broker_host(patience="300ms")
    with connect(host) as client:
        assert client.smart("nvme4").answer == "done"
        host.control("state", "nvme4", "resetting")
        assert client.smart("nvme4").answer == "busy"
        client.wait(lambda: client.drives["nvme4"]["state"] == "resetting", "the state")
        host.control("state", "nvme4", "live")
        client.wait_event("nvme4", "connected")
        assert client.smart("nvme4").answer == "done"
        assert client.drives["nvme4"]["state"] == "live"


def test_a_drive_comes_and_goes():
    host = broker_host()
    with connect(host) as client:
        handle = client.drives["nvme5"]["drive"]
        assert client.smart("nvme5").answer == "done"
        host.control("vanish", "nvme5")
        client.wait(lambda: "nvme5" not in client.drives, "removal")
        assert client.smart(handle).answer == "gone"
        host.control("return", "nvme5", "as", "nvme9")
        client.wait(lambda: "nvme9" in client.drives, "return")
        assert client.drives["nvme9"]["drive"] != handle
        assert client.smart("nvme9").answer == "done"
        assert client.smart(handle).answer == "gone"


def test_another_identity_is_another_drive():
    """Whatever stays in place: a handle speaks of one NQN and serial for ever."""
    host = broker_host()
    with connect(host) as client:
        for name, value in (("subsysnqn", "nqn.test:another"), ("serial", "SN-ANOTHER")):
            handle = client.drives["nvme5"]["drive"]
            attribute = f"{host.env['EMBER_SIM_ROOT']}/sys/class/nvme/nvme5/{name}"
            with open(os.path.realpath(attribute), "w", encoding="ascii") as file:
                file.write(value + "\n")
            host.control("uevent", "nvme5", "change")
            client.wait(lambda: client.drives.get("nvme5", {"drive": handle})["drive"] != handle,
                        "a new handle")
            assert client.smart(handle).answer == "gone"
            assert client.smart("nvme5").answer == "done"


def test_a_hung_drive_that_vanishes():
    host = broker_host(patience="5s")
    with connect(host) as client:
        host.control("hang", "nvme5")
        number = client.send("nvme5", "get-log", page=2, nsid=ALL, length=512)
        host.control("wait", "nvme5", "outstanding>=1")
        host.control("vanish", "nvme5")
        assert client.reply(number, timeout=3).answer == "gone"


def test_events_are_armed_told_and_acknowledged():
    host = broker_host()
    with connect(host) as client:
        armed = client.ask("nvme0", "arm-events", arg=0x1F)
        assert (armed.answer, armed.result) == ("done", 0x31F), armed
        host.control("set", "nvme0", "critical_warning", "2")
        event = client.wait_event("nvme0", "aen")
        assert event.aen == 0x020101, hex(event.aen)
        assert client.smart("nvme0").answer == "done", "a poll retains the event"
        host.control("set", "nvme0", "critical_warning", "3")
        reply = client.ask("nvme0", "acknowledge-event", page=2, nsid=ALL, length=512)
        assert reply.answer == "done" and len(reply.data) == 512
        client.wait_event("nvme0", "aen")
        host.control("reset", "nvme0")
        client.wait_event("nvme0", "connected")


def test_reload_keeps_a_good_policy():
    host = broker_host(policy="[default]\nread = deny\n")
    with connect(host) as client:
        assert client.identify("nvme0").answer == "denied"
        host.write("policy.conf", "[default]\nread = perhaps\n")
        host.processes["broker"].send_signal(1)
        host.wait(lambda: "policy.conf:2: [default] read: must be" in host.read("broker.log"),
                  "the complaint")
        assert client.identify("nvme0").answer == "denied"
        os.unlink(host.path("policy.conf"))
        host.processes["broker"].send_signal(1)
        host.wait(lambda: host.read("broker.log").count("The policy stays as it was") == 2,
                  "the second complaint")
        assert client.identify("nvme0").answer == "denied"
        host.write("policy.conf", "[default]\nread = allow\n")
        host.processes["broker"].send_signal(1)
        host.wait(lambda: client.identify("nvme0").answer == "done", "the new policy")
