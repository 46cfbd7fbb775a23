# SPDX-License-Identifier: Apache-2.0
"""A broker that says what a test wants it to say, true or not.

    with FakeBroker(path, script) as broker:   # script(conn) runs once for each connection
        ...

    def script(conn):
        conn.drive(1, "nvme0", "SN0")
        conn.sync()
        conn.serve()                  # answers like a healthy drive until emberd goes
"""
import array
import os
import socket
import struct
import threading

from broker_client import (EVENT, HEADER, KIND_DRIVE, KIND_EVENT, KIND_REPLY, KIND_SYNC, MAGIC,
                           OPERATIONS, PACKET_MAX, REPLY, REQUEST, STRINGS, VERSION)

DONE, TIMEOUT = 0, 6
PRESENT, CHANGED, GONE = 1, 2, 3
INLINE, MEMFD = 1, 2


class Request:
    def __init__(self, body):
        (self.id, self.drive, op, self.page, self.lsp, self.lsi, self.nsid, self.offset, self.length,
         self.arg) = REQUEST.unpack(body)
        self.op = OPERATIONS[op]


def identify(serial="SN0", namespaces=1):
    """Identify Controller of an NVMe 1.4 drive without options."""
    page = bytearray(4096)
    page[4:24] = serial.encode("latin-1").ljust(20)[:20]
    page[24:64] = b"FAKE".ljust(40)
    page[64:72] = b"FW000001"
    struct.pack_into("<I", page, 80, 0x00010400)
    struct.pack_into("<I", page, 516, namespaces)
    return bytes(page)


def smart(kelvin=300, warning=0):
    page = bytearray(512)
    struct.pack_into("<BHBB", page, 0, warning, kelvin, 100, 10)
    return bytes(page)


def data_for(request, serial="SN0"):
    """What a healthy drive with namespace 1 says."""
    page = bytearray(request.length)
    if request.op == "identify" and request.page == 1:
        page[:] = identify(serial)
    elif request.op == "identify" and request.page == 2:
        page[0] = 1
    elif request.op == "identify":
        page[0] = 1
    elif request.page == 2 and request.length == 512:
        page[:] = smart()
    elif request.length:
        page[0] = 1
    return bytes(page)


class Connection:
    def __init__(self, sock):
        self.sock = sock
        self.requests = 0

    def send(self, kind, body=b"", fds=()):
        self.send_raw(HEADER.pack(MAGIC, VERSION, kind, len(body), 0) + body, fds)

    def send_raw(self, packet, fds=()):
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.sock.sendmsg([packet], ancillary)

    def drive(self, handle, device, serial, change=PRESENT, nqn=None, **more):
        texts = {"device": device, "serial": serial, "model": "FAKE", "firmware": "FW000001",
                 "subsystem_nqn": f"nqn.test:{serial}" if nqn is None else nqn,
                 "address": f"0000:{handle & 0xff:02x}:00.0", "transport": "pcie", "state": "live",
                 **more}
        body = struct.pack("<IBxxx", handle, change)
        for name in STRINGS:
            raw = texts.get(name, "").encode("latin-1")
            body += struct.pack("<H", len(raw)) + raw
        self.send(KIND_DRIVE, body)

    def sync(self):
        self.send(KIND_SYNC)

    def event(self, handle, kind, aen=0):
        self.send(KIND_EVENT, EVENT.pack(handle, kind, aen))

    def request(self):
        """The next request; None when emberd has gone."""
        try:
            packet = self.sock.recv(PACKET_MAX)
        except OSError:
            return None
        self.requests += bool(packet)
        return Request(packet[HEADER.size:]) if packet else None

    def reply(self, request, data=b"", answer=DONE, number=None, drive=None, status=0, err=0,
              place=None, length=None, fds=()):
        place = (INLINE if data else 0) if place is None else place
        self.send(KIND_REPLY, REPLY.pack(request.id if number is None else number,
                                         request.drive if drive is None else drive, answer, place,
                                         status, err, 0, 1000,
                                         len(data) if length is None else length) + data, fds)

    def serve(self, lie=None):
        """Answers every request well, but those that lie(request) takes over by returning True."""
        while True:
            request = self.request()
            if not request:
                return
            if not lie or not lie(request):
                self.reply(request, data_for(request))


def memfd(size, seal=True):
    import fcntl
    fd = os.memfd_create("lie", os.MFD_ALLOW_SEALING)
    os.truncate(fd, size)
    if seal:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW |
                    fcntl.F_SEAL_WRITE)
    return fd


class FakeBroker:
    def __init__(self, path, script):
        self.script, self.connections, self.stopping = script, [], False
        self.failures = []
        if os.path.exists(path):
            os.unlink(path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(8)
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()

    def _accept(self):
        while not self.stopping:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            connection = Connection(sock)
            self.connections.append(connection)
            try:
                self.script(connection)
            except (BrokenPipeError, ConnectionResetError):
                pass
            except Exception as error:  # the test has to hear of it
                self.failures.append(error)
            sock.close()

    def close(self):
        self.stopping = True
        self.listener.shutdown(socket.SHUT_RDWR)
        for connection in self.connections:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.thread.join(20)
        self.listener.close()
        assert not self.failures, self.failures

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
