/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * capabilities - what drives of one model and firmware refuse, so that neither their sisters nor
 * the next start of emberd ask for it again.
 *
 * Owns:     copies of what it was given. Threads: loop thread only. Blocking: never.
 * Errors:   -ENOMEM, -ENOSPC: it will be asked again.
 * Limits:   EM_CAPABILITIES_MAX.
 */
#include "daemon/store/store.h"

#define EM_CAPABILITIES_MAX 4096u

/* What is asked of a drive beside pages, by names that no page has. */
#define EM_CAPABILITY_LIST	"namespace-list" /* those that are attached */
#define EM_CAPABILITY_ALLOCATED "allocated-list" /* all that exist */
#define EM_CAPABILITY_ARM	"arm-events"

#define EM_CAPABILITY_SIZE sizeof(((struct em_store_capability *)NULL)->page)

struct em_capabilities;
struct em_capabilities *em_capabilities_new(void); /* NULL: no memory */
struct em_capabilities *em_capabilities_free(struct em_capabilities *all);

/* NULL: not known to be refused. Valid until the next change. all may be NULL. */
const struct em_store_capability *em_capabilities_find(const struct em_capabilities *all,
						       const char *model, const char *firmware,
						       const char *page);
/* Remembers, or brings up to date. */
int em_capabilities_put(struct em_capabilities *all, const struct em_store_capability *refused);
void em_capabilities_forget(struct em_capabilities *all, const char *model, const char *firmware,
			    const char *page);
