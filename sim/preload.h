/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * preload - shared parts of the library that stands between a program and its drives.
 *
 * It keeps no state of its own but the root directory and the addresses of the real functions: what
 * a descriptor is, is asked from the kernel each time (getpeername, /proc/self/fd). So descriptors
 * may be duplicated, inherited, passed over a socket, and used by several threads.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "sim/wire.h"

#define SIM_EXPORT __attribute__((visibility("default")))

/* The next definition of a function that we define ourselves. */
#define SIM_REAL(name)                                                                             \
	__extension__({                                                                            \
		static void *sim_cache_;                                                           \
		void *sim_addr_ = __atomic_load_n(&sim_cache_, __ATOMIC_RELAXED);                  \
		if (!sim_addr_) {                                                                  \
			sim_addr_ = dlsym(RTLD_NEXT, #name);                                       \
			__atomic_store_n(&sim_cache_, sim_addr_, __ATOMIC_RELAXED);                \
		}                                                                                  \
		(__typeof__(&name))sim_addr_;                                                      \
	})

/* The root directory, or NULL when the program does not run inside ember-sim. */
const char *sim_root(void);

/* The path below the root, in buf, or the path itself when it is none of ours. buf: PATH_MAX. */
const char *sim_map(const char *path, char *buf);
/* The same for the *at() calls. */
const char *sim_map_at(int dirfd, const char *path, char *buf);
/* The node's name when a mapped path is a device node of ours, else NULL. */
const char *sim_node_of(const char *mapped);
/* Cuts the root off a path that the system gave us; returns the new length. */
size_t sim_unmap(char *path, size_t len);
/* Where a descriptor leads (/proc/self/fd), unmapped. False when unknown. buf: PATH_MAX. */
bool sim_fd_path(int fd, char *buf);

/* Connects to one of the simulator's sockets. Returns a descriptor or -1 with errno. */
int sim_connect(const char *socket_name, int type_flags);
bool sim_is_connected_to(int fd, const char *socket_name);
/* Send and receive whole messages, also on a non-blocking socket and across signals. */
ssize_t sim_send_all(int fd, const void *data, size_t len);
ssize_t sim_recv_all(int fd, void *data, size_t len);

int sim_device_open(const char *node, int flags);
/* Makes a stat result of a stand-in look like a device. node may be NULL, then fd is asked. */
void sim_fix_stat(struct stat *st, const char *node, int fd);
bool sim_node_info(const char *node, int fd, struct sim_node_info *ret);
