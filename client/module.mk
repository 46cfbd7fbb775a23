# SPDX-License-Identifier: Apache-2.0
client_cppflags = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(JANSSON_CFLAGS) $(LIBSYSTEMD_CFLAGS) \
	-DEM_SBINDIR=\"$(sbindir)\" -DEM_LIBEXECDIR=\"$(emberlibexecdir)\"
client_libs = \
	client/libember-client.a \
	lib/nvme/libember-nvme.a \
	lib/base/libember-base.a \
	$(CURL_LIBS) $(JANSSON_LIBS) $(LIBSYSTEMD_LIBS)

noinst_LIBRARIES += client/libember-client.a
client_libember_client_a_CPPFLAGS = $(client_cppflags)
client_libember_client_a_SOURCES = \
	client/api.c \
	client/api.h \
	client/ask.c \
	client/ask.h \
	client/bay.c \
	client/bay.h \
	client/bundle.c \
	client/bundle.h \
	client/cli.c \
	client/client.c \
	client/client.h \
	client/common.c \
	client/complete.c \
	client/complete_words.c \
	client/doctor.c \
	client/doctor.h \
	client/doctor_drives.c \
	client/doctor_ember.c \
	client/doctor_host.c \
	client/doctor_network.c \
	client/doctor_run.c \
	client/doctor_setup.c \
	client/doctor_tools.c \
	client/drive_health.c \
	client/drive_health.h \
	client/drive_table.c \
	client/drive_table.h \
	client/event_view.c \
	client/event_view.h \
	client/exit.h \
	client/files.c \
	client/files.h \
	client/follow.c \
	client/follow.h \
	client/generate.c \
	client/help.c \
	client/http.c \
	client/http.h \
	client/human.c \
	client/human.h \
	client/layout.c \
	client/layout.h \
	client/mask.c \
	client/mask.h \
	client/mask_parts.c \
	client/mask_parts.h \
	client/nearest.c \
	client/nearest.h \
	client/screen.c \
	client/screen.h \
	client/secrets.c \
	client/secrets.h \
	client/spark.c \
	client/spark.h \
	client/sse.c \
	client/sse.h \
	client/tar.c \
	client/tar.h \
	client/target.c \
	client/term.c \
	client/term.h \
	client/verb.h \
	client/verb_diagnose.c \
	client/verb_doctor.c \
	client/verb_drives.c \
	client/verb_events.c \
	client/verb_health.c \
	client/verb_history.c \
	client/verb_locate.c \
	client/verb_pages.c \
	client/raw.h \
	client/verb_raw.c \
	client/verb_refresh.c \
	client/verb_retire.c \
	client/verb_security.c \
	client/verb_selftest.c \
	client/verb_show.c \
	client/verb_telemetry.c \
	client/verb_token.c \
	client/verb_version.c \
	client/verb_watch.c \
	client/verbs.c \
	client/view.c \
	client/view.h \
	client/writer.c \
	client/writer.h \
	client/writer_csv.c \
	client/writer_json.c \
	client/writer_table.c

bin_PROGRAMS += client/emberctl
client_emberctl_CPPFLAGS = $(client_cppflags)
client_emberctl_SOURCES = client/main.c
client_emberctl_LDADD = $(client_libs)

# The man page and the completions are read out of the verb table by the program itself. The leak
# check has nothing to say here and does not work under a tracer.
emberctl_generate = $(AM_V_GEN)ASAN_OPTIONS=detect_leaks=0 client/emberctl$(EXEEXT) --generate

client/emberctl.1: client/emberctl$(EXEEXT)
	$(emberctl_generate) man >$@.tmp && mv $@.tmp $@
client/completions/bash/emberctl: client/emberctl$(EXEEXT)
	@$(MKDIR_P) $(@D)
	$(emberctl_generate) bash >$@.tmp && mv $@.tmp $@
client/completions/zsh/_emberctl: client/emberctl$(EXEEXT)
	@$(MKDIR_P) $(@D)
	$(emberctl_generate) zsh >$@.tmp && mv $@.tmp $@
client/completions/fish/emberctl.fish: client/emberctl$(EXEEXT)
	@$(MKDIR_P) $(@D)
	$(emberctl_generate) fish >$@.tmp && mv $@.tmp $@

# The names that scripts rely on. test_emberctl fails while this list differs from the program.
EXTRA_DIST += docs/names/cli.txt
update_targets += update-cli-names
update-cli-names: client/emberctl$(EXEEXT)
	$(emberctl_generate) names >$(srcdir)/docs/names/cli.txt

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_bashcompletion_DATA = client/completions/bash/emberctl
nodist_zshcompletion_DATA = client/completions/zsh/_emberctl
nodist_fishcompletion_DATA = client/completions/fish/emberctl.fish
nodist_man_MANS += client/emberctl.1
dist_man_MANS += docs/man/emberd.8 docs/man/ember-broker.8
CLEANFILES += client/emberctl.1 $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA) \
	$(nodist_fishcompletion_DATA)

if TESTS_WANTED
client_tests = \
	tests/unit/client/test_bay \
	tests/unit/client/test_cli \
	tests/unit/client/test_doctor \
	tests/unit/client/test_human \
	tests/unit/client/test_layout \
	tests/unit/client/test_mask \
	tests/unit/client/test_spark \
	tests/unit/client/test_sse \
	tests/unit/client/test_tar \
	tests/unit/client/test_term \
	tests/unit/client/test_writer
check_PROGRAMS += $(client_tests)
TESTS += $(client_tests) tests/unit/client/test_emberctl
EXTRA_DIST += tests/unit/client/test_emberctl tests/unit/client/fake_emberd.py
client_test_cppflags = $(client_cppflags) $(CHECK_CFLAGS)
client_test_libs = $(client_libs) $(CHECK_LIBS)
tests_unit_client_test_cli_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_cli_SOURCES = tests/unit/client/test_cli.c
tests_unit_client_test_cli_LDADD = $(client_test_libs)
tests_unit_client_test_doctor_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_doctor_SOURCES = tests/unit/client/test_doctor.c
tests_unit_client_test_doctor_LDADD = $(client_test_libs)
tests_unit_client_test_human_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_human_SOURCES = tests/unit/client/test_human.c
tests_unit_client_test_human_LDADD = $(client_test_libs)
tests_unit_client_test_layout_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_layout_SOURCES = tests/unit/client/test_layout.c
tests_unit_client_test_layout_LDADD = $(client_test_libs)
tests_unit_client_test_term_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_term_SOURCES = tests/unit/client/test_term.c
tests_unit_client_test_term_LDADD = $(client_test_libs)
tests_unit_client_test_writer_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_writer_SOURCES = tests/unit/client/test_writer.c
tests_unit_client_test_writer_LDADD = $(client_test_libs)
tests_unit_client_test_bay_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_bay_SOURCES = tests/unit/client/test_bay.c
tests_unit_client_test_bay_LDADD = $(client_test_libs)
tests_unit_client_test_spark_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_spark_SOURCES = tests/unit/client/test_spark.c
tests_unit_client_test_spark_LDADD = $(client_test_libs)
tests_unit_client_test_sse_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_sse_SOURCES = tests/unit/client/test_sse.c
tests_unit_client_test_sse_LDADD = $(client_test_libs)
tests_unit_client_test_mask_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_mask_SOURCES = tests/unit/client/test_mask.c
tests_unit_client_test_mask_LDADD = $(client_test_libs)
tests_unit_client_test_tar_CPPFLAGS = $(client_test_cppflags)
tests_unit_client_test_tar_SOURCES = tests/unit/client/test_tar.c
tests_unit_client_test_tar_LDADD = $(client_test_libs)
endif
