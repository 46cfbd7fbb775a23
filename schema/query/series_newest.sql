-- SPDX-License-Identifier: Apache-2.0
-- The newest reading of a series that is not in the future.
SELECT at FROM {table}
WHERE drive = ?1 AND nsid = ?2 AND at <= ?3
ORDER BY at DESC
LIMIT 1;
