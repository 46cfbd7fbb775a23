-- SPDX-License-Identifier: Apache-2.0
-- The series (drive and namespace) after the given one; '' and -1 start.
SELECT drive, nsid FROM {table}
WHERE (drive, nsid) > (?1, ?2)
ORDER BY drive, nsid
LIMIT 1;
