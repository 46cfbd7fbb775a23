-- SPDX-License-Identifier: Apache-2.0
-- What is known of each drive beside its readings. Reading tables (smart, ...) are not here: their
-- columns come from the field tables, and the store creates and extends them at start.
-- Times are microseconds since 1970, UTC.

-- A drive is its subsystem NQN and serial; identity holds them as the drive gave them.
CREATE TABLE drive (
    id TEXT PRIMARY KEY,
    identity BLOB NOT NULL,
    device TEXT NOT NULL,
    serial TEXT NOT NULL,
    model TEXT NOT NULL,
    firmware TEXT NOT NULL,
    subsystem_nqn TEXT NOT NULL,
    address TEXT NOT NULL,
    transport TEXT NOT NULL,
    controller_id TEXT NOT NULL,
    state TEXT NOT NULL,
    first_seen_us INTEGER NOT NULL,
    last_seen_us INTEGER NOT NULL,
    state_since_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Which name (nvme0) a drive had since when. seq gives the order, since a clock may be set back.
CREATE TABLE device_name (
    seq INTEGER PRIMARY KEY,
    drive TEXT NOT NULL REFERENCES drive (id) ON DELETE CASCADE,
    device TEXT NOT NULL,
    since_us INTEGER NOT NULL
) STRICT;
CREATE INDEX device_name_drive ON device_name (drive, seq);

-- The newest bytes of each page, as the drive gave them. nsid 0: a page of the controller.
CREATE TABLE page (
    drive TEXT NOT NULL,
    page TEXT NOT NULL,
    nsid INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (drive, page, nsid)
) STRICT;
