/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/peer.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

#define GROUP_BUFFER_SIZE 65536
#define GROUPS_FIRST	  64

int em_peer_find_group(const char *name, gid_t *ret)
{
	em_cleanup(em_freep) char *buffer = malloc(GROUP_BUFFER_SIZE);
	struct group group, *found = NULL;
	int r;

	if (!buffer)
		return -ENOMEM;
	r = getgrnam_r(name, &group, buffer, GROUP_BUFFER_SIZE, &found);
	if (!found)
		return r ? -r : -ENOENT;
	*ret = group.gr_gid;
	return 0;
}

static bool contains(const gid_t *groups, socklen_t bytes, gid_t wanted)
{
	for (size_t i = 0; i < bytes / sizeof(*groups); i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

static bool is_member(int fd, gid_t wanted)
{
	gid_t few[GROUPS_FIRST];
	em_cleanup(em_freep) gid_t *many = NULL;
	socklen_t bytes = sizeof(few);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &bytes) == 0)
		return contains(few, bytes, wanted);
	if (errno != ERANGE)
		return false;
	/* Now bytes says how many it takes. */
	many = malloc(bytes);
	return many && getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, many, &bytes) == 0 &&
	       contains(many, bytes, wanted);
}

enum em_role em_peer_role(int fd, const gid_t *admins)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return EM_ROLE_NONE;
	if (peer.uid == 0 || peer.uid == geteuid())
		return EM_ROLE_ADMIN;
	if (admins && (peer.gid == *admins || is_member(fd, *admins)))
		return EM_ROLE_ADMIN;
	return EM_ROLE_VIEWER;
}

uint64_t em_peer_key(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ? 0
									: UINT64_C(1) + peer.uid;
}
