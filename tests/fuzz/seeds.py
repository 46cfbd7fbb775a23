# SPDX-License-Identifier: Apache-2.0
"""Inputs to begin with, and the words that inputs are made of: both come from the test cases and
from documents that are generated out of Ember's tables, so that a new row is fuzzed by itself."""
import glob
import json
import os
import re
import struct
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, TOP + "/tests/scenario")
sys.path.insert(0, TOP + "/tests/unit/client")

import broker_client as wire  # noqa: E402
import fake_emberd  # noqa: E402

KNOWN, UNKNOWN = b"\0" + b"\0\0\0" * 6, b"\1"


def text_of(path):
    with open(f"{TOP}/{path}", encoding="utf-8") as file:
        return file.read()


def lines_of(path):
    return text_of(path).split("\n")


def hex_dump(path):
    """The bytes of a dump in the form of xxd: "00000000: 0011 2233  text"."""
    data = bytearray()
    with open(path, encoding="utf-8") as file:
        for line in file:
            match = re.match(r"([0-9a-fA-F]+):((?: ?[0-9a-fA-F]{2,4})+)", line)
            if match:
                at, found = int(match[1], 16), bytes.fromhex(match[2].replace(" ", ""))
                data.extend(bytes(max(0, at + len(found) - len(data))))
                data[at:at + len(found)] = found
    return bytes(data)


def dumps():
    return [hex_dump(path) for path in sorted(glob.glob(TOP + "/tests/cases/given/*.hex"))]


def page_count():
    names = re.findall(r"(?m)^\tEM_PAGE_(\w+)(?:,| =)", text_of("lib/nvme/page.h"))
    more = re.search(r"EM_REQUEST_PAGE_COUNT (\d+)", text_of("lib/nvme/page.h"))
    return len(set(names) - {"CTRL_COUNT", "COUNT"}) + int(more[1])


def discovery():
    """TCG level-0 discovery: whole, with a length beyond its bytes, with a feature beyond its end."""
    features = bytes.fromhex("0001100c11" + 11 * "00" + "0002100c07" + 11 * "00" + "0203201007fe0001"
                             + 12 * "00" + "04031010c00000000000002000000000" + "0000001f" + "c0011002aabb")
    for length in (44 + len(features), 0xffffffff, 60, 0):
        yield length.to_bytes(4, "big") + b"\0\0\0\1" + bytes(40) + features
    yield (44 + len(features)).to_bytes(4, "big") + bytes(44) + features[:-3]


def pages():
    """A seed is tried as every page, whole and cut short."""
    count, sizes = page_count(), (64, 512, 564, 4096)
    bodies = dumps() + list(discovery()) + [bytes([fill]) * size for size in sizes for fill in (0, 0xff)]
    for page in range(count):
        for body in bodies:
            yield bytes([page]) + KNOWN + body
        yield bytes([page + (256 // count - 1) * count]) + KNOWN + bodies[0]
        yield bytes([page]) + UNKNOWN + bodies[0]


def packet(kind, body):
    return wire.HEADER.pack(wire.MAGIC, wire.VERSION, kind, len(body), 0) + body


def packets():
    for op in range(len(wire.OPERATIONS)):
        for page, size in ((1, 4096), (2, 512)):
            yield packet(wire.KIND_REQUEST, wire.REQUEST.pack(7, 1, op, page, 0, 0, 1, 0, size, 0))
    told = b"".join(struct.pack("<H", len(name)) + name.encode() for name in wire.STRINGS)
    for change in wire.CHANGES:
        yield packet(wire.KIND_DRIVE, struct.pack("<IB3x", 1, change) + told)
    for kind in wire.EVENTS:
        yield packet(wire.KIND_EVENT, wire.EVENT.pack(1, kind, 0x020101 if kind == 1 else 0))
    yield packet(wire.KIND_SYNC, b"")
    for place, data in ((0, b""), (1, b"abcd"), (2, b"")):
        for answer in range(len(wire.ANSWERS)):
            yield packet(wire.KIND_REPLY, wire.REPLY.pack(7, 1, answer, place, 0, 0, 0, 99,
                                                          4 if place else 0) + data)


def ipc():
    for one in packets():
        yield b"\0" + one
        yield b"\2\x04\0\0" + one


def broker():
    """Each operation with pages that its checks know, under several policies; see broker.c."""
    pages = {"identify": (0, 1, 2, 3, 4, 19), "get-log": (1, 2, 3, 5, 6, 9, 129), "get-feature": (4, 12, 14, 22),
             "acknowledge-event": (1, 2), "arm-events": (0, 11), "security-receive": (0, 1)}
    drive_goes, drive_comes = b"\x17", b"\x07"
    for policy in (0, 0b01, 0b0100, 0b100101, 0b10101010):
        play = bytes([policy])
        for op, name in enumerate(wire.OPERATIONS):
            for page in pages.get(name, (0,)):
                for flags, length, more in ((0, 3, b""), (2, 2, b""), (32, 0, b"\x1f"), (32, 0, b"\xff"),
                                            (4, 3, b"\1"), (8, 0, b"\1"), (16, 3, b"\1\0")):
                    play += bytes([2, op, flags, page, length]) + more
            yield play + b"\x06\x80\0" + bytes([op, 0, 1, 3]) + b"\5\2\0" + bytes([op, 0, 1, 3])
            yield play + b"\4" + drive_goes + drive_comes + bytes([8, op, 1, 1, 3, 2, op, 0, 2, 2, 2])
            play = bytes([policy])
        yield play + b"\x0c\x0b\x10" + bytes(16) + bytes([0, 1, 0, 2, 0xf0, 0, 0, 2, 0])


def told(handle, serial):
    """A drive step of drives.c."""
    texts = [serial, b"nqn.2014", b"0101", b"0000:01:00.0", b"1", b"MODEL"]
    return bytes([0, handle]) + b"".join(bytes([len(t)]) + t for t in texts)


def answered(data, answer=0, lie=0):
    step = bytes([4 | (8 if lie else 0) | lie << 4, 0, answer]) + bytes(4)
    return step + struct.pack("<HH", 0, len(data)) + data


def drives():
    bodies, well = dumps(), b"\7" * 12
    hello = told(0, b"SN1") + b"\2"
    gone = bytes([0, 2 << 2]) + bytes(6)
    for body in bodies:
        yield hello + well + answered(body) * 3 + b"\7"
    yield hello + b"".join(answered(body) for body in bodies)
    yield hello + b"".join(answered(b"", answer) for answer in range(12))
    yield hello + well + b"".join(answered(bodies[0], 0, lie) for lie in range(16))
    yield hello + well + told(1, b"SN2") + b"\3\0\0\1\1\2\0" + b"\7" * 4 + gone + hello + well
    yield hello + well + told(1, b"SN1") + well + gone + told(2, b"SN1") + well
    yield hello + well + b"\3\0\2" + b"\7" * 3 + b"\6" + b"\7" * 4
    yield hello + b"\x0e" + struct.pack("<H", 16) + packet(wire.KIND_SYNC, b"")


def routes():
    for path, methods in contract()["paths"].items():
        path = re.sub(r"\{\w+\}", "nvme0", path)
        for method, row in methods.items():
            if not isinstance(row, dict):
                continue
            names = [p["name"] for p in row.get("parameters", []) if p.get("in") == "query"]
            query = "&".join(f"{name}={SAMPLES.get(name, '10')}" for name in names)
            address = path + ("?" + query if query else "")
            yield b"\3" + f"{method.upper()} {address}\n".encode()
            yield b"\3" + f"{method.upper()} {path}\n".encode() + \
                b'{"name":"prometheus","role":"viewer","expires_in":"90d"}'


    for query in ("limit=3", "limit=7&order=oldest", "limit=25&order=newest&drive=nvme0", "limit=1&since=-2h",
                  "limit=30&order=oldest&until=-5min&kind=drive-renamed,drive-state"):
        for route in ("events", "changes"):
            yield b"\3" + f"GET /v1/{route}?{query}\n".encode()
    for field in ("percentage_used", "data_units_written", "critical_warning", "utilization_bytes", "firmware"):
        for query in ("", "&from=-3h&to=-10min&step=3min", "&limit=5", "&from=-2h&limit=7&nsid=1"):
            yield b"\3" + f"GET /v1/drives/nvme0/history?field={field}{query}\n".encode()


SAMPLES = {"field": "temperature_celsius", "from": "2026-10-24T00:00:00Z", "to": "-1h",
           "since": "-24h", "until": "2026-10-25T00:00:00Z", "step": "5min", "kind": "drive-renamed",
           "order": "oldest", "state": "ok", "drive": "nvme0", "refused": "true"}


def http():
    for seed in routes():
        line, _, body = seed[1:].partition(b"\n")
        head = line + b" HTTP/1.1\r\nHost: x\r\n"
        if body:
            head += b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
        yield head + b"\r\n" + body
        yield head[:20] + b"\xfe" + head[20:] + b"\r\n" + body
    yield b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    yield b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    yield b"GET /v1/events HTTP/1.0\r\nAccept: application/json\r\nIf-None-Match: \"x\"\r\n\r\n"


def headers():
    values = ["gzip, br;q=0.5, *;q=0", "gzip;q=0.000", "text/event-stream, */*;q=0.1", "*",
              '"abc", W/"def"', "127.0.0.1:9980", "[::1]:9980", "localhost:9980",
              "http://localhost:9980", "", "text/event-stream; charset=utf-8;q=1.0"]
    for one in values:
        for other in ("localhost:9980", "http://127.0.0.1:9980"):
            yield f"{one}\n{other}\n".encode() + b'{"at":1}' * 200


def tokens():
    salt = int(re.search(r"#define SALT_BYTES\s+(\d+)", text_of("daemon/web/tokens.c"))[1])
    token = {"id": "0123456789abcdef", "name": "prometheus", "role": "viewer", "created_us": 1,
             "expires_us": 0, "last_used_us": 0, "salt": "00" * salt, "sha256": "11" * 32}
    secret = b"ember_0123456789abcdef_" + b"0" * 64 + b"\n"
    for rows in ([], [token], [token, {**token, "id": "f" * 16, "expires_us": 1 << 60}]):
        yield secret + json.dumps({"format": 1, "tokens": rows}).encode()


def contract():
    return json.loads(text_of("docs/openapi.json"))


PATTERNS = {"date-time": "2026-11-30T21:22:23.456Z", "^-?[0-9]+$": "12345678901234567890"}


def sample(schema, schemas, depth=0):
    """A value with everything in it that the schema has."""
    if "$ref" in schema:
        return sample(schemas[schema["$ref"].split("/")[-1]], schemas, depth + 1)
    for choice in ("oneOf", "anyOf", "allOf"):
        if choice in schema:
            return sample(schema[choice][0], schemas, depth + 1)
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        return {name: sample(member, schemas, depth + 1)
                for name, member in schema.get("properties", {}).items()}
    if kind == "array":
        return [sample(schema.get("items", {}), schemas, depth + 1)] * 2
    if kind == "string":
        return schema.get("enum", [PATTERNS.get(schema.get("format") or schema.get("pattern"), "SH,%é1")])[0]
    return {"integer": 7, "number": 61.5, "boolean": True}.get(kind)


def documents():
    """An answer of each route, as the contract describes it."""
    whole = contract()
    for methods in whole["paths"].values():
        for row in methods.values():
            for status, reply in row.get("responses", {}).items() if isinstance(row, dict) else ():
                body = reply.get("content", {}).get("application/json", {}).get("schema")
                if status.startswith("2") and body:
                    yield sample(body, whole["components"]["schemas"])


def client_commands():
    table = re.search(r"commands\[\]\[WORDS_MAX\] = \{(.*?)\n\};", text_of("tests/fuzz/client.c"), re.S)[1]
    return len(re.findall(r'\{ "', table))


def client():
    def answer(value, status=0):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return bytes([status]) + text.encode() + b"\xfe"

    event = sample(contract()["components"]["schemas"]["event"], contract()["components"]["schemas"])
    stream = f"retry: 10\n\nid: 5\nevent: x\ndata: {json.dumps(event)}\n\n: sign of life\n\n"
    problem = {"title": "Not Found", "detail": "There is no such drive.", "status": 404}
    whole = [show for _, _, show in fake_emberd.show_answers().values()]
    for command in range(client_commands()):
        for number, value in enumerate(documents()):
            table = number % 8 | (8, 24, 40)[number % 3]
            yield bytes([command, table]) + answer(value) * 8
            for form in (104, 128):
                yield bytes([command, form]) + answer(value) * 2
        for values in (["inf", "0"], ["nan", "1"], ["1e308", "-1e308"], [2, None, 3.5]):
            points = [{"at": f"2026-11-30T21:0{n}:00.000Z", "value": value} for n, value in enumerate(values)]
            yield bytes([command, 12]) + answer({"points": points, "field": "x"}) * 8
        for form in (32, 104):
            yield bytes([command, form]) + b"".join(b"\0" + part + b"\xfe" for part in whole)
            yield bytes([command, form]) + answer({"events": [event], "newest_id": "4"}) + answer(stream)
            yield bytes([command, form]) + answer(problem, 8) + b"\xe1\xfe"
            yield bytes([command, form]) + answer("", 4)


def options():
    """[(section, key, value)] as the option table has them."""
    source = text_of("daemon/main/options.c")
    return re.findall(r'"(\w+)",\s*"(\w+)",\s*EM_OPTION_\w+[^}]*?"([^"]*)",\s*"', source)


def emberd_conf():
    for section, key, value in options():
        yield f"[{section}]\n{key} = {value}\n".encode()
    yield b"".join(f"[{s}]\n{k}={v}\n".encode() for s, k, v in options())
    yield b"[poll]\nsmart_interval=10s\n[drive SH0001]\nsmart_interval=1min\n\n%%\n[log]\nlevel=err\n"
    yield b"# a comment\n[http]\nlisten = 127.0.0.1:9980 # more\n"


def broker_conf():
    for which, name in ((0, "broker.conf"), (1, "policy.conf")):
        for section, entry in re.findall(rf"(?m)^{name} (\[[^]]+\])(?: (.*))?$",
                                         text_of("docs/names/options.txt")):
            yield bytes([which]) + f"# a comment\n{section}\n{entry}\n".encode()
    yield b"\0[broker]\npatience = 10s\nclient_user = 0\n"
    yield b"\1[default]\nread=allow\n[host HOST1]\nformat=deny\n[drive SH0001]\nerase=confirm\n"


def scenario():
    for path in sorted(glob.glob(TOP + "/sim/scenarios/*.conf")):
        yield text_of(os.path.relpath(path, TOP)).encode()
    yield b"[sim]\nadmin_timeout = 60s\n[drive nvme7]\nproduct = 6530\nserial = SH%n\n" \
        b"percentage_used = 0x68\nnamespace = 7 800GB 4096 node 2\nat = 5s hang\n"
    yield b"[drive]\nproduct = minimal\nsmart-page = x.hex\nat = 0s refuse get-log 0x06 0x4109\n"
    yield b"[drive]\nproduct = recorded\nsmart-page = <<\n00000000: 0437 0164  .7.d\n000001f0: 01\n>>\n" \
        b"supported-page = <<\n>>\nnamespace = 1 1GB 512 node 4\nnamespace-page = 1 <<\n00000000: 65cd 1d\n>>\n" \
        b"link_width_max = 8\n[drive]\ncontroller_of = nvme0\nidentify-page = <<\n00000000: 5f1c\n>>\n"


def words_of(*paths):
    return {word for path in paths for word in re.findall(r"[\w./-]+", text_of(path))}


def dictionary(name):
    numbers = {"0", "-1", "255", "65536", "4294967296", "18446744073709551616", "1e9", "0x10"}
    if name in ("routes", "http", "headers"):
        paths = contract()["paths"]
        words = {part for path in paths for part in path.split("/")}
        words |= {p["name"] + "=" for row in paths.values() for method in row.values()
                  if isinstance(method, dict) for p in method.get("parameters", [])}
        return words | set(SAMPLES.values()) | numbers | HTTP_WORDS
    if name == "tokens":
        return set(re.findall(r'"(\w+)"', text_of("daemon/web/tokens.c"))) | numbers | set('{}[]:,"')
    if name == "client":
        keys = {f'"{key}":' for schema in contract()["components"]["schemas"].values()
                for key in schema.get("properties", {})}
        return keys | numbers | {"null", "true", "[]", "{}", "nan", "inf", "1e308", "-1e308", "\\\\u202e",
                                 "\\\\u009b", "id: ", "data: ", "retry: ", "\\xfe\\x00", "\\xfd"}
    if name == "emberd_conf":
        return {w for row in options() for w in row} | numbers | {"[drive ", "10ms", "7d", "%%"}
    if name == "broker_conf":
        return words_of("docs/names/options.txt") | numbers
    if name == "scenario":
        keys = re.findall(r"[a-z][a-z0-9_-]+", text_of("sim/README.md"))
        return set(keys) - {"repeat", "file", "include"} | numbers
    return {"\\xff\\xff\\xff\\xff", "\\x00\\x00\\x00\\x00", "\\x2e\\x4d\\x42\\x45"}


HTTP_WORDS = {"GET ", "HEAD ", "POST ", "DELETE ", "OPTIONS * ", " HTTP/1.1", " HTTP/1.0", "\\x0d\\x0a",
              "Host: ", "Origin: ", "Content-Length: ", "Transfer-Encoding: chunked", "Expect: 100-continue",
              "Connection: close", "Connection: keep-alive", "Authorization: Bearer ", "Accept: text/event-stream",
              "Accept-Encoding: gzip", "If-None-Match: ", "Last-Event-ID: ", "Content-Type: application/json",
              "%00", "%2f", "%zz", "../", "?", "&", "{", "}"}


def write_dictionary(path, words):
    with open(path, "w", encoding="utf-8") as file:
        for word in sorted(w for w in words if w):
            file.write('"' + word.replace('"', '\\"') + '"\n')


def write_all(directory, names):
    """Writes DIRECTORY/NAME/0000... and DIRECTORY/NAME.dict for each name."""
    for name in names:
        where = f"{directory}/{name}"
        os.makedirs(where, exist_ok=True)
        for old in os.listdir(where):
            os.unlink(f"{where}/{old}")
        for number, data in enumerate(globals()[name]()):
            with open(f"{where}/{number:04}", "wb") as file:
                file.write(data)
        write_dictionary(f"{directory}/{name}.dict", dictionary(name))
