/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * checks - which pages may be asked for, and with which numbers.
 *
 * A page is in a table only when reading it (with the event retained) changes nothing in the
 * drive: no telemetry or persistent-event context is created, no vendor queue is consumed.
 *
 * The checks of the operations that read any page (class arm) know no table: they bound one
 * command.
 *
 * Each check returns NULL, or what is wrong with the request (a static text).
 * Threads: pure functions.
 */
#include "lib/ipc/proto.h"

#define EM_NSID_ALL	     0xffffffffu
#define EM_LID_ERROR	     0x01
#define EM_LID_SMART	     0x02
#define EM_FID_EVENTS	     0x0b
#define EM_EVENTS_SMART	     0x1fu /* bits 4:0 of feature 0Bh: the SMART critical warnings */
#define EM_IDENTIFY_SIZE     4096u
#define EM_SECURITY_SIZE_MAX 4096u
#define EM_LSP_MAX	     0x7fu
#define EM_LID_EVENTS	     0x0d
/* Self-test codes of Device Self-test. */
#define EM_STC_SHORT	0x1
#define EM_STC_EXTENDED 0x2
#define EM_STC_ABORT	0xf

const char *em_check_identify(const struct em_ipc_request *request);
const char *em_check_get_log(const struct em_ipc_request *request);
const char *em_check_get_feature(const struct em_ipc_request *request);
const char *em_check_identify_any(const struct em_ipc_request *request);
const char *em_check_get_log_any(const struct em_ipc_request *request);
const char *em_check_get_feature_any(const struct em_ipc_request *request);
/* The list of security protocols and TCG level-0 discovery, and nothing that opens a session. */
const char *em_check_security_receive(const struct em_ipc_request *request);
/* The persistent event log, whose context is released before the answer. */
const char *em_check_persistent_events(const struct em_ipc_request *request);
const char *em_check_acknowledge(const struct em_ipc_request *request);
const char *em_check_arm(const struct em_ipc_request *request);
const char *em_check_self_test(const struct em_ipc_request *request);
