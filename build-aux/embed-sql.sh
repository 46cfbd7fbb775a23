#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# embed-sql.sh header|source FILE... - the SQL files as C strings, on standard output.
#
# schema/NNNN-name.sql becomes a row of em_sql_migrations, schema/query/name.sql becomes
# em_sql_name. Comment lines and empty lines stay behind.
set -eu

mode=$1
shift

text() {
	sed -e '/^[[:space:]]*--/d' -e '/^[[:space:]]*$/d' \
		-e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/	"/' -e 's/$/\\n"/' "$1"
}

name() {
	base=${1##*/}
	echo "${base%.sql}"
}

echo "/* SPDX-License-Identifier: Apache-2.0 */"
echo "/* Made from schema/ by build-aux/embed-sql.sh. */"
if [ "$mode" = header ]; then
	echo "#pragma once"
	for file; do
		case $file in
		*/query/*) echo "extern const char em_sql_$(name "$file")[];" ;;
		esac
	done
	exit 0
fi

echo '#include "daemon/store/sql.h"'
echo '#include "daemon/store/sql-text.h"'
for file; do
	case $file in
	*/query/*)
		echo "const char em_sql_$(name "$file")[] ="
		text "$file"
		echo ";"
		;;
	esac
done

echo "const struct em_sql_migration em_sql_migrations[] = {"
for file; do
	case $file in
	*/query/*) ;;
	*)
		echo "{ \"$(name "$file")\","
		text "$file"
		echo "},"
		;;
	esac
done
echo "{ NULL, NULL } };"

echo "const struct em_sql_query em_sql_queries[] = {"
for file; do
	case $file in
	*/query/*) echo "{ \"$(name "$file")\", em_sql_$(name "$file") }," ;;
	esac
done
echo "{ NULL, NULL } };"
