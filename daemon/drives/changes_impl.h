/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* changes_impl - what the files of changes share; for no one else. */
#include "daemon/drives/changes.h"

struct em_comparison {
	const struct em_drive_snap *before, *after;
	em_change_fn *fn;
	void *userdata;
};

#define EM_PUT(text, ...) em_change_put((text), sizeof(text), __VA_ARGS__)
void em_change_put(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Fills in whose event it is, and the sentence, which begins with the drive's name. */
void em_change_tell(const struct em_comparison *both, enum em_event_kind_id kind,
		    struct em_event *event, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Of pages of the controller and of namespaces that both have. */
void em_changes_of_pages(const struct em_comparison *both);
void em_changes_of_namespace(const struct em_comparison *both,
			     const struct em_namespace_snap *before,
			     const struct em_namespace_snap *after);
