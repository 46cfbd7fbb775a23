# SPDX-License-Identifier: Apache-2.0
"""The configuration of programs that run: what a reload takes over, and what it refuses."""
import os
import signal

import harness

FAST = {"smart_interval": "50ms"}
# What an editor, a copy or a slip can leave in place of a drop-in, and what is said of it.
BAD = (
    (b"[poll]\nsmart_interval=1ms\n", ":2: smart_interval=1ms: write a span from 10ms to 7d"),
    (b"[http]\nsmart_interval=1s\n", ":2: unknown key \"smart_interval\" in [http]"),
    (b"[pool]\n", ":1: unknown section [pool]"),
    (b"[log]\nlevel=info\n[poll]\n[log]\nlevel=info\n", ":5: level is set already in line 2"),
    (b"\xef\xbb\xbf[log]\n", ":1: a byte order mark"),
    (b"[log]\nlevel=\0\n", ":2: a NUL byte"),
    (b"\n" * (2 << 20), ": the file is too long"),
)


def reload(host, times):
    host.processes["emberd"].send_signal(signal.SIGHUP)
    host.wait(lambda: host.read("emberd.log").count("configuration read again") +
              host.read("emberd.log").count("the configuration in use is kept") == times,
              f"reload {times}")


def write_drop_in(host, data):
    os.makedirs(host.path("emberd.conf.d"), exist_ok=True)
    with open(host.path("emberd.conf.d/50-more.conf"), "wb") as file:
        file.write(data)


def test_bad_files_are_named_and_change_nothing():
    host = harness.Host(poll=FAST)
    host.wait_read("nvme0")
    for times, (data, words) in enumerate(BAD, 1):
        write_drop_in(host, data)
        reload(host, times)
        assert f"emberd.conf.d/50-more.conf{words}" in host.read("emberd.log"), (data[:60], words)
    os.unlink(host.path("emberd.conf.d/50-more.conf"))
    os.mkdir(host.path("emberd.conf.d/50-more.conf"))
    reload(host, len(BAD) + 1)
    assert "50-more.conf: Is a directory" in host.read("emberd.log")
    assert "configuration read again" not in host.read("emberd.log")
    before = host.counts("nvme0")["commands"]
    host.wait(lambda: host.counts("nvme0")["commands"] > before + 5, "polls as before")


def test_a_drop_in_wins_and_has_line_ends_of_any_kind():
    host = harness.Host(poll={"smart_interval": "7d"})
    host.wait_read("nvme0")
    write_drop_in(host, b"[poll]\r\nsmart_interval=50ms\r\n")
    reload(host, 1)
    before = host.counts("nvme0")["commands"]
    host.wait(lambda: host.counts("nvme0")["commands"] > before + 5, "polls by the drop-in")


def test_reload_says_what_waits_for_a_restart():
    host = harness.Host(poll=FAST)
    host.wait_read("nvme0")
    words = "[store] raw_keep was changed; it stays as it is until the next start"
    host.write("emberd.conf", host.read("emberd.conf") + "[store]\nraw_keep=31d\n")
    for times in (1, 2):  # as long as it differs, and not only from the reload before
        host.processes["emberd"].send_signal(signal.SIGHUP)
        host.wait(lambda: host.read("emberd.log").count("configuration read again") == times,
                  "the reload")
        assert host.read("emberd.log").count(words) == times, host.read("emberd.log")
    assert host.read("emberd.log").count("until the next start") == 2
