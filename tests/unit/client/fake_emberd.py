# SPDX-License-Identifier: Apache-2.0
"""A few lines of emberd: fixed answers over a unix socket, for the tests of emberctl."""
import json
import os
import socket
import socketserver
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOSTILE = "EVIL\x1b[31m\x07\x9b2J\x7f\u202eX"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer("")

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answer("POST ")

    def do_DELETE(self):
        self.answer("DELETE ")

    def answer(self, method):
        """Answers stand under "/path" or "POST /path"; a list gives one after the other."""
        self.server.seen.append(method + self.path)
        path = self.path.split("?")[0]
        answer = self.server.answers.get(method + self.path) or self.server.answers.get(method + path)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if answer is None:
            answer = problem(404, "Not Found", f"There is nothing at {path}.")
        if callable(answer):
            answer(self)
            return
        status, kind, body = answer
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self):
        return "client"

    def log_message(self, *args):
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        pass  # a client that went away


def document(value):
    return (200, "application/json", json.dumps(value, ensure_ascii=False).encode())


def created(value, status=201):
    return (status, *document(value)[1:])


def problem(status, title, detail=None):
    value = {"type": "about:blank", "title": title, "status": status}
    if detail:
        value["detail"] = detail
    return (status, "application/problem+json", json.dumps(value).encode())


class FakeEmberd:
    """with FakeEmberd(directory, answers) as server: server.path, server.seen"""

    def __init__(self, directory, answers):
        self.path = os.path.join(directory, "emberd.sock")
        self.server = self.make()
        self.server.answers = answers
        self.server.seen = []
        self.seen = self.server.seen

    def make(self):
        return Server(self.path, Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args):
        self.server.shutdown()
        self.server.server_close()
        self.remove()

    def remove(self):
        os.unlink(self.path)


class TlsServer(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


class FakeTlsEmberd(FakeEmberd):
    """The same over TLS on the loopback address: server.url, server.cert."""

    def make(self):
        self.cert = self.path + ".pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-keyout", self.cert + ".key", "-out", self.cert, "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, capture_output=True, timeout=60)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.cert + ".key")
        server = TlsServer(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        self.url = f"https://localhost:{server.server_address[1]}"
        return server

    def remove(self):
        pass


def summary(device, **changes):
    smart = {"read_at": "2026-11-30T21:22:23.456Z", "age_seconds": 12.3,
             "interval_seconds": 60, "valid": True,
             "critical_warning": 0, "critical_warning_bits": [], "temperature_celsius": 38,
             "percentage_used": 3, "available_spare_percent": 100, "media_errors": "0",
             "power_on_hours": "5123"}
    smart.update(changes.pop("smart", {}))
    drive = {"id": "0123456789abcdef", "device": device, "serial": "SH" + device + "0001",
             "model": "P6530DTM0384T00", "firmware": "2.1.0F", "subsystem_nqn": "nqn.2014-08.org." + device,
             "address": "0000:01:00.0", "transport": "pcie", "controller_id": "1", "state": "ok",
             "health": "ok", "health_reason": None,
             "state_since": "2026-11-30T18:00:00.000Z", "state_detail": "",
             "last_answer_at": "2026-11-30T21:22:23.456Z", "smart": smart,
             "capacity_bytes": "3840755982336"}
    drive.update(changes)
    return drive


def drives():
    no_smart = {key: None for key in summary("x")["smart"]}
    no_smart["valid"] = False
    return {"at": "2026-11-30T21:22:35.000Z", "drives": [
        summary("nvme0"),
        summary("nvme1", health="failing", health_reason="Its media can only be read.", smart={"critical_warning": 12, "critical_warning_bits":
                                ["reliability_degraded", "media_read_only"]}),
        summary("nvme2", state="unresponsive", health="unknown", health_reason="It does not answer.", smart={"age_seconds": 7300.0}),
        summary("nvme3", health="unknown", health_reason="There is no reading.", smart=no_smart),
        summary("nvme4", model=HOSTILE, serial=HOSTILE, firmware=HOSTILE)]}


def page(key, values, **changes):
    value = {"drive": "0123456789abcdef", "device": "nvme0", "serial": "SHnvme00001", "page": key,
             "state": "ok", "status": "ok", "status_detail": None,
             "attempted_at": "2026-11-30T21:22:23.456Z", "read_at": "2026-11-30T21:22:23.456Z",
             "age_seconds": 12.3, "valid": True, "values": values}
    value.update(changes)
    return value


def smart_values():
    values = {"critical_warning": 2, "critical_warning_bits": ["temperature_out_of_range"],
              "temperature_celsius": -5, "available_spare_percent": 100, "percentage_used": 3,
              "bytes_written": "340282366920938463463374607431768211455",
              "bytes_read": "3840755982336", "power_on_hours": "5123", "media_errors": "1234567",
              "data_units_read": "7501477"}
    for sensor in range(1, 9):
        values[f"temperature_sensor_{sensor}_celsius"] = 40 if sensor == 1 else None
    return values


def show_answers():
    drive = summary("nvme0")
    drive.update(pages=[
        {"page": "smart", "status": "ok", "status_detail": None, "age_seconds": 12.3,
         "attempted_at": None, "read_at": None, "interval_seconds": 60},
        {"page": "selftest", "status": "refused", "status_detail": "invalid log page",
         "age_seconds": None, "attempted_at": None, "read_at": None, "interval_seconds": 300}],
        namespaces=[1], polls={})
    base = "/v1/drives/0123456789abcdef"
    namespaces = {"namespaces": [
        {"nsid": 1, "status": "ok", "age_seconds": 200.0, "valid": True, "read_at": None,
         "values": {"size_bytes": "3840755982336", "utilization_bytes": "1000000000000",
                    "block_size_bytes": 4096, "nguid": "00112233445566778899aabbccddeeff",
                    "write_protected": False}}]}
    firmware = {"active_slot": 2, "next_reset_slot": None, "slots": [
        {"slot": 1, "revision": "2.0.9F", "read_only": True},
        {"slot": 2, "revision": "2.1.0F", "read_only": False},
        {"slot": 3, "revision": None, "read_only": False}]}
    return {
        "/v1/drives/nvme0": document(drive),
        base + "/identify": document(page("identify", {"version": "1.4",
                                                       "total_capacity_bytes": "3840755982336"})),
        base + "/smart": document(page("smart", smart_values())),
        base + "/firmware": document(page("firmware", firmware)),
        base + "/selftest": document(page("selftest", {"results": None}, status="refused",
                                          status_detail="invalid log page", valid=False,
                                          age_seconds=None, read_at=None)),
        base + "/namespaces": document(namespaces)}


def close_early(handler):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    handler.connection.shutdown(socket.SHUT_RDWR)


HEALTH = {"status": "degraded", "reasons": ["the broker is not connected"], "version": "9.9.9",
          "started_at": "2026-11-30T18:00:00.000Z", "uptime_seconds": 90,
          "broker": {"connected": False, "requests_total": 1234567},
          "store": {"status": "ok", "detail": None, "queued": 0, "written_total": 5,
                    "dropped_total": 0},
          "listeners": [{"kind": "unix", "address": "/run/x"}, {"kind": "https", "address": "[::1]:9443"}],
          "certificate_expires_at": "2027-01-01T00:00:00.000Z",
          "drives": {"total": 3, "ok": 2, "busy": 0, "unresponsive": 1, "removed": 0,
                     "retired": 0}}

TOKENS = {"tokens": [{"id": "3f2a", "name": "prometheus", "role": "viewer",
                      "created_at": "2026-11-30T18:00:00.000Z", "expires_at": None,
                      "last_used_at": "2026-11-30T21:22:23.456Z"}]}


def event(number, **changes):
    value = {"id": str(number), "at": f"2026-11-30T21:00:{number % 60:02}.000Z", "kind": "drive-renamed",
             "change": True, "drive": "0123456789abcdef", "device": "nvme0", "serial": "SHnvme00001",
             "nsid": None, "subject": None, "old_value": "nvme1", "new_value": "nvme0",
             "summary": f"nvme1 is called nvme0 now ({number})."}
    value.update(changes)
    return value


def events(*numbers, newest=None, cursor=None, **changes):
    return document({"events": [event(number, **changes) for number in numbers],
                     "next_cursor": cursor, "newest_id": newest})


def stream(text, seen):
    """Sends text as a stream of events and ends the connection; notes what was asked for."""
    def send(handler):
        seen.append((handler.path, handler.headers.get("Last-Event-ID"), handler.headers.get("Accept")))
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                            b"Connection: close\r\n\r\n" + text.encode())
        handler.close_connection = True
    return send


def as_stream(number, **changes):
    return f"id: {number}\nevent: drive-renamed\ndata: {json.dumps(event(number, **changes))}\n\n"
