/* SPDX-License-Identifier: Apache-2.0 */
#include "client/doctor.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/cleanup.h"

const char *em_result_name(enum em_result result)
{
#define EM_X(id, name) [EM_RESULT_##id] = (name),
	static const char *const names[] = { EM_RESULTS(EM_X) };
#undef EM_X
	return names[result];
}

const char *em_check_name(enum em_check check)
{
#define EM_X(id, name) [EM_CHECK_##id] = (name),
	static const char *const names[] = { EM_CHECKS(EM_X) };
#undef EM_X
	return names[check];
}

static struct em_finding *grow(struct em_report *report)
{
	struct em_finding *grown = NULL;

	if (report->count < EM_FINDINGS_MAX)
		grown = reallocarray(report->findings, report->count + 1, sizeof(*grown));
	if (!grown) {
		report->incomplete = true;
		return NULL;
	}
	report->findings = grown;
	grown += report->count++;
	*grown = (struct em_finding){ 0 };
	return grown;
}

void em_report_add(struct em_report *report, enum em_check check, enum em_result result,
		   const char *advice, const char *summary, ...)
{
	struct em_finding *finding = grow(report);
	va_list args;

	if (!finding)
		return;
	finding->check = check;
	finding->result = result;
	va_start(args, summary);
	if (vasprintf(&finding->summary, summary, args) < 0)
		finding->summary = NULL;
	va_end(args);
	if (advice && *advice)
		finding->advice = strdup(advice);
	report->incomplete |= !finding->summary || (advice && *advice && !finding->advice);
}

enum em_result em_report_worst(const struct em_report *report)
{
	enum em_result worst = report->incomplete ? EM_RESULT_WARN : EM_RESULT_OK;

	for (unsigned i = 0; i < report->count; i++)
		if (report->findings[i].result > worst)
			worst = report->findings[i].result;
	return worst;
}

void em_report_done(struct em_report *report)
{
	for (unsigned i = 0; i < report->count; i++) {
		free(report->findings[i].summary);
		free(report->findings[i].advice);
	}
	free(report->findings);
	*report = (struct em_report){ 0 };
}
