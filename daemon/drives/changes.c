/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/drives/changes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/drives/changes_impl.h"

void em_change_put(char *text, size_t size, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(text, size, format, list);
	va_end(list);
}

void em_change_tell(const struct em_comparison *both, enum em_event_kind_id kind,
		    struct em_event *event, const char *format, ...)
{
	const struct em_drive_snap *drive = both->after;
	size_t used;
	va_list list;

	EM_PUT(event->drive, "%s", drive->id);
	EM_PUT(event->device, "%s", drive->device);
	EM_PUT(event->serial, "%s", drive->serial);
	EM_PUT(event->summary, "%s: ", drive->device);
	used = strlen(event->summary);
	va_start(list, format);
	vsnprintf(event->summary + used, sizeof(event->summary) - used, format, list);
	va_end(list);
	both->fn(both->userdata, kind, event);
}

/* ---- here or not, and how ---------------------------------------------------------------- */

static void appeared(const struct em_comparison *both)
{
	const struct em_drive_snap *drive = both->after;
	struct em_event event = { 0 };

	EM_PUT(event.new_value, "%s", drive->device);
	em_change_tell(both, EM_EVENT_KIND_DRIVE_APPEARED, &event, "%s %s is new",
		       drive->model[0] ? drive->model : "a drive", drive->serial);
}

static enum em_event_kind_id kind_of_state(bool was_gone, bool is_gone)
{
	if (was_gone)
		return is_gone ? EM_EVENT_KIND_DRIVE_RETIRED : EM_EVENT_KIND_DRIVE_RETURNED;
	return is_gone ? EM_EVENT_KIND_DRIVE_REMOVED : EM_EVENT_KIND_DRIVE_STATE;
}

static void compare_state(const struct em_comparison *both)
{
	enum em_drive_state before = both->before->state, after = both->after->state;
	const char *detail = both->after->state_detail;
	struct em_event event = { 0 };

	if (before == after)
		return;
	EM_PUT(event.old_value, "%s", em_drive_state_name(before));
	EM_PUT(event.new_value, "%s", em_drive_state_name(after));
	em_change_tell(both,
		       kind_of_state(em_drive_state_is_gone(before), em_drive_state_is_gone(after)),
		       &event, "%s, was %s%s%s", event.new_value, event.old_value,
		       *detail ? ": " : "", detail);
}

/* ---- names and paths --------------------------------------------------------------------- */

static const struct em_controller_snap *same_path(const struct em_drive_snap *drive,
						  const struct em_controller_snap *path)
{
	for (unsigned i = 0; i < drive->controller_count; i++) {
		if (strcmp(drive->controllers[i].cntlid, path->cntlid) == 0)
			return &drive->controllers[i];
	}
	return NULL;
}

static void renamed(const struct em_comparison *both, const char *before, const char *after)
{
	struct em_event event = { 0 };

	if (!*before || strcmp(before, after) == 0)
		return;
	EM_PUT(event.old_value, "%s", before);
	EM_PUT(event.new_value, "%s", after);
	em_change_tell(both, EM_EVENT_KIND_DRIVE_RENAMED, &event, "called %s, was %s", after,
		       before);
}

static void moved(const struct em_comparison *both, const char *before, const char *after)
{
	struct em_event event = { 0 };

	if (!*before || !*after || strcmp(before, after) == 0)
		return;
	EM_PUT(event.old_value, "%s", before);
	EM_PUT(event.new_value, "%s", after);
	em_change_tell(both, EM_EVENT_KIND_DRIVE_MOVED, &event, "at %s, was at %s", after, before);
}

static void path_changed(const struct em_comparison *both, enum em_event_kind_id kind,
			 const struct em_controller_snap *path, const char *what)
{
	bool added = kind == EM_EVENT_KIND_PATH_ADDED;
	struct em_event event = { 0 };

	EM_PUT(event.subject, "controller %s", path->cntlid);
	EM_PUT(event.old_value, "%s", added ? "" : path->device);
	EM_PUT(event.new_value, "%s", added ? path->device : "");
	em_change_tell(both, kind, &event, "controller %s (%s) %s", path->cntlid, path->device,
		       what);
}

static void compare_paths(const struct em_comparison *both)
{
	for (unsigned i = 0; i < both->after->controller_count; i++) {
		const struct em_controller_snap *path = &both->after->controllers[i];
		const struct em_controller_snap *before = same_path(both->before, path);

		if (!before) {
			path_changed(both, EM_EVENT_KIND_PATH_ADDED, path, "is there");
			continue;
		}
		renamed(both, before->device, path->device);
		moved(both, before->address, path->address);
	}
	for (unsigned i = 0; i < both->before->controller_count; i++) {
		const struct em_controller_snap *path = &both->before->controllers[i];

		if (!same_path(both->after, path))
			path_changed(both, EM_EVENT_KIND_PATH_REMOVED, path, "is gone");
	}
}

/* The drive was away: of then only one name and address are known, which any path may have now. */
static void compare_names(const struct em_comparison *both)
{
	const struct em_drive_snap *before = both->before, *after = both->after;
	bool same_name = false, same_place = false;

	for (unsigned i = 0; i < after->controller_count; i++) {
		same_name |= strcmp(after->controllers[i].device, before->device) == 0;
		same_place |= strcmp(after->controllers[i].address, before->address) == 0;
	}
	if (!same_name)
		renamed(both, before->device, after->device);
	if (!same_place)
		moved(both, before->address, after->address);
}

/* ---- namespaces -------------------------------------------------------------------------- */

static void namespace_came(const struct em_comparison *both, const struct em_namespace_snap *ns,
			   bool added)
{
	struct em_event event = { .nsid = ns->nsid };

	EM_PUT(event.subject, "namespace %u", ns->nsid);
	em_change_tell(both,
		       added ? EM_EVENT_KIND_NAMESPACE_ADDED : EM_EVENT_KIND_NAMESPACE_REMOVED,
		       &event, "%snamespace %u %s", ns->attached ? "" : "unattached ", ns->nsid,
		       added ? "is there" : "is gone");
}

static const struct em_namespace_snap *namespace_at(const struct em_drive_snap *drive, unsigned i)
{
	return i < drive->namespace_count ? &drive->namespaces[i] : NULL;
}

/* Both lists ascend. */
static void compare_namespaces(const struct em_comparison *both)
{
	const struct em_drive_snap *before = both->before, *after = both->after;
	unsigned i = 0, j = 0;

	if (before->namespace_list.read_us == 0 || after->namespace_list.read_us == 0)
		return;
	while (i < before->namespace_count || j < after->namespace_count) {
		const struct em_namespace_snap *old = namespace_at(before, i);
		const struct em_namespace_snap *new = namespace_at(after, j);
		bool has_old = old && (!new || old->nsid <= new->nsid);
		bool has_new = new && (!old || new->nsid <= old->nsid);

		if (has_old && has_new)
			em_changes_of_namespace(both, old, new);
		else
			namespace_came(both, has_new ? new : old, has_new);
		i += has_old;
		j += has_new;
	}
}

void em_changes(const struct em_drive_snap *before, const struct em_drive_snap *after,
		em_change_fn *fn, void *userdata)
{
	struct em_comparison both = { before, after, fn, userdata };

	if (!before) {
		appeared(&both);
		return;
	}
	compare_state(&both);
	if (!em_drive_state_is_gone(after->state)) {
		if (before->controller_count > 0 && after->controller_count > 0)
			compare_paths(&both);
		else
			compare_names(&both);
	}
	compare_namespaces(&both);
	em_changes_of_pages(&both);
}
