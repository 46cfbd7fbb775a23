-- SPDX-License-Identifier: Apache-2.0
-- The newest ?1, oldest first.
SELECT * FROM (
    SELECT id, at_us, kind, drive, device, serial, nsid, subject, old_value, new_value, summary
    FROM event
    ORDER BY id DESC
    LIMIT ?1
)
ORDER BY id;
