/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * log - one line to the journal when the journal reads our stderr ($JOURNAL_STREAM), else to
 * stderr with the <N> prefix that sd-daemon defines.
 *
 * The function that decides logs once; libraries below it return errors instead.
 * Threads: any, but em_log_init() before there are others. Blocking: as write(2) on stderr.
 */
#include <syslog.h>

/* Fields beside the text: a member of struct em_log_fields, and its name in the journal. */
#define EM_LOG_TEXTS(X)                                                                            \
	X(drive, "EM_DRIVE")	     /* id of the drive */                                         \
	X(device, "EM_DEVICE")	     /* nvme0 */                                                   \
	X(operation, "EM_OPERATION") /* name from lib/ipc/proto.h */                               \
	X(class_name, "EM_CLASS")    /* read, arm, test, provision, firmware, erase */             \
	X(answer, "EM_ANSWER")	     /* name from lib/ipc/proto.h */                               \
	X(message_id, "MESSAGE_ID")  /* 32 hexadecimal digits */
#define EM_LOG_NUMBERS(X)                                                                          \
	X(peer_pid, "EM_PEER_PID")                                                                 \
	X(peer_uid, "EM_PEER_UID")

#define EM_X(member, name) const char *member; /* NULL leaves it out */
struct em_log_fields {
	EM_LOG_TEXTS(EM_X)
#undef EM_X
#define EM_X(member, name) long member; /* only with has_peer */
	EM_LOG_NUMBERS(EM_X)
#undef EM_X
	int has_peer;
};

/* The levels by name, for whoever writes one; and what the names are, for the help. */
#define EM_LOG_LEVELS "error, warning, notice, info or debug"
/* -EINVAL, and *ret is untouched, when it is none of these. */
int em_log_level_find(const char *name, int *ret);
/* NULL when it is none of these. */
const char *em_log_level_name(int level);

/* name goes before each line on stderr and into SYSLOG_IDENTIFIER. max is LOG_ERR..LOG_DEBUG. */
void em_log_init(const char *name, int max);
/* After em_log_init(), for an answer to whoever typed a command: no <N>, in a pipe neither. */
void em_log_plain(void);
/* From any thread. */
void em_log_set_level(int max);
void em_log(int priority, const struct em_log_fields *fields, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define em_error(...)	em_log(LOG_ERR, NULL, __VA_ARGS__)
#define em_warning(...) em_log(LOG_WARNING, NULL, __VA_ARGS__)
#define em_notice(...)	em_log(LOG_NOTICE, NULL, __VA_ARGS__)
#define em_info(...)	em_log(LOG_INFO, NULL, __VA_ARGS__)
#define em_debug(...)	em_log(LOG_DEBUG, NULL, __VA_ARGS__)
