#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Habits of the house: each file says its licence; SQL stands in schema/, not in C; what is cleaned
# up at the end of its scope has a value from the beginning, since a return may come before any other.
#
#   check-sources.sh [TOP]
set -u
top=${1:-${srcdir:-.}}
cd "$top" || exit 1

# Files that people write; build directories and what autotools leave behind are not among them.
sources() {
	find . \( -name .git -o -name 'build' -o -name _build -o -name 'build-[!a]*' -o -name autom4te.cache \) -prune -o \
		-type f \( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name '*.am' \
		-o -name '*.ac' -o -name '*.sql' -o -name run -o -name bootstrap \) -print
}

unlicensed=$(sources | sort | while read -r file; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0' ||
		echo "$file: no line 'SPDX-License-Identifier: Apache-2.0' at its head"
done)

# A string that begins like a statement. Tests may look into a database by hand.
sql=$(find lib broker daemon probe client sim -name '*.[ch]' -exec grep -nE \
	'"[[:space:]]*(SELECT[[:space:]].*|INSERT[[:space:]]+(OR|INTO)|UPDATE[[:space:]].*SET|DELETE[[:space:]]+FROM|(CREATE|ALTER|DROP)[[:space:]]+(TABLE|INDEX)|PRAGMA[[:space:]]|BEGIN( |;|")|COMMIT|ROLLBACK)' \
	/dev/null {} + 2>/dev/null | sed 's/$/   <- SQL belongs into schema\//')

bare=$(find lib broker daemon probe client sim -name '*.[ch]' -exec grep -nE \
	'^[[:space:]]*em_cleanup\([a-z_]+\)[^=]*;' /dev/null {} + 2>/dev/null |
	sed 's/$/   <- give it a value/')

bad=$(printf '%s\n%s\n%s\n' "$unlicensed" "$sql" "$bare" | sed '/^$/d')
[ -z "$bad" ] || printf '%s\n' "$bad" >&2
count=$(printf '%s\n' "$bad" | grep -c .)
echo "$((count == 0)) passed, $count failed"
[ "$count" -eq 0 ]
