/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that decide what root does. Input: which (1 byte: 0 broker.conf, 1 policy.conf), the
 * file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "broker/options.h"
#include "broker/policy.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"
#include "tests/fuzz/fuzz.h"

static char path[FUZZ_PATH_SIZE];

static void check_error(int r, const char *error)
{
	fuzz_check(memchr(error, '\0', EM_CONF_ERROR_SIZE));
	/* An unknown user is known to be so only when the file has been read. */
	if (r < 0 && r != -ESRCH)
		fuzz_check(strncmp(error, path, strlen(path)) == 0);
}

static void check_options(void)
{
	struct em_options options = { .config = path, .policy = path, .config_given = true };
	char error[EM_CONF_ERROR_SIZE] = "";
	int r = em_options_load(&options, error);

	check_error(r, error);
	if (r == 0)
		fuzz_check(options.patience_us >= 100 * EM_US_PER_MS &&
			   options.patience_us <= 600 * EM_US_PER_SEC && options.client_user[0]);
}

/* The same drive under the same policy gets the same verdict, blanks around its serial or not. */
static void check_verdicts(const struct em_policy *policy)
{
	for (unsigned cls = 0; cls < EM_CLASS_COUNT; cls++) {
		enum em_verdict a = em_policy_judge(policy, (enum em_class)cls, "SH0001");
		enum em_verdict b = em_policy_judge(policy, (enum em_class)cls, "  SH0001    ");

		fuzz_check(a == b && (unsigned)a <= EM_VERDICT_DENY);
	}
}

static void check_policy(void)
{
	em_cleanup(em_policy_freep) struct em_policy *policy = NULL;
	char error[EM_CONF_ERROR_SIZE] = "";
	int r = em_policy_load(path, "host1", &policy, error);

	check_error(r, error);
	fuzz_check((r == 0) == (policy != NULL));
	if (policy)
		check_verdicts(policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint8_t which = fuzz_u8(&in);

	if (!path[0])
		fuzz_path(path, "broker.conf");
	fuzz_write(path, in.at, in.left);
	if (which & 1)
		check_policy();
	else
		check_options();
	return 0;
}
