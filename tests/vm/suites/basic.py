# SPDX-License-Identifier: Apache-2.0
"""The installed files under the real systemd and the real NVMe driver: one path from a drive to a
person, and what the sandbox, the policy and the broker's socket keep apart."""
import json
import re

import broker_client
import witnesses
from vm import DRIVES, Failure

# How long an asynchronous event may take to the API.
EVENT_LIMIT = 2.0
UNITS = ("emberd.service", "ember-broker.service", "ember-broker.socket")
CAP_SYS_ADMIN = 1 << 21


def expect(condition, text, *seen):
    if not condition:
        raise Failure("\n".join([text] + [str(s) for s in seen]))


def smart(vm, serial):
    return vm.get("/v1/drives/%s/smart" % serial)


def main_pid(vm, unit):
    return int(vm.sh("systemctl show -P MainPID " + unit))


def process_status(vm, unit):
    """/proc/PID/status of a unit's main process as a dictionary."""
    lines = vm.sh("cat /proc/%d/status" % main_pid(vm, unit)).splitlines()
    return dict((part.strip() for part in line.split(":", 1)) for line in lines if ":" in line)


def fresh_drive(vm, serial):
    page = smart(vm, serial)
    return page["valid"] and page["state"] == "ok"


def test_enable(vm):
    "systemctl enable --now emberd is the only step from installed files to active units"
    vm.sh("systemctl enable --now emberd")
    for unit in UNITS:
        vm.wait(unit + " is active", lambda: vm.run("systemctl is-active " + unit).status == 0)
    for unit in ("emberd.service", "ember-broker.socket"):
        expect(vm.run("systemctl is-enabled " + unit).status == 0, unit + " is not enabled")


def test_units(vm):
    "systemd-analyze verify says nothing about the installed units"
    result = vm.run("systemd-analyze verify --man=no " + " ".join(UNITS))
    expect(result.status == 0 and not (result.out + result.err).strip(), "verify complains", result)
    figures = vm.sh("for u in emberd ember-broker; do systemd-analyze security --no-pager $u.service"
                    " | sed -n 's/.*exposure level for //p'; done")
    return ", ".join(figures.split("\n")).strip(", ")


def test_drives(vm):
    "emberctl and the API show both drives, and the namespaces of each"
    for drive in DRIVES:
        vm.wait(drive.serial + " has a reading", lambda: fresh_drive(vm, drive.serial))
    table = vm.sh("emberctl drives")
    for drive in DRIVES:
        expect(drive.serial in table, "emberctl drives lacks " + drive.serial, table)
        shown = vm.get("/v1/drives/" + drive.serial)
        expect(shown["namespaces"] == list(range(1, len(drive.namespaces) + 1)),
               "namespaces of " + drive.serial, shown["namespaces"])
        expect(shown["model"] == "QEMU NVMe Ctrl", "model", shown["model"])


def test_user(vm):
    "any user may look, with emberctl over the socket"
    expect(DRIVES[0].serial in vm.sh("emberctl show " + DRIVES[0].serial, user="nobody"),
           "emberctl show as nobody")


def test_critical_warning(vm):
    "an asynchronous event of the drive reaches the API at once, and so does the next one"
    drive = DRIVES[0]
    shown = vm.get("/v1/drives/" + drive.serial)
    interval = [p for p in shown["pages"] if p["page"] == "smart"][0]["interval_seconds"]
    expect(interval >= 30, "polls are too frequent for this to show anything", interval)
    took = []
    for bits in (1 << 1, 1 << 1 | 1 << 2):
        vm.set_warning(drive.name, bits)
        took.append(vm.wait(
            "critical warning %d" % bits,
            lambda: smart(vm, drive.serial)["values"]["critical_warning"] == bits,
            EVENT_LIMIT)[1])
    vm.set_warning(drive.name, 0)
    return "bit 1 after %.2f s, bit 2 after %.2f s" % tuple(took)


def differences(vm, drive):
    """Fields in which a reading made after nvme-cli's own differs from it, and how many there are."""
    shown = vm.get("/v1/drives/" + drive.serial)
    log = json.loads(vm.sh("nvme smart-log -o json /dev/" + shown["device"]))
    before = smart(vm, drive.serial)["read_at"]

    def newer():
        page = smart(vm, drive.serial)
        return page["read_at"] > before and page

    page, _ = vm.wait("a reading after nvme-cli's", newer)
    identify = vm.get("/v1/drives/%s/identify" % drive.serial)["values"]
    return witnesses.differences(page["values"], identify, [("nvme-cli", log, 1)])


def test_reload(vm):
    "systemctl reload takes a new interval, and keeps the old one when the file is wrong"
    def interval():
        pages = vm.get("/v1/drives/" + DRIVES[0].serial)["pages"]
        return [p for p in pages if p["page"] == "smart"][0]["interval_seconds"]

    pid = main_pid(vm, "emberd")
    vm.put("/etc/ember/emberd.conf.d/test.conf", "[poll]\nsmart_interval=1s\n")
    vm.sh("systemctl reload emberd")
    vm.wait("the interval is one second", lambda: interval() == 1)
    vm.put("/etc/ember/emberd.conf.d/test.conf", "[poll]\nsmart_interval=soon\n")
    expect(vm.run("emberd --check-config").status != 0, "--check-config accepts a bad file")
    vm.sh("systemctl reload emberd")
    vm.wait("the journal names file and line", lambda: "test.conf:2" in vm.sh(
        "journalctl --no-pager -o cat -u emberd"))
    expect(interval() == 1, "a bad file changed the interval", interval())
    vm.put("/etc/ember/emberd.conf.d/test.conf", "[poll]\nsmart_interval=1s\n")
    vm.sh("systemctl reload emberd")
    expect(main_pid(vm, "emberd") == pid, "a reload restarted emberd")


def test_calendar(vm):
    "systemd reads the schedule of self-tests, inside emberd's sandbox"
    def told():
        return [reason for reason in vm.get("/v1/health")["reasons"] if "short_schedule" in reason]

    conf = "/etc/ember/emberd.conf.d/calendar.conf"
    vm.put(conf, "[selftest]\nshort_schedule=every now and then\n")
    vm.sh("systemctl reload emberd")
    vm.wait("systemd's word against it", lambda: told() and "Failed to parse" in told()[0])
    vm.put(conf, "[selftest]\nshort_schedule=yearly\n")
    vm.sh("systemctl reload emberd")
    vm.wait("a schedule that systemd understands", lambda: not told())
    vm.sh("rm " + conf)
    vm.sh("systemctl reload emberd")


def test_witness(vm):
    "every SMART field equals what nvme-cli says in the same run, on both drives"
    total = 0
    for drive in DRIVES:
        # Counters of reads move by themselves now and then; a wrong offset never agrees.
        for _ in range(4):
            wrong, compared = differences(vm, drive)
            if not wrong:
                break
        expect(not wrong, drive.serial, *wrong)
        total += compared
    expect(total > 20 * len(DRIVES), "hardly anything was compared", total)
    return "%d values" % total


def test_privileges(vm):
    "emberd has no capability and no way to get one, the broker has CAP_SYS_ADMIN alone"
    emberd, broker = process_status(vm, "emberd"), process_status(vm, "ember-broker")
    for key in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"):
        expect(int(emberd[key], 16) == 0, "emberd has " + key, emberd[key])
    expect(emberd["NoNewPrivs"] == "1" and emberd["Seccomp"] == "2", "emberd's filter", emberd)
    expect(set(emberd["Uid"].split()) == {vm.sh("id -u ember").strip()}, "uid", emberd["Uid"])
    for key in ("CapEff", "CapPrm", "CapBnd"):
        expect(int(broker[key], 16) == CAP_SYS_ADMIN, "the broker's " + key, broker[key])
    expect(broker["NoNewPrivs"] == "1" and broker["Seccomp"] == "2", "the broker's filter", broker)


def test_files(vm):
    "sockets and state have the owners and modes that keep others out"
    wanted = {"/run/ember": "1775 root ember", "/run/ember/broker.sock": "660 root ember",
              "/run/ember/emberd.sock": "666 ember ember", "/var/lib/ember": "750 ember ember"}
    for path, text in wanted.items():
        seen = vm.sh("stat -c '%a %U %G' " + path).strip()
        expect(seen == text, "%s is %s, not %s" % (path, seen, text))


# Connects as the broker's clients do and waits for what the other side does first.
STRANGER = """
import socket, sys
peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
peer.settimeout(10)
peer.connect("/run/ember/broker.sock")
try:
    print("data" if peer.recv(65536) else "closed")
except ConnectionResetError:
    print("closed")
"""


def test_strangers(vm):
    "a peer of any other uid is closed at connect, and the journal says whose it was"
    for who, uid in (("nobody", 65534), ("root", 0)):
        # The group gets it past the socket's mode; only the uid is left to tell.
        seen = vm.sh(["setpriv", "--reuid", who, "--regid", "ember", "--clear-groups",
                      "python3", "-c", STRANGER]).strip()
        expect(seen == "closed", "uid %d got: %s" % (uid, seen))
        vm.wait("a journal line with that uid", lambda: vm.sh(
            "journalctl --no-pager -o cat -u ember-broker EM_PEER_UID=%d" % uid).strip())
    expect(vm.run(["runuser", "-u", "nobody", "--", "python3", "-c", STRANGER]).status != 0,
           "the socket's mode lets others connect")


CLIENT = "/usr/local/lib/ember-test/broker_client.py"


def audited(vm, answer):
    """{(class, operation)} that the broker's journal says user ember was answered so."""
    lines = vm.sh("journalctl --no-pager -o json -u ember-broker EM_ANSWER=%s "
                  "EM_PEER_UID=$(id -u ember)" % answer).splitlines()
    return {(entry["EM_CLASS"], entry["EM_OPERATION"]) for entry in map(json.loads, lines)}


def test_policy(vm):
    "what the policy denies or leaves to root is answered so to user ember, and the journal has it"
    with open(broker_client.__file__) as source:
        vm.put(CLIENT, source.read())
    operations = {cls: op for op, cls in broker_client.CLASSES.items()}
    ask_all = "for op in %s; do python3 %s /run/ember/broker.sock nvme1 $op; done" % (
        " ".join(operations.values()), CLIENT)
    for word, answer in (("deny", "denied"), ("confirm", "needs-confirmation")):
        vm.put("/etc/ember/policy.conf", "[default]\n"
               + "".join("%s=%s\n" % (cls, word) for cls in operations))
        vm.sh("systemctl reload ember-broker")
        vm.wait("all are answered " + answer, lambda: [
            line.split(" ")[0] for line in vm.run(ask_all, user="ember").out.splitlines()]
            == [answer] * len(operations), 10)
        vm.wait("the journal has all of them", lambda: audited(vm, answer) >= set(
            operations.items()))
    # An empty one: a file that vanished would leave its rules in force.
    vm.put("/etc/ember/policy.conf", "[default]\n")
    vm.sh("systemctl reload ember-broker")
    denied = smart(vm, DRIVES[1].serial)["attempted_at"]
    vm.wait("polls go on once they are allowed", lambda: (
        lambda page: page["read_at"] > denied)(smart(vm, DRIVES[1].serial)))
    vm.sh("rm /etc/ember/policy.conf")
    return "%d classes, denied and left to root" % len(operations)


def test_history(vm):
    "a restart of emberd keeps the history, its sockets and the broker's"
    path = "/v1/drives/%s/history?field=temperature_celsius" % DRIVES[0].serial

    def points():
        return vm.get(path)["points"]

    before, _ = vm.wait("some history", lambda: len(points()) >= 2 and points())
    vm.sh("systemctl restart emberd")
    after, _ = vm.wait("new points", lambda: len(points()) > len(before) and points())
    expect(after[:len(before)] == before, "history changed", before, after)
    expect(vm.sh("stat -c %F /run/ember/broker.sock").strip() == "socket", "broker.sock is gone")


def test_broker_killed(vm):
    "emberd outlives a SIGKILL of the broker and finds the next one"
    broker, emberd = main_pid(vm, "ember-broker"), main_pid(vm, "emberd")
    vm.sh("kill -KILL %d" % broker)
    vm.wait("a new broker", lambda: main_pid(vm, "ember-broker") not in (0, broker))
    begin = vm.sh("date -u +%Y-%m-%dT%H:%M:%S").strip()
    _, seconds = vm.wait("polls go on", lambda: smart(vm, DRIVES[0].serial)["read_at"] > begin)
    expect(vm.get("/v1/health")["broker"]["connected"], "health says not connected")
    expect(main_pid(vm, "emberd") == emberd, "emberd was restarted")
    return "polls went on %.1f s later" % seconds


def test_unplug(vm):
    "a drive unplugged is shown as removed, with its last values and their age, and comes back"
    drive = DRIVES[0]
    identity = vm.get("/v1/drives/" + drive.serial)["id"]
    last = smart(vm, drive.serial)["values"]
    vm.qmp("device_del", id=drive.name)
    _, seconds = vm.wait("removed", lambda: vm.get("/v1/drives/" + drive.serial)["state"] == "removed")
    page = smart(vm, drive.serial)
    expect(page["valid"] and page["read_at"] and page["age_seconds"] >= 0, "no last values", page)
    expect(page["values"]["temperature_celsius"] == last["temperature_celsius"], "values", page)
    table = vm.sh("emberctl drives")
    expect([line for line in table.splitlines() if drive.serial in line and "removed" in line],
           "emberctl drives does not say so", table)
    up = [line for line in vm.sh("curl -sS --unix-socket /run/ember/emberd.sock "
                                 "http://localhost/metrics").splitlines() if drive.serial in line]
    expect(any(l.startswith("ember_drive_up{") and l.endswith(" 0") for l in up), "drive_up", *up)
    expect(not any(l.startswith("ember_temperature_celsius{") for l in up),
           "a removed drive still has a temperature", *up)
    vm.wait("QEMU let it go", lambda: [e for e in vm.events if e["event"] == "DEVICE_DELETED"
                                       and e["data"].get("device") == drive.name])
    vm.qmp("device_add", driver="nvme", id=drive.name, serial=drive.serial)
    vm.wait("the same drive is back", lambda: fresh_drive(vm, drive.serial), 30)
    expect(vm.get("/v1/drives/" + drive.serial)["id"] == identity, "it came back as another drive")
    return "removed after %.2f s" % seconds


def test_clean(vm):
    "nothing failed or was restarted on the way but the broker that was killed"
    expect(not vm.sh("systemctl --failed --no-legend --plain").strip(), "failed units",
           vm.sh("systemctl --failed --no-legend"))
    expect(vm.sh("systemctl show -P NRestarts emberd").strip() == "0", "emberd was restarted")
    lines = vm.sh("journalctl --no-pager -o cat -p err -u emberd")
    expect(not re.search(r"(?i)sanitizer|assert|watchdog", lines), "errors in the journal", lines)
