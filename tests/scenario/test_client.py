# SPDX-License-Identifier: Apache-2.0
"""emberctl with the real emberd, broker and simulated drives."""
import csv
import io
import json
import os
import subprocess

import harness
import network

FAST = {"smart_interval": "50ms", "errors_interval": "100ms"}
OF_A_DRIVE = ["show", "errors", "effects", "sanitize", "health"]
A_CHECK = ["health"]  # whose exit status tells of the drives
OF_THE_HOST = ["drives", "events", "changes", "health", "version", "token list"]
WITH_CSV = ["drives", "errors", "effects", "events", "changes", "token list"]


def states(host):
    return {drive["serial"]: drive["state"] for drive in host.get("/v1/drives")["drives"]}


def with_trouble():
    """All drives of the demo, one of them hung, one gone, one gone on purpose."""
    host = harness.Host(poll=FAST, patience="300ms")
    for device in host.devices():
        host.wait_read(device)
    host.control("hang", "nvme1")
    host.control("vanish", "nvme2")
    host.control("vanish", "nvme3")
    host.wait(lambda: sorted(states(host).values()).count("removed") == 2, "two drives to go")
    host.emberctl("retire", "SH222100536", "--yes")
    host.wait(lambda: "unresponsive" in states(host).values(), "a drive to hang")
    return host


def test_every_verb_tells_of_every_drive_in_every_form():
    host = with_trouble()
    drives = list(states(host))
    commands = [verb.split() for verb in OF_THE_HOST]
    commands += [[verb, drive] for verb in OF_A_DRIVE for drive in drives]
    commands += [["history", drive] for drive in drives]
    for command in commands:
        check = command[0] not in A_CHECK
        result = host.emberctl("--json", *command, check=check)
        assert json.loads(result.stdout) and result.returncode in (0, 7, 8), (command, result)
        for width in 80, 120:
            out = host.emberctl(*command, check=check,
                                env={"COLUMNS": str(width), "LC_ALL": "C.UTF-8"}).stdout
            assert out and all(len(line) <= width for line in out.splitlines()), (command, width, out)
        if command[0] in WITH_CSV or " ".join(command) in WITH_CSV:
            rows = list(csv.reader(io.StringIO(host.emberctl(*command, "--csv").stdout)))
            assert rows and {len(row) for row in rows} == {len(rows[0])}, (command, rows)
    table = host.emberctl("drives").stdout
    for state in "unresponsive", "removed", "retired":
        assert state in table, table
    return f"{len(commands)} commands"


def test_refresh_tells_what_was_read():
    host = with_trouble()
    result = host.emberctl("refresh", "nvme0")
    assert "SMART / health" in result.stdout and "read" in result.stdout, result.stdout
    result = host.emberctl("refresh", "nvme1", check=False)
    assert result.returncode == 1 and "could not be read" in result.stderr, result
    result = host.emberctl("refresh", "SH222100530", check=False)
    assert result.returncode == 1 and "not there" in result.stderr, result


def test_a_drive_that_comes_back_is_no_longer_retired():
    host = with_trouble()
    result = host.emberctl("retire", "SH222100530", check=False)
    assert result.returncode == 2 and "--yes" in result.stderr, result
    host.emberctl("retire", "SH222100536", "--undo")
    assert states(host)["SH222100536"] == "removed"
    host.emberctl("retire", "SH222100536", "--yes")
    host.kill("emberd")
    host.start_emberd()
    assert states(host)["SH222100536"] == "retired"
    host.control("return", "nvme3")
    host.wait(lambda: states(host)["SH222100536"] == "ok", "the drive to be back")


def follow(host, *options):
    log = host.path("follow.json")
    with open(log, "wb") as out:
        return log, subprocess.Popen([host.build + "/client/emberctl", "--socket", host.path("emberd.sock"),
                                      "events", "--follow", "--json", *options], stdout=out,
                                     stderr=subprocess.STDOUT)


def followed(log):
    with open(log, encoding="utf-8") as file:
        return [json.loads(line) for line in file.read().split("\n")[:-1] if line.startswith("{")]


def test_following_leaves_nothing_out_when_emberd_restarts():
    host = harness.Host(poll=FAST)
    for device in host.devices():
        host.wait_read(device)
    log, child = follow(host, "--kind", "drive-removed,drive-returned")
    try:
        for drive in "nvme2", "nvme3":
            host.control("vanish", drive)
            host.wait(lambda: [e for e in followed(log) if e["device"] == drive], f"{drive} to be missed")
            host.kill("emberd")
            host.control("return", drive)
            host.start_emberd()
        host.control("vanish", "nvme4")
        host.wait(lambda: followed(log)[-1:] and followed(log)[-1]["device"] == "nvme4", "nvme4 to be missed")
    finally:
        child.terminate()
        child.wait(20)
    seen = [(event["device"], event["kind"]) for event in followed(log)]
    assert seen == [("nvme2", "drive-removed"), ("nvme2", "drive-returned"), ("nvme3", "drive-removed"),
                    ("nvme3", "drive-returned"), ("nvme4", "drive-removed")], seen


def test_a_token_opens_the_network_until_it_is_revoked():
    host = harness.Host(start=False)
    cert, key = network.make_certificate(host.dir)
    port = network.free_port()
    host.write_config(FAST, f"[https]\nlisten = 127.0.0.1:{port}\ncertificate = {cert}\nkey = {key}\n")
    host.start_broker()
    host.start_emberd()
    made = host.emberctl("token", "create", "prometheus")
    assert f":{port}" in made.stderr and "no HTTPS listener" not in made.stderr, made.stderr
    token = host.write("token", made.stdout)
    os.chmod(token, 0o600)

    def far(*words):
        command = [host.build + "/client/emberctl", "--url", f"https://127.0.0.1:{port}", "--cacert", cert,
                   *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60)

    result = far("drives", "--token-file", token)
    assert result.returncode == 0 and "SH203300010" in result.stdout, result
    assert far("drives").returncode == 4
    result = far("refresh", "nvme0", "--token-file", token)
    assert result.returncode == 4 and "on the host itself" in result.stderr, result
    ident = json.loads(host.emberctl("--json", "token", "list").stdout)["tokens"][0]["id"]
    assert host.emberctl("token", "revoke", ident).returncode == 0
    result = far("drives", "--token-file", token)
    assert result.returncode == 4 and "--token-file" in result.stderr, result
