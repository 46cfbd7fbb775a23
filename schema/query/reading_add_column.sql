-- SPDX-License-Identifier: Apache-2.0
-- ANY in a STRICT table keeps what it is given: integers exact, longer counters as decimal text.
ALTER TABLE {table} ADD COLUMN {column} ANY;
