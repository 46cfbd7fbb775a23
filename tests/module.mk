# SPDX-License-Identifier: Apache-2.0
# What holds the whole tree to its rules. Tests of a room stand in the room's module.mk.
house_checks = \
	build-aux/check-docs.sh \
	build-aux/check-format.sh \
	build-aux/check-headers.sh \
	build-aux/check-includes.sh \
	build-aux/check-links.sh \
	build-aux/check-sources.sh \
	build-aux/test-checks.sh
TESTS += $(house_checks)
EXTRA_DIST += $(house_checks) tests/unit/run tests/unit/runner.h
# Suites are found by their names, so their files are not listed one by one. build-aux/check-dist.sh
# tells what is committed and would not be in an archive.
suite_files = $(wildcard $(addprefix $(srcdir)/, .ci/run .gitignore build-aux/*.sh build-aux/coverage.py tests/cases/run \
	tests/cases/*/* tests/mutation/run tests/scenario/run tests/scenario/*.py tests/vm/run tests/vm/*.py \
	tests/vm/suites/*.py))
EXTRA_DIST += $(patsubst $(srcdir)/%,%,$(suite_files))
AM_TESTS_ENVIRONMENT = \
	CC='$(CC)'; export CC; \
	HEADER_CFLAGS='$(EMBER_FEATURES) $(LIBNVME_CFLAGS) $(LIBSYSTEMD_CFLAGS) $(SQLITE_CFLAGS) $(MICROHTTPD_CFLAGS) $(GNUTLS_CFLAGS) $(ZLIB_CFLAGS) $(JANSSON_CFLAGS) $(CURL_CFLAGS) $(ECONF_CFLAGS)'; \
	export HEADER_CFLAGS;

# With --enable-coverage: what the unit tests run, and whatever ran in this build directory before
# them (the suites of tests/scenario, for example).
if COVERAGE
coverage:
	-$(MAKE) $(AM_MAKEFLAGS) check
	GCOV='$(GCOV)' $(srcdir)/build-aux/coverage.py $(srcdir)
else
coverage:
	@echo "this build directory counts no lines: configure one with --enable-coverage" >&2; exit 1
endif
.PHONY: coverage
mostlyclean-local:
	find . -name '*.gcda' -delete
clean-local:
	find . -name '*.gcno' -delete
