# SPDX-License-Identifier: BSD-2-Clause
# Owns the build and installation of the examples. They see installed headers and the shared library
# alone, as programs of others do. mpi_bcast.c is built by its test, with mpicc.

EXTRA_DIST += examples/.includes

examplesdir = $(docdir)/examples
dist_examples_DATA = examples/publisher.c examples/subscriber.c examples/sensor.c examples/mpi_bcast.c

if WITH_DAEMONS
noinst_PROGRAMS += examples/publisher examples/subscriber examples/sensor
EXAMPLE_CPPFLAGS = -D_POSIX_C_SOURCE=200809L -I$(top_srcdir)/libgmcast/include
examples_publisher_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_publisher_LDADD = libgmcast.la
examples_subscriber_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_subscriber_LDADD = libgmcast.la
examples_sensor_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
examples_sensor_LDADD = libgmcast.la
endif
