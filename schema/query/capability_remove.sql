-- SPDX-License-Identifier: Apache-2.0
DELETE FROM capability WHERE model = ?1 AND firmware = ?2 AND page = ?3;
