/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * server - the simulator's loop and what hangs on it.
 *
 * One thread. Nothing in it waits for a drive: a command that a drive does not answer is parked
 * with a deadline, so a hung drive delays no other.
 *
 *   server.c   loop, listening sockets, the command's process
 *   kernel.c   what Linux does between a program and a drive: open, ioctl, timeouts, reset, hot
 * plug uevent.c   messages of kernel and udev control.c  words that change drives and ask about
 * them, from the socket or from a scenario
 */
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "sim/model.h"
#include "sim/tree.h"

struct sim_server;

struct sim_watch {
	int fd;
	void (*on)(struct sim_server *srv, struct sim_watch *watch, uint32_t events);
};

/* Words from a scenario that are due at a time after the start. */
struct sim_planned {
	uint64_t at_us;
	unsigned drive;
	char words[160];
	bool done;
};

/* The server's part of a drive. */
struct sim_host {
	struct sim_server *srv;
	struct sim_drive *drive;
	unsigned generation; /* moves when the drive vanishes: older descriptors lead nowhere */
};

struct sim_command;
struct sim_device_conn;
struct sim_event_conn;
struct sim_control_conn;

struct sim_server {
	char root[SIM_PATH_MAX], control_path[SIM_PATH_MAX];
	int epoll, signals;
	struct sim_watch dev_listen, event_listen, control_listen, signal_watch;
	struct sim_host *hosts;
	unsigned host_count;
	struct sim_planned *plans;
	unsigned plan_count;
	uint64_t started_us, admin_timeout_us;
	uint32_t speed;	       /* 0: 1 */
	uint64_t rates_due_us; /* when values that move are looked at for events */

	struct sim_command *waiting;	   /* delayed and parked commands */
	struct sim_device_conn *devices;   /* open descriptors */
	struct sim_event_conn *monitors;   /* uevent sockets */
	struct sim_control_conn *controls; /* control connections */
	uint64_t seqnum;
	pid_t child;
	int exit_status;
	bool ended;
};

/* Takes ownership of the drives. */
int sim_server_add_drive(struct sim_server *srv, struct sim_drive *drive);
int sim_server_plan(struct sim_server *srv, uint64_t at_us, unsigned drive, const char *words);
/* Runs the command and returns its exit status. */
int sim_server_run(struct sim_server *srv, char **command);
void sim_server_done(struct sim_server *srv);
int sim_server_watch(struct sim_server *srv, struct sim_watch *watch, uint32_t events);
void sim_server_unwatch(struct sim_server *srv, struct sim_watch *watch);
/* Simulated seconds in a real one, from now on, for values that move. */
void sim_server_set_speed(struct sim_server *srv, uint32_t speed);
struct sim_host *sim_server_find(struct sim_server *srv, const char *name);

/* kernel.c */
void sim_kernel_accept(struct sim_server *srv, struct sim_watch *watch, uint32_t events);
/* Answers what has become due; returns when the next one is (UINT64_MAX: none). */
uint64_t sim_kernel_run_due(struct sim_server *srv, uint64_t now_us);
/* A namespace comes to or goes from every controller of the subsystem. */
int sim_kernel_attach(struct sim_host *host, const struct sim_namespace *ns);
/* One that is not attached is made or deleted: of that Linux hears nothing. */
int sim_kernel_create(struct sim_host *host, const struct sim_namespace *ns);
int sim_kernel_delete(struct sim_host *host, uint32_t nsid);
/* keep: it stays on the drive, not attached. */
int sim_kernel_detach(struct sim_host *host, uint32_t nsid, bool keep);
void sim_kernel_vanish(struct sim_host *host);
int sim_kernel_return(struct sim_host *host, const char *as, const char *at);
int sim_kernel_state(struct sim_host *host, const char *state);
void sim_kernel_resume(struct sim_host *host);
void sim_kernel_reset(struct sim_host *host);
unsigned sim_kernel_outstanding(const struct sim_host *host);
void sim_kernel_done(struct sim_server *srv);

/* uevent.c: more is "KEY=VALUE" or NULL. */
void sim_uevent_accept(struct sim_server *srv, struct sim_watch *watch, uint32_t events);
void sim_uevent_send(struct sim_server *srv, const struct sim_drive *drive,
		     const struct sim_namespace *ns, const char *action, const char *more);
void sim_uevent_pci(struct sim_server *srv, const struct sim_drive *drive, const char *action);
void sim_uevent_done(struct sim_server *srv);

/* control.c */
void sim_control_accept(struct sim_server *srv, struct sim_watch *watch, uint32_t events);
/* Carries out words; text or an error goes to reply. host NULL: words[1] names the drive. */
int sim_control_words(struct sim_server *srv, struct sim_host *host, char **words, unsigned count,
		      struct em_buf *reply);
/* Answers waits that are over; returns the next deadline. */
uint64_t sim_control_run_due(struct sim_server *srv, uint64_t now_us);
void sim_control_done(struct sim_server *srv);
/* The client: sends words and prints the reply. Returns an exit status. */
int sim_control_client(int argc, char **argv);
