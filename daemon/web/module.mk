# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += daemon/web/libember-web.a
daemon_web_libember_web_a_SOURCES = \
	daemon/web/call.c daemon/web/call.h \
	daemon/web/cursor.c daemon/web/cursor.h \
	daemon/web/drives_handler.c \
	daemon/web/events.c daemon/web/events.h \
	daemon/web/events_handler.c \
	daemon/web/guard.c daemon/web/guard.h \
	daemon/web/encoding.c daemon/web/encoding.h \
	daemon/web/handlers.c daemon/web/handlers.h \
	daemon/web/health_handler.c \
	daemon/web/history_handler.c \
	daemon/web/http.c daemon/web/http.h \
	daemon/web/json.c daemon/web/json.h \
	daemon/web/listen.c daemon/web/listen.h \
	daemon/web/match.c \
	daemon/web/metrics.c daemon/web/metrics.h \
	daemon/web/names.c \
	daemon/web/openapi.c daemon/web/openapi.h \
	daemon/web/peer.c daemon/web/peer.h \
	daemon/web/command_handler.c \
	daemon/web/order_handlers.c \
	daemon/web/params.c \
	daemon/web/pool.c daemon/web/pool.h \
	daemon/web/reference.c daemon/web/reference.h \
	daemon/web/routes.c daemon/web/route.h \
	daemon/web/request.c daemon/web/request.h \
	daemon/web/respond.c daemon/web/respond.h \
	daemon/web/schema.c daemon/web/schema.h \
	daemon/web/schema_objects.c daemon/web/schema_objects.h \
	daemon/web/security_handler.c \
	daemon/web/stream.c daemon/web/stream.h \
	daemon/web/tls.c daemon/web/tls.h \
	daemon/web/tokens.c daemon/web/tokens.h \
	daemon/web/token_handlers.c \
	daemon/web/web.c daemon/web/web.h
daemon_web_libember_web_a_CPPFLAGS = $(AM_CPPFLAGS) $(MICROHTTPD_CFLAGS) $(JANSSON_CFLAGS) \
	$(GNUTLS_CFLAGS) $(ZLIB_CFLAGS)

EXTRA_DIST += docs/api.md docs/openapi.json docs/names/json.txt

if TESTS_WANTED
web_tests = tests/unit/web/test_routes tests/unit/web/test_documents tests/unit/web/test_metrics \
	tests/unit/web/test_openapi tests/unit/web/test_listen tests/unit/web/test_pool \
	tests/unit/web/test_http tests/unit/web/test_tokens \
	tests/unit/web/test_encoding tests/unit/web/test_stream tests/unit/web/test_tls tests/unit/web/test_cursor \
	tests/unit/web/test_events tests/unit/web/test_changing
check_PROGRAMS += $(web_tests) tests/unit/web/print_contract
TESTS += $(web_tests)
web_test_cppflags = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CHECK_CFLAGS) \
	-DTEST_SOURCES=\"$(abs_top_srcdir)\"
web_test_libs = daemon/web/libember-web.a daemon/jobs/libember-jobs.a daemon/drives/libember-drives.a \
	daemon/store/libember-store.a lib/ipc/libember-ipc.a lib/health/libember-health.a lib/nvme/libember-nvme.a \
	lib/base/libember-base.a $(MICROHTTPD_LIBS) $(GNUTLS_LIBS) $(ZLIB_LIBS) \
	$(JANSSON_LIBS) $(SQLITE_LIBS) $(LIBSYSTEMD_LIBS) $(CHECK_LIBS) -lpthread
web_test_fixture = tests/unit/web/fixture.c tests/unit/web/fixture.h
web_test_server = $(web_test_fixture) tests/unit/web/server.c tests/unit/web/server.h
tests_unit_web_test_routes_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_routes_SOURCES = tests/unit/web/test_routes.c $(web_test_fixture)
tests_unit_web_test_routes_LDADD = $(web_test_libs)
tests_unit_web_test_documents_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_documents_SOURCES = tests/unit/web/test_documents.c $(web_test_fixture)
tests_unit_web_test_documents_LDADD = $(web_test_libs)
tests_unit_web_test_metrics_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_metrics_SOURCES = tests/unit/web/test_metrics.c $(web_test_fixture)
tests_unit_web_test_metrics_LDADD = $(web_test_libs)
tests_unit_web_test_openapi_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_openapi_SOURCES = tests/unit/web/test_openapi.c $(web_test_fixture)
tests_unit_web_test_openapi_LDADD = $(web_test_libs)
tests_unit_web_test_listen_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_listen_SOURCES = tests/unit/web/test_listen.c
tests_unit_web_test_listen_LDADD = $(web_test_libs)
tests_unit_web_test_pool_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_pool_SOURCES = tests/unit/web/test_pool.c
tests_unit_web_test_pool_LDADD = $(web_test_libs)
tests_unit_web_test_http_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_http_SOURCES = tests/unit/web/test_http.c $(web_test_server)
tests_unit_web_test_http_LDADD = $(web_test_libs)
tests_unit_web_test_tokens_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_tokens_SOURCES = tests/unit/web/test_tokens.c
tests_unit_web_test_tokens_LDADD = $(web_test_libs)
tests_unit_web_test_cursor_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_cursor_SOURCES = tests/unit/web/test_cursor.c
tests_unit_web_test_cursor_LDADD = $(web_test_libs)
tests_unit_web_test_encoding_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_encoding_SOURCES = tests/unit/web/test_encoding.c
tests_unit_web_test_encoding_LDADD = $(web_test_libs)
tests_unit_web_test_stream_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_stream_SOURCES = tests/unit/web/test_stream.c $(web_test_server)
tests_unit_web_test_stream_LDADD = $(web_test_libs)
tests_unit_web_test_tls_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_tls_SOURCES = tests/unit/web/test_tls.c $(web_test_server)
tests_unit_web_test_tls_LDADD = $(web_test_libs)
tests_unit_web_test_events_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_events_SOURCES = tests/unit/web/test_events.c $(web_test_fixture)
tests_unit_web_test_events_LDADD = $(web_test_libs)
tests_unit_web_test_changing_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_test_changing_SOURCES = tests/unit/web/test_changing.c $(web_test_fixture)
tests_unit_web_test_changing_LDADD = $(web_test_libs)
tests_unit_web_print_contract_CPPFLAGS = $(web_test_cppflags)
tests_unit_web_print_contract_SOURCES = tests/unit/web/print_contract.c
tests_unit_web_print_contract_LDADD = $(web_test_libs)

# Writes the documents that test_openapi holds the code to: run it after a change that is meant.
update-contract: tests/unit/web/print_contract$(EXEEXT)
	tests/unit/web/print_contract openapi > $(srcdir)/docs/openapi.json
	tests/unit/web/print_contract names > $(srcdir)/docs/names/json.txt
	tests/unit/web/print_contract reference > $(srcdir)/docs/api.md
endif
