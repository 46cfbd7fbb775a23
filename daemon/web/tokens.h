/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * tokens - who may ask over the network: names, roles, and salted SHA-256 hashes of secrets.
 *
 * They are a file of their own (JSON, mode 0600), so that a broken database locks nobody out. Each
 * change replaces it whole and is on the disk before a function returns. The last use is kept in
 * memory and written with the next change, and at the end.
 *
 * Owns:     the list and its file. A file that cannot be read as one is set aside (name +
 *           ".broken-<time>") and the list is empty then: nobody gets in by a broken file.
 * Threads:  open and free on one thread; all others from any.
 * Blocking: open, create, revoke, watch and free wait for the disk. check and list do not.
 * Errors:   0 or -errno.
 * Limits:   EM_TOKENS_MAX tokens; those that have expired count until they are revoked.
 */
#include <stdbool.h>
#include <stdint.h>
#include "daemon/web/call.h"

#define EM_TOKENS_MAX	     64u
#define EM_TOKEN_ID_SIZE     17 /* 16 hexadecimal digits */
#define EM_TOKEN_NAME_SIZE   65
#define EM_TOKEN_SECRET_SIZE 96 /* "ember_", the id, '_', 64 hexadecimal digits */

struct em_token {
	char id[EM_TOKEN_ID_SIZE];
	char name[EM_TOKEN_NAME_SIZE];
	enum em_role role;
	int64_t created_us;
	int64_t expires_us;   /* 0 = never */
	int64_t last_used_us; /* 0 = never */
};

/* "viewer"; NULL for a role that nobody can be given. */
const char *em_role_name(enum em_role role);
/* -ENOENT */
int em_role_find(const char *name, enum em_role *ret);

/*
 * A file that does not exist is an empty list. *ret_message (may be NULL) becomes a sentence for
 * people on failure, and also when a broken file was set aside; NULL otherwise.
 */
int em_tokens_open(struct em_tokens **ret, const char *path, const char **ret_message);
struct em_tokens *em_tokens_free(struct em_tokens *tokens);

/*
 * The secret is told here and never again. -EINVAL: a name must be 1 to 64 printable ASCII
 * characters without a blank at either end; -EEXIST: the name is in use; -ENOSPC: there are
 * EM_TOKENS_MAX. Any other error: the file could not be written, and there is no such token.
 */
int em_tokens_create(struct em_tokens *tokens, const char *name, enum em_role role, int64_t now_us,
		     int64_t expires_us, struct em_token *ret,
		     char ret_secret[EM_TOKEN_SECRET_SIZE]);
/*
 * -ENOENT. Any other error: from now on it is refused, but that could not be written, so that
 * it would be valid again after a restart; the next change that succeeds writes this one too.
 */
int em_tokens_revoke(struct em_tokens *tokens, const char *id);
/*
 * fn is called when a token was revoked, on the thread that does it; no blocking, and nothing of
 * this header but em_tokens_is_valid(). There is one such function; NULL takes it away, and when
 * that returns it is not running.
 */
typedef void em_tokens_fn(void *userdata);
void em_tokens_watch(struct em_tokens *tokens, em_tokens_fn *fn, void *userdata);
/* Copies all of them, oldest first; how many. */
unsigned em_tokens_list(struct em_tokens *tokens, struct em_token ret[EM_TOKENS_MAX]);
/*
 * The role of who holds this secret, EM_ROLE_NONE for nobody we know; ret_id (may be NULL) is only
 * written for those we know. Notes the use.
 */
enum em_role em_tokens_check(struct em_tokens *tokens, const char *secret, int64_t now_us,
			     char ret_id[EM_TOKEN_ID_SIZE]);
/* Is the token that was checked once still valid? */
bool em_tokens_is_valid(struct em_tokens *tokens, const char *id, int64_t now_us);
