-- SPDX-License-Identifier: Apache-2.0
SELECT name FROM pragma_table_info(?1);
