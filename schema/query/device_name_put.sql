-- SPDX-License-Identifier: Apache-2.0
-- Only when it differs from the drive's last one.
INSERT INTO device_name (drive, device, since_us)
SELECT ?1, ?2, ?3
WHERE ?2 <> '' AND ?2 IS NOT (
    SELECT device FROM device_name WHERE drive = ?1 ORDER BY seq DESC LIMIT 1
);
