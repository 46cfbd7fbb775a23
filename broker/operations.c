/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/operations.h"

#include <libnvme.h>

#include "broker/checks.h"
#include "lib/base/le.h"

/* Every controller takes transfers of 4096 bytes, whatever its MDTS. */
#define LOG_CHUNK 4096u

/* NVMe Base 2.0, Get Log Page: command dwords 10 to 13. */
#define LOG_RAE	      (1u << 15)
#define LOG_LSP(lsp)  ((uint32_t)(lsp) << 8)
#define LOG_NUMDL(nd) ((uint32_t)(nd) << 16)
#define LOG_NUMDU(nd) ((uint32_t)(nd) >> 16)
#define LOG_LSI(lsi)  ((uint32_t)(lsi) << 16)

static void identify(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
		     uint8_t *data, struct em_outcome *ret)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_identify,
		.nsid = request->nsid,
		.addr = (uintptr_t)data,
		.data_len = request->len,
		.cdw10 = request->page | (uint32_t)request->lsi << 16,
		.timeout_ms = timeout_ms,
	};

	/* NVM sets are named in another dword than controllers. */
	if (request->page == NVME_IDENTIFY_CNS_NVMSET_LIST) {
		cmd.cdw10 = request->page;
		cmd.cdw11 = request->lsi;
	}
	em_execute(fd, &cmd, ret);
}

static void log_chunk(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
		      uint32_t at, bool retain, uint8_t *data, struct em_outcome *ret)
{
	uint32_t left = request->len - at, len = left < LOG_CHUNK ? left : LOG_CHUNK;
	uint32_t dwords = len / 4 - 1; /* zero-based */
	uint64_t offset = request->offset + at;
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_get_log_page,
		.nsid = request->nsid,
		.addr = (uintptr_t)(data + at),
		.data_len = len,
		.cdw10 = request->page | LOG_LSP(request->lsp) | (retain ? LOG_RAE : 0) |
			 LOG_NUMDL(dwords),
		.cdw11 = LOG_NUMDU(dwords) | LOG_LSI(request->lsi),
		.cdw12 = (uint32_t)offset,
		.cdw13 = (uint32_t)(offset >> 32),
		.timeout_ms = timeout_ms,
	};

	em_execute(fd, &cmd, ret);
}

static void get_log(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
		    uint8_t *data, struct em_outcome *ret)
{
	for (uint32_t at = 0; at < request->len; at += LOG_CHUNK) {
		log_chunk(fd, request, timeout_ms, at, true, data, ret);
		if (ret->answer != EM_ANSWER_DONE)
			return;
	}
}

/* The checks keep it to one chunk: the read that ends the event. */
static void acknowledge_event(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
			      uint8_t *data, struct em_outcome *ret)
{
	log_chunk(fd, request, timeout_ms, 0, false, data, ret);
}

static void get_feature(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
			uint8_t *data, struct em_outcome *ret)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_get_features,
		.nsid = request->nsid,
		.addr = request->len ? (uintptr_t)data : 0,
		.data_len = request->len,
		.cdw10 = request->page | (uint32_t)request->lsp << 8,
		.timeout_ms = timeout_ms,
	};

	em_execute(fd, &cmd, ret);
}

/* NVMe Base 2.0, Security Receive: protocol and its own field in dword 10, length in dword 11. */
static void security_receive(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
			     uint8_t *data, struct em_outcome *ret)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_security_recv,
		.addr = (uintptr_t)data,
		.data_len = request->len,
		.cdw10 = (uint32_t)request->page << 24 | (uint32_t)request->lsi << 8,
		.cdw11 = request->len,
		.timeout_ms = timeout_ms,
	};

	em_execute(fd, &cmd, ret);
}

/* The kernel has bits of its own in there: read, add ours, write back. */
static void arm_events(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
		       uint8_t *data, struct em_outcome *ret)
{
	struct nvme_passthru_cmd get = {
		.opcode = nvme_admin_get_features,
		.cdw10 = EM_FID_EVENTS,
		.timeout_ms = timeout_ms,
	};
	struct nvme_passthru_cmd set = {
		.opcode = nvme_admin_set_features,
		.cdw10 = EM_FID_EVENTS,
		.timeout_ms = timeout_ms,
	};

	(void)data;
	em_execute(fd, &get, ret);
	if (ret->answer != EM_ANSWER_DONE)
		return;
	set.cdw11 = ret->result | request->arg;
	em_execute(fd, &set, ret);
	if (ret->answer == EM_ANSWER_DONE)
		ret->result = set.cdw11;
}

/* Begins one, or ends the one that runs: the drive answers at once and goes on by itself. */
static void self_test(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
		      uint8_t *data, struct em_outcome *ret)
{
	struct nvme_passthru_cmd cmd = {
		.opcode = nvme_admin_dev_self_test,
		.nsid = request->nsid,
		.cdw10 = request->page,
		.timeout_ms = timeout_ms,
	};

	(void)data;
	em_execute(fd, &cmd, ret);
}

/*
 * So much of the log as there is: drives refuse to be read beyond its end, which nobody knows
 * before. What is not there stays zero. One that begins beyond it is the drive's to refuse.
 */
static uint32_t events_left(const uint8_t *header, const struct em_ipc_request *request)
{
	uint64_t total = em_le64(header + 8), left;

	if (total <= request->offset || total > UINT64_MAX - 3)
		return request->len;
	left = (total - request->offset + 3) & ~UINT64_C(3);
	return left < request->len ? (uint32_t)left : request->len;
}

/*
 * The log can only be read in a context, and a controller has one for all who ask: it is released
 * whatever becomes of the reading, or nobody could ever establish another. NVMe Base 2.0,
 * Persistent Event Log, action field.
 */
static void persistent_events(int fd, const struct em_ipc_request *request, uint32_t timeout_ms,
			      uint8_t *data, struct em_outcome *ret)
{
	enum { ESTABLISH = 1, RELEASE = 2, HEADER = 512 };
	struct em_ipc_request step = *request, part;
	struct em_outcome release = { 0 };
	uint8_t header[HEADER];

	step.offset = 0;
	step.len = HEADER;
	step.lsp = ESTABLISH;
	log_chunk(fd, &step, timeout_ms, 0, true, header, ret);
	if (ret->answer != EM_ANSWER_DONE)
		return;
	part = *request;
	part.len = events_left(header, request);
	get_log(fd, &part, timeout_ms, data, ret);
	step.lsp = RELEASE;
	log_chunk(fd, &step, timeout_ms, 0, true, header, &release);
	if (ret->answer == EM_ANSWER_DONE && release.answer != EM_ANSWER_DONE)
		*ret = release;
}

static const struct em_operation operations[EM_OP_COUNT] = {
	[EM_OP_IDENTIFY] = { 0, em_check_identify, identify },
	[EM_OP_GET_LOG] = { 0, em_check_get_log, get_log },
	[EM_OP_GET_FEATURE] = { 0, em_check_get_feature, get_feature },
	[EM_OP_IDENTIFY_ANY] = { 0, em_check_identify_any, identify },
	[EM_OP_GET_LOG_ANY] = { 0, em_check_get_log_any, get_log },
	[EM_OP_GET_FEATURE_ANY] = { 0, em_check_get_feature_any, get_feature },
	[EM_OP_ACKNOWLEDGE_EVENT] = { 0, em_check_acknowledge, acknowledge_event },
	[EM_OP_ARM_EVENTS] = { 0, em_check_arm, arm_events },
	[EM_OP_SELF_TEST] = { 0, em_check_self_test, self_test },
	[EM_OP_NAMESPACE_CREATE] = { 0, NULL, NULL },
	[EM_OP_NAMESPACE_ATTACH] = { 0, NULL, NULL },
	[EM_OP_NAMESPACE_DETACH] = { 0, NULL, NULL },
	[EM_OP_FIRMWARE_DOWNLOAD] = { 0, NULL, NULL },
	[EM_OP_FIRMWARE_COMMIT] = { 0, NULL, NULL },
	[EM_OP_NAMESPACE_DELETE] = { 0, NULL, NULL },
	[EM_OP_FORMAT] = { 0, NULL, NULL },
	[EM_OP_SANITIZE] = { 0, NULL, NULL },
	[EM_OP_SECURITY_RECEIVE] = { 0, em_check_security_receive, security_receive },
	[EM_OP_PERSISTENT_EVENTS] = { 0, em_check_persistent_events, persistent_events },
};

const struct em_operation *em_operation_find(enum em_op op)
{
	return (unsigned)op < EM_OP_COUNT ? &operations[op] : NULL;
}
