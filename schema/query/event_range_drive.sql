-- SPDX-License-Identifier: Apache-2.0
-- As event_range, of the drive ?6.
SELECT id, at_us, kind, drive, device, serial, nsid, subject, old_value, new_value, summary
FROM event
WHERE drive = ?6 AND id > ?1 AND id < ?2 AND at_us >= ?3 AND at_us < ?4 AND id >= ?3
    AND (?5 IS NULL OR instr(?5, ' ' || kind || ' ') > 0)
ORDER BY id;
