-- SPDX-License-Identifier: Apache-2.0
-- At most ?2 of those before ?1. Those with an id after ?3, which is now, go by their time.
DELETE FROM event
WHERE id IN (
    SELECT id FROM event WHERE id < ?1
    UNION ALL
    SELECT id FROM event WHERE id > ?3 AND at_us < ?1
    LIMIT ?2
);
