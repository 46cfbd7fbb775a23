# SPDX-License-Identifier: Apache-2.0
"""What answering costs: /metrics beside node-exporter's, a hung drive, events to many."""
import select
import socket
import statistics
import time

import bench

ROUNDS = 2 if bench.QUICK else 5
WINDOWS = 8 if bench.QUICK else 30
CLIENTS = 24  # as many streams as one client may have
EVENTS = 5 if bench.QUICK else 20


def requests_per_core(where, pid):
    """
    Requests per second of the server's CPU time, and the size of a reply. The reader polls without
    sleeping, for both servers, so that neither pays for waking it.
    """
    cpu = bench.cpu_seconds(pid)
    result = bench.load(where, "/metrics", 1 if bench.QUICK else 3, 2, busy=True)
    return result["requests"] / (bench.cpu_seconds(pid) - cpu), result["bytes"]


def bench_metrics(report):
    """/metrics with 24 drives, requests per second and core, alternating with node-exporter."""
    port = bench.free_port()
    host = bench.Bench(bench.fleet(24), listen=f"127.0.0.1:{port}")
    host.wait_all_read()
    pid = host.processes["emberd"].pid
    ember, rival, sizes = [], [], [0, 0]
    with bench.NodeExporter() as exporter:
        for process in (pid, exporter.process.pid):
            bench.pin(process, bench.SERVER_CPU)
        for _ in range(ROUNDS):
            figure, sizes[0] = requests_per_core(f"tcp:{port}", pid)
            ember.append(figure)
            figure, sizes[1] = requests_per_core(exporter.where, exporter.process.pid)
            rival.append(figure)
    noise = max(bench.spread(ember), bench.spread(rival))
    report.row("/metrics: ember", statistics.median(ember), "req/s/core",
               note=f"{sizes[0] / 1000:.0f} kB; spread {bench.spread(ember):.0%}")
    report.row("/metrics: node-exporter", statistics.median(rival), "req/s/core",
               note=f"{sizes[1] / 1000:.0f} kB; spread {bench.spread(rival):.0%}")
    report.judge("/metrics: page", sizes[0] / 1000, "kB", 58, at_most=False)
    report.judge("/metrics: ratio", statistics.median(ember) / statistics.median(rival), "x", 20,
                 at_most=False, noise=noise)


def p99(host, target):
    return bench.load("unix:" + host.path("emberd.sock"), target, 0.5)["p99_us"]


def a_to_a(figures):
    """How far every other figure is from those between them: nothing but noise."""
    halves = [statistics.median(figures[half::2]) for half in (0, 1)]
    return abs(halves[0] - halves[1]) / statistics.median(figures)


def bench_hung(report):
    """p99 of /metrics and /v1/drives with a hung drive and without: two hosts, taking turns."""
    hosts = [bench.Bench(bench.fleet(24), poll={"smart_interval": "1s"}) for _ in range(2)]
    for host in hosts:
        host.wait_all_read()
    hosts[1].control("hang", "nvme3")
    hosts[1].wait(lambda: hosts[1].drive("nvme3")["state"] == "unresponsive", "a hung drive")
    for target in ("/metrics", "/v1/drives"):
        figures = [[], []]
        for turn in range(WINDOWS):
            for which in ((0, 1), (1, 0))[turn % 2]:
                figures[which].append(p99(hosts[which], target))
        without, with_it = (statistics.median(f) for f in figures)
        report.judge(f"hung drive: {target}", with_it / without, "x p99", 1.5,
                     noise=a_to_a(figures[0]),
                     note=f"p99 {without:.0f} us without, {with_it:.0f} us with")


def subscribe(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(20)
    sock.connect(path)
    sock.sendall(b"GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n")
    head = sock.recv(4096)
    if not head.startswith(b"HTTP/1.1 200"):
        raise bench.Skipped("there is no stream of events: " + head.split(b"\r\n")[0].decode())
    sock.setblocking(False)
    return sock


def arrivals(socks, serial, deadline=10.0):
    """Monotonic times at which each client has heard of the drive."""
    waiting, heard = {s: b"" for s in socks}, []
    end = time.monotonic() + deadline
    while waiting and time.monotonic() < end:
        for sock in select.select(list(waiting), [], [], 0.5)[0]:
            waiting[sock] += sock.recv(65536)
            if serial in waiting[sock]:
                heard.append(time.monotonic())
                del waiting[sock]
    assert not waiting, f"{len(waiting)} clients heard nothing"
    return heard


def bench_events(report):
    """From the kernel's word that a drive is gone to the last of all clients on the stream."""
    host = bench.Bench(bench.fleet(8))
    host.wait_all_read()
    socks = [subscribe(host.path("emberd.sock")) for _ in range(CLIENTS)]
    first, last = [], []
    for number in range(EVENTS):
        kind = ("vanish", "return")[number % 2]
        wanted = (b"drive-removed", b"drive-returned")[number % 2]
        begin = time.monotonic()
        host.control(kind, "nvme3")
        heard = arrivals(socks, wanted)
        first.append(heard[0] - begin)
        last.append(heard[-1] - begin)
    for sock in socks:
        sock.close()
    report.row("events: first client", statistics.median(first) * 1000, "ms",
               note="the control word included")
    report.row(f"events: last of {CLIENTS} clients", statistics.median(last) * 1000, "ms",
               note=f"worst {max(last) * 1000:.1f} ms")
    report.judge(f"events: {CLIENTS} clients", max(last), "s, worst", 5,
                 note="what the kernel tells shows within 5 s")
