# SPDX-License-Identifier: Apache-2.0
"""The support bundle: what is in it, what is not and why, and that a masked one names no drive."""
import json
import os
import re
import tarfile

from harness import Host

SLOW = {"smart_interval": "1h", "identify_interval": "1h"}
SECRET = "ember_0123456789abcdef_" + "0123456789abcdef" * 4
PAGES = ("identify", "smart", "firmware", "selftest", "errors", "effects", "sanitize", "memblaze",
         "security", "health", "capacitor", "namespaces", "drive")


def begun(**more):
    host = Host(poll=SLOW, **more)
    host.wait(lambda: len(host.devices()) == 8, "eight drives")
    for device in host.devices():
        host.wait_read(device)
        host.wait(lambda d=device: host.get(f"/v1/drives/{d}/namespaces")["list_status"] == "ok"
                  or host.drive(d)["model"].startswith("Minimal"), f"namespaces of {device}")
    return host


def programs(host, journal="true"):
    """A PATH on which emberd, the broker and a journal of our own are found."""
    directory = host.path("bin")
    os.makedirs(directory, exist_ok=True)
    for name, program in (("emberd", host.build + "/daemon/emberd"),
                          ("ember-broker", host.build + "/broker/ember-broker")):
        if not os.path.exists(f"{directory}/{name}"):
            os.symlink(program, f"{directory}/{name}")
    with open(f"{directory}/journalctl", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n{journal}\n")
    os.chmod(f"{directory}/journalctl", 0o755)
    return {"PATH": f"{directory}:{os.environ['PATH']}"}


def diagnose(host, *words, journal="true", **more):
    path = host.path("out.tar")
    if os.path.exists(path):
        os.unlink(path)
    env = programs(host, journal)
    summary = json.loads(host.emberctl("diagnose", "--out", path, "--json", "--config",
                                       host.path("emberd.conf"), *words, env=env, **more).stdout)
    assert summary["file"] == path and os.stat(path).st_mode & 0o777 == 0o600
    with tarfile.open(path, "r:") as archive:
        members = archive.getmembers()
        assert all(member.isfile() and member.mode == 0o600 for member in members)
        assert len({member.name for member in members}) == len(members)
        files = {member.name: archive.extractfile(member).read().decode() for member in members}
    assert summary["files"] == len(files) - 1, "and the MANIFEST"
    assert list(files)[0] == "MANIFEST"
    for name in files:
        assert name == "MANIFEST" or f"\n{name}: " in files["MANIFEST"], name
    return files, summary


def directories(files):
    return {name.split("/")[1] for name in files if name.startswith("drives/")}


def names_of(host):
    """Every identifier of every simulated drive, as the drive and Linux tell them."""
    found = set()
    for drive in host.get("/v1/drives?limit=4096")["drives"]:
        found |= {drive["serial"], drive["subsystem_nqn"], drive["id"]}
        for entry in host.get(f"/v1/drives/{drive['id']}/namespaces")["namespaces"]:
            found |= {(entry["values"] or {}).get(key) for key in ("nguid", "eui64")}
    found -= {None, ""}
    assert len(found) > 24, found
    return found


def forms_of(name):
    """A name as text, in hexadecimal, and byte by byte."""
    raw = name.encode()
    if re.fullmatch(r"[0-9a-f]{16}|[0-9a-f]{32}", name):
        raw = bytes.fromhex(name)
        yield raw.hex(" ")
    else:
        yield raw.hex()
        yield raw.hex(" ")
        yield raw.hex(":").upper()
    yield name
    yield name.upper()
    yield name.lower()


def dump(data):
    """As hexdump -C."""
    lines = []
    for at in range(0, len(data), 16):
        part = data[at:at + 16]
        text = "".join(chr(c) if 32 <= c < 127 else "." for c in part)
        lines.append(f"{at:08x}  {part[:8].hex(' ')}  {part[8:].hex(' '):23}  |{text}|")
    return "\n".join(lines) + "\n"


def undump(text):
    """The bytes of all dumps in a text."""
    return b"".join(bytes.fromhex("".join(re.match(r"[0-9a-f]{8}  ((?:[0-9a-f]{2} {1,2}){16})",
                                                   line)[1].split()))
                    for line in text.splitlines() if re.match(r"[0-9a-f]{8}  [0-9a-f]{2} ", line))


def test_everything_that_can_be_had():
    host = begun()
    files, summary = diagnose(host, journal="echo a line of the journal")
    assert summary["missing"] == 0, files["MANIFEST"]
    assert "Nothing is missing" in files["MANIFEST"]
    for name in ("health", "drives", "events", "changes", "doctor"):
        assert isinstance(json.loads(files[name + ".json"]), dict), name
    assert "ember_drive_info" in files["metrics.txt"]
    assert files["journal.txt"] == "a line of the journal\n"
    assert host.path("emberd.sock") in files["emberd.conf.txt"] and "[poll]" in files["emberd.conf.txt"]
    assert files["emberd.version.txt"].startswith("emberd ") and "libnvme" in files[
        "ember-broker.version.txt"]
    assert os.uname().release in files["system.txt"]
    drives = host.get("/v1/drives")["drives"]
    assert directories(files) == {f"{drive['device']}-{drive['id']}" for drive in drives}
    for drive in drives:
        directory = f"drives/{drive['device']}-{drive['id']}/"
        have = {name[len(directory):-len(".json")] for name in files if name.startswith(directory)}
        assert have == set(PAGES), have ^ set(PAGES)
        ours, theirs = json.loads(files[directory + "identify.json"]), host.get(
            f"/v1/drives/{drive['id']}/identify")
        assert ours["values"] == theirs["values"] and ours["serial"] == drive["serial"]
    return f"{len(files)} files"


def test_one_drive():
    host = begun()
    files, _ = diagnose(host, "nvme3")
    drive = host.drive("nvme3")
    assert directories(files) == {f"nvme3-{drive['id']}"} and "drives.json" not in files
    assert {event["drive"] for event in json.loads(files["events.json"])["events"]} == {drive["id"]}
    result = host.emberctl("diagnose", "nosuch", "--out", host.path("none.tar"), check=False)
    assert result.returncode == 5 and not os.path.exists(host.path("none.tar")), result


def test_a_masked_bundle_names_no_drive():
    host = begun()
    gone = host.drive("nvme4")["id"]
    host.control("vanish", "nvme4")
    host.wait(lambda: host.drive(gone)["state"] == "removed", "a removed drive")
    names = names_of(host)
    lines = []
    for name in names:
        for form in forms_of(name):
            lines += [f"nvme: {form} said '{form}'.", f"/dev/disk/by-id/nvme-X_{form}_1"]
    serials = [drive["serial"] for drive in host.get("/v1/drives")["drives"]]
    identify = b"".join(bytes((0x5f, 0x1c, 0x5f, 0x1c)) + serial.ljust(20).encode()
                        + b"P6536DT0" + bytes(32) for serial in serials)
    lines += ["nqn.2019-08.org.example:somebody-else", "uuid 0f3b0e52-7a34-4a6c-9f5e-0242ac120002"]
    host.write("journal", "\n".join(lines) + "\n" + dump(identify))

    plain, _ = diagnose(host, journal=f"cat {host.path('journal')}")
    found = {name for name in names if any(name in text for text in plain.values())}
    assert found == names, f"the test looks for what is there: {names - found}"
    assert identify in undump(plain["journal.txt"])

    files, summary = diagnose(host, "--mask", journal=f"cat {host.path('journal')}")
    assert summary["masked"] and summary["missing"] == 0, files["MANIFEST"]
    with open(host.path("out.tar"), "rb") as file:
        whole = file.read().decode().lower()
    for name in names:
        for form in forms_of(name):
            assert form.lower() not in whole, f"{form} of {name}"
    for word in ("somebody-else", "0f3b0e52", "sh2221"):
        assert word not in whole, word
    raw = undump(files["journal.txt"])
    assert len(raw) == len(identify) and b"P6536DT0" in raw
    for serial in serials:
        assert serial.encode() not in raw, serial

    # The same word for the same one, everywhere; different ones for different ones.
    drives = json.loads(files["drives.json"])["drives"]
    assert len({drive["serial"] for drive in drives}) == 8, drives
    assert all(re.fullmatch(r"masked-serial-\d+", drive["serial"]) for drive in drives)
    assert directories(files) == {f"{drive['device']}-{drive['id']}" for drive in drives}
    for drive in drives:
        directory = f"drives/{drive['device']}-{drive['id']}/"
        assert json.loads(files[directory + "drive.json"])["serial"] == drive["serial"]
        assert f'serial="{drive["serial"]}"' in files["metrics.txt"]
        assert drive["serial"] in files["journal.txt"] and drive["serial"] in files["events.json"]
    # What is no identifier stays.
    assert json.loads(files["events.json"])["events"][0]["id"] == json.loads(
        plain["events.json"])["events"][0]["id"]
    assert "P6536DT0640M00" in files["drives.json"]
    return f"{len(names)} identifiers in {len(whole)} bytes"


def test_one_drive_masked_hides_the_others_too():
    host = begun()
    other = host.drive("nvme0")["serial"]
    files, _ = diagnose(host, "nvme3", "--mask", journal=f"echo {other}")
    assert re.fullmatch(r"masked-serial-\d+\n", files["journal.txt"]), files["journal.txt"]


def test_what_is_missing_has_a_reason():
    host = begun()
    files, summary = diagnose(
        host, journal="echo No journal files were opened due to insufficient permissions. >&2")
    assert summary["missing"] == 1 and "journal.txt" not in files
    assert re.search(r"journal\.txt: journalctl .*insufficient permissions", files["MANIFEST"])
    host.kill("emberd")
    files, summary = diagnose(host)
    assert {"doctor.json", "system.txt", "journal.txt", "emberd.conf.txt"} <= set(files), set(files)
    for name in ("health.json", "drives.json", "events.json", "metrics.txt"):
        assert re.search(rf"\n{re.escape(name)}: GET /\S+: .*emberd", files["MANIFEST"]), name
    files, _ = diagnose(host, "nvme3", "--mask", journal="echo SH203300010")
    assert "journal.txt" not in files, "nobody knows what to mask in it"
    assert "cannot be masked without" in files["MANIFEST"] and "doctor.json" in files
    host.start_emberd()


def test_secrets_are_never_in_it():
    host = begun()
    host.write("journal", f"token {SECRET}\nAuthorization: Bearer abc.def\n-----BEGIN PRIVATE KEY-----\n"
               "MIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\nthe end\n")
    created = host.emberctl("token", "create", "prometheus").stdout
    token = re.search(r"ember_[0-9a-f]+_[0-9a-f]+", created)[0]
    for words in ((), ("--mask",)):
        files, _ = diagnose(host, *words, journal=f"cat {host.path('journal')}; echo {token}")
        whole = "".join(files.values())
        for secret in (SECRET, SECRET[-64:], "abc.def", "MIGHAgEA", token, token[-64:]):
            assert secret not in whole, secret
        assert "the end" in files["journal.txt"]


def test_a_file_that_exists_stays():
    host = Host(poll=SLOW)
    path = host.write("kept.tar", "mine")
    result = host.emberctl("diagnose", "--out", path, check=False)
    assert result.returncode == 1 and "not overwritten" in result.stderr, result
    assert host.read("kept.tar") == "mine"
    assert not [name for name in os.listdir(host.dir) if name.startswith("kept.tar.")]
