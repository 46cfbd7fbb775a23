# SPDX-License-Identifier: Apache-2.0
# Fuzz targets: not part of `make all`. tests/fuzz/run configures a build with clang for them, and
# makes them there.
FUZZ_TARGETS = \
	tests/fuzz/pages \
	tests/fuzz/ipc \
	tests/fuzz/broker \
	tests/fuzz/drives \
	tests/fuzz/routes \
	tests/fuzz/http \
	tests/fuzz/headers \
	tests/fuzz/tokens \
	tests/fuzz/client \
	tests/fuzz/emberd_conf \
	tests/fuzz/broker_conf \
	tests/fuzz/scenario
EXTRA_PROGRAMS = $(FUZZ_TARGETS)
CLEANFILES += $(FUZZ_TARGETS)
EXTRA_DIST += tests/fuzz/run tests/fuzz/seeds.py tests/fuzz/regressions
fuzz-targets: $(FUZZ_TARGETS)
.PHONY: fuzz-targets

fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_base = tests/fuzz/fuzz.c tests/fuzz/fuzz.h
fuzz_drive = $(fuzz_base) tests/fuzz/drive.c tests/fuzz/drive.h
fuzz_cppflags = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(JANSSON_CFLAGS) $(ECONF_CFLAGS)
# The connection and the terminal of emberctl are the target's.
fuzz_client_wrap = -Wl,--wrap=em_http_request,--wrap=em_http_get,--wrap=em_http_stream \
	-Wl,--wrap=em_term_detect,--wrap=poll
# What emberd is made of, in its order.
fuzz_web_libs = $(daemon_emberd_LDADD)

tests_fuzz_pages_SOURCES = tests/fuzz/pages.c $(fuzz_drive)
tests_fuzz_pages_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_pages_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_pages_LDADD = $(fuzz_web_libs)
tests_fuzz_ipc_SOURCES = tests/fuzz/ipc.c $(fuzz_base)
tests_fuzz_ipc_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_ipc_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_ipc_LDADD = $(BROKER_LIBS)
tests_fuzz_broker_SOURCES = tests/fuzz/broker.c $(fuzz_base)
tests_fuzz_broker_CPPFLAGS = $(fuzz_cppflags) $(LIBNVME_CFLAGS)
tests_fuzz_broker_LDFLAGS = $(fuzz_ldflags) -Wl,--wrap=nvme_submit_admin_passthru
tests_fuzz_broker_LDADD = $(BROKER_LIBS)
tests_fuzz_drives_SOURCES = tests/fuzz/drives.c $(fuzz_base)
tests_fuzz_drives_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_drives_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_drives_LDADD = $(fuzz_web_libs)
tests_fuzz_routes_SOURCES = tests/fuzz/routes.c tests/fuzz/history.c tests/fuzz/history.h \
	$(fuzz_drive)
tests_fuzz_routes_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_routes_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_routes_LDADD = $(fuzz_web_libs)
tests_fuzz_http_SOURCES = tests/fuzz/http.c $(fuzz_drive)
tests_fuzz_http_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_http_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_http_LDADD = $(fuzz_web_libs)
tests_fuzz_headers_SOURCES = tests/fuzz/headers.c $(fuzz_base)
tests_fuzz_headers_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_headers_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_headers_LDADD = $(fuzz_web_libs)
tests_fuzz_tokens_SOURCES = tests/fuzz/tokens.c $(fuzz_drive)
tests_fuzz_tokens_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_tokens_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_tokens_LDADD = $(fuzz_web_libs)
tests_fuzz_client_SOURCES = tests/fuzz/client.c $(fuzz_base)
tests_fuzz_client_CPPFLAGS = $(fuzz_cppflags) $(CURL_CFLAGS)
tests_fuzz_client_LDFLAGS = $(fuzz_ldflags) $(fuzz_client_wrap)
tests_fuzz_client_LDADD = $(client_libs)
tests_fuzz_emberd_conf_SOURCES = tests/fuzz/emberd_conf.c $(fuzz_base)
tests_fuzz_emberd_conf_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_emberd_conf_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_emberd_conf_LDADD = $(fuzz_web_libs)
tests_fuzz_broker_conf_SOURCES = tests/fuzz/broker_conf.c $(fuzz_base)
tests_fuzz_broker_conf_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_broker_conf_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_broker_conf_LDADD = $(BROKER_LIBS)
tests_fuzz_scenario_SOURCES = tests/fuzz/scenario.c $(fuzz_base) $(sim_parts)
tests_fuzz_scenario_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_scenario_LDFLAGS = $(fuzz_ldflags)
tests_fuzz_scenario_LDADD = lib/base/libember-base.a $(LIBSYSTEMD_LIBS)
