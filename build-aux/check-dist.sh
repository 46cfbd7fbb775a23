#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An archive of `make dist` holds every file that is committed.
#
#   check-dist.sh ARCHIVE      run in a git checkout
set -u
if [ $# -ne 1 ] || [ ! -e "$1" ]; then
	echo "usage: check-dist.sh ARCHIVE" >&2
	exit 2
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tar -tf "$1" | sed -n 's|^[^/]*/\(.*[^/]\)$|\1|p' | sort >"$work/archive"
git ls-files | sort >"$work/committed"
comm -13 "$work/archive" "$work/committed" >"$work/missing"
sed 's/$/: is committed and not in the archive; name it in EXTRA_DIST/' "$work/missing" >&2
count=$(wc -l <"$work/missing")
echo "$((count == 0)) passed, $count failed"
[ "$count" -eq 0 ] && [ -s "$work/committed" ]
