/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/clock.h"

/* device and serial with every character escaped, their names, and an id for a twin. */
#define LABELS_SIZE 288
#define NUMBER_SIZE 32
/* What stands in a sample besides names and values: ,="" and brace, space, end of line. */
#define SAMPLE_MARKS 7
/* A value that was to be read again so many times ago, and a minute at least, is an old one. */
#define OLD_INTERVALS 3
#define OLD_US	      (60 * EM_US_PER_SEC)

/* A row that has a metric. */
struct source {
	enum em_page_id page;
	const struct em_field *field;
};

/* Rows of one metric name stand together, whatever page or place they come from. */
struct family {
	const char *name, *help;
	enum em_metric_type type;
	unsigned first, count; /* in sources */
	char *bit_name;	       /* EM_BITS: a second family, one sample per bit; else NULL */
};

struct em_metrics {
	struct source *sources;
	unsigned source_count;
	struct family *families;
	unsigned family_count;
};

/* A drive with the labels that each of its series carries. */
struct series {
	const struct em_drive_snap *drive;
	bool live; /* its values may be shown */
	unsigned len;
	char labels[LABELS_SIZE];
};

struct writer {
	struct em_buf *buf;
	uint64_t now_mono_us; /* when the snapshot was taken */
	int64_t now_us;
	uint64_t clock_mono_us; /* now */
	int64_t clock_us;
	const struct series *series;
	unsigned count;
	/* The family at hand; its head is written before its first sample, and so only once. */
	const char *name, *help;
	size_t name_len;
	enum em_metric_type type;
	bool headed;
};

static bool has_family(const struct em_metrics *m, const char *name)
{
	for (unsigned i = 0; i < m->family_count; i++)
		if (!strcmp(m->families[i].name, name))
			return true;
	return false;
}

static void add_sources(struct em_metrics *m, struct family *family)
{
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		for (unsigned i = 0; i < em_pages[p]->field_count; i++) {
			const struct em_field *field = &em_pages[p]->fields[i];

			if (field->metric == EM_METRIC_NONE ||
			    strcmp(field->metric_name, family->name))
				continue;
			m->sources[m->source_count++] = (struct source){ p, field };
			family->count++;
		}
	}
}

static int add_family(struct em_metrics *m, const struct em_field *field)
{
	struct family *family = &m->families[m->family_count];

	*family = (struct family){ .name = field->metric_name,
				   .help = field->help,
				   .type = field->metric,
				   .first = m->source_count };
	if (field->type == EM_BITS &&
	    asprintf(&family->bit_name, "%s_bit", field->metric_name) < 0) {
		family->bit_name = NULL;
		return -ENOMEM;
	}
	m->family_count++;
	add_sources(m, family);
	return 0;
}

static unsigned count_rows(void)
{
	unsigned count = 0;

	for (unsigned p = 0; p < EM_PAGE_COUNT; p++)
		for (unsigned i = 0; i < em_pages[p]->field_count; i++)
			count += em_pages[p]->fields[i].metric != EM_METRIC_NONE;
	return count;
}

struct em_metrics *em_metrics_new(void)
{
	struct em_metrics *m = calloc(1, sizeof(*m));
	unsigned rows = count_rows();

	if (!m)
		return NULL;
	m->sources = calloc(rows + 1, sizeof(*m->sources));
	m->families = calloc(rows + 1, sizeof(*m->families));
	if (!m->sources || !m->families)
		return em_metrics_free(m);
	for (unsigned p = 0; p < EM_PAGE_COUNT; p++) {
		for (unsigned i = 0; i < em_pages[p]->field_count; i++) {
			const struct em_field *field = &em_pages[p]->fields[i];

			if (field->metric == EM_METRIC_NONE || has_family(m, field->metric_name))
				continue;
			if (add_family(m, field) < 0)
				return em_metrics_free(m);
		}
	}
	return m;
}

struct em_metrics *em_metrics_free(struct em_metrics *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; i < m->family_count; i++)
		free(m->families[i].bit_name);
	free(m->families);
	free(m->sources);
	free(m);
	return NULL;
}

/* A label value; the text is clean, but may hold what the format gives a meaning to. */
static void add_escaped(struct em_buf *buf, const char *text)
{
	size_t plain;

	while (plain = strcspn(text, "\\\"\n"), text[plain]) {
		em_buf_add(buf, text, plain);
		em_buf_addc(buf, '\\');
		em_buf_addc(buf, text[plain] == '\n' ? 'n' : text[plain]);
		text += plain + 1;
	}
	em_buf_add(buf, text, plain);
}

static void add_label(struct em_buf *buf, const char *name, const char *value)
{
	em_buf_addc(buf, ',');
	em_buf_adds(buf, name);
	em_buf_add(buf, "=\"", 2);
	add_escaped(buf, value);
	em_buf_addc(buf, '"');
}

/* Seconds with so many digits behind the point; printf() would take longer than all the rest. */
static void seconds_text(char text[EM_U128_DEC_SIZE], uint64_t us, unsigned digits)
{
	size_t len = em_u128_dec(text, us / EM_US_PER_SEC, 1);
	uint64_t unit = EM_US_PER_SEC, rest = us % EM_US_PER_SEC;

	text[len++] = '.';
	while (digits-- > 0) {
		unit /= 10;
		text[len++] = (char)('0' + rest / unit % 10);
	}
	text[len] = '\0';
}

static void begin(struct writer *w, const char *name, enum em_metric_type type, const char *help)
{
	w->name = name;
	w->name_len = strlen(name);
	w->help = help;
	w->type = type;
	w->headed = false;
}

/* The head of the family, before its first sample. */
static void head(struct writer *w)
{
	if (w->headed)
		return;
	em_buf_adds(w->buf, "# HELP ");
	em_buf_add(w->buf, w->name, w->name_len);
	em_buf_addc(w->buf, ' ');
	em_buf_adds(w->buf, w->help);
	em_buf_adds(w->buf, "\n# TYPE ");
	em_buf_add(w->buf, w->name, w->name_len);
	em_buf_adds(w->buf, w->type == EM_METRIC_COUNTER ? " counter\n" : " gauge\n");
	w->headed = true;
}

static void open_sample(struct writer *w)
{
	head(w);
	em_buf_add(w->buf, w->name, w->name_len);
}

static void add_value(struct writer *w, const char *text)
{
	em_buf_adds(w->buf, text);
	em_buf_addc(w->buf, '\n');
}

/* A sample of Ember itself. */
static void sample(struct writer *w, const char *label, const char *label_value, const char *value)
{
	open_sample(w);
	if (label) {
		em_buf_addc(w->buf, '{');
		em_buf_adds(w->buf, label);
		em_buf_add(w->buf, "=\"", 2);
		add_escaped(w->buf, label_value);
		em_buf_add(w->buf, "\"}", 2);
	}
	em_buf_addc(w->buf, ' ');
	add_value(w, value);
}

static void sample_u64(struct writer *w, const char *name, enum em_metric_type type,
		       const char *help, uint64_t value)
{
	char text[EM_U128_DEC_SIZE];

	begin(w, name, type, help);
	em_u128_dec(text, value, 1);
	sample(w, NULL, NULL, text);
}

/*
 * A sample of a drive; label may be NULL, and its value is one of our own words or numbers, which
 * need no escape. Nearly all of the page is written here: room is made once for each.
 */
static void drive_sample(struct writer *w, const struct series *series, const char *label,
			 const char *label_value, const char *value)
{
	size_t label_len = label ? strlen(label) : 0,
	       label_value_len = label ? strlen(label_value) : 0;
	size_t value_len = strlen(value);
	char *at;

	head(w);
	at = em_buf_room(w->buf, w->name_len + series->len + label_len + label_value_len +
					 value_len + SAMPLE_MARKS);
	if (!at)
		return;
	at = mempcpy(at, w->name, w->name_len);
	at = mempcpy(at, series->labels, series->len);
	if (label) {
		*at++ = ',';
		at = mempcpy(at, label, label_len);
		at = mempcpy(at, "=\"", 2);
		at = mempcpy(at, label_value, label_value_len);
		*at++ = '"';
	}
	at = mempcpy(at, "} ", 2);
	at = mempcpy(at, value, value_len);
	*at++ = '\n';
	em_buf_added(w->buf, (size_t)(at - w->buf->data) - w->buf->len);
}

static void drive_sample_u64(struct writer *w, const struct series *series, const char *label,
			     const char *label_value, uint64_t value)
{
	char text[EM_U128_DEC_SIZE];

	em_u128_dec(text, value, 1);
	drive_sample(w, series, label, label_value, text);
}

/*
 * Same device and serial as a drive before it: only the id tells the two apart. Present drives are
 * sorted by device, so a twin is the neighbour; one that is gone may be any drive's.
 */
static bool is_twin(const struct em_snapshot *snap, unsigned index)
{
	const struct em_drive_snap *drive = snap->drives[index];
	bool gone = drive->state == EM_STATE_REMOVED || drive->state == EM_STATE_RETIRED;

	for (unsigned i = gone || !index ? 0 : index - 1; i < index; i++)
		if (!strcmp(snap->drives[i]->device, drive->device) &&
		    !strcmp(snap->drives[i]->serial, drive->serial))
			return true;
	return false;
}

static void write_info(struct writer *w)
{
	begin(w, "ember_drive_info", EM_METRIC_GAUGE, "Who the drive is; always 1.");
	for (unsigned i = 0; i < w->count; i++) {
		const struct em_drive_snap *d = w->series[i].drive;

		open_sample(w);
		em_buf_adds(w->buf, "{device=\"");
		add_escaped(w->buf, d->device);
		em_buf_addc(w->buf, '"');
		add_label(w->buf, "serial", d->serial);
		add_label(w->buf, "id", d->id);
		add_label(w->buf, "model", d->model);
		add_label(w->buf, "firmware", d->firmware);
		add_label(w->buf, "address", d->address);
		add_label(w->buf, "transport", d->transport);
		em_buf_adds(w->buf, "} 1\n");
	}
}

static int set_series(struct series *series, const struct em_snapshot *snap, unsigned index)
{
	const struct em_drive_snap *drive = snap->drives[index];
	struct em_buf buf;

	em_buf_init(&buf, sizeof(series->labels));
	em_buf_adds(&buf, "{device=\"");
	add_escaped(&buf, drive->device);
	em_buf_addc(&buf, '"');
	add_label(&buf, "serial", drive->serial);
	if (is_twin(snap, index))
		add_label(&buf, "id", drive->id);
	series->drive = drive;
	series->live = drive->state == EM_STATE_OK || drive->state == EM_STATE_BUSY;
	if (!em_buf_failed(&buf)) {
		memcpy(series->labels, buf.data, buf.len);
		series->len = (unsigned)buf.len;
	}
	em_buf_done(&buf);
	return series->len ? 0 : -ENOMEM;
}

static void write_states(struct writer *w)
{
	begin(w, "ember_drive_up", EM_METRIC_GAUGE,
	      "1 while the drive answers or the kernel resets it, 0 when it does not answer or is "
	      "gone.");
	for (unsigned i = 0; i < w->count; i++)
		drive_sample(w, &w->series[i], NULL, NULL, w->series[i].live ? "1" : "0");
	begin(w, "ember_drive_state", EM_METRIC_GAUGE, "1 for the state that the drive is in.");
	for (unsigned i = 0; i < w->count; i++)
		for (unsigned s = 0; s < EM_STATE_COUNT; s++)
			drive_sample(w, &w->series[i], "state", em_drive_state_name(s),
				     w->series[i].drive->state == s ? "1" : "0");
}

static void write_capacitor(struct writer *w)
{
	begin(w, "ember_capacitor_state", EM_METRIC_GAUGE,
	      "1 for the state of the power-loss protection.");
	for (unsigned i = 0; i < w->count; i++) {
		enum em_capacitor_state state = em_drive_snap_capacitor(w->series[i].drive).state;

		for (unsigned s = 0; s < EM_CAPACITOR_STATE_COUNT; s++)
			drive_sample(w, &w->series[i], "state", em_capacitor_state_name(s),
				     state == s ? "1" : "0");
	}
	begin(w, "ember_capacitor_health_percent", EM_METRIC_GAUGE,
	      "Health of the power-loss protection, 100 when new.");
	for (unsigned i = 0; i < w->count; i++) {
		struct em_capacitor c = em_drive_snap_capacitor(w->series[i].drive);

		if (c.has_percent)
			drive_sample_u64(w, &w->series[i], NULL, NULL, c.health_percent);
	}
}

/* By the clock of now: what nobody reads grows old in an old snapshot, too. */
static void write_health(struct writer *w)
{
	begin(w, "ember_drive_health", EM_METRIC_GAUGE, "1 for the verdict on the drive.");
	for (unsigned i = 0; i < w->count; i++) {
		enum em_verdict verdict =
			em_drive_snap_verdict(w->series[i].drive, w->clock_mono_us, w->clock_us);

		for (unsigned v = 0; v < EM_VERDICT_COUNT; v++)
			drive_sample(w, &w->series[i], "state", em_verdict_name(v),
				     verdict == v ? "1" : "0");
	}
}

static void write_last_read(struct writer *w)
{
	begin(w, "ember_page_last_read_timestamp_seconds", EM_METRIC_GAUGE,
	      "When the values of the page were read from the drive.");
	for (unsigned i = 0; i < w->count; i++) {
		for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++) {
			const struct em_page_read *read = &w->series[i].drive->pages[p];
			char text[EM_U128_DEC_SIZE];

			if (!read->data || read->read_us <= 0)
				continue;
			seconds_text(text, (uint64_t)read->read_us, 3);
			drive_sample(w, &w->series[i], "page", em_pages[p]->key, text);
		}
	}
}

static void write_polls(struct writer *w)
{
	begin(w, "ember_poll_duration_seconds", EM_METRIC_GAUGE,
	      "How long the last completed command to the drive took.");
	for (unsigned i = 0; i < w->count; i++) {
		const struct em_drive_snap *drive = w->series[i].drive;
		char text[EM_U128_DEC_SIZE];

		if (!drive->last_answer_us || !drive->last_duration_us)
			continue;
		seconds_text(text, drive->last_duration_us, 6);
		drive_sample(w, &w->series[i], NULL, NULL, text);
	}
	begin(w, "ember_drive_commands_total", EM_METRIC_COUNTER,
	      "Commands that Ember asked the broker to send to the drive.");
	for (unsigned i = 0; i < w->count; i++)
		drive_sample_u64(w, &w->series[i], NULL, NULL, w->series[i].drive->commands);
	begin(w, "ember_poll_errors_total", EM_METRIC_COUNTER,
	      "Attempts to read a page that gave no reading, by how they ended.");
	for (unsigned i = 0; i < w->count; i++)
		for (unsigned s = EM_READ_OK + 1; s < EM_READ_COUNT; s++)
			drive_sample_u64(w, &w->series[i], "reason", em_read_status_name(s),
					 w->series[i].drive->errors[s]);
}

/*
 * May the values of this page stand for now? Passing failures are the state's to judge; after any
 * other the values would stay as they are for ever and look alive.
 */
static bool may_stand(enum em_read_status status)
{
	return status == EM_READ_OK || status == EM_READ_TIMEOUT || status == EM_READ_STUCK ||
	       status == EM_READ_BUSY;
}

/* A drive that is back, or that the kernel resets, counts as watched before it has answered. */
static bool is_old(const struct writer *w, const struct em_page_read *read)
{
	uint64_t age = (uint64_t)em_page_read_age_us(read, w->now_mono_us, w->now_us);

	return read->interval_us > 0 && age > OLD_US && age / OLD_INTERVALS > read->interval_us;
}

static bool is_current(const struct writer *w, const struct em_page_read *read)
{
	return read->data && may_stand(read->status) && !is_old(w, read);
}

static void write_value(struct writer *w, const struct series *series, const struct source *source,
			const struct em_page_read *read, const char *label, const char *label_value)
{
	const struct em_field *field = source->field;
	struct em_value value;
	char text[EM_U128_DEC_SIZE];

	if (!is_current(w, read))
		return;
	em_field_get(field, read->data->data, read->data->len, &series->drive->ctx, &value);
	if (em_value_metric_text(field, &value, text))
		drive_sample(w, series, label, label_value, text);
}

static void write_source(struct writer *w, const struct series *series, const struct source *source)
{
	const struct em_drive_snap *drive = series->drive;

	if (source->page < EM_PAGE_CTRL_COUNT) {
		write_value(w, series, source, &drive->pages[source->page],
			    source->field->metric_label, source->field->metric_label_value);
		return;
	}
	for (unsigned i = 0; i < drive->namespace_count; i++) {
		char nsid[EM_U128_DEC_SIZE];

		em_u128_dec(nsid, drive->namespaces[i].nsid, 1);
		write_value(w, series, source, &drive->namespaces[i].page, "nsid", nsid);
	}
}

/* Named bits always, so that a rule can watch them; a bit without a name while it is set. */
static void write_bits(struct writer *w, const struct series *series, const struct source *source)
{
	const struct em_field *field = source->field;
	const struct em_page_read *read = &series->drive->pages[source->page];
	struct em_value value;
	char name[EM_BIT_NAME_SIZE];
	uint64_t named = 0;

	if (!is_current(w, read))
		return;
	em_field_get(field, read->data->data, read->data->len, &series->drive->ctx, &value);
	if (value.kind != EM_V_UINT)
		return;
	for (const struct em_name *n = field->names; n && n->name; n++)
		named |= UINT64_C(1) << (n->value & 63);
	for (unsigned bit = 0; bit < 64; bit++) {
		bool set = value.number >> bit & 1;

		if (set || (named >> bit & 1))
			drive_sample(w, series, "bit", em_field_bit_name(field, bit, name),
				     set ? "1" : "0");
	}
}

/* A sample while the drive tells it; a value that is old or was never told has none. */
static void write_security_gauge(struct writer *w, const char *name, const char *help,
				 size_t member)
{
	begin(w, name, EM_METRIC_GAUGE, help);
	for (unsigned i = 0; i < w->count; i++) {
		const struct em_drive_snap *drive = w->series[i].drive;
		struct em_tcg_value value;
		struct em_tcg tcg;

		if (!w->series[i].live || !is_current(w, &drive->pages[EM_PAGE_SECURITY]))
			continue;
		em_drive_snap_tcg(drive, &tcg);
		memcpy(&value, (const uint8_t *)&tcg + member, sizeof(value));
		if (value.known)
			drive_sample(w, &w->series[i], NULL, NULL, value.value ? "1" : "0");
	}
}

static void write_security(struct writer *w)
{
	write_security_gauge(w, "ember_security_locked", "Some of the drive's data is locked now.",
			     offsetof(struct em_tcg, locked));
	write_security_gauge(w, "ember_security_locking_enabled", "Locking was set up.",
			     offsetof(struct em_tcg, locking_enabled));
}

static void write_family(struct writer *w, const struct em_metrics *m, const struct family *family)
{
	begin(w, family->name, family->type, family->help);
	for (unsigned i = 0; i < w->count; i++)
		for (unsigned s = 0; w->series[i].live && s < family->count; s++)
			write_source(w, &w->series[i], &m->sources[family->first + s]);
	if (!family->bit_name || m->sources[family->first].page >= EM_PAGE_CTRL_COUNT)
		return;
	begin(w, family->bit_name, EM_METRIC_GAUGE, family->help);
	for (unsigned i = 0; i < w->count; i++)
		if (w->series[i].live)
			write_bits(w, &w->series[i], &m->sources[family->first]);
}

static void write_ember(struct writer *w, const struct em_snapshot *snap,
			const struct em_store_status *store, const char *version)
{
	unsigned count[EM_STATE_COUNT] = { 0 };
	char text[NUMBER_SIZE];

	begin(w, "ember_build_info", EM_METRIC_GAUGE, "The version of Ember; always 1.");
	sample(w, "version", version, "1");
	sample_u64(w, "ember_broker_connected", EM_METRIC_GAUGE,
		   "1 while emberd is connected to the broker.", snap->broker_connected);
	sample_u64(w, "ember_broker_requests_total", EM_METRIC_COUNTER,
		   "Requests sent to the broker.", snap->broker_requests);
	sample_u64(w, "ember_store_up", EM_METRIC_GAUGE,
		   "1 while history can be written to the database.", store->ok);
	sample_u64(w, "ember_store_queued_rows", EM_METRIC_GAUGE,
		   "Rows that wait to be written to the database.", store->queued);
	sample_u64(w, "ember_store_written_rows_total", EM_METRIC_COUNTER,
		   "Rows written to the database.", store->written);
	sample_u64(w, "ember_store_dropped_rows_total", EM_METRIC_COUNTER,
		   "Rows lost because the database could not be written for too long.",
		   store->dropped);
	for (unsigned i = 0; i < snap->count; i++)
		count[snap->drives[i]->state]++;
	begin(w, "ember_drives", EM_METRIC_GAUGE, "Drives known to Ember, by state.");
	for (unsigned s = 0; s < EM_STATE_COUNT; s++) {
		snprintf(text, sizeof(text), "%u", count[s]);
		sample(w, "state", em_drive_state_name(s), text);
	}
}

/* By the clock of now: without a drive that is there, snapshots are old. */
static bool is_told(const struct em_snapshot *snap, const struct em_drive_snap *drive)
{
	return !em_drive_state_is_gone(drive->state) || snap->removed_keep_us == 0 ||
	       em_realtime_us() - drive->state_since_us <= (int64_t)snap->removed_keep_us;
}

void em_metrics_write(const struct em_metrics *metrics, const struct em_snapshot *snap,
		      const struct em_store_status *store, const char *version,
		      uint64_t now_mono_us, int64_t now_us, struct em_buf *buf)
{
	struct series *series = calloc(snap->count + 1, sizeof(*series));
	struct writer w = { .buf = buf,
			    .now_mono_us = snap->taken_mono_us,
			    .now_us = snap->taken_us,
			    .clock_mono_us = now_mono_us,
			    .clock_us = now_us,
			    .series = series };

	if (!series) {
		buf->err = -ENOMEM;
		return;
	}
	for (unsigned i = 0; i < snap->count; i++)
		if (is_told(snap, snap->drives[i]) && set_series(&series[w.count++], snap, i) < 0)
			buf->err = -ENOMEM;
	write_ember(&w, snap, store, version);
	write_info(&w);
	write_states(&w);
	write_health(&w);
	write_capacitor(&w);
	write_security(&w);
	write_last_read(&w);
	write_polls(&w);
	for (unsigned i = 0; i < metrics->family_count; i++)
		write_family(&w, metrics, &metrics->families[i]);
	free(series);
}

void em_metrics_write_service(const uint64_t events[EM_EVENT_KIND_COUNT],
			      int64_t certificate_expires_us, struct em_buf *buf)
{
	struct writer w = { .buf = buf };
	char text[EM_U128_DEC_SIZE];

	begin(&w, "ember_events_total", EM_METRIC_COUNTER,
	      "What happened since emberd was started, by kind.");
	for (unsigned k = 0; events && k < EM_EVENT_KIND_COUNT; k++) {
		em_u128_dec(text, events[k], 1);
		sample(&w, "kind", em_event_kind_name(k), text);
	}
	if (certificate_expires_us > 0)
		sample_u64(&w, "ember_certificate_expiry_timestamp_seconds", EM_METRIC_GAUGE,
			   "Until when the certificate of the network listener is valid.",
			   (uint64_t)certificate_expires_us / 1000000);
}
