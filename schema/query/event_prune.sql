-- SPDX-License-Identifier: Apache-2.0
-- At most ?2 of those before ?1.
DELETE FROM event
WHERE id IN (SELECT id FROM event WHERE id < ?1 ORDER BY id LIMIT ?2);
