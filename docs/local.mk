# SPDX-License-Identifier: BSD-2-Clause
# Owns the installation of the manuals and the texts for people.

dist_man_MANS += docs/gmcast.1
dist_doc_DATA += README.md
