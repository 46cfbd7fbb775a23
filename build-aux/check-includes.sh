#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Holds every #include to the table of rooms: who may know whom (docs/architecture.md).
#
#   check-includes.sh [TOP]
#
# A room may include its own headers, those that `ours` names (a folder, or one header), and the
# libraries that `libraries` names by what their headers begin with. `never` names headers that are
# forbidden although nothing else forbids them. Headers of libc and the kernel are free.
set -u
top=${1:-${srcdir:-.}}

# room | ours | libraries | never
table() {
	cat <<'TABLE'
lib/base      |                                                |systemd/sd-journal.h          |
lib/nvme      |lib/base/                                       |                              |lib/base/log.h lib/base/clock.h unistd.h fcntl.h syslog.h sys/
lib/health    |lib/base/ lib/nvme/                             |                              |lib/base/log.h lib/base/clock.h time.h unistd.h fcntl.h syslog.h sys/
lib/ipc       |lib/base/                                       |                              |lib/base/log.h
broker        |lib/base/ lib/ipc/                              |libnvme nvme/ systemd/ libeconf gnutls/|
daemon/drives |lib/base/ lib/nvme/ lib/health/ lib/ipc/ daemon/store/store.h|systemd/         |
daemon/alert  |lib/base/ lib/nvme/ lib/health/ lib/ipc/ daemon/store/store.h daemon/drives/snapshot.h|systemd/ jansson curl/|
daemon/jobs   |lib/base/ lib/nvme/ lib/health/ lib/ipc/ daemon/store/store.h daemon/drives/snapshot.h daemon/drives/drives.h|systemd/ jansson gnutls/|
daemon/store  |lib/base/                                       |sqlite3                       |
daemon/web    |lib/base/ lib/nvme/ lib/health/ daemon/drives/snapshot.h daemon/drives/history.h daemon/drives/event_log.h daemon/drives/orders.h daemon/jobs/jobs.h daemon/store/store.h|microhttpd jansson gnutls/ zlib|
daemon/main   |lib/base/ lib/nvme/ lib/health/ lib/ipc/ daemon/|systemd/ libeconf             |
probe         |lib/base/                                       |liburing                      |
client        |lib/base/ lib/nvme/                             |curl/ jansson systemd/sd-bus.h|lib/base/log.h
sim           |lib/base/                                       |umockdev                      |
TABLE
}

# What counts as a library: everything that a package beside libc brings and that we use or might.
libraries='zlib libnvme nvme/ systemd/ libeconf gnutls/ sqlite3 microhttpd jansson curl/ liburing umockdev check.h json openssl/ glib gio/ libudev'

# begins_with HEADER PREFIX...
begins_with() {
	header=$1
	shift
	for prefix in "$@"; do
		case $header in
		"$prefix"*) return 0 ;;
		esac
	done
	return 1
}

# is_allowed FORM HEADER: FORM is q for "header", s for <header>.
is_allowed() {
	[ "$2" = config.h ] && return 0
	begins_with "$2" $never && return 1
	if [ "$1" = q ]; then
		begins_with "$2" "$room/" $ours
		return
	fi
	begins_with "$2" $libraries || return 0
	begins_with "$2" $allowed
}

# All includes of the room's files, one a line: FILE:LINE FORM HEADER.
includes() {
	find "$top/$room" -name '*.[ch]' -exec grep -n '^[[:space:]]*#[[:space:]]*include' /dev/null {} + |
		sed -n -e 's/^\([^:]*:[0-9]*\):[^"<]*"\([^"]*\)".*/\1 q \2/p' \
			-e 's/^\([^:]*:[0-9]*\):[^"<]*<\([^>]*\)>.*/\1 s \2/p'
}

bad=$(table | while IFS='|' read -r room ours allowed never; do
	room=$(echo $room)
	[ -d "$top/$room" ] || continue
	includes | while read -r place form header; do
		is_allowed "$form" "$header" || echo "$place: $room may not include $header"
	done
done)

# A folder with sources that no row names could include anything.
rooms=$(table | cut -d'|' -f1)
stray=$(cd "$top" && find lib broker daemon probe client sim -name '*.[ch]' 2>/dev/null | while read -r file; do
	found=
	for room in $rooms; do
		case $file in
		"$room"/*) found=yes ;;
		esac
	done
	[ -n "$found" ] || echo "$file: its folder has no row in build-aux/check-includes.sh"
done)

bad=$(printf '%s\n%s\n' "$bad" "$stray" | sed '/^$/d')
[ -z "$bad" ] || printf '%s\n' "$bad" >&2
count=$(printf '%s\n' "$bad" | grep -c .)
echo "$((count == 0)) passed, $count failed"
[ "$count" -eq 0 ]
