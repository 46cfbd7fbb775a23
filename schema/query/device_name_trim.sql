-- SPDX-License-Identifier: Apache-2.0
-- A name that changes at every boot must not grow the table for ever.
DELETE FROM device_name
WHERE drive = ?1 AND seq <= (
    SELECT seq FROM device_name WHERE drive = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2
);
