-- SPDX-License-Identifier: Apache-2.0
-- The last reading of each of the newest ?5 steps of ?6 microseconds, oldest first; the third column
-- counts them from the newest. Hops backwards from bucket to bucket with one seek each.
WITH RECURSIVE bucket (last) AS (
    SELECT * FROM (
        SELECT at FROM {table}
        WHERE drive = ?1 AND nsid = ?2 AND at >= ?3 AND at < ?4
        ORDER BY at DESC
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT at FROM {table}
        WHERE drive = ?1 AND nsid = ?2 AND at >= ?3 AND at < bucket.last / ?6 * ?6
        ORDER BY at DESC
        LIMIT 1
    ) AS previous
    FROM bucket
    WHERE bucket.last IS NOT NULL
    LIMIT ?5
)
SELECT reading.at, reading.{column}, row_number() OVER (ORDER BY reading.at DESC) AS nth
FROM bucket CROSS JOIN {table} AS reading
WHERE reading.drive = ?1 AND reading.nsid = ?2 AND reading.at = bucket.last
ORDER BY reading.at;
