# SPDX-License-Identifier: Apache-2.0
"""A host that listens for the network too, and its doors: the three ways to ask emberd something."""
import json
import os
import select
import socket
import ssl
import subprocess
import time

from harness import Host

NAME = "storage-7.example"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificate(directory, days=30):
    """Replaces DIRECTORY/cert.pem and key.pem, as a tool that renews them would."""
    paths = [os.path.join(directory, name) for name in ("key.pem", "cert.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-keyout", paths[0] + ".new", "-out", paths[1] + ".new", "-days", str(days), "-subj",
         f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1"],
        check=True, capture_output=True, timeout=60)
    for path in paths:
        os.rename(path + ".new", path)
    return paths[1], paths[0]


class Door:
    """One way in: connect() gives a socket, headers() what a request of it needs."""

    def __init__(self, host, kind):
        self.host, self.kind = host, kind

    def connect(self, timeout=20, raw=False, receive_buffer=None):
        if self.kind == "unix":
            sock, address = socket.socket(socket.AF_UNIX), self.host.path("emberd.sock")
        else:
            sock = socket.socket()
            address = ("127.0.0.1", self.host.https if self.kind == "https" else self.host.tcp)
            # As libraries for HTTP do: else a first request waits for a late acknowledgement.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(timeout)
        sock.connect(address)
        if self.kind == "https" and not raw:
            sock = self.host.tls.wrap_socket(sock, server_hostname=NAME)
        return sock

    def headers(self, token=None):
        if self.kind == "unix":
            return "Host: localhost\r\n"
        if self.kind == "tcp":
            return f"Host: 127.0.0.1:{self.host.tcp}\r\n"
        return f"Host: {NAME}\r\nAuthorization: Bearer {token or self.host.token}\r\n"

    def ask(self, path, method="GET", more="", timeout=20, token=None):
        """(status, head, body)"""
        with self.connect(timeout) as sock:
            sock.sendall(f"{method} {path} HTTP/1.1\r\n{self.headers(token)}Connection: close\r\n"
                         f"{more}\r\n".encode())
            return read_reply(sock)


def split_reply(data):
    head, _, body = data.partition(b"\r\n\r\n")
    words = head.split(b"\r\n")[0].split()
    return int(words[1]) if len(words) > 1 else 0, head.decode("latin-1"), body


def is_whole(data):
    status, head, body = split_reply(data)
    lengths = [line.split(":")[1] for line in head.lower().split("\r\n")
               if line.startswith("content-length:")]
    return b"\r\n\r\n" in data and (status in (204, 304) or
                                    (lengths and len(body) >= int(lengths[0])))


def read_reply(sock):
    """Until it is whole, or the other end closes or dies."""
    data = b""
    try:
        while not is_whole(data) and (part := sock.recv(1 << 20)):
            data += part
    except (ConnectionError, ssl.SSLError):
        pass
    return split_reply(data)


def send_all(sock, parts):
    """Sends what it can: the reply to what was too much may come first."""
    try:
        for part in parts:
            sock.sendall(part)
    except OSError:
        return False
    return True


class NetworkHost(Host):
    """A Host with all three doors and a token; .doors by kind."""

    def __init__(self, start=True, **kwargs):
        self.tcp, self.https = free_port(), free_port()
        super().__init__(start=False, listen=f"127.0.0.1:{self.tcp}", **kwargs)
        certificate, key = make_certificate(self.dir)
        with open(self.path("emberd.conf"), "a", encoding="utf-8") as file:
            file.write(f"[https]\nlisten = 127.0.0.1:{self.https}\ncertificate = {certificate}\n"
                       f"key = {key}\n")
        self.trust()
        self.doors = {kind: Door(self, kind) for kind in ("unix", "tcp", "https")}
        # Freed memory that a sanitizer keeps back is not what a test of limits wants to see.
        self.env["ASAN_OPTIONS"] = self.env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"
        self.token = self.token_id = None
        if start:
            self.start_broker()
            self.start_emberd()
            self.token_id, self.token = self.make_token("prometheus")

    def trust(self):
        """Believe the certificate that is on the disk now, and no other."""
        self.tls = ssl.create_default_context(cafile=self.path("cert.pem"))

    def make_token(self, name):
        lines = self.emberctl("token", "create", name, "--json").stdout
        document = json.loads(lines)
        return document["id"], document["token"]

    def emberd(self):
        return self.processes["emberd"].pid

    def memory_kib(self, key="VmRSS"):
        with open(f"/proc/{self.emberd()}/status", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith(key + ":")).split()[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.emberd()}/fd"))

    def cpu_seconds(self):
        with open(f"/proc/{self.emberd()}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def scrape(self):
        """Seconds that a normal GET /metrics takes, at the slowest of all doors."""
        slowest = 0
        for door in self.doors.values():
            begun = time.monotonic()
            status, _, body = door.ask("/metrics")
            slowest = max(slowest, time.monotonic() - begun)
            assert status == 200 and b"ember_build_info" in body, (door.kind, status, body[:300])
        return slowest


def closed(sockets):
    """Those whose other end has closed; nothing is expected from it otherwise."""
    poll, by_number = select.poll(), {sock.fileno(): sock for sock in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(0)]
