-- SPDX-License-Identifier: Apache-2.0
-- What happened, and which pages drives refuse. Times are microseconds since 1970, UTC.

-- id is the real time, or one more than the last where that is greater; it is never given twice.
-- '' and 0 mean that it does not apply.
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    at_us INTEGER NOT NULL,
    kind TEXT NOT NULL,
    drive TEXT NOT NULL,
    device TEXT NOT NULL,
    serial TEXT NOT NULL,
    nsid INTEGER NOT NULL,
    subject TEXT NOT NULL,
    old_value TEXT NOT NULL,
    new_value TEXT NOT NULL,
    summary TEXT NOT NULL
) STRICT;
CREATE INDEX event_drive ON event (drive, id);

-- A page that drives of this model and firmware do not have, and the status that said so.
CREATE TABLE capability (
    model TEXT NOT NULL,
    firmware TEXT NOT NULL,
    page TEXT NOT NULL,
    nvme_status INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    PRIMARY KEY (model, firmware, page)
) STRICT, WITHOUT ROWID;
