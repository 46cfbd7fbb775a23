-- SPDX-License-Identifier: Apache-2.0
-- The newest time that is not in the future. Once a clock stood ahead, ids go on from there: then
-- only at_us tells when something was.
SELECT max(
    coalesce((SELECT max(id) FROM event WHERE id <= ?1), 0),
    coalesce((SELECT max(at_us) FROM event WHERE id > ?1 AND at_us <= ?1), 0)
);
