# SPDX-License-Identifier: Apache-2.0
"""The broker trusts nobody: policy, peers, and what reaches a drive."""
import os
import subprocess
import sys

import harness
from broker_client import BrokerClient

CLASSES = ("read", "arm", "test", "provision", "firmware", "erase")
# One operation of each class, as a client would ask it.
REQUESTS = {
    "read": ("get-log", {"page": 2, "nsid": 0xFFFFFFFF, "length": 512}),
    "arm": ("arm-events", {"arg": 0x1F}),
    "test": ("self-test", {"page": 1, "nsid": 0xFFFFFFFF}),
    "provision": ("namespace-create", {}),
    "firmware": ("firmware-commit", {}),
    "erase": ("format", {"nsid": 1}),
}


def policy(cls, answer):
    others = "".join(f"{name}=allow\n" for name in CLASSES if name != cls)
    return f"[default]\n{cls}={answer}\n{others}"


def lines_with(host, *words):
    return [line for line in host.read("broker.log").splitlines()
            if all(word in line for word in words)]


def ask_under(cls, answer):
    """Asks one operation of the class under that policy; (answer, commands sent, log lines)"""
    host = harness.Host(policy=policy(cls, answer), start=False)
    host.start_broker()
    op, fields = REQUESTS[cls]
    with BrokerClient(host.path("broker.sock")) as client:
        before = host.counts("nvme0")["commands"]
        reply = client.ask("nvme0", op, **fields)
        after = host.counts("nvme0")["commands"]
    # The line is written before the reply is sent, but the log is another program's file.
    lines = host.wait(lambda: lines_with(host, op, reply.answer), "the journal line") \
        if reply.answer != "done" else lines_with(host, op)
    harness.stop_all()
    return reply.answer, after - before, lines


def test_denied_class_is_denied():
    for cls in CLASSES:
        answer, commands, lines = ask_under(cls, "deny")
        assert answer == "denied", f"{cls}: {answer}"
        assert commands == 0, f"{cls}: {commands} commands reached the drive"
        assert len(lines) == 1 and cls in lines[0], f"{cls}: {lines}"


def test_confirm_needs_confirmation():
    for cls in CLASSES:
        answer, commands, lines = ask_under(cls, "confirm")
        assert answer == "needs-confirmation", f"{cls}: {answer}"
        assert commands == 0, f"{cls}: {commands} commands reached the drive"
        assert len(lines) == 1, f"{cls}: {lines}"


def test_allowed_class_reaches_the_drive_or_says_that_it_cannot():
    for cls in CLASSES:
        answer, commands, _ = ask_under(cls, "allow")
        expected = "done" if cls in ("read", "arm", "test") else "not-supported"
        assert answer == expected, f"{cls}: {answer}"
        assert (commands > 0) == (expected == "done"), f"{cls}: {commands} commands"


def test_reads_leave_no_line_and_others_do():
    host = harness.Host(start=False)
    host.start_broker()
    with BrokerClient(host.path("broker.sock")) as client:
        assert client.smart("nvme0").answer == "done"
        assert client.ask("nvme0", "arm-events", arg=0x1F).answer == "done"
    host.wait(lambda: lines_with(host, "arm-events", "done"), "the line of arm-events")
    assert not lines_with(host, "get-log", "done")


def as_user(uid, path):
    """What another user's client meets; runs in a process of that uid."""
    # Modules first: the other user may not be allowed to read where they are.
    program = ("import os,sys; sys.path.insert(0, sys.argv[1]); "
               "from broker_client import BrokerClient, Closed; "
               "os.setgid(int(sys.argv[3])); os.setuid(int(sys.argv[3]))\n"
               "try:\n    client = BrokerClient(sys.argv[2], timeout=10, sync=False)\n"
               "    print('closed' if client.wait_closed() else 'open')\n"
               "except Closed:\n    print('closed')\n")
    return subprocess.run([sys.executable, "-c", program, os.path.dirname(__file__), path,
                           str(uid)], capture_output=True, text=True, timeout=60)


def test_peer_of_another_uid_is_closed_at_connect():
    uid = harness.other_user()
    if uid is None:
        return "needs root: not run"
    host = harness.Host(start=False)
    host.start_broker()
    # Whatever the socket's mode is in a test, the peer's uid decides.
    os.chmod(host.path("broker.sock"), 0o666)
    before = host.counts("nvme0")["commands"]
    result = as_user(uid, host.path("broker.sock"))
    assert result.stdout.strip() == "closed", result.stdout + result.stderr
    host.wait(lambda: lines_with(host, f"uid {uid}"), "the journal line")
    assert host.counts("nvme0")["commands"] == before


def test_root_is_no_exception():
    """Root is not the client user either: it has other ways to a drive."""
    if os.getuid() != 0:
        return "needs root: not run"
    host = harness.Host(start=False, client=harness.other_user())
    host.start_broker()
    client = BrokerClient(host.path("broker.sock"), timeout=10, sync=False)
    assert client.wait_closed()


def test_forbidden_pages_never_reach_the_drive():
    host = harness.Host(start=False)
    host.start_broker()
    with BrokerClient(host.path("broker.sock")) as client:
        before = host.counts("nvme0")["commands"]
        for page in (0xC3, 0x0D):
            reply = client.ask("nvme0", "get-log", page=page, nsid=0xFFFFFFFF, length=512)
            assert reply.answer == "invalid", f"log {page:02x}h: {reply.answer}"
        for protocol, specific in ((0, 1), (1, 0), (1, 2), (1, 0x07FE), (2, 1), (0xEF, 1)):
            reply = client.ask("nvme0", "security-receive", page=protocol, lsi=specific, length=512)
            assert reply.answer == "invalid", f"protocol {protocol} {specific:04x}h: {reply.answer}"
        for wrong in ({"length": 4100}, {"length": 0}, {"length": 512, "nsid": 1}):
            assert client.ask("nvme0", "security-receive", page=1, lsi=1, **wrong).answer == "invalid"
        assert client.ask("nvme0", "arm-events", arg=0x100).answer == "invalid"
        assert client.ask(0xDEAD, "identify", page=1, length=4096).answer == "gone"
        assert host.counts("nvme0")["commands"] == before


def test_garbage_closes_the_connection_and_nothing_else():
    host = harness.Host(start=False)
    host.start_broker()
    with BrokerClient(host.path("broker.sock")) as good:
        with BrokerClient(host.path("broker.sock")) as bad:
            bad.send_raw(b"\xff" * 64)
            assert bad.wait_closed()
        assert good.smart("nvme0").answer == "done"


def test_bad_policy_is_refused_with_its_line():
    host = harness.Host(start=False, policy="[default]\nread=perhaps\n")
    result = host.run(host.build + "/broker/ember-broker", "--socket", host.path("b.sock"),
                      "--client-user", host.client, "--policy", host.path("policy.conf"),
                      check=False, timeout=20)
    assert result.returncode != 0
    assert "policy.conf:2" in result.stderr, result.stderr


def print_policy(host, *words):
    return host.run(host.build + "/broker/ember-broker", "--print-policy", "--client-user", "0", *words,
                    check=False, timeout=20)


def test_the_policy_can_be_asked_for():
    host = harness.Host(start=False, policy=f"[default]\nfirmware=deny\n[host {os.uname().nodename}]\n"
                                            "erase=deny\n[drive X]\nread=deny\n")
    result = print_policy(host, "--policy", host.path("policy.conf"))
    assert result.returncode == 0, result
    assert result.stdout.split() == ["read=allow", "arm=allow", "test=allow", "provision=confirm",
                                     "firmware=deny", "erase=deny"], result.stdout
    bad = host.write("bad.conf", "[default]\nread=perhaps\n")
    result = print_policy(host, "--policy", bad)
    assert result.returncode == 1 and result.stdout == "" and f"{bad}:2: " in result.stderr, result
