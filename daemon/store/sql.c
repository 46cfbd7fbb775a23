/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/store/sql.h"
#include <errno.h>
#include <string.h>
#include "lib/base/buf.h"

#define IDENTIFIER_MAX 64u
#define TEXT_MAX       (1u << 20)

bool em_sql_is_identifier(const char *name)
{
	size_t len = name ? strlen(name) : 0;

	if (len == 0 || len > IDENTIFIER_MAX || (name[0] >= '0' && name[0] <= '9'))
		return false;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static int add_names(struct em_buf *out, const struct em_sql_marker *marker)
{
	for (unsigned i = 0; i < marker->count; i++) {
		if (!em_sql_is_identifier(marker->names[i]))
			return -EINVAL;
		em_buf_addf(out, "%s\"%s\"", i ? ", " : "", marker->names[i]);
	}
	return marker->count ? 0 : -EINVAL;
}

static int add_marker(struct em_buf *out, const struct em_sql_marker *marker)
{
	switch (marker->kind) {
	case EM_SQL_NAMES:
		return add_names(out, marker);
	case EM_SQL_SLOTS:
		for (unsigned i = 0; i < marker->count; i++)
			em_buf_adds(out, i ? ", ?" : "?");
		return 0;
	case EM_SQL_NUMBER:
		em_buf_addf(out, "%lld", (long long)marker->number);
		return 0;
	}
	return -EINVAL;
}

static const struct em_sql_marker *find_marker(const struct em_sql_marker *markers, unsigned count,
					       const char *name, size_t len)
{
	for (unsigned i = 0; i < count; i++)
		if (strlen(markers[i].name) == len && memcmp(markers[i].name, name, len) == 0)
			return &markers[i];
	return NULL;
}

int em_sql_expand(char **ret, const char *text, const struct em_sql_marker *markers,
		  unsigned marker_count)
{
	struct em_buf out;
	const char *open;
	char *expanded;
	int r = 0;

	em_buf_init(&out, TEXT_MAX);
	while (r == 0 && (open = strchr(text, '{'))) {
		size_t len = strcspn(open + 1, "}");
		const struct em_sql_marker *marker =
			find_marker(markers, marker_count, open + 1, len);

		em_buf_add(&out, text, (size_t)(open - text));
		r = marker ? add_marker(&out, marker) : -EINVAL;
		text = open + 1 + len + (open[1 + len] == '}');
	}
	em_buf_adds(&out, text);
	if (r == 0)
		r = out.err;
	expanded = r == 0 ? em_buf_steal(&out, NULL) : NULL;
	em_buf_done(&out);
	if (expanded)
		*ret = expanded;
	return r;
}

int em_sql_exec(sqlite3 *db, const char *text, const struct em_sql_marker *markers,
		unsigned marker_count)
{
	em_cleanup(em_freep) char *expanded = NULL;
	int r = em_sql_expand(&expanded, text, markers, marker_count);

	if (r < 0)
		return r;
	return em_sql_errno_of(db, sqlite3_exec(db, expanded, NULL, NULL, NULL));
}

int em_sql_prepare(sqlite3 *db, const char *text, const char *table, const char *column,
		   sqlite3_stmt **ret)
{
	const struct em_sql_marker markers[] = {
		{ .name = "table", .names = &table, .count = 1 },
		{ .name = "column", .names = &column, .count = 1 },
	};
	em_cleanup(em_freep) char *expanded = NULL;
	int r = em_sql_expand(&expanded, text, markers, EM_COUNT(markers));

	if (r < 0)
		return r;
	return em_sql_errno_of(db, sqlite3_prepare_v2(db, expanded, -1, ret, NULL));
}

int em_sql_number(sqlite3 *db, const char *text, int64_t *ret)
{
	em_cleanup(em_sql_finalizep) sqlite3_stmt *statement = NULL;
	int r = em_sql_prepare(db, text, NULL, NULL, &statement);
	int code;

	if (r < 0)
		return r;
	code = sqlite3_step(statement);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EIO : em_sql_errno_of(db, code);
	*ret = sqlite3_column_int64(statement, 0);
	return 0;
}

int em_sql_errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EAGAIN;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_INTERRUPT:
		return -ETIMEDOUT;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_TOOBIG:
		return -EINVAL;
	default:
		return -EIO;
	}
}

int em_sql_errno_of(sqlite3 *db, int code)
{
	int r = em_sql_errno(code);

	if (r != -EIO || !db)
		return r;
	switch (sqlite3_system_errno(db)) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return -ENOSPC;
	case EROFS:
		return -EROFS;
	default:
		return r;
	}
}
