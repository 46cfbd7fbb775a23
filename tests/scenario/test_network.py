# SPDX-License-Identifier: Apache-2.0
"""emberd over the network: Prometheus, tokens, certificates, streams; and case R41 at every door."""
import gzip
import itertools
import json
import resource
import signal
import sqlite3
import ssl
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import harness
from network import NAME, NetworkHost, closed, free_port, make_certificate, read_reply, send_all

EXAMPLE = harness.TOP + "/docs/examples/prometheus.yml"


def lift_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard > 0 else 8192, hard))


# -- Prometheus --------------------------------------------------------------------------------

def substituted(host):
    """The example, with this host's places in it."""
    with open(EXAMPLE, encoding="utf-8") as file:
        text = file.read()
    for old, new in {
            "/etc/prometheus/ember.token": host.write("token", host.token),
            "/etc/prometheus/ember-ca.pem": host.path("cert.pem"),
            "scrape_interval: 60s": "scrape_interval: 1s\n    scrape_timeout: 1s",
            f"- {NAME}:9443": f"- 127.0.0.1:{host.https}",
            "tls_config:\n": f"tls_config:\n      server_name: {NAME}\n"}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class Prometheus:
    def __init__(self, host):
        self.port = free_port()
        config = host.write("prometheus.yml", substituted(host))
        check = subprocess.run(["promtool", "check", "config", config], capture_output=True, text=True,
                               timeout=60)
        assert check.returncode == 0, check.stdout + check.stderr
        # pylint: disable=consider-using-with
        self.log = open(host.path("prometheus.log"), "wb")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file", config, "--storage.tsdb.path", host.path("tsdb"),
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()

    def api(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]
        except OSError:
            return None

    def target(self):
        targets = (self.api("targets") or {}).get("activeTargets")
        return targets[0] if targets else None

    def health(self):
        target = self.target()
        return target and target["health"]

    def samples(self, query):
        """{labels without those of the scrape itself: value}"""
        found = {}
        for sample in (self.api("query", query=query) or {"result": ()})["result"]:
            labels = {k: v for k, v in sample["metric"].items()
                      if k not in ("__name__", "job", "instance")}
            found[frozenset(labels.items())] = float(sample["value"][1])
        return found


def test_prometheus_scrapes_over_tls():
    host = NetworkHost()
    for drive in ("nvme0", "nvme1"):
        host.wait_read(drive)
    with Prometheus(host) as prometheus:
        host.wait(lambda: prometheus.health() == "up", "the target to be up", timeout=60)
        names = {name for name, _ in host.metrics()}
        compared = 0
        for name in ("ember_percentage_used", "ember_power_on_seconds_total", "ember_bytes_written_total",
                     "ember_drive_info", "ember_available_spare_percent"):
            assert name in names, name
            mine = {labels: float(value) for (other, labels), value in host.metrics().items()
                    if other == name}
            host.wait(lambda: prometheus.samples(name) == mine, f"the samples of {name}")
            compared += len(mine)
        assert prometheus.samples("count({job='ember'})") != {}
        begun = time.monotonic()
        host.emberctl("token", "revoke", host.token_id)
        status, head, _ = host.doors["https"].ask("/metrics")
        took = time.monotonic() - begun
        assert status == 401 and "WWW-Authenticate: Bearer" in head, head
        assert took < 1, f"{took:.3f} s"
        host.wait(lambda: prometheus.health() == "down", "the target to be down")
        assert "401" in prometheus.target()["lastError"]
        host.wait(lambda: list(prometheus.samples("up{job='ember'}").values()) == [0], "up to be 0")
    return f"{compared} samples as they are here; 401 after {took * 1000:.0f} ms"


# -- tokens and certificates -------------------------------------------------------------------

def test_tokens_over_a_restart():
    host = NetworkHost()
    door = host.doors["https"]
    _, other = host.make_token("other")
    assert host.run("stat", "-c", "%a", host.path("state/tokens.json")).stdout.strip() == "600"
    assert other not in host.read("state/tokens.json") and other not in host.read("emberd.log")
    host.emberctl("token", "revoke", host.token_id)
    for _ in range(2):
        assert door.ask("/v1/health")[0] == 401
        assert door.ask("/v1/health", token=other)[0] == 200
        assert door.ask("/v1/tokens", token=other)[0] == 403
        assert host.kill("emberd") == 0
        host.start_emberd()
    # A broken file lets nobody in, and does not keep emberd from watching.
    assert host.kill("emberd") == 0
    host.write("state/tokens.json", "{")
    host.start_emberd()
    assert door.ask("/v1/health", token=other)[0] == 401
    host.make_token("fresh")


def test_a_certificate_changes_under_open_connections():
    host = NetworkHost()
    door = host.doors["https"]
    old = door.connect()
    request = f"GET /v1/health HTTP/1.1\r\n{door.headers()}\r\n".encode()
    old.sendall(request)
    assert read_reply(old)[0] == 200
    before = old.getpeercert(binary_form=True)
    make_certificate(host.dir, days=60)
    host.trust()
    host.processes["emberd"].send_signal(signal.SIGHUP)

    def renewed():
        try:
            with door.connect() as sock:
                return sock.getpeercert(binary_form=True) != before
        except ssl.SSLError:
            return False
    host.wait(renewed, "the new certificate")
    old.sendall(request)
    assert read_reply(old)[0] == 200
    old.close()
    # One that is broken changes nothing but the journal.
    host.write("cert.pem", "rubbish")
    host.processes["emberd"].send_signal(signal.SIGHUP)
    host.wait(lambda: "cert.pem" in host.read("emberd.log"), "a line about it")
    assert renewed()
    assert host.kill("emberd") == 0
    host.start_emberd(wait=False)
    assert host.processes["emberd"].wait(20) != 0
    del host.processes["emberd"]
    assert host.path("cert.pem") in host.read("emberd.log")


def test_smaller_and_not_again():
    host = NetworkHost()
    host.wait_read("nvme0")
    door = host.doors["https"]
    status, head, body = door.ask("/openapi.json", more="Accept-Encoding: gzip\r\n")
    assert status == 200 and "Content-Encoding: gzip" in head, head
    plain = door.ask("/openapi.json")[2]
    assert gzip.decompress(body) == plain
    tag = next(line for line in head.split("\r\n") if line.startswith("ETag: "))[6:]
    status, head, rest = door.ask("/openapi.json", more=f"Accept-Encoding: gzip\r\nIf-None-Match: {tag}\r\n")
    assert status == 304 and rest == b"" and tag in head, head
    return f"/openapi.json: {len(plain)} bytes, {len(body)} compressed"


def s_client(host, *options):
    """What OpenSSL, which shares nothing with emberd's TLS, says of a handshake: (good, its text)."""
    result = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{host.https}", "-CAfile",
                             host.path("cert.pem"), "-verify_return_error", *options], input=b"",
                            capture_output=True, timeout=60)
    return result.returncode == 0, (result.stdout + result.stderr).decode(errors="replace")


def test_handshakes():
    host = NetworkHost()
    old = ("-cipher", "ALL:@SECLEVEL=0")
    for options in (("-tls1", *old), ("-tls1_1", *old), ("-tls1_2", "-cipher", "AES128-SHA:AES256-SHA"),
                    ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"), ("-tls1_2", "-cipher", "NULL:@SECLEVEL=0")):
        good, text = s_client(host, *options)
        assert not good and "Cipher is (NONE)" in text, (options, text)
    for options, version in ((("-tls1_2",), "TLSv1.2"), (("-tls1_3",), "TLSv1.3"),
                             (("-alpn", "h2,http/1.1"), "TLSv1.3")):
        good, text = s_client(host, *options)
        assert good and f"New, {version}" in text and "Compression: NONE" in text, (options, text)
    # One that stops half way has the time of a request, and no more.
    inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        host.tls.wrap_bio(inside, outside, server_hostname=NAME).do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello, slowest = outside.read(), 0
    begun = time.monotonic()
    stalled = [host.doors["https"].connect(raw=True, timeout=60) for _ in range(50)]
    for sock in stalled:
        sock.sendall(hello)
    while stalled:
        slowest = max(slowest, host.scrape())
        for sock in closed(stalled):
            if not sock.recv(1 << 16):
                stalled.remove(sock)
                sock.close()
        assert time.monotonic() - begun < 30, f"{len(stalled)} are open still"
        time.sleep(0.05)
    assert slowest < 1, f"{slowest:.3f} s"
    return f"closed after {time.monotonic() - begun:.0f} s; slowest scrape {slowest * 1000:.0f} ms"


# -- streams -----------------------------------------------------------------------------------

def open_stream(door, last_id=None):
    sock = door.connect(timeout=30)
    more = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
    sock.sendall(f"GET /v1/events HTTP/1.0\r\n{door.headers()}Accept: text/event-stream\r\n{more}\r\n"
                 .encode())
    return sock


def read_until(sock, wanted, data=b"", patience=30):
    deadline = time.monotonic() + patience
    while wanted not in data:
        assert time.monotonic() < deadline, (wanted, data[-2000:])
        part = sock.recv(65536)
        assert part, (wanted, data[-2000:])
        data += part
    return data


def ids(data):
    return [int(line[4:]) for line in data.split(b"\n") if line.startswith(b"id: ")]


def test_events_as_they_happen():
    """A stream that breaks goes on where it ended, also over a restart of emberd."""
    host = NetworkHost()
    host.wait_read("nvme3")
    sock = open_stream(host.doors["https"])
    data = read_until(sock, b"retry: 3000\n\n")
    begun = time.monotonic()
    host.control("vanish", "nvme3")
    data = read_until(sock, b"event: drive-removed\n", data)
    took = time.monotonic() - begun
    data = read_until(sock, b"}\n\n", data)
    last = ids(data)[-1]
    sock.close()
    host.control("return", "nvme3")
    host.wait(lambda: host.drive("nvme3")["state"] == "ok", "nvme3 to be back")
    assert host.kill("emberd") == 0
    host.start_emberd()
    with open_stream(host.doors["https"], last) as again:
        data = read_until(again, b"event: drive-returned\n")
        assert ids(data)[0] > last and ids(data) == sorted(set(ids(data))), ids(data)
        # Nothing happens now: a sign of life, and no work.
        data = read_until(again, b": alive\n\n", data)
    return f"told after {took * 1000:.0f} ms"


# -- case R41 ----------------------------------------------------------------------------------

def hold_slow_clients(host, count=500):
    """Step 1: COUNT connections at each door, one byte of a request line every 5 s."""
    line = b"GET /metrics HTTP/1.1\r\n"
    slow = {kind: [] for kind in host.doors}
    opened = time.monotonic()
    for kind, door in host.doors.items():
        for _ in range(count):
            sock = door.connect(raw=True)
            slow[kind].append(sock)
    deadline, byte, next_byte, slowest, scrapes = opened + 40, 0, opened, 0, 0
    most = 0
    while any(slow.values()):
        assert time.monotonic() < deadline, {kind: len(rest) for kind, rest in slow.items()}
        if time.monotonic() >= next_byte:
            # What a TLS handshake begins with, at that door.
            for kind, rest in slow.items():
                for sock in rest:
                    send_all(sock, [b"\x16\x03\x01\x01\x00\x01"[byte % 6:byte % 6 + 1]
                                    if kind == "https" else line[byte:byte + 1]])
            byte, next_byte = byte + 1, next_byte + 5
        slowest, scrapes = max(slowest, host.scrape()), scrapes + 1
        most = max(most, host.descriptors())
        for kind, rest in slow.items():
            for sock in closed(rest):
                rest.remove(sock)
                sock.close()
        time.sleep(0.05)
    return slowest, scrapes, most, time.monotonic() - opened


def test_r41_slow_clients():
    lift_descriptors()
    host = NetworkHost()
    host.wait_read("nvme0")
    memory = host.memory_kib()
    slowest, scrapes, most, took = hold_slow_clients(host)
    assert slowest < 1, f"{slowest:.3f} s"
    assert most < 1000, f"{most} descriptors"
    grown = host.memory_kib() - memory
    assert grown < 100 << 10, f"{grown} KiB"
    return (f"1,500 slow clients, the last closed after {took:.0f} s; slowest of {scrapes} scrapes "
            f"at three doors {slowest * 1000:.0f} ms; at most {most} descriptors, {grown // 1024} MiB more")


def blocks(count, size=1 << 16):
    block = b"x" * size
    for _ in range(count):
        yield block


def chunks(count, size=1 << 16):
    chunk = b"%x\r\n" % size + b"x" * size + b"\r\n"
    for _ in range(count):
        yield chunk
    yield b"0\r\n\r\n"


def hostile_requests(door):
    """What, head, the rest, statuses that are right: step 2 and the numbers of step 3."""
    own, post = door.headers(), "POST /v1/tokens HTTP/1.1\r\n"
    history = "GET /v1/drives/nvme0/history?field=temperature_celsius&"
    yield "Content-Length 10 GiB", f"{post}{own}Content-Length: 10737418240\r\n\r\n", blocks(16), {413}
    yield "chunked 100 MiB", f"{post}{own}Transfer-Encoding: chunked\r\n\r\n", chunks(1600), {413}
    yield "Content-Length 50, 1 MiB sent", f"{post}{own}Content-Length: 50\r\n\r\n", blocks(16), \
        {400} if door.kind == "unix" else {413}
    yield "a body for GET", f"GET /v1/health HTTP/1.1\r\n{own}Content-Length: 65537\r\n\r\n", \
        blocks(2), {413}
    yield "two lengths", f"{post}{own}Content-Length: 5\r\nContent-Length: 6\r\n\r\n", (b"{}   x",), \
        {400, 413}
    yield "a negative length", f"{post}{own}Content-Length: -1\r\n\r\n", (), {400}
    yield "10000 headers", f"GET / HTTP/1.1\r\n{own}", (b"X-%d: y\r\n" % n for n in range(10000)), \
        {431, 400}
    yield "a header of 64 KiB", f"GET / HTTP/1.1\r\n{own}X: ", (b"x" * 65536, b"\r\n\r\n"), {431, 400}
    yield "a URL of 100 KiB", "GET /", (b"u" * 102400, f" HTTP/1.1\r\n{own}\r\n".encode()), {414}
    for path, right in (("/v1/drives/%00", {400}), ("/v1/%2e%2e/%2e%2e/etc/passwd", {404}),
                        ("/../../etc/passwd", {404}), ("/v1/drives/nvme0/%zz", {400})):
        yield path, f"GET {path} HTTP/1.1\r\n{own}\r\n", (), right
    for query in ("limit=18446744073709551615", "limit=-1", "limit=1e3", "limit=",
                  "from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", "from=99999999999999999999",
                  "step=0", "nsid=4294967296"):
        yield query, f"{history}{query} HTTP/1.1\r\n{own}\r\n", (), {400}


def test_r41_hostile_requests():
    host = NetworkHost()
    host.wait_read("nvme0")
    tokens = host.get("/v1/tokens")["tokens"]
    memory, slowest, asked = host.memory_kib(), 0, 0
    for door in host.doors.values():
        for what, head, rest, right in hostile_requests(door):
            with door.connect() as sock:
                send_all(sock, itertools.chain((head.encode(),), rest))
                status, answer, _ = read_reply(sock)
            assert status in right, (door.kind, what, status, answer)
            slowest, asked = max(slowest, host.scrape()), asked + 1
    assert slowest < 1, f"{slowest:.3f} s"
    # Nothing was started by any of it.
    assert [t["id"] for t in host.get("/v1/tokens")["tokens"]] == [t["id"] for t in tokens]
    grown = host.memory_kib("VmHWM") - memory
    assert grown < 100 << 10, f"{grown} KiB"
    return f"{asked} hostile requests; slowest scrape {slowest * 1000:.0f} ms; {grown // 1024} MiB more"


def fill_history(host, drive, rows):
    now = int(time.time() * 1e6)
    database = sqlite3.connect(host.path("state/ember.db"), timeout=20)
    with database:
        database.executemany(
            "INSERT INTO smart (drive, nsid, at, bytes_written) VALUES (?, 0, ?, ?)",
            ((drive, now - (1 + row) * 100000, "174224571863520493293247799005065324264960000")
             for row in range(rows)))
    database.close()


def read_slowly(sock, stop, got):
    sock.settimeout(0.1)
    while not stop.wait(1):
        try:
            got.append(len(sock.recv(1024)))
        except (TimeoutError, ssl.SSLWantReadError):
            pass
        except OSError:
            return


def test_r41_slow_readers_of_histories():
    """Step 3: 20 MiB and more of histories are read at 1 KiB/s at each door."""
    host = NetworkHost(poll={"smart_interval": "200ms"})
    host.wait_read("nvme0")
    fill_history(host, host.drive("nvme0")["id"], 100000)
    path = "/v1/drives/nvme0/history?field=bytes_written&limit=100000"
    memory, stop, threads, readers = host.memory_kib(), threading.Event(), [], []
    for door in host.doors.values():
        for _ in range(3):
            sock = door.connect(receive_buffer=4096)
            sock.sendall(f"GET {path} HTTP/1.1\r\n{door.headers()}\r\n".encode())
            assert sock.recv(12).startswith(b"HTTP/1.1"), door.kind
            got = []
            readers.append((door.kind, sock, got))
            threads.append(threading.Thread(target=read_slowly, args=(sock, stop, got)))
            threads[-1].start()
    written = host.get("/v1/health")["store"]["written_total"]
    slowest, begun, scrapes = 0, time.monotonic(), 0
    while time.monotonic() - begun < 5 or host.get("/v1/health")["store"]["written_total"] < written + 20:
        slowest, scrapes = max(slowest, host.scrape()), scrapes + 1
        assert time.monotonic() - begun < 30, "the store does not write"
    # Nobody reads the database any more, or this would say that it is busy.
    database = sqlite3.connect(host.path("state/ember.db"), timeout=5)
    busy = database.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0]
    database.close()
    grown = host.memory_kib("VmHWM") - memory
    stop.set()
    for thread in threads:
        thread.join()
    for kind, sock, got in readers:
        assert sum(got) > 0, f"the reader at {kind} got nothing"
        sock.close()
    assert slowest < 1, f"{slowest:.3f} s"
    assert busy == 0
    assert grown < 200 << 10, f"{grown} KiB"
    return f"{len(readers)} slow readers; slowest of {scrapes} scrapes {slowest * 1000:.0f} ms; {grown // 1024} MiB more"


def read_history(door, path):
    """(status, what is wrong); asks again when the disk was too slow for it."""
    while True:
        status, head, body = door.ask(path)
        detail = "" if status == 200 else json.loads(body)["detail"]
        assert status == 200 or (status == 503 and "Retry-After: " in head), (status, head, detail)
        if "too long" not in detail:
            return status, detail


def test_slow_readers_at_one_door():
    """They use up what one listener may have on its way; small replies and other doors have theirs.
    A history is larger than what the kernel takes of it for a socket."""
    host = NetworkHost()
    host.wait_read("nvme0")
    fill_history(host, host.drive("nvme0")["id"], 100000)
    path = "/v1/drives/nvme0/history?field=bytes_written&limit=100000"
    door, readers = host.doors["tcp"], []
    while read_history(door, path)[0] == 200:
        assert len(readers) < 100, "nothing was refused"
        sock = door.connect(receive_buffer=4096)
        readers.append(sock)
        sock.sendall(f"GET {path} HTTP/1.1\r\n{door.headers()}\r\n".encode())
        assert sock.recv(9) == b"HTTP/1.1 "
    assert "slow readers" in read_history(door, path)[1]
    slowest = host.scrape()
    assert slowest < 1, f"{slowest:.3f} s"
    for other in ("unix", "https"):
        assert read_history(host.doors[other], path)[0] == 200, other
    for sock in readers:
        sock.close()
    # What they had is free again.
    host.wait(lambda: read_history(door, path)[0] == 200, "room for a history")
    return f"{len(readers)} histories read slowly; slowest scrape {slowest * 1000:.0f} ms"


def test_waiting_costs_nothing():
    host = NetworkHost(poll={"smart_interval": "1h"})
    host.wait_read("nvme7")
    streams = [open_stream(door) for door in host.doors.values() for _ in range(5)]
    for sock in streams:
        read_until(sock, b"retry: 3000\n\n")
    begun, used = time.monotonic(), host.cpu_seconds()
    host.wait(lambda: time.monotonic() - begun > 2, "two seconds")
    used = host.cpu_seconds() - used
    for sock in streams:
        sock.close()
    assert used < 0.1, f"{used:.2f} s"
    return f"{used:.2f} s of CPU in 2 s beside {len(streams)} streams"
