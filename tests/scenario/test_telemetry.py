# SPDX-License-Identifier: Apache-2.0
"""Telemetry logs into a file: the bytes against nvme-cli, captures that change while they are read,
and drives that have none."""
import json
import os
import pty
import re
import subprocess

from harness import Host

SLOW = {"smart_interval": "1h", "identify_interval": "1h"}
BLOCK = 512


def begun(**more):
    host = Host(poll=SLOW, **more)
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    for device in ("nvme0", "nvme2", "nvme5"):
        host.wait_read(device, "identify")
    return host


def content(path):
    with open(path, "rb") as file:
        return file.read()


def get_logs(host, device, page):
    """(log specific parameter, retains events, dwords) of each that the drive got."""
    return [(c["cdw10"] >> 8 & 0x7f, c["cdw10"] >> 15 & 1, (c["cdw10"] >> 16) + 1)
            for c in host.control("log", device) if c["command"] == f"get-log {page:#04x}"]


def failing(host, *words):
    result = host.emberctl("telemetry", *words, check=False)
    assert result.returncode not in (0, 2), result
    left = [name for name in os.listdir(host.dir) if name.startswith("out")]
    assert not left, f"nothing stays behind: {left}"
    return result.stderr


def test_the_file_is_what_nvme_cli_reads():
    host = begun()
    ours, theirs = host.path("ours"), host.path("theirs")
    summary = json.loads(host.emberctl("telemetry", "nvme2", ours, "--json").stdout)
    assert summary["bytes"] == BLOCK * 151 == len(content(ours)), summary
    assert summary["log"] == 7 and summary["device"] == "nvme2", summary
    assert summary["generation_before"] == summary["generation_after"] == 1, summary
    assert summary["attempts"] == 1 and summary["file"] == ours, summary
    assert os.stat(ours).st_mode & 0o777 == 0o600
    host.run("nvme", "telemetry-log", "/dev/nvme2", f"--output-file={theirs}", "--host-generate=0",
             "--data-area=3")
    assert content(ours) == content(theirs)
    assert content(ours)[0] == 7 and content(ours)[381] == 1

    ours, theirs = host.path("ours-8"), host.path("theirs-8")
    assert "log 08h, capture 1" in host.emberctl("telemetry", "nvme2", ours, "--controller").stdout
    host.run("nvme", "telemetry-log", "/dev/nvme2", f"--output-file={theirs}", "--controller-init",
             "--data-area=3")
    assert content(ours) == content(theirs) and len(content(ours)) == BLOCK * 41
    return f"{summary['bytes']} and {BLOCK * 41} bytes equal"


def test_one_capture_is_made_and_its_parts_are_only_read():
    host = begun()
    host.emberctl("telemetry", "nvme2", host.path("out"))
    reads = get_logs(host, "nvme2", 7)
    assert reads[0] == (1, 1, 128), "the capture, with its header"
    assert len(reads) > 3 and all(read[:2] == (0, 1) for read in reads[1:]), reads
    assert reads[-1] == (0, 1, 128), "the header once more"
    host.emberctl("telemetry", "nvme2", host.path("again"))
    assert content(host.path("again"))[381] == 2
    before = host.counts("nvme2")["error_log_entries"]
    host.emberctl("telemetry", "nvme2", host.path("theirs"), "--controller")
    assert all(read[:2] == (0, 1) for read in get_logs(host, "nvme2", 8)), "never made by us"
    assert host.counts("nvme2")["error_log_entries"] == before


def test_areas_are_as_large_as_the_header_says():
    host = begun()
    host.control("telemetry", "nvme2", "controller", "3", "7", "300")
    whole = None
    for area, last in (3, 300), (2, 7), (1, 3):
        path = host.path(f"area-{area}")
        host.emberctl("telemetry", "nvme2", path, "--controller", "--area", str(area))
        data = content(path)
        assert len(data) == BLOCK * (last + 1), (area, len(data))
        whole = whole or data
        assert data == whole[:len(data)], area
    host.control("telemetry", "nvme2", "controller", "0", "0", "0")
    host.emberctl("telemetry", "nvme2", host.path("empty"), "--controller")
    assert len(content(host.path("empty"))) == BLOCK
    wrong = host.emberctl("telemetry", "nvme2", host.path("out"), "--area", "4", check=False)
    assert wrong.returncode == 2 and "1, 2 or 3" in wrong.stderr, wrong


def test_a_torn_reading_is_begun_anew():
    host = begun()
    host.control("telemetry", "nvme2", "host", "every", "1", "1")
    path, theirs = host.path("torn"), host.path("theirs")
    summary = json.loads(host.emberctl("telemetry", "nvme2", path, "--json").stdout)
    assert summary["attempts"] == 2 and summary["generation_before"] == 2, summary
    host.run("nvme", "telemetry-log", "/dev/nvme2", f"--output-file={theirs}", "--host-generate=0",
             "--data-area=3")
    assert content(path) == content(theirs), "all of it of the later capture"
    assert [read[0] for read in get_logs(host, "nvme2", 7)].count(1) == 1, "no capture against one"
    host.control("telemetry", "nvme2", "host", "every", "1", "1000")
    text = failing(host, "nvme2", host.path("out"))
    assert "torn" in text and "3 attempts" in text, text


def test_what_cannot_be_had_is_said():
    host = begun(policy="[default]\nread = allow\n")
    text = failing(host, "nvme0", host.path("out"))
    assert "no telemetry" in text, text
    assert not get_logs(host, "nvme0", 7), "it was not asked"
    host.control("telemetry", "nvme2", "controller", "none")
    text = failing(host, "nvme2", host.path("out"), "--controller")
    assert "captured nothing" in text, text
    host.control("refuse", "nvme2", "get-log", "0x07", "0x4002")
    text = failing(host, "nvme2", host.path("out"))
    assert "not made to capture" in text and "refused" in text, text
    host.control("accept", "nvme2")
    host.control("short", "nvme2", "get-log", "0x07", "0")
    text = failing(host, "nvme2", host.path("out"))
    assert "not its telemetry" in text, text


def test_the_long_form_is_needed():
    host = Host(poll=SLOW, scenario="[drive]\nproduct = 6530\nlpa = 0x0a\n")
    host.wait(lambda: len(host.devices()) == 1, "a drive")
    host.wait_read("nvme0", "identify")
    text = failing(host, "nvme0", host.path("out"))
    assert "long form" in text, text
    assert not get_logs(host, "nvme0", 7), "it was not asked"


def test_a_file_that_exists_stays():
    host = begun()
    path = host.write("kept", "mine")
    result = host.emberctl("telemetry", "nvme2", path, check=False)
    assert result.returncode == 1 and "not overwritten" in result.stderr, result
    assert host.read("kept") == "mine" and not get_logs(host, "nvme2", 7), "and nothing was captured"
    assert not [name for name in os.listdir(host.dir) if name.startswith("kept.")]


def test_one_that_is_killed_leaves_nothing():
    """However it ends: a file without a name goes with whoever wrote it."""
    host = begun()
    host.control("delay", "nvme2", "300")
    client = subprocess.Popen([host.build + "/client/emberctl", "--socket", host.path("emberd.sock"),
                               "telemetry", "nvme2", host.path("out")], stdout=subprocess.DEVNULL)
    host.wait(lambda: len(get_logs(host, "nvme2", 7)) > 1, "the data is being read")
    client.kill()
    assert client.wait() == -9
    left = [name for name in os.listdir(host.dir) if name.startswith("out")]
    assert not left, left


def test_a_terminal_sees_how_far_it_is():
    host = begun()
    ours, theirs = pty.openpty()
    subprocess.run([host.build + "/client/emberctl", "--socket", host.path("emberd.sock"), "telemetry",
                    "nvme2", host.path("file")], stderr=theirs, stdout=subprocess.DEVNULL,
                   timeout=60, check=True)
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert re.search(r"\r0 of 75 KiB.*\r64 of 75 KiB.*\r75 of 75 KiB.*\r\x1b\[K$", shown), repr(shown)


def test_the_policy_decides_about_captures():
    host = begun(policy="[default]\narm = deny\n")
    result = host.emberctl("telemetry", "nvme2", host.path("out"), check=False)
    assert result.returncode == 4 and "denied" in result.stderr, result
    host.emberctl("telemetry", "nvme2", host.path("own"), "--controller")
