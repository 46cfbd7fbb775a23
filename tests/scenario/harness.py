# SPDX-License-Identifier: Apache-2.0
"""A host with simulated drives: ember-sim, and the shipping programs under its preload.

    host = Host()                      # the default scenario, broker and emberd running
    host.get("/v1/drives")             # parsed JSON; HttpError for anything but 200
    host.control("hang", "nvme3")      # a word to the simulator
    host.run("nvme", "list")           # any program sees the same drives
    host.wait(lambda: ..., "what")     # polls until true, fails after a deadline

Nothing here sleeps for a fixed time to let something happen: every wait has a condition.
"""
import http.client
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONG = os.environ.get("LONG") == "1"
HOSTS = []


def build_directory():
    chosen = os.environ.get("EMBER_BUILD")
    for path in [chosen] if chosen else [TOP + "/build-check", TOP + "/build"]:
        if os.path.exists(path + "/daemon/emberd"):
            return path
    raise SystemExit("no build found: run ./bootstrap check, or set EMBER_BUILD to a build directory")


def stop_all():
    """Stops all, also those that come after one that ended badly."""
    if HOSTS:
        try:
            HOSTS.pop().stop()
        finally:
            stop_all()


class HttpError(Exception):
    def __init__(self, status, headers, body):
        super().__init__(f"HTTP {status}: {body[:300]!r}")
        self.status, self.headers, self.body = status, headers, body


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Host:
    """One simulated host. Arguments:

    scenario   path of a scenario file, or its text
    poll       values of the [poll] section, e.g. {"smart_interval": "10ms"}
    config     more text for emberd.conf
    policy     text of policy.conf; None = no file
    patience   the broker's patience
    client     user or uid that the broker accepts (default: ours)
    start      False: only the simulator
    """

    def __init__(self, scenario=None, poll=None, config="", policy=None, patience="2s", client=None,
                 start=True, listen=None):
        self.build = build_directory()
        self.dir = tempfile.mkdtemp(prefix="ember-test-")
        os.chmod(self.dir, 0o755)
        self.listen = listen
        self.processes = {}
        self.patience = patience
        self.client = str(os.getuid() if client is None else client)
        self.policy = policy
        HOSTS.append(self)
        self._start_simulator(scenario or TOP + "/sim/scenarios/default.conf")
        self.write_config(poll or {}, config)
        if policy is not None:
            self.write("policy.conf", policy)
        if start:
            self.start_broker()
            self.start_emberd()

    # -- files and programs ------------------------------------------------------------------

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def write_config(self, poll, more=""):
        lines = "".join(f"{key} = {value}\n" for key, value in poll.items())
        listen = f"listen = {self.listen}\n" if self.listen else ""
        self.write("emberd.conf", f"[http]\nsocket = {self.path('emberd.sock')}\n{listen}"
                   f"[store]\ndirectory = {self.path('state')}\n"
                   f"[broker]\nsocket = {self.path('broker.sock')}\nanswer_timeout = 5s\n[poll]\n{lines}{more}")
        os.makedirs(self.path("state"), exist_ok=True)

    def _start_simulator(self, scenario):
        if "\n" in scenario:
            scenario = self.write("scenario.conf", scenario)
        self.env_file = self.path("environment")
        # The command under the simulator only tells us its environment and waits for our end.
        command = [self.build + "/sim/ember-sim", "--scenario", scenario, "--control",
                   self.path("control.sock"), "--", "sh", "-c",
                   f"env -0 > {self.env_file}.new && mv {self.env_file}.new {self.env_file}; cat"]
        self._spawn("simulator", command, env=os.environ, stdin=subprocess.PIPE)
        self.wait(lambda: os.path.exists(self.env_file), "the simulator to start",
                  process="simulator")
        with open(self.env_file, "rb") as file:
            pairs = (item.partition(b"=") for item in file.read().split(b"\0") if item)
            self.env = {os.fsdecode(k): os.fsdecode(v) for k, _, v in pairs}

    def _spawn(self, name, command, env, stdin=subprocess.DEVNULL):
        log = open(self.path(name + ".log"), "ab")
        self.processes[name] = subprocess.Popen(command, env=env, stdin=stdin, stdout=log,
                                                stderr=log)
        log.close()

    def start_broker(self):
        command = [self.build + "/broker/ember-broker", "--socket", self.path("broker.sock"),
                   "--client-user", self.client, "--patience", self.patience,
                   "--log-level", "debug"]
        if self.policy is not None:
            command += ["--policy", self.path("policy.conf")]
        self._spawn("broker", command, self.env)
        self.wait(lambda: os.path.exists(self.path("broker.sock")), "the broker's socket",
                  process="broker")

    def start_emberd(self, wait=True):
        self._spawn("emberd", [self.build + "/daemon/emberd", "--config", self.path("emberd.conf"),
                               "--log-level", "debug"], self.env)
        if wait:
            self.wait(self.answers, "emberd to answer", process="emberd")

    def answers(self):
        try:
            return self.get("/v1/health")
        except (OSError, http.client.HTTPException):
            return None

    def kill(self, name, sig=signal.SIGTERM, timeout=20):
        process = self.processes.pop(name)
        process.send_signal(sig)
        if process.stdin:
            process.stdin.close()
        return process.wait(timeout)

    def stop(self):
        failed = []
        for name in ("emberd", "broker", "simulator"):
            process = self.processes.pop(name, None)
            if not process:
                continue
            code = self._end(process)
            if code not in (0, -signal.SIGTERM) or "ERROR: " in self.read(name + ".log"):
                failed.append(f"{name} ended with {code}:\n{self.read(name + '.log')[-4000:]}")
        shutil.rmtree(self.dir, ignore_errors=True)
        if failed:
            raise AssertionError("\n".join(failed))

    @staticmethod
    def _end(process):
        if process.stdin:
            process.stdin.close()
        else:
            process.terminate()
        try:
            return process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "no answer to SIGTERM"

    # -- asking ------------------------------------------------------------------------------

    def request(self, path, method="GET", headers=None, body=None, timeout=20, tcp=False):
        """(status, headers, body bytes)"""
        if tcp:
            connection = http.client.HTTPConnection(self.listen, timeout=timeout)
        else:
            connection = UnixConnection(self.path("emberd.sock"), timeout)
        try:
            try:
                connection.request(method, path, body=body, headers=headers or {})
            except BrokenPipeError:
                pass  # answered before all of the body had come
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, path, **kwargs):
        status, headers, body = self.request(path, **kwargs)
        if status != 200:
            raise HttpError(status, headers, body)
        if "json" in headers.get("Content-Type", ""):
            return json.loads(body)
        return body.decode()

    def values(self, drive, page="smart"):
        return self.get(f"/v1/drives/{drive}/{page}")["values"]

    def drive(self, name):
        return self.get(f"/v1/drives/{name}")

    def metrics(self):
        """{(name, frozenset of labels): value text}"""
        samples = {}
        for line in self.get("/metrics").splitlines():
            if not line or line.startswith("#"):
                continue
            series, _, value = line.rpartition(" ")
            key = parse_series(series)
            assert key not in samples, f"twice on the page: {series}"
            samples[key] = value
        return samples

    def metric(self, name, **labels):
        """The value text of the one sample that has these labels, or None."""
        found = [value for (metric, have), value in self.metrics().items()
                 if metric == name and labels.items() <= dict(have).items()]
        assert len(found) < 2, f"{name} {labels}: {len(found)} samples"
        return found[0] if found else None

    def control(self, *words):
        result = subprocess.run([self.build + "/sim/ember-sim", "control", "--control",
                                 self.path("control.sock"), *words], capture_output=True, text=True,
                                timeout=60)
        assert result.returncode == 0, f"control {words}: {result.stdout}{result.stderr}"
        text = result.stdout.strip()
        return json.loads(text) if text[:1] in ("{", "[") else text

    def counts(self, drive):
        return self.control("counts", drive)

    def run(self, *command, check=True, timeout=60):
        result = subprocess.run(command, env=self.env, capture_output=True, text=True,
                                timeout=timeout)
        if check:
            assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
        return result

    def emberctl(self, *arguments, check=True, env=None):
        result = subprocess.run([self.build + "/client/emberctl", "--socket",
                                 self.path("emberd.sock"), *arguments], capture_output=True,
                                text=True, timeout=60, env={**os.environ, **(env or {})})
        if check:
            assert result.returncode == 0, f"{arguments}: {result.stdout}{result.stderr}"
        return result

    def wait(self, condition, what, timeout=30, process=None):
        """Polls until condition() is true and returns its value."""
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if process and self.processes[process].poll() is not None:
                raise AssertionError(f"{process} ended while waiting for {what}:\n"
                                     + self.read(process + ".log")[-4000:])
            if time.monotonic() > deadline:
                logs = "".join(f"--- {name}\n{self.read(name + '.log')[-2000:]}"
                               for name in self.processes)
                raise AssertionError(f"no {what} within {timeout} s\n{logs}")
            time.sleep(0.01)

    def wait_read(self, drive, page="smart", **kwargs):
        """Until the drive's page has been read once; its document."""
        def read():
            try:
                document = self.get(f"/v1/drives/{drive}/{page}")
            except HttpError as error:
                if error.status != 404:
                    raise
                return None
            return document if document["attempted_at"] and document["status"] != "never-read" \
                else None
        return self.wait(read, f"a reading of {drive} {page}", **kwargs)

    def devices(self):
        return [drive["device"] for drive in self.get("/v1/drives?limit=4096")["drives"]]


def parse_series(series):
    """name{a="b"} -> (name, frozenset of pairs); only what the escaping rules allow."""
    name, brace, rest = series.partition("{")
    if not brace:
        return name, frozenset()
    labels, position = [], 0
    while rest[position] != "}":
        equals = rest.index('="', position)
        key, position, value = rest[position:equals], equals + 2, ""
        while rest[position] != '"':
            if rest[position] == "\\":
                value += {"n": "\n", "\\": "\\", '"': '"'}[rest[position + 1]]
                position += 2
            else:
                value += rest[position]
                position += 1
        labels.append((key, value))
        position += 1 + (rest[position + 1] == ",")
    return name, frozenset(labels)


def other_user():
    """A uid that is not ours, to be refused by; None without root."""
    return pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
