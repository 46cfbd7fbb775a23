/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/main/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <config.h>
#include "daemon/drives/drives.h"
#include "daemon/drives/history.h"
#include "daemon/jobs/jobs.h"
#include "daemon/main/config.h"
#include "daemon/main/options.h"
#include "daemon/store/store.h"
#include "daemon/web/web.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* What is queued for the disk gets this long when we end. */
#define STORE_GRACE_US (5 * EM_US_PER_SEC)
#define TOKENS_FILE    "tokens.json"
#define LARGE_BLOCK    (1 << 20)
#define DEFAULT_CONFIG EM_SYSCONFDIR "/emberd.conf"

EM_DEFINE_CLEANUP(struct em_config, em_config_free)

struct daemon {
	const struct em_daemon_options *options;
	struct em_config *config; /* of the start */
	sd_event *event;
	struct em_hub *hub;
	struct em_event_log *events;
	struct em_store *store;
	struct em_drives *drives;
	struct em_jobs *jobs;
	struct em_web *web;
};

/* What the command line says comes before the file. */
static int apply_options(struct em_config *config, const struct em_daemon_options *options,
			 char message[EM_CONFIG_MESSAGE_SIZE])
{
	const struct {
		const char *name, *section, *key, *value;
	} rows[] = {
		{ "--broker-socket", "broker", "socket", options->broker_socket },
		{ "--socket", "http", "socket", options->socket },
		{ "--state-directory", "store", "directory", options->state_directory },
		{ "--log-level", "log", "level", options->log_level },
	};
	int r = 0;

	for (unsigned i = 0; r == 0 && i < EM_COUNT(rows); i++)
		if (rows[i].value)
			r = em_config_set(config, rows[i].section, rows[i].key, rows[i].value,
					  rows[i].name, message);
	return r;
}

static int load_config(const struct em_daemon_options *options, struct em_config **ret)
{
	const char *path = options->config_path ? options->config_path : DEFAULT_CONFIG;
	em_cleanup(em_config_freep) struct em_config *config = NULL;
	char message[EM_CONFIG_MESSAGE_SIZE];
	int r = em_config_new(&config, path, options->config_path != NULL, message);

	if (r == 0)
		r = apply_options(config, options, message);
	if (r < 0) {
		em_error("%s", message);
		return r;
	}
	*ret = em_steal(config);
	return 0;
}

int em_daemon_check(const struct em_daemon_options *options)
{
	struct em_config *config = NULL;
	char message[EM_JOBS_PROBLEM_SIZE];
	int r = load_config(options, &config);

	if (r == 0) {
		r = em_jobs_check(&config->jobs, message);
		if (r < 0)
			em_error("%s", message);
	}
	em_config_free(config);
	return r;
}

/* Far above what EM_DRIVES_MAX drives with options of their own can take. */
#define PRINT_MAX (16u << 20)

int em_daemon_print(const struct em_daemon_options *options)
{
	em_cleanup(em_config_freep) struct em_config *config = NULL;
	struct em_buf text;
	int r = load_config(options, &config);

	if (r < 0)
		return r;
	em_buf_init(&text, PRINT_MAX);
	em_config_print(config, &text);
	if (em_buf_failed(&text) || fwrite(text.data, 1, text.len, stdout) != text.len ||
	    fflush(stdout) != 0)
		r = -EIO;
	em_buf_done(&text);
	return r;
}

/* ---- signals ----------------------------------------------------------------------------- */

static void warn_fixed(const struct em_config *in_use, const struct em_config *wanted)
{
	for (unsigned i = 0; i < em_option_count; i++)
		if (em_options[i].restart && !em_config_same(in_use, wanted, &em_options[i]))
			em_warning("[%s] %s was changed; it stays as it is until the next start",
				   em_options[i].section, em_options[i].key);
}

/* Of the files that are in use: that they are other files needs a restart. */
static void reload_certificate(struct daemon *daemon)
{
	const char *message = "";

	if (em_web_reload_certificate(daemon->web, &message) < 0)
		em_warning("%s", message);
}

/* daemon->config stays: it is what the options that are read at start only have. */
static int take_over(struct daemon *daemon, const struct em_config *config)
{
	int r = em_drives_reconfigure(daemon->drives, &config->drives);

	if (r < 0) {
		em_error("cannot change the intervals: %s", strerror(-r));
		return r;
	}
	em_jobs_reconfigure(daemon->jobs, &config->jobs);
	em_log_set_level(config->log_level);
	warn_fixed(daemon->config, config);
	return 0;
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct daemon *daemon = userdata;
	em_cleanup(em_config_freep) struct em_config *config = NULL;
	uint64_t now = 0;

	(void)info;
	sd_event_now(sd_event_source_get_event(source), CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now);
	if (load_config(daemon->options, &config) < 0 || take_over(daemon, config) < 0)
		em_warning("the configuration in use is kept");
	else
		em_notice("configuration read again");
	reload_certificate(daemon);
	sd_notify(0, "READY=1");
	return 0;
}

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct daemon *daemon = userdata;

	(void)source;
	sd_notify(0, "STOPPING=1");
	em_info("ends on signal %u", info->ssi_signo);
	return sd_event_exit(daemon->event, 0);
}

static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	return pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 ? 0 : -EINVAL;
}

static int start_loop(struct daemon *daemon)
{
	int r = sd_event_default(&daemon->event);

	if (r >= 0)
		r = sd_event_add_signal(daemon->event, NULL, SIGTERM, on_end, daemon);
	if (r >= 0)
		r = sd_event_add_signal(daemon->event, NULL, SIGINT, on_end, daemon);
	if (r >= 0)
		r = sd_event_add_signal(daemon->event, NULL, SIGHUP, on_reload, daemon);
	/* Fed from the loop, so that a loop that hangs is noticed. */
	if (r >= 0)
		r = sd_event_set_watchdog(daemon->event, 1);
	if (r < 0)
		em_error("no event loop: %s", strerror(-r));
	return r < 0 ? r : 0;
}

/* ---- rooms ------------------------------------------------------------------------------- */

/* A disk that cannot be written must not stop us from watching; a newer file is not ours to touch.
 */
static int open_store(struct daemon *daemon)
{
	struct em_store_config config = { .directory = daemon->config->store_directory,
					  .raw_keep_us = daemon->config->raw_keep_us,
					  .events_keep_us = daemon->config->events_keep_us,
					  .events_settled = em_event_log_settled,
					  .userdata = daemon->events };
	const char *message = "";
	int r;

	config.tables = em_history_tables(&config.table_count);
	r = em_store_open(&daemon->store, &config, &message);
	if (r == -EPROTONOSUPPORT) {
		em_error("%s", message);
		return r;
	}
	if (r < 0)
		em_error("no history is kept until the next start: %s (%s)", message, strerror(-r));
	return 0;
}

static int restore_event(void *userdata, const struct em_event *event)
{
	em_event_log_restore(userdata, event);
	return 0;
}

/* Before the store, whose writer calls it. */
static int open_events(struct daemon *daemon)
{
	daemon->events = em_event_log_new();
	return daemon->events ? 0 : -ENOMEM;
}

static int start_web(struct daemon *daemon)
{
	const struct em_config *from = daemon->config;
	em_cleanup(em_freep) char *tokens = NULL;
	struct em_web_config config = { .socket = from->http_socket,
					.admin_group = from->admin_group,
					.listen = from->http_listen,
					.https_listen = from->https_listen,
					.certificate = from->https_certificate,
					.key = from->https_key,
					.version = PACKAGE_VERSION,
					.events = daemon->events,
					.orders = em_drives_orders(daemon->drives),
					.jobs = daemon->jobs };
	const char *message = "";
	int r;

	/* Beside the database and not in it: a broken database must not lock everybody out. */
	if (asprintf(&tokens, "%s/" TOKENS_FILE, from->store_directory) < 0) {
		tokens = NULL;
		return -ENOMEM;
	}
	config.tokens = tokens;
	r = em_web_start(&daemon->web, &config, daemon->hub, daemon->store, &message);
	if (r < 0)
		em_error("cannot answer over HTTP: %s ([http] socket=%s, listen=%s; [https] "
			 "listen=%s)",
			 message, from->http_socket, from->http_listen, from->https_listen);
	return r;
}

static int start_rooms(struct daemon *daemon)
{
	int r = open_events(daemon);

	if (r == 0)
		r = open_store(daemon);
	if (r < 0)
		return r;
	if (daemon->store)
		em_store_load_events(daemon->store, EM_EVENT_LOG_MAX, restore_event,
				     daemon->events);
	daemon->hub = em_hub_new();
	if (!daemon->hub)
		return -ENOMEM;
	r = em_drives_new(&daemon->drives, daemon->event, &daemon->config->drives, daemon->hub,
			  daemon->store, daemon->events);
	if (r < 0) {
		em_error("cannot watch drives: %s", strerror(-r));
		return r;
	}
	r = em_jobs_new(&daemon->jobs, daemon->event, &daemon->config->jobs, daemon->drives,
			daemon->hub, daemon->store);
	return r < 0 ? r : start_web(daemon);
}

static void stop_rooms(struct daemon *daemon)
{
	/* Nobody may wait for a drive while the threads that answer come to their end. */
	em_orders_close(daemon->drives ? em_drives_orders(daemon->drives) : NULL);
	em_web_stop(daemon->web);
	em_drives_free(daemon->drives);
	em_jobs_free(daemon->jobs);
	em_store_close(daemon->store, STORE_GRACE_US);
	em_event_log_free(daemon->events);
	em_hub_free(daemon->hub);
	sd_event_unref(daemon->event);
	em_config_free(daemon->config);
}

/*
 * glibc raises its threshold for mmap to the largest block that was ever freed, after which a
 * fleet's page (8 MB of /metrics) stays in the heap for good. A fixed one gives large blocks back;
 * the pages of an ordinary host stay below it, and below what is kept for the next reply.
 */
static void bound_heap(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BLOCK);
}

int em_daemon_run(const struct em_daemon_options *options)
{
	struct daemon daemon = { .options = options };
	int r;

	bound_heap();
	r = load_config(options, &daemon.config);
	if (r < 0)
		return r;
	em_log_init("emberd", daemon.config->log_level);
	r = block_signals();
	if (r == 0)
		r = start_loop(&daemon);
	if (r == 0)
		r = start_rooms(&daemon);
	if (r == 0) {
		em_notice("emberd " PACKAGE_VERSION " watches the drives of this host");
		sd_notify(0, "READY=1");
		r = sd_event_loop(daemon.event);
	}
	stop_rooms(&daemon);
	return r;
}
