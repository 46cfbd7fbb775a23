/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * tables - the page tables by name, for page.c alone; everybody else goes through em_pages[].
 *
 * Threads: static data.
 */
#include "lib/base/cleanup.h"
#include "lib/nvme/page.h"

extern const struct em_page em_page_identify_ctrl;
extern const struct em_page em_page_identify_ns;
extern const struct em_page em_page_smart;
extern const struct em_page em_page_firmware;
extern const struct em_page em_page_selftest;
extern const struct em_page em_page_errors;
extern const struct em_page em_page_effects;
extern const struct em_page em_page_sanitize;
extern const struct em_page em_page_memblaze;
extern const struct em_page em_page_security;

/* Read when somebody asks. */
extern const struct em_page em_page_active_namespaces;
extern const struct em_page em_page_allocated_namespaces;
extern const struct em_page em_page_attached_controllers;
extern const struct em_page em_page_changed_namespaces;
extern const struct em_page em_page_controller_telemetry;
extern const struct em_page em_page_controllers;
extern const struct em_page em_page_endurance_group;
extern const struct em_page em_page_feature_effects;
extern const struct em_page em_page_granularity;
extern const struct em_page em_page_host_telemetry;
extern const struct em_page em_page_memblaze_latency;
extern const struct em_page em_page_memblaze_old_latency;
extern const struct em_page em_page_memblaze_old_slow;
extern const struct em_page em_page_memblaze_performance;
extern const struct em_page em_page_memblaze_read_latency;
extern const struct em_page em_page_memblaze_recording;
extern const struct em_page em_page_memblaze_slow;
extern const struct em_page em_page_memblaze_write_latency;
extern const struct em_page em_page_namespace_identifiers;
extern const struct em_page em_page_nvm_sets;
extern const struct em_page em_page_persistent_events;
extern const struct em_page em_page_reservation;
extern const struct em_page em_page_supported_logs;

/* A clock of a Memblaze drive as RFC 3339; false: nobody has set it, or it is beyond all years. */
bool em_memblaze_time(uint64_t ms, char text[EM_VALUE_TEXT_SIZE]);

/* The row that shows it, of the clock in those bytes. */
#define EM_MEMBLAZE_TIME_ROW(at, width, how, from)                                                 \
	{                                                                                          \
		.key = "time", .offset = (at), .len = (width), .type = EM_TEXT,                    \
		.flags = EM_DERIVED, .trust = EM_TRUST_DERIVED, .derive_text = (how),              \
		.label = "Time", .unit = "",                                                       \
		.help = "The same as a time of day; absent when the clock counts since the drive " \
			"was started.",                                                            \
		.ref = from,                                                                       \
	}

/* One bit or value and its name; EM_NAMES_END closes the list. */
#define EM_NAMES_END                                                                               \
	{                                                                                          \
		0, NULL                                                                            \
	}
