/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * tls - the certificate of the network listener: read from files, and changed while connections go
 * on with the one that they began with.
 *
 * Owns:     certificates and keys in memory, each until its last connection ends.
 * Threads:  new, reload and free on one thread; use and unuse from any.
 * Blocking: new and reload read files.
 * Errors:   0 or -errno.
 */
#include <gnutls/gnutls.h>
#include <stdint.h>

/*
 * TLS 1.2 and 1.3, whatever the library's defaults are, and of 1.2 what 1.3 has left of it: keys
 * of elliptic curves for each session, ciphers that authenticate, no SHA-1. Keys of large numbers
 * would also let a client make us calculate for long.
 */
#define EM_TLS_PRIORITIES                                                                          \
	"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:"              \
	"-MAC-ALL:+AEAD:-SIGN-RSA-SHA1:-SIGN-ECDSA-SHA1:-GROUP-DH-ALL:%SERVER_PRECEDENCE"

#define EM_TLS_MESSAGE_SIZE 512

struct em_tls;
struct em_tls_certificate;

/* message: what is wrong, with the file's name, for people; written on failure only. */
int em_tls_new(struct em_tls **ret, const char *certificate, const char *key,
	       char message[EM_TLS_MESSAGE_SIZE]);
/* On failure the certificate in use stays. */
int em_tls_reload(struct em_tls *tls, char message[EM_TLS_MESSAGE_SIZE]);
/* After the last connection. */
struct em_tls *em_tls_free(struct em_tls *tls);
/* Real time at which the certificate in use expires. */
int64_t em_tls_expires_us(struct em_tls *tls);

/*
 * Gives a new session the certificate in use; to be given back after the session is gone. NULL:
 * the session has none and its handshake fails.
 */
struct em_tls_certificate *em_tls_use(struct em_tls *tls, gnutls_session_t session);
void em_tls_unuse(struct em_tls_certificate *certificate);
