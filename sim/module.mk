# SPDX-License-Identifier: Apache-2.0
noinst_PROGRAMS += sim/ember-sim sim/ember-sim-preload.so
# All but main(): the fuzz target of scenario files is made of them too.
sim_parts = sim/server.c sim/server.h sim/kernel.c sim/uevent.c \
	sim/control.c sim/scenario.c sim/scenario.h sim/tree.c sim/tree.h sim/model.c sim/model.h \
	sim/model_identify.c sim/memblaze.c sim/memblaze_logs.c sim/rates.c sim/products.c sim/security.c sim/event_log.c sim/telemetry.c \
	sim/values.c sim/wire.h
sim_ember_sim_SOURCES = sim/main.c $(sim_parts)
sim_ember_sim_LDADD = lib/base/libember-base.a $(LIBSYSTEMD_LIBS)

# The library comes before every other in the programs that run among simulated drives, whatever
# they were built with: so it is built without sanitizers and without _FORTIFY_SOURCE.
sim_ember_sim_preload_so_SOURCES = sim/preload.h sim/preload_paths.c sim/preload_files.c \
	sim/preload_device.c sim/preload_uevent.c sim/wire.h
sim_ember_sim_preload_so_CPPFLAGS = -I$(top_srcdir) -U_FORTIFY_SOURCE $(EMBER_FEATURES)
sim_ember_sim_preload_so_CFLAGS = $(EMBER_CFLAGS) -fPIC
sim_ember_sim_preload_so_LDFLAGS = -shared -Wl,-soname,ember-sim-preload.so -Wl,-z,defs
sim_ember_sim_preload_so_LINK = $(CC) $(sim_ember_sim_preload_so_CFLAGS) \
	$(sim_ember_sim_preload_so_LDFLAGS) -o $@

EXTRA_DIST += sim/README.md sim/scenarios/default.conf sim/scenarios/fabrics.conf \
	sim/scenarios/multipath.conf sim/scenarios/thousand.conf sim/scenarios/wear.conf

# What a program on sd-device sees of the simulator; for tests/scenario/test_simulator.py.
noinst_PROGRAMS += tests/scenario/simulator/monitor
tests_scenario_simulator_monitor_SOURCES = tests/scenario/simulator/monitor.c
tests_scenario_simulator_monitor_CPPFLAGS = $(AM_CPPFLAGS) $(LIBSYSTEMD_CFLAGS)
tests_scenario_simulator_monitor_LDADD = $(LIBSYSTEMD_LIBS)
