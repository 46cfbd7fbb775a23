# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += docs/architecture.md docs/fields.md docs/memblaze.md docs/performance.md \
	docs/names/fields.txt docs/names/metrics.txt \
	docs/names/options.txt docs/names/broker.txt docs/names/journal.txt docs/names/sql.txt

exampledir = $(docdir)/examples
dist_example_DATA = docs/examples/prometheus.yml

# Man pages and the commented default files, made from the option tables.
option_pages = docs/man/emberd.conf.5 docs/man/broker.conf.5
option_files = docs/config/emberd.conf docs/config/broker.conf docs/config/policy.conf
nodist_man_MANS += $(option_pages)
noinst_DATA += $(option_files)
CLEANFILES += $(option_pages) $(option_files)

# The leak check has nothing to say here and does not work under a tracer.
make_document = $(AM_V_GEN)$(MKDIR_P) $(@D) && ASAN_OPTIONS=detect_leaks=0
docs/man/emberd.conf.5: daemon/options-doc$(EXEEXT)
	$(make_document) daemon/options-doc man >$@.tmp && mv $@.tmp $@
docs/config/emberd.conf: daemon/options-doc$(EXEEXT)
	$(make_document) daemon/options-doc file >$@.tmp && mv $@.tmp $@
docs/man/broker.conf.5: broker/options-doc$(EXEEXT)
	$(make_document) broker/options-doc man >$@.tmp && mv $@.tmp $@
docs/config/broker.conf: broker/options-doc$(EXEEXT)
	$(make_document) broker/options-doc broker.conf >$@.tmp && mv $@.tmp $@
docs/config/policy.conf: broker/options-doc$(EXEEXT)
	$(make_document) broker/options-doc policy.conf >$@.tmp && mv $@.tmp $@

# A file that is there is somebody's own: it is never touched. What nobody changed goes again.
install-data-local: $(option_files)
	@$(MKDIR_P) "$(DESTDIR)$(sysconfdir)/ember"
	@for file in $(option_files); do \
		to="$(DESTDIR)$(sysconfdir)/ember/$${file##*/}"; \
		if test -e "$$to"; then \
			echo "keeps $$to"; \
		else \
			echo "$(INSTALL_DATA) $$file $$to"; \
			$(INSTALL_DATA) "$$file" "$$to" || exit 1; \
		fi; \
	done
uninstall-local: $(option_files)
	@for file in $(option_files); do \
		to="$(DESTDIR)$(sysconfdir)/ember/$${file##*/}"; \
		if cmp -s "$$file" "$$to"; then rm -f "$$to"; fi; \
	done
	@rmdir "$(DESTDIR)$(sysconfdir)/ember" 2>/dev/null || :

# All that is generated and committed; build-aux/check-docs.sh fails while it differs from the
# tables that it is made of. Run it after a change of a public name that is meant.
document_programs = lib/nvme/fields-doc$(EXEEXT) daemon/options-doc$(EXEEXT) \
	broker/options-doc$(EXEEXT) daemon/emberd$(EXEEXT) broker/ember-broker$(EXEEXT)
if TESTS_WANTED
document_programs += tests/unit/main/print_schema$(EXEEXT)
update_targets += update-contract
endif
update-docs: $(document_programs) $(update_targets)
	ASAN_OPTIONS=detect_leaks=0 $(SHELL) $(srcdir)/build-aux/check-docs.sh --update $(srcdir)
update-names: update-docs
.PHONY: update-docs update-names $(update_targets)
