#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sources are laid out by .clang-format, with Debian 12's clang-format (14): others differ in detail.
#
#   check-format.sh [--fix] [TOP]
#
# Without that program it is skipped (./bootstrap packages tests installs it). A table that reads better by hand stands between
# "/* clang-format off */" and "/* clang-format on */".
set -u
fix=
if [ "${1:-}" = --fix ]; then
	fix=yes
	shift
fi
top=${1:-${srcdir:-.}}
cd "$top" || exit 1
format=
for candidate in clang-format-14 clang-format; do
	if "$candidate" --version 2>/dev/null | grep -q ' version 14\.'; then
		format=$candidate
		break
	fi
done
if [ -z "$format" ]; then
	echo "skipped: no clang-format 14; on Debian 12: apt-get install clang-format-14" >&2
	exit 77
fi

files=$(find lib broker daemon client sim tests -name '*.[ch]' 2>/dev/null | sort)
# shellcheck disable=SC2086 # names without blanks
if [ -n "$fix" ]; then
	"$format" -i $files
	exit
fi
total=$(echo "$files" | wc -l)
# shellcheck disable=SC2086
bad=$("$format" --dry-run $files 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: warning: .*/\1/p' | sort -u)
count=$(printf '%s' "$bad" | grep -c .)
for file in $bad; do
	echo "$file: is laid out otherwise; '$format -i $file' mends it" >&2
done
echo "$((total - count)) passed, $count failed"
[ "$count" -eq 0 ]
