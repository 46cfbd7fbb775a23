/* SPDX-License-Identifier: Apache-2.0 */
/* ember-broker - does what needs root, and nothing that the policy does not allow. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "broker/broker.h"
#include "broker/policy.h"
#include "broker/record.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

static void eventp(sd_event **event)
{
	sd_event_unref(*event);
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *info, void *self)
{
	(void)source;
	(void)info;
	sd_notify(0, "STOPPING=1");
	em_broker_stop(self);
	return 0;
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *self)
{
	struct timespec now;

	(void)source;
	(void)info;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)now.tv_sec * EM_US_PER_SEC +
			   (unsigned long long)now.tv_nsec / 1000);
	em_broker_reload(self);
	sd_notify(0, "READY=1");
	return 0;
}

/* Before any thread: a thread that does not block them would die of them. */
static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

/* Each drive keeps one descriptor. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int watch_signals(sd_event *event, struct em_broker *broker)
{
	int r = sd_event_add_signal(event, NULL, SIGTERM, on_stop, broker);

	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, on_stop, broker);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGHUP, on_reload, broker);
	return r;
}

static int serve(struct em_options *options)
{
	em_cleanup(eventp) sd_event *event = NULL;
	em_cleanup(em_broker_freep) struct em_broker *broker = NULL;
	int r = sd_event_default(&event);

	if (r < 0)
		return r;
	r = em_broker_new(event, options, &broker);
	if (r < 0)
		return r;
	r = watch_signals(event, broker);
	if (r < 0)
		return r;
	r = sd_event_set_watchdog(event, true);
	if (r < 0)
		return r;
	sd_notify(0, "READY=1");
	r = sd_event_loop(event);
	/* Never joined: a thread in an ioctl that does not end would keep us here for ever. */
	if (!em_broker_is_clean(broker))
		_exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
	return r;
}

static int record(const struct em_options *options)
{
	em_cleanup(eventp) sd_event *event = NULL;
	int r = sd_event_default(&event);

	if (r >= 0)
		return em_record(event, options);
	em_error("Cannot go on: %s", strerror(-r));
	return EXIT_FAILURE;
}

/* What a start or a reload would make of the policy: per class, on this host, for any drive. */
static int print_policy(const struct em_options *options)
{
	em_cleanup(em_policy_freep) struct em_policy *policy = NULL;
	char hostname[256] = "", error[EM_CONF_ERROR_SIZE] = "out of memory";
	int r;

	gethostname(hostname, sizeof(hostname) - 1);
	r = em_policy_load(options->policy, hostname, &policy, error);
	if (r == -ENOENT && !options->policy_given)
		r = em_policy_default(&policy);
	if (r < 0) {
		em_error("Policy: %s", error);
		return EXIT_FAILURE;
	}
	for (unsigned cls = 0; cls < EM_CLASS_COUNT; cls++)
		printf("%s=%s\n", em_class_name((enum em_class)cls),
		       em_verdict_name(em_policy_judge(policy, (enum em_class)cls, "")));
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct em_options options;
	char error[EM_CONF_ERROR_SIZE];
	int r = em_options_parse(&options, argc, argv);

	if (r != 0)
		return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	em_log_init("ember-broker", options.log_level);
	if (options.print_policy || options.record)
		em_log_plain();
	r = block_signals();
	if (r >= 0) {
		raise_descriptor_limit();
		r = em_options_load(&options, error);
		if (r < 0) {
			em_error("Configuration: %s", error);
			return EXIT_FAILURE;
		}
		if (options.print_policy)
			return print_policy(&options);
		if (options.record)
			return record(&options);
		r = serve(&options);
	}
	if (r < 0)
		em_error("Cannot go on: %s", strerror(-r));
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
