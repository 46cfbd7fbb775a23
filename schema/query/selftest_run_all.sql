-- SPDX-License-Identifier: Apache-2.0
SELECT drive, test, calendar, slot_us
FROM selftest_run
ORDER BY drive, test;
