# SPDX-License-Identifier: Apache-2.0
"""A guest with a real kernel, systemd and emulated NVMe drives, and the ways to reach it:

    vm.run("COMMAND")          a shell command inside, with its status and output
    vm.sh("COMMAND")           its output; a status other than 0 is a failed test
    vm.get("/v1/drives")       a document of Ember's API (vm.status_of() for errors)
    vm.qmp("device_del", ...)  the virtual machine's own control
    vm.wait(TEXT, PROBE)       until PROBE() is true, within a deadline
"""
import base64
import json
import os
import queue
import shlex
import socket
import subprocess
import threading
import time

API_SOCKET = "/run/ember/emberd.sock"
# What a boot takes on an idle machine. On a busy one all deadlines grow with it.
USUAL_BOOT = 30.0


class Drive:
    """An emulated PCIe controller; sizes are those of its namespaces, in MiB."""

    def __init__(self, name, serial, namespaces=(64,)):
        self.name, self.serial, self.namespaces = name, serial, namespaces


# One drive of each kind that matters: with one namespace, with two.
DRIVES = (Drive("drive-a", "VMA0001"), Drive("drive-b", "VMB0002", (64, 32)))


class Failure(Exception):
    """A test's expectation did not hold."""


class Result:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err

    def __str__(self):
        return "$ %s\nstatus %s\n%s%s" % (self.command, self.status, self.out, self.err)


class _Lines:
    """JSON lines over a unix socket, with a reader thread; QMP and the agent both speak so."""

    def __init__(self, path, on_message):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lock = threading.Lock()
        threading.Thread(target=self._read, args=(on_message,), daemon=True).start()

    def send(self, message):
        with self.lock:
            self.socket.sendall(json.dumps(message).encode() + b"\n")

    def _read(self, on_message):
        with self.socket.makefile("rb") as lines:
            try:
                for line in lines:
                    on_message(json.loads(line))
            except (OSError, ValueError):
                pass
        on_message(None)

    def close(self):
        self.socket.close()


class Vm:
    def __init__(self, work, kernel, initrd, root_image, drives=DRIVES, memory_mib=1024):
        self.work, self.kernel, self.initrd, self.root_image = work, kernel, initrd, root_image
        self.drives, self.memory_mib = drives, memory_mib
        self.process = None
        self.slowness = 1.0
        self.hello = threading.Event()
        self.events = []  # QMP events so far
        self._answers = {}
        self._qmp_answers = queue.Queue()
        self._next = 0
        self._lock = threading.Lock()
        self._links = []

    # -- start and end --------------------------------------------------------------------

    def _drive_options(self):
        options = []
        for drive in self.drives:
            options += ["-device", "nvme,id=%s,serial=%s" % (drive.name, drive.serial)]
            for nsid, size in enumerate(drive.namespaces, 1):
                path = os.path.join(self.work, "%s-%d.img" % (drive.name, nsid))
                with open(path, "w") as image:
                    image.truncate(size << 20)
                node = "%s-%d" % (drive.name, nsid)
                options += ["-drive", "file=%s,if=none,format=raw,cache=unsafe,id=%s" % (path, node),
                            "-device", "nvme-ns,drive=%s,bus=%s,nsid=%d" % (node, drive.name, nsid)]
        return options

    def _command(self):
        # Always the software CPU: a /dev/kvm that opens may still hang the machine. Always the pc
        # board: hot unplug on q35 waits for seconds.
        return (["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-machine", "pc", "-cpu", "max",
                 "-smp", "2", "-m", str(self.memory_mib), "-display", "none", "-nodefaults",
                 "-no-reboot", "-nic", "none",
                 "-serial", "file:" + self._path("console.log"),
                 "-kernel", self.kernel, "-initrd", self.initrd,
                 "-append", "console=ttyS0 root=/dev/vda rw panic=-1 quiet systemd.show_status=0",
                 "-drive", "file=%s,if=virtio,format=raw,cache=unsafe" % self.root_image,
                 "-device", "virtio-rng-pci", "-device", "virtio-serial-pci",
                 "-chardev", "socket,id=agent,server=on,wait=off,path=" + self._path("agent.sock"),
                 "-device", "virtserialport,chardev=agent,name=org.ember.agent",
                 "-qmp", "unix:%s,server=on,wait=off" % self._path("qmp.sock")]
                + self._drive_options())

    def _path(self, name):
        return os.path.join(self.work, name)

    def _connect(self, name, on_message):
        deadline = time.monotonic() + 30
        while True:
            try:
                link = _Lines(self._path(name), on_message)
                self._links.append(link)
                return link
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Failure("QEMU did not start:\n" + self._tail("qemu.log"))
                time.sleep(0.05)

    def _tail(self, name, lines=30):
        try:
            with open(self._path(name), errors="replace") as log:
                return "".join(log.readlines()[-lines:])
        except OSError:
            return ""

    def boot(self, limit=900):
        """Returns when the agent inside answers; the seconds that it took."""
        begin = time.monotonic()
        with open(self._path("qemu.log"), "w") as log:
            self.process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log)
        self.agent = self._connect("agent.sock", self._from_agent)
        self.monitor = self._connect("qmp.sock", self._from_qmp)
        self.monitor.send({"execute": "qmp_capabilities"})
        self._qmp_answers.get(timeout=30)
        while not self.hello.wait(0.5):
            if self.process.poll() is not None or time.monotonic() - begin > limit:
                raise Failure("the guest did not come up:\n" + self._tail("qemu.log")
                              + self._tail("console.log"))
        seconds = time.monotonic() - begin
        self.slowness = max(1.0, seconds / USUAL_BOOT)
        return seconds

    def close(self):
        """Ends the machine at once; its image is thrown away anyhow."""
        for link in self._links:
            link.close()
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    # -- commands inside ------------------------------------------------------------------

    def _from_agent(self, message):
        if message is None:
            for box in list(self._answers.values()):
                box.put(None)
        elif "hello" in message:
            self.hello.set()
        elif message["id"] in self._answers:
            self._answers[message["id"]].put(message)

    def run(self, command, user=None, stdin=b"", limit=60):
        """Runs a shell command (or a list of arguments) as root or another user."""
        limit *= self.slowness
        argv = command if isinstance(command, list) else ["/bin/sh", "-c", command]
        if user:
            argv = ["runuser", "-u", user, "--"] + argv
        box = queue.Queue()
        with self._lock:
            self._next += 1
            number = self._next
            self._answers[number] = box
        self.agent.send({"id": number, "argv": argv, "timeout": limit,
                         "input": base64.b64encode(stdin).decode()})
        try:
            answer = box.get(timeout=limit + 30)
        except queue.Empty:
            answer = None
        finally:
            del self._answers[number]
        if answer is None:
            raise Failure("the guest does not answer (command: %s)\n%s"
                          % (command, self._tail("console.log")))
        text = [base64.b64decode(answer[key]).decode(errors="replace") for key in ("out", "err")]
        shown = command if isinstance(command, str) else shlex.join(command)
        return Result(shown, answer["status"], *text)

    def sh(self, command, **options):
        result = self.run(command, **options)
        if result.status != 0:
            raise Failure(str(result))
        return result.out

    def put(self, path, data, mode="0644"):
        """Writes a file inside, its directories too."""
        data = data.encode() if isinstance(data, str) else data
        quoted = shlex.quote(path)
        self.sh("mkdir -p $(dirname {0}) && cat >{0} && chmod {1} {0}".format(quoted, mode),
                stdin=data)

    # -- Ember's API ----------------------------------------------------------------------

    def _curl(self, path):
        url = shlex.quote("http://localhost" + path)
        return self.sh("curl -sS --max-time %d -w '\\n%%{http_code}' --unix-socket %s %s"
                       % (20 * self.slowness, API_SOCKET, url)).rpartition("\n")

    def status_of(self, path):
        return int(self._curl(path)[2])

    def get(self, path):
        body, _, status = self._curl(path)
        if status != "200":
            raise Failure("GET %s: %s %s" % (path, status, body))
        return json.loads(body)

    # -- the machine ----------------------------------------------------------------------

    def _from_qmp(self, message):
        if message is None:
            self._qmp_answers.put({"error": {"desc": "QEMU is gone"}})
        elif "event" in message:
            self.events.append(message)
        elif "return" in message or "error" in message:
            self._qmp_answers.put(message)

    def qmp(self, command, **arguments):
        """QMP names with a dash are given with an underscore: qom_set(property=...)."""
        self.monitor.send({"execute": command,
                           "arguments": {k.replace("_", "-"): v for k, v in arguments.items()}})
        answer = self._qmp_answers.get(timeout=30)
        if "error" in answer:
            raise Failure("QMP %s %s: %s" % (command, arguments, answer["error"]["desc"]))
        return answer["return"]

    def set_warning(self, drive, bits):
        """The critical warning byte of a drive; a new bit raises the asynchronous event."""
        self.qmp("qom-set", path="/machine/peripheral/" + drive,
                 property="smart_critical_warning", value=bits)

    # -- waiting --------------------------------------------------------------------------

    def wait(self, text, probe, limit=20.0):
        """Until probe() returns something true, which is returned with the seconds it took."""
        limit *= self.slowness
        begin = time.monotonic()
        last = None
        while True:
            try:
                value = probe()
                if value:
                    return value, time.monotonic() - begin
            except Failure as failure:
                last = failure
            if time.monotonic() - begin > limit:
                raise Failure("not within %g s: %s%s" % (limit, text, "\n%s" % last if last else ""))
            time.sleep(0.05)
