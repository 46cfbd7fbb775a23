/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/web.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/drives/history.h"
#include "daemon/web/http.h"
#include "daemon/web/listen.h"
#include "daemon/web/metrics.h"
#include "daemon/web/openapi.h"
#include "daemon/web/peer.h"
#include "daemon/web/stream.h"
#include "daemon/web/tls.h"
#include "daemon/web/tokens.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/text.h"

struct em_web {
	struct em_shared shared;
	struct em_listener *unix_listener, *tcp_listener, *https_listener;
	char *socket; /* path to remove at the end; NULL = none */
	char *version;
};

EM_DEFINE_CLEANUP(struct em_web, em_web_stop)

struct em_web *em_web_stop(struct em_web *web)
{
	if (!web)
		return NULL;
	/* First the name, so that nobody connects to a listener that is going. */
	if (web->socket)
		unlink(web->socket);
	/* Whoever waits in the pool gets an answer: a listener cannot be stopped before. */
	if (web->shared.pool)
		em_pool_end(web->shared.pool);
	if (web->shared.streams)
		em_streams_end(web->shared.streams);
	em_listener_stop(web->unix_listener);
	em_listener_stop(web->tcp_listener);
	em_listener_stop(web->https_listener);
	em_streams_free(web->shared.streams);
	em_tls_free(web->shared.tls);
	em_pool_free(web->shared.pool);
	em_guard_free(web->shared.guard);
	em_tokens_free(web->shared.context.tokens);
	em_metrics_free(web->shared.context.metrics);
	free(web->shared.context.openapi);
	free(web->socket);
	free(web->version);
	free(web);
	return NULL;
}

static int make_context(struct em_web *web, const struct em_web_config *config, struct em_hub *hub,
			struct em_store *store)
{
	struct em_context *context = &web->shared.context;

	web->version = strdup(config->version);
	if (!web->version)
		return -ENOMEM;
	context->hub = hub;
	context->store = store;
	context->events = config->events;
	context->orders = config->orders;
	context->jobs = config->jobs;
	context->version = web->version;
	context->started_us = em_realtime_us();
	context->started_mono_us = em_monotonic_us();
	context->metrics = em_metrics_new();
	context->openapi = em_openapi_text(config->version, &context->openapi_len);
	return context->metrics && context->openapi ? 0 : -ENOMEM;
}

/* As health tells it. */
static void note_listener(struct em_web *web, const char *kind, const char *address)
{
	struct em_context *context = &web->shared.context;
	struct em_listener_info *info = &context->listeners[context->listener_count++];

	info->kind = kind;
	snprintf(info->address, sizeof(info->address), "%s", address);
	em_text_mend(info->address);
}

/* Which of the listeners it was; the caller's message says what could not be done. */
static int blame(const char *address, int r)
{
	if (r < 0)
		em_error("%s: %s", address, strerror(-r));
	return r;
}

static int listen_unix(struct em_web *web, const char *path, const char **ret_message)
{
	em_cleanup(em_freep) char *copy = strdup(path);
	int fd = -1, r;

	if (!copy)
		return -ENOMEM;
	r = blame(path, em_listen_unix(path, &fd, ret_message));
	if (r < 0)
		return r;
	web->socket = em_steal(copy);
	note_listener(web, "unix", path);
	return em_listener_start(&web->unix_listener, &web->shared, EM_LISTENER_UNIX, fd, 0);
}

static int listen_tcp(struct em_web *web, const char *text, const char **ret_message)
{
	uint16_t port = 0;
	int fd = -1, r = blame(text, em_listen_tcp(text, &fd, &port, ret_message));

	if (r < 0)
		return r;
	note_listener(web, "tcp", text);
	return em_listener_start(&web->tcp_listener, &web->shared, EM_LISTENER_LOOPBACK, fd, port);
}

static void note_expiry(struct em_web *web)
{
	int64_t expires = em_tls_expires_us(web->shared.tls);

	web->shared.context.certificate_expires_us = expires;
	if (expires && expires <= em_realtime_us())
		em_warning("the certificate for HTTPS has expired: clients will refuse it");
}

static int listen_https(struct em_web *web, const struct em_web_config *config,
			const char **ret_message)
{
	char message[EM_TLS_MESSAGE_SIZE];
	uint16_t port = 0;
	int fd = -1, r;

	r = em_tls_new(&web->shared.tls, config->certificate ? config->certificate : "",
		       config->key ? config->key : "", message);
	if (r < 0) {
		em_error("HTTPS on %s: %s", config->https_listen, message);
		*ret_message = "HTTPS needs a certificate and its key that can be read";
		return r;
	}
	note_expiry(web);
	r = blame(config->https_listen,
		  em_listen_network(config->https_listen, &fd, &port, ret_message));
	if (r < 0)
		return r;
	note_listener(web, "https", config->https_listen);
	return em_listener_start(&web->https_listener, &web->shared, EM_LISTENER_NETWORK, fd, port);
}

int em_web_reload_certificate(struct em_web *web, const char **ret_message)
{
	char message[EM_TLS_MESSAGE_SIZE];
	int r;

	if (!web->shared.tls)
		return 0;
	r = em_tls_reload(web->shared.tls, message);
	if (r < 0) {
		em_error("HTTPS: %s", message);
		*ret_message = "the certificate for HTTPS cannot be read again; the old one stays "
			       "in use";
		return r;
	}
	note_expiry(web);
	return 0;
}

/* Without a group there is still root, and emberd's own user. */
static void find_admins(struct em_web *web, const char *name)
{
	int r;

	if (!name || !*name)
		return;
	r = em_peer_find_group(name, &web->shared.admins);
	web->shared.has_admins = r == 0;
	if (r < 0)
		em_warning("there is no group %s (%s): only root may change things", name,
			   strerror(-r));
}

/* Drives are watched all the same: without tokens there is only nobody who gets in from outside. */
static int open_tokens(struct em_web *web, const char *path)
{
	const char *message = NULL;
	int r;

	if (!path || !*path)
		return 0;
	r = em_tokens_open(&web->shared.context.tokens, path, &message);
	if (r == -ENOMEM)
		return r;
	if (r == 0 && message)
		em_warning("%s (%s)", message, path);
	if (r == 0)
		return 0;
	em_error("%s (%s): %s", message, path, strerror(-r));
	web->shared.context.tokens_trouble = message;
	return 0;
}

static int start(struct em_web *web, const struct em_web_config *config, const char **ret_message)
{
	int r = em_guard_new(&web->shared.guard);

	if (r == 0)
		r = em_pool_new(&web->shared.pool);
	if (r == 0)
		r = open_tokens(web, config->tokens);
	if (r == 0)
		r = em_streams_new(&web->shared.streams, &web->shared.context, web->shared.guard);
	find_admins(web, config->admin_group);
	if (r == 0 && config->https_listen && *config->https_listen)
		r = listen_https(web, config, ret_message);
	if (r == 0 && config->listen && *config->listen)
		r = listen_tcp(web, config->listen, ret_message);
	/* The last, so that whoever is answered there finds the others open, too. */
	if (r == 0 && config->socket)
		r = listen_unix(web, config->socket, ret_message);
	return r;
}

int em_web_start(struct em_web **ret, const struct em_web_config *config, struct em_hub *hub,
		 struct em_store *store, const char **ret_message)
{
	em_cleanup(em_web_stopp) struct em_web *web = calloc(1, sizeof(*web));
	const char *message = "the HTTP server cannot be started";
	sigset_t all, before;
	unsigned tables;
	int r;

	if (!web)
		return -ENOMEM;
	/* Built here, on the loop thread, so that handlers may look up fields from theirs. */
	em_history_tables(&tables);
	json_object_seed(0);
	r = make_context(web, config, hub, store);
	if (r == 0) {
		/* Signals are the loop's: threads made here must not take them. */
		sigfillset(&all);
		pthread_sigmask(SIG_BLOCK, &all, &before);
		r = start(web, config, &message);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	if (r < 0) {
		if (ret_message)
			*ret_message = message;
		return r;
	}
	*ret = em_steal(web);
	return 0;
}
