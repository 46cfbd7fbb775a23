-- SPDX-License-Identifier: Apache-2.0
INSERT INTO capability (model, firmware, page, nvme_status, at_us)
VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (model, firmware, page) DO UPDATE SET
    nvme_status = excluded.nvme_status,
    at_us = excluded.at_us;
