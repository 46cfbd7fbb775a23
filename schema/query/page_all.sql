-- SPDX-License-Identifier: Apache-2.0
SELECT drive, page, nsid, at_us, data FROM page ORDER BY drive, page, nsid;
