# SPDX-License-Identifier: Apache-2.0
# What holds the whole tree to its rules. Tests of a room stand in the room's module.mk.
house_checks = \
	build-aux/check-docs.sh \
	build-aux/check-headers.sh \
	build-aux/check-includes.sh \
	build-aux/check-sources.sh \
	build-aux/test-checks.sh
TESTS += $(house_checks)
EXTRA_DIST += $(house_checks) tests/unit/run tests/unit/runner.h
AM_TESTS_ENVIRONMENT = \
	CC='$(CC)'; export CC; \
	HEADER_CFLAGS='$(EMBER_FEATURES) $(LIBNVME_CFLAGS) $(LIBSYSTEMD_CFLAGS) $(SQLITE_CFLAGS) $(MICROHTTPD_CFLAGS) $(JANSSON_CFLAGS) $(CURL_CFLAGS) $(ECONF_CFLAGS)'; \
	export HEADER_CFLAGS;
