-- SPDX-License-Identifier: Apache-2.0
-- The newest ?5 readings, oldest first; the third column counts them from the newest.
SELECT at, value, row_number() OVER (ORDER BY at DESC) AS nth
FROM (
    SELECT at, {column} AS value FROM {table}
    WHERE drive = ?1 AND nsid = ?2 AND at >= ?3 AND at < ?4
    ORDER BY at DESC
    LIMIT ?5
)
ORDER BY at;
