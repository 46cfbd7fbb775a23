/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#define FILE_MAX ((size_t)1 << 20)

struct em_tls_certificate {
	gnutls_certificate_credentials_t credentials;
	int64_t expires_us;
	atomic_uint references;
};

struct em_tls {
	char *certificate_path, *key_path;
	pthread_mutex_t lock;
	struct em_tls_certificate *current;
};

static struct em_tls_certificate *unref(struct em_tls_certificate *certificate)
{
	if (certificate && atomic_fetch_sub(&certificate->references, 1) == 1) {
		if (certificate->credentials)
			gnutls_certificate_free_credentials(certificate->credentials);
		free(certificate);
	}
	return NULL;
}

EM_DEFINE_CLEANUP(struct em_tls_certificate, unref)
EM_DEFINE_CLEANUP(struct em_tls, em_tls_free)

static int read_file(const char *path, struct em_buf *buf, char message[EM_TLS_MESSAGE_SIZE])
{
	/* O_NONBLOCK: a fifo must not keep the loop. */
	em_cleanup(em_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char part[4096];
	ssize_t n = -1;
	int r = -errno;

	em_buf_init(buf, FILE_MAX);
	if (fd >= 0)
		while (!buf->err && (n = read(fd, part, sizeof(part))) > 0)
			em_buf_add(buf, part, (size_t)n);
	if (fd >= 0 && n < 0)
		r = -errno;
	if (n >= 0)
		r = buf->err;
	if (r < 0)
		snprintf(message, EM_TLS_MESSAGE_SIZE, "%s cannot be read: %s", path,
			 r == -E2BIG ? "it is too large" : strerror(-r));
	return r;
}

/* gnutls's error becomes one of ours, and a sentence. */
static int refuse(const struct em_tls *tls, int gnutls_error, char message[EM_TLS_MESSAGE_SIZE])
{
	snprintf(message, EM_TLS_MESSAGE_SIZE, "certificate %s with key %s cannot be used: %s",
		 tls->certificate_path, tls->key_path, gnutls_strerror(gnutls_error));
	return gnutls_error == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : -EINVAL;
}

/* First by itself: of a file that was cut, gnutls keeps what it began with when it takes both. */
static int check_chain(const struct em_tls *tls, const struct em_buf *cert,
		       char message[EM_TLS_MESSAGE_SIZE])
{
	gnutls_datum_t pem = { (unsigned char *)cert->data, (unsigned)cert->len };
	gnutls_x509_crt_t *chain = NULL;
	unsigned count = 0;
	int r = gnutls_x509_crt_list_import2(&chain, &count, &pem, GNUTLS_X509_FMT_PEM, 0);

	if (r < 0)
		return refuse(tls, r, message);
	for (unsigned i = 0; i < count; i++)
		gnutls_x509_crt_deinit(chain[i]);
	gnutls_free(chain);
	return 0;
}

static int set_files(const struct em_tls *tls, struct em_tls_certificate *certificate,
		     const struct em_buf *cert, const struct em_buf *key,
		     char message[EM_TLS_MESSAGE_SIZE])
{
	gnutls_datum_t cert_pem = { (unsigned char *)cert->data, (unsigned)cert->len };
	gnutls_datum_t key_pem = { (unsigned char *)key->data, (unsigned)key->len };
	int r = gnutls_certificate_set_x509_key_mem2(certificate->credentials, &cert_pem, &key_pem,
						     GNUTLS_X509_FMT_PEM, NULL, 0);

	return r < 0 ? refuse(tls, r, message) : 0;
}

static int read_expiry(const struct em_tls *tls, struct em_tls_certificate *certificate,
		       char message[EM_TLS_MESSAGE_SIZE])
{
	gnutls_x509_crt_t *chain = NULL;
	unsigned count = 0;
	time_t expires;
	int r = gnutls_certificate_get_x509_crt(certificate->credentials, 0, &chain, &count);

	if (r < 0)
		return refuse(tls, r, message);
	expires = count ? gnutls_x509_crt_get_expiration_time(chain[0]) : (time_t)-1;
	certificate->expires_us = expires == (time_t)-1 ? 0 : (int64_t)expires * 1000000;
	for (unsigned i = 0; i < count; i++)
		gnutls_x509_crt_deinit(chain[i]);
	gnutls_free(chain);
	return 0;
}

static int load(const struct em_tls *tls, struct em_tls_certificate **ret,
		char message[EM_TLS_MESSAGE_SIZE])
{
	em_cleanup(unrefp) struct em_tls_certificate *certificate = NULL;
	struct em_buf cert, key;
	int r;

	certificate = calloc(1, sizeof(*certificate));
	if (!certificate)
		return refuse(tls, GNUTLS_E_MEMORY_ERROR, message);
	certificate->references = 1;
	r = gnutls_certificate_allocate_credentials(&certificate->credentials);
	if (r < 0)
		return refuse(tls, r, message);
	r = read_file(tls->certificate_path, &cert, message);
	if (r == 0) {
		r = read_file(tls->key_path, &key, message);
		if (r == 0)
			r = check_chain(tls, &cert, message);
		if (r == 0)
			r = set_files(tls, certificate, &cert, &key, message);
		em_buf_done(&key);
	}
	em_buf_done(&cert);
	if (r == 0)
		r = read_expiry(tls, certificate, message);
	if (r < 0)
		return r;
	*ret = em_steal(certificate);
	return 0;
}

int em_tls_new(struct em_tls **ret, const char *certificate, const char *key,
	       char message[EM_TLS_MESSAGE_SIZE])
{
	em_cleanup(em_tls_freep) struct em_tls *tls = calloc(1, sizeof(*tls));
	int r;

	if (tls) {
		pthread_mutex_init(&tls->lock, NULL);
		tls->certificate_path = strdup(certificate);
		tls->key_path = strdup(key);
	}
	if (!tls || !tls->certificate_path || !tls->key_path) {
		snprintf(message, EM_TLS_MESSAGE_SIZE, "memory is short");
		return -ENOMEM;
	}
	r = load(tls, &tls->current, message);
	if (r < 0)
		return r;
	*ret = em_steal(tls);
	return 0;
}

int em_tls_reload(struct em_tls *tls, char message[EM_TLS_MESSAGE_SIZE])
{
	struct em_tls_certificate *fresh, *old;
	int r = load(tls, &fresh, message);

	if (r < 0)
		return r;
	pthread_mutex_lock(&tls->lock);
	old = tls->current;
	tls->current = fresh;
	pthread_mutex_unlock(&tls->lock);
	unref(old);
	return 0;
}

struct em_tls *em_tls_free(struct em_tls *tls)
{
	if (!tls)
		return NULL;
	unref(tls->current);
	pthread_mutex_destroy(&tls->lock);
	free(tls->certificate_path);
	free(tls->key_path);
	free(tls);
	return NULL;
}

int64_t em_tls_expires_us(struct em_tls *tls)
{
	int64_t expires;

	pthread_mutex_lock(&tls->lock);
	expires = tls->current->expires_us;
	pthread_mutex_unlock(&tls->lock);
	return expires;
}

struct em_tls_certificate *em_tls_use(struct em_tls *tls, gnutls_session_t session)
{
	struct em_tls_certificate *certificate;

	pthread_mutex_lock(&tls->lock);
	certificate = tls->current;
	atomic_fetch_add(&certificate->references, 1);
	pthread_mutex_unlock(&tls->lock);
	if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, certificate->credentials) < 0)
		return unref(certificate);
	return certificate;
}

void em_tls_unuse(struct em_tls_certificate *certificate)
{
	unref(certificate);
}
