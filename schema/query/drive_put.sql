-- SPDX-License-Identifier: Apache-2.0
INSERT INTO drive (
    id, identity, device, serial, model, firmware, subsystem_nqn, address, transport,
    controller_id, state, first_seen_us, last_seen_us, state_since_us
)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
ON CONFLICT (id) DO UPDATE SET
    identity = excluded.identity,
    device = excluded.device,
    serial = excluded.serial,
    model = excluded.model,
    firmware = excluded.firmware,
    subsystem_nqn = excluded.subsystem_nqn,
    address = excluded.address,
    transport = excluded.transport,
    controller_id = excluded.controller_id,
    state = excluded.state,
    last_seen_us = excluded.last_seen_us,
    state_since_us = excluded.state_since_us;
