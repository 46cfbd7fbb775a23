/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/checks.h"

#include <stdbool.h>

#include "lib/base/cleanup.h"

enum nsid_rule {
	NSID_NONE,	  /* 0 */
	NSID_NONE_OR_ALL, /* 0 or FFFFFFFFh */
	NSID_ONE,	  /* a namespace */
	NSID_ONE_OR_ALL,  /* a namespace or FFFFFFFFh */
	NSID_AFTER,	  /* lists begin after it: 0 to FFFFFFFDh */
	NSID_ANY,
};

static const char *check_nsid(enum nsid_rule rule, uint32_t nsid)
{
	bool one = nsid >= 1 && nsid <= 0xfffffffe, fits = false;

	switch (rule) {
	case NSID_NONE:
		fits = nsid == 0;
		break;
	case NSID_NONE_OR_ALL:
		fits = nsid == 0 || nsid == EM_NSID_ALL;
		break;
	case NSID_ONE:
		fits = one;
		break;
	case NSID_ONE_OR_ALL:
		fits = one || nsid == EM_NSID_ALL;
		break;
	case NSID_AFTER:
		fits = nsid <= 0xfffffffd;
		break;
	case NSID_ANY:
		fits = true;
		break;
	}
	return fits ? NULL : "this NSID does not fit the page";
}

/* NVMe Base 2.0, figure 273; pages that need a command set identifier are left out. */
static const struct cns {
	uint8_t cns;
	enum nsid_rule nsid;
	bool cntid; /* takes a controller identifier */
} identify_pages[] = {
	{ 0x00, NSID_ONE_OR_ALL, false }, /* namespace */
	{ 0x01, NSID_NONE, false },	  /* controller */
	{ 0x02, NSID_AFTER, false },	  /* active namespaces */
	{ 0x03, NSID_ONE, false },	  /* namespace identification descriptors */
	{ 0x04, NSID_NONE, true },	  /* NVM sets, from this one on */
	{ 0x08, NSID_ONE, false },	  /* namespace, independent of the command set */
	{ 0x10, NSID_AFTER, false },	  /* allocated namespaces */
	{ 0x11, NSID_ONE, false },	  /* allocated namespace */
	{ 0x12, NSID_ONE, true },	  /* controllers a namespace is attached to */
	{ 0x13, NSID_NONE, true },	  /* controllers of the subsystem */
	{ 0x14, NSID_NONE, true },	  /* primary controller capabilities */
	{ 0x15, NSID_NONE, true },	  /* secondary controllers */
	{ 0x16, NSID_NONE, false },	  /* namespace granularity */
	{ 0x17, NSID_NONE, false },	  /* UUIDs */
};

/* Log pages that reading with RAE=1 leaves as they are. */
static const struct lid {
	uint8_t lid;
	enum nsid_rule nsid;
	bool lsi; /* takes an endurance group or NVM set */
} log_pages[] = {
	{ 0x00, NSID_NONE_OR_ALL, false },	   /* supported log pages */
	{ EM_LID_ERROR, NSID_NONE_OR_ALL, false }, /* error information */
	{ EM_LID_SMART, NSID_ANY, false },	   /* SMART and health */
	{ 0x03, NSID_NONE_OR_ALL, false },	   /* firmware slots */
	{ 0x05, NSID_NONE_OR_ALL, false },	   /* commands supported and effects */
	{ 0x06, NSID_NONE_OR_ALL, false },	   /* self-test */
	{ 0x07, NSID_NONE_OR_ALL, false },	   /* telemetry that a host had captured */
	{ 0x08, NSID_NONE_OR_ALL, false },	   /* telemetry that the controller captured */
	{ 0x09, NSID_NONE_OR_ALL, true },	   /* endurance group */
	{ 0x0a, NSID_NONE_OR_ALL, true },	   /* predictable latency, per NVM set */
	{ 0x12, NSID_NONE_OR_ALL, false },	   /* features supported and effects */
	{ 0x13, NSID_NONE_OR_ALL, false },	   /* NVMe-MI commands supported and effects */
	{ 0x81, NSID_NONE_OR_ALL, false },	   /* sanitize status */
	{ 0xc1, NSID_NONE_OR_ALL, false }, /* Memblaze, read latency; C3h is consumed by reading */
	{ 0xc2, NSID_NONE_OR_ALL, false }, /* Memblaze, write latency */
	{ 0xca, NSID_NONE_OR_ALL, false }, /* Memblaze and others, additional SMART */
	{ 0xd0, NSID_NONE_OR_ALL, false }, /* Memblaze, latency */
	{ 0xd1, NSID_NONE_OR_ALL, false }, /* Memblaze, high latency */
	{ 0xd2, NSID_NONE_OR_ALL, false }, /* Memblaze, performance */
};

/* Features: how many bytes come with it, beside completion dword 0. */
static const struct fid {
	uint8_t fid;
	enum nsid_rule nsid;
	uint16_t size;
} features[] = {
	{ 0x01, NSID_NONE_OR_ALL, 0 },		/* arbitration */
	{ 0x02, NSID_NONE_OR_ALL, 0 },		/* power management */
	{ 0x04, NSID_NONE_OR_ALL, 0 },		/* temperature threshold */
	{ 0x05, NSID_ANY, 0 },			/* error recovery */
	{ 0x06, NSID_NONE_OR_ALL, 0 },		/* volatile write cache */
	{ 0x07, NSID_NONE_OR_ALL, 0 },		/* number of queues */
	{ 0x08, NSID_NONE_OR_ALL, 0 },		/* interrupt coalescing */
	{ 0x0a, NSID_NONE_OR_ALL, 0 },		/* write atomicity */
	{ EM_FID_EVENTS, NSID_NONE_OR_ALL, 0 }, /* asynchronous events */
	{ 0x0c, NSID_NONE_OR_ALL, 256 },	/* autonomous power state transitions */
	{ 0x0e, NSID_NONE_OR_ALL, 8 },		/* timestamp */
	{ 0x10, NSID_NONE_OR_ALL, 0 },		/* host controlled thermal management */
	{ 0x11, NSID_NONE_OR_ALL, 0 },		/* non-operational power state config */
	{ 0x16, NSID_NONE_OR_ALL, 512 },	/* host behavior support */
	{ 0x17, NSID_NONE_OR_ALL, 0 },		/* sanitize config */
	{ 0x84, NSID_ONE, 0 },			/* namespace write protection */
	{ 0xd0, NSID_NONE, 0 },			/* Memblaze, latency recording */
	{ 0xe1, NSID_NONE, 0 },			/* Memblaze, high latency threshold (older) */
	{ 0xe2, NSID_NONE, 32 },		/* Memblaze, latency statistics (older) */
};

/*
 * Security protocols: what a drive tells of itself to anybody. All else under protocol 1 and above
 * belongs to a session, and reading it would take the answer away from whoever holds that session.
 */
static const struct secp {
	uint8_t secp;
	uint16_t spsp;
} security_pages[] = {
	{ 0x00, 0x0000 }, /* the protocols that the drive has */
	{ 0x01, 0x0001 }, /* TCG level-0 discovery */
};

#define SELECT_MAX 3 /* current, default, saved, supported capabilities */

const char *em_check_identify(const struct em_ipc_request *request)
{
	if (request->len != EM_IDENTIFY_SIZE)
		return "Identify returns 4096 bytes";
	if (request->offset || request->lsp || request->arg)
		return "Identify takes neither offset nor arguments";
	for (size_t i = 0; i < EM_COUNT(identify_pages); i++) {
		if (identify_pages[i].cns != request->page)
			continue;
		if (request->lsi && !identify_pages[i].cntid)
			return "this Identify page takes no controller identifier";
		return check_nsid(identify_pages[i].nsid, request->nsid);
	}
	return "this Identify page is not on the list";
}

static const char *check_log_range(const struct em_ipc_request *request)
{
	if (request->len == 0 || request->len % 4 || request->len > EM_IPC_DATA_MAX)
		return "the length must be whole dwords, at most 16 MiB";
	if (request->offset % 4 || request->offset + request->len < request->offset)
		return "the offset must be whole dwords";
	return NULL;
}

const char *em_check_get_log(const struct em_ipc_request *request)
{
	const char *problem = check_log_range(request);

	if (problem)
		return problem;
	if (request->lsp || request->arg)
		return "no log specific parameter may be given";
	for (size_t i = 0; i < EM_COUNT(log_pages); i++) {
		if (log_pages[i].lid != request->page)
			continue;
		if (request->lsi && !log_pages[i].lsi)
			return "this log page takes no identifier";
		return check_nsid(log_pages[i].nsid, request->nsid);
	}
	return "this log page is not on the list";
}

const char *em_check_get_feature(const struct em_ipc_request *request)
{
	if (request->lsp > SELECT_MAX)
		return "no such selection of a feature";
	if (request->lsi || request->offset || request->arg)
		return "Get Features takes neither offset nor arguments";
	for (size_t i = 0; i < EM_COUNT(features); i++) {
		if (features[i].fid != request->page)
			continue;
		if (request->len != (request->lsp == SELECT_MAX ? 0 : features[i].size))
			return "the length does not fit the feature";
		return check_nsid(features[i].nsid, request->nsid);
	}
	return "this feature is not on the list";
}

/*
 * Any page, one command each: what reading consumes must not be read twice, and what begins
 * something must not begin it anew with each part.
 */
const char *em_check_identify_any(const struct em_ipc_request *request)
{
	if (request->len != EM_IDENTIFY_SIZE)
		return "Identify returns 4096 bytes";
	if (request->offset || request->lsp || request->arg)
		return "Identify takes neither offset nor arguments";
	return NULL;
}

const char *em_check_get_log_any(const struct em_ipc_request *request)
{
	const char *problem = check_log_range(request);

	if (problem)
		return problem;
	if (request->len > EM_IDENTIFY_SIZE)
		return "a page that is not on the list is read by one command, 4096 bytes at most";
	if (request->lsp > EM_LSP_MAX || request->arg)
		return "a log specific parameter has 7 bits";
	return NULL;
}

const char *em_check_get_feature_any(const struct em_ipc_request *request)
{
	if (request->lsp > SELECT_MAX)
		return "no such selection of a feature";
	if (request->lsi || request->offset || request->arg)
		return "Get Features takes neither offset nor arguments";
	if (request->len > EM_IDENTIFY_SIZE || request->len % 4)
		return "the length must be whole dwords, at most 4096 bytes";
	return NULL;
}

const char *em_check_security_receive(const struct em_ipc_request *request)
{
	if (request->len == 0 || request->len % 4 || request->len > EM_SECURITY_SIZE_MAX)
		return "the length must be whole dwords, at most 4096 bytes";
	if (request->offset || request->lsp || request->arg)
		return "Security Receive takes neither offset nor arguments";
	for (size_t i = 0; i < EM_COUNT(security_pages); i++)
		if (security_pages[i].secp == request->page &&
		    security_pages[i].spsp == request->lsi)
			return check_nsid(NSID_NONE, request->nsid);
	return "this security protocol is not on the list";
}

const char *em_check_persistent_events(const struct em_ipc_request *request)
{
	const char *problem = check_log_range(request);

	if (problem)
		return problem;
	if (request->page != EM_LID_EVENTS)
		return "the persistent event log is page 0Dh";
	if (request->len > EM_IPC_INLINE_MAX)
		return "at most 65536 bytes of it are read at once";
	if (request->lsp || request->lsi || request->arg)
		return "the persistent event log takes no arguments";
	return check_nsid(NSID_NONE_OR_ALL, request->nsid);
}

const char *em_check_acknowledge(const struct em_ipc_request *request)
{
	if (request->page != EM_LID_ERROR && request->page != EM_LID_SMART)
		return "only events of log pages 01h and 02h are acknowledged";
	if (request->len > EM_IDENTIFY_SIZE || request->offset)
		return "an acknowledgement reads at most 4096 bytes from the start";
	if (request->nsid != 0 && request->nsid != EM_NSID_ALL)
		return "events belong to the controller";
	return em_check_get_log(request);
}

const char *em_check_arm(const struct em_ipc_request *request)
{
	if (request->arg == 0 || request->arg & ~EM_EVENTS_SMART)
		return "only bits 4:0 of feature 0Bh can be set";
	if (request->page != 0 && request->page != EM_FID_EVENTS)
		return "only feature 0Bh can be set";
	if (request->len || request->offset || request->lsp || request->lsi)
		return "arming takes the bits alone";
	return check_nsid(NSID_NONE_OR_ALL, request->nsid);
}

const char *em_check_self_test(const struct em_ipc_request *request)
{
	if (request->page != EM_STC_SHORT && request->page != EM_STC_EXTENDED &&
	    request->page != EM_STC_ABORT)
		return "only a short or an extended self-test can be started, or one be aborted";
	if (request->len || request->offset || request->lsp || request->lsi || request->arg)
		return "a self-test takes its code and a namespace alone";
	/* The controller alone, one namespace, or all: each number is one of these. */
	return check_nsid(NSID_ANY, request->nsid);
}
