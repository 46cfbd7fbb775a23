/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * listen - the listening sockets, and who may speak through those of TCP.
 *
 * Threads:  any. Blocking: never (a connect to our own stale socket does not wait).
 * Errors:   -errno, and a static sentence for people in *ret_message.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * A unix socket that everybody may connect to. A socket that nobody answers at is replaced;
 * -EADDRINUSE when somebody does, -EEXIST when the path is something else.
 */
int em_listen_unix(const char *path, int *ret_fd, const char **ret_message);

/* "127.0.0.1:9980" or "[::1]:9980"; -EINVAL for anything that is not loopback with a port. */
int em_listen_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len,
		    uint16_t *ret_port);
/* The same for any address: "0.0.0.0:9443", "[::]:9443" (of both kinds), "192.0.2.7:9443". */
int em_listen_parse_network(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len,
			    uint16_t *ret_port);
int em_listen_network(const char *text, int *ret_fd, uint16_t *ret_port, const char **ret_message);
int em_listen_tcp(const char *text, int *ret_fd, uint16_t *ret_port, const char **ret_message);

bool em_is_loopback(const struct sockaddr *address);
/* One number for all connections of one client: an IPv4 address, or 64 bits of an IPv6 one. */
uint64_t em_address_key(const struct sockaddr *address);

/*
 * A page in a browser can make a name of its own point at 127.0.0.1; the Host header then still
 * says that name. Host must be a loopback name or address with our port.
 */
bool em_host_is_ours(const char *host, uint16_t port);
/* An Origin header must be "http://" and the Host header's text, which is ours already. */
bool em_origin_is_ours(const char *origin, const char *host);
