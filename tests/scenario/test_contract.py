# SPDX-License-Identifier: Apache-2.0
"""Every route in every situation: each reply must be what /openapi.json says it may be."""
import http.client
import json
import os
import pwd
import socket
import sqlite3
import ssl
import subprocess
import time
import urllib.parse

import harness
from contract import Contract
from network import NetworkHost, read_reply, send_all

FAST = {"smart_interval": "50ms", "firmware_interval": "100ms", "selftest_interval": "100ms",
        "identify_interval": "100ms"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask_history(contract, drive, path):
    """Of every field that has one: the keys of the pages, as far as they are known."""
    for field in ("temperature_celsius", "power_on_hours", "critical_warning", "percentage_used",
                  "bytes_written", "active_slot", "in_progress"):
        for query in ({}, {"from": "-1h", "step": "1min"}, {"limit": "1"}):
            contract.ask("GET", path, id=drive, query={"field": field, **query})


def ask_everything(contract):
    """Each GET, of each drive, also as HEAD and, where there is an ETag, once more with it."""
    drives = [drive["id"] for drive in contract.host.get("/v1/drives")["drives"]]
    for method, path, operation in contract.operations("GET"):
        for drive in drives if "{id}" in path else [""]:
            if path.endswith("/history"):
                ask_history(contract, drive, path)
                continue
            contract.ask("GET", path, id=drive)
            contract.ask("HEAD", path, id=drive)
    ask_again(contract)
    ask_parts(contract)


def ask_again(contract):
    for _, path, operation in contract.operations("GET"):
        if "ETag" not in operation["responses"]["200"].get("headers", {}):
            continue
        _, headers, _ = contract.host.request(path)
        contract.ask("GET", path, headers={"If-None-Match": headers["ETag"]}, expect=304)
        contract.ask("GET", path, headers={"If-None-Match": '"another"'}, expect=200)


def ask_parts(contract):
    """A list in parts is the list."""
    for path, key, query in (("/v1/drives", "drives", {}),
                             ("/v1/events", "events", {"order": "oldest"}),
                             ("/v1/events", "events", {"order": "newest"}),
                             ("/v1/changes", "events", {})):
        whole = contract.ask("GET", path, query=query)[1][key]
        parts, cursor = [], None
        while cursor or not parts:
            page = contract.ask("GET", path, expect=200, query={
                **query, "limit": 3, **({"cursor": cursor} if cursor else {})})[1]
            parts += page[key]
            cursor = page["next_cursor"]
            if not page[key]:
                break
        ids = [entry["id"] for entry in parts]
        assert ids[:len(whole)] == [entry["id"] for entry in whole], f"{path} {query}: {ids}"


def read_all(host):
    for device in host.devices():
        for page in ("smart", "identify", "firmware"):
            host.wait_read(device, page)


def test_healthy_drives():
    host = harness.Host(poll=FAST)
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    read_all(host)
    contract = Contract(host)
    ask_everything(contract)
    return f"{sum(len(item) for item in contract.document['paths'].values())} operations"


def test_judge_is_strict():
    """What the document does not have is seen: without this the other tests might see nothing."""
    host = harness.Host()
    host.wait_read("nvme0")

    def change(function, *arguments, **keywords):
        contract = Contract(host)
        contract.ask(*arguments, **keywords)
        function(contract.document)
        try:
            contract.ask(*arguments, **keywords)
        except AssertionError:
            return
        raise AssertionError(f"{arguments} passed all the same")

    def schema(document, name):
        return document["components"]["schemas"][name]

    drive = ("GET", "/v1/drives/{id}")
    change(lambda d: schema(d, "health")["properties"].pop("version"), "GET", "/v1/health")
    change(lambda d: schema(d, "health")["required"].append("more"), "GET", "/v1/health")
    change(lambda d: schema(d, "polls")["properties"].pop("misses"), *drive, id="nvme0")
    change(lambda d: schema(d, "drive")["properties"]["state"]["enum"].remove("ok"), *drive,
           id="nvme0")
    change(lambda d: schema(d, "drive")["properties"]["device"].update(type="integer"), *drive,
           id="nvme0")
    change(lambda d: schema(d, "page_smart")["properties"]["page"].update(const="x"), "GET",
           "/v1/drives/{id}/smart", id="nvme0")
    change(lambda d: d["paths"]["/v1/drives/{id}"]["get"]["responses"].pop("404"), *drive, id="no")
    change(lambda d: schema(d, "problem")["properties"].pop("detail"), *drive, id="no")
    change(lambda d: d["components"]["responses"]["405"].pop("headers"), "PUT", "/v1/drives")
    change(lambda d: d["paths"]["/openapi.json"]["get"]["responses"]["200"].pop("headers"), "GET",
           "/openapi.json")
    change(lambda d: d["paths"]["/metrics"]["get"]["responses"]["200"].update(
        content={"text/plain": {"schema": {"type": "string"}}}), "GET", "/metrics")


def test_drives_in_trouble():
    host = harness.Host(poll=FAST, patience="300ms", start=False)
    page = host.write("ones.hex", "".join(f"{at:08x}: " + "ff" * 16 + "\n"
                                          for at in range(0, 512, 16)))
    host.control("refuse", "nvme0", "get-log", "0x03", "0x4109")
    host.control("refuse", "nvme0", "get-log", "0x06", "0x4109")
    host.control("page", "nvme1", "smart", page)
    host.control("page", "nvme2", "firmware", page)
    host.control("short", "nvme3", "get-log", "0x02", "100")
    host.control("refuse", "nvme4", "identify", "0x4002")
    host.start_broker()
    host.start_emberd()
    host.wait(lambda: len(host.devices()) >= 7, "the drives")
    host.wait_read("nvme1")
    host.wait_read("nvme6")
    host.control("hang", "nvme5")
    gone = host.wait_read("nvme6")["serial"]
    host.control("vanish", "nvme6")
    host.control("state", "nvme7", "resetting")
    host.wait(lambda: host.drive("nvme5")["state"] == "unresponsive", "nvme5 to be unresponsive")
    host.wait(lambda: host.drive(gone)["state"] == "removed", "nvme6 to be removed")
    host.wait(lambda: host.drive("nvme7")["state"] == "busy", "nvme7 to be busy")
    contract = Contract(host)
    ask_everything(contract)
    contract.ask("POST", "/v1/drives/{id}/retire", id=gone, expect=200)
    ask_everything(contract)
    states = {drive["state"] for drive in host.get("/v1/drives")["drives"]}
    assert states >= {"ok", "busy", "unresponsive", "retired"}, states
    for state in sorted(states):
        shown = contract.ask("GET", "/v1/drives", query={"state": state})[1]["drives"]
        assert {drive["state"] for drive in shown} == {state}


def test_before_any_drive():
    """emberd alone: no broker, and so nothing to show; then with a broker that has just come."""
    host = harness.Host(start=False)
    host.start_emberd()
    contract = Contract(host)
    assert contract.ask("GET", "/v1/drives", expect=200)[1]["drives"] == []
    assert contract.ask("GET", "/v1/health", expect=200)[1]["status"] == "degraded"
    ask_everything(contract)
    host.start_broker()
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    ask_everything(contract)


def test_orders():
    host = harness.Host(poll=FAST)
    serial = host.wait_read("nvme2")["serial"]
    contract = Contract(host)
    for refused in ("false", "true"):
        status, reply = contract.ask("POST", "/v1/drives/{id}/refresh", id=serial, expect=202,
                                     query={"refused": refused})
        assert "smart" in reply["pages"]
        host.wait(lambda: host.get(f"/v1/drives/{serial}/smart")["attempted_at"]
                  >= reply["requested_at"], "the refreshed page")
    contract.ask("POST", "/v1/drives/{id}/retire", id=serial, expect=409)
    contract.ask("POST", "/v1/drives/{id}/unretire", id=serial, expect=409)
    host.control("vanish", "nvme2")
    host.wait(lambda: host.drive(serial)["state"] == "removed", "the drive to be removed")
    contract.ask("POST", "/v1/drives/{id}/refresh", id=serial, expect=409)
    reply = contract.ask("POST", "/v1/drives/{id}/retire", id=serial, expect=200)[1]
    assert reply["state"] == "retired"
    host.kill("emberd")
    host.start_emberd()
    assert host.drive(serial)["state"] == "retired", "it was not on the disk"
    reply = contract.ask("POST", "/v1/drives/{id}/unretire", id=serial, expect=200)[1]
    assert reply["state"] == "removed"


def test_self_tests():
    host = harness.Host(poll=FAST, policy="[default]\ntest = allow\n[drive SH203300026]\ntest = deny\n")
    host.wait_read("nvme0", "selftest")
    host.wait_read("nvme1", "selftest")
    contract = Contract(host)
    path = "/v1/drives/{id}/selftest"
    contract.ask("POST", path, id="nvme0", query={"test": "extended"}, expect=202)
    contract.ask("POST", path, id="nvme0", query={"test": "short"}, expect=409)
    host.wait(lambda: contract.ask("GET", path, id="nvme0")[1]["values"]["in_progress"], "the test")
    contract.ask("POST", path, id="nvme0", query={"test": "abort"}, expect=202)
    contract.ask("POST", path, id="nvme1", query={"test": "short"}, expect=403)


def test_tokens():
    host = harness.Host()
    contract = Contract(host)
    assert contract.ask("GET", "/v1/tokens", expect=200)[1] == {"tokens": []}
    made = [contract.ask("POST", "/v1/tokens", body=body, expect=201)[1] for body in (
        {"name": "prometheus"}, {"name": "a person", "role": "viewer", "expires_in": "90d"})]
    contract.ask("POST", "/v1/tokens", body={"name": "prometheus"}, expect=409)
    for body in ("", "{", "[]", '"x"', '{"name":"a","name":"b"}', '{"name":"a","more":"b"}',
                 '{"name":1}', '{"name":null}', "{}", '{"name":""}', '{"name":" a"}',
                 '{"name":"a\\u0000b"}', '{"name":"\u00e4"}', '{"name":"a","role":"admin"}',
                 '{"name":"a","expires_in":"soon"}', '{"name":"a","expires_in":"1s"}',
                 '{"name":"' + "a" * 65 + '"}', '{"name":"' + "a" * 1000 + '"}',
                 '{"name":"a"} {}', "\xff"):
        contract.ask("POST", "/v1/tokens", body=body.encode(), expect=400)
    listed = contract.ask("GET", "/v1/tokens", expect=200)[1]["tokens"]
    assert [token["name"] for token in listed] == ["prometheus", "a person"]
    text = str(listed) + host.read("emberd.log")
    for token in made:
        assert token["token"] not in text, "a secret was told twice"
        contract.ask("DELETE", "/v1/tokens/{token}", token=token["id"], expect=204)
        contract.ask("DELETE", "/v1/tokens/{token}", token=token["id"], expect=404)
    assert contract.ask("GET", "/v1/tokens", expect=200)[1] == {"tokens": []}


def bad_values(schema):
    """Values that a parameter's schema does not allow."""
    if "enum" in schema:
        return ["", "nonsense"]
    if schema["type"] == "array":
        return bad_values(schema["items"]) + [schema["items"]["enum"][0] + ",nonsense"]
    if schema["type"] == "integer":
        return ["", "-1", "1.5", "nonsense", str(schema["maximum"] + 1)]
    if schema["type"] == "boolean":
        return ["", "nonsense"]
    return [""] if "minLength" in schema else ["", "\n"]


def good_value(schema):
    if "enum" in schema:
        return schema["enum"][0]
    return "1" if schema["type"] == "integer" else "temperature_celsius"


def required_query(operation):
    return {parameter["name"]: good_value(parameter["schema"])
            for parameter in operation["parameters"]
            if parameter["in"] == "query" and parameter["required"]}


# Refused by what it says, before a byte of it has come.
TOO_LONG = {"Content-Length": "70000"}


def ask_badly(contract, method, path, operation):
    """What every route refuses, one by one."""
    parts = {"id": "nvme0", "token": "0123456789abcdef"}
    body = '{"name":"x"}' if "requestBody" in operation else None
    good = required_query(operation)
    contract.ask(method, path, body=body, query={**good, "nonsense": "1"}, expect=400, **parts)
    for parameter in operation["parameters"]:
        if parameter["in"] != "query":
            continue
        for value in bad_values(parameter["schema"]):
            contract.ask(method, path, body=body, expect=400, **parts,
                         query={**good, parameter["name"]: value})
    contract.ask(method, path, headers=TOO_LONG, query=good, expect=413, **parts)
    if not body:
        contract.ask(method, path, body="x", query=good, expect=413, **parts)
    if "{id}" in path:
        contract.ask(method, path, body=body, query=good, expect=404, id="nope")
        contract.ask(method, path, body=body, query=good, expect=409, id="TWIN")


TWINS = """\
[drive nvme0]
product = 6530
serial = OTHER1
[drive nvme1]
product = 6530
serial = TWIN0001
[drive nvme2]
product = 6530
serial = TWIN0002
"""


def test_bad_requests():
    host = harness.Host(scenario=TWINS)
    host.wait(lambda: len(host.devices()) == 3, "three drives")
    contract = Contract(host)
    for method, path, operation in contract.operations():
        ask_badly(contract, method, path, operation)
    for path in contract.document["paths"]:
        parts = {"id": "nvme0", "token": "x"}
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            if not contract.operation(method, path):
                contract.ask(method, path, expect=405, **parts)
                contract.ask(method, path, headers=TOO_LONG, expect=413, **parts)
    contract.ask("GET", "/v1/nothing", expect=404)
    for path in ("/v1/events", "/v1/changes"):
        contract.ask("GET", path, query={"drive": "TWIN"}, expect=409)
        contract.ask("GET", path, query={"drive": "nope"}, expect=404)
    drives = contract.ask("GET", "/v1/drives", query={"limit": 1})[1]
    for cursor, query in ((drives["next_cursor"], {"state": "ok"}),
                          (drives["next_cursor"][:-1] + "0", {}), ("00", {}), ("00" * 60, {})):
        if cursor != drives["next_cursor"] or query:
            contract.ask("GET", "/v1/drives", query={"cursor": cursor, **query}, expect=400)
            contract.ask("GET", "/v1/events", query={"cursor": cursor}, expect=400)
    contract.ask("GET", "/v1/events", query={"limit": 5}, headers={"Accept": "text/event-stream"},
                 expect=400)
    contract.ask("GET", "/v1/events", headers={"Last-Event-ID": "x"}, expect=400)
    return f"{sum(len(statuses) for statuses in contract.seen.values())} kinds of answers"


def no_requests(own):
    """What, and the bytes: none of it is a request that any reader would agree upon."""
    host = own.partition("\r\n")[0] + "\r\n"
    rest = own[len(host):]
    get, post = "GET /v1/health HTTP/1.1\r\n", "POST /v1/tokens HTTP/1.1\r\n"
    yield "bytes", "".join(map(chr, range(256))) + "\r\n\r\n"
    yield "a word", "GARBAGE\r\n\r\n"
    yield "HTTP/9.9", f"GET / HTTP/9.9\r\n{own}\r\n"
    yield "HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    yield "no Host", f"{get}{rest}\r\n"
    yield "two of Host", f"{get}{own}{host}\r\n"
    yield "a blank in the path", f"GET /v1/he alth HTTP/1.1\r\n{own}\r\n"
    yield "a line that is no header", f"{get}{own}nonsense\r\n\r\n"
    yield "a path too long", f"GET /{'u' * 30000} HTTP/1.1\r\n{own}\r\n"
    yield "a header too long", f"{get}{own}X: {'x' * 30000}\r\n\r\n"
    yield "too many headers", get + own + "".join(f"X-{n}: y\r\n" for n in range(3000)) + "\r\n"
    for length in ("+3", "0x3", "3, 3", "-1", "9" * 30):
        yield f"Content-Length: {length}", f"{post}{own}Content-Length: {length}\r\n\r\nabc"
    yield "two lengths", f"{post}{own}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    yield "an unknown coding", f"{post}{own}Transfer-Encoding: gzip\r\n\r\nabc"
    yield "a broken chunk", f"{post}{own}Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"


def test_what_is_no_http():
    """At each door: refused in a documented way, by one reply at most, and the connection ends."""
    host = NetworkHost()
    replies = Contract(host).document["components"]["responses"]
    seen = {}
    for kind, door in host.doors.items():
        for what, request in no_requests(door.headers()):
            with door.connect() as sock:
                send_all(sock, [request.encode("latin-1")])
                status, head, body = read_reply(sock)
                where = f"{kind}, {what}: {status}"
                assert status == 0 or str(status) in replies and status >= 400, where
                seen.setdefault(status, []).append(where)
                if "problem+json" in head:
                    assert json.loads(body)["status"] == status, where
                elif status:
                    assert "Connection: close" in head, where
        assert door.ask("/v1/health")[0] == 200
    assert {400, 413, 414, 431, 505} <= set(seen), seen
    # Only what nobody could answer stays unanswered.
    assert all("a word" in where for where in seen.get(0, [])), seen[0]
    return f"{sum(map(len, seen.values()))} of them: {sorted(seen)}"


def test_others_of_this_host():
    """Over TCP all may read and nobody change anything; over the socket only admins change."""
    host = harness.Host(listen=f"127.0.0.1:{free_port()}")
    host.wait_read("nvme0")
    contract = Contract(host, tcp=True)
    for method, path, operation in contract.operations():
        parts, query = {"id": "nvme0", "token": "x"}, required_query(operation)
        body = '{"name":"x"}' if "requestBody" in operation else None
        contract.ask(method, path, query=query, expect=421, headers={"Host": "evil.example"},
                     **parts)
        contract.ask(method, path, query=query, expect=403, headers={
            "Origin": "http://evil.example"}, **parts)
        if method != "GET":
            status = contract.ask(method, path, body=body, query=query, **parts)[0]
            assert status in (405, 413), f"{method} {path}: {status}"
            continue
        wanted = 403 if operation["x-role"] == "admin" else 200
        contract.ask(method, path, query=query, expect=wanted, **parts)
        contract.ask("HEAD", path, query=query, expect=wanted, **parts)
        contract.ask("OPTIONS", path, query=query, expect=403, headers={
            "Origin": "http://evil.example", "Access-Control-Request-Method": method}, **parts)
    return as_another_user(host)


def as_another_user(host):
    if harness.other_user() is None:
        return "not as another user: needs root"
    contract = Contract(host)
    for method, path, operation in contract.operations():
        if operation["x-role"] != "admin":
            continue
        target = path.replace("{id}", "nvme0").replace("{token}", "x") + \
            "?" + urllib.parse.urlencode(required_query(operation))
        body = '{"name":"x"}' if "requestBody" in operation else ""
        answer = ask_as_nobody(host.path("emberd.sock"), method, target, body)
        assert answer.startswith("HTTP/1.1 403 "), f"{method} {target}: {answer[:200]}"
    return None


def ask_as_nobody(path, method, target, body):
    """The reply as text, asked by a process that is nobody's."""
    nobody = pwd.getpwnam("nobody")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            os.write(writer, ask_raw(path, method, target, body))
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:
        answer = file.read().decode()
    os.waitpid(child, 0)
    return answer


def ask_raw(path, method, target, body):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(path)
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
                           f"Connection: close\r\n{length}\r\n{body}".encode())
        with connection.makefile("rb") as file:
            return file.read()


def make_certificate(host):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                    host.path("key.pem"), "-out", host.path("cert.pem")], check=True,
                   capture_output=True, timeout=60)


def network_request(host, port, token):
    """Like host.request(), over TLS."""
    context = ssl.create_default_context(cafile=host.path("cert.pem"))

    def request(path, method="GET", headers=None, body=None):
        more = {"Authorization": "Bearer " + token} if token else {}
        connection = http.client.HTTPSConnection("localhost", port, timeout=20, context=context)
        try:
            connection.request(method, path, body=body, headers={**more, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()
    return request


def test_the_network():
    """With a token all may be read, and nothing changed; without one there is nothing at all."""
    host, port = harness.Host(start=False), free_port()
    make_certificate(host)
    host.write_config({}, f"[https]\nlisten = 127.0.0.1:{port}\n"
                      f"certificate = {host.path('cert.pem')}\nkey = {host.path('key.pem')}\n")
    host.start_broker()
    host.start_emberd()
    host.wait_read("nvme0")
    token = Contract(host).ask("POST", "/v1/tokens", body={"name": "x"}, expect=201)[1]["token"]
    reader = Contract(host, network_request(host, port, token))
    nobody = Contract(host, network_request(host, port, token[:-1] + "x"))
    stranger = Contract(host, network_request(host, port, None))
    for method, path, operation in reader.operations():
        parts, query = {"id": "nvme0", "token": "x"}, required_query(operation)
        for contract in (nobody, stranger):
            contract.ask(method, path, query=query, expect=401, **parts)
        wanted = 405 if method != "GET" else 403 if operation["x-role"] == "admin" else 200
        reader.ask(method, path, query=query, expect=wanted, **parts)
        reader.ask(method, path, query=query, expect=wanted, headers={"Accept-Encoding": "gzip"},
                   **parts)
        if method == "GET":
            reader.ask("HEAD", path, query=query, expect=wanted, **parts)
    kinds = {listener["kind"] for listener in reader.ask("GET", "/v1/health")[1]["listeners"]}
    assert kinds == {"unix", "https"}, kinds
    assert float(host.metric("ember_certificate_expiry_timestamp_seconds")) > time.time()


def test_stream_has_what_the_list_has():
    """Each event of a stream is an event of the document, and the stream is the list."""
    host = harness.Host(poll=FAST)
    serial = host.wait_read("nvme2")["serial"]
    contract = Contract(host)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(host.path("emberd.sock"))
        connection.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n"
                           b"Accept: text/event-stream\r\nLast-Event-ID: 0\r\n\r\n")
        host.control("vanish", "nvme2")
        host.wait(lambda: host.drive(serial)["state"] == "removed", "the drive to be removed")
        host.control("return", "nvme2")
        host.wait(lambda: contract.ask("GET", "/v1/events", query={"kind": "drive-returned"})
                  [1]["events"], "the event of its return")
        listed = contract.ask("GET", "/v1/events", query={"order": "oldest", "limit": 1000})[1]
        got = read_stream(connection, len(listed["events"]))
    for event in got:
        contract.validator.check(event, {"$ref": "#/components/schemas/event"}, "an event")
    assert got == listed["events"], (got, listed)
    return f"{len(got)} events"


def read_stream(connection, count):
    """That many events of the stream, each as its JSON."""
    events, fields = [], {}
    with connection.makefile("r", encoding="utf-8") as file:
        assert " 200 " in file.readline()
        headers = dict(iter(lambda: file.readline().strip().split(": ", 1), [""]))
        assert headers["Content-Type"] == "text/event-stream", headers
        while len(events) < count:
            line = file.readline().rstrip("\r\n")
            name, _, value = line.partition(": ")
            if line:
                fields[name] = value
            elif "data" in fields:
                event = json.loads(fields["data"])
                assert event["id"] == fields["id"] and event["kind"] == fields["event"], fields
                events.append(event)
                fields = {}
    return events


def test_database_that_cannot_be_written():
    """Somebody holds the database: what is read goes on, what must be kept is refused with 503."""
    host = harness.Host(poll=FAST)
    serial = host.wait_read("nvme2")["serial"]
    contract = Contract(host)
    host.control("vanish", "nvme2")
    host.wait(lambda: host.drive(serial)["state"] == "removed", "the drive to be removed")
    database = sqlite3.connect(host.path("state/ember.db"), timeout=20, isolation_level=None)
    database.execute("BEGIN EXCLUSIVE")
    try:
        contract.ask("POST", "/v1/drives/{id}/retire", id=serial, expect=503)
        host.wait(lambda: host.get("/v1/health")["store"]["status"] == "degraded",
                  "the store to be degraded")
        ask_everything(contract)
        contract.ask("POST", "/v1/drives/{id}/unretire", id=serial, expect=503)
        newest = contract.ask("GET", "/v1/events", query={"kind": "drive-retired"})[1]["events"]
        assert newest and newest[0]["serial"] == serial, "an event waits unseen for the disk"
    finally:
        database.execute("ROLLBACK")
        database.close()
    host.wait(lambda: contract.ask("POST", "/v1/drives/{id}/retire", id=serial)[0] == 200,
              "the drive to be retired")
