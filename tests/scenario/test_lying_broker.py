# SPDX-License-Identifier: Apache-2.0
"""emberd and a broker that lies: no crash, no leak, no spinning, no value that no drive gave."""
import os
import time

import fake_broker
from fake_broker import CHANGED, GONE, MEMFD, TIMEOUT, FakeBroker, memfd
from harness import Host, HttpError

FAST = {"smart_interval": "20ms"}


def daemon(script, poll=FAST):
    """emberd alone with a broker of ours; (host, broker)"""
    host = Host(start=False, poll=poll)
    broker = FakeBroker(host.path("broker.sock"), script)
    text = host.read("emberd.conf").replace("answer_timeout = 5s", "answer_timeout = 1s")
    host.write("emberd.conf", text)
    host.start_emberd()
    return host, broker


def status(host, name):
    with open(f"/proc/{host.processes['emberd'].pid}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith(name + ":")).split()[1])


def descriptors(host):
    return len(os.listdir(f"/proc/{host.processes['emberd'].pid}/fd"))


def cpu_seconds(host):
    with open(f"/proc/{host.processes['emberd'].pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def state(host, drive):
    try:
        return host.drive(drive)["state"]
    except HttpError as error:
        return error.status


def after_a_reading(lie):
    """A script that is honest about SN0 until its SMART log was read, and then lies."""
    def script(conn):
        reads = [0]

        def answer(request):
            if request.op == "get-log" and request.page == 2:
                reads[0] += 1
                return reads[0] > 3 and lie(conn, request)
            return False
        conn.drive(1, "nvme0", "SN0")
        conn.sync()
        conn.serve(answer)
    return script


def test_replies_that_lie_are_no_reading():
    hot = fake_broker.smart(kelvin=400)

    def wrong_memfd(conn, request, length, size=None, seal=True):
        fd = memfd(length if size is None else size, seal)
        try:
            conn.reply(request, place=MEMFD, length=length, fds=[fd])
        finally:
            os.close(fd)

    lies = {
        "another id": lambda conn, r: conn.reply(r, hot, number=r.id + 1000),
        "another drive": lambda conn, r: conn.reply(r, hot, drive=77),
        "more than asked": lambda conn, r: conn.reply(r, hot + b"x"),
        "less than asked": lambda conn, r: conn.reply(r, hot[:100]),
        "nothing": lambda conn, r: conn.reply(r),
        "a memfd of 1 MiB": lambda conn, r: wrong_memfd(conn, r, 1 << 20),
        "a memfd without a seal": lambda conn, r: wrong_memfd(conn, r, 1 << 20, seal=False),
        "a memfd of another size": lambda conn, r: wrong_memfd(conn, r, 1 << 20, size=4096),
        "a length above all limits": lambda conn, r: conn.reply(r, hot, length=0xFFFFFFFF),
        "an unknown answer": lambda conn, r: conn.reply(r, answer=200),
        "status 0": lambda conn, r: conn.reply(r, answer=1),
        "an error below 0": lambda conn, r: conn.reply(r, answer=11, err=-5),
        "half a packet": lambda conn, r: conn.send_raw(b"Embr\x01\x00"),
        "a request": lambda conn, r: conn.send(1, b"\0" * 36),
        "an end": lambda conn, r: conn.sock.shutdown(2),
    }
    for name, lie in lies.items():
        told = []

        def tell(conn, request, lie=lie, told=told):
            lie(conn, request)
            told.append(request.id)
            return True
        host, broker = daemon(after_a_reading(tell))
        host.wait_read("nvme0")
        fds = descriptors(host)
        host.wait(lambda told=told: len(told) >= 2, f"two lies ({name})")
        document = host.get("/v1/drives/SN0/smart")
        assert document["values"]["temperature_celsius"] == 27, (name, document)
        assert document["valid"], name
        assert descriptors(host) <= fds + 3, f"{name}: {fds} descriptors, now {descriptors(host)}"
        broker.close()
        host.stop()
    return f"{len(lies)} lies"


def test_large_answers_of_commands():
    """As a memfd, which is taken whole; one of more than anybody may ask for is no answer."""
    sizes = [172816, 3 << 20]

    def script(conn):
        def answer(request):
            if request.op != "get-log" or request.page != 0xd2:
                return False
            size = sizes.pop(0)
            fd = memfd(size)
            conn.reply(request, place=MEMFD, length=size, fds=[fd])
            os.close(fd)
            return True
        conn.drive(1, "nvme0", "SN0")
        conn.sync()
        conn.serve(answer)
    host, broker = daemon(script)
    host.wait_read("nvme0")
    fds = descriptors(host)
    path = "/v1/drives/nvme0/raw?kind=log&page=210&length=172816"
    answer = host.get(path, method="POST")
    assert answer["status"] == "ok" and answer["data"] == "00" * 172816, answer["status"]
    answer = host.get(path, method="POST")
    assert answer["status"] == "host-error" and answer["data"] is None, answer["status"]
    assert not sizes and descriptors(host) <= fds + 3
    broker.close()
    host.stop()


def test_lost_answers_make_a_drive_unresponsive_and_no_other():
    """A broker that loses what one drive is asked, and one that answers nothing after the list."""
    def forgets_one(conn):
        conn.drive(1, "nvme0", "SN0")
        conn.drive(2, "nvme1", "SN1")
        conn.sync()
        conn.serve(lambda request: request.drive == 1 and request.op == "get-log")
    host, broker = daemon(forgets_one)
    host.wait(lambda: state(host, "SN0") == "unresponsive", "SN0 to be unresponsive")
    assert state(host, "SN1") == "ok"
    assert len(broker.connections) == 1, "the others' connection was given up"
    broker.close()
    host.stop()

    def answers_nothing(conn):
        conn.drive(1, "nvme0", "SN0")
        conn.sync()
        conn.serve(lambda request: True)
    host, broker = daemon(answers_nothing)
    host.wait(lambda: state(host, "SN0") == "unresponsive", "SN0 to be unresponsive")
    assert len(broker.connections) > 2
    broker.close()


def test_no_end_of_the_list():
    """SYNC never comes: the drives are not watched, and that is said."""
    def script(conn):
        for handle in range(1, 10_000_000):
            conn.drive(handle, f"nvme{handle % 5000}", f"SN{handle % 5000}",
                       change=1 if handle % 2 else GONE)
    host, broker = daemon(script)
    host.wait(lambda: len(host.devices()) >= 2000, "many drives", timeout=60)
    host.wait(lambda: "ember-broker is not reachable" in host.read("emberd.log"), "the complaint")
    host.wait(lambda: not any(drive["state"] == "ok" for drive in host.get("/v1/drives?limit=4096")["drives"]),
              "no drive to be ok", timeout=60)
    assert not host.get("/v1/health")["broker"]["connected"]
    broker.close()


def test_more_drives_than_there_is_room_for():
    """At the limit the longest removed makes room; twins without end do not share an id."""
    def script(conn):
        for handle in range(1, 4201):
            conn.drive(handle, f"nvme{handle}", f"SN{handle}")
            conn.drive(handle, f"nvme{handle}", f"SN{handle}", change=GONE)
        for twin in range(300):
            conn.drive(10_000 + twin, f"nvme{10_000 + twin}", "TWIN")
        conn.sync()
        conn.serve()
    host, broker = daemon(script, poll={"smart_interval": "1h"})
    host.wait(lambda: host.get("/v1/health")["broker"]["connected"], "the list", timeout=60)
    drives = host.get("/v1/drives?limit=4096")["drives"]
    assert len(drives) == 4096, len(drives)
    twins = [drive for drive in drives if drive["serial"] == "TWIN"]
    assert len(twins) == 256, len(twins)
    assert len({drive["id"] for drive in drives}) == 4096, "two drives share an id"
    serials = {drive["serial"] for drive in drives}
    assert "SN1" not in serials and "SN4200" in serials
    broker.close()
    return f"{status(host, 'VmRSS') // 1024} MiB"


def test_a_handle_stays_one_drive():
    def script(conn):
        conn.drive(1, "nvme0", "SN0")
        conn.sync()
        seen = [0]

        def lie(request):
            seen[0] += 1
            if seen[0] == 20:
                conn.drive(1, "nvme0", "SN9", change=CHANGED)
            return False
        conn.serve(lie)
    host, broker = daemon(script)
    host.wait(lambda: "two drives the same handle" in host.read("emberd.log"), "the complaint")
    assert host.drive("nvme0")["serial"] == "SN0"
    broker.close()


def flood(conn):
    """A process that sends events as fast as it can, until the connection ends."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                conn.event(1, 1, 0x020101)
                conn.event(1, 3)
        except OSError:
            pass
        finally:
            os._exit(0)
    return child


def test_storm_of_events_keeps_readers_fresh():
    """Events without a pause, more than can be taken in: what is shown stays what is read."""
    children = []

    def script(conn):
        conn.drive(1, "nvme0", "SN0")
        conn.drive(2, "nvme1", "SN1")
        conn.sync()
        children.extend(flood(conn) for _ in range(3))
        conn.serve()
    host, broker = daemon(script)
    host.wait_read("nvme1")
    oldest, end = 0, time.monotonic() + 3
    while time.monotonic() < end:
        oldest = max(oldest, host.get("/v1/drives/nvme1/smart")["age_seconds"])
    memory = status(host, "VmRSS")
    events = host.drive("nvme0")["polls"]["events_total"]
    broker.close()
    for child in children:
        os.waitpid(child, 0)
    assert events > 10_000, events
    assert oldest < 1.5, f"a reading of {oldest:.1f} s is shown"
    return f"{events} events, oldest reading {oldest * 1000:.0f} ms, {memory // 1024} MiB"


def test_turned_away_again_and_again():
    """A broker that lets nobody in (another client_user) is not asked four times a second."""
    host, broker = daemon(lambda conn: None)
    begun, first = time.monotonic(), len(broker.connections)
    host.wait(lambda: time.monotonic() - begun > 6, "six seconds")
    attempts = len(broker.connections) - first
    used = cpu_seconds(host)
    assert attempts <= 6, f"{attempts} attempts in 6 s"
    host.wait(lambda: "not reachable" in host.read("emberd.log"), "the complaint")
    broker.close()
    return f"{attempts} attempts in 6 s, {used:.2f} s of CPU since the start"


def test_ten_thousand_answers_late():
    """Answers to what is asked no more are nothing, and cost nothing that stays."""
    def script(conn):
        conn.drive(1, "nvme0", "SN0")
        conn.sync()

        def lie(request):
            for number in range(50):
                conn.reply(request, fake_broker.smart(400), number=request.id + 1 + number)
                conn.reply(request, answer=TIMEOUT, number=max(request.id - 1 - number, 0))
            return False
        conn.serve(lie)
    host, broker = daemon(script)
    host.wait_read("nvme0")
    before, fds = status(host, "VmRSS"), descriptors(host)
    start = host.drive("nvme0")["polls"]["commands_total"]
    host.wait(lambda: host.drive("nvme0")["polls"]["commands_total"] > start + 100, "100 polls")
    assert host.values("nvme0")["temperature_celsius"] == 27
    grown = status(host, "VmRSS") - before
    assert grown < 20_000 and descriptors(host) <= fds + 3, (grown, fds, descriptors(host))
    broker.close()
    return f"grew by {grown} KiB"
