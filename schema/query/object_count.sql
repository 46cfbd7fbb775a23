-- SPDX-License-Identifier: Apache-2.0
-- More than 0 in a file without a version: a database of another program.
SELECT count(*) FROM sqlite_schema;
