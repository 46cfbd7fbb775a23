/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/audit.h"

#include <string.h>

#include "lib/base/log.h"
#include "lib/base/text.h"

static bool is_refusal(enum em_answer answer)
{
	return answer == EM_ANSWER_DENIED || answer == EM_ANSWER_NEEDS_CONFIRMATION ||
	       answer == EM_ANSWER_INVALID || answer == EM_ANSWER_NOT_SUPPORTED;
}

bool em_audit_wanted(enum em_op op, enum em_answer answer)
{
	return em_op_class(op) != EM_CLASS_READ || is_refusal(answer);
}

void em_audit_write(const struct em_audit *audit)
{
	const char *serial = audit->serial ? audit->serial : "";
	char clean[EM_IPC_STRING_MAX];
	struct em_log_fields fields = {
		.device = audit->device,
		.operation = em_op_name(audit->op),
		.class_name = em_class_name(em_op_class(audit->op)),
		.answer = em_answer_name(audit->answer),
		.peer_pid = audit->pid,
		.peer_uid = audit->uid,
		.has_peer = 1,
	};

	if (!em_audit_wanted(audit->op, audit->answer))
		return;
	em_text_clean(clean, sizeof(clean), serial, strlen(serial));
	em_log(is_refusal(audit->answer) ? LOG_WARNING : LOG_NOTICE, &fields,
	       "%s (class %s, page %02Xh) on %s (serial %s) for pid %ld (uid %ld): %s%s%s",
	       fields.operation, fields.class_name, audit->page,
	       audit->device ? audit->device : "no drive", *clean ? clean : "unknown",
	       (long)audit->pid, (long)audit->uid, fields.answer, audit->detail ? ": " : "",
	       audit->detail ? audit->detail : "");
}
