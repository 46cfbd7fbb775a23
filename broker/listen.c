/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/listen.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include "broker/peers.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"

static int take_passed(int *ret_fd)
{
	int n = sd_listen_fds(1);

	if (n < 0)
		return n;
	if (n == 0)
		return -ENOENT;
	if (n > 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_SEQPACKET, 1, NULL, 0) <= 0)
		return -EPROTOTYPE;
	*ret_fd = SD_LISTEN_FDS_START;
	return 0;
}

static int check_stale(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISSOCK(st.st_mode) ? 0 : -EEXIST;
}

static int give_to_client(const char *path, const struct em_options *options)
{
	bool group = options->client_gid != (gid_t)-1;

	if (options->client_uid == geteuid())
		return 0;
	if (lchown(path, group ? (uid_t)-1 : options->client_uid, options->client_gid) < 0)
		return -errno;
	return 0;
}

static int bind_and_listen(int fd, const struct em_options *options, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	mask = umask(0117);
	r = bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	umask(mask);
	if (r < 0)
		return r;
	r = give_to_client(path, options);
	if (r < 0)
		return r;
	return listen(fd, EM_PEERS_MAX) < 0 ? -errno : 0;
}

/* Made beside its place and moved there, so that whoever sees it can connect. */
static int make_own(const struct em_options *options, const char *path, int *ret_fd)
{
	em_cleanup(em_closep) int fd = -1;
	em_cleanup(em_freep) char *made = NULL;
	int r;

	if (asprintf(&made, "%s.new", path) < 0) {
		made = NULL;
		return -ENOMEM;
	}
	r = check_stale(path);
	if (r == 0)
		r = check_stale(made);
	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (unlink(made) < 0 && errno != ENOENT)
		return -errno;
	r = bind_and_listen(fd, options, made);
	if (r < 0)
		return r;
	if (rename(made, path) < 0)
		return -errno;
	*ret_fd = em_steal_fd(&fd);
	return 0;
}

int em_listen(const struct em_options *options, int *ret_fd)
{
	const char *path = options->socket ? options->socket : EM_IPC_SOCKET;
	int r = take_passed(ret_fd);

	if (r == 0)
		return 0;
	if (r != -ENOENT) {
		em_error("systemd did not pass exactly one listening SEQPACKET socket");
		return r;
	}
	r = make_own(options, path, ret_fd);
	if (r == -EEXIST)
		em_error("%s exists and is not a socket: remove it or choose another --socket",
			 path);
	else if (r < 0)
		em_error("Cannot listen on %s: %s", path, strerror(-r));
	return r;
}
