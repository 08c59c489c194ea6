dnl SPDX-License-Identifier: BSD-2-Clause
dnl Owns the configure options of gmcast and the compiler flags that they select.

# GMC_ARG_DAEMONS: --disable-daemons builds and tests the core without libevent and ZeroMQ.
AC_DEFUN([GMC_ARG_DAEMONS], [
    AC_ARG_ENABLE([daemons],
        [AS_HELP_STRING([--disable-daemons], [build only the core, the simulator and their tests])],
        [], [enable_daemons=yes])
    AM_CONDITIONAL([WITH_DAEMONS], [test "$enable_daemons" = yes])
])

# GMC_ARG_IPSEC_MB: AES-GCM by libipsec-mb (BSD-3-Clause; x86-64 only) in place of libcrypto's.
AC_DEFUN([GMC_ARG_IPSEC_MB], [
    AC_ARG_WITH([ipsec-mb],
        [AS_HELP_STRING([--with-ipsec-mb],
            [seal with the Multi-Buffer library: several times as fast (default: if it is there)])],
        [], [with_ipsec_mb=auto])
    AS_IF([test "$with_ipsec_mb" != no], [
        ipsec_mb_found=no
        AC_CHECK_HEADER([intel-ipsec-mb.h],
            [AC_CHECK_LIB([IPSec_MB], [init_mb_mgr_auto], [ipsec_mb_found=yes])])
        AS_IF([test "$with_ipsec_mb" = yes && test "$ipsec_mb_found" = no],
            [AC_MSG_ERROR([--with-ipsec-mb needs libipsec-mb 1.1 (package libipsec-mb-dev)])])
        with_ipsec_mb=$ipsec_mb_found
    ])
    AS_IF([test "$with_ipsec_mb" = yes], [
        IPSEC_MB_CFLAGS=-DGMC_WITH_IPSEC_MB
        IPSEC_MB_LIBS=-lIPSec_MB
    ])
    AC_SUBST([IPSEC_MB_CFLAGS])
    AC_SUBST([IPSEC_MB_LIBS])
])

# GMC_ARG_ISAL: repairs of groups by ISA-L (BSD-3-Clause; x86-64 and arm64) in place of plain C.
AC_DEFUN([GMC_ARG_ISAL], [
    AC_ARG_WITH([isal],
        [AS_HELP_STRING([--with-isal],
            [compute repairs of groups by ISA-L: ten times as fast and more (default: if it is there)])],
        [], [with_isal=auto])
    AS_IF([test "$with_isal" != no], [
        isal_wish=$with_isal
        PKG_CHECK_MODULES([ISAL], [libisal >= 2.16], [with_isal=yes], [with_isal=no])
        AS_IF([test "$isal_wish" = yes && test "$with_isal" = no],
            [AC_MSG_ERROR([--with-isal needs ISA-L (package libisal-dev)])])
    ])
    AS_IF([test "$with_isal" = yes], [ISAL_CFLAGS="$ISAL_CFLAGS -DGMC_WITH_ISAL"])
    AC_SUBST([ISAL_CFLAGS])
    AC_SUBST([ISAL_LIBS])
])

# GMC_ARG_LIBFABRIC: nodes are reached over libfabric (BSD-2-Clause or GPL-2). Its headers are all that
# a build needs; the library is loaded when the option fabric asks for it.
AC_DEFUN([GMC_ARG_LIBFABRIC], [
    AC_ARG_WITH([libfabric],
        [AS_HELP_STRING([--with-libfabric],
            [gateway and nodes may use the cluster's interconnect by libfabric (default: if it is there)])],
        [], [with_libfabric=auto])
    AS_IF([test "$enable_daemons" != yes], [with_libfabric=no])
    AS_IF([test "$with_libfabric" != no], [
        libfabric_wish=$with_libfabric
        PKG_CHECK_MODULES([LIBFABRIC], [libfabric >= 1.11],
            [AC_SEARCH_LIBS([dlopen], [dl], [with_libfabric=yes], [with_libfabric=no])],
            [with_libfabric=no])
        AS_IF([test "$libfabric_wish" = yes && test "$with_libfabric" = no],
            [AC_MSG_ERROR([--with-libfabric needs libfabric 1.11 (package libfabric-dev)])])
    ])
    AM_CONDITIONAL([WITH_LIBFABRIC], [test "$with_libfabric" = yes])
])

# GMC_ARG_MPI: --with-mpi lets sim-wan run spread seeds over the ranks of mpirun.
AC_DEFUN([GMC_ARG_MPI], [
    AC_ARG_WITH([mpi],
        [AS_HELP_STRING([--with-mpi], [sim-wan run spreads seeds over MPI ranks])],
        [], [with_mpi=no])
    AS_IF([test "$with_mpi" != no], [
        PKG_CHECK_MODULES([MPI], [ompi-c], [], [
            PKG_CHECK_MODULES([MPI], [mpich], [],
                [AC_MSG_ERROR([--with-mpi needs Open MPI or MPICH (package libopenmpi-dev)])])
        ])
        AC_DEFINE([HAVE_MPI], [1], [sim-wan run can use MPI])
    ])
])

AC_DEFUN([GMC_ARG_WERROR], [
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])],
        [], [enable_werror=no])
])

# GMC_ARG_SANITIZERS: --enable-sanitizers=address,undefined or =thread. A finding ends the program.
AC_DEFUN([GMC_ARG_SANITIZERS], [
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers=LIST], [e.g. address,undefined or thread])],
        [], [enable_sanitizers=no])
    AS_IF([test "$enable_sanitizers" = yes], [enable_sanitizers=address,undefined])
    INSTRUMENT_CFLAGS=
    INSTRUMENT_LDFLAGS=
    AS_IF([test "$enable_sanitizers" != no], [
        AC_DEFINE([GMC_SANITIZERS], [1], [Memory comes from the sanitizer.])
        INSTRUMENT_LDFLAGS="-fsanitize=$enable_sanitizers"
        INSTRUMENT_CFLAGS="$INSTRUMENT_LDFLAGS -fno-sanitize-recover=all -fno-omit-frame-pointer"
    ])
])

AC_DEFUN([GMC_ARG_COVERAGE], [
    AC_ARG_ENABLE([coverage],
        [AS_HELP_STRING([--enable-coverage], [build with gcov counters])],
        [], [enable_coverage=no])
    AS_IF([test "$enable_coverage" = yes], [
        INSTRUMENT_CFLAGS="$INSTRUMENT_CFLAGS --coverage"
        INSTRUMENT_LDFLAGS="$INSTRUMENT_LDFLAGS --coverage"
    ])
])

# GMC_ARG_FUZZERS: --enable-fuzzers links the fuzz targets with clang's libFuzzer. Without it they
# replay their corpus in make check.
AC_DEFUN([GMC_ARG_FUZZERS], [
    AC_ARG_ENABLE([fuzzers],
        [AS_HELP_STRING([--enable-fuzzers], [link fuzz targets with libFuzzer (needs CC=clang)])],
        [], [enable_fuzzers=no])
    AS_IF([test "$enable_fuzzers" = yes], [
        INSTRUMENT_CFLAGS="$INSTRUMENT_CFLAGS -fsanitize=fuzzer-no-link"
        FUZZ_ENGINE=-fsanitize=fuzzer
        GMC_CHECK_CC_FLAG([-fsanitize=fuzzer-no-link], [],
            [AC_MSG_ERROR([--enable-fuzzers needs a compiler with libFuzzer: CC=clang])])
    ])
    AM_CONDITIONAL([WITH_FUZZERS], [test "$enable_fuzzers" = yes])
    AM_CONDITIONAL([INSTRUMENTED], [test -n "$INSTRUMENT_CFLAGS"])
    AC_SUBST([INSTRUMENT_CFLAGS])
    AC_SUBST([INSTRUMENT_LDFLAGS])
    AC_SUBST([FUZZ_ENGINE])
])

# GMC_CHECK_CC_FLAG(FLAG, IF-YES, IF-NO): whether the compiler takes FLAG without a warning.
AC_DEFUN([GMC_CHECK_CC_FLAG], [
    AC_MSG_CHECKING([whether $CC takes $1])
    gmc_saved_cflags=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
        [CFLAGS=$gmc_saved_cflags; AC_MSG_RESULT([yes]); $2],
        [CFLAGS=$gmc_saved_cflags; AC_MSG_RESULT([no]); $3])
])

# GMC_WARNINGS: WARN_CFLAGS for our own code, EXACT_CFLAGS for code whose decisions have to be the
# same with each compiler (no fused multiply-add).
AC_DEFUN([GMC_WARNINGS], [
    WARN_CFLAGS=
    for gmc_flag in -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla; do
        GMC_CHECK_CC_FLAG([$gmc_flag], [WARN_CFLAGS="$WARN_CFLAGS $gmc_flag"])
    done
    AS_IF([test "$enable_werror" = yes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
    EXACT_CFLAGS=
    GMC_CHECK_CC_FLAG([-ffp-contract=off], [EXACT_CFLAGS=-ffp-contract=off])
    AC_SUBST([WARN_CFLAGS])
    AC_SUBST([EXACT_CFLAGS])
])
