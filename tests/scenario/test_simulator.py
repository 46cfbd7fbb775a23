# SPDX-License-Identifier: Apache-2.0
"""The simulator by itself: what nvme-cli, smartctl, sd-device and plain system calls see of it.

LONG=1: a thousand drives instead of a hundred.
"""
import contextlib
import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

import harness

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVE = "[drive]\nproduct = generic\n"
TOP = os.path.dirname(os.path.dirname(HERE))
DEFAULT = TOP + "/sim/scenarios/default.conf"
LONG = os.environ.get("LONG") == "1"

ADMIN_CMD, NVME_ID, NVME_RESET = 0xC0484E41, 0x4E40, 0x4E44
GET_LOG, IDENTIFY, SET_FEATURES, GET_FEATURES = 0x02, 0x06, 0x09, 0x0A


SIM = harness.build_directory() + "/sim/ember-sim"
MONITOR = harness.build_directory() + "/tests/scenario/simulator/monitor"


class Sim:
    """A running simulator; programs join it through its environment."""

    def __init__(self, scenario=DEFAULT):
        self.dir = tempfile.TemporaryDirectory(prefix="ember-sim-test-")
        os.chmod(self.dir.name, 0o755)
        self.control_path = self.path("control")
        if "\n" in scenario:
            scenario = self.write("scenario.conf", scenario)
        self.process = subprocess.Popen(
            [SIM, "--scenario", scenario, "--control", self.control_path, "--", "sh", "-c",
             "env -0; echo; exec cat >/dev/null"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        pairs = (item.partition(b"=") for item in self.process.stdout.readline().split(b"\0"))
        self.env = {os.fsdecode(k): os.fsdecode(v) for k, _, v in pairs if k != b"\n"}
        self.root = self.env["EMBER_SIM_ROOT"]

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def control(self, *words, check=True):
        done = subprocess.run([SIM, "control", "--control", self.control_path, *words],
                              capture_output=True, text=True, timeout=60)
        if check:
            assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout) if done.stdout[:1] in ("{", "[") else done

    def run(self, *command, timeout=60, **kwargs):
        return subprocess.run(command, env=self.env, capture_output=True, text=True,
                              timeout=timeout, **kwargs)

    def start(self, *command):
        return subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def nvme(self, *arguments):
        done = self.run("nvme", *arguments)
        assert done.returncode == 0, f"nvme {arguments}: {done.stdout}{done.stderr}"
        return json.loads(done.stdout) if "json" in arguments else done.stdout

    def inside(self, name, *arguments, **kwargs):
        """Runs inside_NAME of this file among the drives."""
        done = self.run(sys.executable, os.path.abspath(__file__), name, *arguments,
                        **kwargs)
        assert done.returncode == 0, f"{name}: {done.stdout}{done.stderr}"
        return done.stdout

    def monitor(self, count, *more):
        """A monitor on sd-device that has started and enumerated: (process, devices)."""
        process = self.start(MONITOR, str(count), "20", *more)
        devices = []
        for line in process.stdout:
            if line == "ready\n":
                return process, devices
            devices.append(line.split())
        raise AssertionError(f"the monitor did not start: {devices}")

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(30)
        self.process.stdout.close()
        left = [path for path in (self.root, self.control_path) if os.path.exists(path)]
        self.dir.cleanup()
        assert code == 0 and not left, f"ended with {code}, left behind: {left}"


@contextlib.contextmanager
def sim(scenario=DEFAULT):
    running = Sim(scenario)
    try:
        yield running
    finally:
        running.end()


def events(process):
    """The rest of a monitor's output, when it has seen all that it waited for."""
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0, f"events are missing: {out}"
    return [line.split()[1:] for line in out.splitlines()]


def xxd(data):
    rows = (data[at:at + 16] for at in range(0, len(data), 16))
    return "".join(f"{16 * n:08x}: {row.hex(' ')}\n" for n, row in enumerate(rows))


# ---- system calls, inside ---------------------------------------------------------------------

class Command(ctypes.Structure):
    _fields_ = ([("opcode", ctypes.c_uint8), ("flags", ctypes.c_uint8), ("rsvd", ctypes.c_uint16)] +
                [(name, ctypes.c_uint32) for name in ("nsid", "cdw2", "cdw3")] +
                [("metadata", ctypes.c_uint64), ("addr", ctypes.c_uint64)] +
                [(name, ctypes.c_uint32) for name in
                 ("metadata_len", "data_len", "cdw10", "cdw11", "cdw12", "cdw13", "cdw14", "cdw15",
                  "timeout_ms", "result")])


def admin(fd, opcode, size=0, fill=0, **fields):
    """(what ioctl returned, data, dword 0)"""
    data = ctypes.create_string_buffer(bytes([fill]) * size, size) if size else None
    command = Command(opcode=opcode, data_len=size, addr=ctypes.addressof(data) if size else 0,
                      **fields)
    status = fcntl.ioctl(fd, ADMIN_CMD, command)
    return status, data.raw if size else b"", command.result


def serial_of(fd):
    status, data, _ = admin(fd, IDENTIFY, 4096, cdw10=1)
    assert status == 0, hex(status)
    return data[4:24].decode().strip()


def smart(fd, retain=False, nsid=0xFFFFFFFF):
    status, data, _ = admin(fd, GET_LOG, 512, nsid=nsid, cdw10=0x2 | retain << 15 | 127 << 16)
    assert status == 0, hex(status)
    return data


def fails(code, function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        assert error.errno == code, f"{error} instead of {errno.errorcode[code]}"
        return
    raise AssertionError(f"no {errno.errorcode[code]}")


def control_inside(*words):
    subprocess.run([SIM, "control", *words], check=True)


def inside_open_all(count, prefix):
    names = [name for name in os.listdir("/sys/class/nvme")]
    assert len(names) == int(count), f"{len(names)} drives"
    opened = {name: os.open("/dev/" + name, os.O_RDONLY) for name in names}
    for name, fd in opened.items():
        assert serial_of(fd) == f"{prefix}{int(name[4:]):05}", name


def inside_descriptors():
    """Passed over a socket, duplicated, inherited over fork and exec, used by threads at once."""
    left, right = socket.socketpair()
    fd = os.open("/dev/nvme0", os.O_RDONLY)
    want = serial_of(fd)
    child = os.fork()
    if child == 0:
        passed = os.open("/dev/nvme1", os.O_RDONLY)
        ok = serial_of(fd) == want
        socket.send_fds(left, [b"x"], [passed])
        os._exit(0 if ok else 1)
    _, received, _, _ = socket.recv_fds(right, 1, 1)
    assert os.waitpid(child, 0)[1] == 0
    assert serial_of(received[0]) == "SH203300026"
    info = os.fstat(received[0])
    assert os.major(info.st_rdev) == 241 and os.minor(info.st_rdev) == 1
    copy = os.dup(fd)
    os.set_inheritable(copy, True)
    subprocess.run([sys.executable, __file__, "serial", str(copy), want], check=True,
                   close_fds=False)
    wrong = []

    def hammer(which):
        for _ in range(200):
            if which:
                wrong.extend([1] if serial_of(fd) != want else [])
            else:
                wrong.extend([1] if smart(fd)[5] != 12 else [])

    threads = [threading.Thread(target=hammer, args=(n % 2,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, "answers went to the wrong thread"


def inside_serial(fd, want):
    assert serial_of(int(fd)) == want


def inside_gone():
    fd = os.open("/dev/nvme1", os.O_RDONLY)
    control_inside("vanish", "nvme1")
    fails(errno.ENODEV, serial_of, fd)
    fails(errno.ENOENT, os.open, "/dev/nvme1", os.O_RDONLY)
    assert not os.path.exists("/sys/class/nvme/nvme1") and not os.path.exists("/dev/nvme1n1")
    control_inside("return", "nvme1", "as", "nvme9")
    fails(errno.ENODEV, serial_of, fd)
    assert serial_of(os.open("/dev/nvme9", os.O_RDONLY)) == "SH203300026"
    assert os.readlink("/sys/class/nvme/nvme9").endswith("/nvme9")


def inside_states():
    fd = os.open("/dev/nvme2", os.O_RDONLY)
    control_inside("state", "nvme2", "resetting")
    with open("/sys/class/nvme/nvme2/state", encoding="ascii") as file:
        assert file.read() == "resetting\n"
    fails(errno.EAGAIN, os.open, "/dev/nvme2", os.O_RDONLY)
    assert admin(fd, IDENTIFY, 4096, cdw10=1)[0] == 0x370
    control_inside("state", "nvme2", "live")
    serial_of(fd)


def inside_timeout():
    """What Linux does when a drive does not answer: reset, EINTR, events off."""
    fd = os.open("/dev/nvme0", os.O_RDONLY)
    assert admin(fd, SET_FEATURES, cdw10=0x0B, cdw11=0x31F)[0] == 0
    assert admin(fd, GET_FEATURES, cdw10=0x0B)[2] == 0x31F
    control_inside("hang", "nvme0")
    fails(errno.EINTR, lambda: admin(fd, IDENTIFY, 4096, cdw10=1, timeout_ms=200))
    control_inside("resume", "nvme0")
    assert admin(fd, GET_FEATURES, cdw10=0x0B)[2] == 0x300


def inside_refusals():
    """Each refusal is one entry, whatever the reason."""
    fd = os.open("/dev/nvme0", os.O_RDONLY)
    minimal = os.open("/dev/nvme6", os.O_RDONLY)
    cases = [(0x4002, fd, dict(opcode=IDENTIFY, size=4096, cdw10=1, nsid=1)),
             (0x4002, fd, dict(opcode=IDENTIFY, size=4096, cdw10=0x7F)),
             (0x4109, fd, dict(opcode=GET_LOG, size=512, cdw10=0x55 | 127 << 16)),
             (0x400B, fd, dict(opcode=IDENTIFY, size=4096, cdw10=0, nsid=99)),
             (0x4001, fd, dict(opcode=0xC0)),
             (0x4109, minimal, dict(opcode=GET_LOG, size=564, cdw10=0x06 | 140 << 16)),
             (0x4109, minimal, dict(opcode=GET_LOG, size=4096, cdw10=0x05 | 1023 << 16)),
             (0x4002, minimal, dict(opcode=IDENTIFY, size=4096, cdw10=2)),
             (0x4001, minimal, dict(opcode=0x14, cdw10=1))]
    for want, where, command in cases:
        before = int.from_bytes(smart(where)[176:192], "little")
        status, _, _ = admin(where, **command)
        assert status == want, f"{command}: {status:#x} instead of {want:#x}"
        after = int.from_bytes(smart(where)[176:192], "little")
        assert after == before + 1, f"{command}: {before} -> {after}"
        log = admin(where, GET_LOG, 64, cdw10=0x01 | 15 << 16)[1]
        assert int.from_bytes(log[:8], "little") == after
        assert int.from_bytes(log[12:14], "little") >> 1 == want


def inside_blocks():
    fd = os.open("/dev/nvme3n3", os.O_RDONLY)
    assert fcntl.ioctl(fd, NVME_ID) == 7, "the node's number is not the NSID"
    size = ctypes.c_uint64()
    fcntl.ioctl(fd, 0x80081272, size)
    assert size.value == 800_000_000_000
    assert os.read(fd, 512) == b"", "a read has to end"
    path_only = os.open("/dev/nvme3n3", os.O_PATH)
    again = os.open(f"/proc/self/fd/{path_only}", os.O_RDONLY)
    assert stat.S_ISBLK(os.fstat(path_only).st_mode) and stat.S_ISBLK(os.fstat(again).st_mode)
    assert os.fstat(again).st_rdev == os.stat("/dev/nvme3n3").st_rdev
    assert fcntl.ioctl(again, NVME_ID) == 7
    keeper = os.open("/dev/nvme3n1", os.O_RDONLY | os.O_EXCL)
    fails(errno.EBUSY, os.open, "/dev/nvme3n1", os.O_RDWR | os.O_EXCL)
    os.close(os.open("/dev/nvme3n1", os.O_RDONLY))
    os.close(keeper)
    deadline = time.monotonic() + 5
    while True:  # the close is on its way to the simulator
        try:
            os.close(os.open("/dev/nvme3n1", os.O_RDWR | os.O_EXCL))
            return
        except OSError:
            assert time.monotonic() < deadline, "still busy after the close"


def inside_anybody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    assert serial_of(os.open("/dev/nvme0", os.O_RDONLY)) == "SH203300010"
    assert os.listdir("/sys/class/nvme") and os.access("/run/udev/control", os.F_OK)


def inside_short():
    fd = os.open("/dev/nvme0", os.O_RDONLY)
    status, data, _ = admin(fd, GET_LOG, 512, fill=0xEE, cdw10=0x02 | 127 << 16)
    assert status == 0 and data[10:] == b"\xee" * 502, "more than ten bytes came"


# ---- tests ------------------------------------------------------------------------------------

def test_witnesses_agree():
    same = {"critical_warning": "critical_warning", "avail_spare": "available_spare",
            "spare_thresh": "available_spare_threshold", "percent_used": "percentage_used",
            "data_units_read": "data_units_read", "data_units_written": "data_units_written",
            "host_read_commands": "host_reads", "host_write_commands": "host_writes",
            "controller_busy_time": "controller_busy_time", "power_cycles": "power_cycles",
            "power_on_hours": "power_on_hours", "unsafe_shutdowns": "unsafe_shutdowns",
            "media_errors": "media_errors", "num_err_log_entries": "num_err_log_entries",
            "warning_temp_time": "warning_temp_time", "critical_comp_time": "critical_comp_time"}
    with sim() as host:
        drives = host.control("list")
        assert len(drives) == 8
        for drive in drives:
            node = "/dev/" + drive["drive"]
            ours = host.nvme("smart-log", node, "-o", "json")
            text = host.run("smartctl", "-j", "-a", node).stdout
            theirs = json.loads(text)
            log = theirs["nvme_smart_health_information_log"]
            assert theirs["serial_number"] == drive["serial"]
            assert theirs["model_name"] == drive["model"]
            assert ours["temperature"] - 273 == log["temperature"]
            for key, other in same.items():
                # smartctl writes what does not fit a double as text besides,
                # and leaves out the times of drives that announce no threshold.
                absent = 0 if other.endswith("_time") else None
                exact = log.get(other + "_s", log.get(other, absent))
                assert int(exact) == int(ours[key]), f"{node} {key}: {ours[key]} and {exact}"
        return "8 drives, 17 values each"


def test_trouble_is_as_written():
    with sim() as host:
        log = host.nvme("smart-log", "/dev/nvme7", "-o", "json")
        seen = log["critical_warning"], log["percent_used"], log["temperature"]
        assert seen == (0x17, 143, 357), seen
        assert "PASSED" not in host.run("smartctl", "-H", "/dev/nvme7").stdout


def test_lists():
    with sim() as host:
        listed = host.nvme("list", "-o", "json")["Devices"]
        assert len(listed) == 10, f"{len(listed)} namespaces"
        assert host.run("smartctl", "--scan").stdout.count("/dev/nvme") == 16
        assert host.run("sh", "-c", "ls /dev/nvme*").stdout.count("\n") == 18
        process, devices = host.monitor(0)
        events(process)
        assert len([d for d in devices if d[1].startswith("nvme")]) == 18
        assert all("initialized=1" in d for d in devices), devices


def test_hung_drive_delays_no_other():
    with sim() as host:
        host.control("hang", "nvme3")
        stuck = host.start("nvme", "smart-log", "/dev/nvme3")
        host.control("wait", "nvme3", "outstanding>=1")
        begun = time.monotonic()
        for _ in range(20):
            host.inside("serial_of_node", "/dev/nvme0", "SH203300010")
        per_run = (time.monotonic() - begun) / 20
        assert stuck.poll() is None, "the hung drive answered"
        assert per_run < 2, f"{per_run:.3f} s"
        host.control("resume", "nvme3")
        stuck.communicate(timeout=20)
        assert stuck.returncode == 0
        return f"{per_run * 1000:.0f} ms per program beside a hung drive"


def inside_serial_of_node(node, want):
    assert serial_of(os.open(node, os.O_RDONLY)) == want


def test_smart_events():
    with sim() as host:
        process, _ = host.monitor(3)
        host.control("set", "nvme2", "critical_warning", "4")  # not armed: no event
        host.control("set", "nvme2", "critical_warning", "0")
        host.nvme("set-feature", "/dev/nvme2", "-f", "0x0b", "-v", "0x31f")
        host.control("set", "nvme2", "critical_warning", "2")
        host.control("set", "nvme2", "critical_warning", "3")  # held until the log is read
        host.inside("read_retaining")
        host.control("uevent", "nvme2", "change", "NVME_EVENT=marker")
        host.nvme("smart-log", "/dev/nvme2")
        seen = [(event[1], event[3], event[4]) for event in events(process)]
        assert seen == [("nvme2", "aen=0x020101", "event=-"), ("nvme2", "aen=-", "event=marker"),
                        ("nvme2", "aen=0x020201", "event=-")], seen


def inside_read_retaining():
    smart(os.open("/dev/nvme2", os.O_RDONLY), retain=True)


def test_hot_plug_events():
    with sim() as host:
        process, _ = host.monitor(3)
        host.inside("gone")
        seen = [(event[0], event[1], event[4]) for event in events(process)]
        assert seen == [("remove", "nvme1", "event=-"), ("add", "nvme9", "event=-"),
                        ("change", "nvme9", "event=connected")], seen


def test_udevadm_monitor():
    with sim() as host:
        process = host.start("udevadm", "monitor", "-k", "-u")
        for _ in range(4):
            process.stdout.readline()  # it prints four lines when it has started
        host.control("uevent", "nvme0", "change", "NVME_AEN=0x020101")
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.terminate()
        process.communicate()
        assert lines[0].startswith("KERNEL[") and lines[1].startswith("UDEV"), lines


def test_refusals_count():
    with sim() as host:
        host.inside("refusals")
        counts = host.control("counts", "nvme0")
        assert counts["error_log_entries"] == 5, counts
        assert counts["by_command"]["get-log 0x55"] == 1, counts


def test_rules():
    with sim() as host:
        before = host.control("counts", "nvme4")["error_log_entries"]
        host.control("refuse", "nvme4", "get-log", "0x02", "0x4006")
        done = host.run("nvme", "smart-log", "/dev/nvme4")
        assert "0x4006" in done.stdout + done.stderr, done
        assert host.control("counts", "nvme4")["error_log_entries"] == before + 1
        host.control("accept", "nvme4")
        host.nvme("smart-log", "/dev/nvme4")
        host.control("short", "nvme0", "get-log", "0x02", "10")
        host.inside("short")


def test_many_drives():
    count = 1000 if LONG else 100
    with sim(f"[drive]\nproduct = 6530\nserial = MANY%n\nrepeat = {count}\n") as host:
        begun = time.monotonic()
        host.inside("open_all", str(count), "MANY")
        return f"{count} drives open in one process, {time.monotonic() - begun:.2f} s"


def test_a_thousand_start_quickly():
    begun = time.monotonic()
    with sim(f"{TOP}/sim/scenarios/thousand.conf") as host:
        took = time.monotonic() - begun
        assert len(host.control("list")) == 1000
        with open(f"/proc/{host.process.pid}/status", encoding="ascii") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    assert took < 10, f"{took:.1f} s"
    return f"{took:.1f} s, {memory // 1024} MiB"


def smart_log(host, node):
    return host.nvme("smart-log", node, "-o", "json")


def test_values_move_with_time():
    with sim("[drive]\nproduct = 6530\nrate = data_units_written 1000/s\n"
             "percentage_used = 254\nrate = percentage_used 1/min to 240\n"
             "available_spare = 50\nrate = available_spare -1/1h to 48\n[sim]\nspeed = 1000\n") \
            as host:
        first, begun = smart_log(host, "/dev/nvme0"), time.monotonic()
        host.control("rate", "nvme0", "media_errors", "1/10min")
        while int(smart_log(host, "/dev/nvme0")["media_errors"]) < 2:
            assert time.monotonic() - begun < 20, "nothing moves"
        last, took = smart_log(host, "/dev/nvme0"), time.monotonic() - begun
        written = int(last["data_units_written"]) - int(first["data_units_written"])
        # Between the readings, and no faster than the time that went by around them.
        assert 1_000_000 < written < (took + 2) * 1_000_000, (written, took)
        assert last["percent_used"] == 254, "a limit pulled back"
        host.control("speed", "1000000")
        while smart_log(host, "/dev/nvme0")["avail_spare"] > 48:
            assert time.monotonic() - begun < 20, "the spare does not move"
        host.control("rate", "nvme0", "data_units_written", "0/s")
        stopped = smart_log(host, "/dev/nvme0")["data_units_written"]
        assert smart_log(host, "/dev/nvme0")["data_units_written"] == stopped


def test_heat_warns_by_itself():
    with sim("[drive]\nproduct = 6530\nrate = temperature_celsius 1/s to 80\n") as host:
        process, _ = host.monitor(1)
        host.nvme("set-feature", "/dev/nvme0", "-f", "0x0b", "-v", "0x31f")
        host.control("speed", "1000000")  # nobody reads the page: the event comes all the same
        assert [event[3] for event in events(process)] == ["aen=0x020101"]
        log = smart_log(host, "/dev/nvme0")
        assert (log["temperature"], log["critical_warning"]) == (353, 2), log
        host.control("rate", "nvme0", "temperature_celsius", "-1/s", "to", "40")
        log = smart_log(host, "/dev/nvme0")
        assert (log["temperature"], log["critical_warning"]) == (313, 0), log


def test_flipped_bits():
    with sim() as host:
        before = smart_log(host, "/dev/nvme0")
        host.control("flip", "nvme0", "percentage_used", "7")
        host.control("flip", "nvme0", "data_units_read", "64")
        host.control("flip", "nvme0", "smart", "3.0")
        host.control("flip", "nvme0", "identify", "4.1")
        after = smart_log(host, "/dev/nvme0")
        assert after["percent_used"] == before["percent_used"] ^ 128
        assert int(after["data_units_read"]) == int(before["data_units_read"]) + (1 << 64)
        assert after["avail_spare"] == before["avail_spare"] ^ 1
        identify = host.nvme("id-ctrl", "/dev/nvme0", "-o", "json")
        assert identify["sn"].startswith("QH2033"), identify["sn"]
        host.control("flip", "nvme0", "percentage_used", "7")  # back
        assert smart_log(host, "/dev/nvme0")["percent_used"] == before["percent_used"]
        host.control("accept", "nvme0")
        assert smart_log(host, "/dev/nvme0") == before, "accept left a flip"


def test_errors_of_its_own():
    with sim("[drive]\nproduct = 6530\nelpe = 99\n") as host:
        host.control("error", "nvme0", "0x281", "3", "1", "123456")
        host.control("error", "nvme0", "0x006")
        log = host.nvme("error-log", "/dev/nvme0", "-e", "100", "-o", "json")["errors"]
        seen = [(e["error_count"], e["sqid"], e["status_field"], e["nsid"], e["lba"])
                for e in log[:3]]
        assert seen == [(2, 65535, 6, 0, 0), (1, 3, 0x281, 1, 123456), (0, 0, 0, 0, 0)], seen
        assert len(log) == 100
        for _ in range(150):
            host.control("error", "nvme0", "0x006")
        log = host.nvme("error-log", "/dev/nvme0", "-e", "100", "-o", "json")["errors"]
        assert [log[0]["error_count"], log[99]["error_count"]] == [152, 53]


def test_namespaces_come_and_go():
    with sim() as host:
        process, _ = host.monitor(2, "block")
        host.control("attach", "nvme3", "9", "1000000000", "4096", "node", "4")
        assert json.loads(host.run("cat", "/sys/class/block/nvme3n4/nsid").stdout) == 9
        nsids = [n["nsid"] for n in
                 host.nvme("list-ns", "/dev/nvme3", "-o", "json")["nsid_list"]]
        assert nsids == [1, 2, 7, 9], nsids
        host.control("detach", "nvme3", "2")
        assert host.run("ls", "/dev/nvme3n2").returncode != 0
        seen = [event[:2] for event in events(process)]
        assert seen == [["add", "nvme3n4"], ["remove", "nvme3n2"]], seen


def test_two_controllers_of_one_drive():
    with sim(TOP + "/sim/scenarios/multipath.conf") as host:
        both = [host.nvme("id-ctrl", f"/dev/nvme{n}", "-o", "json") for n in (0, 1)]
        assert [c["cntlid"] for c in both] == [1, 2] and both[0]["cmic"] & 2
        assert both[0]["sn"] == both[1]["sn"] and both[0]["subnqn"] == both[1]["subnqn"]
        host.control("set", "nvme0", "percentage_used", "77")
        assert smart_log(host, "/dev/nvme1")["percent_used"] == 77, "not one health"
        assert host.run("ls", "/sys/class/nvme-subsystem").stdout.split() == \
            ["nvme-subsys0", "nvme-subsys2"]
        process, _ = host.monitor(1, "block")
        host.control("vanish", "nvme0")
        assert [event[:2] for event in events(process)] == [["remove", "nvme0"]]
        host.inside("one_path_left")
        process, _ = host.monitor(3, "block")
        host.control("vanish", "nvme1")
        seen = [event[:2] for event in events(process)]
        assert seen == [["remove", "nvme0n1"], ["remove", "nvme0n2"], ["remove", "nvme1"]], seen
        host.control("return", "nvme1")
        host.control("return", "nvme0", "as", "nvme7")
        assert host.run("ls", "/sys/class/nvme").stdout.split() == ["nvme1", "nvme2", "nvme7"]
        host.inside("one_path_left")


def inside_one_path_left():
    fd = os.open("/dev/nvme0n2", os.O_RDONLY)
    assert fcntl.ioctl(fd, NVME_ID) == 2
    assert "nvme1" in os.listdir("/sys/class/nvme-subsystem/nvme-subsys0")


def test_fabrics():
    with sim(TOP + "/sim/scenarios/fabrics.conf") as host:
        def attribute(number, name):
            return host.run("cat", f"/sys/class/nvme/nvme{number}/{name}").stdout.strip()
        assert [attribute(n, "transport") for n in range(4)] == ["pcie", "tcp", "tcp", "tcp"]
        assert [attribute(n, "cntrltype") for n in range(4)] == ["io", "reserved", "reserved",
                                                                "discovery"]
        assert attribute(1, "address") == "traddr=192.0.2.2,trsvcid=4420"
        assert smart_log(host, "/dev/nvme1")["temperature"] == 0
        for number in (2, 3):
            assert host.run("nvme", "smart-log", f"/dev/nvme{number}").returncode != 0
        assert host.nvme("id-ctrl", "/dev/nvme3", "-o", "json")["sn"].strip() == ""
        assert len(host.nvme("list", "-o", "json")["Devices"]) == 3


def test_slots():
    with sim("[drive]\nproduct = 6530\nslot = 12\n") as host:
        assert host.run("cat", "/sys/bus/pci/slots/12/address").stdout == "0000:01:00\n"
        host.control("vanish", "nvme0")
        assert host.run("ls", "/sys/bus/pci/slots").stdout == ""


def test_descriptors():
    with sim() as host:
        host.inside("descriptors")


def test_states():
    with sim() as host:
        process, _ = host.monitor(1)
        host.inside("states")
        assert [event[4] for event in events(process)] == ["event=connected"]


def test_timeout_resets():
    with sim() as host:
        process, _ = host.monitor(1)
        host.inside("timeout")
        assert [event[4] for event in events(process)] == ["event=connected"]


def test_block_nodes():
    with sim() as host:
        host.inside("blocks")


def test_anybody():
    if os.getuid() != 0:
        return "skipped: we are not root"
    with sim() as host:
        host.inside("anybody")
    return None


def test_scenario_pages():
    page = bytearray(512)
    page[0], page[5] = 4, 104
    page[1:3] = (314).to_bytes(2, "little")
    page[32:48] = ((1 << 128) - 1).to_bytes(16, "little")
    with tempfile.TemporaryDirectory() as directory:
        with open(directory + "/smart.hex", "w", encoding="ascii") as file:
            file.write(xxd(bytes(page)))
        with open(directory + "/one.conf", "w", encoding="ascii") as file:
            file.write("[drive nvme5]\nproduct = generic\nsmart-page = smart.hex\n"
                       "percentage_used = 105\nat = 0s refuse get-log 0x03 0x4109\n")
        with open(directory + "/all.conf", "w", encoding="ascii") as file:
            file.write("# two files\n[include]\nfile = one.conf\n[drive nvme0]\nproduct = D926\n")
        with sim(directory + "/all.conf") as host:
            log = host.nvme("smart-log", "/dev/nvme5", "-o", "json")
            seen = log["critical_warning"], log["percent_used"], log["temperature"]
            assert seen == (4, 105, 314), seen
            assert int(log["data_units_read"]) == (1 << 128) - 1
            assert host.run("nvme", "fw-log", "/dev/nvme5").returncode != 0
            assert host.nvme("id-ctrl", "/dev/nvme0", "-o", "json")["mn"].startswith("P5926DT")


def test_scenario_holds_pages():
    smart, first, second = (bytearray(size) for size in (512, 4096, 4096))
    smart[5] = 77
    first[0:8] = (3 << 20).to_bytes(8, "little")
    first[104:120], first[120:128] = bytes(range(16)), bytes(range(40, 48))
    second[0:8] = (5 << 20).to_bytes(8, "little")
    supported = bytes([1, 0, 0, 0, 3, 0, 0, 0])
    with sim(DRIVE + "smart-page = <<\n# nothing but the wear\n\n" + xxd(smart) + ">>\n"
             "supported-page = <<\n" + xxd(supported) + ">>\n"
             "namespace = 1 1536MiB\nnamespace-page = 1 <<\n" + xxd(first) + ">>\n"
             "namespace = 2 2560MiB\nnamespace-page = 2 <<\n" + xxd(second) + ">>\n"
             "[drive]\ncontroller_of = nvme0\n") as host:
        for device in ("nvme0", "nvme1"):
            log = host.nvme("smart-log", f"/dev/{device}", "-o", "json")
            assert log["percent_used"] == 77, log
            raw = host.run("nvme", "get-log", f"/dev/{device}", "-i", "0", "-l", "8")
            assert "01 00 00 00 03" in raw.stdout, raw
            for nsid, blocks in ((1, 3 << 20), (2, 5 << 20)):
                ns = host.nvme("id-ns", f"/dev/{device}", "-n", str(nsid), "-o", "json")
                assert ns["nsze"] == blocks, ns
        # Linux has the identifiers from there.
        assert open(f"{host.root}/sys/block/nvme0n1/eui").read() == "28 29 2a 2b 2c 2d 2e 2f\n"
    # The later line wins, as everywhere.
    with sim(DRIVE + "smart-page = <<\n" + xxd(smart) + ">>\npercentage_used = 9\n") as host:
        assert host.nvme("smart-log", "/dev/nvme0", "-o", "json")["percent_used"] == 9


def test_scenario_errors():
    for text, line in (("[drive]\nproduct = none\n", 2), ("[drive]\nserial = x\n", 2),
                       ("[drive]\nproduct = 6530\nfrobnicate = 1\n", 3), ("x = 1\n", 1),
                       ("[drive]\nproduct = 6530\nserial = 123456789012345678901\n", 3),
                       ("[drive]\ncontroller_of = nvme0\n", 2),
                       ("[drive]\nproduct = 6530\nrate = percentage_used fast\n", 3),
                       ("[drive]\nproduct = 6530\nrate = serial 1/s\n", 3),
                       ("[sim]\nspeed = 0\n", 2),
                       # Pages in the file: without an end, over their end, no dump, of nothing.
                       (DRIVE + "smart-page = <<\n00000000: 00\n", 3), (DRIVE + "smart-page = <<\n", 3),
                       (DRIVE + "smart-page = <<\n\n000001ff: 00 00\n>>\n", 5),
                       (DRIVE + "smart-page = <<\nffffffffffffffff: 00\n>>\n", 4),
                       (DRIVE + "smart-page = <<\n00000000: 0g\n>>\n", 4),
                       (DRIVE + "smart-page = <<\n00000000: 0\n>>\n", 4),
                       (DRIVE + "smart-page = <<\nserial = x\n>>\n", 4),
                       (DRIVE + "bogus-page = <<\n>>\n", 3), (DRIVE + "smart-page = 1 <<\n>>\n", 3),
                       (DRIVE + "namespace-page = 9 <<\n>>\n", 3),
                       (DRIVE + "namespace-page = 4294967297 <<\n>>\n", 3),
                       (DRIVE + "namespace-page = x <<\n>>\n", 3),
                       (DRIVE + "smart-page = <<\n00000000: " + "00 " * 400 + "\n>>\n", 4),
                       # No name leads out of the tree.
                       (DRIVE + "slot = ../../../../x\n", 3), (DRIVE + "address = ..\n", 3),
                       ("smart-page = <<\n>>\n", 1), ("[sim]\nsmart-page = <<\n>>\n", 2),
                       (DRIVE + "smart-page = <<\n>>\n>>\n", 5)):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([SIM, "--scenario", file.name, "--", "true"], capture_output=True,
                                  text=True)
            assert done.returncode == 125 and f"{file.name}:{line}: " in done.stderr, (text, done)


def test_control_errors():
    with sim() as host:
        for words in (["bogus"], ["hang"], ["hang", "nvme77"], ["set", "nvme0", "nothing", "1"],
                      ["set", "nvme0", "percentage_used", "256"],
                      ["page", "nvme0", "smart", "/nowhere"],
                      ["flip", "nvme0", "smart", "512.0"], ["flip", "nvme0", "percentage_used", "8"],
                      ["flip", "nvme0", "nothing", "1"], ["rate", "nvme0", "ver", "1"],
                      ["rate", "nvme0", "nothing", "1/s"],
                      ["rate", "nvme0", "ver", "1/s", "to"], ["detach", "nvme0", "3"],
                      ["attach", "nvme0", "1", "4096"], ["attach", "nvme0", "0", "4096"],
                      ["error", "nvme0", "0x8000"], ["speed", "0"],
                      ["return", "nvme0"], ["wait", "nvme0", "commands>=1", "10ms"]):
            done = host.control(*words, check=False)
            assert done.returncode == 1 and done.stderr, (words, done)
            if "nothing" in words and words[0] != "flip":
                assert "no such value" in done.stderr, (words, done)


def test_exit_status_and_signals():
    done = subprocess.run([SIM, "--scenario", DEFAULT, "--", "sh", "-c", "exit 7"])
    assert done.returncode == 7
    done = subprocess.run([SIM, "--scenario", DEFAULT, "--", "/nowhere"], capture_output=True)
    assert done.returncode == 127
    process = subprocess.Popen(
        [SIM, "--scenario", DEFAULT, "--", "sh", "-c",
         "trap 'exit 9' TERM; echo $EMBER_SIM_ROOT; while :; do sleep 0.05; done"],
        stdout=subprocess.PIPE, text=True)
    root = process.stdout.readline().strip()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 9
    process.stdout.close()
    assert not os.path.exists(root)


def test_leftovers_are_removed():
    """Of one that was killed; the tree of one that runs stays."""
    def start(directory):
        process = subprocess.Popen(
            [SIM, "--scenario", DEFAULT, "--", "sh", "-c", "echo $EMBER_SIM_ROOT; exec cat"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": directory})
        root = process.stdout.readline().strip()
        os.utime(root, (0, 0))
        return process, root

    with tempfile.TemporaryDirectory() as directory:
        killed, dead = start(directory)
        running, alive = start(directory)
        killed.kill()
        killed.wait()
        assert os.path.exists(dead)
        last, _ = start(directory)
        assert not os.path.exists(dead) and os.path.exists(alive + "/dev/nvme0")
        for process in (killed, running, last):
            process.stdin.close()
            process.stdout.close()
        assert (running.wait(20), last.wait(20)) == (0, 0)


if __name__ == "__main__":  # a part of a test that runs among the simulated drives
    globals()["inside_" + sys.argv[1]](*sys.argv[2:])
