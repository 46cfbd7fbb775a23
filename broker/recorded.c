/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "broker/checks.h"
#include "broker/identify.h"
#include "broker/sysfs.h"
#include "lib/base/le.h"

#define KEY_IDENTIFY  "identify-page"
#define KEY_NAMESPACE "namespace-page"
#define SLOTS	      "/sys/bus/pci/slots"

#define OACS_SECURITY  (1u << 0)
#define OACS_SELF_TEST (1u << 4)
#define LPA_EFFECTS    (1u << 1)
#define LPA_EXTENDED   (1u << 2)
#define LPA_SUPPORTED  (1u << 5)
#define VID_MEMBLAZE   0x1c5f
#define TYPE_DISCOVERY 2
#define VER_1_1	       0x00010100u

#define OPCODE_SELF_TEST	0x14
#define OPCODE_SECURITY_RECEIVE 0x82
#define CNS_LIST		0x02
#define ERROR_ENTRY_BYTES	64u

/* A bit of the byte at that place of Identify Controller. */
static bool announces(const struct em_recorded *r, unsigned at, unsigned bit)
{
	const uint8_t *id = em_recorded_identify(r);

	return id && id[at] & bit;
}

static bool is_discovery(const struct em_recorded *r)
{
	const uint8_t *id = em_recorded_identify(r);

	return strcmp(r->info.controller_type, "discovery") == 0 ||
	       (id && id[EM_ID_CNTRLTYPE] == TYPE_DISCOVERY);
}

/* Unless the drive tells its commands and this one is not among them. */
static bool has_command(const struct em_recorded *r, uint8_t opcode)
{
	const struct em_recorded_page *effects = em_recorded_find(r, "effects-page");

	return !effects || effects->data[4 * opcode] & 1;
}

/* ---- how many bytes of a page are wanted; 0: the drive does not announce it ------------------ */

static uint32_t wants_identify(const struct em_recorded *r)
{
	(void)r;
	return EM_IDENTIFY_SIZE;
}

static uint32_t wants_effects(const struct em_recorded *r)
{
	return announces(r, EM_ID_LPA, LPA_EFFECTS) ? 4096 : 0;
}

static uint32_t wants_mandatory(const struct em_recorded *r)
{
	return is_discovery(r) ? 0 : 512;
}

/* Without the extended form no log is read from an offset on. */
static uint32_t wants_errors(const struct em_recorded *r)
{
	const uint8_t *id = em_recorded_identify(r);
	uint32_t len = id ? (id[EM_ID_ELPE] + 1u) * ERROR_ENTRY_BYTES : 0;

	if (is_discovery(r))
		return 0;
	return len > 4096 && !(id[EM_ID_LPA] & LPA_EXTENDED) ? 4096 : len;
}

static uint32_t wants_self_test(const struct em_recorded *r)
{
	return announces(r, EM_ID_OACS, OACS_SELF_TEST) && has_command(r, OPCODE_SELF_TEST) ? 564
											    : 0;
}

static uint32_t wants_sanitize(const struct em_recorded *r)
{
	const uint8_t *id = em_recorded_identify(r);

	return id && em_le32(id + EM_ID_SANICAP) ? 512 : 0;
}

static uint32_t wants_supported(const struct em_recorded *r)
{
	return announces(r, EM_ID_LPA, LPA_SUPPORTED) ? 1024 : 0;
}

/* By who made the controller: what others have there, reading may change. */
static uint32_t wants_memblaze(const struct em_recorded *r)
{
	const uint8_t *id = em_recorded_identify(r);

	return id && em_le16(id + EM_ID_VID) == VID_MEMBLAZE ? 512 : 0;
}

static uint32_t wants_security(const struct em_recorded *r)
{
	return announces(r, EM_ID_OACS, OACS_SECURITY) && has_command(r, OPCODE_SECURITY_RECEIVE)
		       ? 2048
		       : 0;
}

static uint32_t wants_list(const struct em_recorded *r)
{
	const uint8_t *id = em_recorded_identify(r);

	return id && !is_discovery(r) && em_le32(id + EM_ID_VER) >= VER_1_1 ? EM_IDENTIFY_SIZE : 0;
}

/* Effects come before what they tell of. */
static const struct step {
	const char *key;
	enum em_op op;
	uint8_t code;
	uint16_t specific;
	bool own;
	uint32_t (*wants)(const struct em_recorded *r);
} steps[] = {
	{ KEY_IDENTIFY, EM_OP_IDENTIFY, 0x01, 0, true, wants_identify },
	{ "effects-page", EM_OP_GET_LOG, 0x05, 0, true, wants_effects },
	{ "supported-page", EM_OP_GET_LOG, 0x00, 0, true, wants_supported },
	{ "smart-page", EM_OP_GET_LOG, EM_LID_SMART, 0, false, wants_mandatory },
	{ "error-page", EM_OP_GET_LOG, EM_LID_ERROR, 0, true, wants_errors },
	{ "firmware-page", EM_OP_GET_LOG, 0x03, 0, false, wants_mandatory },
	{ "selftest-page", EM_OP_GET_LOG, 0x06, 0, false, wants_self_test },
	{ "sanitize-page", EM_OP_GET_LOG, 0x81, 0, false, wants_sanitize },
	{ "vendor-page", EM_OP_GET_LOG, 0xca, 0, false, wants_memblaze },
	{ "security-page", EM_OP_SECURITY_RECEIVE, 0x01, 0x0001, false, wants_security },
	{ NULL, EM_OP_IDENTIFY, CNS_LIST, 0, false, wants_list },
};

static void ask_step(const struct step *step, uint32_t len, struct em_ipc_request *ret)
{
	*ret = (struct em_ipc_request){
		.op = step->op,
		.page = step->code,
		.lsi = step->specific,
		.nsid = step->op == EM_OP_GET_LOG ? EM_NSID_ALL : 0,
		.len = len,
	};
}

bool em_recorded_next(struct em_recorded *r, struct em_ipc_request *ret, const char **ret_key)
{
	while (!r->cut && r->step < EM_COUNT(steps)) {
		const struct step *step = &steps[r->step++];
		uint32_t len = step->wants(r);

		if (len == 0)
			continue;
		ask_step(step, len, ret);
		*ret_key = step->key;
		return true;
	}
	if (r->cut || r->next_namespace >= r->namespace_count)
		return false;
	*ret = (struct em_ipc_request){
		.op = EM_OP_IDENTIFY,
		.nsid = r->namespaces[r->next_namespace++].nsid,
		.len = EM_IDENTIFY_SIZE,
	};
	*ret_key = KEY_NAMESPACE;
	return true;
}

/* ---- what came ------------------------------------------------------------------------------- */

static void add_namespace(struct em_recorded *r, uint32_t nsid)
{
	if (r->namespace_count == EM_RECORDED_NAMESPACES_MAX)
		r->namespaces_left_out++;
	else
		r->namespaces[r->namespace_count++].nsid = nsid;
}

/* A list that does not ascend is none. */
static void take_list(struct em_recorded *r, const uint8_t *list)
{
	uint32_t last = 0;

	for (unsigned i = 0; i < EM_IDENTIFY_SIZE / 4; i++) {
		uint32_t nsid = em_le32(list + 4 * i);

		if (nsid <= last || nsid > EM_NSID_ALL - 2)
			return;
		add_namespace(r, nsid);
		last = nsid;
	}
}

/* NVMe 1.0 has no list: they are 1 to NN. */
static void count_namespaces(struct em_recorded *r, const uint8_t *id)
{
	uint32_t count = em_le32(id + EM_ID_NN);

	if (wants_list(r) || is_discovery(r))
		return;
	for (uint32_t nsid = 1; nsid <= count && nsid <= EM_RECORDED_NAMESPACES_MAX; nsid++)
		add_namespace(r, nsid);
}

static int keep_page(struct em_recorded *r, const struct em_recorded_page *page,
		     const uint8_t *data)
{
	struct em_recorded_page *more =
		reallocarray(r->pages, r->page_count + 1, sizeof(*r->pages));

	if (!more)
		return -ENOMEM;
	r->pages = more;
	more += r->page_count;
	*more = *page;
	if (data) {
		more->data = malloc(page->request.len);
		if (!more->data)
			return -ENOMEM;
		memcpy(more->data, data, page->request.len);
	}
	r->page_count++;
	return 0;
}

int em_recorded_take(struct em_recorded *r, const struct em_ipc_request *request, const char *key,
		     const struct em_outcome *outcome, const uint8_t *data)
{
	const struct em_recorded_page page = { .key = key,
					       .request = *request,
					       .outcome = *outcome };
	bool came = outcome->answer == EM_ANSWER_DONE;
	int e = keep_page(r, &page, came ? data : NULL);

	if (e < 0)
		return e;
	r->cut = !came && outcome->answer != EM_ANSWER_STATUS;
	if (came && !key)
		take_list(r, data);
	else if (came && strcmp(key, KEY_IDENTIFY) == 0)
		count_namespaces(r, data);
	return 0;
}

const struct em_recorded_page *em_recorded_find(const struct em_recorded *r, const char *key)
{
	for (unsigned i = 0; i < r->page_count; i++)
		if (r->pages[i].data && r->pages[i].key && strcmp(r->pages[i].key, key) == 0)
			return &r->pages[i];
	return NULL;
}

uint8_t *em_recorded_identify(const struct em_recorded *r)
{
	const struct em_recorded_page *page = em_recorded_find(r, KEY_IDENTIFY);

	return page ? page->data : NULL;
}

bool em_recorded_is_namespace(const struct em_recorded_page *page)
{
	return page->key && strcmp(page->key, KEY_NAMESPACE) == 0;
}

bool em_recorded_is_own(const struct em_recorded_page *page)
{
	for (unsigned i = 0; page->key && i < EM_COUNT(steps); i++)
		if (steps[i].key && strcmp(page->key, steps[i].key) == 0)
			return steps[i].own;
	return false;
}

unsigned em_recorded_count(const struct em_recorded *r)
{
	unsigned count = 0;

	for (unsigned i = 0; i < r->page_count; i++)
		count += r->pages[i].data && r->pages[i].key;
	return count;
}

/* ---- what Linux tells ------------------------------------------------------------------------ */

bool em_recorded_is_made(const char *nqn)
{
	/* Others say 2014-08. */
	static const char begin[] = "nqn.2014.08.org.nvmexpress:";

	return strncmp(nqn, begin, strlen(begin)) == 0;
}

/* A slot has the address of a device, without its function. */
static void find_slot(struct em_recorded *r)
{
	size_t len = strcspn(r->info.address, ".");
	DIR *dir = len ? opendir(SLOTS) : NULL;
	char path[PATH_MAX], address[64];
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof(r->slot))
			continue;
		snprintf(path, sizeof(path), SLOTS "/%s", e->d_name);
		em_sysfs_read(path, "address", address, sizeof(address));
		if (strlen(address) == len && strncmp(address, r->info.address, len) == 0)
			strcpy(r->slot, e->d_name);
	}
	if (dir)
		closedir(dir);
}

/* nvme0n1, and nvme0c1n1 where the disk belongs to several controllers: the node is n1. */
static bool node_of(const char *name, unsigned *ret)
{
	unsigned subsystem, controller;

	return sscanf(name, "nvme%un%u", &subsystem, ret) == 2 ||
	       sscanf(name, "nvme%uc%un%u", &subsystem, &controller, ret) == 3;
}

static void set_node(struct em_recorded *r, const char *nsid, unsigned node)
{
	for (unsigned i = 0; i < r->namespace_count; i++)
		if (r->namespaces[i].nsid == strtoul(nsid, NULL, 10))
			r->namespaces[i].node = node;
}

void em_recorded_find_nodes(struct em_recorded *r, const char *sysfs)
{
	DIR *dir = opendir(sysfs);
	char path[PATH_MAX], nsid[16];
	struct dirent *e;
	unsigned node;

	while (dir && (e = readdir(dir))) {
		if (!node_of(e->d_name, &node) ||
		    (size_t)snprintf(path, sizeof(path), "%s/%s", sysfs, e->d_name) >= sizeof(path))
			continue;
		if (em_sysfs_read(path, "nsid", nsid, sizeof(nsid)) > 0)
			set_node(r, nsid, node);
	}
	if (dir)
		closedir(dir);
}

int em_recorded_new(const struct em_ipc_drive *info, const char *sysfs, struct em_recorded **ret)
{
	struct em_recorded *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->info = *info;
	r->number = (unsigned)strtoul(info->device + strlen("nvme"), NULL, 10);
	em_sysfs_read(sysfs, "device/vendor", r->vendor, sizeof(r->vendor));
	em_sysfs_read(sysfs, "device/device", r->device_id, sizeof(r->device_id));
	em_sysfs_read(sysfs, "device/subsystem_vendor", r->subsystem_vendor,
		      sizeof(r->subsystem_vendor));
	em_sysfs_read(sysfs, "device/subsystem_device", r->subsystem_device,
		      sizeof(r->subsystem_device));
	find_slot(r);
	*ret = r;
	return 0;
}

struct em_recorded *em_recorded_free(struct em_recorded *r)
{
	if (!r)
		return NULL;
	for (unsigned i = 0; i < r->page_count; i++)
		free(r->pages[i].data);
	free(r->pages);
	free(r);
	return NULL;
}
