-- SPDX-License-Identifier: Apache-2.0
SELECT model, firmware, page, nvme_status, at_us
FROM capability
ORDER BY model, firmware, page;
