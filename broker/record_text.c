/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/record_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "broker/identify.h"
#include "lib/base/le.h"
#include "lib/base/text.h"

#define LINE_BYTES   16u
#define STATUS_BEGIN "at = 0s "

const char *em_record_outcome(const struct em_outcome *outcome, char *buf, size_t size)
{
	switch (outcome->answer) {
	case EM_ANSWER_STATUS:
		snprintf(buf, size, "refused with status 0x%x", outcome->status);
		break;
	case EM_ANSWER_TIMEOUT:
	case EM_ANSWER_STUCK:
		snprintf(buf, size, "no answer within the patience");
		break;
	case EM_ANSWER_BUSY:
		snprintf(buf, size, "Linux is resetting the controller");
		break;
	case EM_ANSWER_GONE:
		snprintf(buf, size, "the drive is gone");
		break;
	case EM_ANSWER_HOST_ERROR:
		snprintf(buf, size, "%s", strerror(outcome->err));
		break;
	default:
		snprintf(buf, size, "%s", em_answer_name(outcome->answer));
	}
	return buf;
}

/* ---- what Linux tells ------------------------------------------------------------------------ */

/* One line, that means itself: %n would be a number, and blanks around do not stay. */
static bool is_plain(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7e)
			return false;
	return *text && !strstr(text, "%n");
}

static void add_value(struct em_buf *out, const char *key, const char *value)
{
	if (is_plain(value))
		em_buf_addf(out, "%s = %s\n", key, value);
	else if (*value)
		em_buf_addf(out, "# %s: has characters that cannot stand here\n", key);
}

static bool is_pcie(const struct em_recorded *r)
{
	return strcmp(r->info.transport, "pcie") == 0;
}

static void add_place(struct em_buf *out, const struct em_recorded *r, bool masked)
{
	const struct em_ipc_drive *i = &r->info;

	add_value(out, "transport", i->transport);
	if (is_pcie(r) || !masked)
		add_value(out, "address", i->address);
	add_value(out, "slot", r->slot);
	add_value(out, "numa_node", i->numa_node);
	add_value(out, "link_speed", i->link_speed);
	add_value(out, "link_speed_max", i->link_speed_max);
	add_value(out, "link_width", i->link_width);
	add_value(out, "link_width_max", i->link_width_max);
	add_value(out, "device_id", r->device_id);
	add_value(out, "subsystem_vendor", r->subsystem_vendor);
	add_value(out, "subsystem_device", r->subsystem_device);
	if (strcmp(i->state, "live") != 0)
		add_value(out, "state", i->state);
}

/* Where the drive itself did not tell. */
static void add_identity(struct em_buf *out, const struct em_recorded *r)
{
	const struct em_ipc_drive *i = &r->info;
	char text[EM_IPC_STRING_MAX];

	if (em_recorded_identify(r))
		return;
	add_value(out, "vid", r->vendor);
	add_value(out, "serial", em_text_clean(text, sizeof(text), i->serial, strlen(i->serial)));
	add_value(out, "model", em_text_clean(text, sizeof(text), i->model, strlen(i->model)));
	add_value(out, "firmware",
		  em_text_clean(text, sizeof(text), i->firmware, strlen(i->firmware)));
}

/* Unless it follows from Identify, as with Linux. */
static void add_nqn(struct em_buf *out, const struct em_recorded *r)
{
	const uint8_t *identify = em_recorded_identify(r);
	const char *nqn = r->info.subsystem_nqn;
	char text[EM_IPC_STRING_MAX];

	if (em_recorded_is_made(nqn) || (identify && strncmp((const char *)identify + EM_ID_SUBNQN,
							     nqn, EM_ID_SUBNQN_SIZE) == 0))
		return;
	add_value(out, "nqn", em_text_clean(text, sizeof(text), nqn, strlen(nqn)));
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* As xxd writes them, without the lines that are all zero: what is left out is zero. */
static void add_dump(struct em_buf *out, const uint8_t *data, size_t len)
{
	for (size_t at = 0; at < len; at += LINE_BYTES) {
		size_t n = len - at < LINE_BYTES ? len - at : LINE_BYTES;

		if (em_bytes_all(data + at, n, 0))
			continue;
		em_buf_addf(out, "%08zx:", at);
		for (size_t i = 0; i < n; i++)
			em_buf_addf(out, "%s%02x", i % 2 ? "" : " ", data[at + i]);
		em_buf_addc(out, '\n');
	}
	em_buf_adds(out, ">>\n");
}

static const struct em_recorded_namespace *namespace_of(const struct em_recorded *r, uint32_t nsid)
{
	for (unsigned i = 0; i < r->namespace_count; i++)
		if (r->namespaces[i].nsid == nsid)
			return &r->namespaces[i];
	return NULL;
}

/* Its page says all; the line before makes the disk that Linux has. */
static void add_namespace(struct em_buf *out, const struct em_recorded *r,
			  const struct em_recorded_page *page)
{
	const struct em_recorded_namespace *ns = namespace_of(r, page->request.nsid);
	unsigned flbas = page->data[EM_NS_FLBAS], format = (flbas & 0x0f) | (flbas >> 5 & 3) << 4;
	uint8_t shift = page->data[EM_NS_LBAF + 4 * format + 2];
	uint64_t blocks = em_le64(page->data + EM_NS_NSZE);

	/* The simulator's disks have blocks of 512 or of 4096 bytes. */
	if (shift > 20)
		shift = 9;
	em_buf_addf(out, "namespace = %u %llu %u", page->request.nsid,
		    (unsigned long long)(blocks << shift), shift == 12 ? 4096 : 512);
	if (ns && ns->node)
		em_buf_addf(out, " node %u", ns->node);
	em_buf_addf(out, "\nnamespace-page = %u <<\n", page->request.nsid);
	add_dump(out, page->data, page->request.len);
}

/* One namespace that did not come takes no other with it. */
static void add_refusal(struct em_buf *out, const struct em_recorded_page *page)
{
	const struct em_ipc_request *q = &page->request;
	const char *name = q->op == EM_OP_IDENTIFY  ? "identify"
			   : q->op == EM_OP_GET_LOG ? "get-log"
						    : "security-receive";
	char text[128];

	em_buf_addf(out, "# %s 0x%02x", name, q->page);
	if (em_recorded_is_namespace(page))
		em_buf_addf(out, " of namespace %u", q->nsid);
	em_buf_addf(out, ": %s\n", em_record_outcome(&page->outcome, text, sizeof(text)));
	if (page->outcome.answer == EM_ANSWER_STATUS && !em_recorded_is_namespace(page))
		em_buf_addf(out, STATUS_BEGIN "refuse %s 0x%02x 0x%x\n", name, q->page,
			    page->outcome.status);
}

static void add_page(struct em_buf *out, const struct em_recorded *r,
		     const struct em_recorded_page *page, bool sister)
{
	if (!page->data && page->outcome.answer != EM_ANSWER_DONE)
		add_refusal(out, page);
	else if (!page->key || !page->data || (sister && !em_recorded_is_own(page)))
		return;
	else if (em_recorded_is_namespace(page))
		add_namespace(out, r, page);
	else {
		em_buf_addf(out, "%s = <<\n", page->key);
		add_dump(out, page->data, page->request.len);
	}
}

/* A drive that never answered plays as one. */
static void add_silence(struct em_buf *out, const struct em_recorded *r)
{
	const struct em_recorded_page *last = r->page_count ? &r->pages[r->page_count - 1] : NULL;

	if (!r->cut || !last)
		return;
	em_buf_adds(out, "# Nothing more was asked of it.\n");
	if (em_recorded_count(r) == 0 && last->outcome.answer == EM_ANSWER_TIMEOUT)
		em_buf_adds(out, STATUS_BEGIN "hang\n");
}

void em_record_text(struct em_buf *out, const struct em_recorded *r,
		    const struct em_recorded *leader, bool masked)
{
	em_buf_addf(out, "\n[drive nvme%u]\n", r->number);
	if (leader)
		em_buf_addf(out, "controller_of = nvme%u\n", leader->number);
	else
		em_buf_adds(out, "product = recorded\n");
	add_place(out, r, masked);
	if (!leader)
		add_nqn(out, r);
	add_identity(out, r);
	for (unsigned i = 0; i < r->page_count; i++)
		add_page(out, r, &r->pages[i], leader != NULL);
	if (r->namespaces_left_out)
		em_buf_addf(out, "# %u more namespaces are left out.\n", r->namespaces_left_out);
	add_silence(out, r);
}

static bool same_namespaces(const struct em_recorded *a, const struct em_recorded *b)
{
	if (a->namespace_count != b->namespace_count)
		return false;
	for (unsigned i = 0; i < a->namespace_count; i++)
		if (a->namespaces[i].nsid != b->namespaces[i].nsid)
			return false;
	return true;
}

bool em_record_are_sisters(const struct em_recorded *a, const struct em_recorded *b)
{
	return a->info.subsystem_nqn[0] && a->info.serial[0] &&
	       strcmp(a->info.controller_type, "discovery") != 0 &&
	       strcmp(a->info.subsystem_nqn, b->info.subsystem_nqn) == 0 &&
	       strcmp(a->info.serial, b->info.serial) == 0 && same_namespaces(a, b);
}
