/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for rooms that are being built; each function gives way to the real one. */
#include <errno.h>
#include <string.h>
#include "daemon/drives/event_log.h"
#include "daemon/drives/orders.h"
#include "daemon/store/store.h"

#define EM_X(id, name, change) [EM_EVENT_KIND_##id] = { name, change },
static const struct {
	const char *name;
	bool change;
} kinds[] = { EM_EVENT_KINDS(EM_X) };

__attribute__((weak)) const char *em_event_kind_name(enum em_event_kind_id kind)
{
	return kinds[kind].name;
}
__attribute__((weak)) bool em_event_kind_is_change(enum em_event_kind_id kind)
{
	return kinds[kind].change;
}
__attribute__((weak)) int em_event_kind_find(const char *name, enum em_event_kind_id *ret)
{
	for (unsigned k = 0; k < EM_EVENT_KIND_COUNT; k++)
		if (!strcmp(kinds[k].name, name)) {
			*ret = k;
			return 0;
		}
	return -ENOENT;
}
__attribute__((weak)) void em_event_log_bounds(struct em_event_log *log, int64_t *ret_oldest,
					       int64_t *ret_newest)
{
	(void)log;
	*ret_oldest = *ret_newest = 0;
}
__attribute__((weak)) unsigned em_event_log_read(struct em_event_log *log, int64_t after,
						 struct em_event *ret, unsigned max)
{
	(void)log, (void)after, (void)ret, (void)max;
	return 0;
}
__attribute__((weak)) int em_event_log_watch(struct em_event_log *log, em_event_log_fn *fn,
					     void *userdata)
{
	(void)log, (void)fn, (void)userdata;
	return 0;
}
__attribute__((weak)) void em_event_log_unwatch(struct em_event_log *log, void *userdata)
{
	(void)log, (void)userdata;
}
__attribute__((weak)) int em_orders_give(struct em_orders *orders, struct em_order *order,
					 uint64_t deadline_us)
{
	(void)orders, (void)order, (void)deadline_us;
	return -ESHUTDOWN;
}
__attribute__((weak)) int em_store_flush(struct em_store *store, uint64_t deadline_us)
{
	(void)store, (void)deadline_us;
	return -ETIMEDOUT;
}
__attribute__((weak)) int em_store_events(struct em_store_reader *reader,
					  const struct em_store_event_range *range,
					  em_store_event_fn *fn, void *userdata)
{
	(void)reader, (void)range, (void)fn, (void)userdata;
	return -EAGAIN;
}
