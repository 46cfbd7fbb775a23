/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the tables and columns of a new database: names that people's own queries rely on. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "daemon/drives/history.h"
#include "daemon/store/store.h"
#include "lib/base/cleanup.h"

static int make_database(const char *directory)
{
	struct em_store_config config = { .directory = directory };
	struct em_store *store = NULL;
	int r;

	config.tables = em_history_tables(&config.table_count);
	r = em_store_open(&store, &config, NULL);
	em_store_close(store, 0);
	return r;
}

static int print_columns(sqlite3 *db)
{
	static const char text[] =
		"SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c "
		"WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid";
	sqlite3_stmt *query = NULL;
	int r = sqlite3_prepare_v2(db, text, -1, &query, NULL);

	while (r == SQLITE_OK && sqlite3_step(query) == SQLITE_ROW)
		printf("%s.%s %s\n", sqlite3_column_text(query, 0), sqlite3_column_text(query, 1),
		       sqlite3_column_text(query, 2));
	sqlite3_finalize(query);
	return r;
}

int main(void)
{
	char directory[] = "/tmp/ember-schema-XXXXXX", command[64];
	em_cleanup(em_freep) char *path = NULL;
	sqlite3 *db = NULL;
	int status = 1;

	if (!mkdtemp(directory))
		return 1;
	if (asprintf(&path, "%s/ember.db", directory) < 0)
		path = NULL;
	if (path && make_database(directory) == 0 && sqlite3_open(path, &db) == SQLITE_OK)
		status = print_columns(db) == SQLITE_OK && fflush(stdout) == 0 ? 0 : 1;
	sqlite3_close(db);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command) == 0 ? status : 1;
}
