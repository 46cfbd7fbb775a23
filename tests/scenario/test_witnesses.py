# SPDX-License-Identifier: Apache-2.0
"""Ember, nvme-cli and smartctl read the same simulated drives in the same run."""
import json

import harness
import witnesses


def nvme_log(host, device):
    return json.loads(host.run("nvme", "smart-log", f"/dev/{device}", "-o", "json").stdout)


def smartctl_log(host, device):
    # The exit status is a bit mask of findings; what counts is the page.
    result = host.run("smartctl", "-j", "-a", f"/dev/{device}", check=False)
    return json.loads(result.stdout)["nvme_smart_health_information_log"]


def test_every_smart_field_of_every_drive():
    host = harness.Host(poll={"smart_interval": "100ms"})
    compared = 0
    for device in host.devices():
        host.wait_read(device, "identify")
        logs = [("nvme-cli", nvme_log(host, device), 1), ("smartctl", smartctl_log(host, device), 2)]
        # The witnesses' own commands may have moved a counter: a reading that is younger counts.
        before = host.counts(device)["commands"]
        host.wait(lambda: host.counts(device)["commands"] > before + 1, "another poll")
        found, count = witnesses.differences(host.values(device),
                                             host.values(device, "identify"), logs)
        assert not found, f"{device}: " + "; ".join(found)
        compared += count
    return f"{compared} values equal"


def test_table_has_every_field():
    host = harness.Host()
    host.wait_read("nvme0")
    known = {row[0] for row in witnesses.SMART}
    extra = {key for key in host.values("nvme0") if not key.endswith("_bits")} - known
    assert not extra, f"no row in tests/scenario/witnesses.py for {sorted(extra)}"
