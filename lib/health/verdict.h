/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * verdict - one word for a drive, out of all that is known of it, with the reasons for it.
 *
 * unknown    what the drive is now cannot be said: it does not answer, is gone or retired, its
 *            SMART page was never read, or is three intervals old. This is said whatever its last
 *            readings told; what they told stands among the reasons, and is as old as its page.
 * failing    a reading says that data is at risk, or will soon be: replace it.
 * degraded   a reading says that it is not as it should be, and works.
 * ok         SMART is fresh, and no rule found anything.
 *
 * The worst of these reasons decides, in the order failing, unknown, degraded, ok. Reasons that are
 * for information decide nothing: media errors that were counted before anybody looked, entries
 * of the error log that a host caused.
 *
 * What a page other than SMART has found counts however old it is: a failed test does not pass by
 * waiting. Each reason tells its page, and so its age.
 *
 * The capacitor: one that is told failed or low counts. A drive that has no field of it is not
 * unknown for that. One that has (its page is read), and of which the page is missing or three
 * intervals old, is: an old "ok" is none. A state of the capacitor that is unknown is never told
 * as ok; who shows this verdict shows em_capacitor_state_name() beside it.
 *
 * Owns:     nothing; texts of reasons are static, pages are borrowed for the call.
 * Threads:  pure functions; time is an argument. Blocking: never.
 * Limits:   EM_REASONS_MAX reasons; there is room for every row of the table, each kind of
 *           self-test, and EM_ERROR_REASONS_MAX kinds of errors: more of these are counted as the
 *           last.
 * Errors:   none. Bytes that are no reading count as never read; an absent value meets no rule.
 */
#include <stdbool.h>
#include <stdint.h>

#include "lib/nvme/capacitor.h"
#include "lib/nvme/page.h"

#define EM_REASONS_MAX	     76u
#define EM_ERROR_REASONS_MAX 8u
/* A reading that is older than so many of its intervals, and than this, tells nothing of now. */
#define EM_OLD_INTERVALS 3u
#define EM_OLD_US	 UINT64_C(5000000)

enum em_verdict { /* 0 is what nothing was done for */
		  EM_VERDICT_UNKNOWN,
		  EM_VERDICT_OK,
		  EM_VERDICT_DEGRADED,
		  EM_VERDICT_FAILING,
		  EM_VERDICT_COUNT,
};

enum em_severity { /* ascending */
		   EM_SEVERITY_INFO,
		   EM_SEVERITY_DEGRADED,
		   EM_SEVERITY_UNKNOWN, /* something that should be known is not */
		   EM_SEVERITY_FAILING,
		   EM_SEVERITY_BLIND, /* nothing of now is known; shown as unknown */
		   EM_SEVERITY_COUNT,
};

enum em_presence {
	EM_PRESENT, /* or the kernel is resetting it */
	EM_UNRESPONSIVE,
	EM_REMOVED,
	EM_RETIRED,
};

struct em_health_page {
	const uint8_t *data; /* NULL: no reading yet */
	size_t len;
	bool expected;	      /* it is asked for, and neither refused nor not announced */
	int64_t age_us;	      /* of data; negative: not known, which is old */
	uint64_t interval_us; /* how often it is read; 0: not at all, so that it is old */
	uint64_t same_us;     /* for how long each reading was like the last one, byte by byte */
};

struct em_health_input {
	enum em_presence presence;
	struct em_nvme_ctx ctx;
	struct em_health_page pages[EM_PAGE_CTRL_COUNT];
	struct em_capacitor capacitor; /* em_capacitor_judge() of the same pages */
	/* A sanitize whose page is the same for so long stands still (case R22a); 0: never. */
	uint64_t sanitize_stalled_us;
};

struct em_finding {
	const char *rule;  /* "critical_warning.media_read_only": stable, for programs */
	const char *field; /* key in the page; NULL: of no field */
	int page;	   /* enum em_page_id; -1: of no page */
	enum em_severity severity;
	enum em_trust trust;
	bool of_now; /* of presence or age: gone or there without another reading */
	bool has_value, has_limit;
	int64_t value, limit; /* in the field's unit; for lists: how many */
	const char *text;     /* a sentence */
	const char *detail;   /* which, NULL: nothing to add */
	const char *next_step;
};

struct em_health {
	enum em_verdict verdict;
	unsigned count;
	struct em_finding reasons[EM_REASONS_MAX]; /* the worst first */
};

void em_health_judge(const struct em_health_input *input, struct em_health *ret);

/*
 * The same in two steps, for those who ask often: the worst of what stands in the readings, and the
 * verdict that it makes with presence and ages of now. The second reads neither lists nor the
 * capacitor of the input.
 */
enum em_severity em_health_lasting(const struct em_health *health);
enum em_verdict em_health_verdict(const struct em_health_input *input, enum em_severity lasting);

/* The first reason that counts for the verdict, a sentence; NULL: none does. */
const char *em_health_reason(const struct em_health *health);

/* True when a page of this age says nothing of now. */
bool em_health_is_old(int64_t age_us, uint64_t interval_us);

const char *em_verdict_name(enum em_verdict verdict); /* "failing" */
const char *
em_severity_name(enum em_severity severity); /* "info", "degraded", "unknown", "failing" */
