# SPDX-License-Identifier: Apache-2.0
"""Cases from the field (tests/cases/given) that one page is not enough for."""
import json
import shutil
import tempfile
import threading
import urllib.parse

import harness
from contract import Contract
from test_metrics import promtool

GIVEN = harness.TOP + "/tests/cases/given/"
FAST = {"smart_interval": "30ms", "identify_interval": "100ms", "selftest_interval": "100ms"}
OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"


def dump(data):
    """As xxd writes it."""
    return "".join(f"{at:08x}: {data[at:at + 16].hex()}\n" for at in range(0, len(data), 16))


def undump(text):
    return b"".join(bytes.fromhex(line.partition(":")[2]) for line in text.splitlines() if line)


def r23a():
    with open(GIVEN + "R23a.hex", encoding="ascii") as file:
        return undump(file.read())


def expected(case):
    with open(f"{GIVEN}{case}.expect.json", encoding="utf-8") as file:
        return json.load(file)["decoded"]


def scenario_with(*heads):
    """Files of Identify heads, and the drives that have them, by name."""
    directory = tempfile.mkdtemp(prefix="ember-case-")
    text = ""
    for number, head in enumerate(heads):
        name = f"{directory}/identify{number}.hex"
        with open(name, "w", encoding="ascii") as file:
            file.write(dump(head))
        text += (f"[drive nvme{number}]\nproduct = generic\nidentify-page = {name}\n"
                 f"nqn = nqn.2014-08.org.example:the-same\npercentage_used = {number}\n")
    return directory, text


def test_r23a_text_that_is_none():
    """Bytes that are no text harm neither JSON nor metrics nor who a drive is."""
    other = bytearray(r23a())
    assert other[18] == 0x0a
    other[18] = 0x0b  # another serial that looks the same
    directory, text = scenario_with(r23a(), bytes(other))
    host = harness.Host(scenario=text)
    try:
        host.wait(lambda: len(host.devices()) == 2, "two drives")
        for device in host.devices():
            host.wait_read(device, "identify")
        check_r23a(host)
        ids = {drive["device"]: drive["id"] for drive in host.get("/v1/drives")["drives"]}
        check_places_swapped(host)
        host.kill("emberd")
        host.start_emberd()
        host.wait(lambda: {drive["device"]: drive["id"] for drive in
                           host.get("/v1/drives")["drives"]
                           if drive["state"] == "ok"} == ids, "both as they were")
    finally:
        shutil.rmtree(directory)


def ids_by_wear(host):
    """Which of the two it is, by what it says of itself."""
    drives = host.get("/v1/drives")["drives"]
    if [drive["state"] for drive in drives] != ["ok", "ok"]:
        return None
    return {host.wait_read(drive["id"])["values"]["percentage_used"]: drive["id"]
            for drive in drives}


def check_places_swapped(host):
    """Under each other's names and at each other's addresses each is still itself; and back."""
    ids = host.wait(lambda: ids_by_wear(host), "both")
    places = {drive["device"]: drive["address"] for drive in host.get("/v1/drives")["drives"]}
    first, second = places
    for _ in range(2):
        host.control("vanish", first)
        host.control("vanish", second)
        host.wait(lambda: all(drive["state"] == "removed" for drive in
                              host.get("/v1/drives")["drives"]), "both to be gone")
        host.control("return", first, "as", "nvme9", "at", places[second])
        host.control("return", second, "as", first, "at", places[first])
        host.control("vanish", "nvme9")
        host.control("return", "nvme9", "as", second, "at", places[second])
        host.wait(lambda: ids_by_wear(host) == ids, "each to be itself")


def check_r23a(host):
    want = expected("R23a")
    drives = host.get("/v1/drives")["drives"]
    assert len({drive["id"] for drive in drives}) == 2, drives
    for drive in drives:
        assert {key: drive[key] for key in want} == want, drive
        values = host.values(drive["device"], "identify")
        assert {key: values[key] for key in want} == want, values
        assert host.drive(drive["id"])["device"] == drive["device"]
    status, _, body = host.request("/v1/drives/" + urllib.parse.quote(want["serial"]))
    assert status == 409, (status, body)
    raw = host.request("/metrics")[2]
    page = raw.decode("utf-8")  # Prometheus drops the whole page otherwise
    promtool(page)
    label = want["model"].replace("\\", "\\\\").replace('"', '\\"')
    assert f'model="{label}"' in page
    assert all(b in b"\n" or 0x20 <= b < 0x7f for b in raw if b < 0x80)
    host.metrics()
    listed = host.emberctl("--json", "drives").stdout
    assert sum(drive["serial"] == want["serial"] for drive in json.loads(listed)["drives"]) == 2


# ---- R43 ---------------------------------------------------------------------------------------

BIG = {"power_cycles": 2**53 + 1, "host_read_commands": 2**96 + 12}


def selftest_log():
    """Two results that are equal in every byte, eighteen unused."""
    entry = bytearray(28)
    entry[0] = 0x10  # short, no error
    entry[4:12] = (1772).to_bytes(8, "little")
    unused = bytearray(28)
    unused[0] = 0x0f
    return bytes(4) + bytes(entry) * 2 + bytes(unused) * 18


R43 = """\
[drive nvme0]
product = 6530
serial = SAME0001
namespace = 1 800GB 4096
namespace = 2 800GB 512
selftest-page = {selftest}
power_cycles = {power_cycles}
host_read_commands = {host_read_commands}
[drive nvme1]
product = 7940
serial = SAME0001
[drive nvme2]
product = generic
identify-page = {r23a}
"""


def r43_host():
    directory = tempfile.mkdtemp(prefix="ember-case-")
    names = {"selftest": directory + "/selftest.hex", "r23a": GIVEN + "R23a.hex"}
    with open(names["selftest"], "w", encoding="ascii") as file:
        file.write(dump(selftest_log()))
    host = harness.Host(scenario=R43.format(**names, **BIG), poll=FAST)
    host.wait(lambda: len(host.devices()) == 3, "three drives")
    shutil.rmtree(directory)
    for device in host.devices():
        host.wait_read(device)
        host.wait_read(device, "identify")
    host.wait_read("nvme0", "selftest")
    host.wait(lambda: host.metric("ember_namespace_size_bytes", device="nvme0", nsid="2"),
              "the namespaces")
    return host


def families(page):
    """What the format asks for: HELP and TYPE once, samples together. {name: type}"""
    types, helped, ended, current = {}, set(), set(), None
    for line in page.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in helped, f"HELP twice: {name}"
            helped.add(name)
        elif line.startswith("# TYPE "):
            name, kind = line.split(" ")[2:]
            assert name not in types, f"TYPE twice: {name}"
            types[name] = kind
        else:
            name = line.split("{")[0].split(" ")[0]
            assert name in types and name in helped, f"no HELP or TYPE of {name}"
            assert name not in ended, f"samples of {name} stand in two places"
            if current not in (None, name):
                ended.add(current)
            current = name
    assert set(types) == helped
    return types


def scrape(host, accept=None):
    """(page, samples), judged as Prometheus would, and no series twice."""
    status, headers, body = host.request("/metrics", headers={"Accept": accept} if accept else {})
    assert status == 200, (status, body)
    # OpenMetrics is not spoken, so that the answer must say that it is the older format.
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", headers
    page = body.decode("utf-8")
    samples = {}
    for line in page.splitlines():
        if line.startswith("#"):
            continue
        series, _, value = line.rpartition(" ")
        key = harness.parse_series(series)
        assert key not in samples, f"twice on the page: {series}"
        assert float(value) == float(value) and "inf" not in value.lower(), line
        samples[key] = value
    return page, samples


def test_r43_one_bad_series_spoils_the_scrape():
    host = r43_host()
    for accept in (None, OPENMETRICS, "text/plain", "*/*"):
        page, samples = scrape(host, accept)
        promtool(page)
        types = families(page)
        for name, kind in types.items():
            assert (kind == "counter") == name.endswith("_total"), f"{name} is a {kind}"
    for device in ("nvme0", "nvme1", "nvme2"):
        smart = [labels for name, labels in samples if name == "ember_temperature_celsius"
                 and ("device", device) in labels]
        assert len(smart) == 1 and "nsid" not in dict(smart[0]), smart
    sizes = {dict(labels)["nsid"]: value for (name, labels), value in samples.items()
             if name == "ember_namespace_size_bytes" and ("device", "nvme0") in labels}
    assert sizes.keys() == {"1", "2"}, sizes
    results = host.values("nvme0", "selftest")["results"]
    assert len(results) == 2 and results[0] == results[1], results
    for key, number in BIG.items():
        assert host.values("nvme0")[key] == str(number)
        assert host.metric(f"ember_{key}_total", device="nvme0") == str(number)


def test_r43_scrapes_while_drives_appear_and_vanish():
    host = r43_host()
    contract = Contract(host)
    stop, failures, pages = threading.Event(), [], []

    def keep_scraping():
        before = {}
        try:
            while not stop.is_set():
                page, samples = scrape(host, OPENMETRICS if len(pages) % 2 else "text/plain")
                types = families(page)
                for key, value in samples.items():
                    if types[key[0]] == "counter" and key in before:
                        assert float(value) >= float(before[key]), f"{key} fell to {value}"
                before = samples
                pages.append(page)
        except Exception as error:  # whatever it is, it is the finding
            failures.append(error)

    threads = [threading.Thread(target=keep_scraping) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(6):
            for device in ("nvme0", "nvme1", "nvme2"):
                host.control("vanish", device)
            # Another order, and so other names, each time.
            order = ["nvme0", "nvme1", "nvme2"][turn % 3:] + ["nvme0", "nvme1", "nvme2"][:turn % 3]
            for device in order:
                host.control("return", device)
            host.wait(lambda: [drive["state"] for drive in contract.ask(
                "GET", "/v1/drives")[1]["drives"]].count("ok") == 3, "three drives again")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures, failures[0]
    for page in {pages[0], pages[len(pages) // 2], pages[-1]}:
        promtool(page)
    return f"{len(pages)} scrapes"
