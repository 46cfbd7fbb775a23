# SPDX-License-Identifier: Apache-2.0
# Tools of the bench; tests/bench/run makes them.
BENCH_TOOLS = tests/bench/load tests/bench/ingest
EXTRA_PROGRAMS += $(BENCH_TOOLS)
CLEANFILES += $(BENCH_TOOLS)
EXTRA_DIST += tests/bench/run tests/bench/bench.py tests/bench/bench_drives.py \
	tests/bench/bench_history.py tests/bench/bench_http.py
tests_bench_load_SOURCES = tests/bench/load.c
tests_bench_load_LDADD = lib/base/libember-base.a
tests_bench_ingest_SOURCES = tests/bench/ingest.c
tests_bench_ingest_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
tests_bench_ingest_LDADD = $(daemon_emberd_LDADD)
