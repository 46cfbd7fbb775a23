/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/server.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"

#define RATES_EVERY_US (EM_US_PER_SEC / 2)

static void on_smart_event(struct sim_drive *drive, uint32_t dw0)
{
	struct sim_host *host = drive->host;
	char more[32];

	snprintf(more, sizeof(more), "NVME_AEN=%#08x", dw0);
	if (!drive->gone)
		sim_uevent_send(host->srv, drive, NULL, "change", more);
}

int sim_server_add_drive(struct sim_server *srv, struct sim_drive *drive)
{
	struct sim_host *bigger = realloc(srv->hosts, (srv->host_count + 1) * sizeof(*srv->hosts));

	if (!bigger) {
		sim_drive_free(drive);
		return -ENOMEM;
	}
	srv->hosts = bigger;
	srv->hosts[srv->host_count++] = (struct sim_host){ .srv = srv, .drive = drive };
	drive->on_event = on_smart_event;
	if (srv->speed)
		drive->speed = srv->speed;
	return 0;
}

int sim_server_plan(struct sim_server *srv, uint64_t at_us, unsigned drive, const char *words)
{
	struct sim_planned *bigger =
		realloc(srv->plans, (srv->plan_count + 1) * sizeof(*srv->plans));

	if (!bigger)
		return -ENOMEM;
	srv->plans = bigger;
	if (strlen(words) >= sizeof(bigger->words))
		return -E2BIG;
	srv->plans[srv->plan_count] = (struct sim_planned){ .at_us = at_us, .drive = drive };
	strcpy(srv->plans[srv->plan_count++].words, words);
	return 0;
}

struct sim_host *sim_server_find(struct sim_server *srv, const char *name)
{
	for (unsigned i = 0; i < srv->host_count; i++)
		if (strcmp(srv->hosts[i].drive->name, name) == 0)
			return &srv->hosts[i];
	return NULL;
}

int sim_server_watch(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = watch };

	if (epoll_ctl(srv->epoll, EPOLL_CTL_ADD, watch->fd, &ev) == 0)
		return 0;
	if (errno == EEXIST && epoll_ctl(srv->epoll, EPOLL_CTL_MOD, watch->fd, &ev) == 0)
		return 0;
	return -errno;
}

void sim_server_unwatch(struct sim_server *srv, struct sim_watch *watch)
{
	if (watch->fd < 0)
		return;
	epoll_ctl(srv->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	close(watch->fd);
	watch->fd = -1;
}

static int listen_on(struct sim_server *srv, struct sim_watch *watch, const char *path, int type)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	if (snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path) >= (int)sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	watch->fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (watch->fd < 0)
		return -errno;
	if (bind(watch->fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || chmod(path, 0666) < 0 ||
	    listen(watch->fd, SOMAXCONN) < 0)
		return -errno;
	return sim_server_watch(srv, watch, EPOLLIN);
}

static void on_signal(struct sim_server *srv, struct sim_watch *watch, uint32_t events)
{
	struct signalfd_siginfo info;
	int status;

	(void)events;
	if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
		return;
	/* A terminal sends its signals to the whole group: the command has had that one. */
	if (info.ssi_signo != SIGCHLD) {
		if (info.ssi_code != SI_KERNEL)
			kill(srv->child, (int)info.ssi_signo);
		return;
	}
	if (waitpid(srv->child, &status, WNOHANG) != srv->child)
		return;
	srv->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	srv->ended = true;
}

static int open_sockets(struct sim_server *srv)
{
	char path[SIM_PATH_MAX + 32];
	int r;

	srv->dev_listen.on = sim_kernel_accept;
	srv->event_listen.on = sim_uevent_accept;
	srv->control_listen.on = sim_control_accept;
	snprintf(path, sizeof(path), "%s%s", srv->root, SIM_DEV_SOCKET);
	r = listen_on(srv, &srv->dev_listen, path, SOCK_SEQPACKET);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s%s", srv->root, SIM_EVENT_SOCKET);
	r = listen_on(srv, &srv->event_listen, path, SOCK_SEQPACKET);
	if (r < 0)
		return r;
	if (!srv->control_path[0])
		snprintf(srv->control_path, sizeof(srv->control_path), "%.90s/control.sock",
			 srv->root);
	r = listen_on(srv, &srv->control_listen, srv->control_path, SOCK_STREAM);
	if (r < 0)
		fprintf(stderr, "ember-sim: %s: %s\n", srv->control_path, strerror(-r));
	return r;
}

static int open_signals(struct sim_server *srv, sigset_t *previous)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &set, previous) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	srv->signal_watch.on = on_signal;
	srv->signal_watch.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (srv->signal_watch.fd < 0)
		return -errno;
	return sim_server_watch(srv, &srv->signal_watch, EPOLLIN);
}

/* The library stands beside our own executable (or where libtool and make leave it). */
static int find_preload(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash + 1, size - (size_t)(slash + 1 - path), "ember-sim-preload.so");
	return access(path, R_OK) < 0 ? -errno : 0;
}

static void run_command(struct sim_server *srv, char **command, const char *preload,
			const sigset_t *mask, const struct rlimit *files)
{
	const char *others = getenv("LD_PRELOAD");
	char value[PATH_MAX * 2];

	snprintf(value, sizeof(value), "%s%s%s", preload, others && *others ? ":" : "",
		 others ? others : "");
	setenv("LD_PRELOAD", value, 1);
	setenv(SIM_ENV_ROOT, srv->root, 1);
	setenv(SIM_ENV_CONTROL, srv->control_path, 1);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setrlimit(RLIMIT_NOFILE, files);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(command[0], command);
	fprintf(stderr, "ember-sim: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static uint64_t run_plans(struct sim_server *srv, uint64_t now_us)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < srv->plan_count; i++) {
		struct sim_planned *p = &srv->plans[i];
		struct sim_host *host = &srv->hosts[p->drive];
		char *words[16], *save = NULL;
		unsigned count = 0;
		struct em_buf reply;

		if (p->done)
			continue;
		if (srv->started_us + p->at_us > now_us) {
			if (srv->started_us + p->at_us < next)
				next = srv->started_us + p->at_us;
			continue;
		}
		p->done = true;
		em_buf_init(&reply, 4096);
		for (char *w = strtok_r(p->words, " \t", &save); w && count < 16;
		     w = strtok_r(NULL, " \t", &save))
			words[count++] = w;
		if (sim_control_words(srv, host, words, count, &reply) < 0)
			fprintf(stderr, "ember-sim: %s: %s\n", host->drive->name,
				reply.data ? reply.data : "failed");
		em_buf_done(&reply);
	}
	return next;
}

void sim_server_set_speed(struct sim_server *srv, uint32_t speed)
{
	uint64_t now = em_monotonic_us();

	srv->speed = speed;
	for (unsigned i = 0; i < srv->host_count; i++) {
		sim_rate_apply(srv->hosts[i].drive, now);
		srv->hosts[i].drive->speed = speed;
	}
}

/* Readers move the values themselves; this is for the events of drives that nobody reads. */
static uint64_t run_rates(struct sim_server *srv, uint64_t now_us)
{
	bool any = false;

	for (unsigned i = 0; i < srv->host_count && !any; i++)
		any = srv->hosts[i].drive->rate_count > 0;
	if (!any)
		return UINT64_MAX;
	if (now_us < srv->rates_due_us)
		return srv->rates_due_us;
	for (unsigned i = 0; i < srv->host_count; i++)
		sim_rate_apply(srv->hosts[i].drive, now_us);
	srv->rates_due_us = now_us + RATES_EVERY_US;
	return srv->rates_due_us;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void loop(struct sim_server *srv)
{
	while (!srv->ended) {
		struct epoll_event events[64];
		uint64_t now = em_monotonic_us(), next;
		int n, wait_ms = -1;

		next = earlier(run_plans(srv, now), sim_kernel_run_due(srv, now));
		next = earlier(next, sim_control_run_due(srv, now));
		next = earlier(next, run_rates(srv, now));
		if (next != UINT64_MAX)
			wait_ms = next <= now ? 0 : (int)((next - now) / 1000 + 1);
		n = epoll_wait(srv->epoll, events, 64, wait_ms);
		for (int i = 0; i < n; i++) {
			struct sim_watch *w = events[i].data.ptr;

			w->on(srv, w, events[i].events);
		}
	}
}

static int prepare(struct sim_server *srv, sigset_t *mask)
{
	int r;

	umask(022);
	r = sim_tree_create(srv->root);
	if (r < 0)
		return r;
	srv->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (srv->epoll < 0)
		return -errno;
	for (unsigned i = 0; i < srv->host_count; i++) {
		srv->hosts[i].drive->host = &srv->hosts[i];
		sim_model_start(srv->hosts[i].drive);
		r = sim_tree_add(srv->root, srv->hosts[i].drive);
		if (r < 0)
			return r;
	}
	r = open_sockets(srv);
	return r < 0 ? r : open_signals(srv, mask);
}

int sim_server_run(struct sim_server *srv, char **command)
{
	char preload[PATH_MAX];
	struct rlimit files = { 0 }, all;
	sigset_t mask;
	int r = find_preload(preload, sizeof(preload));

	if (r < 0) {
		fprintf(stderr, "ember-sim: %s: %s\n", preload, strerror(-r));
		return 125;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	all = (struct rlimit){ .rlim_cur = files.rlim_max, .rlim_max = files.rlim_max };
	setrlimit(RLIMIT_NOFILE, &all);
	r = prepare(srv, &mask);
	if (r < 0) {
		fprintf(stderr, "ember-sim: cannot set up %s: %s\n", srv->root, strerror(-r));
		return 125;
	}
	srv->started_us = em_monotonic_us();
	run_plans(srv, srv->started_us); /* faults "from the start" are there before the command */
	srv->child = fork();
	if (srv->child == 0)
		run_command(srv, command, preload, &mask, &files);
	if (srv->child < 0)
		return 125;
	loop(srv);
	return srv->exit_status;
}

void sim_server_done(struct sim_server *srv)
{
	sim_kernel_done(srv);
	sim_uevent_done(srv);
	sim_control_done(srv);
	if (srv->control_listen.fd >= 0)
		unlink(srv->control_path);
	sim_server_unwatch(srv, &srv->dev_listen);
	sim_server_unwatch(srv, &srv->event_listen);
	sim_server_unwatch(srv, &srv->control_listen);
	sim_server_unwatch(srv, &srv->signal_watch);
	if (srv->epoll >= 0)
		close(srv->epoll);
	if (srv->root[0])
		sim_tree_destroy(srv->root);
	for (unsigned i = 0; i < srv->host_count; i++)
		sim_drive_free(srv->hosts[i].drive);
	free(srv->hosts);
	free(srv->plans);
}
