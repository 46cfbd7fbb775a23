#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The docs made from the program's tables are up to date. Keys, metrics, options, columns and the
# like are public names: a change is meant only when docs/names changes with it.
#
#   check-docs.sh [--update] [TOP]      run in the build directory
set -u
update=
if [ "${1:-}" = --update ]; then
	update=yes
	shift
fi
top=${1:-${srcdir:-.}}
passed=0
failed=0
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT

# The long options of a program, from its help.
switches() {
	"$2" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u | sed "s/^/$1 /"
}

options() {
	daemon/options-doc names && broker/options-doc names-options &&
		switches emberd daemon/emberd && switches ember-broker broker/ember-broker
}

# document FILE COMMAND...: FILE is what COMMAND prints.
document() {
	file=$top/$1
	shift
	if ! "$@" >"$made"; then
		failed=$((failed + 1))
		echo "$file: '$*' failed" >&2
	elif [ -n "$update" ]; then
		cmp -s "$made" "$file" || cat "$made" >"$file"
	elif diff -u "$file" "$made" >&2; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "$file is stale: run 'make update-docs' and look at what changed" >&2
	fi
}

document docs/fields.md lib/nvme/fields-doc md
document docs/names/fields.txt lib/nvme/fields-doc keys
document docs/names/metrics.txt lib/nvme/fields-doc metrics
document docs/names/options.txt options
document docs/names/broker.txt broker/options-doc names-broker
document docs/names/journal.txt broker/options-doc names-journal
document docs/names/sql.txt tests/unit/main/print_schema
[ -n "$update" ] || echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
