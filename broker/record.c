/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "broker/device.h"
#include "broker/discover.h"
#include "broker/lane.h"
#include "broker/record_mask.h"
#include "broker/record_text.h"
#include "lib/base/buf.h"
#include "lib/base/log.h"
#include "lib/base/new_file.h"

#include "config.h"

#define TEXT_MAX (1u << 30)

struct entry {
	struct em_recorded *drive;
	struct recorder *recorder;
	struct em_lane *lane; /* NULL: gone */
	char *sysfs;
	const char *key; /* of what is asked */
	struct entry *next;
};

struct recorder {
	sd_event *event;
	const struct em_options *options;
	struct em_lanes *lanes;
	struct em_discover *discover;
	sd_event_source *end;
	struct entry *entries;
	unsigned count, waiting;
	bool interrupted, stuck, forbidden;
	int err;
};

/* ---- one drive after the other step ---------------------------------------------------------- */

static void tell_done(const struct entry *e)
{
	const struct em_recorded *r = e->drive;
	char text[128];

	fprintf(stderr, "%s: %u pages", r->info.device, em_recorded_count(r));
	if (r->cut && r->page_count)
		fprintf(stderr, ", then %s",
			em_record_outcome(&r->pages[r->page_count - 1].outcome, text,
					  sizeof(text)));
	fputc('\n', stderr);
}

static void finish_drive(struct entry *e)
{
	struct recorder *rec = e->recorder;

	if (e->drive->done)
		return;
	e->drive->done = true;
	em_recorded_find_nodes(e->drive, e->sysfs);
	tell_done(e);
	if (--rec->waiting == 0)
		sd_event_source_set_enabled(rec->end, SD_EVENT_ONESHOT);
}

static void take(struct entry *e, const struct em_ipc_request *request,
		 const struct em_outcome *outcome, const uint8_t *data)
{
	struct recorder *rec = e->recorder;
	bool host = outcome->answer == EM_ANSWER_HOST_ERROR;

	if (em_recorded_take(e->drive, request, e->key, outcome, data) < 0) {
		rec->err = -ENOMEM;
		e->drive->cut = true;
	}
	/* Then a thread may be out for ever. */
	if (outcome->answer != EM_ANSWER_DONE && outcome->answer != EM_ANSWER_STATUS && !host)
		rec->stuck = true;
	if (host && (outcome->err == EACCES || outcome->err == EPERM))
		rec->forbidden = true;
}

static struct em_outcome outcome_of(int r)
{
	if (r == -ETIMEDOUT)
		return (struct em_outcome){ .answer = EM_ANSWER_STUCK };
	if (r == -EBUSY)
		return (struct em_outcome){ .answer = EM_ANSWER_BUSY };
	return em_outcome_of_errno(-r);
}

static int submit(struct entry *e, const struct em_ipc_request *request)
{
	em_cleanup(em_job_freep) struct em_job *job = NULL;
	const struct em_job draft = {
		.request = *request,
		.operation = em_operation_find(request->op),
	};
	int r;

	if (em_op_class(request->op) != EM_CLASS_READ || draft.operation->check(request))
		return -EINVAL;
	r = em_job_new(&draft, &job);
	return r < 0 ? r : em_lane_submit(e->lane, &job);
}

static void ask_next(struct entry *e)
{
	struct em_ipc_request request;
	struct em_outcome outcome;
	int r;

	if (!e->lane || !em_recorded_next(e->drive, &request, &e->key)) {
		finish_drive(e);
		return;
	}
	r = submit(e, &request);
	if (r == 0)
		return;
	outcome = outcome_of(r);
	take(e, &request, &outcome, NULL);
	e->drive->cut = true;
	finish_drive(e);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void lane_run(void *device, struct em_job *job)
{
	em_device_run(device, job);
}

static void lane_close(void *device)
{
	em_device_free(device);
}

static enum em_link lane_link(void *self)
{
	const struct entry *e = self;

	return em_sysfs_link(e->sysfs);
}

static void lane_answer(void *self, struct em_job *job)
{
	struct entry *e = self;

	if (e->drive->done)
		return;
	take(e, &job->request, &job->outcome, job->data);
	ask_next(e);
}

static void lane_unstuck(void *self, const struct em_job *job)
{
	(void)self;
	(void)job;
}

static const struct em_lane_ops lane_ops = {
	.run = lane_run,
	.close = lane_close,
	.link = lane_link,
	.answer = lane_answer,
	.unstuck = lane_unstuck,
};

/* ---- drives ---------------------------------------------------------------------------------- */

static void entry_free(struct entry *e)
{
	em_recorded_free(e->drive);
	free(e->sysfs);
	free(e);
}

static int open_entry(struct entry *e, const struct em_drive *drive)
{
	struct em_device *device;
	int r = em_recorded_new(&drive->info, drive->sysfs, &e->drive);

	if (r < 0)
		return r;
	e->sysfs = strdup(drive->sysfs);
	if (!e->sysfs)
		return -ENOMEM;
	r = em_device_new(drive->info.device, drive->sysfs, drive->info.serial, &device);
	return r < 0 ? r : em_lane_new(e->recorder->lanes, e, device, &e->lane);
}

static void on_appeared(void *self, struct em_drive *drive)
{
	struct recorder *rec = self;
	struct entry *e = calloc(1, sizeof(*e));
	int r;

	if (!e) {
		rec->err = -ENOMEM;
		return;
	}
	e->recorder = rec;
	r = open_entry(e, drive);
	if (r < 0) {
		rec->err = r;
		entry_free(e);
		return;
	}
	drive->lane = e;
	e->next = rec->entries;
	rec->entries = e;
	rec->count++;
	rec->waiting++;
	sd_event_source_set_enabled(rec->end, SD_EVENT_OFF);
	ask_next(e);
}

static void on_gone(void *self, struct em_drive *drive)
{
	struct entry *e = drive->lane;
	struct em_lane *lane = e ? em_steal(e->lane) : NULL;

	(void)self;
	/* Answers what is out; there is nobody to ask any more then. */
	if (lane)
		em_lane_retire(lane);
	if (e)
		finish_drive(e);
}

static void on_changed(void *self, struct em_drive *drive)
{
	(void)self;
	(void)drive;
}

static void on_event(void *self, struct em_drive *drive, enum em_event_kind kind, uint32_t aen)
{
	(void)self;
	(void)drive;
	(void)kind;
	(void)aen;
}

static const struct em_discover_ops discover_ops = {
	.appeared = on_appeared,
	.changed = on_changed,
	.gone = on_gone,
	.event = on_event,
};

/* ---- the file -------------------------------------------------------------------------------- */

static bool has_identity(const struct entry *e)
{
	return em_recorded_identify(e->drive);
}

/* Those that told who they are come first: others may be controllers of theirs. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (has_identity(x) != has_identity(y))
		return has_identity(x) ? -1 : 1;
	return x->drive->number < y->drive->number ? -1 : x->drive->number > y->drive->number;
}

static const struct em_recorded *leader_of(struct entry **sorted, unsigned index)
{
	for (unsigned i = 0; i < index; i++)
		if (has_identity(sorted[index]) &&
		    em_record_are_sisters(sorted[i]->drive, sorted[index]->drive))
			return sorted[i]->drive;
	return NULL;
}

static void add_head(struct em_buf *out, const struct recorder *rec)
{
	time_t now = time(NULL);
	struct utsname name;
	char day[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	uname(&name);
	em_buf_addf(out, "# %u NVMe controllers, recorded on %s by ember-broker %s (Linux %s).\n",
		    rec->count, day, PACKAGE_VERSION, name.release);
	em_buf_adds(out,
		    rec->options->mask
			    ? "# Serial numbers, NQNs and names of namespaces are masked.\n"
			    : "# With serial numbers and all names; --mask leaves them out.\n");
	em_buf_adds(out, "# To play it: ember-sim --scenario THIS-FILE -- COMMAND\n");
}

static int mask_all(struct entry **sorted, unsigned count)
{
	em_cleanup(em_record_mask_freep) struct em_record_mask *mask = em_record_mask_new();
	int r = mask ? 0 : -ENOMEM;

	for (unsigned i = 0; i < count && r == 0; i++)
		r = em_record_mask_drive(mask, sorted[i]->drive);
	return r;
}

static int write_text(struct recorder *rec, struct em_buf *out)
{
	em_cleanup(em_freep) struct entry **sorted = calloc(rec->count, sizeof(*sorted));
	unsigned n = 0;
	int r = 0;

	if (!sorted)
		return -ENOMEM;
	for (struct entry *e = rec->entries; e; e = e->next)
		sorted[n++] = e;
	qsort(sorted, n, sizeof(*sorted), compare);
	if (rec->options->mask)
		r = mask_all(sorted, n);
	if (r < 0)
		return r;
	add_head(out, rec);
	for (unsigned i = 0; i < n; i++)
		em_record_text(out, sorted[i]->drive, leader_of(sorted, i), rec->options->mask);
	return out->err;
}

static int write_file(struct recorder *rec, struct em_new_file *file)
{
	em_cleanup(em_buf_done) struct em_buf out = { 0 };
	FILE *to = file->file ? file->file : stdout;
	int r;

	em_buf_init(&out, TEXT_MAX);
	r = write_text(rec, &out);
	if (r < 0)
		return r;
	errno = 0;
	if (fwrite(out.data, 1, out.len, to) != out.len || fflush(to) != 0)
		return errno ? -errno : -EIO;
	return file->file ? em_new_file_keep(file) : 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* On the loop, and not in a lane's answer: all lanes end here. */
static int on_end(sd_event_source *source, void *self)
{
	struct recorder *rec = self;

	(void)source;
	rec->discover = em_discover_free(rec->discover);
	if (rec->stuck)
		return sd_event_exit(rec->event, 0);
	em_lanes_finish(rec->lanes);
	return 0;
}

static int on_interrupt(sd_event_source *source, const struct signalfd_siginfo *info, void *self)
{
	struct recorder *rec = self;

	(void)source;
	(void)info;
	rec->interrupted = true;
	return sd_event_exit(rec->event, 0);
}

static int read_all(struct recorder *rec)
{
	int r = sd_event_add_signal(rec->event, NULL, SIGINT, on_interrupt, rec);

	if (r >= 0)
		r = sd_event_add_signal(rec->event, NULL, SIGTERM, on_interrupt, rec);
	if (r >= 0)
		r = sd_event_add_defer(rec->event, &rec->end, on_end, rec);
	if (r >= 0)
		r = em_lanes_new(rec->event, &lane_ops, rec->options->patience_us, &rec->lanes);
	if (r >= 0)
		r = em_discover_new(rec->event, &discover_ops, rec, &rec->discover);
	return r < 0 ? r : sd_event_loop(rec->event);
}

/* Why there will be no file, with what to do; NULL: there will be one. */
static const char *objection(const struct recorder *rec, int r)
{
	if (rec->interrupted)
		return "Interrupted";
	if (rec->forbidden)
		return "The drives may not be opened: run it as root, for example with sudo";
	if (r < 0 || rec->err < 0)
		return strerror(r < 0 ? -r : -rec->err);
	if (rec->count == 0)
		return "This host shows no NVMe controller below /sys/class/nvme";
	return NULL;
}

static int open_file(const char *path, struct em_new_file *ret)
{
	int r = strcmp(path, "-") == 0 ? 0 : em_new_file_open(ret, path);

	if (r == -EEXIST)
		em_error("%s exists, and is not overwritten: choose another name, or remove it",
			 path);
	else if (r < 0)
		em_error("%s cannot be made: %s", path, strerror(-r));
	return r;
}

static int record_to(struct recorder *rec, struct em_new_file *file)
{
	const char *path = rec->options->record;
	int r = read_all(rec);
	const char *problem = objection(rec, r);

	if (problem) {
		em_error("%s; no file was written", problem);
		return EXIT_FAILURE;
	}
	r = write_file(rec, file);
	if (r == -EEXIST)
		em_error("%s has come meanwhile, and is not overwritten: choose another name",
			 path);
	else if (r < 0)
		em_error("%s cannot be written: %s", path, strerror(-r));
	if (r < 0)
		return EXIT_FAILURE;
	fprintf(stderr, "%u controllers are in %s\n", rec->count,
		file->path ? file->path : "what was printed");
	return EXIT_SUCCESS;
}

static void recorder_done(struct recorder *rec)
{
	struct entry *next;

	rec->discover = em_discover_free(rec->discover);
	em_lanes_free(rec->lanes);
	sd_event_source_disable_unref(rec->end);
	for (struct entry *e = rec->entries; e; e = next) {
		next = e->next;
		entry_free(e);
	}
}

int em_record(sd_event *event, const struct em_options *options)
{
	struct recorder rec = { .event = event, .options = options };
	struct em_new_file file = { 0 };
	int status;

	if (open_file(options->record, &file) < 0)
		return EXIT_FAILURE;
	status = record_to(&rec, &file);
	em_new_file_done(&file);
	/* Never joined: a thread in an ioctl that does not end would keep us here for ever. */
	if (rec.lanes && !em_lanes_idle(rec.lanes))
		_exit(status);
	recorder_done(&rec);
	return status;
}
