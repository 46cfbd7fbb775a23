/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * policy - what root allows: per class of operation, for all drives, this host or one drive.
 *
 * policy.conf: [default], [host NAME] and [drive SERIAL] with keys named after the classes and the
 * values allow, confirm and deny. A drive's line wins over the host's, that over the default's.
 * Without a file: read, arm, test are allowed, the rest needs confirmation.
 *
 * Owns:     a policy is immutable once loaded. Threads: pure but for loading. Blocking: see conf.h.
 * Errors:   as em_conf_read(), with its sentence. Limits: EM_POLICY_DRIVES_MAX drive sections.
 */
#include "broker/conf.h"
#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"

#define EM_POLICY_DRIVES_MAX 4096

enum em_verdict { EM_VERDICT_ALLOW, EM_VERDICT_CONFIRM, EM_VERDICT_DENY };
const char *em_verdict_name(enum em_verdict verdict);

/* What belongs to a class, as a sentence; and what holds for it without a file. */
const char *em_policy_class_help(enum em_class cls);
enum em_verdict em_policy_built_in(enum em_class cls);

struct em_policy;

/* hostname decides which [host NAME] counts, without regard to case. */
int em_policy_load(const char *path, const char *hostname, struct em_policy **ret,
		   char error[EM_CONF_ERROR_SIZE]);
/* The policy of a machine without a file. -ENOMEM. */
int em_policy_default(struct em_policy **ret);
struct em_policy *em_policy_free(struct em_policy *policy);
EM_DEFINE_CLEANUP(struct em_policy, em_policy_free)

/* serial: as sysfs says; blanks around it do not count. */
enum em_verdict em_policy_judge(const struct em_policy *policy, enum em_class cls,
				const char *serial);
