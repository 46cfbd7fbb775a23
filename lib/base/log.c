/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "lib/base/log.h"

#define LINE_SIZE  2048
#define FIELD_SIZE 256
#define FIELD_MAX  12

static const char *const level_names[] = {
	[LOG_ERR] = "error", [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
	[LOG_INFO] = "info", [LOG_DEBUG] = "debug",
};

enum sink { SINK_PREFIXED, SINK_PLAIN, SINK_JOURNAL };

/* Set once by em_log_init(), before any thread starts; but the level may change later. */
static struct {
	char name[64];
	atomic_int max;
	enum sink sink;
} log_state = { .name = "ember", .max = LOG_INFO };

/* systemd tells which file the journal reads; a redirected stderr is another one. */
static bool journal_reads_stderr(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char end;

	if (!stream || sscanf(stream, "%llu:%llu%c", &device, &inode, &end) != 2)
		return false;
	return fstat(STDERR_FILENO, &st) == 0 && st.st_dev == (dev_t)device &&
	       st.st_ino == (ino_t)inode;
}

int em_log_level_find(const char *name, int *ret)
{
	for (int level = LOG_ERR; level <= LOG_DEBUG; level++) {
		if (strcmp(level_names[level], name) == 0) {
			*ret = level;
			return 0;
		}
	}
	return -EINVAL;
}

const char *em_log_level_name(int level)
{
	return level >= LOG_ERR && level <= LOG_DEBUG ? level_names[level] : NULL;
}

void em_log_init(const char *name, int max)
{
	snprintf(log_state.name, sizeof(log_state.name), "%s", name);
	log_state.max = max;
	if (journal_reads_stderr())
		log_state.sink = SINK_JOURNAL;
	else
		log_state.sink = isatty(STDERR_FILENO) ? SINK_PLAIN : SINK_PREFIXED;
}

void em_log_plain(void)
{
	if (log_state.sink == SINK_PREFIXED)
		log_state.sink = SINK_PLAIN;
}

void em_log_set_level(int max)
{
	log_state.max = max;
}

/* One line stays one line, whatever a drive or a client put into it. */
static void blank_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

struct entry {
	char text[FIELD_MAX][FIELD_SIZE];
	struct iovec iov[FIELD_MAX + 1];
	int count;
};

static void add_text(struct entry *entry, const char *name, const char *value)
{
	char *text = entry->text[entry->count];

	if (!value || !*value)
		return;
	snprintf(text, FIELD_SIZE, "%s=%s", name, value);
	blank_controls(text);
	entry->iov[entry->count].iov_base = text;
	entry->iov[entry->count].iov_len = strlen(text);
	entry->count++;
}

static void add_number(struct entry *entry, const char *name, long value)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", value);
	add_text(entry, name, text);
}

static void add_fields(struct entry *entry, const struct em_log_fields *fields)
{
#define EM_X(member, name) add_text(entry, name, fields->member);
	EM_LOG_TEXTS(EM_X)
#undef EM_X
	if (!fields->has_peer)
		return;
#define EM_X(member, name) add_number(entry, name, fields->member);
	EM_LOG_NUMBERS(EM_X)
#undef EM_X
}

static int send_to_journal(int priority, const struct em_log_fields *fields, char *message)
{
	struct entry entry = { .count = 0 };

	add_number(&entry, "PRIORITY", priority);
	add_text(&entry, "SYSLOG_IDENTIFIER", log_state.name);
	if (fields)
		add_fields(&entry, fields);
	entry.iov[entry.count].iov_base = message;
	entry.iov[entry.count].iov_len = strlen(message);
	return sd_journal_sendv(entry.iov, entry.count + 1);
}

static void write_line(int priority, const char *text)
{
	char line[LINE_SIZE + 128];
	int len;

	if (log_state.sink == SINK_PLAIN)
		len = snprintf(line, sizeof(line), "%s: %s\n", log_state.name, text);
	else
		len = snprintf(line, sizeof(line), "<%d>%s: %s\n", priority, log_state.name, text);
	/* Nobody is left to tell when stderr itself fails. */
	if (write(STDERR_FILENO, line, (size_t)len) < 0)
		return;
}

void em_log(int priority, const struct em_log_fields *fields, const char *format, ...)
{
	static const char key[] = "MESSAGE=";
	char message[LINE_SIZE];
	char *text = message + sizeof(key) - 1;
	va_list args;

	if (priority > log_state.max)
		return;
	memcpy(message, key, sizeof(key));
	va_start(args, format);
	vsnprintf(text, sizeof(message) - (sizeof(key) - 1), format, args);
	va_end(args);
	blank_controls(text);
	if (log_state.sink == SINK_JOURNAL && send_to_journal(priority, fields, message) == 0)
		return;
	write_line(priority, text);
}
