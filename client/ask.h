/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * ask - lets a person think again before something is done.
 *
 * Threads: one caller. Blocking: until the person answers.
 */
#include "client/client.h"

/*
 * Puts the question, made harmless, on the error stream. EM_EXIT_OK: yes. Without a terminal to ask
 * at, or after a no, it complains and gives the exit status. option: what says yes beforehand.
 */
enum em_exit em_ask(struct em_client *client, const char *question, const char *option);
