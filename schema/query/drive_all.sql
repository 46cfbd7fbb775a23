-- SPDX-License-Identifier: Apache-2.0
SELECT
    id, identity, device, serial, model, firmware, subsystem_nqn, address, transport,
    controller_id, state, first_seen_us, last_seen_us, state_since_us
FROM drive
ORDER BY id;
