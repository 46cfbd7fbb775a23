-- SPDX-License-Identifier: Apache-2.0
INSERT INTO selftest_run (drive, test, calendar, slot_us)
VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (drive, test) DO UPDATE SET
    calendar = excluded.calendar,
    slot_us = excluded.slot_us;
