# SPDX-License-Identifier: Apache-2.0
"""History: rows in, a year out."""
import os
import statistics
import subprocess

import bench

ROWS = 20000 if bench.QUICK else 100000
ROUNDS = 2 if bench.QUICK else 5
HOURS_OF_A_YEAR = 365 * 24
MINUTES_OF_A_MONTH = 30 * 24 * 60


def ingest(kind, rows):
    """Rows per second of wall time, into a new database."""
    with bench.scratch() as directory:
        output = subprocess.run([bench.tool("ingest"), kind, directory, str(rows)], check=True,
                                capture_output=True, text=True, timeout=600).stdout
    return rows / float(output)


def bench_ingest(report):
    """Rows that the store takes in, beside SQLite alone with one prepared INSERT, alternating."""
    ember, rival = [], []
    for _ in range(ROUNDS):
        ember.append(ingest("store", ROWS))
        rival.append(ingest("sqlite", ROWS))
    mine, other = statistics.median(ember), statistics.median(rival)
    report.row("ingest: ember", mine, "rows/s", note=f"spread {bench.spread(ember):.0%}")
    report.row("ingest: sqlite", other, "rows/s", note=f"spread {bench.spread(rival):.0%}")
    report.judge("ingest: ratio", mine / other, "x", 0.5, at_most=False,
                 noise=max(bench.spread(ember), bench.spread(rival)))


def filled(step, rows):
    """A host whose nvme0 has a history of so many rows."""
    host = bench.Bench(bench.fleet(1), config="[store]\nraw_keep = 800d\n")
    host.wait_all_read()
    drive = host.drive("nvme0")["id"]
    host.kill("emberd")
    subprocess.run([bench.tool("ingest"), "fill", host.path("state"), drive, str(step), str(rows)],
                   check=True, stdout=subprocess.DEVNULL, timeout=600)
    host.start_emberd()
    host.wait_all_read()
    return host


def ask_history(host, since, points):
    target = f"/v1/drives/nvme0/history?field=temperature_celsius&from={since}&step=1h&limit=10000"
    document = host.get(target)
    assert len(document["points"]) >= points, f"{len(document['points'])} points"
    return bench.load("unix:" + host.path("emberd.sock"), target, 2 if bench.QUICK else 5)


def bench_year(report):
    """One drive, one year by hour, as JSON, from rows by the hour as the tier keeps them."""
    host = filled(3600, HOURS_OF_A_YEAR)
    result = ask_history(host, f"-{HOURS_OF_A_YEAR}h", HOURS_OF_A_YEAR - 2)
    report.judge("a year by hour", result["p50_us"] / 1000, "ms", 20,
                 note=f"p99 {result['p99_us'] / 1000:.1f} ms, {result['bytes'] / 1000:.0f} kB")
    host.stop()
    host = filled(60, MINUTES_OF_A_MONTH)
    result = ask_history(host, "-30d", 30 * 24 - 2)
    size = os.path.getsize(host.path("state") + "/ember.db")
    report.row("30 days of minutes by hour", result["p50_us"] / 1000, "ms",
               note=f"p99 {result['p99_us'] / 1000:.1f} ms; database {size / bench.MIB:.1f} MiB")
