# SPDX-License-Identifier: Apache-2.0
"""Many clients at once, at the shipping emberd."""
import http.client
import sqlite3
import socket
import threading
import time

import harness


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fill_history(host, drive, rows):
    now = int(time.time() * 1e6)
    database = sqlite3.connect(host.path("state/ember.db"), timeout=20)
    with database:
        database.executemany(
            "INSERT INTO smart (drive, nsid, at, temperature_celsius) VALUES (?, 0, ?, 40)",
            ((drive, now - (1 + row) * 100000) for row in range(rows)))
    database.close()


def test_histories_do_not_delay_a_scrape():
    host = harness.Host(listen=f"127.0.0.1:{free_port()}")
    host.wait_read("nvme0")
    fill_history(host, host.drive("nvme0")["id"], 100000)
    path = "/v1/drives/nvme0/history?field=temperature_celsius&limit=100000"
    stop, statuses = threading.Event(), []

    def ask():
        while not stop.is_set():
            statuses.append(host.request(path, tcp=True, timeout=60)[0])

    threads = [threading.Thread(target=ask) for _ in range(32)]
    for thread in threads:
        thread.start()
    host.wait(lambda: 200 in statuses, "the first history", timeout=60)
    # As Prometheus does: one connection, which stays with one of the server's threads.
    scraper = http.client.HTTPConnection(host.listen, timeout=60)
    slowest, scrapes, end = 0, 0, time.monotonic() + 120
    while scrapes < 10 or (statuses.count(200) < 10 and time.monotonic() < end):
        begun = time.monotonic()
        scraper.request("GET", "/metrics")
        assert scraper.getresponse().read()
        slowest, scrapes = max(slowest, time.monotonic() - begun), scrapes + 1
        time.sleep(0.1)
    stop.set()
    for thread in threads:
        thread.join()
    scraper.close()
    assert set(statuses) <= {200, 503} and statuses.count(200) >= 10, statuses
    assert slowest < 1, f"a scrape took {slowest:.3f} s"
    return f"slowest scrape {slowest * 1000:.0f} ms beside {len(statuses)} histories"


def test_emberd_ends_while_histories_are_asked():
    host = harness.Host()
    host.wait_read("nvme0")
    fill_history(host, host.drive("nvme0")["id"], 50000)
    path = "/v1/drives/nvme0/history?field=temperature_celsius&limit=100000"
    statuses = []

    def ask():
        try:
            while True:
                statuses.append(host.request(path, timeout=60)[0])
        except (OSError, http.client.HTTPException):
            pass

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    host.wait(lambda: 200 in statuses, "the first history", timeout=60)
    assert host.kill("emberd") == 0
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 503}, statuses
