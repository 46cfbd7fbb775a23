#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each header compiles alone and twice over: it names all it needs, and has its guard.
#
#   CC=... HEADER_CFLAGS=... check-headers.sh [TOP]      run in the build directory
set -u
top=${1:-${srcdir:-.}}
passed=0
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for header in $(cd "$top" && find lib broker daemon probe client sim -name '*.h' 2>/dev/null | sort); do
	printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$work/one.c"
	# shellcheck disable=SC2086
	if ${CC:-cc} -std=gnu17 -Wall -Wextra -Werror -fsyntax-only \
		-I"$top" -I. ${HEADER_CFLAGS:-} "$work/one.c" 2>"$work/log"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$header does not compile alone:" >&2
		head -n 5 "$work/log" >&2
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
