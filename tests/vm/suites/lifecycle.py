# SPDX-License-Identifier: Apache-2.0
"""What outlives what, with the real kernel and systemd: a drive that comes back under another name,
and an emberd that stands still and is restarted by the watchdog. And who may do what, over the
socket and over the network, in the sandbox that the units give."""
import json
import os
import tempfile

import network
from vm import DRIVES, Drive, Failure

NEWCOMER = Drive("drive-c", "VMC0003")
WATCHDOG_LIMIT = 30 + 20 + 30  # WatchdogSec and TimeoutStopSec of the unit, and a slow guest
HTTPS = "127.0.0.1:9443"
TLS = "/etc/ember/tls/"


def expect(condition, text, *seen):
    if not condition:
        raise Failure("\n".join([text] + [str(s) for s in seen]))


def drive(vm, serial):
    return vm.get("/v1/drives/" + serial)


def points(vm, serial):
    return vm.get("/v1/drives/%s/history?field=temperature_celsius" % serial)["points"]


def events(vm, **query):
    """Oldest first, of all pages."""
    found, cursor = [], None
    while True:
        text = "&".join("%s=%s" % pair for pair in query.items())
        page = vm.get("/v1/events?order=oldest&limit=50&%s%s" % (text, "&cursor=" + cursor if cursor else ""))
        found += page["events"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def post(vm, path, user=None, groups=None):
    """The status of a POST as some user over the unix socket, and its body."""
    ask = ["curl", "-sS", "--max-time", "%d" % (20 * vm.slowness), "-w", "\n%{http_code}", "-X", "POST", "--unix-socket",
           "/run/ember/emberd.sock", "http://localhost" + path]
    if groups:
        ask = ["setpriv", "--reuid", user, "--regid", "nogroup", "--groups", groups] + ask
        user = None
    body, _, status = vm.sh(ask, user=user).rpartition("\n")
    return int(status), json.loads(body) if body else None


def emberd_pid(vm):
    return int(vm.sh("systemctl show -P MainPID emberd"))


def unplug(vm, one):
    seen = len(vm.events)
    vm.qmp("device_del", id=one.name)
    vm.wait("QEMU let it go", lambda: [e for e in vm.events[seen:] if e["event"] == "DEVICE_DELETED"
                                       and e["data"].get("device") == one.name])
    vm.wait(one.serial + " is removed", lambda: drive(vm, one.serial)["state"] == "removed")


def plug(vm, one):
    vm.qmp("device_add", driver="nvme", id=one.name, serial=one.serial)
    vm.wait(one.serial + " is ok", lambda: drive(vm, one.serial)["state"] == "ok", 30)


def test_start(vm):
    "emberd watches the drives and keeps a history"
    vm.put("/etc/ember/emberd.conf.d/test.conf", "[poll]\nsmart_interval=1s\n")
    vm.sh("systemctl enable --now emberd")
    for one in DRIVES:
        vm.wait("history of " + one.serial, lambda: len(points(vm, one.serial)) >= 3, 30)


def test_replug(vm):
    "a drive that comes back as another nvmeN keeps its id and history, and the events tell so"
    one = DRIVES[0]
    before, history = drive(vm, one.serial), points(vm, one.serial)
    newest = events(vm)[-1]["id"]
    unplug(vm, one)
    plug(vm, NEWCOMER)
    expect(drive(vm, NEWCOMER.serial)["device"] == before["device"],
           "the newcomer did not take the name", drive(vm, NEWCOMER.serial))
    plug(vm, one)
    after = drive(vm, one.serial)
    expect(after["device"] != before["device"], "the name is the same", after)
    expect(after["id"] == before["id"], "another id", before, after)
    expect(drive(vm, NEWCOMER.serial)["id"] != before["id"], "the newcomer has its id", before)
    now, _ = vm.wait("new points", lambda: len(points(vm, one.serial)) > len(history)
                     and points(vm, one.serial))
    expect(now[:len(history)] == history, "the history is another", history, now)
    told = [e for e in events(vm) if int(e["id"]) > int(newest)]
    mine = [e for e in told if e["drive"] == before["id"]]
    kinds = [e["kind"] for e in mine]
    for kind in ("drive-removed", "drive-returned", "drive-renamed"):
        expect(kinds.count(kind) == 1, "not one event " + kind, *mine)
    expect(kinds.index("drive-removed") < kinds.index("drive-returned"), "the order", *mine)
    renamed = mine[kinds.index("drive-renamed")]
    expect((renamed["old_value"], renamed["new_value"]) == (before["device"], after["device"]),
           "the names", renamed)
    expect([e for e in told if e["kind"] == "drive-appeared" and e["serial"] == NEWCOMER.serial],
           "nothing tells of the newcomer", *told)
    known = {one.serial for one in (*DRIVES, NEWCOMER)}
    expect({d["serial"] for d in vm.get("/v1/drives")["drives"]} == known,
           "a drive that there never was", vm.get("/v1/drives"))
    changes = vm.sh("emberctl changes --drive " + one.serial)
    expect(before["device"] in changes and after["device"] in changes, "emberctl changes", changes)
    return "%s, now %s" % (before["device"], after["device"])


def test_who_may_change(vm):
    "root and members of ember-admin may change things over the unix socket, nobody else"
    path = "/v1/drives/%s/refresh" % DRIVES[1].serial
    expect(post(vm, path)[0] == 202, "root", post(vm, path))
    status, problem = post(vm, path, user="nobody")
    expect(status == 403 and "admin_group" in problem["detail"], "a stranger", status, problem)
    expect(post(vm, path, user="nobody", groups="ember-admin")[0] == 202, "group ember-admin")
    expect(post(vm, path, user="nobody", groups="ember")[0] == 403, "group ember")
    retire = "/v1/drives/%s/retire" % DRIVES[1].serial
    expect(post(vm, retire, user="nobody")[0] == 403, "retire by a stranger")
    # As people do it, and with the client.
    vm.sh("usermod -a -G ember-admin daemon")
    attempted = [p["attempted_at"] for p in drive(vm, DRIVES[1].serial)["pages"]
                 if p["page"] == "identify"]
    expect(vm.run("emberctl refresh " + DRIVES[1].serial, user="nobody").status != 0, "emberctl")
    vm.sh("emberctl refresh " + DRIVES[1].serial, user="daemon")
    expect([p["attempted_at"] for p in drive(vm, DRIVES[1].serial)["pages"]
            if p["page"] == "identify"] > attempted, "nothing was read")


def put_certificate(vm, owner="root:ember", mode="0640"):
    """A new certificate and key where the unit's emberd looks; returns the guest's path of a copy."""
    with tempfile.TemporaryDirectory() as directory:
        network.make_certificate(directory, days=365)
        for name in ("cert.pem", "key.pem"):
            with open(os.path.join(directory, name)) as source:
                text = source.read()
            vm.put(TLS + name, text, mode)
            vm.sh("chown %s %s" % (owner, TLS + name))
            if name == "cert.pem":
                copy = "/root/ca-%d.pem" % int(vm.sh("ls /root/ca-*.pem 2>/dev/null | wc -l"))
                vm.put(copy, text)
    return copy


def fetch(vm, ca, token=None, path="/v1/drives", method="GET"):
    """The status over TLS, or 0 when curl does not trust the certificate."""
    result = vm.run(["curl", "-sS", "--max-time", "%d" % (20 * vm.slowness), "-o", "/dev/null",
                     "-w", "%{http_code}", "-X", method, "--cacert", ca]
                    + (["-H", "Authorization: Bearer " + token] if token else [])
                    + ["https://" + HTTPS + path])
    expect(result.status in (0, 60), "curl", result)
    return int(result.out) if result.status == 0 else 0


def test_network(vm):
    "over TLS a token reads and changes nothing; a reload takes a renewed certificate"
    seen = vm.sh("stat -c '%%a %%U %%G' %s" % TLS).strip()
    expect(seen == "750 root ember", TLS, seen)
    first = put_certificate(vm)
    vm.put("/etc/ember/emberd.conf.d/network.conf", "[https]\nlisten=%s\n" % HTTPS)
    vm.sh("systemctl restart emberd")
    expect(vm.run("emberctl token create stranger", user="nobody").status != 0, "a stranger's")
    token = vm.sh("emberctl token create prometheus").strip()
    expect(fetch(vm, first) == 401, "without a token", fetch(vm, first))
    expect(fetch(vm, first, token) == 200, "with a token", fetch(vm, first, token))
    refresh = "/v1/drives/%s/refresh" % DRIVES[0].serial
    expect(fetch(vm, first, token, refresh, "POST") in (403, 405), "an order over the network")
    pid = emberd_pid(vm)
    second = put_certificate(vm)
    vm.sh("systemctl reload emberd")
    vm.wait("the renewed certificate", lambda: fetch(vm, second, token) == 200)
    expect(fetch(vm, first, token) == 0, "the first certificate is still shown")
    # One that the service cannot read changes nothing, and is told.
    put_certificate(vm, "root:root", "0600")
    vm.sh("systemctl reload emberd")
    vm.wait("the journal names the file", lambda: TLS in vm.sh(
        "journalctl --no-pager -o cat -u emberd -p warning"))
    expect(fetch(vm, second, token) == 200, "the certificate in use is not kept")
    vm.sh("chgrp ember %s* && chmod 640 %s*" % (TLS, TLS))
    vm.sh("systemctl reload emberd")
    expect(emberd_pid(vm) == pid, "a reload restarted emberd")


# Nobody sets the clock of the guest.
NOT_OURS = ("clock",)


def test_doctor(vm):
    "emberctl doctor finds all in order, as root and as anybody"
    for user in (None, "daemon", "nobody"):
        result = vm.run("emberctl doctor --json", user=user)
        findings = json.loads(result.out)["findings"] if result.out else []
        wrong = [f for f in findings if f["result"] != "ok" and f["check"] not in NOT_OURS]
        expect(result.status == 0 and findings and not wrong, "as %s" % (user or "root"), result,
               *wrong)
    return "%d findings" % len(findings)


def test_watchdog(vm):
    "an emberd that stands still is restarted by systemd, and nothing acknowledged is lost"
    unplug(vm, NEWCOMER)
    status, answer = post(vm, "/v1/drives/%s/retire" % NEWCOMER.serial, "nobody", "ember-admin")
    expect(status == 200 and answer["state"] == "retired", "retire", status, answer)
    vm.wait("the event", lambda: "drive-retired" in [e["kind"] for e in events(vm)])
    histories = {one.serial: points(vm, one.serial) for one in DRIVES}
    told, pid = events(vm), emberd_pid(vm)
    begin = vm.sh("date -u +%Y-%m-%dT%H:%M:%S").strip()
    vm.sh("kill -STOP %d" % pid)
    vm.wait("another emberd", lambda: emberd_pid(vm) not in (0, pid), WATCHDOG_LIMIT)
    _, seconds = vm.wait("polls go on", lambda: all(
        points(vm, one.serial)[-1]["at"] > begin for one in DRIVES), 30)
    for serial, seen in histories.items():
        now = points(vm, serial)
        expect(now[:len(seen)] == seen, "history of %s" % serial, seen, now[:len(seen)])
    now = events(vm)
    expect(now[:len(told)] == told, "events", told, now)
    expect(drive(vm, NEWCOMER.serial)["state"] == "retired", "what was answered with 200 is lost")
    expect(vm.sh("systemctl show -P NRestarts emberd").strip() == "1", "restarts")
    expect("watchdog" in vm.sh("journalctl --no-pager -o cat -u emberd").lower(), "the journal")
    whole = vm.sh(["python3", "-c", "import sqlite3; print(*sqlite3.connect("
                   "'/var/lib/ember/ember.db').execute('pragma integrity_check').fetchone())"])
    expect(whole.strip() == "ok", "the database", whole)
    return "%d points and %d events kept" % (sum(map(len, histories.values())), len(told))
