/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ask.h"
#include <strings.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/cleanup.h"

static bool is_yes(char *answer)
{
	answer[strcspn(answer, "\r\n")] = '\0';
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

enum em_exit em_ask(struct em_client *client, const char *question, const char *option)
{
	em_cleanup(em_freep) char *clean = NULL;
	char answer[64];
	struct em_term term;

	if (em_client_option(client, option))
		return EM_EXIT_OK;
	if (isatty(STDIN_FILENO) != 1)
		return em_client_complain(
			client, EM_EXIT_USAGE,
			"there is no terminal to ask at. Give %s to do it without a "
			"question.",
			option);
	em_term_detect(&term, fileno(client->err));
	clean = em_term_clean(question, term.utf8);
	fprintf(client->err, "%s [y/N] ", clean ? clean : "");
	fflush(client->err);
	if (fgets(answer, sizeof(answer), stdin) && is_yes(answer))
		return EM_EXIT_OK;
	return em_client_complain(client, EM_EXIT_FAILED, "nothing was done.");
}
