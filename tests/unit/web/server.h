/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * server - a server that runs in the test, and a client of plain sockets, so that a test can be as
 * rude as it wants.
 */
#include <stdbool.h>
#include <stdint.h>
#include "daemon/web/web.h"

#define PATIENCE_MS 20000

/* The fixture's; a directory of its own, a fleet of four drives, a store, a log of events. */
struct server {
	char dir[64], path[96], tokens[96];
	char address[32], host[64]; /* of loopback, and the header that names it */
	uint16_t port;
	struct em_hub *hub;
	struct em_store *store;
	struct em_event_log *events;
	struct em_web *web;
};
extern struct server server;

/* For tcase_add_checked_fixture(). */
void start_server(void);
void stop_server(void);
/* server.dir, for what a server needs before it starts. */
void make_server_directory(void);
/* more: what the fixture's server is to have besides; NULL = nothing. */
void start_server_with(const struct em_web_config *more);

uint16_t free_port(void);
int connect_unix(void);
int connect_tcp(uint16_t port);
void say(int fd, const char *text);
/* Reads until the head is there and as much body as it announces, or the end. To be freed. */
char *hear(int fd, bool has_body);
/* Says it, hears the answer, closes. */
char *talk(int fd, const char *request);
unsigned status_of(const char *answer);
/* "\r\nName: value\r\n", or the beginning of it. */
bool has_header(const char *answer, const char *header);
