# SPDX-License-Identifier: Apache-2.0
"""What watching drives costs: a poll, its commands, memory, the start, a thousand drives."""
import os
import resource
import socket
import statistics
import subprocess
import time

import bench

ERROR_POLLS = 500 if bench.QUICK else 10000
ROUNDS = 2 if bench.QUICK else 5


def smart_polls(host, devices):
    return sum(host.counts(d)["by_command"].get("get-log 0x02", 0) for d in devices)


def ember_poll(host, devices, seconds):
    """CPU seconds of all Ember processes per reading of SMART, and how many there were."""
    polls, cpu = smart_polls(host, devices), bench.cpu_seconds(*host.ours())
    bench.select_wait(seconds)
    cpu = bench.cpu_seconds(*host.ours()) - cpu
    polls = smart_polls(host, devices) - polls
    return cpu / polls, polls


def smartctl_poll(host, device, runs):
    """CPU seconds of one smartctl on one of the same drives."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(runs):
        result = subprocess.run(["smartctl", "-j", "-a", f"/dev/{device}"], env=host.env,
                                stdout=subprocess.PIPE, check=False)
        assert result.stdout.startswith(b"{")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs


def alternate(host, devices, seconds):
    ember, rival, polls = [], [], 0
    for _ in range(ROUNDS):
        cost, count = ember_poll(host, devices, seconds)
        ember.append(cost)
        polls += count
        rival.append(smartctl_poll(host, devices[0], 5))
    return ember, rival, polls


def bench_poll(report):
    """CPU per drive-poll, a commit to the disk for each included, and smartctl's, alternating."""
    host = bench.Bench(poll={"smart_interval": "1s"})
    host.wait_all_read()
    devices = host.devices()
    ember, rival, polls = alternate(host, devices, 3 if bench.QUICK else 10)
    mine, other = statistics.median(ember), statistics.median(rival)
    noise = max(bench.spread(rival), bench.spread(ember))
    report.row("poll: ember", mine * 1e6, "us CPU", note=f"{polls} polls; spread "
               f"{bench.spread(ember):.0%}")
    report.row("poll: smartctl", other * 1e6, "us CPU", note=f"{ROUNDS * 5} runs; spread "
               f"{bench.spread(rival):.0%}")
    report.judge("poll: ratio", mine / other, "", 1 / 20, noise=noise)


def bench_commands(report):
    """Admin commands per steady poll, and error-log entries, on all eight drives at 10 ms."""
    host = bench.Bench(poll={"smart_interval": "10ms"})
    host.wait_all_read()
    devices = host.devices()
    start = {d: host.counts(d) for d in devices}

    def polls(device):
        return host.counts(device)["by_command"].get("get-log 0x02", 0) - \
            start[device]["by_command"].get("get-log 0x02", 0)
    host.wait(lambda: bench.select_wait(0.5) or all(polls(d) >= ERROR_POLLS for d in devices),
              f"{ERROR_POLLS} polls of each drive", timeout=900)
    end = {d: host.counts(d) for d in devices}
    worst = max((end[d]["commands"] - start[d]["commands"]) / polls(d) for d in devices)
    total = sum(polls(d) for d in devices)
    entries = sum(end[d]["error_log_entries"] - start[d]["error_log_entries"] for d in devices)
    learned = sum(start[d]["error_log_entries"] for d in devices)
    report.judge("commands per steady poll", worst, "worst drive", 3)
    report.judge("error-log entries", entries, f"in {total} polls", 0)
    report.judge("error-log entries at start", learned, "8 drives learned", 0,
                 note="what Identify does not announce is not asked for")


def bench_memory(report):
    """PSS with 24 drives, after readings and scrapes, beside node-exporter's after scrapes."""
    port = bench.free_port()
    host = bench.Bench(bench.fleet(24), poll={"smart_interval": "1s"}, listen=f"127.0.0.1:{port}")
    host.wait_all_read()
    with bench.NodeExporter() as rival:
        for where in (f"tcp:{port}", rival.where):
            bench.load(where, "/metrics", 2, 2)
        other = bench.pss(rival.process.pid) / bench.MIB
    parts = [bench.pss(pid) / bench.MIB for pid in host.ours()]
    report.judge("memory, 24 drives", sum(parts), "MiB PSS", 20,
                 note=f"emberd {parts[0]:.1f}, broker {parts[1]:.1f}")
    report.row("memory: node-exporter", other, "MiB PSS")


def start_once(host, name):
    """Seconds from the start of both programs to emberd's READY."""
    path = host.path(f"notify-{name}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.settimeout(60)
        os.makedirs(host.path("state"), exist_ok=True)
        begin = time.monotonic()
        host.start_broker()
        host.env["NOTIFY_SOCKET"] = path
        host.start_emberd(wait=False)
        while b"READY=1" not in notify.recv(4096):
            pass
        seconds = time.monotonic() - begin
    del host.env["NOTIFY_SOCKET"]
    host.kill("emberd")
    host.kill("broker")
    os.unlink(host.path("broker.sock"))
    return seconds


def bench_start(report):
    """From the start of broker and emberd to READY: 32 drives, one of which never answers."""
    host = bench.Bench(bench.fleet(32, hung=1), start=False, patience="2s")
    times = [start_once(host, number) for number in range(ROUNDS)]
    report.judge("start to READY, first", times[0], "s", 1, note="32 drives, one hung")
    report.judge("start to READY, again", statistics.median(times[1:]), "s", 1,
                 noise=bench.spread(times[1:]), note="with a database")


def bench_fleet(report):
    """A thousand drives at the defaults: all polled each minute, CPU and memory."""
    host = bench.Bench(bench.fleet(1000), patience="10s")
    begin = time.monotonic()
    host.wait_all_read(timeout=300)
    report.judge("1,000 drives: first readings", time.monotonic() - begin, "s", 60)
    devices, minutes = host.devices(), 1 if bench.QUICK else 2
    polls = {d: smart_polls(host, [d]) for d in devices}
    cpu, begin = bench.cpu_seconds(*host.ours()), time.monotonic()
    bench.select_wait(60 * minutes + 1)
    cpu, seconds = bench.cpu_seconds(*host.ours()) - cpu, time.monotonic() - begin
    fewest = min(smart_polls(host, [d]) - polls[d] for d in devices)
    report.judge("1,000 drives: polls of each", fewest / minutes, "a minute, fewest", 1,
                 at_most=False)
    report.judge("1,000 drives: CPU", 100 * cpu / seconds, "% of a core", 25)
    parts = [bench.pss(pid) / bench.MIB for pid in host.ours()]
    report.judge("1,000 drives: memory", sum(parts), "MiB PSS", 120,
                 note=f"emberd {parts[0]:.1f}, broker {parts[1]:.1f}")
