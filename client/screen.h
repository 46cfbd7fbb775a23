/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * screen - a terminal's second screen, for what is drawn again and again. However the program ends,
 * by a signal too, the first screen and its cursor come back.
 *
 * Owns:     the handlers of SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH while it is open; there
 *           is one screen in a process.
 * Threads:  one caller. Blocking: as the terminal.
 */
#include <stddef.h>
#include <stdio.h>

void em_screen_open(int fd);
void em_screen_close(void);

/*
 * Draws text from the top, as many lines as fit; what does not is told in the last one. The rest of
 * the screen becomes empty. height 0 = no limit. Lines must not be wider than the screen.
 */
void em_screen_draw(FILE *out, const char *text, unsigned height);
