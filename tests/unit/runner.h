/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* runner - what main() of every test program does with its one case. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

/* The exit status. Verbosity is $CK_VERBOSITY's; tests/unit/run reads the line of sums. */
static inline int run_tests(TCase *tcase)
{
	Suite *suite = suite_create(program_invocation_short_name);
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
