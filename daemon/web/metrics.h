/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * metrics - what Ember knows, in Prometheus' text format 0.0.4.
 *
 * A value that is not known has no sample. Values of a drive stop while it is neither ok nor busy,
 * and those of a page when the drive answered that it has none, or when they are older than three
 * intervals and a minute; ember_drive_up and the time of the last reading stay, until the drive has
 * been gone for as long as the snapshot says.
 *
 * Owns:     em_metrics holds the families made from the field tables, built once.
 * Threads:  new and free anywhere; write from many threads at once. Blocking: never.
 */
#include "daemon/drives/event_log.h"
#include "daemon/drives/snapshot.h"
#include "daemon/store/store.h"
#include "lib/base/buf.h"

struct em_metrics;

struct em_metrics *em_metrics_new(void); /* NULL: no memory */
struct em_metrics *em_metrics_free(struct em_metrics *metrics);
/* now: verdicts grow old by it, however old the snapshot is. */
void em_metrics_write(const struct em_metrics *metrics, const struct em_snapshot *snap,
		      const struct em_store_status *store, const char *version,
		      uint64_t now_mono_us, int64_t now_us, struct em_buf *buf);
/* What is no drive's: events by kind (NULL: not known), and until when the certificate is valid. */
void em_metrics_write_service(const uint64_t events[EM_EVENT_KIND_COUNT],
			      int64_t certificate_expires_us, struct em_buf *buf);
