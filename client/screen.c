/* SPDX-License-Identifier: Apache-2.0 */
#include "client/screen.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

/* The second screen without a cursor, and back. */
#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

static int screen_fd = -1;
static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };

static void tell(const char *codes, size_t len)
{
	ssize_t written = write(screen_fd, codes, len);

	(void)written; /* a terminal that is gone needs nothing */
}

/* Only what a signal handler may do. */
static void on_end(int signal_number)
{
	tell(LEAVE, sizeof(LEAVE) - 1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void on_stop(int signal_number)
{
	int err = errno;

	(void)signal_number;
	tell(LEAVE, sizeof(LEAVE) - 1);
	raise(SIGSTOP);
	tell(ENTER, sizeof(ENTER) - 1);
	errno = err;
}

/* That it comes is enough: it ends a wait, and the next drawing has the new size. */
static void on_resize(int signal_number)
{
	(void)signal_number;
}

void em_screen_open(int fd)
{
	struct sigaction action = { .sa_handler = on_end };

	screen_fd = fd;
	for (size_t i = 0; i < EM_COUNT(deadly); i++)
		sigaction(deadly[i], &action, NULL);
	action.sa_handler = on_stop;
	sigaction(SIGTSTP, &action, NULL);
	action.sa_handler = on_resize;
	sigaction(SIGWINCH, &action, NULL);
	tell(ENTER, sizeof(ENTER) - 1);
}

void em_screen_close(void)
{
	tell(LEAVE, sizeof(LEAVE) - 1);
	for (size_t i = 0; i < EM_COUNT(deadly); i++)
		signal(deadly[i], SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
}

static unsigned count_lines(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

void em_screen_draw(FILE *out, const char *text, unsigned height)
{
	unsigned total = count_lines(text);
	unsigned shown = height > 0 && total > height ? height - 1 : total;

	fputs("\033[H", out);
	for (unsigned line = 0; line < shown; line++) {
		size_t len = strcspn(text, "\n");

		/* Clears to the right of what stands there now; nothing flickers. */
		fprintf(out, "%s%.*s\033[K", line > 0 ? "\r\n" : "", (int)len, text);
		text += len + 1;
	}
	if (shown < total)
		fprintf(out, "\r\n(%u more lines: make the window higher)\033[K", total - shown);
	fputs("\033[J", out);
	fflush(out);
}
