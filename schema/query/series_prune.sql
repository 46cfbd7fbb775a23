-- SPDX-License-Identifier: Apache-2.0
DELETE FROM {table}
WHERE drive = ?1 AND nsid = ?2 AND at IN (
    SELECT at FROM {table}
    WHERE drive = ?1 AND nsid = ?2 AND at < ?3
    ORDER BY at
    LIMIT ?4
);
