-- SPDX-License-Identifier: Apache-2.0
-- The newest that is not in the future.
SELECT coalesce(max(id), 0) FROM event WHERE id <= ?1;
