-- SPDX-License-Identifier: Apache-2.0
PRAGMA user_version = {version};
