#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The docs made from the field tables are up to date. Keys and metric names are public: a change is
# meant only when docs/names changes with it.
#
#   check-docs.sh [TOP]      run in the build directory
set -u
top=${1:-${srcdir:-.}}
passed=0
failed=0

# check WHAT FILE
check() {
	if lib/nvme/fields-doc "$1" | diff -u "$top/$2" - >&2; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$2 is stale: run 'make update-docs' and look at what changed" >&2
	fi
}

check md docs/fields.md
check keys docs/names/fields.txt
check metrics docs/names/metrics.txt
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
