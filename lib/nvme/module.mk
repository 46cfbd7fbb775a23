# SPDX-License-Identifier: Apache-2.0
noinst_LIBRARIES += lib/nvme/libember-nvme.a
lib_nvme_libember_nvme_a_SOURCES = \
	lib/nvme/capacitor.c \
	lib/nvme/capacitor.h \
	lib/nvme/captured.c \
	lib/nvme/crypto_erase.c \
	lib/nvme/crypto_erase.h \
	lib/nvme/effects.c \
	lib/nvme/endurance_group.c \
	lib/nvme/error_cause.c \
	lib/nvme/error_cause.h \
	lib/nvme/error_log.c \
	lib/nvme/field.c \
	lib/nvme/field.h \
	lib/nvme/fw_slot.c \
	lib/nvme/identify_ctrl.c \
	lib/nvme/identify_lists.c \
	lib/nvme/identify_ns.c \
	lib/nvme/items.c \
	lib/nvme/items.h \
	lib/nvme/memblaze.c \
	lib/nvme/memblaze_features.c \
	lib/nvme/memblaze_latency.c \
	lib/nvme/memblaze_performance.c \
	lib/nvme/memblaze_slow.c \
	lib/nvme/memblaze_time.c \
	lib/nvme/page.c \
	lib/nvme/page.h \
	lib/nvme/reservation.c \
	lib/nvme/sanitize.c \
	lib/nvme/self_test.c \
	lib/nvme/smart.c \
	lib/nvme/status.c \
	lib/nvme/status.h \
	lib/nvme/supported.c \
	lib/nvme/tables.h \
	lib/nvme/tcg.c \
	lib/nvme/tcg.h

# Prints docs/fields.md and docs/names/: see docs/module.mk.
noinst_PROGRAMS += lib/nvme/fields-doc
lib_nvme_fields_doc_SOURCES = lib/nvme/fields_doc.c
lib_nvme_fields_doc_LDADD = lib/nvme/libember-nvme.a lib/base/libember-base.a

if TESTS_WANTED
# libnvme's headers only, as a second opinion on offsets and codes.
nvme_test_cppflags = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(LIBNVME_CFLAGS) \
	-DEM_TOP_SRCDIR=\"$(abs_top_srcdir)\"
nvme_test_ldadd = lib/nvme/libember-nvme.a lib/base/libember-base.a $(CHECK_LIBS)
nvme_tests = \
	tests/unit/nvme/test_error_cause \
	tests/unit/nvme/test_field \
	tests/unit/nvme/test_memblaze \
	tests/unit/nvme/test_page \
	tests/unit/nvme/test_request_pages \
	tests/unit/nvme/test_status \
	tests/unit/nvme/test_tables \
	tests/unit/nvme/test_tcg \
	tests/unit/nvme/test_values
check_PROGRAMS += $(nvme_tests)
TESTS += $(nvme_tests)
tests_unit_nvme_test_error_cause_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_error_cause_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_field_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_field_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_memblaze_SOURCES = tests/unit/nvme/test_memblaze.c tests/mutation/mutate.c
tests_unit_nvme_test_memblaze_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_memblaze_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_page_SOURCES = tests/unit/nvme/test_page.c tests/mutation/mutate.c
tests_unit_nvme_test_page_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_page_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_request_pages_SOURCES = tests/unit/nvme/test_request_pages.c tests/mutation/mutate.c
tests_unit_nvme_test_request_pages_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_request_pages_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_status_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_status_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_tables_SOURCES = tests/unit/nvme/test_tables.c tests/mutation/mutate.c
tests_unit_nvme_test_tables_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_tables_LDADD = $(nvme_test_ldadd)
tests_unit_nvme_test_values_SOURCES = tests/unit/nvme/test_values.c tests/mutation/mutate.c
tests_unit_nvme_test_values_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_values_LDADD = $(nvme_test_ldadd)
EXTRA_DIST += tests/unit/nvme/values.txt
tests_unit_nvme_test_tcg_CPPFLAGS = $(nvme_test_cppflags)
tests_unit_nvme_test_tcg_LDADD = $(nvme_test_ldadd)
endif
