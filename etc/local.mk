# SPDX-License-Identifier: BSD-2-Clause
# Owns the installation of the sample configuration, the sample scenarios and the units.

EXTRA_DIST += etc/gatewayd.conf etc/noded.conf etc/daemon.service.in etc/gmcast.sysusers etc/gmcast.tmpfiles

# Scenarios for sim-wan run, as examples too.
scenariodir = $(docdir)/examples/scenarios
dist_scenario_DATA = etc/scenarios/bursts.conf etc/scenarios/messages.conf etc/scenarios/random.conf \
	etc/scenarios/shared-uplink.conf etc/scenarios/staging.conf

if WITH_DAEMONS
# As examples, beside the documents: a package or a person puts them in place.
exampledir = $(docdir)/examples
dist_example_DATA = etc/gatewayd.conf etc/noded.conf etc/gmcast.sysusers etc/gmcast.tmpfiles
nodist_example_DATA = etc/gatewayd.service etc/gmcast-noded.service
CLEANFILES += $(nodist_example_DATA)

UNIT = sed -e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g'
UNIT_IN = $(top_srcdir)/etc/daemon.service.in
etc/gatewayd.service: $(UNIT_IN) Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && $(UNIT) -e 's|@daemon[@]|gatewayd|g' -e 's|@conf[@]|gatewayd.conf|g' \
		-e 's|@role[@]|gateway|g' $(UNIT_IN) > $@
etc/gmcast-noded.service: $(UNIT_IN) Makefile
	$(AM_V_GEN)$(MKDIR_P) etc && $(UNIT) -e 's|@daemon[@]|gmcast-noded|g' -e 's|@conf[@]|noded.conf|g' \
		-e 's|@role[@]|node|g' $(UNIT_IN) > $@
endif
