-- SPDX-License-Identifier: Apache-2.0
-- Of the writer's connection, at each open. Every commit is on the disk when it returns.
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA foreign_keys = ON;
PRAGMA journal_size_limit = 16777216;
