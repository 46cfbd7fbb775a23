-- SPDX-License-Identifier: Apache-2.0
PRAGMA query_only = ON;
