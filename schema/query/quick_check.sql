-- SPDX-License-Identifier: Apache-2.0
PRAGMA quick_check(1);
