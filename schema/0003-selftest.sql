-- SPDX-License-Identifier: Apache-2.0
-- Which run of a schedule each drive had last, so that one missed while the host was down is known.

-- slot_us is when the schedule called for it, in microseconds since 1970, UTC; calendar is the
-- schedule of then.
CREATE TABLE selftest_run (
    drive TEXT NOT NULL,
    test TEXT NOT NULL,
    calendar TEXT NOT NULL,
    slot_us INTEGER NOT NULL,
    PRIMARY KEY (drive, test)
) STRICT, WITHOUT ROWID;
