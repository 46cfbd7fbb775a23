/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/health/verdict.h"

#include <assert.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/nvme/error_cause.h"
#include "lib/nvme/status.h"

#define US_PER_S    1000000
#define KINDS	    16u /* of self-tests: what 4 bits hold */
#define PERCENT_MAX 100

struct value {
	bool given;
	int64_t number;
};

struct judge {
	const struct em_health_input *in;
	struct em_health *out;
	bool valid[EM_PAGE_CTRL_COUNT];
	/* What was read last: rows about one field stand together. */
	int last_page;
	const char *last_key;
	struct value last;
	unsigned done; /* group that a row has found something for; 0 = none */
};

/*
 * A row: what its condition finds is a reason, with these texts. Of rows of one group (not 0) the
 * first that finds something counts alone.
 */
struct rule {
	const char *name;
	int page;
	const char *field;
	void (*find)(struct judge *j, const struct rule *rule);
	uint32_t mask;	   /* bits; of codes, of causes */
	int64_t limit;	   /* fixed */
	const char *other; /* key of the limit, in other_page */
	int other_page;
	uint32_t beside; /* only while one of these bits of critical_warning is set; 0 = always */
	uint8_t group;
	bool of_now;
	enum em_severity severity;
	const char *text, *next_step;
};

/* ---- values --------------------------------------------------------------------------------- */

static struct value number_of(const struct em_value *value)
{
	struct value ret = { .given = value->kind != EM_V_ABSENT };

	if (value->kind == EM_V_INT)
		ret.number = value->integer;
	else if (value->number > INT64_MAX)
		ret.number = INT64_MAX;
	else
		ret.number = (int64_t)value->number;
	return ret;
}

static struct value read_field(const struct em_field *field, const uint8_t *data, size_t len,
			       const struct em_nvme_ctx *ctx)
{
	struct em_value value;

	assert(field); /* a key that the table does not have is a fault of the row */
	em_field_get(field, data, len, ctx, &value);
	return value.kind == EM_V_ABSENT ? (struct value){ 0 } : number_of(&value);
}

static struct value get(struct judge *j, int page, const char *key)
{
	const struct em_health_page *from = &j->in->pages[page];

	if (!j->valid[page])
		return (struct value){ 0 };
	if (j->last_key && j->last_page == page && strcmp(j->last_key, key) == 0)
		return j->last;
	j->last_page = page;
	j->last_key = key;
	j->last =
		read_field(em_page_field(em_pages[page], key), from->data, from->len, &j->in->ctx);
	return j->last;
}

static struct em_finding *add(struct judge *j, const struct rule *rule)
{
	struct em_finding *ret;

	assert(j->out->count < EM_REASONS_MAX);
	ret = &j->out->reasons[j->out->count++];
	*ret = (struct em_finding){
		.rule = rule->name,
		.page = rule->page,
		.field = rule->field,
		.severity = rule->severity,
		.of_now = rule->of_now,
		.text = rule->text,
		.next_step = rule->next_step,
	};
	if (rule->group)
		j->done = rule->group;
	return ret;
}

static void add_value(struct judge *j, const struct rule *rule, struct value value,
		      struct value limit)
{
	struct em_finding *finding = add(j, rule);

	finding->has_value = value.given;
	finding->value = value.number;
	finding->has_limit = limit.given;
	finding->limit = limit.number;
}

static const struct value no_value;

static struct value known(int64_t number)
{
	return (struct value){ true, number };
}

/* ---- conditions ----------------------------------------------------------------------------- */

static void presence_is(struct judge *j, const struct rule *rule)
{
	if (j->in->presence == (enum em_presence)rule->limit)
		add(j, rule);
}

static void is_unread(struct judge *j, const struct rule *rule)
{
	if (!j->valid[rule->page])
		add(j, rule);
}

bool em_health_is_old(int64_t age_us, uint64_t interval_us)
{
	return age_us < 0 || interval_us == 0 ||
	       ((uint64_t)age_us > EM_OLD_US && (uint64_t)age_us / EM_OLD_INTERVALS > interval_us);
}

static void is_old(struct judge *j, const struct rule *rule)
{
	const struct em_health_page *page = &j->in->pages[rule->page];
	struct value age = { page->age_us >= 0, page->age_us / US_PER_S };
	struct value limit = { page->interval_us > 0 && page->interval_us <= INT64_MAX / 4,
			       (int64_t)(page->interval_us / US_PER_S * EM_OLD_INTERVALS) };

	if (j->valid[rule->page] && em_health_is_old(page->age_us, page->interval_us))
		add_value(j, rule, age, limit);
}

/* A page with values of the capacitor that is to be read, and whose reading says nothing of now. */
static void capacitor_is_old(struct judge *j, const struct rule *rule)
{
	const struct em_health_page *page = &j->in->pages[rule->page];

	if (!page->expected)
		return;
	if (!j->valid[rule->page])
		add(j, rule);
	else
		is_old(j, rule);
}

static void is_equal(struct judge *j, const struct rule *rule)
{
	struct value value = get(j, rule->page, rule->field);

	if (value.given && value.number == rule->limit)
		add_value(j, rule, value, no_value);
}

/* The field is there only while something goes on, and for too long nothing of its page moved. */
static void stands_still(struct judge *j, const struct rule *rule)
{
	uint64_t same_us = j->in->pages[rule->page].same_us, limit_us = j->in->sanitize_stalled_us;

	if (get(j, rule->page, rule->field).given && limit_us && same_us >= limit_us)
		add_value(j, rule, known((int64_t)(same_us / US_PER_S)),
			  known((int64_t)(limit_us / US_PER_S)));
}

static void has_bit(struct judge *j, const struct rule *rule)
{
	struct value value = get(j, rule->page, rule->field);

	if (value.given && ((uint64_t)value.number & rule->mask))
		add_value(j, rule, value, no_value);
}

static void is_at_least(struct judge *j, const struct rule *rule)
{
	struct value value = get(j, rule->page, rule->field);
	struct value limit =
		rule->other ? get(j, rule->other_page, rule->other) : known(rule->limit);

	if (value.given && limit.given && value.number >= limit.number)
		add_value(j, rule, value, limit);
}

/* For information, beside another reason. */
static void is_given(struct judge *j, const struct rule *rule)
{
	struct value value = get(j, rule->page, rule->field);

	if (value.given)
		add_value(j, rule, value,
			  rule->other ? get(j, rule->other_page, rule->other) : no_value);
}

/* A threshold of 0 says nothing: no spare is below it. */
static bool get_spare(struct judge *j, const struct rule *rule, struct value *spare,
		      struct value *limit)
{
	*spare = get(j, rule->page, rule->field);
	*limit = get(j, rule->other_page, rule->other);
	return spare->given && limit->given && spare->number <= PERCENT_MAX && limit->number > 0 &&
	       limit->number <= PERCENT_MAX;
}

static void spare_is_below(struct judge *j, const struct rule *rule)
{
	struct value spare, limit;

	if (get_spare(j, rule, &spare, &limit) && spare.number < limit.number)
		add_value(j, rule, spare, limit);
}

static void spare_is_at(struct judge *j, const struct rule *rule)
{
	struct value spare, limit;

	if (get_spare(j, rule, &spare, &limit) && spare.number == limit.number)
		add_value(j, rule, spare, limit);
}

/* By SMART's warning is another row. */
static void capacitor_is(struct judge *j, const struct rule *rule)
{
	const struct em_capacitor *c = &j->in->capacitor;
	bool measured = c->source == EM_CAPACITOR_BY_CAPACITANCE;
	struct em_finding *finding;

	if (c->state != (enum em_capacitor_state)rule->limit ||
	    (!measured && c->source != EM_CAPACITOR_BY_PERCENTAGE))
		return;
	finding = add(j, rule);
	finding->trust = c->trust;
	finding->has_value = finding->has_limit = true;
	finding->field = measured ? "capacitor_capacitance" : "capacitor_health_percent";
	finding->value = measured ? c->capacitance : c->health_percent;
	finding->limit = measured ? c->threshold_capacitance : EM_CAPACITOR_LOW_PERCENT;
}

/* ---- lists ---------------------------------------------------------------------------------- */

struct list {
	const struct em_health_page *page;
	const struct em_group *group;
	const struct em_nvme_ctx *ctx;
	unsigned count;
};

static struct list open_list(struct judge *j, const struct rule *rule)
{
	struct list list = { &j->in->pages[rule->page], &em_pages[rule->page]->groups[0],
			     &j->in->ctx, 0 };

	if (j->valid[rule->page])
		list.count = em_group_present(list.group, list.ctx);
	return list;
}

/* NULL: not in the bytes, or not in use. */
static const uint8_t *entry_of(const struct list *list, unsigned index,
			       uint8_t scratch[EM_ENTRY_SCRATCH])
{
	const uint8_t *entry =
		em_group_entry(list->group, list->page->data, list->page->len, index, scratch);

	return entry && !(list->group->unused && list->group->unused(entry)) ? entry : NULL;
}

static const struct em_field *field_of(const struct list *list, const char *key)
{
	for (unsigned i = 0; i < list->group->field_count; i++)
		if (strcmp(list->group->fields[i].key, key) == 0)
			return &list->group->fields[i];
	return NULL;
}

static const char *name_of(const struct em_field *field, int64_t number)
{
	for (const struct em_name *name = field->names; name && name->name; name++)
		if (name->value == number)
			return name->name;
	return NULL;
}

#define COMPLETED 0xe1u /* results 0, 5, 6, 7: the others were ended from outside */

/* The newest completed result of each kind decides; the log has the newest first. */
static void test_failed(struct judge *j, const struct rule *rule)
{
	struct list list = open_list(j, rule);
	const struct em_field *kind = field_of(&list, "test"), *code = field_of(&list, rule->field);
	uint8_t scratch[EM_ENTRY_SCRATCH];
	uint32_t seen = 0;

	for (unsigned i = 0; i < list.count; i++) {
		const uint8_t *entry = entry_of(&list, i, scratch);
		struct value test, result;

		if (!entry)
			continue;
		test = read_field(kind, entry, list.group->stride, list.ctx);
		result = read_field(code, entry, list.group->stride, list.ctx);
		if (!(COMPLETED >> result.number & 1) || (seen >> test.number & 1))
			continue;
		seen |= 1u << test.number;
		if (rule->mask >> result.number & 1) {
			add_value(j, rule, result, no_value);
			j->out->reasons[j->out->count - 1].detail = name_of(kind, test.number);
		}
	}
}

static uint16_t status_of(const struct list *list, const uint8_t *entry, const struct em_field *sct,
			  const struct em_field *sc)
{
	struct value type = read_field(sct, entry, list->group->stride, list->ctx);
	struct value code = read_field(sc, entry, list->group->stride, list->ctx);

	return (uint16_t)(type.number << 8 | code.number);
}

/* One reason for each status, with how many entries have it. */
static void count_error(struct judge *j, const struct rule *rule, const char *status,
			unsigned first, unsigned most)
{
	struct em_finding *last = NULL;

	for (unsigned i = first; i < j->out->count; i++) {
		last = &j->out->reasons[i];
		if (last->detail == status) {
			last->value++;
			return;
		}
	}
	if (j->out->count - first == most) {
		last->value++;
		last->detail = NULL; /* of more than one kind */
		return;
	}
	add_value(j, rule, known(1), no_value);
	j->out->reasons[j->out->count - 1].detail = status;
}

static bool same_bytes(const struct em_field *field, const uint8_t *a, const uint8_t *b)
{
	return memcmp(a + field->offset, b + field->offset, field->len) == 0;
}

/* Logs are full of one status again and again: such an entry is not judged anew. */
static void has_error(struct judge *j, const struct rule *rule)
{
	struct list list = open_list(j, rule);
	const struct em_field *sct = field_of(&list, "sct"), *sc = field_of(&list, "sc");
	uint8_t scratch[EM_ENTRY_SCRATCH];
	const uint8_t *last = NULL;
	unsigned first = j->out->count;
	uint16_t status = 0;
	bool meant = false;

	for (unsigned i = 0; i < list.count; i++) {
		const uint8_t *entry = entry_of(&list, i, scratch);

		if (!entry)
			continue;
		if (!last || !same_bytes(sct, entry, last) || !same_bytes(sc, entry, last)) {
			status = status_of(&list, entry, sct, sc);
			meant = rule->mask >> em_error_judge(status) & 1;
		}
		last = entry;
		if (meant)
			count_error(j, rule, em_status_find(status)->name, first,
				    (unsigned)rule->limit);
	}
}

/* ---- the table ------------------------------------------------------------------------------ */

#define SMART(key)	.page = EM_PAGE_SMART, .field = key
#define OF_SMART(key)	.other_page = EM_PAGE_SMART, .other = key
#define CONTROLLER(key) .other_page = EM_PAGE_IDENTIFY_CTRL, .other = key
#define WARNING(bit)	SMART("critical_warning"), .find = has_bit, .mask = 1u << (bit)
#define GROUP_WARNING(bit)                                                                         \
	SMART("endurance_group_critical_warning"), .find = has_bit, .mask = 1u << (bit)
#define OF_NOW(function) .find = function, .of_now = true
#define SEVERITY(level)	 .severity = EM_SEVERITY_##level
#define BIT_TEMPERATURE	 0x02u
#define BIT_RELIABILITY	 0x04u
#define REPLACE		 "Save its data and replace the drive."
#define COOL		 "Look at fans, air flow and load."

enum { GROUP_NONE, GROUP_SPARE, GROUP_TEMPERATURE };

/* clang-format off */
static const struct rule rules[] = {
	/* Whether anything can be said. */
	{ "drive.unresponsive", .page = -1, OF_NOW(presence_is), .limit = EM_UNRESPONSIVE, SEVERITY(BLIND),
	  .text = "The drive does not answer.",
	  .next_step = "Look at the kernel's log, then at its slot and power; what follows is its last readings." },
	{ "drive.removed", .page = -1, OF_NOW(presence_is), .limit = EM_REMOVED, SEVERITY(BLIND),
	  .text = "The drive is gone.",
	  .next_step = "Look at its slot. Taken away on purpose? Then retire it." },
	{ "drive.retired", .page = -1, OF_NOW(presence_is), .limit = EM_RETIRED, SEVERITY(BLIND),
	  .text = "The drive was retired.", .next_step = "Nothing: it is gone on purpose." },
	{ "smart.unread", SMART(NULL), OF_NOW(is_unread), SEVERITY(BLIND),
	  .text = "There is no reading of its SMART page.",
	  .next_step = "Wait for the next one; the page's status says why when none comes." },
	{ "smart.old", SMART(NULL), OF_NOW(is_old), SEVERITY(BLIND),
	  .text = "The last reading of its SMART page is too old; value and limit are seconds.",
	  .next_step = "See why it is not read: the page's status, and the health of Ember." },
	{ "capacitor.old", .page = EM_PAGE_MEMBLAZE, OF_NOW(capacitor_is_old), SEVERITY(UNKNOWN),
	  .text = "The drive has values of its capacitor, and no fresh reading of them; value and limit are seconds.",
	  .next_step = "See why it is not read: the page's status, and the health of Ember." },
	/* What the drive says itself. */
	{ "critical_warning.spare_below_threshold", WARNING(0), SEVERITY(FAILING),
	  .text = "The drive warns: its spare is below its threshold.", .next_step = REPLACE },
	{ "critical_warning.temperature_out_of_range", WARNING(1), SEVERITY(DEGRADED),
	  .text = "The drive warns: its temperature is out of range.", .next_step = COOL },
	{ "critical_warning.reliability_degraded", WARNING(2), SEVERITY(FAILING),
	  .text = "The drive warns: its reliability is degraded.", .next_step = REPLACE },
	{ "critical_warning.media_read_only", WARNING(3), SEVERITY(FAILING),
	  .text = "The drive warns: its media can only be read.",
	  .next_step = "Read off its data now, and replace the drive." },
	{ "critical_warning.volatile_backup_failed", WARNING(4), SEVERITY(FAILING),
	  .text = "The drive warns: what saves its cache when the power goes has failed.",
	  .next_step = "Replace the drive; until then turn its write cache off, or do not rely on it." },
	{ "critical_warning.pmr_unreliable", WARNING(5), SEVERITY(DEGRADED),
	  .text = "The drive warns: its persistent memory region is read-only or unreliable.",
	  .next_step = "Do not use that region; ask the vendor." },
	{ "critical_warning.reserved", SMART("critical_warning"), .find = has_bit, .mask = 0xc0, SEVERITY(DEGRADED),
	  .text = "The drive gives a warning that this version of Ember does not know.",
	  .next_step = "Ask the vendor what the bit means." },
	{ "endurance_group.spare_below_threshold", GROUP_WARNING(0), SEVERITY(FAILING),
	  .text = "The spare of an endurance group is below its threshold.", .next_step = REPLACE },
	{ "endurance_group.reliability_degraded", GROUP_WARNING(2), SEVERITY(FAILING),
	  .text = "The reliability of an endurance group is degraded.", .next_step = REPLACE },
	{ "endurance_group.media_read_only", GROUP_WARNING(3), SEVERITY(FAILING),
	  .text = "The namespaces of an endurance group can only be read.",
	  .next_step = "Read off its data now, and replace the drive." },
	/* What its values say. */
	{ "spare.below_threshold", SMART("available_spare_percent"), .find = spare_is_below,
	  OF_SMART("available_spare_threshold_percent"), .group = GROUP_SPARE, SEVERITY(FAILING),
	  .text = "Its spare is below its threshold.", .next_step = REPLACE },
	{ "spare.at_threshold", SMART("available_spare_percent"), .find = spare_is_at,
	  OF_SMART("available_spare_threshold_percent"), .group = GROUP_SPARE, SEVERITY(DEGRADED),
	  .text = "Its spare has come down to its threshold.", .next_step = "Plan to replace the drive." },
	{ "spare.beside_reliability", SMART("available_spare_percent"), .find = is_given,
	  OF_SMART("available_spare_threshold_percent"), .group = GROUP_SPARE, .beside = BIT_RELIABILITY,
	  SEVERITY(INFO), .text = "Its spare now; it is not below its threshold.", .next_step = "" },
	{ "endurance_consumed", SMART("percentage_used"), .find = is_at_least, .limit = 100, SEVERITY(DEGRADED),
	  .text = "Its rated endurance is used up; this is no failure.", .next_step = "Plan to replace the drive." },
	{ "temperature.critical", SMART("temperature_celsius"), .find = is_at_least,
	  CONTROLLER("critical_temp_threshold_celsius"), .group = GROUP_TEMPERATURE, SEVERITY(FAILING),
	  .text = "It is so hot that it may stop working.", .next_step = "Cool it or take load off it, now." },
	{ "temperature.warning", SMART("temperature_celsius"), .find = is_at_least,
	  CONTROLLER("warning_temp_threshold_celsius"), .group = GROUP_TEMPERATURE, SEVERITY(DEGRADED),
	  .text = "It is too warm.", .next_step = COOL },
	{ "temperature.beside_warning", SMART("temperature_celsius"), .find = is_given,
	  CONTROLLER("warning_temp_threshold_celsius"), .group = GROUP_TEMPERATURE, .beside = BIT_TEMPERATURE,
	  SEVERITY(INFO), .text = "Its temperature now.", .next_step = "" },
	{ "capacitor.failed", .page = EM_PAGE_MEMBLAZE, .find = capacitor_is, .limit = EM_CAPACITOR_FAILED,
	  SEVERITY(FAILING), .text = "Its capacitor cannot save its cache when the power goes.",
	  .next_step = "Replace the drive; until then turn its write cache off, or do not rely on it." },
	{ "capacitor.low", .page = EM_PAGE_MEMBLAZE, .find = capacitor_is, .limit = EM_CAPACITOR_LOW,
	  SEVERITY(DEGRADED), .text = "Its capacitor is worn; it still works.",
	  .next_step = "Plan to replace the drive." },
	{ "selftest.failed", .page = EM_PAGE_SELFTEST, .field = "result_code", .find = test_failed,
	  .mask = 1u << 6 | 1u << 7, SEVERITY(FAILING), .text = "Its last self-test of this kind failed.",
	  .next_step = "See the results of its self-tests; save its data and replace the drive." },
	{ "selftest.fatal_error", .page = EM_PAGE_SELFTEST, .field = "result_code", .find = test_failed,
	  .mask = 1u << 5, SEVERITY(DEGRADED), .text = "Its last self-test of this kind ended with a fatal error.",
	  .next_step = "Run the self-test again." },
	{ "sanitize.failed", .page = EM_PAGE_SANITIZE, .field = "state", .find = is_equal, .limit = 3,
	  SEVERITY(DEGRADED), .text = "Its last sanitize failed: data may still be there, and reads may be refused.",
	  .next_step = "Sanitize it again, or leave the failure mode with the sanitize action exit_failure, as the vendor says." },
	{ "sanitize.stalled", .page = EM_PAGE_SANITIZE, .field = "percent", .find = stands_still,
	  SEVERITY(DEGRADED), .text = "Its sanitize goes on and makes no progress; value and limit are seconds.",
	  .next_step = "Wait longer only if the drive estimates so; else power it off and on (a sanitize goes on after that), then ask the vendor." },
	{ "media_errors", SMART("media_errors"), .find = is_at_least, .limit = 1, SEVERITY(INFO),
	  .text = "It has counted media errors; the number alone says little, its growth does.",
	  .next_step = "See the history of media_errors." },
	{ "errors.device", .page = EM_PAGE_ERRORS, .field = "entries", .find = has_error,
	  .mask = 1u << EM_CAUSE_DEVICE, .limit = EM_ERROR_REASONS_MAX, SEVERITY(DEGRADED),
	  .text = "Its error log has failures of the drive itself; value: how many.",
	  .next_step = "See its error log; check the data of the blocks named there." },
	{ "errors.locked", .page = EM_PAGE_ERRORS, .field = "entries", .find = has_error,
	  .mask = 1u << EM_CAUSE_LOCKED, .limit = 1, SEVERITY(INFO),
	  .text = "Its error log has accesses to locked ranges: no media error; value: how many.",
	  .next_step = "Unlock the range before use." },
	{ "errors.unclear", .page = EM_PAGE_ERRORS, .field = "entries", .find = has_error,
	  .mask = 1u << EM_CAUSE_UNCLEAR, .limit = 1, SEVERITY(INFO),
	  .text = "Its error log has entries whose cause is not clear; value: how many.",
	  .next_step = "See its error log; ask the vendor." },
};
/* clang-format on */

_Static_assert(EM_COUNT(rules) + 2 * KINDS + EM_ERROR_REASONS_MAX <= EM_REASONS_MAX,
	       "there is room for all that can be found");

/* ---- the verdict ---------------------------------------------------------------------------- */

static void apply(struct judge *j, const struct rule *rule)
{
	struct value warnings;

	if (rule->group && j->done == rule->group)
		return;
	if (rule->beside) {
		warnings = get(j, EM_PAGE_SMART, "critical_warning");
		if (!warnings.given || !((uint64_t)warnings.number & rule->beside))
			return;
	}
	rule->find(j, rule);
}

/* The worst first; else as they were found. */
static void sort(struct em_health *health)
{
	for (unsigned i = 1; i < health->count; i++) {
		struct em_finding moved = health->reasons[i];
		unsigned at = i;

		for (; at > 0 && health->reasons[at - 1].severity < moved.severity; at--)
			health->reasons[at] = health->reasons[at - 1];
		health->reasons[at] = moved;
	}
}

static const enum em_verdict verdicts[EM_SEVERITY_COUNT] = {
	[EM_SEVERITY_INFO] = EM_VERDICT_OK,	    [EM_SEVERITY_DEGRADED] = EM_VERDICT_DEGRADED,
	[EM_SEVERITY_UNKNOWN] = EM_VERDICT_UNKNOWN, [EM_SEVERITY_FAILING] = EM_VERDICT_FAILING,
	[EM_SEVERITY_BLIND] = EM_VERDICT_UNKNOWN,
};

static void check_page(struct judge *j, enum em_page_id id)
{
	const struct em_health_page *page = &j->in->pages[id];

	j->valid[id] =
		page->data && em_page_check(em_pages[id], page->data, page->len) == EM_PAGE_VALID;
}

void em_health_judge(const struct em_health_input *input, struct em_health *ret)
{
	struct judge j = { .in = input, .out = ret };

	ret->count = 0;
	for (unsigned p = 0; p < EM_PAGE_CTRL_COUNT; p++)
		check_page(&j, p);
	for (size_t i = 0; i < EM_COUNT(rules); i++)
		apply(&j, &rules[i]);
	sort(ret);
	ret->verdict = ret->count ? verdicts[ret->reasons[0].severity] : EM_VERDICT_OK;
}

enum em_severity em_health_lasting(const struct em_health *health)
{
	enum em_severity worst = EM_SEVERITY_INFO;

	for (unsigned i = 0; i < health->count; i++)
		if (!health->reasons[i].of_now && health->reasons[i].severity > worst)
			worst = health->reasons[i].severity;
	return worst;
}

enum em_verdict em_health_verdict(const struct em_health_input *input, enum em_severity lasting)
{
	struct em_health now;
	struct judge j = { .in = input, .out = &now };

	now.count = 0;
	for (size_t i = 0; i < EM_COUNT(rules); i++) {
		if (!rules[i].of_now)
			continue;
		if (rules[i].page >= 0)
			check_page(&j, (enum em_page_id)rules[i].page);
		apply(&j, &rules[i]);
	}
	for (unsigned i = 0; i < now.count; i++)
		if (now.reasons[i].severity > lasting)
			lasting = now.reasons[i].severity;
	return verdicts[lasting];
}

const char *em_health_reason(const struct em_health *health)
{
	return health->count && health->reasons[0].severity != EM_SEVERITY_INFO
		       ? health->reasons[0].text
		       : NULL;
}

const char *em_verdict_name(enum em_verdict verdict)
{
	static const char *const names[EM_VERDICT_COUNT] = {
		[EM_VERDICT_UNKNOWN] = "unknown",
		[EM_VERDICT_OK] = "ok",
		[EM_VERDICT_DEGRADED] = "degraded",
		[EM_VERDICT_FAILING] = "failing",
	};

	return names[verdict];
}

const char *em_severity_name(enum em_severity severity)
{
	static const char *const names[EM_SEVERITY_COUNT] = {
		[EM_SEVERITY_INFO] = "info",	   [EM_SEVERITY_DEGRADED] = "degraded",
		[EM_SEVERITY_UNKNOWN] = "unknown", [EM_SEVERITY_FAILING] = "failing",
		[EM_SEVERITY_BLIND] = "unknown",
	};

	return names[severity];
}
