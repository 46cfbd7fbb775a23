# SPDX-License-Identifier: Apache-2.0
"""emberctl doctor on a host with simulated drives: what it finds, and what it says to do."""
import json
import os
import signal
import subprocess

import harness


def examine(host, *arguments, code=0):
    """{check: [finding]} of the report."""
    env = dict(host.env)
    env["PATH"] = f"{host.build}/daemon:{host.build}/broker:{env['PATH']}"
    env["EMBER_SOCKET"] = host.path("emberd.sock")
    result = subprocess.run([host.build + "/client/emberctl", "doctor", "--json",
                                     *arguments], env=env, capture_output=True, text=True,
                                    timeout=60)
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
    finding = one(checks, "emberd", "fail", "does not answer")
    assert "systemctl enable --now emberd" in finding["advice"], finding
    assert "drives" not in checks and "kernel" in checks, set(checks)


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
    host.wait(lambda: host.get("/v1/health")["drives"]["removed"] == 1, "nvme4 to be gone")
    checks = examine(host, "--config", host.path("emberd.conf"))
    one(checks, "drives", "warn", "1 of them does not answer")
    finding = one(checks, "drives", "warn", "1 of them is gone")
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
