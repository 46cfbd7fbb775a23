/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that the doctor asks: where they are, and what they say. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "client/doctor.h"
#include "lib/base/cleanup.h"

bool em_doctor_find_program(const char *installed, char path[EM_DOCTOR_PATH_SIZE])
{
	const char *name = strrchr(installed, '/') + 1, *at = getenv("PATH");

	snprintf(path, EM_DOCTOR_PATH_SIZE, "%s", installed);
	if (access(path, X_OK) == 0)
		return true;
	while (at && *at) {
		size_t len = strcspn(at, ":");

		snprintf(path, EM_DOCTOR_PATH_SIZE, "%.*s/%s", (int)len, at, name);
		if (*at == '/' && access(path, X_OK) == 0)
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* Reads until the end; what is too long is cut. */
static void read_output(int fd, char *output)
{
	char rest[512];
	size_t len = 0;
	ssize_t got;

	do {
		bool full = len >= EM_DOCTOR_OUTPUT_SIZE - 1;

		got = read(fd, full ? rest : output + len,
			   full ? sizeof(rest) : EM_DOCTOR_OUTPUT_SIZE - 1 - len);
		if (got > 0 && !full)
			len += (size_t)got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	output[len] = '\0';
}

static int spawn_into(char *const argv[], int fd, pid_t *ret)
{
	char *const environment[] = { (char *)"LC_ALL=C",
				      (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, fd, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn(ret, argv[0], &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int em_doctor_run(char *const argv[], char *output)
{
	int fds[2], status = 0, r;
	pid_t pid;

	output[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	r = spawn_into(argv, fds[1], &pid);
	close(fds[1]);
	if (r == 0)
		read_output(fds[0], output);
	close(fds[0]);
	if (r < 0)
		return r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

/* "<3>emberd: /etc/...: text" and "<3>ember-broker: Policy: /etc/...: text", as systemd wants it.
 */
const char *em_doctor_complaint(char *output)
{
	static const char *const before[] = { "emberd: ", "ember-broker: ", "Configuration: ",
					      "Policy: " };
	char *text = output;

	output[strcspn(output, "\n")] = '\0';
	if (text[0] == '<' && text[1] && text[2] == '>')
		text += 3;
	for (size_t i = 0; i < EM_COUNT(before); i++)
		if (strncmp(text, before[i], strlen(before[i])) == 0)
			text += strlen(before[i]);
	return text;
}
