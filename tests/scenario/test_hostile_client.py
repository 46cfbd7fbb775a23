# SPDX-License-Identifier: Apache-2.0
"""The broker and a client that lies: others are served, and no drive gets what it must not."""
import os
import random
import socket
import time

from broker_client import (CLASSES, HEADER, KIND_REQUEST, MAGIC, OPERATIONS, REQUEST, VERSION, BrokerClient,
                           Closed, encode_request)
from harness import Host

ALL = 0xFFFFFFFF
RAE = 1 << 15


def broker_host(**kwargs):
    host = Host(start=False, **kwargs)
    host.start_broker()
    return host


def connect(host, **kwargs):
    return BrokerClient(host.path("broker.sock"), **kwargs)


def descriptors(host):
    return len(os.listdir(f"/proc/{host.processes['broker'].pid}/fd"))


def memory_kib(host):
    with open(f"/proc/{host.processes['broker'].pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS:")).split()[1])


def cpu_seconds(host):
    with open(f"/proc/{host.processes['broker'].pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wild_requests(seed=1):
    """Every page number with fitting and unfitting fields, then edges of every field, then dice."""
    for op in OPERATIONS:
        for page in range(256):
            length = {"identify": 4096, "identify-any": 4096, "get-log": 512, "get-log-any": 512,
                      "security-receive": 512}.get(op, 0)
            yield op, dict(page=page, nsid=ALL, length=length)
            yield op, dict(page=page, nsid=1, length=length, lsi=1)
    for length in (0, 1, 2, 3, 4, 4095, 4096, 4097, 65536, 65540, 16 << 20):
        for offset in (0, 1, 4, 2**63, 2**64 - 4, 2**64 - 512, 2**64 - 1):
            yield "get-log", dict(page=2, nsid=ALL, length=length, offset=offset)
            yield "acknowledge-event", dict(page=2, nsid=ALL, length=length, offset=offset)
            yield "identify", dict(page=1, length=length, offset=offset)
    dice = random.Random(seed)
    for _ in range(2000):
        yield dice.choice(OPERATIONS), dict(
            page=dice.randrange(256), lsp=dice.choice((0, 1, 255)), lsi=dice.choice((0, 1, 65535)),
            nsid=dice.choice((0, 1, ALL - 1, ALL)), offset=dice.choice((0, 4, 2**64 - 4)),
            length=dice.choice((0, 4, 512, 4096)), arg=dice.choice((0, 1, 0x1F, 0x20, ALL)))


def allowed(entry):
    """May a drive see this command, whatever the policy says?"""
    name, cdw10 = entry["command"].split()[0], entry["cdw10"]
    if entry["timeout_ms"] != 0:
        return False  # at the end of a timeout of ours the kernel would reset the controller
    if name == "set-features":
        return cdw10 & 0xFF == 0x0B and entry["cdw11"] & ~0x31F == 0
    if name == "get-log":
        return cdw10 & RAE or cdw10 & 0xFF in (0x01, 0x02)
    if name == "self-test":
        return cdw10 in (0x1, 0x2, 0xF) and entry["data_len"] == 0
    if name == "security-receive":
        return cdw10 in (0, 0x01000100)  # protocols, and level-0 discovery: nothing opens a session
    return name in ("identify", "get-features")


def test_nothing_forbidden_reaches_a_drive():
    host = broker_host(policy="[default]\n" + "".join(f"{name} = allow\n"
                                                      for name in sorted(set(CLASSES.values()))))
    seen, answers = 0, {}
    with connect(host, timeout=60) as client:
        for number, (op, fields) in enumerate(wild_requests()):
            reply = client.ask("nvme0", op, **fields)
            answers[reply.answer] = answers.get(reply.answer, 0) + 1
            assert reply.answer not in ("timeout", "stuck", "gone"), (op, fields, reply)
            if number % 100 == 99 or fields.get("length", 0) > 65536:
                seen += check_log(host, "nvme0")
        seen += check_log(host, "nvme0")
    assert answers["done"] > 20 and answers["invalid"] > 3000, answers
    return f"{sum(answers.values())} requests, {seen} commands looked at: {answers}"


def check_log(host, drive):
    entries = host.control("log", drive)
    for entry in entries:
        assert allowed(entry), entry
    return len(entries)


def test_a_client_that_never_reads():
    """It is let go at its limit; until then and after it others are served at once."""
    host = broker_host()
    slowest = 0
    with connect(host) as good, connect(host) as bad:
        handle = bad.drives["nvme1"]["drive"]
        bad.sock.setblocking(False)
        bad.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        closed, number = False, 0
        while not closed and number < 200_000:
            number += 1
            try:
                bad.send_raw(encode_request(number, handle, "get-feature", page=0x0B))
            except BlockingIOError:
                begun = time.monotonic()
                assert good.smart("nvme0").answer == "done"
                slowest = max(slowest, time.monotonic() - begun)
            except Closed:
                closed = True
        assert closed, "it was never let go"
        assert good.smart("nvme1").answer in ("done", "queue-full")
        host.wait(lambda: reads(good, "nvme1"), "the drive to be free again")
    assert slowest < 0.5, slowest
    return f"let go after {number} requests; slowest good answer {slowest * 1000:.0f} ms"


def test_large_reads_leave_room_for_small_ones():
    """What one client fetches in bulk, even from a drive that hangs, is not taken from others."""
    host = broker_host(patience="300ms")
    with connect(host) as good, connect(host, timeout=60) as bad:
        for drive in ("nvme1", "nvme2", "nvme3", "nvme4"):
            host.control("hang", drive)
        before = memory_kib(host)
        large = [bad.send(f"nvme{number % 4 + 1}", "get-log", page=2, nsid=ALL, length=16 << 20)
                 for number in range(32)]
        for _ in range(3):
            assert good.smart("nvme0").answer == "done"
        answers = [bad.reply(number).answer for number in large]
        assert answers.count("queue-full") >= 28, answers
        # Answered, and yet their memory waits for the drive: it has to count.
        more = [bad.ask(f"nvme{number}", "get-log", page=2, nsid=ALL, length=16 << 20).answer
                for number in (0, 5, 6, 7)]
        assert more == ["queue-full"] * 4, more
        assert good.smart("nvme0").answer == "done"
        for drive in ("nvme1", "nvme2", "nvme3", "nvme4"):
            host.control("resume", drive)
        for drive in ("nvme1", "nvme2", "nvme3", "nvme4"):
            good.wait_event(drive, "unstuck")
        assert bad.ask("nvme0", "get-log", page=2, nsid=ALL, length=4 << 20).answer != "queue-full"
    return f"{before // 1024} MiB before, {memory_kib(host) // 1024} MiB after"


def test_connections_without_end():
    """Connect and go, half packets, descriptors nobody asked for, five at a time."""
    host = broker_host()
    packet = encode_request(1, 1, "identify", page=1, length=4096)
    broken = [packet[:number] for number in range(0, len(packet), 5)] + \
        [packet + b"x", packet[:4] + b"\xff" + packet[5:], b"\0" * 66_000,
         HEADER.pack(MAGIC, VERSION, 2, 0, 0), HEADER.pack(MAGIC, VERSION, KIND_REQUEST, 0, 0),
         HEADER.pack(MAGIC, VERSION, KIND_REQUEST, REQUEST.size, 0) + b"\xff" * REQUEST.size]
    with connect(host) as good:
        fds, memory = descriptors(host), None
        for number in range(1000):
            client = connect(host, sync=False)
            try:
                if number % 3 == 1:
                    client.send_raw(broken[number % len(broken)])
                elif number % 3 == 2:
                    socket.send_fds(client.sock, [packet], [0, 1, 2])
            except (Closed, OSError):
                pass  # turned away already: four are the limit
            client.close()
            if number == 200:
                assert good.smart("nvme0").answer == "done"
                memory = memory_kib(host)
        assert good.smart("nvme0").answer == "done"
        host.wait(lambda: descriptors(host) <= fds + 1, "the descriptors to be closed")
        grown = memory_kib(host) - memory
        others = [connect(host) for _ in range(3)]
        fifth = connect(host, sync=False)
        assert fifth.wait_closed(10), "a fifth connection"
        for client in others + [fifth]:
            client.close()
    return f"1,000 connections, {fds} descriptors, grew by {grown} KiB"


def test_idle_is_idle():
    host = broker_host(patience="300ms")
    with connect(host) as client:
        host.control("hang", "nvme3")
        assert client.smart("nvme3").answer == "timeout"
        begun, used = time.monotonic(), cpu_seconds(host)
        host.wait(lambda: time.monotonic() - begun > 2, "two seconds")
        used = cpu_seconds(host) - used
    assert used < 0.1, used
    return f"{used:.2f} s of CPU in 2 s beside a hung drive"


def reads(client, drive):
    client.drain()
    return drive in client.drives and client.smart(drive).answer == "done"


def test_drives_that_come_and_go_leave_nothing():
    """Case R36: 1,000 rounds (100 in the short form), hung ones among them."""
    rounds = 1000 if os.environ.get("LONG") == "1" else 100
    host = broker_host(patience="300ms")

    def threads():
        return len(os.listdir(f"/proc/{host.processes['broker'].pid}/task"))
    with connect(host, timeout=60) as client:
        for drive in list(client.drives):
            assert client.smart(drive).answer == "done"
        fds, tasks, memory = descriptors(host), threads(), None
        for number in range(rounds):
            hangs = number % 10 == 0
            if hangs:
                host.control("hang", "nvme5")
            request = client.send("nvme5", "get-log", page=2, nsid=ALL, length=512)
            host.control("vanish", "nvme5")
            host.control("return", "nvme5")
            if hangs:
                host.control("resume", "nvme5")
            assert client.reply(request).answer in ("gone", "done"), number
            host.wait(lambda: reads(client, "nvme5"), "nvme5 to be back")
            client.changes.clear()
            client.events.clear()
            if number == rounds // 4:
                memory = memory_kib(host)
        host.wait(lambda: descriptors(host) <= fds, f"{fds} descriptors again")
        host.wait(lambda: threads() <= tasks, f"{tasks} threads again")
        grown = memory_kib(host) - memory
        assert len(client.drives) == 8
    return f"{rounds} rounds: {fds} descriptors, {tasks} threads as before, grew by {grown} KiB"
