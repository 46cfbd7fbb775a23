/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * items - log page CAh of Memblaze drives: a list of items, each with an id, a normalised byte and
 * six raw bytes. The last byte of the page is the layout (0, 2 or 3), and an id means what it does
 * only in its layout. Items are found by their id, never by their place.
 *
 * Threads:  pure functions. Blocking: never.
 * Errors:   a short page, an unknown layout or a missing item: false. Of two items with one id the
 *           first counts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/nvme/field.h"

#define EM_ITEMS_BYTES	   512u
#define EM_ITEMS_LAYOUT_AT (EM_ITEMS_BYTES - 1) /* the byte that tells the layout */
#define EM_ITEMS_MAX	   51u			/* in any layout */
#define EM_ITEM_RAW_BYTES  6u

/* An item in one form, whatever its layout: id, normalised, raw. */
#define EM_ITEM_BYTES (2 + EM_ITEM_RAW_BYTES)

/* Copies item number index (from 0). False: there is no such one, or it is not in use (id 0). */
bool em_items_get(const uint8_t *page, size_t len, unsigned index, uint8_t item[EM_ITEM_BYTES]);

/* Where a value of a row stands in the page. */
bool em_items_place(const struct em_place *places, const uint8_t *page, size_t len,
		    uint16_t *offset, uint16_t *bytes);
