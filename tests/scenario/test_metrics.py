# SPDX-License-Identifier: Apache-2.0
"""The Prometheus page, judged by promtool and by what a scrape needs."""
import subprocess

import harness

# Two drives with one serial, and one whose model would break a careless label.
TWINS = """\
[drive nvme0]
product = 6530
serial = TWIN0001
[drive nvme1]
product = 6530
serial = TWIN0001
"""


def promtool(page):
    result = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True,
                            text=True, timeout=60)
    assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr


def read_all(host):
    for device in host.devices():
        host.wait_read(device)
        host.wait_read(device, "identify")


def test_promtool_finds_nothing():
    host = harness.Host()
    read_all(host)
    page = host.get("/metrics")
    promtool(page)
    return f"{len(page)} bytes"


def test_every_drive_series_has_device_and_serial():
    host = harness.Host()
    read_all(host)
    serials = {drive["serial"] for drive in host.get("/v1/drives")["drives"]}
    per_drive = [(name, dict(labels)) for name, labels in host.metrics()
                 if "device" in dict(labels) or "serial" in dict(labels)]
    assert len({labels["serial"] for _, labels in per_drive}) == len(serials)
    for name, labels in per_drive:
        assert labels.get("device") and labels.get("serial"), f"{name} {labels}"


def test_unknown_value_has_no_sample():
    host = harness.Host()
    read_all(host)
    metrics = host.metrics()
    for drive in host.get("/v1/drives")["drives"]:
        values = host.values(drive["device"])
        for number in range(1, 9):
            sample = metrics.get(("ember_temperature_sensor_celsius", frozenset(
                {("device", drive["device"]), ("serial", drive["serial"]),
                 ("sensor", str(number))})))
            value = values[f"temperature_sensor_{number}_celsius"]
            assert (sample is None) == (value is None), f"{drive['device']} sensor {number}"
            assert value is None or float(sample) == value


def test_twins_stay_two_and_the_page_stays_clean():
    host = harness.Host(scenario=TWINS)
    host.wait(lambda: len(host.devices()) == 2, "two drives")
    read_all(host)
    assert len({drive["id"] for drive in host.get("/v1/drives")["drives"]}) == 2
    promtool(host.get("/metrics"))
    host.metrics()  # fails on a series that is there twice
    status, _, body = host.request("/v1/drives/TWIN0001")
    assert status == 409, (status, body)


def test_page_is_clean_while_a_drive_hangs_and_one_is_gone():
    host = harness.Host(poll={"smart_interval": "50ms"}, patience="300ms")
    read_all(host)
    host.control("hang", "nvme1")
    host.control("vanish", "nvme2")
    host.wait(lambda: host.drive("nvme1")["state"] == "unresponsive", "nvme1 to be unresponsive")
    page = host.get("/metrics")
    promtool(page)
    assert host.metric("ember_drive_up", device="nvme1") == "0"
    assert host.metric("ember_temperature_celsius", device="nvme1") is None
