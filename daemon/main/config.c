/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/main/config.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libeconf.h>
#include <libeconf_ext.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/main/options.h"
#include "lib/base/cleanup.h"
#include "lib/base/ini.h"

#define FILE_MAX_BYTES (1u << 20)
#define FILES_MAX      256
#define KNOWN_SIZE     640 /* the names of a section, for a message */
#define DRIVE_PREFIX   "drive "
/* Where the rows of a section that drives may override begin. */
#define PER_DRIVE_OFFSET offsetof(struct em_config, drives.intervals)

/* One "key = value" of a file. */
struct setting {
	struct setting *next;
	const struct em_option *option;
	char serial[64]; /* of [drive SERIAL]; "" = for all */
	char group[128]; /* the section as libeconf names it */
	unsigned line;
};

/* What is read of one file. */
struct reading {
	const char *file;
	char *message;
	struct setting *settings, **tail;
	char group[128];     /* the section of the lines that follow */
	const char *section; /* the name its keys have in the option table; NULL: none yet */
	char serial[64];
};

static __attribute__((format(printf, 3, 4))) int fail(const struct reading *reading, unsigned line,
						      const char *format, ...)
{
	va_list args;
	int len;

	if (line > 0)
		len = snprintf(reading->message, EM_CONFIG_MESSAGE_SIZE, "%s:%u: ", reading->file,
			       line);
	else
		len = snprintf(reading->message, EM_CONFIG_MESSAGE_SIZE, "%s: ", reading->file);
	if (len < 0 || len >= EM_CONFIG_MESSAGE_SIZE)
		return -EINVAL;
	va_start(args, format);
	vsnprintf(reading->message + len, (size_t)(EM_CONFIG_MESSAGE_SIZE - len), format, args);
	va_end(args);
	return -EINVAL;
}

static int unknown_section(const struct reading *reading, unsigned line, const char *name)
{
	char known[KNOWN_SIZE] = "";
	size_t len = 0;

	for (unsigned i = 0; i < em_option_section_count && len < sizeof(known); i++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "[%s], ",
					em_option_sections[i].name);
	return fail(reading, line, "unknown section [%s]; there are %sand [drive SERIAL]", name,
		    known);
}

static int unknown_key(const struct reading *reading, unsigned line, const char *key)
{
	char known[KNOWN_SIZE] = "";
	size_t len = 0;

	for (unsigned i = 0; i < em_option_count && len < sizeof(known); i++)
		if (strcmp(em_options[i].section, reading->section) == 0)
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
						len ? ", " : "", em_options[i].key);
	return fail(reading, line, "unknown key \"%s\" in [%s]; there are %s", key, reading->group,
		    known);
}

static const char *per_drive_section(void)
{
	for (unsigned i = 0; i < em_option_section_count; i++)
		if (em_option_sections[i].per_drive)
			return em_option_sections[i].name;
	return NULL;
}

/* What a drive's serial can look like once it was made clean (lib/base/text.h). */
static bool is_serial(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			return false;
	return true;
}

static int enter_drive(struct reading *reading, unsigned line, char *serial)
{
	serial = em_ini_trim(serial);
	if (!is_serial(serial) || strlen(serial) >= sizeof(reading->serial))
		return fail(reading, line,
			    "write the serial of one drive, as \"emberctl drives\" shows it: "
			    "[drive SERIAL]");
	strcpy(reading->serial, serial);
	reading->section = per_drive_section();
	return 0;
}

static int enter_section(struct reading *reading, unsigned line, char *name)
{
	const struct em_option_section *section;

	if (strlen(name) >= sizeof(reading->group))
		return fail(reading, line, "the section name is too long");
	strcpy(reading->group, name);
	reading->serial[0] = '\0';
	if (strncmp(name, DRIVE_PREFIX, strlen(DRIVE_PREFIX)) == 0)
		return enter_drive(reading, line, name + strlen(DRIVE_PREFIX));
	section = em_option_section_find(name);
	if (!section)
		return unknown_section(reading, line, name);
	reading->section = section->name;
	return 0;
}

static const struct setting *find_setting(const struct setting *settings,
					  const struct em_option *option, const char *serial)
{
	for (; settings; settings = settings->next)
		if (settings->option == option && strcmp(settings->serial, serial) == 0)
			return settings;
	return NULL;
}

static int add_setting(struct reading *reading, unsigned line, const char *key)
{
	const struct em_option *option;
	const struct setting *earlier;
	struct setting *setting;

	if (!reading->section)
		return fail(reading, line, "a line [SECTION] must come before the first key");
	option = em_option_find(reading->section, key);
	if (!option)
		return unknown_key(reading, line, key);
	earlier = find_setting(reading->settings, option, reading->serial);
	if (earlier)
		return fail(reading, line, "%s is set already in line %u; remove one of the two",
			    key, earlier->line);
	setting = calloc(1, sizeof(*setting));
	if (!setting)
		return -ENOMEM;
	setting->option = option;
	setting->line = line;
	strcpy(setting->serial, reading->serial);
	strcpy(setting->group, reading->group);
	*reading->tail = setting;
	reading->tail = &setting->next;
	return 0;
}

static int walk_line(struct reading *reading, unsigned line, char *text, size_t len)
{
	struct em_ini_line parts;
	const char *problem = em_ini_parse(text, len, &parts);

	if (problem)
		return fail(reading, line, "%s", problem);
	switch (parts.kind) {
	case EM_INI_SECTION:
		return enter_section(reading, line, parts.name);
	case EM_INI_KEY:
		return add_setting(reading, line, parts.name);
	case EM_INI_EMPTY:
		break;
	}
	return 0;
}

/* libeconf keeps the first of two equal keys, so each line is looked at first (lib/base/ini.h). */
static int walk_file(struct reading *reading, FILE *file)
{
	em_cleanup(em_freep) char *text = NULL;
	size_t size = 0;
	unsigned line = 0;
	ssize_t len;
	int r = 0;

	while (r == 0 && (len = getline(&text, &size, file)) >= 0)
		r = walk_line(reading, ++line, text, (size_t)len);
	if (r == 0 && ferror(file))
		r = fail(reading, 0, "%s", strerror(errno));
	return r;
}

static char *value_at(struct em_config *config, const struct setting *setting,
		      struct em_poll_override *override)
{
	size_t offset = setting->option->offset;

	if (!override)
		return (char *)config + offset;
	return (char *)&override->intervals + (offset - PER_DRIVE_OFFSET);
}

static struct em_poll_override *find_override(struct em_config *config, const char *serial)
{
	for (unsigned i = 0; i < config->drives.override_count; i++)
		if (strcmp(config->drives.overrides[i].serial, serial) == 0)
			return &config->drives.overrides[i];
	return NULL;
}

/* A value of 0 in an override stands for "as for all" until the end (fill_overrides). */
static int make_override(const struct reading *reading, struct em_config *config,
			 const struct setting *setting, struct em_poll_override **ret)
{
	struct em_drives_config *drives = &config->drives;
	struct em_poll_override *grown = find_override(config, setting->serial);

	if (grown) {
		*ret = grown;
		return 0;
	}
	if (drives->override_count >= EM_DRIVES_MAX)
		return fail(reading, setting->line, "more than %u drives have options of their own",
			    EM_DRIVES_MAX);
	grown = reallocarray(drives->overrides, drives->override_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	drives->overrides = grown;
	*ret = &grown[drives->override_count++];
	**ret = (struct em_poll_override){ 0 };
	strcpy((*ret)->serial, setting->serial);
	return 0;
}

static int apply_value(const struct reading *reading, struct em_config *config,
		       const struct setting *setting, const char *text)
{
	struct em_poll_override *override = NULL;
	char reason[EM_OPTION_REASON_SIZE] = "";
	int r = 0;

	if (setting->serial[0])
		r = make_override(reading, config, setting, &override);
	if (r < 0)
		return r;
	if (em_option_parse(setting->option, text, value_at(config, setting, override), reason) < 0)
		return fail(reading, setting->line, "%s=%s: %s", setting->option->key, text,
			    reason);
	return 0;
}

static int apply_setting(const struct reading *reading, struct em_config *config,
			 econf_file *parsed, const struct setting *setting)
{
	struct econf_ext_value *value = NULL;
	const char *text;
	int r;

	if (econf_getExtValue(parsed, setting->group, setting->option->key, &value) !=
		    ECONF_SUCCESS ||
	    value->line_number != setting->line) {
		econf_freeExtValue(value);
		return fail(reading, setting->line, "write this line as KEY=VALUE");
	}
	text = value->values && value->values[0] ? value->values[0] : "";
	r = apply_value(reading, config, setting, text);
	econf_freeExtValue(value);
	return r;
}

static int apply_file(const struct reading *reading, struct em_config *config)
{
	econf_file *parsed = NULL;
	econf_err e = econf_readFile(&parsed, reading->file, "=", "#");
	uint64_t line = 0;
	char *place = NULL;
	int r = 0;

	if (e != ECONF_SUCCESS) {
		econf_errLocation(&place, &line);
		free(place);
		return fail(reading, (unsigned)line, "%s", econf_errString(e));
	}
	for (const struct setting *s = reading->settings; s && r == 0; s = s->next)
		r = apply_setting(reading, config, parsed, s);
	econf_freeFile(parsed);
	return r;
}

static void free_settings(struct setting *settings)
{
	while (settings) {
		struct setting *next = settings->next;

		free(settings);
		settings = next;
	}
}

/*
 * A reload must not wait for a pipe's other end, nor read a device or a core file into memory. Of
 * what is no regular file only /dev/null and its like will do: a device that is at its end.
 */
static int check_kind(const struct reading *reading, int fd)
{
	struct stat st;
	char byte;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (S_ISREG(st.st_mode) && st.st_size <= FILE_MAX_BYTES)
		return 0;
	if (S_ISREG(st.st_mode))
		return fail(reading, 0, "the file is too long; at most %u bytes", FILE_MAX_BYTES);
	if (S_ISCHR(st.st_mode) && read(fd, &byte, 1) == 0)
		return 0;
	return fail(reading, 0, "this is no regular file");
}

static int open_file(const struct reading *reading, FILE **ret)
{
	em_cleanup(em_closep) int fd =
		open(reading->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r = fd < 0 ? -errno : check_kind(reading, fd);

	if (r < 0)
		return r;
	*ret = fdopen(fd, "r");
	if (!*ret)
		return -errno;
	em_steal_fd(&fd);
	return 0;
}

/* A link to nothing is no missing file: somebody meant options to be there. */
static bool is_missing(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 && errno == ENOENT;
}

static int read_file(struct em_config *config, const char *path, bool must_exist, char *message)
{
	em_cleanup(em_fclosep) FILE *file = NULL;
	struct reading reading = { .file = path, .message = message };
	int r = open_file(&reading, &file);

	reading.tail = &reading.settings;
	if (r == -ENOENT && !must_exist && is_missing(path))
		return 0;
	if (r < 0) {
		if (r != -EINVAL)
			fail(&reading, 0, "%s", strerror(-r));
		return r;
	}
	r = walk_file(&reading, file);
	if (r == 0 && reading.settings)
		r = apply_file(&reading, config);
	free_settings(reading.settings);
	return r;
}

static int is_drop_in(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0;
}

/* Not alphasort: its order depends on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_drop_in(struct em_config *config, const char *directory, const char *name,
			char *message)
{
	em_cleanup(em_freep) char *path = NULL;

	if (asprintf(&path, "%s/%s", directory, name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return read_file(config, path, true, message);
}

static int read_drop_ins(struct em_config *config, const char *directory, char *message)
{
	const struct reading place = { .file = directory, .message = message };
	struct dirent **entries = NULL;
	int count = scandir(directory, &entries, is_drop_in, by_name);
	int r = 0;

	if (count < 0) {
		if (errno == ENOENT)
			return 0;
		r = -errno;
		fail(&place, 0, "%s", strerror(-r));
		return r;
	}
	if (count > FILES_MAX)
		r = fail(&place, 0, "more than %d files; join some", FILES_MAX);
	for (int i = 0; i < count; i++) {
		if (r == 0)
			r = read_drop_in(config, directory, entries[i]->d_name, message);
		free(entries[i]);
	}
	free(entries);
	return r;
}

static int set_defaults(struct em_config *config)
{
	char reason[EM_OPTION_REASON_SIZE];

	for (unsigned i = 0; i < em_option_count; i++) {
		const struct em_option *option = &em_options[i];
		int r = em_option_parse(option, option->value, (char *)config + option->offset,
					reason);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Namespaces follow Identify Controller; what a drive's section leaves open follows [poll]. */
static void fill_overrides(struct em_config *config)
{
	const uint64_t stalled_us = config->drives.intervals.sanitize_stalled_us;
	uint64_t *common = config->drives.intervals.page_us;

	common[EM_PAGE_IDENTIFY_NS] = common[EM_PAGE_IDENTIFY_CTRL];
	for (unsigned i = 0; i < config->drives.override_count; i++) {
		uint64_t *own = config->drives.overrides[i].intervals.page_us;
		uint64_t *own_stalled_us =
			&config->drives.overrides[i].intervals.sanitize_stalled_us;

		if (*own_stalled_us == 0)
			*own_stalled_us = stalled_us;
		own[EM_PAGE_IDENTIFY_NS] = own[EM_PAGE_IDENTIFY_CTRL];
		for (unsigned p = 0; p < EM_PAGE_COUNT; p++)
			if (own[p] == 0)
				own[p] = common[p];
	}
}

static int read_all(struct em_config *config, const char *file, bool must_exist, char *message)
{
	em_cleanup(em_freep) char *directory = NULL;
	int r = read_file(config, file, must_exist, message);

	if (r < 0)
		return r;
	if (asprintf(&directory, "%s.d", file) < 0) {
		directory = NULL;
		return -ENOMEM;
	}
	return read_drop_ins(config, directory, message);
}

EM_DEFINE_CLEANUP(struct em_config, em_config_free)

int em_config_new(struct em_config **ret, const char *file, bool must_exist,
		  char message[EM_CONFIG_MESSAGE_SIZE])
{
	em_cleanup(em_config_freep) struct em_config *config = calloc(1, sizeof(*config));
	int r;

	snprintf(message, EM_CONFIG_MESSAGE_SIZE, "no memory");
	if (!config)
		return -ENOMEM;
	r = set_defaults(config);
	if (r == 0 && file)
		r = read_all(config, file, must_exist, message);
	if (r < 0)
		return r;
	fill_overrides(config);
	message[0] = '\0';
	*ret = em_steal(config);
	return 0;
}

struct em_config *em_config_free(struct em_config *config)
{
	if (!config)
		return NULL;
	free(config->drives.overrides);
	free(config);
	return NULL;
}

int em_config_set(struct em_config *config, const char *section, const char *key, const char *value,
		  const char *name, char message[EM_CONFIG_MESSAGE_SIZE])
{
	const struct em_option *option = em_option_find(section, key);
	char reason[EM_OPTION_REASON_SIZE] = "";

	if (!option)
		return -ENOENT;
	if (em_option_parse(option, value, (char *)config + option->offset, reason) < 0) {
		snprintf(message, EM_CONFIG_MESSAGE_SIZE, "%s %s: %s", name, value, reason);
		return -EINVAL;
	}
	return 0;
}

bool em_config_same(const struct em_config *a, const struct em_config *b,
		    const struct em_option *option)
{
	char one[EM_OPTION_VALUE_SIZE], other[EM_OPTION_VALUE_SIZE];

	em_option_format(option, (const char *)a + option->offset, one);
	em_option_format(option, (const char *)b + option->offset, other);
	return strcmp(one, other) == 0;
}

static void print_section(const struct em_config *config, const char *name, struct em_buf *out)
{
	char value[EM_OPTION_VALUE_SIZE];

	em_buf_addf(out, "[%s]\n", name);
	for (unsigned i = 0; i < em_option_count; i++) {
		if (strcmp(em_options[i].section, name) != 0)
			continue;
		em_option_format(&em_options[i], (const char *)config + em_options[i].offset,
				 value);
		em_buf_addf(out, "%s=%s\n", em_options[i].key, value);
	}
}

/* What is as for all drives is left out. */
static void print_override(const struct em_config *config, const struct em_poll_override *override,
			   struct em_buf *out)
{
	const char *own = (const char *)&override->intervals;
	char common[EM_OPTION_VALUE_SIZE], value[EM_OPTION_VALUE_SIZE];

	em_buf_addf(out, "[drive %s]\n", override->serial);
	for (unsigned i = 0; i < em_option_count; i++) {
		if (!em_option_section_find(em_options[i].section)->per_drive)
			continue;
		em_option_format(&em_options[i], (const char *)config + em_options[i].offset,
				 common);
		em_option_format(&em_options[i], own + (em_options[i].offset - PER_DRIVE_OFFSET),
				 value);
		if (strcmp(common, value) != 0)
			em_buf_addf(out, "%s=%s\n", em_options[i].key, value);
	}
}

void em_config_print(const struct em_config *config, struct em_buf *out)
{
	for (unsigned i = 0; i < em_option_section_count; i++)
		print_section(config, em_option_sections[i].name, out);
	for (unsigned i = 0; i < config->drives.override_count; i++)
		print_override(config, &config->drives.overrides[i], out);
}
