-- SPDX-License-Identifier: Apache-2.0
INSERT INTO page (drive, page, nsid, at_us, data)
VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (drive, page, nsid) DO UPDATE SET at_us = excluded.at_us, data = excluded.data;
