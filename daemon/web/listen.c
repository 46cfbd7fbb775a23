/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "lib/base/cleanup.h"
#include "lib/base/parse.h"

#define BACKLOG	    1024
#define SOCKET_MODE 0666

static int fail(int err, const char *message, const char **ret_message)
{
	if (ret_message)
		*ret_message = message;
	return err;
}

/* True when a connect finds nobody: the one who made the socket is gone. */
static bool is_stale(const struct sockaddr_un *address)
{
	em_cleanup(em_closep) int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	       errno == ECONNREFUSED;
}

static int clear_path(const struct sockaddr_un *address, const char **ret_message)
{
	struct stat st;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0
				       : fail(-errno, "the HTTP socket's path cannot be looked at",
					      ret_message);
	if (!S_ISSOCK(st.st_mode))
		return fail(-EEXIST, "something that is no socket is at the HTTP socket's path",
			    ret_message);
	if (!is_stale(address))
		return fail(-EADDRINUSE, "another program listens on the HTTP socket", ret_message);
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return fail(-errno, "the stale HTTP socket cannot be removed", ret_message);
	return 0;
}

int em_listen_unix(const char *path, int *ret_fd, const char **ret_message)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	em_cleanup(em_closep) int fd = -1;
	int r;

	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return fail(-ENAMETOOLONG, "the HTTP socket's path is empty or too long",
			    ret_message);
	strcpy(address.sun_path, path);
	r = clear_path(&address, ret_message);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(-errno, "no unix socket can be made", ret_message);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return fail(-errno, "the HTTP socket cannot be bound", ret_message);
	if (chmod(path, SOCKET_MODE) < 0 || listen(fd, BACKLOG) < 0) {
		r = -errno;
		unlink(path);
		return fail(r, "the HTTP socket cannot be opened for others", ret_message);
	}
	*ret_fd = em_steal_fd(&fd);
	return 0;
}

bool em_is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)address;

		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return false;
}

/* Splits "HOST:PORT" or "[HOST]:PORT"; the port may be left out (then *ret_port is 80). */
static int split_host(const char *text, char *host, size_t size, bool *ret_brackets,
		      uint16_t *ret_port)
{
	bool brackets = *text == '[';
	const char *start = text + brackets;
	size_t len = strcspn(start, brackets ? "]" : ":");
	const char *rest = start + len;
	uint64_t port = 80;

	if (!len || len >= size || (brackets && *rest != ']'))
		return -EINVAL;
	rest += brackets;
	if (*rest && (*rest != ':' || strspn(rest + 1, "0123456789") != strlen(rest + 1) ||
		      em_parse_u64(rest + 1, 1, UINT16_MAX, &port) < 0))
		return -EINVAL;
	memcpy(host, start, len);
	host[len] = '\0';
	*ret_brackets = brackets;
	*ret_port = (uint16_t)port;
	return 0;
}

static int parse_address(const char *host, bool brackets, uint16_t port,
			 struct sockaddr_storage *ret, socklen_t *ret_len)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	if (brackets) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		*ret_len = sizeof(*in6);
		return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1 ? 0 : -EINVAL;
	}
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	*ret_len = sizeof(*in);
	return inet_pton(AF_INET, host, &in->sin_addr) == 1 ? 0 : -EINVAL;
}

int em_listen_parse_network(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len,
			    uint16_t *ret_port)
{
	struct sockaddr_storage address;
	socklen_t len;
	char host[64];
	bool brackets;
	uint16_t port;

	if (text[strcspn(text, ":")] != ':' || text[strlen(text) - 1] == ']')
		return -EINVAL;
	if (split_host(text, host, sizeof(host), &brackets, &port) < 0 ||
	    parse_address(host, brackets, port, &address, &len) < 0)
		return -EINVAL;
	*ret = address;
	*ret_len = len;
	*ret_port = port;
	return 0;
}

int em_listen_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len,
		    uint16_t *ret_port)
{
	struct sockaddr_storage address;
	socklen_t len;
	uint16_t port;

	if (em_listen_parse_network(text, &address, &len, &port) < 0 ||
	    !em_is_loopback((struct sockaddr *)&address))
		return -EINVAL;
	*ret = address;
	*ret_len = len;
	*ret_port = port;
	return 0;
}

static int listen_on(const struct sockaddr_storage *address, socklen_t len, int *ret_fd,
		     const char **ret_message)
{
	em_cleanup(em_closep) int fd = -1;
	int on = 1;

	fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fail(-errno, "no TCP socket can be made", ret_message);
	/* Connections inherit TCP_NODELAY: else each TLS handshake waits for a late
	 * acknowledgement. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)address, len) < 0 || listen(fd, BACKLOG) < 0)
		return fail(-errno,
			    errno == EADDRINUSE ? "another program listens on the TCP address"
						: "the TCP address cannot be listened on",
			    ret_message);
	*ret_fd = em_steal_fd(&fd);
	return 0;
}

int em_listen_tcp(const char *text, int *ret_fd, uint16_t *ret_port, const char **ret_message)
{
	struct sockaddr_storage address;
	socklen_t len;
	uint16_t port;
	int r;

	if (em_listen_parse(text, &address, &len, &port) < 0)
		return fail(-EINVAL,
			    "the address to listen on must be a loopback address and a port, "
			    "like 127.0.0.1:9980 or [::1]:9980",
			    ret_message);
	r = listen_on(&address, len, ret_fd, ret_message);
	if (r == 0)
		*ret_port = port;
	return r;
}

int em_listen_network(const char *text, int *ret_fd, uint16_t *ret_port, const char **ret_message)
{
	struct sockaddr_storage address;
	socklen_t len;
	uint16_t port;
	int r;

	if (em_listen_parse_network(text, &address, &len, &port) < 0)
		return fail(-EINVAL,
			    "the address to listen on for HTTPS must be an address and a port, "
			    "like 0.0.0.0:9443 or [::]:9443",
			    ret_message);
	r = listen_on(&address, len, ret_fd, ret_message);
	if (r == 0)
		*ret_port = port;
	return r;
}

uint64_t em_address_key(const struct sockaddr *address)
{
	const struct in6_addr *in6 = &((const struct sockaddr_in6 *)address)->sin6_addr;
	uint64_t key = 0;

	if (address->sa_family == AF_INET)
		memcpy(&key, &((const struct sockaddr_in *)address)->sin_addr, 4);
	else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(in6))
		memcpy(&key, in6->s6_addr + 12, 4);
	else if (address->sa_family == AF_INET6)
		memcpy(&key, in6->s6_addr, 8); /* the rest is the client's to choose */
	return key;
}

bool em_host_is_ours(const char *host, uint16_t port)
{
	struct sockaddr_storage address;
	uint16_t host_port;
	socklen_t len;
	bool brackets;
	char name[64];

	if (split_host(host, name, sizeof(name), &brackets, &host_port) < 0 || host_port != port)
		return false;
	if (!brackets && !strcasecmp(name, "localhost"))
		return true;
	return parse_address(name, brackets, host_port, &address, &len) == 0 &&
	       em_is_loopback((struct sockaddr *)&address);
}

bool em_origin_is_ours(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return !strncasecmp(origin, scheme, sizeof(scheme) - 1) &&
	       !strcasecmp(origin + sizeof(scheme) - 1, host);
}
