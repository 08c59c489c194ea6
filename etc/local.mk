# SPDX-License-Identifier: BSD-2-Clause
# Owns the installation of the sample configuration, the sample scenarios and the units.

EXTRA_DIST += etc/gatewayd.conf etc/noded.conf etc/gatewayd.service.in etc/gmcast.sysusers etc/gmcast.tmpfiles

# Scenarios for sim-wan run, as examples too.
scenariodir = $(docdir)/examples/scenarios
dist_scenario_DATA = etc/scenarios/bursts.conf etc/scenarios/messages.conf etc/scenarios/random.conf \
	etc/scenarios/shared-uplink.conf etc/scenarios/staging.conf

if WITH_DAEMONS
# As examples, beside the documents: a package or a person puts them in place.
exampledir = $(docdir)/examples
dist_example_DATA = etc/gatewayd.conf etc/noded.conf etc/gmcast.sysusers etc/gmcast.tmpfiles
nodist_example_DATA = etc/gatewayd.service
CLEANFILES += etc/gatewayd.service

etc/gatewayd.service: $(top_srcdir)/etc/gatewayd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && sed -e 's|@sbindir[@]|$(sbindir)|g' \
		-e 's|@sysconfdir[@]|$(sysconfdir)|g' $(top_srcdir)/etc/gatewayd.service.in > $@
endif
