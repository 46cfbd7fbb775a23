# SPDX-License-Identifier: Apache-2.0
"""The database under attack: emberd killed while it writes, and the file broken, taken away, locked,
read-only or on a full disk while emberd runs. Drives are watched on, what was shown comes back, and
emberd writes again when it can. And the greatest values on their way through it."""
import contextlib
import csv
import glob
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import threading

import harness

ONE = """\
[drive nvme0]
product = 6530
serial = STORE0001
"""
FAST = {"smart_interval": "20ms"}
DATABASE = "state/ember.db"
BACKUP = """python3 -c 'import sqlite3
sqlite3.connect("ember.db").backup(sqlite3.connect("copy.db"))'"""


def points(host, field="power_on_hours", serial="STORE0001", **kwargs):
    return host.get(f"/v1/drives/{serial}/history?field={field}&limit=100000", **kwargs)["points"]


def points_now(host):
    """The same, or nothing while the file is being made anew."""
    try:
        return points(host)
    except harness.HttpError as error:
        if error.status not in (404, 503):
            raise
        return []


def events(host):
    """All that /v1/events tells, newest first, over all its pages."""
    found, cursor = [], ""
    while cursor is not None:
        document = host.get(f"/v1/events?limit=1000{cursor and '&cursor='}{cursor}")
        found += document["events"]
        cursor = document["next_cursor"]
    return found


def store(host):
    return host.get("/v1/health")["store"]


def wait_healthy(host):
    host.wait(lambda: store(host)["status"] == "ok" and store(host)["queued"] < 50,
              "the store to be well")


def wait_degraded(host, *words):
    detail = host.wait(lambda: store(host)["status"] != "ok" and store(host)["detail"],
                       "the trouble to be told")
    assert all(word in detail for word in words), detail
    return detail


def wait_more_points(host, seen, count=5):
    """Until there are new readings in history."""
    newest = seen[-1]["at"] if seen else ""
    def more():
        found = points_now(host)
        return len([p for p in found if p["at"] > newest]) >= count and found
    return host.wait(more, "new readings in history")


def is_watching(host):
    """New readings come in, whatever the store does."""
    read_at = host.get("/v1/drives/STORE0001/smart")["read_at"]
    host.wait(lambda: host.get("/v1/drives/STORE0001/smart")["read_at"] > read_at,
              "a fresh reading", timeout=5)


def is_whole(host):
    database = sqlite3.connect(host.path(DATABASE))
    assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    assert database.execute("pragma foreign_key_check").fetchone() is None
    database.close()


def set_aside(host):
    return [name for name in glob.glob(host.path(DATABASE + ".broken-*"))
            if not name.endswith(("-wal", "-shm"))]


def start(**kwargs):
    host = harness.Host(ONE, poll=FAST, **kwargs)
    host.wait_read("nvme0")
    return host, wait_more_points(host, [])


def write_into(path, offset, data):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


# -- killed ----------------------------------------------------------------------------------


class Watcher:
    """Reads history and events all the time and remembers what it was shown."""

    def __init__(self, host):
        self.host, self.points, self.events, self.failure = host, {}, {}, None
        self.rounds = 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stop.is_set():
            try:
                for point in points(self.host):
                    self.points[point["at"]] = point["value"]
                for event in events(self.host):
                    self.events[event["id"]] = event
                self.rounds += 1
            except (OSError, ValueError, harness.http.client.HTTPException):
                pass  # it was killed in the middle of an answer
            except Exception as error:  # whatever it is, it is the finding
                self.failure = error
                return

    def end(self):
        self.stop.set()
        self.thread.join()
        assert not self.failure, self.failure


def check_nothing_lost(host, watcher, round_number):
    shown = dict(watcher.points)  # the watcher goes on
    now = {point["at"]: point["value"] for point in points(host)}
    lost = {at: value for at, value in shown.items() if now.get(at) != value}
    assert not lost, f"round {round_number}: {len(lost)} readings were shown and are lost: {lost}"
    shown = dict(watcher.events)
    now = {event["id"]: event for event in events(host)}
    lost = [event for key, event in shown.items() if now.get(key) != event]
    assert not lost, f"round {round_number}: events were shown and are lost or changed: {lost}"


def test_what_was_shown_survives_sigkill():
    host, _ = start()
    seed = random.randrange(1 << 32)
    dice, watcher = random.Random(seed), Watcher(host)
    rounds = 60 if harness.LONG else 12
    try:
        for number in range(rounds):
            for _ in range(dice.randrange(1, 4)):
                host.control("vanish", "nvme0")
                host.control("return", "nvme0")
            begun, wanted = len(watcher.points), dice.randrange(3, 30)
            host.wait(lambda: len(watcher.points) >= begun + wanted, "more readings")
            host.kill("emberd", signal.SIGKILL)
            host.start_emberd()
            check_nothing_lost(host, watcher, f"{number} (seed {seed})")
    finally:
        watcher.end()
    assert not set_aside(host)
    assert host.get("/v1/events?limit=1")["events"], "nothing happened"
    ids = [int(event["id"]) for event in events(host)]
    assert ids == sorted(set(ids), reverse=True)
    host.kill("emberd")
    is_whole(host)
    return f"{rounds} kills, {len(watcher.points)} readings, {len(watcher.events)} events"


def test_left_over_wal_is_used():
    host, _ = start()
    seen = points(host)
    host.kill("emberd", signal.SIGKILL)
    assert os.path.getsize(host.path(DATABASE + "-wal")) > 0
    assert os.path.getsize(host.path(DATABASE)) < os.path.getsize(host.path(DATABASE + "-wal"))
    host.start_emberd()
    assert points(host)[:len(seen)] == seen


def test_torn_wal_loses_only_its_end():
    host, seen = start()
    host.kill("emberd", signal.SIGKILL)
    wal = host.path(DATABASE + "-wal")
    os.truncate(wal, os.path.getsize(wal) - 1000)
    host.start_emberd()
    wait_more_points(host, seen)
    assert points(host)[0] == seen[0] and not set_aside(host)


def test_wal_of_garbage_is_not_believed():
    host, seen = start()
    host.kill("emberd")
    rows = count_rows(host)
    with open(host.path(DATABASE + "-wal"), "wb") as file:
        file.write(os.urandom(100000))
    host.start_emberd()
    wait_more_points(host, seen, count=50)
    assert count_rows(host) > rows and not set_aside(host)
    wait_healthy(host)


def count_rows(host):
    database = sqlite3.connect(host.path(DATABASE))
    rows = database.execute("select count(*) from smart").fetchone()[0]
    database.close()
    return rows


# -- the file broken while emberd runs ------------------------------------------------------------


def check_goes_on(host, seen):
    is_watching(host)
    wait_more_points(host, seen)
    wait_healthy(host)
    assert store(host)["dropped_total"] == 0
    # And it is not only in memory.
    host.kill("emberd")
    is_whole(host)
    host.start_emberd()
    assert host.drive("STORE0001")["serial"] == "STORE0001"
    wait_more_points(host, points(host))


def test_file_cut_to_nothing():
    host, seen = start()
    os.truncate(host.path(DATABASE), 0)
    check_goes_on(host, seen)


def test_file_cut_in_the_middle():
    host, seen = start()
    sqlite3.connect(host.path(DATABASE)).execute("pragma wal_checkpoint(truncate)").fetchall()
    os.truncate(host.path(DATABASE), 3 * 4096 + 100)
    # What is in SQLite's memory can be read and written on for a while.
    host.wait(lambda: set_aside(host), "the damage to be met")
    check_goes_on(host, seen)


def test_file_overwritten_with_garbage():
    host, seen = start()
    sqlite3.connect(host.path(DATABASE)).execute("pragma wal_checkpoint(truncate)").fetchall()
    write_into(host.path(DATABASE), 0, os.urandom(os.path.getsize(host.path(DATABASE))))
    check_goes_on(host, seen)
    assert set_aside(host), os.listdir(host.path("state"))


def test_wal_overwritten_with_garbage():
    """SQLite believes a WAL of which it has the index; the damage is met, or found at the next start."""
    host, seen = start()
    write_into(host.path(DATABASE + "-wal"), 0,
               os.urandom(os.path.getsize(host.path(DATABASE + "-wal"))))
    is_watching(host)
    wait_more_points(host, seen)
    host.kill("emberd")
    host.start_emberd()
    host.wait_read("nvme0")
    check_goes_on(host, points_now(host))


def test_file_broken_while_emberd_is_down():
    host, seen = start()
    host.kill("emberd")
    for damage in (b"", b"x" * 100, os.urandom(65536)):
        with open(host.path(DATABASE), "wb") as file:
            file.write(damage)
        host.start_emberd()
        wait_more_points(host, seen)
        wait_healthy(host)
        host.kill("emberd")
        is_whole(host)
    assert len(set_aside(host)) == 2  # an empty file is a new one


def test_file_deleted():
    host, seen = start()
    os.unlink(host.path(DATABASE))
    check_goes_on(host, seen)


def test_wal_deleted():
    """Another connection would begin a second one: what the first holds goes home before."""
    host, seen = start()
    wait_more_points(host, seen)
    seen = points(host)
    os.unlink(host.path(DATABASE + "-wal"))
    host.wait(lambda: points_now(host)[:len(seen)] == seen, "the readings that only the WAL had",
              timeout=5)
    check_goes_on(host, seen)
    assert points(host)[:len(seen)] == seen


def test_file_and_its_companions_deleted():
    host, seen = start()
    for name in glob.glob(host.path(DATABASE + "*")):
        os.unlink(name)
    check_goes_on(host, seen)


def test_file_replaced_by_a_copy_of_itself():
    host, seen = start()
    wait_more_points(host, seen)
    subprocess.run(["sh", "-c", BACKUP], cwd=host.path("state"), check=True)
    os.rename(host.path("state/copy.db"), host.path(DATABASE))
    check_goes_on(host, seen)
    assert points(host)[0] == seen[0], "what the copy holds is not shown"


def test_directory_taken_away():
    host, seen = start()
    os.rename(host.path("state"), host.path("away"))
    wait_degraded(host, "ember.db")
    is_watching(host)
    os.rename(host.path("away"), host.path("state"))
    check_goes_on(host, seen)
    assert points(host)[0] == seen[0]


def test_file_of_another_program_is_left_alone():
    host, seen = start()
    host.kill("emberd")
    for name in glob.glob(host.path(DATABASE + "*")):
        os.unlink(name)
    database = sqlite3.connect(host.path(DATABASE))
    database.execute("create table theirs (a)")
    database.close()
    with open(host.path(DATABASE), "rb") as file:
        before = file.read()
    host.start_emberd(wait=False)
    code = host.processes.pop("emberd").wait(20)
    assert code not in (0, -signal.SIGSEGV) and "no database of Ember" in host.read("emberd.log")
    with open(host.path(DATABASE), "rb") as file:
        assert file.read() == before


# -- locked, read-only, full ------------------------------------------------------------------------


def test_locked_by_another_process():
    host, seen = start()
    holder = subprocess.Popen(["python3", "-c", f"""
import sqlite3, sys
database = sqlite3.connect({host.path(DATABASE)!r}, isolation_level=None)
database.execute("begin exclusive")
print("locked", flush=True)
sys.stdin.read()"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        holder.stdout.readline()
        wait_degraded(host, "locked")
        is_watching(host)
        before = points(host)
        assert before[:len(seen)] == seen, "history cannot be read"
        queued = store(host)["queued"]
        host.wait(lambda: store(host)["queued"] > queued, "readings to wait")
        assert host.metric("ember_store_up") == "0"
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
    wait_healthy(host)
    after = wait_more_points(host, before)
    assert store(host)["dropped_total"] == 0
    # The readings of the time of the lock are there, too: no gap.
    assert biggest_gap(after) < 2, biggest_gap(after)


def biggest_gap(found):
    """Seconds between two readings one after the other, at most."""
    def seconds(text):
        minutes, rest = text[:-1].rsplit(":", 1)
        hours, minutes = minutes[11:].split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(rest)
    times = [seconds(point["at"]) for point in found]
    return max(later - earlier for earlier, later in zip(times, times[1:]))


class SmallDisk:
    """A host whose state directory is a file system of its own, in emberd's own mount namespace."""

    def __init__(self, size):
        self.host = harness.Host(ONE, poll=FAST, start=False)
        self.host.start_broker()
        self.size, self.state = size, self.host.path("state")
        self.start()

    def start(self):
        host = self.host
        unshare = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-Urm"]
        host._spawn("emberd", unshare + ["sh", "-c", f"""
mount -t tmpfs -o size={self.size},mode=755 ember-test {self.state} &&
exec {host.build}/daemon/emberd --config {host.path('emberd.conf')} --log-level debug"""], host.env)
        host.wait(host.answers, "emberd to answer", process="emberd")
        host.wait_read("nvme0")

    def inside(self, name=""):
        return f"/proc/{self.host.processes['emberd'].pid}/root{self.state}/{name}"

    def remount(self, options):
        in_namespace(self, f"mount -o remount,{options} {self.state}")

    def fill(self):
        with open(self.inside("filler"), "wb", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass


def may_mount():
    return subprocess.run(["unshare", "-m" if os.getuid() == 0 else "-Urm", "true"],
                          check=False).returncode == 0


def test_full_disk():
    if not may_mount():
        return "not run: no namespaces here"
    disk = SmallDisk("4m")
    host = disk.host
    seen = wait_more_points(host, [])
    disk.fill()
    detail = wait_degraded(host, "full")
    is_watching(host)
    assert points(host)[:len(seen)] == seen, "history cannot be read"
    host.control("vanish", "nvme0")
    host.control("return", "nvme0")
    host.wait(lambda: host.drive("nvme0")["state"] == "ok", "the drive to be back")
    waiting = store(host)["queued"]
    assert waiting > 0 and host.metric("ember_store_up") == "0"
    host.wait(lambda: any(event["kind"] == "drive-returned" for event in events(host)),
              "events in spite of the full disk")
    os.unlink(disk.inside("filler"))
    wait_healthy(host)
    wait_more_points(host, points(host))
    assert store(host)["dropped_total"] == 0
    assert not glob.glob(disk.inside("*.broken-*"))
    host.wait(lambda: "drive-returned" in kinds_on_disk(disk), "the events on the disk")
    return detail


def kinds_on_disk(disk):
    return in_namespace(disk, f"""cd {disk.state} && python3 -c 'import sqlite3
print(*sqlite3.connect("ember.db").execute("select kind from event"))'""")


def test_disk_full_at_start():
    """Not even the tables can be made: emberd watches on, and makes them when there is room."""
    if not may_mount():
        return "not run: no namespaces here"
    disk = SmallDisk("16k")
    host = disk.host
    wait_degraded(host, "full")
    is_watching(host)
    disk.remount("size=4m")
    wait_healthy(host)
    wait_more_points(host, [])
    assert not glob.glob(disk.inside("*.broken-*"))


def test_read_only_disk():
    if not may_mount():
        return "not run: no namespaces here"
    disk = SmallDisk("8m")
    host = disk.host
    seen = wait_more_points(host, [])
    below = os.open(disk.inside(), os.O_RDONLY)  # the writable mount, below the other
    try:
        in_namespace(disk, f"cd {disk.state} && {BACKUP}")
        in_namespace(disk, f"mount --bind {disk.state} {disk.state} && "
                     f"mount -o remount,bind,ro {disk.state}")
        # Descriptors stay writable; another file has to be opened, and cannot.
        os.rename("copy.db", "ember.db", src_dir_fd=below, dst_dir_fd=below)
        wait_degraded(host, "read-only")
        is_watching(host)
    finally:
        os.close(below)
    in_namespace(disk, f"umount {disk.state}")
    wait_healthy(host)
    after = wait_more_points(host, seen)
    assert after[:len(seen)] == seen and store(host)["dropped_total"] == 0
    assert not glob.glob(disk.inside("*.broken-*"))


def in_namespace(disk, script):
    return subprocess.run(["nsenter", "-t", str(disk.host.processes["emberd"].pid)]
                          + (["-m"] if os.getuid() == 0 else ["-U", "--preserve-credentials", "-m"])
                          + ["sh", "-c", script], check=True, capture_output=True, text=True).stdout


# -- the greatest values ----------------------------------------------------------------------------

MOST_128 = (1 << 128) - 1
EXTREME = f"""\
[drive nvme0]
product = 6530
serial = {'S' * 20}
model = {'M' * 40}
firmware = {'F' * 8}
temperature_kelvin = 1
temperature_sensor_1_celsius = -272
temperature_sensor_2_celsius = 65261
percentage_used = 255
available_spare = 255
data_units_read = {MOST_128}
data_units_written = {(1 << 64) - 1}
host_read_commands = {MOST_128}
host_write_commands = {(1 << 64) - 1}
power_cycles = {(1 << 63) - 1}
power_on_hours = {1 << 63}
unsafe_shutdowns = {(1 << 53) + 1}
media_errors = {MOST_128 - 1}
num_err_log_entries = {1 << 127}
thermal_mgmt_temp1_transitions = {(1 << 32) - 1}
thermal_mgmt_temp2_time_seconds = {(1 << 32) - 1}
"""
EXPECTED = {
    "temperature_celsius": -272,
    "temperature_sensor_1_celsius": -272,
    "temperature_sensor_2_celsius": 65261,
    "percentage_used": 255,
    "available_spare_percent": 255,
    "bytes_read": MOST_128 * 512000,
    "bytes_written": ((1 << 64) - 1) * 512000,
    "host_read_commands": MOST_128,
    "host_write_commands": (1 << 64) - 1,
    "power_cycles": (1 << 63) - 1,
    "power_on_hours": 1 << 63,
    "unsafe_shutdowns": (1 << 53) + 1,
    "media_errors": MOST_128 - 1,
    "num_err_log_entries": 1 << 127,
    "thermal_mgmt_temp1_transitions": (1 << 32) - 1,
    "thermal_mgmt_temp2_time_seconds": (1 << 32) - 1,
}


def digits(value):
    """What is told as a number or as decimal text, as text. A float would have lost digits."""
    return str(value) if isinstance(value, (int, str)) else f"no digits: {value}"


def test_greatest_values_come_back_exactly():
    host = harness.Host(EXTREME)
    serial = host.wait_read("nvme0")["serial"]
    assert serial == "S" * 20
    host.wait(lambda: points(host, "power_on_hours", serial), "history")
    check_extremes(host, serial)
    host.kill("emberd", signal.SIGKILL)
    host.kill("broker")
    host.start_emberd()  # without drives: all of it comes out of the database
    check_extremes(host, serial, live=False)


def check_extremes(host, serial, live=True):
    values = host.values(serial)
    told = json.loads(host.emberctl("--json", "show", serial).stdout)
    assert serial in json.dumps(told) and "M" * 40 in json.dumps(told)
    for field, value in EXPECTED.items():
        assert digits(values[field]) == str(value), f"{field}: {values[field]}"
        last = points(host, field, serial)[-1]["value"]
        assert digits(last) == str(value), f"history of {field}: {last}"
        rows = list(csv.reader(io.StringIO(
            host.emberctl("history", serial, field, "--csv").stdout)))
        assert str(value) in rows[-1], f"{field}: {rows[-1]}"
    drive = host.drive(serial)
    assert (drive["model"], drive["firmware"]) == ("M" * 40, "F" * 8)
    if live:
        check_metrics(host, serial)


def check_metrics(host, serial):
    """The text holds all digits where no scale other than the row's own is in the way."""
    for metric, field in (("ember_temperature_celsius", "temperature_celsius"),
                          ("ember_bytes_read_total", "bytes_read"),
                          ("ember_bytes_written_total", "bytes_written"),
                          ("ember_host_read_commands_total", "host_read_commands"),
                          ("ember_media_errors_total", "media_errors"),
                          ("ember_unsafe_shutdowns_total", "unsafe_shutdowns")):
        value = host.metric(metric, serial=serial)
        assert value == str(EXPECTED[field]), f"{metric}: {value}"
    seconds = host.metric("ember_power_on_seconds_total", serial=serial)
    assert seconds == str((1 << 63) * 3600), seconds


def test_odd_path_of_the_directory():
    """Health stays readable, and the reason is in it, whatever the path is made of."""
    names = [b"a\xff\x1b[31mb", b"a" + "\u00e4".encode() * 100]
    for name in names:
        host = harness.Host(ONE, poll=FAST, start=False)
        directory = os.path.join(os.fsencode(host.dir), name)
        os.mkdir(directory)
        with open(host.path("emberd.conf"), "rb") as file:
            text = file.read().replace(os.fsencode(host.path("state")), directory)
        with open(host.path("emberd.conf"), "wb") as file:
            file.write(text)
        host.start_broker()
        host.start_emberd()
        with contextlib.closing(sqlite3.connect(os.path.join(directory, b"ember.db"))) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            host.wait(lambda: host.get("/v1/health")["store"]["status"] == "degraded", "the lock to be told")
            detail = host.get("/v1/health")["store"]["detail"]
            assert detail.endswith("ember.db: another program has it locked; end that program"), detail
            assert not any(ord(c) < 32 for c in detail), detail
        host.stop()
