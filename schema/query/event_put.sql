-- SPDX-License-Identifier: Apache-2.0
-- One written twice, because it was not known whether its first commit succeeded, stays as it was.
INSERT INTO event (
    id, at_us, kind, drive, device, serial, nsid, subject, old_value, new_value, summary
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
ON CONFLICT (id) DO NOTHING;
