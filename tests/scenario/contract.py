# SPDX-License-Identifier: Apache-2.0
"""The API by its own document: asks, and judges every reply by what /openapi.json says of it.

    contract = Contract(host)
    contract.ask("GET", "/v1/drives/{id}", id="nvme0")     # (status, body)
    contract.seen                                          # {(method, path): {statuses}}

A status, a type of body, a header or a member that is not documented is an AssertionError.
"""
import gzip
import json
import urllib.parse

from jsonschema import Validator

# Of every reply, whatever it is about.
COMMON_HEADERS = {"connection", "content-length", "content-type", "date", "cache-control",
                  "x-content-type-options", "content-encoding", "vary", "transfer-encoding"}


class Contract:
    def __init__(self, host, request=None, **connection):
        """request: in place of host.request(); connection: more arguments of it."""
        self.host = host
        self.request = request or host.request
        self.connection = connection
        self.document = json.loads(host.request("/openapi.json")[2])
        self.validator = Validator(self.document)
        self.seen = {}

    def operations(self, method=None):
        """[(METHOD, path, operation)]"""
        return [(name.upper(), path, operation)
                for path, item in self.document["paths"].items()
                for name, operation in item.items() if method in (None, name.upper())]

    def operation(self, method, path):
        """What a HEAD, which every GET also answers, is judged by is the GET."""
        name = "get" if method == "HEAD" else method.lower()
        return self.document["paths"].get(path, {}).get(name)

    def ask(self, method, path, body=None, headers=None, query=None, expect=None, **parts):
        """path as in the document; its {parts} by name, query as a dictionary."""
        target = path
        for name, value in parts.items():
            target = target.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
        if query:
            target += "?" + urllib.parse.urlencode(query)
        if isinstance(body, dict):
            body = json.dumps(body)
        status, got, data = self.request(target, method=method, headers=headers, body=body,
                                         **self.connection)
        where = f"{method} {target}: {status}"
        assert expect is None or status == expect, f"{where}, not {expect}: {data[:300]!r}"
        self.judge(method, path, status, got, data, where)
        return status, self.read(got, data)

    @staticmethod
    def read(headers, data):
        if headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        if data and "json" in headers.get("Content-Type", ""):
            return json.loads(data)
        return data.decode()

    def judge(self, method, path, status, headers, data, where):
        operation = self.operation(method, path)
        self.seen.setdefault((method, path), set()).add(status)
        if operation:
            replies = operation["responses"]
        else:
            assert status >= 400, f"{where}: there is no such operation"
            replies = self.document["components"]["responses"]
        assert str(status) in replies, f"{where} is not documented: {data[:300]!r}"
        reply = self.validator.resolve(replies[str(status)])
        self.judge_headers(reply, headers, where)
        self.judge_body(reply, method, headers, data, where)

    def judge_headers(self, reply, headers, where):
        documented = {name.lower(): value for name, value in reply.get("headers", {}).items()}
        lower = {name.lower(): value for name, value in headers.items()}
        for name in lower:
            assert name in documented or name in COMMON_HEADERS, f"{where}: header {name}"
        for name, header in documented.items():
            assert name in lower, f"{where}: no header {name}"
            schema = self.validator.resolve(header)["schema"]
            value = int(lower[name]) if schema["type"] == "integer" else lower[name]
            self.validator.check(value, schema, f"{where} {name}")

    def judge_body(self, reply, method, headers, data, where):
        content = reply.get("content")
        if not content:
            assert not data, f"{where}: a body"
            return
        kind = headers.get("Content-Type")
        assert kind in content, f"{where}: {kind} is not among {list(content)}"
        if method == "HEAD":
            assert not data, f"{where}: a body"
            return
        if headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        value = json.loads(data, object_pairs_hook=no_twice) if "json" in kind else data.decode()
        self.validator.check(value, content[kind]["schema"], where)


def no_twice(pairs):
    names = [name for name, _ in pairs]
    assert len(set(names)) == len(names), f"a member is there twice: {names}"
    return dict(pairs)
