/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/queue.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#define PAGES_MAX	 32768u
#define PAGE_BYTES_MAX	 (64u << 20)
#define CAPABILITIES_MAX 4096u
#define ROW_BYTES_MAX	 (1u << 20)

void em_queue_init(struct em_queue *queue, uint64_t max)
{
	*queue = (struct em_queue){ .max = max };
}

void em_queue_done(struct em_queue *queue)
{
	em_queue_batch_done(&queue->waiting);
}

void em_queue_batch_done(struct em_queue_batch *batch)
{
	struct em_queue_row *row;
	struct em_queue_page *page;
	struct em_queue_drive *drive;
	struct em_queue_event *event;
	struct em_queue_capability *capability;
	struct em_queue_test_run *run;

	while ((row = batch->rows)) {
		batch->rows = row->next;
		free(row);
	}
	while ((page = batch->pages)) {
		batch->pages = page->next;
		free(page);
	}
	while ((drive = batch->drives)) {
		batch->drives = drive->next;
		free(drive);
	}
	while ((event = batch->events)) {
		batch->events = event->next;
		free(event);
	}
	while ((capability = batch->capabilities)) {
		batch->capabilities = capability->next;
		free(capability);
	}
	while ((run = batch->test_runs)) {
		batch->test_runs = run->next;
		free(run);
	}
	*batch = (struct em_queue_batch){ 0 };
}

static void add_tag(struct em_buf *out, enum em_cell_tag tag, const void *data, size_t len)
{
	em_buf_addc(out, (char)tag);
	em_buf_add(out, data, len);
}

static int add_text(struct em_buf *out, const char *text)
{
	size_t len = strlen(text);
	uint32_t len32 = (uint32_t)len;

	if (len > EM_QUEUE_TEXT_MAX)
		return -E2BIG;
	add_tag(out, EM_TAG_TEXT, &len32, sizeof(len32));
	em_buf_add(out, text, len);
	return 0;
}

/* The one place that decides between integer and decimal text. */
static int add_uint(struct em_buf *out, const struct em_store_cell *cell)
{
	char digits[EM_U128_DEC_SIZE];
	int64_t integer;

	if (cell->text)
		return add_text(out, cell->text);
	if (cell->number <= INT64_MAX) {
		integer = (int64_t)cell->number;
		add_tag(out, EM_TAG_INT, &integer, sizeof(integer));
		return 0;
	}
	em_u128_dec(digits, cell->number, 1);
	return add_text(out, digits);
}

static int add_cell(struct em_buf *out, const struct em_store_cell *cell)
{
	switch (cell->kind) {
	case EM_CELL_NULL:
		add_tag(out, EM_TAG_NULL, NULL, 0);
		return 0;
	case EM_CELL_UINT:
		return add_uint(out, cell);
	case EM_CELL_INT:
		add_tag(out, EM_TAG_INT, &cell->integer, sizeof(cell->integer));
		return 0;
	case EM_CELL_REAL:
		add_tag(out, EM_TAG_REAL, &cell->real, sizeof(cell->real));
		return 0;
	case EM_CELL_TEXT:
		if (cell->text)
			return add_text(out, cell->text);
		add_tag(out, EM_TAG_NULL, NULL, 0);
		return 0;
	}
	return -EINVAL;
}

bool em_queue_row_cell(const struct em_queue_row *row, size_t *at, struct em_queue_cell *ret)
{
	const uint8_t *p = row->cells + *at;

	if (*at >= row->len)
		return false;
	*ret = (struct em_queue_cell){ .tag = (enum em_cell_tag)p[0] };
	p++;
	switch (ret->tag) {
	case EM_TAG_NULL:
		break;
	case EM_TAG_INT:
		memcpy(&ret->integer, p, sizeof(ret->integer));
		p += sizeof(ret->integer);
		break;
	case EM_TAG_REAL:
		memcpy(&ret->real, p, sizeof(ret->real));
		p += sizeof(ret->real);
		break;
	case EM_TAG_TEXT:
		memcpy(&ret->text_len, p, sizeof(ret->text_len));
		p += sizeof(ret->text_len);
		ret->text = (const char *)p;
		p += ret->text_len;
		break;
	}
	*at = (size_t)(p - row->cells);
	return true;
}

static void drop_oldest_rows(struct em_queue *queue)
{
	struct em_queue_batch *waiting = &queue->waiting;

	while (waiting->row_count > queue->max) {
		struct em_queue_row *oldest = waiting->rows;

		waiting->rows = oldest->next;
		if (!waiting->rows)
			waiting->last_row = NULL;
		waiting->row_count--;
		queue->dropped++;
		free(oldest);
	}
}

static struct em_queue_row *row_new(const struct em_buf *packed)
{
	struct em_queue_row *row = calloc(1, sizeof(*row) + packed->len);

	if (!row)
		return NULL;
	row->len = packed->len;
	if (packed->len > 0)
		memcpy(row->cells, packed->data, packed->len);
	return row;
}

static int pack_row(struct em_queue_row **ret, const struct em_store_cell *cells, unsigned count)
{
	struct em_buf packed;
	int r = 0;

	em_buf_init(&packed, ROW_BYTES_MAX);
	for (unsigned i = 0; i < count && r == 0; i++)
		r = add_cell(&packed, &cells[i]);
	if (r == 0)
		r = packed.err;
	if (r == 0) {
		*ret = row_new(&packed);
		r = *ret ? 0 : -ENOMEM;
	}
	em_buf_done(&packed);
	return r;
}

static bool is_drive_id(const char *drive)
{
	size_t len = drive ? strlen(drive) : 0;

	return len > 0 && len < EM_QUEUE_DRIVE_ID;
}

int em_queue_put_row(struct em_queue *queue, unsigned table, const char *drive, uint32_t nsid,
		     int64_t at_us, const struct em_store_cell *cells, unsigned cell_count)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_row *row = NULL;
	int r;

	if (!is_drive_id(drive))
		return -EINVAL;
	r = pack_row(&row, cells, cell_count);
	if (r < 0)
		return r;
	row->table = table;
	row->nsid = nsid;
	row->at_us = at_us;
	strcpy(row->drive, drive);
	if (waiting->last_row)
		waiting->last_row->next = row;
	else
		waiting->rows = row;
	waiting->last_row = row;
	waiting->row_count++;
	drop_oldest_rows(queue);
	return 0;
}

static uint64_t page_hash(const char *drive, const char *page, uint32_t nsid)
{
	uint64_t hash = em_hash(EM_HASH_START, drive, strlen(drive) + 1);

	hash = em_hash(hash, page, strlen(page) + 1);
	return em_hash(hash, &nsid, sizeof(nsid));
}

static bool same_page(const struct em_queue_page *a, const struct em_queue_page *b)
{
	return a->hash == b->hash && a->nsid == b->nsid && strcmp(a->drive, b->drive) == 0 &&
	       strcmp(a->page, b->page) == 0;
}

static struct em_queue_page **find_page(struct em_queue_batch *batch,
					const struct em_queue_page *page)
{
	struct em_queue_page **p = &batch->pages;

	while (*p && !same_page(*p, page))
		p = &(*p)->next;
	return p;
}

static void remove_page(struct em_queue_batch *batch, struct em_queue_page **place)
{
	struct em_queue_page *page = *place;

	*place = page->next;
	batch->page_count--;
	batch->page_bytes -= page->len;
	free(page);
}

static void drop_oldest_pages(struct em_queue *queue)
{
	struct em_queue_batch *waiting = &queue->waiting;

	while (waiting->page_count > PAGES_MAX || waiting->page_bytes > PAGE_BYTES_MAX) {
		remove_page(waiting, &waiting->pages);
		queue->dropped++;
	}
}

/* The new bytes take the place of those of the same page that still wait. */
static void add_page(struct em_queue *queue, struct em_queue_page *page)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_page **place = find_page(waiting, page);

	if (*place)
		remove_page(waiting, place);
	page->next = *place;
	*place = page;
	waiting->page_count++;
	waiting->page_bytes += page->len;
	drop_oldest_pages(queue);
}

int em_queue_put_page(struct em_queue *queue, const char *drive, const char *name, uint32_t nsid,
		      int64_t at_us, const void *data, size_t len)
{
	struct em_queue_page *page;

	if (!is_drive_id(drive) || !name || strlen(name) >= EM_QUEUE_PAGE_NAME)
		return -EINVAL;
	if (len > EM_QUEUE_PAGE_MAX)
		return -E2BIG;
	page = calloc(1, sizeof(*page) + len);
	if (!page)
		return -ENOMEM;
	page->hash = page_hash(drive, name, nsid);
	page->nsid = nsid;
	page->at_us = at_us;
	page->len = len;
	strcpy(page->drive, drive);
	strcpy(page->page, name);
	if (len > 0)
		memcpy(page->data, data, len);
	add_page(queue, page);
	return 0;
}

static struct em_queue_drive **find_drive(struct em_queue *queue, const char *id)
{
	struct em_queue_drive **p = &queue->waiting.drives;

	while (*p && strcmp((*p)->drive.id, id) != 0)
		p = &(*p)->next;
	return p;
}

static int add_drive(struct em_queue *queue, struct em_queue_drive **place)
{
	if (queue->drive_count >= EM_QUEUE_DRIVES_MAX)
		return -ENOBUFS;
	*place = calloc(1, sizeof(**place));
	if (!*place)
		return -ENOMEM;
	queue->drive_count++;
	return 0;
}

static bool is_drive(const struct em_store_drive *drive)
{
	return is_drive_id(drive->id) && drive->identity_len <= sizeof(drive->identity);
}

int em_queue_put_drive(struct em_queue *queue, const struct em_store_drive *drive)
{
	struct em_queue_drive **place;
	int r;

	if (!is_drive(drive))
		return -EINVAL;
	place = find_drive(queue, drive->id);
	r = *place ? 0 : add_drive(queue, place);
	if (r < 0)
		return r;
	(*place)->drive = *drive;
	(*place)->waiting = true;
	queue->drives_waiting = true;
	return 0;
}

int em_queue_remember_drive(struct em_queue *queue, const struct em_store_drive *drive)
{
	struct em_queue_drive **place;
	int r;

	if (!is_drive(drive))
		return -EINVAL;
	place = find_drive(queue, drive->id);
	if (*place || queue->drive_count >= EM_QUEUE_DRIVES_MAX / 2)
		return 0;
	r = add_drive(queue, place);
	if (r == 0)
		(*place)->drive = *drive;
	return r;
}

static void drop_oldest_events(struct em_queue *queue)
{
	struct em_queue_batch *waiting = &queue->waiting;

	while (waiting->event_count > EM_STORE_EVENTS_MAX) {
		struct em_queue_event *oldest = waiting->events;

		waiting->events = oldest->next;
		waiting->event_count--;
		queue->dropped++;
		free(oldest);
	}
}

int em_queue_put_event(struct em_queue *queue, const struct em_event *event)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_event *item;

	if (event->id <= queue->last_event_id || !event->kind[0])
		return -EINVAL;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	item->event = *event;
	if (waiting->events)
		waiting->last_event->next = item;
	else
		waiting->events = item;
	waiting->last_event = item;
	waiting->event_count++;
	queue->last_event_id = event->id;
	drop_oldest_events(queue);
	return 0;
}

static struct em_queue_capability **find_capability(struct em_queue_batch *batch,
						    const struct em_store_capability *wanted)
{
	struct em_queue_capability **p = &batch->capabilities;

	while (*p && (strcmp((*p)->capability.page, wanted->page) != 0 ||
		      strcmp((*p)->capability.model, wanted->model) != 0 ||
		      strcmp((*p)->capability.firmware, wanted->firmware) != 0))
		p = &(*p)->next;
	return p;
}

static void add_capability(struct em_queue *queue, struct em_queue_capability *item)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_capability **place = find_capability(waiting, &item->capability);
	struct em_queue_capability *old = *place;

	item->next = old ? old->next : NULL;
	*place = item;
	if (old) {
		free(old);
		return;
	}
	if (++waiting->capability_count > CAPABILITIES_MAX) {
		old = waiting->capabilities;
		waiting->capabilities = old->next;
		waiting->capability_count--;
		queue->dropped++;
		free(old);
	}
}

int em_queue_put_capability(struct em_queue *queue, const struct em_store_capability *capability,
			    bool remove)
{
	struct em_queue_capability *item;

	if (!capability->model[0] || !capability->page[0])
		return -EINVAL;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	item->capability = *capability;
	item->remove = remove;
	add_capability(queue, item);
	return 0;
}

static struct em_queue_test_run **find_test_run(struct em_queue_batch *batch,
						const struct em_store_test_run *wanted)
{
	struct em_queue_test_run **p = &batch->test_runs;

	while (*p && (strcmp((*p)->run.drive, wanted->drive) != 0 ||
		      strcmp((*p)->run.test, wanted->test) != 0))
		p = &(*p)->next;
	return p;
}

static void add_test_run(struct em_queue *queue, struct em_queue_test_run *item)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_test_run **place = find_test_run(waiting, &item->run);
	struct em_queue_test_run *old = *place;

	item->next = old ? old->next : NULL;
	*place = item;
	if (!old && ++waiting->test_run_count > EM_STORE_TEST_RUNS_MAX) {
		old = waiting->test_runs;
		waiting->test_runs = old->next;
		waiting->test_run_count--;
		queue->dropped++;
	}
	free(old);
}

int em_queue_put_test_run(struct em_queue *queue, const struct em_store_test_run *run)
{
	struct em_queue_test_run *item;

	if (!run->drive[0] || !run->test[0])
		return -EINVAL;
	item = calloc(1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	item->run = *run;
	add_test_run(queue, item);
	return 0;
}

bool em_queue_is_empty(const struct em_queue *queue)
{
	const struct em_queue_batch *waiting = &queue->waiting;

	return !waiting->rows && !waiting->pages && !queue->drives_waiting && !waiting->events &&
	       !waiting->capabilities && !waiting->test_runs;
}

void em_queue_repeat_drives(struct em_queue *queue)
{
	for (struct em_queue_drive *d = queue->waiting.drives; d; d = d->next) {
		d->waiting = true;
		queue->drives_waiting = true;
	}
}

static int copy_drives(struct em_queue *queue, struct em_queue_batch *batch)
{
	struct em_queue_drive **tail = &batch->drives;

	for (struct em_queue_drive *d = queue->waiting.drives; d; d = d->next) {
		if (!d->waiting)
			continue;
		*tail = malloc(sizeof(**tail));
		if (!*tail)
			return -ENOMEM;
		**tail = *d;
		(*tail)->next = NULL;
		tail = &(*tail)->next;
	}
	return 0;
}

int em_queue_take(struct em_queue *queue, struct em_queue_batch *ret)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_batch batch = { 0 };
	struct em_queue_drive *known;

	if (copy_drives(queue, &batch) < 0) {
		em_queue_batch_done(&batch);
		return -ENOMEM;
	}
	for (struct em_queue_drive *d = waiting->drives; d; d = d->next)
		d->waiting = false;
	queue->drives_waiting = false;
	known = em_steal(waiting->drives);
	*ret = *waiting;
	ret->drives = batch.drives;
	*waiting = (struct em_queue_batch){ .drives = known };
	return 0;
}

static void return_rows(struct em_queue *queue, struct em_queue_batch *batch)
{
	struct em_queue_batch *waiting = &queue->waiting;

	if (!batch->rows)
		return;
	batch->last_row->next = waiting->rows;
	waiting->rows = em_steal(batch->rows);
	if (!waiting->last_row)
		waiting->last_row = batch->last_row;
	waiting->row_count += batch->row_count;
	drop_oldest_rows(queue);
}

/* Looks for the few that came since among the many, and not the other way round. */
static void return_pages(struct em_queue *queue, struct em_queue_batch *batch)
{
	struct em_queue_batch *waiting = &queue->waiting;
	struct em_queue_page **end = &batch->pages;

	for (struct em_queue_page *newer = waiting->pages; newer; newer = newer->next) {
		struct em_queue_page **place = find_page(batch, newer);

		if (*place)
			remove_page(batch, place);
	}
	while (*end)
		end = &(*end)->next;
	*end = waiting->pages;
	waiting->pages = em_steal(batch->pages);
	waiting->page_count += batch->page_count;
	waiting->page_bytes += batch->page_bytes;
	drop_oldest_pages(queue);
}

static void return_drives(struct em_queue *queue, struct em_queue_batch *batch)
{
	for (struct em_queue_drive *b = batch->drives; b; b = b->next)
		for (struct em_queue_drive *d = queue->waiting.drives; d; d = d->next)
			if (strcmp(b->drive.id, d->drive.id) == 0)
				d->waiting = queue->drives_waiting = true;
}

static void return_events(struct em_queue *queue, struct em_queue_batch *batch)
{
	struct em_queue_batch *waiting = &queue->waiting;

	if (!batch->events)
		return;
	batch->last_event->next = waiting->events;
	if (!waiting->events)
		waiting->last_event = batch->last_event;
	waiting->events = em_steal(batch->events);
	waiting->event_count += batch->event_count;
	drop_oldest_events(queue);
}

static void return_capabilities(struct em_queue *queue, struct em_queue_batch *batch)
{
	struct em_queue_capability *item;

	while ((item = batch->capabilities)) {
		batch->capabilities = item->next;
		if (*find_capability(&queue->waiting, &item->capability))
			free(item);
		else
			add_capability(queue, item);
	}
}

static void return_test_runs(struct em_queue *queue, struct em_queue_batch *batch)
{
	struct em_queue_test_run *item;

	while ((item = batch->test_runs)) {
		batch->test_runs = item->next;
		if (*find_test_run(&queue->waiting, &item->run))
			free(item);
		else
			add_test_run(queue, item);
	}
}

void em_queue_return(struct em_queue *queue, struct em_queue_batch *batch)
{
	return_rows(queue, batch);
	return_pages(queue, batch);
	return_drives(queue, batch);
	return_events(queue, batch);
	return_capabilities(queue, batch);
	return_test_runs(queue, batch);
	em_queue_batch_done(batch);
}
