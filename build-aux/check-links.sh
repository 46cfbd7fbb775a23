#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the docs point at is there: the targets of links, and paths between backquotes that begin
# with a folder of ours. A name in capitals within a path stands for many.
#
#   check-links.sh [TOP]
set -u
top=${1:-${srcdir:-.}}
cd "$top" || exit 1
passed=0
failed=0

# check FILE NAME: relative to the file, as links are, or to the top.
check() {
	if [ -e "$(dirname "$1")/$2" ] || [ -e "$2" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$1: there is no $2" >&2
	fi
}

for file in README.md CONTRIBUTING.md docs/*.md */README.md tests/*/*/README.md; do
	[ -e "$file" ] || continue
	for link in $(grep -oE '\]\([^) ]+\)' "$file" | sed -e 's/^](//' -e 's/[#)].*//' -e '/:/d' | sort -u); do
		check "$file" "$link"
	done
	for path in $(grep -oE '`(lib|broker|daemon|client|sim|schema|systemd|docs|tests|build-aux)/[a-z0-9_./-]*`' \
		"$file" | tr -d '`' | sort -u); do
		check "$file" "$path"
	done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
