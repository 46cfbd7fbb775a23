-- SPDX-License-Identifier: Apache-2.0
VACUUM INTO ?1;
