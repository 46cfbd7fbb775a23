# SPDX-License-Identifier: Apache-2.0
# Units with the installed programs' paths in them, the user, the run-time directory.

systemd_units = systemd/emberd.service systemd/ember-broker.service
systemdsystemunit_DATA = $(systemd_units) systemd/ember-broker.socket
sysusers_DATA = systemd/sysusers.d/ember.conf
tmpfiles_DATA = systemd/tmpfiles.d/ember.conf

$(systemd_units): %: %.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed \
		-e 's|@sbindir[@]|$(sbindir)|g' \
		-e 's|@libexecdir[@]|$(libexecdir)|g' \
		$< > $@.tmp && mv $@.tmp $@

CLEANFILES += $(systemd_units)
EXTRA_DIST += systemd/emberd.service.in systemd/ember-broker.service.in \
	systemd/ember-broker.socket $(sysusers_DATA) $(tmpfiles_DATA)

# On the machine itself (not into a staging directory) the user, the directory and the units are
# made known at once, so that `systemctl enable --now emberd` is the only step left.
install-data-hook:
	@if test -z "$(DESTDIR)" && test -d /run/systemd/system && test "$$(id -u)" = 0; then \
		systemd-sysusers "$(sysusersdir)/ember.conf" && \
		systemd-tmpfiles --create "$(tmpfilesdir)/ember.conf" && \
		systemctl daemon-reload; \
	fi

if TESTS_WANTED
TESTS += tests/unit/systemd/test_units
EXTRA_DIST += tests/unit/systemd/test_units
endif
