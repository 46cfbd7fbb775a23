# SPDX-License-Identifier: Apache-2.0
"""Device self-tests: begun, watched, ended, refused, and by the schedule. nvme-cli is the witness."""
import json
import signal
import sqlite3
import threading

from harness import Host
from test_drives import asked, settle
from test_events import heard, newest

FAST = {"smart_interval": "50ms", "selftest_interval": "50ms", "identify_interval": "100ms",
        "sanitize_interval": "50ms"}
QUIET = {"smart_interval": "1h", "identify_interval": "1h"}
ONE = """
[drive]
product = 6530
serial = SNA
"""
SELF_TEST = "self-test"


def begun(poll=None, scenario=ONE, **more):
    host = Host(scenario=scenario, poll=poll or FAST, **more)
    settle(host, "SNA")
    return host


def order(host, test, drive="SNA"):
    status, headers, body = host.request(f"/v1/drives/{drive}/selftest?test={test}", method="POST")
    return status, json.loads(body), headers


def page(host, drive="SNA"):
    return host.get(f"/v1/drives/{drive}/selftest")["values"]


def witness(host, device="nvme0"):
    """Log page 06h as nvme-cli reads it."""
    return json.loads(host.run("nvme", "self-test-log", f"/dev/{device}", "-o", "json").stdout)


def wait_until(host, running, drive="SNA"):
    host.wait(lambda: page(host, drive)["in_progress"] == running, f"in_progress {running}")


def test_from_its_beginning_to_its_end():
    host = begun()
    since = newest(host)
    assert host.metric("ember_selftest_last_passed", serial="SNA") is None, "none has run"
    status, answer, headers = order(host, "short")
    assert status == 202 and answer["test"] == "short" and answer["serial"] == "SNA", answer
    assert headers["Location"] == f"/v1/drives/{answer['drive']}/selftest", headers
    started = heard(host, "selftest-started", since)
    assert started["subject"] == "short" and not started["change"], started
    assert witness(host)["Current Device Self-Test Operation"] == 1
    host.control("speed", "20")
    host.wait(lambda: (page(host)["percent"] or 0) > 0, "progress")
    assert page(host)["running_test"] == "short"
    host.control("speed", "1000")
    ended = heard(host, "selftest-ended", since)
    assert (ended["subject"], ended["new_value"]) == ("short", "passed"), ended
    wait_until(host, False)
    assert host.metric("ember_selftest_last_passed", serial="SNA") == "1"
    assert witness(host)["Current Device Self-Test Operation"] == 0
    assert asked(host, "nvme0", SELF_TEST) == 1
    assert "self-test (class test, page 01h) on nvme0" in host.read("broker.log")


def test_a_test_that_fails_is_told_with_its_segment():
    host = begun(scenario="[sim]\nspeed = 1000\n" + ONE)
    since = newest(host)
    host.control("selftest", "nvme0", "7", "3")
    assert order(host, "short")[0] == 202
    ended = heard(host, "selftest-ended", since)
    assert ended["new_value"] == "failed_segment" and ended["summary"].endswith("segment 3"), ended
    assert page(host)["results"][0]["segment"] == 3
    seen = witness(host)["List of Valid Reports"][0]
    assert (seen["Self test result"], seen["Self test code"], seen["Segment number"]) == (7, 1, 3)
    assert host.metric("ember_selftest_last_passed", serial="SNA") == "0"
    # The next one is as the drive is.
    since = newest(host)
    assert order(host, "short")[0] == 202
    assert heard(host, "selftest-ended", since)["new_value"] == "passed"


def test_one_at_a_time():
    host = begun()
    assert order(host, "extended")[0] == 202
    status, problem, _ = order(host, "short")
    assert status == 409 and "running" in problem["detail"], problem
    assert asked(host, "nvme0", SELF_TEST) == 1, "the log was looked at first"
    since = newest(host)
    assert order(host, "abort")[0] == 202
    assert heard(host, "selftest-ended", since)["new_value"] == "aborted_by_command"
    wait_until(host, False)
    status, problem, _ = order(host, "abort")
    assert status == 409 and "No self-test" in problem["detail"], problem
    assert host.metric("ember_selftest_last_passed", serial="SNA") is None, "nothing came to its end"


def test_what_the_drive_says_of_one_that_runs():
    """The log did not show it: the drive's own word."""
    host = begun()
    host.control("refuse", "nvme0", SELF_TEST, "0x11d")
    status, problem, _ = order(host, "short")
    assert status == 409 and "running already" in problem["detail"], problem
    host.control("accept", "nvme0")
    host.control("refuse", "nvme0", SELF_TEST, "0x4002")
    status, problem, _ = order(host, "short")
    assert status == 409 and "does not do it" in problem["detail"], problem
    assert host.drive("SNA")["state"] == "ok"


def test_progress_is_looked_at_more_often():
    """Only the start makes the log be read, and what is seen there."""
    host = begun(poll={**QUIET, "selftest_interval": "1h"})
    before = asked(host, "nvme0", "get-log 0x06")
    assert order(host, "short")[0] == 202
    wait_until(host, True)
    assert asked(host, "nvme0", "get-log 0x06") == before + 2, "before and after"
    host.control("speed", "1000")
    wait_until(host, False)


def test_drives_that_cannot():
    host = begun(scenario=ONE + """
[drive]
product = minimal
serial = SNB

[drive]
product = 6530
serial = SNC
sstat = 2
""")
    settle(host, "SNB", "SNC")
    status, problem, _ = order(host, "short", "SNB")
    assert status == 409 and "no device self-test" in problem["detail"], problem
    status, problem, _ = order(host, "short", "SNC")
    assert status == 409 and "sanitized" in problem["detail"], problem
    for device in "nvme1", "nvme2":
        assert asked(host, device, SELF_TEST) == 0
    host.control("vanish", "nvme0")
    host.wait(lambda: host.drive("SNA")["state"] == "removed", "removed")
    status, problem, _ = order(host, "short")
    assert status == 409 and "not there" in problem["detail"], problem
    status, problem, _ = order(host, "vendor")
    assert status == 400, problem


def test_drives_of_one_subsystem_take_turns():
    host = begun(scenario="""
[drive]
product = 6530
serial = SNA
nqn = nqn.2026-01.org.example:one

[drive]
product = 6530
serial = SNB
nqn = nqn.2026-01.org.example:one

[drive]
product = 6530
serial = SNC
nqn = nqn.2026-01.org.example:two
dsto = 0

[drive]
product = 6530
serial = SND
nqn = nqn.2026-01.org.example:two
dsto = 0
""")
    settle(host, "SNB", "SNC", "SND")
    assert order(host, "short")[0] == 202
    wait_until(host, True)
    status, problem, _ = order(host, "short", "SNB")
    assert status == 409 and "same subsystem" in problem["detail"], problem
    assert order(host, "short", "SNC")[0] == 202
    assert order(host, "short", "SND")[0] == 202, "it does not say that it takes turns"
    assert order(host, "abort")[0] == 202
    wait_until(host, False)
    assert order(host, "short", "SNB")[0] == 202


def test_the_policy_has_the_last_word():
    host = begun(policy="[default]\ntest = deny\n")
    status, problem, _ = order(host, "short")
    assert status == 403 and "policy" in problem["detail"], problem
    assert asked(host, "nvme0", SELF_TEST) == 0


def test_a_drive_that_hangs_holds_up_nobody():
    host = begun(scenario=ONE + "[drive]\nproduct = 6530\nserial = SNB\n", patience="500ms")
    settle(host, "SNB")
    host.control("hang", "nvme0")
    status, problem, _ = order(host, "short")
    assert status in (409, 503), problem
    assert order(host, "short", "SNB")[0] == 202
    assert asked(host, "nvme0", SELF_TEST) == 0, "what was not looked at is not begun"
    host.control("resume", "nvme0")


def test_a_drive_or_broker_that_goes_meanwhile():
    """Who waits is told at once, and the drive can be tested when it is back."""
    for go, come in ((lambda host: host.control("vanish", "nvme0"),
                      lambda host: host.control("return", "nvme0")),
                     (lambda host: host.kill("broker", signal.SIGKILL),
                      lambda host: host.start_broker())):
        host = begun(poll=QUIET, patience="30s")
        host.control("hang", "nvme0")
        answers = []
        thread = threading.Thread(target=lambda host=host: answers.append(order(host, "short")))
        thread.start()
        host.wait(lambda host=host: host.counts("nvme0")["outstanding"], "the command is out")
        go(host)
        thread.join(15)
        assert answers and answers[0][0] == 409 and "gone" in answers[0][1]["detail"], answers
        host.control("resume", "nvme0")
        come(host)
        host.wait(lambda host=host: order(host, "short")[0] == 202, "a test")


def test_the_verb():
    host = begun()
    begun_text = host.emberctl("selftest", "SNA", "--short").stdout
    assert "nvme0 has begun the short self-test" in begun_text, begun_text
    wait_until(host, True)
    shown = host.emberctl("selftest", "nvme0").stdout
    assert "Running test" in shown and "short" in shown, shown
    busy = host.emberctl("selftest", "nvme0", "--extended", check=False)
    assert busy.returncode != 0 and "running" in busy.stderr, busy
    assert "aborted" in host.emberctl("selftest", "nvme0", "--abort").stdout
    host.control("speed", "1000")
    passed = host.emberctl("selftest", "nvme0", "--short", "--wait").stdout
    assert "passed" in passed, passed
    host.control("selftest", "nvme0", "6")
    failed = host.emberctl("selftest", "nvme0", "--short", "--wait", check=False)
    assert failed.returncode == 1 and "did not pass" in failed.stderr, failed
    both = host.emberctl("selftest", "nvme0", "--short", "--abort", check=False)
    assert both.returncode == 2, both


# ---- by the clock ----------------------------------------------------------------------------

THREE = ONE + "[drive]\nproduct = 6530\nserial = SNB\n[drive]\nproduct = minimal\nserial = SNC\n"
OFTEN = "*:*:0/2"


def clock(**options):
    return "[selftest]\n" + "".join(f"{key} = {value}\n" for key, value in options.items())


def kept(host):
    """{(drive, test): slot} of the store."""
    with sqlite3.connect(f"file:{host.path('state')}/ember.db?mode=ro", uri=True) as db:
        return {row[:2]: row[2] for row in
                db.execute("SELECT drive, test, slot_us FROM selftest_run")}


def times(host, device):
    """When self-tests were sent to the drive, by the simulator's clock."""
    return [entry["seconds"] for entry in host.control("log", device)
            if entry["opcode"] == 0x14]


def test_the_clock_begins_them_one_after_another():
    host = begun(scenario="[sim]\nspeed = 1000\n" + THREE,
                 config=clock(short_schedule=OFTEN, stagger="300ms"))
    host.wait(lambda: asked(host, "nvme1", SELF_TEST), "the second drive's test")
    assert asked(host, "nvme0", SELF_TEST) >= 1, "the first one's came before"
    assert asked(host, "nvme2", SELF_TEST) == 0, "a drive without tests is not asked"
    first, second = times(host, "nvme0")[0], times(host, "nvme1")[0]
    assert second - first >= 0.29, f"{second - first} s apart"
    since = newest(host)
    heard(host, "selftest-ended", since, serial="SNA")
    assert "as scheduled" in host.read("emberd.log")
    assert host.get("/v1/health")["status"] == "ok"


def test_what_was_missed_is_made_up_for_once():
    config = clock(extended_schedule="2030-01-01", stagger="10ms")
    for catch_up in "yes", "no":
        host = begun(config=config + f"catch_up = {catch_up}\n")
        drive = host.drive("SNA")["id"]
        host.wait(lambda host=host: kept(host), "what was seen last")
        host.kill("emberd")
        # As if the clock had called while emberd was away.
        with sqlite3.connect(host.path("state") + "/ember.db") as db:
            db.execute("UPDATE selftest_run SET slot_us = 1000000, calendar = 'yearly'")
        host.write_config(FAST, clock(extended_schedule="yearly", stagger="10ms",
                                      catch_up=catch_up))
        host.start_emberd()
        host.wait(lambda host=host: kept(host)[(drive, "extended")] > 1000000, "it was looked at",
                  timeout=40)
        assert asked(host, "nvme0", SELF_TEST) == (catch_up == "yes"), catch_up
        if catch_up == "yes":
            wait_until(host, True)
            assert page(host)["running_test"] == "extended"
        # And not a second time.
        host.kill("emberd")
        host.start_emberd()
        settle(host, "SNA")
        assert asked(host, "nvme0", SELF_TEST) == (catch_up == "yes"), catch_up


def test_a_schedule_that_systemd_does_not_understand():
    host = begun(config=clock(short_schedule="every now and then"))
    health = host.wait(lambda: next((health for health in [host.get("/v1/health")]
                                     if health["reasons"]), None), "a reason")
    assert "short_schedule" in health["reasons"][0], health
    emberd = host.build + "/daemon/emberd"
    check = host.run(emberd, "--config", host.path("emberd.conf"), "--check-config", check=False)
    assert check.returncode != 0 and "short_schedule" in check.stderr, check
    host.write_config(FAST, clock(short_schedule="daily"))
    host.processes["emberd"].send_signal(signal.SIGHUP)
    host.wait(lambda: host.get("/v1/health")["status"] == "ok", "a better schedule")
    check = host.run(emberd, "--config", host.path("emberd.conf"), "--check-config", check=False)
    assert check.returncode == 0, check


def test_a_drive_that_is_tested_already_is_left_out():
    host = begun(scenario=ONE, config=clock(short_schedule=OFTEN, stagger="10ms"))
    host.wait(lambda: "left out this time" in host.read("emberd.log"), "the second call")
    assert asked(host, "nvme0", SELF_TEST) == 1, "the first test takes two minutes"
