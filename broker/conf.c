/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/conf.h"

#include <errno.h>
#include <libeconf.h>
#include <libeconf_ext.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/cleanup.h"

static void econf_filep(econf_file **file)
{
	if (*file)
		econf_freeFile(*file);
}

static void econf_arrayp(char ***array)
{
	if (*array)
		econf_freeArray(*array);
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

/* Who can rename files in the directory can replace the file, unless it is sticky like /tmp. */
static const char *distrust(const char *path)
{
	em_cleanup(em_freep) char *dir = strdup(path);
	struct stat st;
	char *slash;

	if (!dir || stat(path, &st) < 0)
		return "cannot be examined";
	if (!S_ISREG(st.st_mode))
		return "is not a regular file";
	if (!trusted_owner(&st))
		return "does not belong to root: chown root it";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "is writable by others: chmod go-w it";
	if (st.st_size > EM_CONF_SIZE_MAX)
		return "is too large";
	slash = strrchr(dir, '/');
	slash[slash == dir] = '\0';
	if (stat(dir, &st) < 0)
		return "lies in a directory that cannot be examined";
	if (!trusted_owner(&st))
		return "lies in a directory that does not belong to root";
	if (st.st_mode & (S_IWGRP | S_IWOTH) && !(st.st_mode & S_ISVTX))
		return "lies in a directory that others can write to";
	return NULL;
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
	econf_file *file;
	em_conf_fn *fn;
	void *self;
	char *error;
};

static int read_entry(const struct reading *r, const char *section, const char *key)
{
	em_cleanup(econf_valuep) econf_ext_value *ext = NULL;
	struct em_conf_entry entry = { .section = section, .key = key };
	const char *problem;
	econf_err err = econf_getExtValue(r->file, section, key, &ext);

	if (err)
		return report_econf(r->path, err, r->error);
	entry.value = ext->values && ext->values[0] ? ext->values[0] : "";
	if (ext->values && ext->values[0] && ext->values[1])
		problem = "stands twice, or goes on in the next line";
	else
		problem = r->fn(r->self, &entry);
	if (!problem)
		return 0;
	snprintf(r->error, EM_CONF_ERROR_SIZE, "%s:%llu: [%s] %s: %s", r->path,
		 (unsigned long long)ext->line_number, section, key, problem);
	return -EINVAL;
}

static int read_section(const struct reading *r, const char *section)
{
	em_cleanup(econf_arrayp) char **keys = NULL;
	econf_err err;
	size_t n = 0;
	int ret = 0;

	err = econf_getKeys(r->file, section, &n, &keys);
	if (err == ECONF_NOKEY)
		return 0;
	if (err)
		return report_econf(r->path, err, r->error);
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = read_entry(r, section, keys[i]);
	return ret;
}

static bool seen_before(char **sections, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(sections[j], sections[i]) == 0)
			return true;
	return false;
}

static int read_sections(const struct reading *r)
{
	em_cleanup(econf_arrayp) char **loose = NULL, **sections = NULL;
	size_t n = 0;
	econf_err err;
	int ret = 0;

	if (econf_getKeys(r->file, NULL, &n, &loose) == ECONF_SUCCESS && n > 0) {
		snprintf(r->error, EM_CONF_ERROR_SIZE, "%s: \"%s\" stands before any [section]",
			 r->path, loose[0]);
		return -EINVAL;
	}
	err = econf_getGroups(r->file, &n, &sections);
	if (err == ECONF_NOGROUP)
		return 0;
	if (err)
		return report_econf(r->path, err, r->error);
	for (size_t i = 0; i < n && ret == 0; i++)
		if (!seen_before(sections, i))
			ret = read_section(r, sections[i]);
	return ret;
}

int em_conf_read(const char *path, em_conf_fn *fn, void *self, char error[EM_CONF_ERROR_SIZE])
{
	em_cleanup(econf_filep) econf_file *file = NULL;
	em_cleanup(em_freep) char *real = realpath(path, NULL);
	const char *problem;
	econf_err err;

	if (!real) {
		int missing = errno;

		snprintf(error, EM_CONF_ERROR_SIZE, "%s: %s", path, strerror(missing));
		return -missing;
	}
	problem = distrust(real);
	if (problem) {
		snprintf(error, EM_CONF_ERROR_SIZE, "%s: %s", real, problem);
		return -EPERM;
	}
	/* Makes duplicates visible: the values of equal keys come joined. Never changes it later. */
	setenv("ECONF_JOIN_SAME_ENTRIES", "1", 0);
	err = econf_readFile(&file, real, "=", "#");
	if (err)
		return report_econf(real, err, error);
	return read_sections(
		&(struct reading){ .path = real, .file = file, .fn = fn, .self = self, .error = error });
}
