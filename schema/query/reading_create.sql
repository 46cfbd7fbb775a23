-- SPDX-License-Identifier: Apache-2.0
-- One row per reading. The columns of the field tables are added one by one (reading_add_column).
CREATE TABLE IF NOT EXISTS {table} (
    drive TEXT NOT NULL,
    nsid INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (drive, nsid, at)
) STRICT, WITHOUT ROWID;
