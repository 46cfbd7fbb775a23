# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks share: a host of the shipping programs, CPU and memory of processes, a rival,
load, and a verdict.

A benchmark is a function bench_NAME(report) of bench_*.py; it calls report.row() for each figure.
Costs are CPU time of processes (from /proc/PID/task/*/schedstat, in nanoseconds), so that a busy
machine changes them little; latencies are what they are, so they come with a spread.
"""
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, TOP + "/tests/scenario")

import harness  # noqa: E402

QUICK = os.environ.get("QUICK") == "1"
NODE_EXPORTER = "prometheus-node-exporter"
SERVER_CPU, LOAD_CPU = 0, min(1, os.cpu_count() - 1)
MIB = 1 << 20


class Skipped(Exception):
    """There is nothing to measure here; says why."""


class Bench(harness.Host):
    """A host whose programs log as they do by default, and not everything as in the tests."""

    def start_broker(self):
        self._spawn("broker", [self.build + "/broker/ember-broker", "--socket",
                               self.path("broker.sock"), "--client-user", self.client,
                               "--patience", self.patience], self.env)
        self.wait(lambda: os.path.exists(self.path("broker.sock")), "the broker's socket",
                  process="broker")

    def start_emberd(self, wait=True):
        self._spawn("emberd", [self.build + "/daemon/emberd", "--config",
                               self.path("emberd.conf")], self.env)
        if wait:
            self.wait(self.answers, "emberd to answer", process="emberd", timeout=120)

    def ours(self):
        """The pids of all of Ember."""
        return [self.processes[name].pid for name in ("emberd", "broker")]

    def wait_all_read(self, timeout=120):
        """Until every drive of the simulator has been read once."""
        count = len(self.control("list"))

        def ready():
            drives = self.get("/v1/drives", timeout=60)["drives"]
            return len(drives) == count and all(d["smart"]["read_at"] for d in drives)
        return self.wait(ready, f"a reading of each of {count} drives", timeout=timeout)


def fleet(count, product="6530", hung=0):
    """A scenario of so many drives, the last of which never answer."""
    text = f"[drive]\nproduct = {product}\nserial = SH%n\nrepeat = {count - hung}\n"
    if hung:
        text += f"[drive]\nproduct = {product}\nserial = HU%n\nrepeat = {hung}\nat = 0s hang\n"
    return text


def cpu_seconds(*pids):
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                pass  # a thread that has ended takes its time along: none of ours do in steady state
    return total / 1e9


def pss(*pids):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return total


def pin(pid, cpu):
    for task in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(task), {cpu})


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def tool(name):
    """A program of tests/bench, made if need be."""
    build = harness.build_directory()
    subprocess.run(["make", "-s", "-C", build, f"tests/bench/{name}"], check=True,
                   stdout=subprocess.DEVNULL)
    return f"{build}/tests/bench/{name}"


def load(where, target, seconds=2.0, connections=1, busy=False):
    """What tests/bench/load prints. busy: by a reader that does not sleep."""
    command = [tool("load"), "-c", str(connections), "-s", str(seconds), "-p", str(LOAD_CPU),
               *(["-b"] if busy else []), where, target]
    output = subprocess.run(command, check=True, capture_output=True, text=True,
                            timeout=seconds + 60).stdout
    return json.loads(output)


class NodeExporter:
    """prometheus-node-exporter as Debian starts it, but on a port of its own."""

    def __init__(self):
        self.port = free_port()
        try:
            self.process = subprocess.Popen(
                [NODE_EXPORTER, f"--web.listen-address=127.0.0.1:{self.port}"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except FileNotFoundError as error:
            raise Skipped(f"{NODE_EXPORTER} is missing: ./bootstrap packages bench") from error
        self.where = f"tcp:{self.port}"

    def __enter__(self):
        for _ in range(200):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/metrics")
                connection.getresponse().read()
                return self
            except OSError:
                select_wait(0.05)
        raise AssertionError(f"{NODE_EXPORTER} does not answer")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def select_wait(seconds):
    import select
    select.select([], [], [], seconds)


def scratch():
    return tempfile.TemporaryDirectory(prefix="ember-bench-")


def spread(figures):
    """How far apart figures of the same thing are, as a share of their median."""
    middle = statistics.median(figures)
    return (max(figures) - min(figures)) / middle if middle else 0.0


def verdict(figure, target, at_most=True, noise=0.0):
    """met, short, or noise: the spread (a share) is wider than the margin to the target."""
    margin = abs(figure - target) / target if target else abs(figure)
    if target and noise > margin:
        return "noise"
    return "met" if (figure <= target if at_most else figure >= target) else "short"


class Report:
    def __init__(self):
        self.rows = []

    def row(self, name, figure, unit, target="", word="", note=""):
        """target as text; word is a verdict or "" for a figure that only informs."""
        text = f"{figure:.4g}" if isinstance(figure, float) else str(figure)
        self.rows.append((name, text, unit, str(target), word, note))
        print(f"  {name}: {text} {unit} {word} {note}".rstrip(), flush=True)

    def judge(self, name, figure, unit, target, at_most=True, noise=0.0, note=""):
        sign = "<=" if at_most else ">="
        note += f"{'; ' if note else ''}spread {noise:.0%}" if noise else ""
        self.row(name, float(figure), unit, f"{sign} {target:g}",
                 verdict(figure, target, at_most, noise), note)

    def table(self):
        head = ("name", "figure", "unit", "target", "verdict", "note")
        widths = [max(len(row[i]) for row in [head, *self.rows]) for i in range(5)]
        lines = ["  ".join([cell.ljust(width) for cell, width in zip(row, widths)] + [row[5]]).rstrip()
                 for row in [head, *self.rows]]
        return "\n".join(lines)
