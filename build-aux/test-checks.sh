#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The checks catch what they are for: each is given a small tree with one fault.
set -u
here=$(cd "$(dirname "$0")" && pwd)
passed=0
failed=0
tree=
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# file PATH LINE...: a file of the tree at hand, with its licence.
file() {
	path=$tree/$1
	shift
	mkdir -p "$(dirname "$path")"
	{
		echo '/* SPDX-License-Identifier: Apache-2.0 */'
		printf '%s\n' "$@"
	} >"$path"
}

new_tree() {
	tree=$(mktemp -d "$work/XXXXXX")
	file lib/base/a.h '#pragma once'
	file broker/b.c '#include "config.h"' '#include <errno.h>' '#include <libnvme.h>' '#include "lib/base/a.h"'
}

# expect 0|1 CHECK WHAT: the check passes (0) or complains (1) about the tree at hand.
expect() {
	sh "$here/$2" "$tree" >/dev/null 2>&1
	if [ $? -eq "$1" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$2: wrong about $3" >&2
	fi
}

new_tree
expect 0 check-includes.sh "a clean tree"
expect 0 check-headers.sh "a clean tree"
expect 0 check-sources.sh "a clean tree"

# forbidden PATH INCLUDE
forbidden() {
	new_tree
	file "$1" "#include $2"
	expect 1 check-includes.sh "$2 in $1"
}
forbidden broker/x.c '"lib/nvme/page.h"'
forbidden broker/x.c '<sqlite3.h>'
forbidden sim/x.c '"lib/nvme/page.h"'
forbidden sim/x.c '"broker/job.h"'
forbidden lib/base/x.h '"lib/nvme/page.h"'
forbidden lib/nvme/x.c '<libnvme.h>'
forbidden lib/nvme/x.c '"lib/base/log.h"'
forbidden daemon/web/x.c '<sqlite3.h>'
forbidden daemon/web/x.c '"daemon/drives/drives.h"'
forbidden daemon/drives/x.c '<microhttpd.h>'
forbidden daemon/store/x.c '"daemon/drives/snapshot.h"'
forbidden daemon/drives/x.c '"daemon/main/options.h"'
forbidden client/x.c '<microhttpd.h>'
forbidden client/x.c '"sibling.h"'
forbidden daemon/x.c '<errno.h>'

new_tree
file lib/base/bad.h '#pragma once' 'static inline size_t needs_stddef(void) { return 0; }'
expect 1 check-headers.sh "a header that needs another"
new_tree
file lib/base/bad.h 'struct twice { int a; };'
expect 1 check-headers.sh "a header without a guard"
new_tree
echo 'int a;' >"$tree/lib/base/bare.c"
expect 1 check-sources.sh "a file without a licence"
new_tree
file daemon/store/x.c 'const char *q = "SELECT a FROM b";'
expect 1 check-sources.sh "SQL in a C file"
new_tree
file client/x.c 'em_cleanup(em_freep) char *text;'
expect 1 check-sources.sh "a cleaned-up variable without a value"

new_tree
cp "$here/../.clang-format" "$tree"
printf '%s\n' 'int   a;' >>"$tree/lib/base/a.h"
sh "$here/check-format.sh" "$tree" >/dev/null 2>&1
[ $? -eq 77 ] || expect 1 check-format.sh "a file laid out otherwise"

new_tree
mkdir -p "$tree/docs"
echo 'See [the docs](docs/a.md) and `lib/base/`.' >"$tree/README.md"
echo 'Back to [the start](../README.md#top), [out](https://example.org/docs/b.md).' >"$tree/docs/a.md"
expect 0 check-links.sh "links that lead somewhere"
echo 'See [more](b.md).' >"$tree/docs/a.md"
expect 1 check-links.sh "a link to nothing"
echo 'See `lib/base/nothing.c`.' >"$tree/docs/a.md"
expect 1 check-links.sh "a path to nothing"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
