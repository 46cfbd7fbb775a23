# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += docs/fields.md docs/names/fields.txt docs/names/metrics.txt

# build-aux/check-docs.sh fails while these differ from the field tables.
update-docs: lib/nvme/fields-doc
	lib/nvme/fields-doc md >$(srcdir)/docs/fields.md
	lib/nvme/fields-doc keys >$(srcdir)/docs/names/fields.txt
	lib/nvme/fields-doc metrics >$(srcdir)/docs/names/metrics.txt
