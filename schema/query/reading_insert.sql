-- SPDX-License-Identifier: Apache-2.0
-- A row written twice, because it was not known whether its first commit succeeded, stays one.
INSERT OR REPLACE INTO {table} (drive, nsid, at, {columns}) VALUES (?, ?, ?, {slots});
