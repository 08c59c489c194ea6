# SPDX-License-Identifier: BSD-2-Clause
# Owns the checks that make runs and the targets lint and ci.

dist_check_SCRIPTS += scripts/check-includes scripts/check-purity scripts/check-headers
TESTS += scripts/check-includes scripts/check-purity scripts/check-headers
EXTRA_DIST += scripts/build-optimised scripts/demo scripts/install-deps scripts/lint scripts/spelling-words scripts/ci \
	scripts/check-foreign scripts/check-static scripts/check-valgrind scripts/cppcheck-suppressions scripts/memcheck

if INSTRUMENTED
GMC_INSTRUMENTED = yes
else
GMC_INSTRUMENTED = no
endif
if !WITH_DAEMONS
GMC_ABSENT = fabric gatewayd noded tools
endif

# What the checks have to know of this build.
CHECK_ENVIRONMENT = \
	CC='$(CC)'; NM='$(NM)'; OBJDUMP='$(OBJDUMP)'; export CC NM OBJDUMP; \
	GMC_INSTRUMENTED='$(GMC_INSTRUMENTED)'; export GMC_INSTRUMENTED; \
	GMC_PURE_LIBS='$(PURE_LIBS)'; export GMC_PURE_LIBS; \
	GMC_ABSENT='$(GMC_ABSENT)'; export GMC_ABSENT; \
	GMC_PURE_FLAGS='$(PURE_CPPFLAGS) $(OPENSSL_CFLAGS) -std=c11 $(WARN_CFLAGS)'; \
	export GMC_PURE_FLAGS; \
	GMC_HOST_FLAGS='$(HOST_CPPFLAGS) $(ALL_DEPS_CFLAGS) -std=c11 $(WARN_CFLAGS)'; \
	export GMC_HOST_FLAGS;
ALL_DEPS_CFLAGS = $(OPENSSL_CFLAGS) $(OPENSSL_SSL_CFLAGS) $(LIBEVENT_CFLAGS) $(LIBZMQ_CFLAGS) \
	$(LIBCONFUSE_CFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS) $(LIBFABRIC_CFLAGS)

lint: $(BUILT_SOURCES) $(PURE_LIBS)
	@$(AM_TESTS_ENVIRONMENT) \
	CLANG_FORMAT='$(CLANG_FORMAT)'; SHELLCHECK='$(SHELLCHECK)'; CODESPELL='$(CODESPELL)'; \
	export CLANG_FORMAT SHELLCHECK CODESPELL; \
	scripts='$(top_srcdir)/scripts'; status=0; \
	$$scripts/lint || status=1; \
	$$scripts/check-includes || status=1; \
	$$scripts/check-purity || test $$? = 77 || status=1; \
	$$scripts/check-headers || status=1; \
	exit $$status

# Put all sources into the form that lint asks for.
format:
	cd $(top_srcdir) && find $(FORMAT_FOLDERS) -name '*.[ch]' -exec $(CLANG_FORMAT) -i {} +
FORMAT_FOLDERS = libgmcast fabric gatewayd noded sim-wan interconnect experiments tools tests

# How far check-static, check-valgrind and check-foreign go: all, or short as make ci does.
SCOPE = all
WITH_SCOPE = case '$(SCOPE)' in all | short) ;; \
	*) echo "SCOPE is '$(SCOPE)': all or short is possible" >&2; exit 1 ;; esac; $(AM_TESTS_ENVIRONMENT)

# What readers of sources find.
check-static: $(BUILT_SOURCES)
	@$(WITH_SCOPE) $(top_srcdir)/scripts/check-static $(SCOPE)

# Memory: what a test uses, and whether it gives it back.
check-valgrind: all
	@$(WITH_SCOPE) MAKE='$(MAKE)' \
	    $(top_srcdir)/scripts/check-valgrind $(SCOPE) $(check_PROGRAMS)

# Core and simulator on machines with other words than this one's.
FOREIGN = i386 s390x
check-foreign: all
	@$(WITH_SCOPE) MAKE='$(MAKE)' $(top_srcdir)/scripts/check-foreign $(SCOPE) $(FOREIGN)

# sim-wan once more, for long simulations: optimised/sim-wan/sim-wan. OPTIMISED= names other targets.
optimised:
	@MAKE='$(MAKE)' CC='$(CC)' $(top_srcdir)/scripts/build-optimised '$(abs_top_srcdir)' \
	    '$(abs_top_builddir)' $${OPTIMISED:-sim-wan/sim-wan}

# CI_STEPS="static core" runs only those.
ci:
	@MAKE='$(MAKE)' $(top_srcdir)/scripts/ci '$(abs_top_srcdir)' '$(abs_top_builddir)' $(CI_STEPS)

clean-local:
	rm -rf ci optimised experiments-out foreign fuzz-corpus
.PHONY: lint format check-foreign check-static check-valgrind optimised ci
