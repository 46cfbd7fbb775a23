/* SPDX-License-Identifier: Apache-2.0 */
/* locate: ledctl switches the light; the machine's own slots tell the bay. */
#include "config.h"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "client/api.h"
#include "client/bay.h"
#include "client/view.h"
#include "lib/base/cleanup.h"

#define PROGRAM_SIZE 512

/* $PATH, and where programs for root are: a user's own path often leaves these out. */
static bool find_ledctl(char path[PROGRAM_SIZE])
{
	static const char *const more = "/usr/local/sbin:/usr/sbin:/sbin";
	const char *lists[] = { getenv("PATH"), more };

	for (size_t i = 0; i < EM_COUNT(lists); i++) {
		const char *at = lists[i];

		while (at && *at) {
			size_t len = strcspn(at, ":");

			snprintf(path, PROGRAM_SIZE, "%.*s/ledctl", (int)len, at);
			if (len > 0 && *at == '/' && access(path, X_OK) == 0)
				return true;
			at += len + (at[len] == ':');
		}
	}
	return false;
}

/* Its exit status, or -errno. What it says goes to our error stream by itself. */
static int run_ledctl(const char *program, const char *argument)
{
	char *const argv[] = { (char *)"ledctl", (char *)argument, NULL };
	char *const environment[] = { (char *)"LC_ALL=C",
				      (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	int status, r;
	pid_t pid;

	r = posix_spawn(&pid, program, NULL, NULL, argv, environment);
	if (r != 0)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The block device: as the kernel tells, else the first namespace that emberd knows. */
static bool find_block(const json_t *drive, char *buf, size_t size)
{
	const char *device = em_json_text(drive, "device");
	const json_t *first = json_array_get(json_object_get(drive, "namespaces"), 0);

	if (!device || strncmp(device, "nvme", 4) != 0 || strchr(device, '/'))
		return false;
	if (em_bay_block("", device, buf, size) == 0)
		return true;
	if (!json_is_integer(first))
		return false;
	snprintf(buf, size, "%.40sn%lld", device, (long long)json_integer_value(first));
	return true;
}

static enum em_exit no_ledctl(struct em_client *client, const char *bay)
{
	return em_client_complain(
		client, EM_EXIT_FAILED,
		"ledctl is not installed, so no light can be switched. Install it "
		"with `apt-get install ledmon`.%s%s%s",
		bay ? " The drive is in bay " : "", bay ? bay : "", bay ? "." : "");
}

static enum em_exit led_failed(struct em_client *client, int status)
{
	if (status < 0)
		return em_client_complain(client, EM_EXIT_FAILED, "ledctl does not start: %s.",
					  strerror(-status));
	if (geteuid() != 0)
		return em_client_complain(client, EM_EXIT_REFUSED,
					  "ledctl needs root. Run it again with sudo.");
	return em_client_complain(client, EM_EXIT_FAILED,
				  "ledctl ended with status %d: see what it says above. Often the "
				  "enclosure has no light that the system can switch.",
				  status);
}

static enum em_exit switch_light(struct em_client *client, const json_t *drive, const char *bay)
{
	bool off = em_client_option(client, "--off");
	char program[PROGRAM_SIZE], block[64], argument[128];
	int status;

	if (!find_ledctl(program))
		return no_ledctl(client, bay);
	if (!find_block(drive, block, sizeof(block)))
		return em_client_complain(
			client, EM_EXIT_FAILED,
			"the drive has no namespace by which ledctl could know it.");
	snprintf(argument, sizeof(argument), "%s=/dev/%s", off ? "locate_off" : "locate", block);
	status = run_ledctl(program, argument);
	if (status != 0)
		return led_failed(client, status);
	em_writer_fact(client->writer, "Light",
		       (struct em_cell){ off ? "off" : "on", EM_TONE_GOOD });
	return EM_EXIT_OK;
}

/* What is not here has no light; what is on another host has one there. */
static enum em_exit check_here(struct em_client *client, const json_t *drive)
{
	const char *state = em_json_text(drive, "state"), *kind = em_json_text(drive, "transport");
	const char *url = client->target.url;

	if (url && !strstr(url, "127.0.0.1") && !strstr(url, "localhost") && !strstr(url, "[::1]"))
		return em_client_complain(client, EM_EXIT_USAGE,
					  "lights are switched on the host that has the drive. Run "
					  "emberctl there.");
	if (state && (strcmp(state, "removed") == 0 || strcmp(state, "retired") == 0))
		return em_client_complain(client, EM_EXIT_FAILED,
					  "the drive is %s: it is in no bay of this host. Its last "
					  "address was %s.",
					  state,
					  em_json_text(drive, "address")
						  ? em_json_text(drive, "address")
						  : "unknown");
	if (kind && strcmp(kind, "pcie") != 0)
		return em_client_complain(client, EM_EXIT_FAILED,
					  "the drive is reached over %s: its bay is in another "
					  "machine.",
					  kind);
	return EM_EXIT_OK;
}

enum em_exit em_verb_locate(struct em_client *client)
{
	em_cleanup(em_freep) char *path = em_api_drive_path(client->args[0], "");
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	enum em_exit code = em_api_get(client, path, &doc);
	struct em_writer *w = client->writer;
	char bay[EM_BAY_SIZE];
	const char *address = em_json_text(doc.root, "address");
	bool known;

	if (code == EM_EXIT_OK)
		code = check_here(client, doc.root);
	if (code != EM_EXIT_OK)
		return code;
	known = address && em_bay_find("", address, bay, sizeof(bay)) == 0;
	em_writer_document(w, NULL, doc.text, doc.len);
	em_writer_fact(w, "Drive",
		       (struct em_cell){ em_json_text(doc.root, "device"), EM_TONE_STRONG });
	em_writer_fact(w, "Serial",
		       (struct em_cell){ em_json_text(doc.root, "serial"), EM_TONE_PLAIN });
	em_writer_fact(w, "Address", (struct em_cell){ address, EM_TONE_PLAIN });
	em_writer_fact(w, "Bay",
		       (struct em_cell){ known ? bay : "not told by this machine's firmware",
					 known ? EM_TONE_STRONG : EM_TONE_DIM });
	/* What is known stands there before anything is said about the light. */
	em_writer_finish(w);
	return switch_light(client, doc.root, known ? bay : NULL);
}
