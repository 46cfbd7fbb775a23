# SPDX-License-Identifier: Apache-2.0
"""Speaks the broker's protocol, written from the header alone and not from the C encoder.

    client = BrokerClient(path)        # connects, reads the drives
    client.drives                      # {"nvme0": Drive}
    reply = client.ask("nvme0", "identify", page=1, length=4096)
    reply.answer, reply.data           # "done", bytes

    tests/scenario/broker_client.py SOCKET list
    tests/scenario/broker_client.py SOCKET nvme0 get-log --page 2 --nsid 0xffffffff --length 512
"""
import argparse
import array
import collections
import os
import select
import socket
import struct
import sys
import time

MAGIC, VERSION = 0x72626D45, 1
HEADER = struct.Struct("<IHHII")
REQUEST = struct.Struct("<IIBBBxHxxIQII")
REPLY = struct.Struct("<IIBBHiIQI")
EVENT = struct.Struct("<IBxxxI")
PACKET_MAX = 65536 + 512

KIND_REQUEST, KIND_REPLY, KIND_DRIVE, KIND_EVENT, KIND_SYNC = range(1, 6)
CLASSES = {
    "identify": "read", "get-log": "read", "get-feature": "read",
    "identify-any": "arm", "get-log-any": "arm", "get-feature-any": "arm",
    "acknowledge-event": "arm", "arm-events": "arm", "self-test": "test",
    "namespace-create": "provision", "namespace-attach": "provision",
    "namespace-detach": "provision", "firmware-download": "firmware",
    "firmware-commit": "firmware", "namespace-delete": "erase", "format": "erase",
    "sanitize": "erase", "security-receive": "read", "persistent-events": "arm",
}
OPERATIONS = list(CLASSES)
ANSWERS = ["done", "status", "denied", "needs-confirmation", "invalid", "not-supported", "timeout",
           "stuck", "busy", "queue-full", "gone", "host-error"]
CHANGES = {1: "present", 2: "changed", 3: "gone"}
EVENTS = {1: "aen", 2: "connected", 3: "namespaces", 4: "unstuck"}
STRINGS = ["device", "serial", "model", "firmware", "subsystem_nqn", "address", "transport",
           "state", "cntlid", "numa_node", "controller_type", "link_speed", "link_width",
           "link_speed_max", "link_width_max"]

Reply = collections.namedtuple("Reply", "id drive answer status err result elapsed_us data")
Event = collections.namedtuple("Event", "drive kind aen")


class Closed(Exception):
    """The broker closed the connection."""


def encode_request(number, drive, op, page=0, lsp=0, lsi=0, nsid=0, offset=0, length=0, arg=0):
    code = OPERATIONS.index(op) if isinstance(op, str) else op
    body = REQUEST.pack(number, drive, code, page, lsp, lsi, nsid, offset, length, arg)
    return HEADER.pack(MAGIC, VERSION, KIND_REQUEST, len(body), 0) + body


def decode_drive(body):
    drive = {"drive": struct.unpack_from("<I", body)[0], "change": CHANGES[body[4]]}
    at = 8
    for name in STRINGS:
        (length,) = struct.unpack_from("<H", body, at)
        drive[name] = body[at + 2:at + 2 + length].decode("latin-1")
        at += 2 + length
    assert at == len(body), "bytes behind a drive"
    return drive


def read_memfd(fd, length):
    try:
        data = os.pread(fd, length + 1, 0)
    finally:
        os.close(fd)
    assert len(data) == length, f"memfd of {len(data)} bytes instead of {length}"
    return data


def decode_reply(body, fds):
    number, drive, answer, place, status, err, result, elapsed, length = REPLY.unpack_from(body)
    data = body[REPLY.size:]
    if place == 2:
        assert len(fds) == 1 and not data, "a memfd was promised"
        data = read_memfd(fds.pop(), length)
    assert len(data) == length, f"{len(data)} bytes instead of {length}"
    return Reply(number, drive, ANSWERS[answer], status, err, result, elapsed, data)


class BrokerClient:
    def __init__(self, path, timeout=20, sync=True):
        self.timeout = timeout
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(path)
        self.drives, self.changes, self.events, self.replies = {}, [], [], {}
        self.synced, self.last = False, 0
        if sync:
            self.wait(lambda: self.synced, "the list of drives")

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _receive(self, timeout):
        """Takes in one packet; False when none comes in time."""
        if not select.select([self.sock], [], [], max(timeout, 0))[0]:
            return False
        try:
            packet, ancillary, flags, _ = self.sock.recvmsg(PACKET_MAX, socket.CMSG_SPACE(64))
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Closed from error
        if not packet:
            raise Closed
        assert not flags & socket.MSG_TRUNC, "a packet above the limit"
        fds = array.array("i")
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(data)
        self._take(packet, fds)
        return True

    def _take(self, packet, fds):
        magic, version, kind, length, zero = HEADER.unpack_from(packet)
        body = packet[HEADER.size:]
        assert (magic, version, zero, length) == (MAGIC, VERSION, 0, len(body)), packet[:16]
        if kind == KIND_REPLY:
            reply = decode_reply(body, fds)
            self.replies[reply.id] = reply
        elif kind == KIND_DRIVE:
            self._take_drive(decode_drive(body))
        elif kind == KIND_EVENT:
            handle, event, aen = EVENT.unpack(body)
            self.events.append(Event(handle, EVENTS[event], aen))
        else:
            assert kind == KIND_SYNC and not body, f"kind {kind}"
            self.synced = True

    def _take_drive(self, drive):
        self.changes.append(drive)
        known = self.drives.get(drive["device"])
        if drive["change"] != "gone":
            self.drives[drive["device"]] = drive
        elif known and known["drive"] == drive["drive"]:
            del self.drives[drive["device"]]

    def wait(self, condition, what, timeout=None):
        """Takes in packets until condition() is true and returns its value."""
        deadline = time.monotonic() + (timeout or self.timeout)
        while True:
            value = condition()
            if value:
                return value
            left = deadline - time.monotonic()
            if left <= 0 or not self._receive(left):
                raise AssertionError(f"no {what} in time")

    def drain(self):
        """Takes in what has come."""
        while self._receive(0):
            pass

    def wait_closed(self, timeout=None):
        """True when the broker closes the connection in time."""
        try:
            self.wait(lambda: False, "end", timeout)
        except Closed:
            return True
        except AssertionError:
            return False

    def send(self, drive, op, **fields):
        """Sends a request and returns its number. drive: a device name or a handle."""
        self.last += 1
        handle = self.drives[drive]["drive"] if isinstance(drive, str) else drive
        self.send_raw(encode_request(self.last, handle, op, **fields))
        return self.last

    def send_raw(self, packet):
        try:
            self.sock.send(packet)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    def reply(self, number, timeout=None):
        self.wait(lambda: number in self.replies, f"reply {number}", timeout)
        return self.replies.pop(number)

    def ask(self, drive, op, timeout=None, **fields):
        return self.reply(self.send(drive, op, **fields), timeout)

    # -- the operations that tests need most -------------------------------------------------

    def identify(self, drive, **kwargs):
        return self.ask(drive, "identify", page=1, length=4096, **kwargs)

    def smart(self, drive, **kwargs):
        return self.ask(drive, "get-log", page=2, nsid=0xFFFFFFFF, length=512, **kwargs)

    def wait_event(self, drive, kind, timeout=None):
        handle = self.drives[drive]["drive"] if isinstance(drive, str) else drive

        def find():
            found = [event for event in self.events
                     if event.drive == handle and event.kind == kind]
            if found:
                self.events.remove(found[0])
            return found
        return self.wait(find, f"event {kind} of {drive}", timeout)[0]


def print_reply(reply):
    print(f"{reply.answer} status={reply.status:#x} err={reply.err} result={reply.result:#x} "
          f"elapsed={reply.elapsed_us}us bytes={len(reply.data)}")
    for at in range(0, len(reply.data), 16):
        row = reply.data[at:at + 16]
        if any(row):
            print(f"{at:08x}: {row.hex(' ')}")


def main():
    def number(text):
        return int(text, 0)

    parser = argparse.ArgumentParser(description="asks the broker")
    parser.add_argument("socket")
    parser.add_argument("drive", help="a device name, or list")
    parser.add_argument("op", nargs="?", choices=OPERATIONS)
    for name in ("page", "lsp", "lsi", "nsid", "offset", "length", "arg"):
        parser.add_argument("--" + name, type=number, default=0)
    args = parser.parse_args()
    with BrokerClient(args.socket) as client:
        if args.drive == "list" or not args.op:
            for drive in client.drives.values():
                print(*(f"{key}={value!r}" for key, value in drive.items()))
            return 0
        reply = client.ask(args.drive, args.op, page=args.page, lsp=args.lsp, lsi=args.lsi,
                           nsid=args.nsid, offset=args.offset, length=args.length, arg=args.arg)
        print_reply(reply)
        return 0 if reply.answer == "done" else 1


if __name__ == "__main__":
    sys.exit(main())
