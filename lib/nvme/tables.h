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

/* One bit or value and its name; EM_NAMES_END closes the list. */
#define EM_NAMES_END                                                                               \
	{                                                                                          \
		0, NULL                                                                            \
	}
