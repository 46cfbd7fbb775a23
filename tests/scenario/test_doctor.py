# SPDX-License-Identifier: Apache-2.0
"""emberctl doctor on a host with simulated drives: what it finds, and what it says to do."""
import csv
import json
import os
import signal
import subprocess

import harness


def examine(host, *arguments, code=0, **how):
    """{check: [finding]} of the report; how goes to subprocess.run()."""
    env = dict(host.env)
    env["PATH"] = f"{host.build}/daemon:{host.build}/broker:{env['PATH']}"
    env["EMBER_SOCKET"] = host.path("emberd.sock")
    result = subprocess.run([host.build + "/client/emberctl", "doctor", "--json",
                                     *arguments], env=env, capture_output=True, text=True,
                                    timeout=60, **how)
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    report = json.loads(result.stdout)
    assert report["complete"] and report["result"] in ("ok", "warn", "fail"), report
    assert (report["result"] == "fail") == (code == 1), report
    checks = {}
    for finding in report["findings"]:
        assert set(finding) == {"check", "result", "summary", "advice"}, finding
        assert finding["result"] == "ok" or finding["advice"], finding
        checks.setdefault(finding["check"], []).append(finding)
    return checks


def one(checks, check, result, words):
    found = [f for f in checks.get(check, []) if words in f["summary"] + (f["advice"] or "")]
    assert len(found) == 1, (check, words, checks.get(check))
    assert found[0]["result"] == result, found
    return found[0]


def read_all(host):
    for device in host.devices():
        host.wait_read(device, "identify")
        host.wait_read(device, "smart")


def test_a_host_in_order():
    host = harness.Host()
    read_all(host)
    host.wait(lambda: len(host.devices()) == 8, "all drives")
    checks = examine(host, "--config", host.path("emberd.conf"))
    one(checks, "kernel", "ok", "8 controllers")
    one(checks, "configuration", "ok", "in order")
    one(checks, "emberd", "ok", "answers")
    one(checks, "broker", "ok", "connected")
    one(checks, "history", "ok", "written")
    one(checks, "drives", "ok", "8 drives")
    one(checks, "listeners", "ok", host.path("emberd.sock"))
    one(checks, "disk", "ok", host.path("state"))
    assert all(f["result"] == "ok" for f in checks["versions"]), checks["versions"]
    one(checks, "pages", "ok", "nvme6: not announced, so not asked: selftest")
    assert {"user", "units", "policy", "clock", "tools"} <= set(checks), set(checks)
    counts = [host.counts(device)["error_log_entries"] for device in host.devices()]
    assert not any(counts), counts


def test_it_asks_no_drive():
    host = harness.Host(poll={key + "_interval": "7d" for key in
                              ("smart", "selftest", "firmware", "identify", "errors", "effects",
                               "sanitize")})
    read_all(host)
    host.wait(lambda: not any(p["status"] == "never-read" for d in host.devices()
                              for p in host.drive(d)["pages"]), "every page's first reading")
    host.wait(lambda: stable(host), "the drives to be left alone")
    before = host.get("/v1/health")["broker"]["requests_total"]
    examine(host, "--config", host.path("emberd.conf"))
    after = host.get("/v1/health")["broker"]["requests_total"]
    assert before == after, (before, after)


def stable(host):
    """Ten looks in a row at the broker's counter show the same."""
    seen = {host.get("/v1/health")["broker"]["requests_total"] for _ in range(10)}
    return len(seen) == 1


def test_without_emberd():
    host = harness.Host()
    host.kill("emberd")
    checks = examine(host, code=1)
    finding = one(checks, "emberd", "fail", "emberd is not running: there is no socket")
    assert "systemctl start emberd" in finding["advice"], finding
    assert "drives" not in checks and "kernel" in checks, set(checks)


def test_with_an_emberd_that_hangs():
    host = harness.Host()
    host.processes["emberd"].send_signal(signal.SIGSTOP)
    try:
        checks = examine(host, "--timeout", "300ms", code=1)
    finally:
        host.processes["emberd"].send_signal(signal.SIGCONT)
    finding = one(checks, "emberd", "fail", "did not answer within")
    assert "journalctl -u emberd" in finding["advice"], finding


def test_from_another_host():
    checks = examine(harness.Host(), "--url", "http://emberd.invalid:9980", "--timeout", "5s", code=1)
    assert set(checks) == {"emberd"}, checks
    one(checks, "emberd", "fail", "the host's name in http://emberd.invalid:9980 is not known")
    one(checks, "emberd", "ok", "on another host")


def test_as_somebody_else():
    """An ordinary user sees the same, but for orders; and is told where a door is shut."""
    if os.geteuid() != 0:
        return "root alone can be somebody else"
    host = harness.Host()
    read_all(host)
    os.chmod(host.path("emberd.sock"), 0o600)
    finding = one(examine(host, code=1, user=65534, group=65534, extra_groups=[]), "emberd", "fail", "may not connect")
    assert "as a user who may" in finding["advice"], finding
    os.chmod(host.path("emberd.sock"), 0o666)
    os.chmod(host.dir, 0o755)
    checks = examine(host, "--config", host.path("emberd.conf"), user=65534, group=65534, extra_groups=[])
    one(checks, "emberd", "ok", "answers")
    assert "may give no orders" in checks["user"][0]["summary"], checks["user"]
    one(checks, "policy", "ok", "built-in policy")


def test_without_the_broker():
    host = harness.Host()
    host.kill("broker", signal.SIGKILL)
    host.wait(lambda: not host.get("/v1/health")["broker"]["connected"], "emberd to notice")
    finding = one(examine(host, code=1), "broker", "fail", "not connected")
    assert "journalctl -u ember-broker" in finding["advice"], finding


def test_a_bad_configuration_is_told_by_line():
    host = harness.Host()
    bad = host.write("bad.conf", "[poll]\nsmart_intervall=1s\n")
    finding = one(examine(host, "--config", bad, code=1), "configuration", "fail", "smart_intervall")
    assert finding["summary"].startswith(f"{bad}:2: unknown key"), finding


def test_trouble_of_drives():
    host = harness.Host(poll={"smart_interval": "50ms"}, patience="100ms")
    read_all(host)
    host.control("hang", "nvme3")
    host.control("vanish", "nvme4")
    host.wait(lambda: host.drive("nvme3")["state"] == "unresponsive", "nvme3 to be given up")
    host.wait(lambda: any(page["status"] not in ("ok", "never-read", "unsupported")
                          for page in host.drive("nvme3")["pages"]), "a page of nvme3 not to be read")
    host.wait(lambda: host.get("/v1/health")["drives"]["removed"] == 1, "nvme4 to be gone")
    checks = examine(host, "--config", host.path("emberd.conf"))
    one(checks, "drives", "warn", "1 drive does not answer: nvme3")
    finding = one(checks, "drives", "warn", "1 drive is gone: nvme4")
    assert "emberctl retire" in finding["advice"], finding
    one(checks, "pages", "warn", "nvme3: not read: ")


def test_a_listener_that_is_gone():
    host = harness.Host()
    os.rename(host.path("emberd.sock"), host.path("moved.sock"))
    env = dict(host.env, EMBER_SOCKET=host.path("moved.sock"))
    result = subprocess.run([host.build + "/client/emberctl", "doctor"], env=env,
                                    capture_output=True, text=True, timeout=60)
    os.rename(host.path("moved.sock"), host.path("emberd.sock"))
    assert result.returncode == 1, result.stdout
    line = next(t for t in result.stdout.splitlines() if "listeners" in t)
    assert line.startswith("fail") and host.path("emberd.sock") in line, line


def test_csv_has_a_line_per_finding():
    host = harness.Host()
    env = dict(host.env, EMBER_SOCKET=host.path("emberd.sock"))
    result = subprocess.run([host.build + "/client/emberctl", "doctor", "--csv"], env=env,
                            capture_output=True, text=True, timeout=60)
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert set(rows[0]) == {"result", "check", "summary", "advice"}, rows[0]
    assert ("ok", "broker") in {(row["result"], row["check"]) for row in rows}, rows
    assert all(row["result"] == "ok" or row["advice"] for row in rows), rows
