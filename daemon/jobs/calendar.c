/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/jobs/calendar.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/text.h"

#define PROGRAM "/usr/bin/systemd-analyze"

struct em_calendar {
	sd_event_source *ended, *late;
	int pidfd, output;
	pid_t pid; /* 0: it was waited for */
	em_calendar_fn *fn;
	void *userdata;
};

/* ---- its words ---------------------------------------------------------------------------- */

static int read_time(const char *text, int64_t *ret_us)
{
	struct tm tm = { 0 };
	const char *rest;
	time_t seconds;

	if (strncmp(text, "never", 5) == 0) {
		*ret_us = EM_CALENDAR_NEVER;
		return 0;
	}
	/* "Thu 2026-12-03 10:00:02 UTC"; the day of the week follows from the rest. */
	rest = strlen(text) > 4 ? strptime(text + 4, "%Y-%m-%d %H:%M:%S", &tm) : NULL;
	if (!rest || strncmp(rest, " UTC", 4) != 0)
		return -EBADMSG;
	seconds = timegm(&tm);
	if (seconds <= 0 || seconds > INT64_MAX / (int64_t)EM_US_PER_SEC)
		return -EBADMSG;
	*ret_us = (int64_t)seconds * (int64_t)EM_US_PER_SEC;
	return 0;
}

int em_calendar_read(const char *output, int64_t *ret_next_us)
{
	/* The second is there when the host has another time zone. */
	static const char local[] = "Next elapse: ", utc[] = "(in UTC): ";
	const char *found = strstr(output, utc);

	if (found)
		return read_time(found + strlen(utc), ret_next_us);
	found = strstr(output, local);
	return found ? read_time(found + strlen(local), ret_next_us) : -EBADMSG;
}

/* ---- the child ---------------------------------------------------------------------------- */

static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, int output)
{
	sigset_t none, pipe;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &pipe);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0) != 0 ||
	    posix_spawn_file_actions_adddup2(files, output, 1) != 0 ||
	    posix_spawn_file_actions_adddup2(files, output, 2) != 0)
		return -ENOMEM;
	return 0;
}

static int spawn(const char *text, int64_t base_us, int output, pid_t *ret)
{
	char base[64], zone[128] = "SYSTEMD_PAGER=";
	char *const argv[] = { (char *)"systemd-analyze",
			       (char *)"calendar",
			       (char *)"--iterations=1",
			       base,
			       (char *)"--",
			       (char *)text,
			       NULL };
	char *const envp[] = { (char *)"LC_ALL=C", (char *)"SYSTEMD_COLORS=0", zone, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	const char *tz = getenv("TZ");
	int r;

	snprintf(base, sizeof(base), "--base-time=@%lld",
		 (long long)(base_us / (int64_t)EM_US_PER_SEC));
	if (tz && strlen(tz) < sizeof(zone) - 3)
		snprintf(zone, sizeof(zone), "TZ=%s", tz);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	r = prepare(&files, &attributes, output);
	if (r == 0)
		r = -posix_spawn(ret, PROGRAM, &files, &attributes, argv, envp);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return r;
}

/* On success the child runs, and is waited for by em_calendar_free() at the latest. */
static int start(struct em_calendar *calendar, const char *text, int64_t base_us)
{
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	calendar->output = ends[0];
	r = spawn(text, base_us, ends[1], &calendar->pid);
	close(ends[1]);
	if (r < 0) {
		calendar->pid = 0;
		return r;
	}
	calendar->pidfd = pidfd_open(calendar->pid, 0);
	return calendar->pidfd < 0 ? -errno : 0;
}

static void reap(struct em_calendar *calendar)
{
	if (calendar->pid == 0)
		return;
	kill(calendar->pid, SIGKILL);
	while (waitpid(calendar->pid, NULL, 0) < 0 && errno == EINTR)
		;
	calendar->pid = 0;
}

/* The child has ended: 0, -EINVAL, or what went wrong. */
static int judge(struct em_calendar *calendar, int64_t *ret_next_us,
		 char message[EM_CALENDAR_MESSAGE_SIZE])
{
	char output[EM_CALENDAR_OUTPUT_MAX + 1];
	ssize_t len = read(calendar->output, output, EM_CALENDAR_OUTPUT_MAX);
	int status = 0, r;

	while (waitpid(calendar->pid, &status, 0) < 0 && errno == EINTR)
		;
	calendar->pid = 0;
	output[len > 0 ? len : 0] = 0;
	message[0] = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		r = em_calendar_read(output, ret_next_us);
		if (r == 0)
			return 0;
		snprintf(message, EM_CALENDAR_MESSAGE_SIZE, PROGRAM " prints something else");
		return r;
	}
	if (WIFSIGNALED(status)) {
		snprintf(message, EM_CALENDAR_MESSAGE_SIZE, PROGRAM " was ended by signal %d",
			 WTERMSIG(status));
		return -ECHILD;
	}
	em_text_clean(message, EM_CALENDAR_MESSAGE_SIZE, output, strcspn(output, "\n"));
	return -EINVAL;
}

static int on_ended(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct em_calendar *calendar = userdata;
	char message[EM_CALENDAR_MESSAGE_SIZE];
	int64_t next_us = EM_CALENDAR_NEVER;
	int r;

	(void)fd;
	(void)revents;
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	r = judge(calendar, &next_us, message);
	calendar->fn(calendar->userdata, r, next_us, message);
	return 0;
}

static int on_late(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct em_calendar *calendar = userdata;

	(void)source;
	(void)usec;
	if (calendar->pid)
		kill(calendar->pid, SIGKILL); /* its end is heard */
	return 0;
}

int em_calendar_ask(struct em_calendar **ret, sd_event *event, const char *text, int64_t base_us,
		    em_calendar_fn *fn, void *userdata)
{
	struct em_calendar *calendar = calloc(1, sizeof(*calendar));
	int r;

	if (!calendar)
		return -ENOMEM;
	*calendar =
		(struct em_calendar){ .pidfd = -1, .output = -1, .fn = fn, .userdata = userdata };
	r = start(calendar, text, base_us);
	if (r == 0)
		r = sd_event_add_io(event, &calendar->ended, calendar->pidfd, EPOLLIN, on_ended,
				    calendar);
	if (r >= 0)
		r = sd_event_add_time(event, &calendar->late, CLOCK_BOOTTIME,
				      em_monotonic_us() + EM_CALENDAR_WAIT_US, 0, on_late,
				      calendar);
	if (r < 0) {
		em_calendar_free(calendar);
		return r;
	}
	*ret = calendar;
	return 0;
}

struct em_calendar *em_calendar_free(struct em_calendar *calendar)
{
	if (!calendar)
		return NULL;
	sd_event_source_disable_unref(calendar->ended);
	sd_event_source_disable_unref(calendar->late);
	reap(calendar);
	em_closep(&calendar->pidfd);
	em_closep(&calendar->output);
	free(calendar);
	return NULL;
}

int em_calendar_check(const char *text, char message[EM_CALENDAR_MESSAGE_SIZE])
{
	struct em_calendar calendar = { .pidfd = -1, .output = -1 };
	struct pollfd ended = { .events = POLLIN };
	int64_t next_us;
	int r = start(&calendar, text, em_realtime_us());

	ended.fd = calendar.pidfd;
	if (r < 0) {
		snprintf(message, EM_CALENDAR_MESSAGE_SIZE, PROGRAM ": %s", strerror(-r));
	} else {
		if (poll(&ended, 1, (int)(EM_CALENDAR_WAIT_US / EM_US_PER_MS)) != 1)
			kill(calendar.pid, SIGKILL);
		r = judge(&calendar, &next_us, message);
	}
	reap(&calendar);
	em_closep(&calendar.pidfd);
	em_closep(&calendar.output);
	return r;
}
