# SPDX-License-Identifier: Apache-2.0
"""A recording of a host's drives plays as those drives: ember-broker --record."""
import os
import re
import signal
import subprocess

import harness
from harness import TOP, Host

SCENARIOS = TOP + "/sim/scenarios/"
DRIVES = [f"nvme{number}" for number in range(8)]  # of default.conf
PAGES = ("", "/identify", "/smart", "/firmware", "/effects", "/namespaces", "/memblaze", "/capacitor", "/security",
         "/sanitize", "/selftest", "/errors", "/health")
# What differs between two readings of the same drive: times, ages, and what a command had for a number and a duration.
MOVING = {"read_at", "attempted_at", "age_seconds", "list_read_at", "list_age_seconds", "last_answer_at",
          "state_since", "last_duration_us", "cmdid"}
# Who it is: other words in a masked recording.
NAMES = {"id", "drive", "serial", "subsystem_nqn", "nqn", "nguid", "eui64", "fru_guid"}
IDENTIFY, GET_LOG, SECURITY_RECEIVE = 0x06, 0x02, 0x82
RETAIN = 1 << 15


def broker(host):
    return host.build + "/broker/ember-broker"


def record(host, name="recording.conf", *more, **kwargs):
    path = host.path(name)
    return path, host.run(broker(host), "--record", path, *more, **kwargs)


def has_settled(host, drives):
    """Each page of each drive was read, or never will be."""
    for drive in drives:
        document = host.get(f"/v1/drives/{drive}")
        namespaces = host.get(f"/v1/drives/{drive}/namespaces")
        read = [page["status"] for page in document["pages"]] + [namespaces["list_status"]] + \
            [ns["status"] for ns in namespaces["namespaces"]]
        if "never-read" in read or document["state_detail"]:
            return False
    return True


def without(document, keys):
    if isinstance(document, dict):
        return {key: without(value, keys) for key, value in document.items() if key not in keys}
    if isinstance(document, list):
        return [without(item, keys) for item in document]
    return document


def documents(scenario, left_out=frozenset(), hidden=0):
    """What the API says of each drive of a scenario, and the host. hidden: controllers that emberd leaves alone."""
    host = Host(scenario=scenario)
    count = len(host.control("list")) - hidden
    host.wait(lambda: len(controllers(host)) == count, f"{count} controllers")
    drives = host.devices()
    host.wait(lambda: has_settled(host, drives), "all pages")
    said = {}
    for drive in drives:
        for page in PAGES:
            said[drive + page] = without(host.get(f"/v1/drives/{drive}{page}"), MOVING | left_out)
    return said, host


def controllers(host):
    return [controller["device"] for drive in host.get("/v1/drives?limit=4096")["drives"]
            for controller in host.drive(drive["device"])["controllers"]]


def assert_same(before, after):
    assert before.keys() == after.keys(), (before.keys(), after.keys())
    for name, document in before.items():
        assert document == after[name], f"{name}\nwas {document}\nis  {after[name]}"


def plays_the_same(scenario, **kwargs):
    # Recorded before emberd asks anything: what it is refused counts in the error log.
    quiet = Host(scenario=scenario, start=False)
    path, done = record(quiet)
    assert f"controllers are in {path}" in done.stderr, done
    before, _ = documents(scenario, **kwargs)
    after, _ = documents(path, **kwargs)
    assert_same(before, after)


def test_plays_the_same():
    plays_the_same(SCENARIOS + "default.conf")


def test_several_controllers_play_the_same():
    plays_the_same(SCENARIOS + "multipath.conf")


def test_fabrics_play_the_same():
    plays_the_same(SCENARIOS + "fabrics.conf", hidden=1)


ODD = """[drive nvme3]
product = minimal
serial = ODD3
slot = 12
numa_node = -1
link_speed = 8.0 GT/s PCIe
link_speed_max = 8.0 GT/s PCIe
link_width = 2
link_width_max = 8
namespace = 1 1GB 512 node 4

[drive nvme9]
product = 7946
serial =    LEADS 9
nqn = nqn.2020-01.com.example:box:9
elpe = 200
lpa = 0x3e
supported-page = <<
00000000: 01000000 03000000 01000000
>>
at = 0s refuse get-log 0x06 0x4109
"""


def test_odd_drives_play_the_same():
    plays_the_same(ODD)
    path = harness.HOSTS[0].path("recording.conf")
    with open(path, encoding="ascii") as file:
        text = file.read()
    for line in ("slot = 12", "numa_node = -1", "link_width_max = 8", "namespace = 1 1000000000 512 node 4",
                 "# get-log 0x06: refused with status 0x4109", "supported-page = <<"):
        assert f"\n{line}\n" in text, (line, text)


def bytes_of(path):
    """All pages of a recording, and its text."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    pages = []
    for key, page in re.findall(r"^(\S+) = [^\n]*<<\n(.*?)>>\n", text, re.DOTALL | re.MULTILINE):
        data = bytearray(16384)
        for line in page.splitlines():
            at, _, digits = line.partition(": ")
            row = bytes.fromhex(digits)
            data[int(at, 16):int(at, 16) + len(row)] = row
        pages.append((key, bytes(data)))
    return text, pages


# Its serial number stands in a vendor's page too, over the end of a line, and in its NQN.
TELLS = """
[drive]
product = D920
serial = TELLTALE7
nqn = nqn.2020-01.com.customer:TELLTALE7
vendor-page = <<
000001e0: 00 00 00 00 00 00 00 00 00 00 00 00 00 54 45 4c
000001f0: 4c 54 41 4c 45 37
>>
"""
NQN = "nqn.2020-01.com.customer"


def test_mask():
    default = open(SCENARIOS + "default.conf", encoding="ascii").read() + TELLS
    serials = re.findall(r"^serial = (\S+)", default, re.MULTILINE)
    assert len(serials) == 9
    host = Host(scenario=default, start=False)
    plain, _ = record(host, "plain.conf")
    path, _ = record(host, "masked.conf", "--mask")
    text, pages = bytes_of(plain)
    assert sum(page.count(b"TELLTALE7") for _, page in pages) == 3
    spaces = [page for key, page in pages if key == "namespace-page"]
    names = {name for page in spaces for name in (page[104:120], page[120:128]) if any(name)}
    assert len(names) >= 16, names
    text, pages = bytes_of(path)
    for name in [word.encode() for word in serials + [NQN]] + list(names):
        assert name not in text.encode() and not any(name in page for _, page in pages), name
    before, _ = documents(plain, NAMES)
    after, _ = documents(path, NAMES)
    assert_same(before, after)
    after, _ = documents(path)
    lengths = sorted(len(after[drive]["serial"]) for drive in after if "/" not in drive)
    assert lengths == sorted(map(len, serials)), after
    assert len({after[drive]["serial"] for drive in after if "/" not in drive}) == 9


def test_masked_sisters_stay_sisters():
    host = Host(scenario=SCENARIOS + "multipath.conf", start=False)
    path, _ = record(host, "masked.conf", "--mask")
    before, _ = documents(SCENARIOS + "multipath.conf", NAMES)
    after, played = documents(path, NAMES)
    assert_same(before, after)
    assert [len(played.drive(drive)["controllers"]) for drive in ("nvme0", "nvme2")] == [2, 1]


def test_only_reads():
    host = Host(start=False)
    record(host)
    for drive in DRIVES:
        commands = host.control("log", drive)
        assert len(commands) >= 5, commands
        for command in commands:
            kind, dword = command["opcode"], command["cdw10"]
            assert command["ret"] == 0, command
            assert (kind == IDENTIFY and dword & 0xff in (0x00, 0x01, 0x02)) or \
                (kind == GET_LOG and dword & RETAIN and not dword & 0x7f00) or \
                (kind == SECURITY_RECEIVE and dword == 0x01000100), command
            assert not (kind == GET_LOG and dword & 0xff == 0xca and drive in ("nvme5", "nvme6"))


def test_nothing_is_overwritten():
    host = Host(start=False)
    path = host.write("there.conf", "mine\n")
    _, done = record(host, "there.conf", check=False)
    assert done.returncode == 1 and f"{path} exists, and is not overwritten" in done.stderr, done
    assert host.read("there.conf") == "mine\n"
    assert all(host.counts(drive)["commands"] == 0 for drive in DRIVES)
    _, done = record(host, "nowhere/there.conf", check=False)
    assert done.returncode == 1 and "nowhere/there.conf cannot be made: No such file" in done.stderr, done
    done = host.run(broker(host), "--mask", check=False)
    assert done.returncode == 1 and "--mask is for --record" in done.stderr, done


def test_the_file_is_its_owners():
    host = Host(start=False)
    path, _ = record(host)
    assert os.stat(path).st_mode & 0o7777 == 0o600
    done = host.run(broker(host), "--record", "-")
    with open(path, encoding="ascii") as file:
        assert done.stdout == file.read()


def test_no_drives():
    host = Host(scenario="[sim]\nspeed = 1\n", start=False)
    path, done = record(host, check=False)
    assert done.returncode == 1 and "no NVMe controller" in done.stderr and not os.path.exists(path), done


def test_hung_drive_delays_no_other():
    host = Host(start=False)
    host.control("hang", "nvme2")
    path, done = record(host, "hung.conf", "--patience", "200ms")
    assert "nvme2: 0 pages, then no answer" in done.stderr and "8 controllers" in done.stderr, done
    text, _ = bytes_of(path)
    sections = text.split("\n[drive ")
    hung = [section for section in sections if section.startswith("nvme2]")]
    assert "# identify 0x01: no answer within the patience\n" in hung[0] and "<<" not in hung[0], hung
    assert "serial = SH222100530\n" in hung[0] and "at = 0s hang\n" in hung[0], hung
    assert sum("smart-page" in section for section in sections) == 7, text
    played = Host(scenario=path, patience="200ms")
    played.wait(lambda: played.drive("nvme2")["polls"]["misses"] > 0, "nvme2 to be silent again")
    assert played.drive("nvme2")["serial"] == "SH222100530"


def test_killed_in_the_middle():
    host = Host(start=False)
    host.control("hang", "nvme2")
    os.mkdir(host.path("out"))
    for sig, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 1)):
        commands = host.counts("nvme2")["commands"]
        process = subprocess.Popen([broker(host), "--record", host.path("out/file.conf"), "--patience", "60s"],
                                   env=host.env, stderr=subprocess.PIPE, text=True)
        try:
            host.control("wait", "nvme2", f"commands>={commands + 1}")
            process.send_signal(sig)
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
        assert process.returncode == code and (sig == signal.SIGKILL or "Interrupted" in err), err
        assert os.listdir(host.path("out")) == []
