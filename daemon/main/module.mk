# SPDX-License-Identifier: Apache-2.0

sbin_PROGRAMS += daemon/emberd
noinst_LIBRARIES += daemon/main/libember-daemon.a
daemon_main_libember_daemon_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(ECONF_CFLAGS)
daemon_main_libember_daemon_a_SOURCES = \
	daemon/main/config.c daemon/main/config.h \
	daemon/main/daemon.c daemon/main/daemon.h \
	daemon/main/options.c daemon/main/options.h
daemon_emberd_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS)
daemon_emberd_SOURCES = daemon/main/main.c
daemon_emberd_LDADD = daemon/main/libember-daemon.a daemon/web/libember-web.a daemon/jobs/libember-jobs.a \
	daemon/drives/libember-drives.a daemon/store/libember-store.a lib/ipc/libember-ipc.a \
	lib/health/libember-health.a lib/nvme/libember-nvme.a lib/base/libember-base.a $(LIBSYSTEMD_LIBS) $(MICROHTTPD_LIBS) \
	$(GNUTLS_LIBS) $(ZLIB_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) $(ECONF_LIBS) -lpthread

# Prints emberd.conf(5), the commented default file and the list of names: see docs/module.mk.
noinst_PROGRAMS += daemon/options-doc
daemon_options_doc_SOURCES = daemon/main/options_doc.c
daemon_options_doc_LDADD = daemon/main/libember-daemon.a daemon/web/libember-web.a daemon/jobs/libember-jobs.a \
	lib/base/libember-base.a $(LIBSYSTEMD_LIBS)

if TESTS_WANTED
check_PROGRAMS += tests/unit/main/print_schema
tests_unit_main_print_schema_SOURCES = tests/unit/main/print_schema.c
tests_unit_main_print_schema_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
tests_unit_main_print_schema_LDADD = daemon/drives/libember-drives.a daemon/store/libember-store.a \
	lib/ipc/libember-ipc.a lib/health/libember-health.a lib/nvme/libember-nvme.a lib/base/libember-base.a \
	$(LIBSYSTEMD_LIBS) $(SQLITE_LIBS) -lpthread
check_PROGRAMS += tests/unit/main/test_config tests/unit/main/test_options
TESTS += tests/unit/main/test_config tests/unit/main/test_options
ember_main_test_cppflags = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS) $(ECONF_CFLAGS) $(CHECK_CFLAGS)
ember_main_test_libs = daemon/main/libember-daemon.a daemon/web/libember-web.a daemon/jobs/libember-jobs.a \
	lib/base/libember-base.a \
	$(LIBSYSTEMD_LIBS) $(ECONF_LIBS) $(CHECK_LIBS)
tests_unit_main_test_config_SOURCES = tests/unit/main/test_config.c
tests_unit_main_test_config_CPPFLAGS = $(ember_main_test_cppflags)
tests_unit_main_test_config_LDADD = $(ember_main_test_libs)
tests_unit_main_test_options_SOURCES = tests/unit/main/test_options.c
tests_unit_main_test_options_CPPFLAGS = $(ember_main_test_cppflags)
tests_unit_main_test_options_LDADD = $(ember_main_test_libs)
endif
