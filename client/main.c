/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "client/client.h"

/*
 * A standard stream that is closed would be taken by the next file or socket, and what is meant
 * for people would go there. In its place comes one to which nothing can be written.
 */
static void hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			_exit(EM_EXIT_FAILED);
}

int main(int argc, char **argv)
{
	hold_standard_streams();
	return em_client_main(argc, argv, stdout, stderr);
}
