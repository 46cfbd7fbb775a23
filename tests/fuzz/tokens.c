/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of tokens, and secrets that strangers send. Input: a line with the secret, the file.
 */
#include <string.h>
#include <unistd.h>
#include "daemon/web/tokens.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"
#include "tests/fuzz/drive.h"
#include "tests/fuzz/fuzz.h"

/* Of a name that is shown to people and in JSON. */
static void check_token(const struct em_token *token)
{
	fuzz_check(strlen(token->id) == EM_TOKEN_ID_SIZE - 1);
	fuzz_check(token->name[0] && memchr(token->name, '\0', EM_TOKEN_NAME_SIZE));
	fuzz_check(em_role_name(token->role));
}

static void check_list(struct em_tokens *tokens)
{
	struct em_token list[EM_TOKENS_MAX];
	unsigned count = em_tokens_list(tokens, list);

	fuzz_check(count <= EM_TOKENS_MAX);
	for (unsigned i = 0; i < count; i++)
		check_token(&list[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[FUZZ_PATH_SIZE];
	struct fuzz_input in = { data, size };
	em_cleanup(em_freep) char *secret = fuzz_line(&in);
	struct em_tokens *tokens = NULL;
	const char *message = NULL;
	char id[EM_TOKEN_ID_SIZE] = "";
	enum em_role role;

	if (!path[0]) {
		em_log_init("fuzz", LOG_EMERG);
		fuzz_path(path, "tokens.json");
	}
	fuzz_write(path, in.at, in.left);
	if (em_tokens_open(&tokens, path, &message) < 0) {
		fuzz_check(message && *message);
		fuzz_empty();
		return 0;
	}
	check_list(tokens);
	role = em_tokens_check(tokens, secret, FUZZ_NOW_US, id);
	/* Nobody finds a secret by its hash. */
	fuzz_check(role == EM_ROLE_NONE && !id[0]);
	fuzz_check(!em_tokens_is_valid(tokens, secret, FUZZ_NOW_US) || strlen(secret) == 16);
	em_tokens_free(tokens);
	fuzz_empty();
	return 0;
}
