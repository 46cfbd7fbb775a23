/* SPDX-License-Identifier: Apache-2.0 */
/*
 * security - what drives with Security Receive answer: the list of their protocols, and TCG level-0
 * discovery, laid out descriptor by descriptor. It knows nothing of how Ember reads it.
 */
#include <errno.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "sim/model.h"

#define HEADER_BYTES 48u

/* Numbers of the page stand with their highest byte first. */
static void put_be(uint8_t *to, unsigned len, uint64_t value)
{
	while (len-- > 0) {
		to[len] = (uint8_t)value;
		value >>= 8;
	}
}

static unsigned descriptor(uint8_t *page, unsigned at, uint16_t code, uint8_t version, uint8_t len)
{
	put_be(page + at, 2, code);
	page[at + 2] = (uint8_t)(version << 4);
	page[at + 3] = len;
	return at + 4;
}

/* TPer, locking, geometry and Opal 2: what every encrypting drive here has. */
static unsigned lay_out_opal2(uint8_t *page, uint16_t comid)
{
	unsigned at = descriptor(page, HEADER_BYTES, 0x0001, 1, 12);

	page[at] = 0x11; /* synchronous, streaming */
	at = descriptor(page, at + 12, 0x0002, 1, 12);
	page[at] = 0x09; /* locking supported, media encryption */
	at = descriptor(page, at + 12, 0x0003, 1, 28);
	put_be(page + at + 8, 4, 512);
	put_be(page + at + 12, 8, 8);
	at = descriptor(page, at + 28, 0x0203, 2, 16);
	put_be(page + at, 2, comid);
	put_be(page + at + 2, 2, 1);
	put_be(page + at + 5, 2, 4); /* administrators */
	put_be(page + at + 7, 2, 9); /* users */
	return at + 16;
}

static unsigned lay_out_namespace_keys(uint8_t *page, unsigned at)
{
	at = descriptor(page, at, 0x0402, 1, 12);
	page[at] = 0x02; /* the owner is locked out until the next start */
	at = descriptor(page, at + 12, 0x0403, 1, 16);
	page[at] = 0xc0;	      /* ranges of both kinds */
	put_be(page + at + 4, 4, 32); /* keys */
	put_be(page + at + 8, 4, 31); /* not used */
	put_be(page + at + 12, 4, 9); /* ranges of one namespace */
	at = descriptor(page, at + 16, 0x0404, 1, 32);
	page[at + 2] = 0x06; /* block erase, crypto erase */
	at = descriptor(page, at + 32, 0xc001, 1, 4);
	put_be(page + at, 4, 0x5042415a); /* the vendor's own */
	return at + 4;
}

void sim_security_lay_out(uint8_t *page, bool namespace_keys)
{
	unsigned end;

	put_be(page + 4, 4, 1); /* revision of the structure */
	end = lay_out_opal2(page, namespace_keys ? 0x07fe : 0x1000);
	if (namespace_keys)
		end = lay_out_namespace_keys(page, end);
	put_be(page, 4, end - 4);
}

int sim_security_lock(struct sim_drive *drive, bool locked)
{
	enum { ENABLED = 0x02, LOCKED = 0x04 };
	uint8_t *page = drive->page[SIM_PAGE_SECURITY];
	unsigned at = HEADER_BYTES;

	while (at + 5 <= sim_page_size(SIM_PAGE_SECURITY) && (page[at] || page[at + 1])) {
		if (page[at] == 0 && page[at + 1] == 2 && page[at + 3] > 0) {
			page[at + 4] &= (uint8_t) ~(ENABLED | LOCKED);
			page[at + 4] |= locked ? ENABLED | LOCKED : 0;
			return 0;
		}
		at += 4u + page[at + 3];
	}
	return -ENOENT;
}

/* Bytes 6 and 7: how many protocols; then one byte each. */
static void protocols(struct sim_exec *x)
{
	uint8_t list[4096] = { 0 };

	list[7] = 2;
	list[9] = 0x01;
	sim_model_copy_list(x, list);
}

uint16_t sim_model_security_receive(struct sim_drive *drive, struct sim_exec *x)
{
	unsigned protocol = x->cmd->cdw10 >> 24, specific = x->cmd->cdw10 >> 8 & 0xffff;

	x->error_param = 40;
	if (x->cmd->cdw11 == 0)
		return 0;
	if (protocol == 0 && specific == 0)
		protocols(x);
	else if (protocol == 1 && specific == 1)
		sim_model_copy(drive, x, SIM_PAGE_SECURITY, drive->page[SIM_PAGE_SECURITY], 0,
			       x->cmd->cdw11);
	else
		return SIM_ST_FIELD;
	return 0;
}
