# SPDX-License-Identifier: BSD-2-Clause
# Owns the fuzz harness: with --enable-fuzzers a target is linked with libFuzzer and make check-fuzz
# runs it; otherwise it replays tests/fuzz/corpus/<target>/ in make check.

EXTRA_DIST += tests/fuzz/corpus

if !WITH_FUZZERS
check_LTLIBRARIES += tests/fuzz/libreplay.la
tests_fuzz_libreplay_la_SOURCES = tests/fuzz/replay_main.c
endif

# A target is two lines, in the local.mk of the folder that it tests:
#   FUZZ_TARGETS += tests/fuzz/fuzz_x
#   tests_fuzz_fuzz_x_LDADD = $(FUZZ_MAIN) $(GMC_BASE_LIBS)

# Seconds of engine per target.
FUZZ_SECONDS = 60

check-fuzz: $(FUZZ_TARGETS)
if WITH_FUZZERS
	@for t in $(FUZZ_TARGETS); do \
	    n=`basename $$t`; $(MKDIR_P) fuzz-corpus/$$n; echo "fuzz $$n"; \
	    ./$$t -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -verbosity=0 \
	        fuzz-corpus/$$n $(top_srcdir)/tests/fuzz/corpus/$$n || exit 1; \
	done
else
	@echo "check-fuzz: configure with CC=clang --enable-fuzzers" >&2; exit 1
endif
.PHONY: check-fuzz
