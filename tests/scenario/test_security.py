# SPDX-License-Identifier: Apache-2.0
"""Locking, encryption and erasing: TCG level-0 discovery by nvme-cli and by hand, and what the API,
the metrics and emberctl make of it."""
import json
import subprocess

from broker_client import BrokerClient
from harness import Host

SCENARIO = """
[drive]
product = 7940
serial = KEYS
namespace = 1 3200GB 512
namespace = 2 800GB 4096

[drive]
product = 6530
serial = OPAL
locked = true

[drive]
product = D920
serial = NONE

[drive]
product = 6530
serial = ALL
fna = 0x06
oacs = 0x5e
"""

DISCOVERY = ("locking_supported", "locking_enabled", "locked", "media_encryption", "mbr_enabled",
             "mbr_done", "mbr_shadowed", "sid_value_state", "sid_blocked", "keys_max", "keys_unused",
             "ranges_per_namespace_max", "single_user_objects", "base_comid", "comid_count",
             "data_removal")
# As sim/security.c lays the two kinds of drives out.
OPAL = {"class": "opal2", "complete": True, "locking_supported": True, "locking_enabled": False,
        "locked": False, "media_encryption": True, "mbr_enabled": False, "mbr_done": False,
        "mbr_shadowed": False, "base_comid": 0x1000, "comid_count": 1, "unknown_features": []}
KEYS = {**OPAL, "base_comid": 0x7FE, "sid_value_state": 0, "sid_blocked": True, "keys_max": 32,
        "keys_unused": 31, "ranges_per_namespace_max": 9, "data_removal": 6,
        "data_removal_bits": ["block_erase", "crypto_erase"],
        "unknown_features": [{"code": "c001", "version": 1, "data": "5042415a"}]}


def begun(**poll):
    host = Host(scenario=SCENARIO, poll={"security_interval": "200ms", "identify_interval": "200ms",
                                         **poll})
    host.wait(lambda: len(host.devices()) == 4, "four drives")
    return host


def security(host, device, status="ok"):
    def read():
        document = host.get(f"/v1/drives/{device}/security")
        return document["status"] == status and document
    return host.wait(read, f"security of {device}")


def with_namespaces(host, device, count):
    def read():
        document = host.get(f"/v1/drives/{device}/security")
        found = [ns for ns in document["namespaces"] if ns["write_protected"] is not None]
        return len(found) == count and document
    return host.wait(read, f"namespaces of {device}")


def check(document, expected):
    for key in DISCOVERY + ("class", "complete"):
        assert document[key] == expected.get(key), (key, document[key], expected.get(key))
    for key in ("data_removal_bits", "unknown_features"):
        assert document[key] == expected.get(key, []), (key, document[key])


def discovery(host, device, protocol=1, specific=1, check=True):
    """The bytes as nvme-cli reads them, behind the line that it says in any case."""
    result = subprocess.run(
        ["nvme", "security-recv", f"/dev/{device}", f"--secp={protocol}", f"--spsp={specific}",
         "--size=2048", "--al=2048", "--raw-binary"], env=host.env, capture_output=True, timeout=60)
    assert not check or result.returncode == 0, result
    return result.returncode, result.stdout.partition(b"\n")[2]


def features(data):
    """{code: payload}, by the rules of the specification."""
    end = 4 + int.from_bytes(data[:4], "big")
    found, at = {}, 48
    while at < end:
        length = data[at + 3]
        found[int.from_bytes(data[at:at + 2], "big")] = data[at + 4:at + 4 + length]
        at += 4 + length
    assert at == end, (at, end)
    return found


def test_values_of_each_kind_of_drive():
    host = begun()
    document = security(host, "nvme0")
    check(document, KEYS)
    assert document["valid"] and document["read_at"] and document["age_seconds"] >= 0
    check(security(host, "nvme1"), {**OPAL, "locking_enabled": True, "locked": True})
    for device in ("nvme2", "nvme3"):
        document = security(host, device, "unsupported")
        check(document, {})
        assert not document["valid"] and document["read_at"] is None
        assert not [c for c in host.control("log", device)
                    if c["command"].startswith("security-receive")], device


def test_nvme_cli_reads_the_same_bytes():
    host = begun()
    told = 0
    for device in ("nvme0", "nvme1"):
        document = security(host, device)
        _, theirs = discovery(host, device)
        assert len(theirs) == 2048
        with BrokerClient(host.path("broker.sock")) as client:
            reply = client.ask(device, "security-receive", page=1, lsi=1, length=2048)
        assert reply.answer == "done" and reply.data == theirs
        found = features(theirs)
        bits = found[2][0]
        for bit, key in enumerate(("locking_supported", "locking_enabled", "locked",
                                   "media_encryption", "mbr_enabled", "mbr_done")):
            assert document[key] is bool(bits >> bit & 1), key
            told += 1
        assert document["base_comid"] == int.from_bytes(found[0x203][:2], "big")
        if 0x403 in found:
            assert document["keys_max"] == int.from_bytes(found[0x403][4:8], "big")
            assert document["keys_unused"] == int.from_bytes(found[0x403][8:12], "big")
            told += 2
        told += 1
    code, _ = discovery(host, "nvme2", check=False)
    assert code != 0, "a drive without the command answered it"
    return f"{told} values equal"


def test_namespaces_and_their_keys():
    host = begun()
    for device, count, alone, reason in (("nvme0", 2, True, "namespace_keys"),
                                         ("nvme1", 1, True, "announced"),
                                         ("nvme3", 1, False, "erase_affects_all")):
        if device != "nvme3":
            security(host, device)
        document = with_namespaces(host, device, count)
        for ns in document["namespaces"]:
            assert (ns["crypto_erase_alone"], ns["crypto_erase_reason"]) == (alone, reason), document
            assert ns["write_protected"] is False and ns["attached"] is True
    assert host.get("/v1/drives/nvme0/security")["crypto_erase"] == {
        "by_format": True, "by_sanitize": True, "format_affects_all": False,
        "erase_affects_all": False}
    assert host.get("/v1/drives/nvme2/security")["crypto_erase"]["by_sanitize"] is False
    for fna, alone, reason in (("0x05", False, "format_affects_all"), ("0", False, "no_crypto_erase")):
        host.control("set", "nvme0", "fna", fna)
        host.wait(lambda: [(ns["crypto_erase_alone"], ns["crypto_erase_reason"])
                           for ns in host.get("/v1/drives/nvme0/security")["namespaces"]]
                  == 2 * [(alone, reason)], reason)


def test_metrics_and_a_lock_that_comes_and_goes():
    host = begun()
    security(host, "nvme0")
    security(host, "nvme1")

    def gauges(serial):
        return [host.metric(f"ember_security_{name}", serial=serial)
                for name in ("locked", "locking_enabled")]
    assert gauges("KEYS") == ["0", "0"] and gauges("OPAL") == ["1", "1"]
    assert gauges("NONE") == [None, None]
    host.control("set", "nvme1", "locked", "false")
    host.wait(lambda: gauges("OPAL") == ["0", "0"], "an unlocked drive")
    host.control("refuse", "nvme1", "security-receive", "0x4002")
    host.wait(lambda: gauges("OPAL") == [None, None], "no values of a page that is refused")


def test_a_refusal_is_asked_for_once():
    host = Host(scenario="[drive]\nproduct = 6530\nserial = A\n"
                         "at = 0s refuse security-receive 0x4002\n", start=False)
    host.start_broker()
    poll = {"smart_interval": "50ms", "security_interval": "50ms"}
    host.write_config(poll)
    host.start_emberd()
    security(host, "nvme0", "refused")
    for _ in range(2):
        host.control("wait", "nvme0", f"commands>={host.counts('nvme0')['commands'] + 20}")
        assert host.counts("nvme0")["by_command"]["security-receive 0x01"] == 1
        host.kill("emberd")
        host.start_emberd()


def test_the_last_answer_outlives_emberd():
    host = begun()
    before = security(host, "nvme1")
    host.kill("emberd")
    host.kill("broker")
    host.start_emberd()
    after = host.wait(lambda: [d for d in host.get("/v1/drives")["drives"] if d["serial"] == "OPAL"],
                      "the drive from the database")
    document = host.get(f"/v1/drives/{after[0]['id']}/security")
    assert document["valid"] and document["locked"] is True, document
    assert document["read_at"] >= before["read_at"] and document["age_seconds"] >= 0, document
    assert host.metric("ember_security_locked", serial="OPAL") is None, "of a drive that is not watched"


def test_answers_that_end_early():
    host = begun()
    security(host, "nvme1")
    _, page = discovery(host, "nvme1")
    for length, complete, known in ((page[3] + 3, False, True), (0, False, False),
                                    (0xffffffff, False, True)):
        changed = length.to_bytes(4, "big") + page[4:]
        with open(host.path("page.hex"), "w", encoding="ascii") as file:
            for at in range(0, len(changed), 16):
                file.write(f"{at:08x}: {changed[at:at + 16].hex(' ')}\n")
        host.control("page", "nvme1", "security", host.path("page.hex"))

        def told():
            document = host.get("/v1/drives/nvme1/security")
            return document["complete"] is complete and (document["locked"] is not None) is known
        host.wait(told, f"length {length}")


def test_emberctl_shows_the_lock():
    host = begun()
    security(host, "nvme0")
    security(host, "nvme1")
    text = host.emberctl("security", "nvme1").stdout
    assert "Security of nvme1" in text and " locked" in text and "opal2" in text, text
    assert "not locked" not in text, text
    text = host.emberctl("security", "nvme0").stdout
    assert "not locked" in text and "32" in text and "the drive counts keys" in text, text
    text = host.emberctl("security", "nvme2").stdout
    assert "unsupported" in text and "Erasing" in text and "not locked" not in text, text
    document = json.loads(host.emberctl("security", "nvme1", "--json").stdout)
    assert document["class"] == "opal2" and document["locked"] is True, document
