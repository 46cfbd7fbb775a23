# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += broker/libember-broker.a
broker_libember_broker_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBNVME_CFLAGS) $(LIBSYSTEMD_CFLAGS) $(ECONF_CFLAGS)
broker_libember_broker_a_CFLAGS = $(AM_CFLAGS) -pthread
broker_libember_broker_a_SOURCES = \
	broker/audit.c broker/audit.h \
	broker/broker.c broker/broker.h \
	broker/checks.c broker/checks.h \
	broker/conf.c broker/conf.h \
	broker/options.c broker/options.h \
	broker/device.c broker/device.h \
	broker/discover.c broker/discover.h \
	broker/execute.c broker/execute.h \
	broker/job.c broker/job.h \
	broker/lane.c broker/lane.h \
	broker/listen.c broker/listen.h \
	broker/operations.c broker/operations.h \
	broker/peers.c broker/peers.h \
	broker/policy.c broker/policy.h \
	broker/record.c broker/record.h \
	broker/record_mask.c broker/record_mask.h \
	broker/record_text.c broker/record_text.h \
	broker/recorded.c broker/recorded.h \
	broker/identify.h \
	broker/requests.c broker/state.h broker/stations.c \
	broker/sysfs.c broker/sysfs.h

BROKER_LIBS = broker/libember-broker.a lib/ipc/libember-ipc.a lib/base/libember-base.a \
	$(LIBNVME_LIBS) $(LIBSYSTEMD_LIBS) $(ECONF_LIBS) -lpthread

emberlibexec_PROGRAMS += broker/ember-broker
broker_ember_broker_CPPFLAGS = $(broker_libember_broker_a_CPPFLAGS)
broker_ember_broker_CFLAGS = $(AM_CFLAGS) -pthread
broker_ember_broker_SOURCES = broker/main.c
broker_ember_broker_LDADD = $(BROKER_LIBS)

# Prints broker.conf(5), the commented default files and lists of names: see docs/module.mk.
noinst_PROGRAMS += broker/options-doc
broker_options_doc_SOURCES = broker/options_doc.c
broker_options_doc_LDADD = $(BROKER_LIBS)

if TESTS_WANTED
BROKER_TESTS = \
	tests/unit/broker/test_policy \
	tests/unit/broker/test_operations \
	tests/unit/broker/test_lane \
	tests/unit/broker/test_peers \
	tests/unit/broker/test_sysfs \
	tests/unit/broker/test_device \
	tests/unit/broker/test_record \
	tests/unit/broker/test_options
check_PROGRAMS += $(BROKER_TESTS)
TESTS += $(BROKER_TESTS)
BROKER_TEST_CPPFLAGS = $(broker_libember_broker_a_CPPFLAGS) $(CHECK_CFLAGS)
BROKER_TEST_LIBS = $(BROKER_LIBS) $(CHECK_LIBS)
tests_unit_broker_test_policy_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_policy_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_operations_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_operations_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_lane_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_lane_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_peers_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_peers_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_sysfs_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_sysfs_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_device_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_device_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_record_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_record_LDADD = $(BROKER_TEST_LIBS)
tests_unit_broker_test_options_CPPFLAGS = $(BROKER_TEST_CPPFLAGS)
tests_unit_broker_test_options_LDADD = $(BROKER_TEST_LIBS)
endif
