/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#define PREFIX	    "ember_"
#define ID_BYTES    8
#define SALT_BYTES  16
#define KEY_BYTES   32
#define HASH_BYTES  32
#define FILE_MAX    ((off_t)256 << 10)
#define FILE_FORMAT 1
#define SECRET_LEN  (sizeof(PREFIX) - 1 + 2 * ID_BYTES + 1 + 2 * KEY_BYTES)

struct row {
	struct em_token token;
	uint8_t salt[SALT_BYTES], hash[HASH_BYTES];
};

struct em_tokens {
	pthread_mutex_t change; /* held while the disk works; taken before lock */
	pthread_mutex_t lock;	/* rows and count; never held for long */
	struct row rows[EM_TOKENS_MAX];
	unsigned count;
	bool unwritten;	       /* uses or revocations that the file does not know */
	em_tokens_fn *revoked; /* with `change` */
	void *userdata;
	char path[PATH_MAX];
};

static json_t *free_json(json_t *json)
{
	json_decref(json);
	return NULL;
}

EM_DEFINE_CLEANUP(json_t, free_json)
EM_DEFINE_CLEANUP(struct em_tokens, em_tokens_free)

static const char *const role_names[] = {
	[EM_ROLE_VIEWER] = "viewer", [EM_ROLE_OPERATOR] = "operator", [EM_ROLE_ADMIN] = "admin"
};

const char *em_role_name(enum em_role role)
{
	return (unsigned)role < EM_COUNT(role_names) ? role_names[role] : NULL;
}

int em_role_find(const char *name, enum em_role *ret)
{
	for (unsigned i = EM_ROLE_VIEWER; i < EM_COUNT(role_names); i++) {
		if (!strcmp(role_names[i], name)) {
			*ret = (enum em_role)i;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- the file ---------------------------------------------------------------------------- */

static json_t *pack_row(const struct row *row)
{
	const struct em_token *token = &row->token;
	char salt[2 * SALT_BYTES + 1], hash[2 * HASH_BYTES + 1];

	em_text_hex(salt, row->salt, SALT_BYTES);
	em_text_hex(hash, row->hash, HASH_BYTES);
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s}", "id", token->id, "name",
			 token->name, "role", em_role_name(token->role), "created_us",
			 (json_int_t)token->created_us, "expires_us", (json_int_t)token->expires_us,
			 "last_used_us", (json_int_t)token->last_used_us, "salt", salt, "sha256",
			 hash);
}

static char *pack_rows(const struct row *rows, unsigned count)
{
	json_t *list = json_array(), *root;
	char *text;

	for (unsigned i = 0; i < count; i++)
		if (json_array_append_new(list, pack_row(&rows[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	root = json_pack("{s:i, s:o}", "format", FILE_FORMAT, "tokens", list);
	text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	json_decref(root);
	return text;
}

static int read_hex(uint8_t *dst, size_t len, const char *text)
{
	if (strlen(text) != 2 * len || strspn(text, "0123456789abcdef") != 2 * len)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		const char pair[3] = { text[2 * i], text[2 * i + 1], '\0' };

		dst[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return 0;
}

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len >= EM_TOKEN_NAME_SIZE || name[0] == ' ' || name[len - 1] == ' ')
		return false;
	for (; *name; name++)
		if (*name < 0x20 || *name > 0x7e)
			return false;
	return true;
}

static int unpack_row(json_t *json, struct row *row)
{
	const char *id, *name, *role, *salt, *hash;
	json_int_t created, expires, used;
	uint8_t id_bytes[ID_BYTES];

	if (json_unpack(json, "{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s !}", "id", &id, "name",
			&name, "role", &role, "created_us", &created, "expires_us", &expires,
			"last_used_us", &used, "salt", &salt, "sha256", &hash) < 0 ||
	    read_hex(id_bytes, ID_BYTES, id) < 0 || !is_name(name) ||
	    em_role_find(role, &row->token.role) < 0 || created < 0 || expires < 0 || used < 0 ||
	    read_hex(row->salt, SALT_BYTES, salt) < 0 || read_hex(row->hash, HASH_BYTES, hash) < 0)
		return -EINVAL;
	strcpy(row->token.id, id);
	strcpy(row->token.name, name);
	row->token.created_us = created;
	row->token.expires_us = expires;
	row->token.last_used_us = used;
	return 0;
}

/* A second row of an id would stay valid when the first is revoked. */
static bool is_twice(const struct row *rows, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!strcmp(rows[i].token.id, rows[index].token.id) ||
		    !strcmp(rows[i].token.name, rows[index].token.name))
			return true;
	return false;
}

static int unpack_rows(struct em_tokens *tokens, const char *text, size_t len)
{
	em_cleanup(free_jsonp) json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *list, *json;
	size_t i;
	int format;

	if (!root || json_unpack(root, "{s:i, s:o !}", "format", &format, "tokens", &list) < 0 ||
	    format != FILE_FORMAT || !json_is_array(list) || json_array_size(list) > EM_TOKENS_MAX)
		return -EINVAL;
	json_array_foreach(list, i, json)
	{
		if (unpack_row(json, &tokens->rows[i]) < 0 || is_twice(tokens->rows, i))
			return -EINVAL;
	}
	tokens->count = (unsigned)json_array_size(list);
	return 0;
}

static int read_all(int fd, char *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = read(fd, data + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		at += (size_t)n;
	}
	return 0;
}

/* -EINVAL: that is no file of ours. */
static int load(struct em_tokens *tokens)
{
	/* Without O_NONBLOCK a fifo would keep us here. */
	em_cleanup(em_closep) int fd =
		open(tokens->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	em_cleanup(em_freep) char *text = NULL;
	struct stat st;
	int r;

	if (fd < 0)
		return errno == ENOENT ? 0 : errno == ELOOP ? -EINVAL : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return -EINVAL;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	r = read_all(fd, text, (size_t)st.st_size);
	return r < 0 ? r : unpack_rows(tokens, text, (size_t)st.st_size);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* The name is on the disk only when its directory is. */
static int sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX] = ".";
	em_cleanup(em_closep) int fd = -1;

	if (slash)
		snprintf(directory, sizeof(directory), "%.*s", (int)(slash - path + 1), path);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

static int save(const struct em_tokens *tokens, const struct row *rows, unsigned count)
{
	em_cleanup(em_freep) char *text = pack_rows(rows, count);
	em_cleanup(em_closep) int fd = -1;
	char other[PATH_MAX + 8];
	int r;

	if (!text)
		return -ENOMEM;
	snprintf(other, sizeof(other), "%s.new", tokens->path);
	unlink(other);
	fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, strlen(text));
	if (r == 0 && rename(other, tokens->path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(other);
		return r;
	}
	return sync_directory(tokens->path);
}

/* ---- start and end ----------------------------------------------------------------------- */

static int set_aside(struct em_tokens *tokens, const char **ret_message)
{
	char other[PATH_MAX + 40];

	memset(tokens->rows, 0, sizeof(tokens->rows));
	tokens->count = 0;
	snprintf(other, sizeof(other), "%s.broken-%lld", tokens->path,
		 (long long)(em_realtime_us() / 1000000));
	if (rename(tokens->path, other) < 0) {
		*ret_message = "the file of tokens is broken and cannot be set aside";
		return -errno;
	}
	*ret_message = "the file of tokens is broken and was set aside: no token is valid, make "
		       "new ones";
	return 0;
}

int em_tokens_open(struct em_tokens **ret, const char *path, const char **ret_message)
{
	em_cleanup(em_tokens_freep) struct em_tokens *tokens = calloc(1, sizeof(*tokens));
	const char *message = NULL;
	int r;

	if (!tokens)
		return -ENOMEM;
	pthread_mutex_init(&tokens->change, NULL);
	pthread_mutex_init(&tokens->lock, NULL);
	r = snprintf(tokens->path, sizeof(tokens->path), "%s", path) < (int)sizeof(tokens->path)
		    ? load(tokens)
		    : -ENAMETOOLONG;
	if (r == -EINVAL)
		r = set_aside(tokens, &message);
	else if (r < 0)
		message = "the file of tokens cannot be read";
	if (ret_message)
		*ret_message = message;
	if (r < 0)
		return r;
	*ret = em_steal(tokens);
	return 0;
}

struct em_tokens *em_tokens_free(struct em_tokens *tokens)
{
	if (!tokens)
		return NULL;
	if (tokens->unwritten)
		save(tokens, tokens->rows, tokens->count);
	pthread_mutex_destroy(&tokens->lock);
	pthread_mutex_destroy(&tokens->change);
	explicit_bzero(tokens, sizeof(*tokens));
	free(tokens);
	return NULL;
}

/* ---- changes ----------------------------------------------------------------------------- */

static int hash_key(const uint8_t salt[SALT_BYTES], const uint8_t key[KEY_BYTES],
		    uint8_t ret[HASH_BYTES])
{
	uint8_t data[SALT_BYTES + KEY_BYTES];
	int r;

	memcpy(data, salt, SALT_BYTES);
	memcpy(data + SALT_BYTES, key, KEY_BYTES);
	r = gnutls_hash_fast(GNUTLS_DIG_SHA256, data, sizeof(data), ret);
	explicit_bzero(data, sizeof(data));
	return r < 0 ? -EIO : 0;
}

static int find_row(const struct em_tokens *tokens, const char *id)
{
	for (unsigned i = 0; i < tokens->count; i++)
		if (!strcmp(tokens->rows[i].token.id, id))
			return (int)i;
	return -ENOENT;
}

static int make_row(struct row *row, char secret[EM_TOKEN_SECRET_SIZE])
{
	uint8_t id[ID_BYTES], key[KEY_BYTES];
	char text[2 * KEY_BYTES + 1];
	int r;

	if (getrandom(id, sizeof(id), 0) != sizeof(id) ||
	    getrandom(row->salt, SALT_BYTES, 0) != SALT_BYTES ||
	    getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	em_text_hex(row->token.id, id, ID_BYTES);
	snprintf(secret, EM_TOKEN_SECRET_SIZE, PREFIX "%s_%s", row->token.id,
		 em_text_hex(text, key, KEY_BYTES));
	r = hash_key(row->salt, key, row->hash);
	explicit_bzero(key, sizeof(key));
	explicit_bzero(text, sizeof(text));
	return r;
}

/* With `change` held. What is noted from now on is not in the copy. */
static unsigned copy_rows(struct em_tokens *tokens, struct row rows[EM_TOKENS_MAX])
{
	unsigned count;

	pthread_mutex_lock(&tokens->lock);
	memcpy(rows, tokens->rows, sizeof(tokens->rows));
	count = tokens->count;
	tokens->unwritten = false;
	pthread_mutex_unlock(&tokens->lock);
	return count;
}

static void mark_unwritten(struct em_tokens *tokens)
{
	pthread_mutex_lock(&tokens->lock);
	tokens->unwritten = true;
	pthread_mutex_unlock(&tokens->lock);
}

/* With `change` held. */
static int add_row(struct em_tokens *tokens, const struct row *row)
{
	em_cleanup(em_freep) struct row *rows = calloc(EM_TOKENS_MAX, sizeof(*rows));
	unsigned count;
	int r;

	if (!rows)
		return -ENOMEM;
	count = copy_rows(tokens, rows);
	if (count == EM_TOKENS_MAX)
		return -ENOSPC;
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(rows[i].token.name, row->token.name))
			return -EEXIST;
	rows[count] = *row;
	r = save(tokens, rows, count + 1);
	if (r < 0) {
		mark_unwritten(tokens);
		return r;
	}
	pthread_mutex_lock(&tokens->lock);
	tokens->rows[tokens->count++] = *row;
	pthread_mutex_unlock(&tokens->lock);
	return 0;
}

int em_tokens_create(struct em_tokens *tokens, const char *name, enum em_role role, int64_t now_us,
		     int64_t expires_us, struct em_token *ret,
		     char ret_secret[EM_TOKEN_SECRET_SIZE])
{
	struct row row = { 0 };
	char secret[EM_TOKEN_SECRET_SIZE];
	int r;

	if (!is_name(name) || !em_role_name(role))
		return -EINVAL;
	r = make_row(&row, secret);
	if (r < 0)
		return r;
	strcpy(row.token.name, name);
	row.token.role = role;
	row.token.created_us = now_us;
	row.token.expires_us = expires_us;
	pthread_mutex_lock(&tokens->change);
	r = add_row(tokens, &row);
	pthread_mutex_unlock(&tokens->change);
	if (r == 0) {
		*ret = row.token;
		memcpy(ret_secret, secret, sizeof(secret));
	}
	explicit_bzero(secret, sizeof(secret));
	return r;
}

static int remove_row(struct em_tokens *tokens, const char *id)
{
	int i;

	pthread_mutex_lock(&tokens->lock);
	i = find_row(tokens, id);
	if (i >= 0) {
		tokens->count--;
		memmove(&tokens->rows[i], &tokens->rows[i + 1],
			(tokens->count - (unsigned)i) * sizeof(tokens->rows[0]));
		memset(&tokens->rows[tokens->count], 0, sizeof(tokens->rows[0]));
	}
	pthread_mutex_unlock(&tokens->lock);
	return i < 0 ? i : 0;
}

/* With `change` held. */
static int save_rows(struct em_tokens *tokens)
{
	em_cleanup(em_freep) struct row *rows = calloc(EM_TOKENS_MAX, sizeof(*rows));
	unsigned count;
	int r = -ENOMEM;

	if (rows) {
		count = copy_rows(tokens, rows);
		r = save(tokens, rows, count);
	}
	if (r < 0)
		mark_unwritten(tokens);
	return r;
}

int em_tokens_revoke(struct em_tokens *tokens, const char *id)
{
	int r;

	pthread_mutex_lock(&tokens->change);
	/* First from memory: a full disk must not keep a stolen token valid. */
	r = remove_row(tokens, id);
	if (r == 0 && tokens->revoked)
		tokens->revoked(tokens->userdata);
	if (r == 0)
		r = save_rows(tokens);
	pthread_mutex_unlock(&tokens->change);
	return r;
}

void em_tokens_watch(struct em_tokens *tokens, em_tokens_fn *fn, void *userdata)
{
	pthread_mutex_lock(&tokens->change);
	tokens->revoked = fn;
	tokens->userdata = userdata;
	pthread_mutex_unlock(&tokens->change);
}

/* ---- reading ----------------------------------------------------------------------------- */

unsigned em_tokens_list(struct em_tokens *tokens, struct em_token ret[EM_TOKENS_MAX])
{
	unsigned count;

	pthread_mutex_lock(&tokens->lock);
	count = tokens->count;
	for (unsigned i = 0; i < count; i++)
		ret[i] = tokens->rows[i].token;
	pthread_mutex_unlock(&tokens->lock);
	return count;
}

/* In a time that does not tell where the first difference is. */
static bool equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t difference = 0;

	for (size_t i = 0; i < len; i++)
		difference |= a[i] ^ b[i];
	return difference == 0;
}

static bool split_secret(const char *secret, char id[EM_TOKEN_ID_SIZE], uint8_t key[KEY_BYTES])
{
	const char *at = secret + sizeof(PREFIX) - 1;

	if (strlen(secret) != SECRET_LEN || strncmp(secret, PREFIX, sizeof(PREFIX) - 1) ||
	    at[2 * ID_BYTES] != '_')
		return false;
	memcpy(id, at, 2 * ID_BYTES);
	id[2 * ID_BYTES] = '\0';
	return read_hex(key, KEY_BYTES, at + 2 * ID_BYTES + 1) == 0;
}

static bool has_expired(const struct em_token *token, int64_t now_us)
{
	return token->expires_us && now_us >= token->expires_us;
}

/* With `lock` held. */
static enum em_role use_row(struct em_tokens *tokens, const char *id, const uint8_t key[KEY_BYTES],
			    int64_t now_us)
{
	uint8_t hash[HASH_BYTES];
	int i = find_row(tokens, id);
	struct row *row = i < 0 ? NULL : &tokens->rows[i];

	if (!row || hash_key(row->salt, key, hash) < 0 || !equal(hash, row->hash, HASH_BYTES))
		return EM_ROLE_NONE;
	if (has_expired(&row->token, now_us))
		return EM_ROLE_NONE;
	row->token.last_used_us = now_us;
	tokens->unwritten = true;
	return row->token.role;
}

enum em_role em_tokens_check(struct em_tokens *tokens, const char *secret, int64_t now_us,
			     char ret_id[EM_TOKEN_ID_SIZE])
{
	char id[EM_TOKEN_ID_SIZE];
	uint8_t key[KEY_BYTES];
	enum em_role role;

	if (!split_secret(secret, id, key))
		return EM_ROLE_NONE;
	pthread_mutex_lock(&tokens->lock);
	role = use_row(tokens, id, key, now_us);
	pthread_mutex_unlock(&tokens->lock);
	explicit_bzero(key, sizeof(key));
	if (role != EM_ROLE_NONE && ret_id)
		strcpy(ret_id, id);
	return role;
}

bool em_tokens_is_valid(struct em_tokens *tokens, const char *id, int64_t now_us)
{
	bool valid;
	int i;

	pthread_mutex_lock(&tokens->lock);
	i = find_row(tokens, id);
	valid = i >= 0 && !has_expired(&tokens->rows[i].token, now_us);
	pthread_mutex_unlock(&tokens->lock);
	return valid;
}
