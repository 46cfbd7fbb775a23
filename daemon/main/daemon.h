/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * daemon - emberd's life: configuration, rooms, signals, and what systemd is told.
 *
 * Threads:  the main thread; blocks the signals it handles before any other thread starts.
 * Blocking: em_daemon_run() until SIGTERM or SIGINT.
 * Errors:   0 or -errno, after saying why on stderr or in the journal.
 */
struct em_daemon_options {
	const char *config_path; /* NULL = the default one, which may be missing */
	/* Each, when not NULL, comes before what the file says. */
	const char *broker_socket, *socket, *state_directory, *log_level;
};

int em_daemon_run(const struct em_daemon_options *options);
/* Reads the configuration and says what is wrong with it. */
int em_daemon_check(const struct em_daemon_options *options);
/* Likewise, and prints what it comes to. */
int em_daemon_print(const struct em_daemon_options *options);
