/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/nvme/items.h"

#include <string.h>

#include "lib/base/cleanup.h"

struct layout {
	uint8_t stride, normalised, raw; /* 0 stride: not known */
};

/* By the byte at EM_ITEMS_LAYOUT_AT. The vendor's tool calls 1 not applicable. */
static const struct layout layouts[] = {
	[0] = { 12, 3, 5 },
	[2] = { 12, 3, 5 },
	[3] = { 10, 1, 2 },
};

static const struct layout *layout_of(const uint8_t *page, size_t len)
{
	const struct layout *layout;

	if (len < EM_ITEMS_BYTES || page[EM_ITEMS_LAYOUT_AT] >= EM_COUNT(layouts))
		return NULL;
	layout = &layouts[page[EM_ITEMS_LAYOUT_AT]];
	return layout->stride ? layout : NULL;
}

/* The slots that end before the layout byte. */
static unsigned slots_of(const struct layout *layout)
{
	return EM_ITEMS_LAYOUT_AT / layout->stride;
}

bool em_items_get(const uint8_t *page, size_t len, unsigned index, uint8_t item[EM_ITEM_BYTES])
{
	const struct layout *layout = layout_of(page, len);
	const uint8_t *slot;

	if (!layout || index >= slots_of(layout))
		return false;
	slot = page + index * layout->stride;
	item[0] = slot[0];
	item[1] = slot[layout->normalised];
	memcpy(item + 2, slot + layout->raw, EM_ITEM_RAW_BYTES);
	return item[0] != 0;
}

static const struct em_place *place_in(const struct em_place *places, unsigned layout)
{
	while (places->layouts && !(places->layouts >> layout & 1))
		places++;
	return places->layouts ? places : NULL;
}

bool em_items_place(const struct em_place *places, const uint8_t *page, size_t len,
		    uint16_t *offset, uint16_t *bytes)
{
	const struct layout *layout = layout_of(page, len);
	const struct em_place *place = layout ? place_in(places, page[EM_ITEMS_LAYOUT_AT]) : NULL;

	if (!place)
		return false;
	for (unsigned i = 0; i < slots_of(layout); i++) {
		unsigned at = i * layout->stride;

		if (page[at] != place->id)
			continue;
		*offset =
			(uint16_t)(at + (place->at == EM_AT_NORMALISED ? layout->normalised
								       : layout->raw + place->at));
		*bytes = place->len;
		return true;
	}
	return false;
}
