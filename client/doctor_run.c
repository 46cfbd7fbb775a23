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
static void read_output(int fd, struct em_buf *output)
{
	char part[4096];
	ssize_t got;

	do {
		got = read(fd, part, sizeof(part));
		if (got > 0 && (size_t)got < output->max - output->len)
			em_buf_add(output, part, (size_t)got);
		else if (got > 0 && output->len < output->max)
			em_buf_add(output, part, output->max - output->len - 1);
	} while (got > 0 || (got < 0 && errno == EINTR));
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

int em_doctor_run_long(char *const argv[], struct em_buf *output)
{
	int fds[2], status = 0, r;
	pid_t pid;

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

int em_doctor_run(char *const argv[], char *output)
{
	em_cleanup(em_buf_done) struct em_buf all = { 0 };
	int r;

	em_buf_init(&all, EM_DOCTOR_OUTPUT_SIZE);
	r = em_doctor_run_long(argv, &all);
	snprintf(output, EM_DOCTOR_OUTPUT_SIZE, "%s", all.data ? all.data : "");
	return r;
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
