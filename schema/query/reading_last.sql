-- SPDX-License-Identifier: Apache-2.0
SELECT at, {column} FROM {table}
WHERE drive = ?1 AND nsid = ?2 AND at >= ?3 AND at < ?4
ORDER BY at DESC
LIMIT 1;
