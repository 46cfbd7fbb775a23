/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/conf.h"

#include <errno.h>
#include <libeconf.h>
#include <libeconf_ext.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/cleanup.h"
#include "lib/base/ini.h"

static void econf_filep(econf_file **file)
{
	if (*file)
		econf_freeFile(*file);
}

static void econf_valuep(econf_ext_value **value)
{
	if (*value)
		econf_freeExtValue(*value);
}

static bool trusted_owner(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static const char *distrust_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return "cannot be examined";
	if (!S_ISREG(st.st_mode))
		return "is not a regular file";
	if (!trusted_owner(&st))
		return "does not belong to root: chown root it";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "is writable by others: chmod go-w it";
	if (st.st_size > EM_CONF_SIZE_MAX)
		return "is too large: at most 1 MiB";
	return NULL;
}

/*
 * Who can rename what is in a directory can put another file, or another directory with one, in its
 * place; unless it is sticky like /tmp. dir is absolute and without links; it is cut shorter.
 */
static const char *distrust_dirs(char *dir)
{
	struct stat st;

	for (;; dirname(dir)) {
		if (stat(dir, &st) < 0)
			return "lies below a directory that cannot be examined";
		if (!trusted_owner(&st))
			return "lies below a directory that does not belong to root";
		if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
			return "lies below a directory that others can write to";
		if (strcmp(dir, "/") == 0)
			return NULL;
	}
}

static const char *distrust_place(const char *path)
{
	em_cleanup(em_freep) char *copy = strdup(path);
	em_cleanup(em_freep) char *dir = copy ? realpath(dirname(copy), NULL) : NULL;

	return dir ? distrust_dirs(dir) : "lies below a directory that cannot be examined";
}

/* A link counts like the file: who can change either decides what is read. */
static const char *distrust(const char *path, const char *real)
{
	const char *problem = distrust_file(real);

	if (!problem)
		problem = distrust_place(real);
	return problem ? problem : distrust_place(path);
}

static int report_econf(const char *path, econf_err err, char *error)
{
	em_cleanup(em_freep) char *file = NULL;
	uint64_t line = 0;

	econf_errLocation(&file, &line);
	snprintf(error, EM_CONF_ERROR_SIZE, "%s:%llu: %s", path, (unsigned long long)line,
		 econf_errString(err));
	return err == ECONF_NOMEM ? -ENOMEM : -EINVAL;
}

struct reading {
	const char *path;
	econf_file *parsed;
	em_conf_fn *fn;
	void *self;
	char *error;
	char *section; /* NULL before the first */
	unsigned line;
};

static int fail(const struct reading *r, const char *key, const char *problem)
{
	snprintf(r->error, EM_CONF_ERROR_SIZE, "%s:%u: %s%s%s%s%s%s", r->path, r->line,
		 r->section ? "[" : "", r->section ? r->section : "", r->section ? "] " : "",
		 key ? key : "", key ? ": " : "", problem);
	return -EINVAL;
}

static int enter_section(struct reading *r, const char *name)
{
	struct em_conf_entry entry = { 0 };
	const char *problem;

	free(em_steal(r->section));
	r->section = strdup(name);
	if (!r->section)
		return -ENOMEM;
	/* So that a wrong name is told of even when nothing stands under it. */
	entry.section = r->section;
	problem = r->fn(r->self, &entry);
	return problem ? fail(r, NULL, problem) : 0;
}

static int read_entry(const struct reading *r, const char *key)
{
	em_cleanup(econf_valuep) econf_ext_value *ext = NULL;
	struct em_conf_entry entry = { .section = r->section, .key = key };
	const char *problem;

	if (!r->section)
		return fail(r, key, "stands before any [section]");
	if (econf_getExtValue(r->parsed, r->section, key, &ext))
		return fail(r, key, "write this line as KEY = VALUE");
	if (ext->line_number < r->line)
		return fail(r, key, "stands twice");
	if (ext->line_number > r->line || !ext->values || !ext->values[0] || ext->values[1])
		return fail(r, key, "needs one value on this line");
	entry.value = ext->values[0];
	problem = r->fn(r->self, &entry);
	return problem ? fail(r, key, problem) : 0;
}

typedef int line_fn(struct reading *r, const struct em_ini_line *line);

/* A first look: libeconf's words about a line that is not one of ours help nobody. */
static int check_line(struct reading *r, const struct em_ini_line *line)
{
	(void)r;
	(void)line;
	return 0;
}

static int read_line(struct reading *r, const struct em_ini_line *line)
{
	switch (line->kind) {
	case EM_INI_SECTION:
		return enter_section(r, line->name);
	case EM_INI_KEY:
		return read_entry(r, line->name);
	case EM_INI_EMPTY:
		break;
	}
	return 0;
}

static int take_line(struct reading *r, char *text, size_t len, line_fn *fn)
{
	struct em_ini_line line;
	const char *problem = em_ini_parse(text, len, &line);

	r->line++;
	return problem ? fail(r, NULL, problem) : fn(r, &line);
}

/*
 * libeconf 0.5.1 alone would keep the first of two equal keys, join a line without "=" to the one
 * before, and leave out of its list of keys a section's first when it is the last of the section
 * before. So the lines are walked here, and it is asked for each value.
 */
static int walk_lines(struct reading *r, line_fn *fn)
{
	em_cleanup(em_fclosep) FILE *file = fopen(r->path, "re");
	em_cleanup(em_freep) char *text = NULL;
	size_t size = 0;
	ssize_t len;
	int ret = 0;

	if (!file)
		return -errno;
	r->line = 0;
	while (ret == 0 && (len = getline(&text, &size, file)) >= 0)
		ret = take_line(r, text, (size_t)len, fn);
	if (ret == 0 && ferror(file))
		ret = -EIO;
	free(em_steal(r->section));
	return ret;
}

static int read_trusted(struct reading *r)
{
	em_cleanup(econf_filep) econf_file *file = NULL;
	econf_err err;
	int ret = walk_lines(r, check_line);

	if (ret < 0)
		return ret;
	err = econf_readFile(&file, r->path, "=", "#");
	if (err)
		return report_econf(r->path, err, r->error);
	r->parsed = file;
	return walk_lines(r, read_line);
}

/* A link to nothing is no missing file: somebody meant rules to be there. */
static int no_file(const char *path, int err, char *error)
{
	struct stat st;

	if (err == ENOENT && lstat(path, &st) == 0) {
		snprintf(error, EM_CONF_ERROR_SIZE, "%s: is a link to nothing", path);
		return -ENOLINK;
	}
	snprintf(error, EM_CONF_ERROR_SIZE, "%s: %s", path, strerror(err));
	return -err;
}

int em_conf_read(const char *path, em_conf_fn *fn, void *self, char error[EM_CONF_ERROR_SIZE])
{
	em_cleanup(em_freep) char *real = realpath(path, NULL);
	struct reading reading = { .path = real, .fn = fn, .self = self, .error = error };
	const char *problem;
	int r;

	if (!real)
		return no_file(path, errno, error);
	problem = distrust(path, real);
	if (problem) {
		snprintf(error, EM_CONF_ERROR_SIZE, "%s: %s", real, problem);
		return -EPERM;
	}
	r = read_trusted(&reading);
	if (r < 0 && r != -EINVAL)
		snprintf(error, EM_CONF_ERROR_SIZE, "%s: %s", real, strerror(-r));
	return r;
}
