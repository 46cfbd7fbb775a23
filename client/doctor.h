/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * doctor - what is well with Ember on this host, what is not, and what to do about it.
 *
 * Each check adds findings to a list; nothing is changed and no drive is asked. Files are looked
 * for under root, so that a test can lay out a host of its own.
 *
 * Owns:     a report owns its texts.
 * Threads:  one. Blocking: on the disk, emberd, D-Bus, and the programs it asks for their version.
 * Errors:   what cannot be found out is a finding too; a report out of memory says so at the end.
 * Limits:   EM_FINDINGS_MAX findings.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "client/client.h"
#include "lib/base/buf.h"

#define EM_FINDINGS_MAX 256u

#define EM_DOCTOR_PATH_SIZE   1024
#define EM_DOCTOR_OUTPUT_SIZE (64u << 10)

/* What a finding means: nothing to do; worth a look; something does not work. */
#define EM_RESULTS(X)                                                                              \
	X(OK, "ok")                                                                                \
	X(WARN, "warn")                                                                            \
	X(FAIL, "fail")

#define EM_X(id, name) EM_RESULT_##id,
enum em_result { EM_RESULTS(EM_X) };
#undef EM_X
const char *em_result_name(enum em_result result);

/* Areas that are checked, in the order of the report. Names are public: scripts look for them. */
#define EM_CHECKS(X)                                                                               \
	X(USER, "user")                                                                            \
	X(KERNEL, "kernel")                                                                        \
	X(VERSIONS, "versions")                                                                    \
	X(UNITS, "units")                                                                          \
	X(CONFIGURATION, "configuration")                                                          \
	X(POLICY, "policy")                                                                        \
	X(EMBERD, "emberd")                                                                        \
	X(BROKER, "broker")                                                                        \
	X(LISTENERS, "listeners")                                                                  \
	X(CERTIFICATE, "certificate")                                                              \
	X(TOKENS, "tokens")                                                                        \
	X(DRIVES, "drives")                                                                        \
	X(PAGES, "pages")                                                                          \
	X(HISTORY, "history")                                                                      \
	X(DISK, "disk")                                                                            \
	X(CLOCK, "clock")                                                                          \
	X(TOOLS, "tools")

#define EM_X(id, name) EM_CHECK_##id,
enum em_check { EM_CHECKS(EM_X) EM_CHECK_COUNT };
#undef EM_X
const char *em_check_name(enum em_check check);

struct em_finding {
	enum em_check check;
	enum em_result result;
	char *summary;
	char *advice; /* NULL: nothing to do */
};

struct em_report {
	struct em_finding *findings;
	unsigned count;
	bool incomplete; /* no memory, or more than EM_FINDINGS_MAX */
};

/* advice NULL or "" = nothing to do. */
void em_report_add(struct em_report *report, enum em_check check, enum em_result result,
		   const char *advice, const char *summary, ...)
	__attribute__((format(printf, 5, 6)));
enum em_result em_report_worst(const struct em_report *report);
void em_report_done(struct em_report *report);

/* Options of emberd that other checks need, as `emberd --print-config` told them. */
struct em_doctor_config {
	bool known;
	char directory[512];   /* [store] */
	char admin_group[64];  /* [http] */
	char certificate[512]; /* [https] */
};

struct em_doctor {
	struct em_client *client;
	struct em_report report;
	const char *root;	 /* "" = this host as it is */
	const char *config_path; /* of emberd; NULL = its default */
	struct em_doctor_config config;
	char policy[512]; /* "firmware=deny\n" and so on, as the broker told it; "" = unknown */
	json_t *health;	  /* NULL: emberd was not reached */
	json_t *drives;	  /* their summaries; NULL: not known */
};

/* verb_doctor.c: the verb, for others. */
/* As `emberctl doctor --json` prints it; NULL: no memory. */
json_t *em_doctor_document(struct em_client *client, const char *config_path);
/* True when the emberd that is asked runs on this host. */
bool em_doctor_is_here(const struct em_client *client);

/* doctor_host.c: this machine. */
void em_doctor_user(struct em_doctor *doctor);
/* After em_doctor_emberd(). */
void em_doctor_kernel(struct em_doctor *doctor);
/* Names of the kernel's controllers; NULL: it has no NVMe driver. */
json_t *em_doctor_controllers(const char *root);
void em_doctor_disk(struct em_doctor *doctor);
/* How much of total is left decides; a finding of EM_CHECK_DISK about place. */
void em_doctor_space(struct em_report *report, const char *place, uint64_t free_bytes,
		     uint64_t total_bytes);
void em_doctor_clock(struct em_doctor *doctor);
void em_doctor_judge_clock(struct em_report *report, bool synchronised, int64_t now_us);

/* doctor_tools.c: other programs that use the drives. After em_doctor_policy(). */
void em_doctor_tools(struct em_doctor *doctor);
/* directory: "/proc/17", below root. */
typedef void em_doctor_process_fn(void *userdata, const char *directory, const char *name);
void em_doctor_each_process(const char *root, em_doctor_process_fn *fn, void *userdata);

/* doctor_run.c: Ember's own programs, asked. */
/* Where it was installed to, else wherever $PATH has it. */
bool em_doctor_find_program(const char *installed, char path[EM_DOCTOR_PATH_SIZE]);
/*
 * Its exit status, or -errno. output has EM_DOCTOR_OUTPUT_SIZE bytes and takes what it says,
 * complaints included.
 */
int em_doctor_run(char *const argv[], char *output);
/* The same into a buffer, cut at its limit. */
int em_doctor_run_long(char *const argv[], struct em_buf *output);
/* The first line of such an output, without what stands there for systemd. Cuts it. */
const char *em_doctor_complaint(char *output);

/* doctor_setup.c: what is installed, and how. */
void em_doctor_versions(struct em_doctor *doctor);
void em_doctor_units(struct em_doctor *doctor);
/* active, enabled: as systemd says; "" = it does not know the unit. */
void em_doctor_judge_unit(struct em_report *report, const char *unit, const char *active,
			  const char *enabled);
void em_doctor_configuration(struct em_doctor *doctor);
void em_doctor_policy(struct em_doctor *doctor); /* also keeps what it answers */
/* versions: what `ember-broker --version` prints. */
void em_doctor_judge_libnvme(struct em_report *report, const char *versions);
/* Takes what emberd printed. */
void em_doctor_read_config(struct em_doctor_config *config, const char *text);

/* doctor_ember.c: what emberd says of itself. Before all others: fetches its health. */
void em_doctor_emberd(struct em_doctor *doctor);

/* doctor_network.c: the ways to emberd, and what opens them. */
void em_doctor_listeners(struct em_doctor *doctor);
void em_doctor_certificate(struct em_doctor *doctor);
void em_doctor_tokens(struct em_doctor *doctor);
/* tokens: a list of them; NULL = it is told to those alone who may give orders. */
void em_doctor_judge_tokens(struct em_report *report, const json_t *tokens, int64_t now_us);

/* doctor_drives.c */
/* here: the kernel of this host is the one of these drives. Fetches their list, for the next. */
void em_doctor_drives(struct em_doctor *doctor, bool here);
void em_doctor_pages(struct em_doctor *doctor);
