#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs inside the guest: takes commands from the host over a virtio port and answers with their
status and output. One JSON object a line, in both directions; commands run side by side."""
import base64
import json
import os
import subprocess
import threading
import time

PORT = "/dev/virtio-ports/org.ember.agent"


def run(request):
    """A dead line ends a command that hangs; its status is then 124, as with timeout(1)."""
    try:
        done = subprocess.run(request["argv"], input=base64.b64decode(request.get("input", "")),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=request["timeout"], start_new_session=True)
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        status, out, err = 124, late.stdout or b"", b"timed out\n" + (late.stderr or b"")
    except OSError as error:
        status, out, err = 127, b"", str(error).encode() + b"\n"
    return {"id": request["id"], "status": status, "out": base64.b64encode(out).decode(),
            "err": base64.b64encode(err).decode()}


def main():
    while not os.path.exists(PORT):
        time.sleep(0.05)
    port = os.open(PORT, os.O_RDWR)
    lock = threading.Lock()

    def send(message):
        data = json.dumps(message).encode() + b"\n"
        with lock:
            while data:
                data = data[os.write(port, data):]

    def serve(line):
        send(run(json.loads(line)))

    send({"hello": os.uname().release})
    pending = b""
    while True:
        data = os.read(port, 65536)
        if not data:
            # Nobody has the other end open; it is opened before the guest starts and stays so.
            time.sleep(0.1)
            continue
        *lines, pending = (pending + data).split(b"\n")
        for line in lines:
            threading.Thread(target=serve, args=(line,), daemon=True).start()


main()
