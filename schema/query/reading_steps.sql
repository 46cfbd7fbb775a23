-- SPDX-License-Identifier: Apache-2.0
-- The last reading of each step of ?6 microseconds. Hops from bucket to bucket with two seeks each,
-- so that its cost follows the points returned and not the rows between them.
WITH RECURSIVE bucket (first) AS (
    SELECT * FROM (
        SELECT at FROM {table}
        WHERE drive = ?1 AND nsid = ?2 AND at >= ?3 AND at < ?4
        ORDER BY at
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT at FROM {table}
        WHERE drive = ?1 AND nsid = ?2 AND at >= (bucket.first / ?6 + 1) * ?6 AND at < ?4
        ORDER BY at
        LIMIT 1
    ) AS next
    FROM bucket
    WHERE bucket.first IS NOT NULL
    LIMIT ?5 + 1
)
SELECT reading.at, reading.{column}
FROM bucket CROSS JOIN {table} AS reading
WHERE reading.drive = ?1 AND reading.nsid = ?2 AND reading.at = (
    SELECT at FROM {table}
    WHERE drive = ?1 AND nsid = ?2
        AND at >= bucket.first AND at < min((bucket.first / ?6 + 1) * ?6, ?4)
    ORDER BY at DESC
    LIMIT 1
)
LIMIT ?5;
