/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/route.h"

#include <string.h>
#include "daemon/web/handlers.h"
#include "daemon/web/tokens.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define DAY_US (UINT64_C(86400) * EM_US_PER_SEC)

#define TIME_FORMS "RFC 3339, seconds since 1970, now, or -15min."

/* ---- sets of names ------------------------------------------------------------------------ */

static const char *state_name(unsigned index)
{
	return em_drive_state_name(index);
}

static const char *status_name(unsigned index)
{
	return em_read_status_name(index);
}

static const char *page_name(unsigned index)
{
	return em_pages[index]->key;
}

static const char *kind_name(unsigned index)
{
	return em_event_kind_name(index);
}

static const char *change_name(unsigned index)
{
	for (unsigned k = 0; k < EM_EVENT_KIND_COUNT; k++)
		if (em_event_kind_is_change(k) && index-- == 0)
			return em_event_kind_name(k);
	return NULL;
}

static const char *role_name(unsigned index)
{
	return em_role_name(EM_ROLE_VIEWER + index);
}

static const char *const order_names[] = { "newest", "oldest" };
static const char *const health_names[] = { "ok", "degraded" };
static const char *const listener_names[] = { "unix", "tcp", "https" };

static const char *order_name(unsigned index)
{
	return order_names[index];
}

static const char *health_name(unsigned index)
{
	return health_names[index];
}

static const char *listener_name(unsigned index)
{
	return listener_names[index];
}

static const char *command_name(unsigned index)
{
	return em_command_name(index);
}

static const char *self_test_name(unsigned index)
{
	return em_self_test_name(index);
}

static const char *capacitor_name(unsigned index)
{
	return em_capacitor_state_name(index);
}

static const char *capacitor_source_name(unsigned index)
{
	return em_capacitor_source_name(index);
}

static const char *ssc_name(unsigned index)
{
	return em_ssc_name(index);
}

static const char *erase_reason_name(unsigned index)
{
	return em_erase_reason_name(index);
}

#define EM_X(id, bit, name) name,
static const char *const removal_names[] = { EM_REMOVALS(EM_X) };
#undef EM_X

static const char *removal_name(unsigned index)
{
	return removal_names[index];
}

static const char *verdict_name(unsigned index)
{
	return em_verdict_name(index);
}

/* Blind is shown as unknown, so that the last name would be there twice. */
static const char *severity_name(unsigned index)
{
	return em_severity_name(index);
}

static const char *trust_name(unsigned index)
{
	return em_trust_name(index);
}

#define COUNT_CHANGE(id, name, change) +((change) ? 1 : 0)
const struct em_name_set em_set_states = { state_name, EM_STATE_COUNT };
const struct em_name_set em_set_statuses = { status_name, EM_READ_COUNT };
const struct em_name_set em_set_pages = { page_name, EM_PAGE_CTRL_COUNT };
const struct em_name_set em_set_kinds = { kind_name, EM_EVENT_KIND_COUNT };
const struct em_name_set em_set_changes = { change_name, 0 EM_EVENT_KINDS(COUNT_CHANGE) };
const struct em_name_set em_set_roles = { role_name, EM_ROLE_ADMIN - EM_ROLE_VIEWER + 1 };
/* The network only reads, so that a token of another role would be of no use. */
const struct em_name_set em_set_token_roles = { role_name, 1 };
const struct em_name_set em_set_orders = { order_name, EM_COUNT(order_names) };
const struct em_name_set em_set_health = { health_name, EM_COUNT(health_names) };
const struct em_name_set em_set_listeners = { listener_name, EM_COUNT(listener_names) };
const struct em_name_set em_set_commands = { command_name, EM_COMMAND_COUNT };
const struct em_name_set em_set_self_tests = { self_test_name, EM_SELF_TEST_COUNT };
const struct em_name_set em_set_capacitor = { capacitor_name, EM_CAPACITOR_STATE_COUNT };
const struct em_name_set em_set_capacitor_sources = { capacitor_source_name,
						      EM_CAPACITOR_SOURCE_COUNT };
const struct em_name_set em_set_sscs = { ssc_name, EM_SSC_COUNT };
const struct em_name_set em_set_erase_reasons = { erase_reason_name, EM_ERASE_REASON_COUNT };
const struct em_name_set em_set_removals = { removal_name, EM_COUNT(removal_names) };
const struct em_name_set em_set_trust = { trust_name, EM_TRUST_COUNT };
const struct em_name_set em_set_verdicts = { verdict_name, EM_VERDICT_COUNT };
const struct em_name_set em_set_severities = { severity_name, EM_SEVERITY_BLIND };

/* ---- parameters --------------------------------------------------------------------------- */

/* clang-format off */
static const struct em_param history_params[EM_HISTORY_PARAM_COUNT] = {
	[EM_HISTORY_FIELD] = { .name = "field", .type = EM_PARAM_NAME, .required = true,
			       .help = "The key of the value, as in the page documents." },
	[EM_HISTORY_FROM] = { .name = "from", .type = EM_PARAM_TIME, .fallback = "-24h",
			      .help = "First moment: " TIME_FORMS },
	[EM_HISTORY_TO] = { .name = "to", .type = EM_PARAM_TIME, .fallback = "now",
			    .help = "The moment after the last one, in the same forms as from." },
	[EM_HISTORY_STEP] = { .name = "step", .type = EM_PARAM_DURATION,
			      .min = EM_US_PER_SEC, .max = 366 * DAY_US,
			      .help = "Only the last reading of each span of this length. "
				      "Without it: every reading." },
	[EM_HISTORY_LIMIT] = { .name = "limit", .type = EM_PARAM_UINT, .min = 1, .max = 100000,
			       .fallback = "10000",
			       .help = "The most points to answer with; more sets truncated. The "
				       "first ones after from; without from the newest ones." },
	[EM_HISTORY_NSID] = { .name = "nsid", .type = EM_PARAM_UINT, .min = 0, .max = 0xfffffffe,
			      .fallback = "0",
			      .help = "The namespace, for values of a namespace; 0 otherwise. "
				      "No value of a namespace has a history yet." },
};

#define CURSOR_PARAM                                                                               \
	{ .name = "cursor", .type = EM_PARAM_CURSOR,                                               \
	  .help = "next_cursor of the reply before, for the next part of the same list." }

static const struct em_param drives_params[EM_DRIVES_PARAM_COUNT] = {
	[EM_DRIVES_STATE] = { .name = "state", .type = EM_PARAM_CHOICES, .set = &em_set_states,
			      .help = "Only drives in one of these states." },
	[EM_DRIVES_LIMIT] = { .name = "limit", .type = EM_PARAM_UINT, .min = 1, .max = 4096,
			      .fallback = "1000", .help = "The most drives to answer with." },
	[EM_DRIVES_CURSOR] = CURSOR_PARAM,
};

/* Those of events and changes, which differ in the kinds. */
#define EVENT_PARAMS(set_)                                                                         \
	[EM_EVENTS_SINCE] = { .name = "since", .type = EM_PARAM_TIME,                              \
			      .help = "Only events from this moment on: " TIME_FORMS },            \
	[EM_EVENTS_UNTIL] = { .name = "until", .type = EM_PARAM_TIME,                              \
			      .help = "Only events before this moment, in the same forms." },      \
	[EM_EVENTS_DRIVE] = { .name = "drive", .type = EM_PARAM_DRIVE,                             \
			      .help = "Only events of this drive; id, serial, device name or the " \
				      "beginning of an id or serial." },                           \
	[EM_EVENTS_KIND] = { .name = "kind", .type = EM_PARAM_CHOICES, .set = set_,                \
			     .help = "Only events of these kinds." },                              \
	[EM_EVENTS_AFTER] = { .name = "after", .type = EM_PARAM_UINT, .max = INT64_MAX,            \
			      .help = "Only events with greater ids. For the stream the same as "  \
				      "the header Last-Event-ID, which is stronger." },            \
	[EM_EVENTS_ORDER] = { .name = "order", .type = EM_PARAM_CHOICE, .set = &em_set_orders,     \
			      .fallback = "newest", .help = "Which end the list begins with." },   \
	[EM_EVENTS_LIMIT] = { .name = "limit", .type = EM_PARAM_UINT, .min = 1, .max = 1000,       \
			      .fallback = "100", .help = "The most events to answer with." },      \
	[EM_EVENTS_CURSOR] = CURSOR_PARAM

static const struct em_param events_params[EM_EVENTS_PARAM_COUNT] = { EVENT_PARAMS(&em_set_kinds) };
static const struct em_param changes_params[EM_EVENTS_PARAM_COUNT] = {
	EVENT_PARAMS(&em_set_changes)
};

static const struct em_param refresh_params[EM_REFRESH_PARAM_COUNT] = {
	[EM_REFRESH_REFUSED] = { .name = "refused", .type = EM_PARAM_BOOL, .fallback = "false",
				 .help = "Also ask again what drives of this model and firmware "
					 "have refused." },
};

static const struct em_param command_params[EM_COMMAND_ARG_COUNT] = {
	[EM_COMMAND_ARG_KIND] = { .name = "kind", .type = EM_PARAM_CHOICE, .required = true,
				  .set = &em_set_commands, .help = "What to read." },
	[EM_COMMAND_ARG_PAGE] = { .name = "page", .type = EM_PARAM_UINT, .max = 255,
				  .required = true,
				  .help = "CNS of Identify, or identifier of a log page or feature." },
	[EM_COMMAND_ARG_NSID] = { .name = "nsid", .type = EM_PARAM_UINT, .max = 0xffffffff,
				  .help = "The namespace. Without it: all for a log page, else "
					  "none." },
	[EM_COMMAND_ARG_LSP] = { .name = "lsp", .type = EM_PARAM_UINT, .max = 127, .fallback = "0",
				 .help = "Log specific parameter; of a feature which of its "
					 "values: 0 current, 1 default, 2 saved, 3 capabilities." },
	[EM_COMMAND_ARG_LSI] = { .name = "lsi", .type = EM_PARAM_UINT, .max = 0xffff,
				 .fallback = "0",
				 .help = "Log specific identifier; controller or NVM set of "
					 "Identify." },
	[EM_COMMAND_ARG_OFFSET] = { .name = "offset", .type = EM_PARAM_UINT, .max = INT64_MAX,
				    .fallback = "0", .help = "First byte of a log page." },
	[EM_COMMAND_ARG_LENGTH] = { .name = "length", .type = EM_PARAM_UINT,
				    .max = EM_COMMAND_DATA_MAX,
				    .help = "Bytes to read. Without it: what the page has." },
	[EM_COMMAND_ARG_CONSUME] = { .name = "consume", .type = EM_PARAM_BOOL, .fallback = "false",
				     .help = "Read also what reading consumes or begins, and what "
					     "the drive may not have: it then counts an error of "
					     "ours. At most 4096 bytes." },
};

static const struct em_param self_test_params[EM_SELF_TEST_PARAM_COUNT] = {
	[EM_SELF_TEST_ARG_TEST] = { .name = "test", .type = EM_PARAM_CHOICE, .required = true,
				    .set = &em_set_self_tests,
				    .help = "The test to begin, or abort to end the one that "
					    "runs." },
};

static const struct em_param token_params[EM_TOKEN_PARAM_COUNT] = {
	[EM_TOKEN_NAME] = { .name = "name", .type = EM_PARAM_LABEL, .required = true,
			    .in_body = true, .max = EM_TOKEN_NAME_SIZE - 1,
			    .help = "What it is for; no two tokens have the same." },
	[EM_TOKEN_ROLE] = { .name = "role", .type = EM_PARAM_CHOICE, .in_body = true,
			    .set = &em_set_token_roles, .fallback = "viewer",
			    .help = "What its holder may do." },
	[EM_TOKEN_EXPIRES_IN] = { .name = "expires_in", .type = EM_PARAM_DURATION, .in_body = true,
				  .min = 60 * EM_US_PER_SEC, .max = 3660 * DAY_US,
				  .help = "After which time it is worth nothing. Without it: "
					  "never." },
};

/* ---- routes ------------------------------------------------------------------------------- */

#define VIEW(path_) .method = "GET", .path = path_, .role = EM_ROLE_VIEWER
#define PARAMS(rows) .params = rows, .param_count = EM_COUNT(rows)
#define PAGE_ROUTE(path_, page_, op_id_, summary_)                                                 \
	{ VIEW(path_), .shape = EM_SHAPE_PAGE, .page = page_, .handle = em_handle_page,            \
	  .op_id = op_id_, .summary = summary_ }

const struct em_route em_routes[] = {
	{ VIEW("/"), .shape = EM_SHAPE_TEXT, .handle = em_handle_index, .stable = true,
	  .op_id = "getIndex", .summary = "What can be asked, as plain text." },
	{ VIEW("/v1/health"), .shape = EM_SHAPE_HEALTH, .handle = em_handle_health,
	  .op_id = "getHealth", .summary = "How Ember itself is doing." },
	{ VIEW("/v1/drives"), .shape = EM_SHAPE_DRIVES, PARAMS(drives_params),
	  .handle = em_handle_drives, .op_id = "listDrives",
	  .summary = "All drives with their state and most important values." },
	{ VIEW("/v1/drives/{id}"), .shape = EM_SHAPE_DRIVE, .handle = em_handle_drive,
	  .op_id = "getDrive",
	  .summary = "One drive: its state, and when each of its pages was read." },
	PAGE_ROUTE("/v1/drives/{id}/identify", EM_PAGE_IDENTIFY_CTRL, "getIdentify",
		   "Identify Controller: what the drive is and can do."),
	PAGE_ROUTE("/v1/drives/{id}/smart", EM_PAGE_SMART, "getSmart",
		   "SMART / health information: wear, temperature, errors, work done."),
	PAGE_ROUTE("/v1/drives/{id}/firmware", EM_PAGE_FIRMWARE, "getFirmware",
		   "Firmware slots and what they hold."),
	PAGE_ROUTE("/v1/drives/{id}/selftest", EM_PAGE_SELFTEST, "getSelftest",
		   "The running self-test and the results of earlier ones."),
	PAGE_ROUTE("/v1/drives/{id}/errors", EM_PAGE_ERRORS, "getErrors",
		   "The error log: commands that failed, newest first."),
	PAGE_ROUTE("/v1/drives/{id}/effects", EM_PAGE_EFFECTS, "getEffects",
		   "Commands that the drive supports, and what each of them changes."),
	PAGE_ROUTE("/v1/drives/{id}/sanitize", EM_PAGE_SANITIZE, "getSanitize",
		   "The state of the last sanitize operation, and how long one would take."),
	PAGE_ROUTE("/v1/drives/{id}/memblaze", EM_PAGE_MEMBLAZE, "getMemblaze",
		   "What Memblaze drives tell beyond SMART: capacitor, wear, flash, heat, power."),
	{ VIEW("/v1/drives/{id}/capacitor"), .shape = EM_SHAPE_CAPACITOR,
	  .handle = em_handle_capacitor, .op_id = "getCapacitor",
	  .summary = "Health of the power-loss protection, out of all that the drive tells." },
	{ VIEW("/v1/drives/{id}/security"), .shape = EM_SHAPE_SECURITY,
	  .handle = em_handle_security, .op_id = "getSecurity",
	  .summary = "Locking and encryption, and whether a namespace can be erased by its keys." },
	{ VIEW("/v1/drives/{id}/health"), .shape = EM_SHAPE_DRIVE_HEALTH,
	  .handle = em_handle_drive_health, .op_id = "getDriveHealth",
	  .summary = "One verdict on the drive, the reasons for it, and what to do about each." },
	{ VIEW("/v1/drives/{id}/namespaces"), .shape = EM_SHAPE_NAMESPACES,
	  .handle = em_handle_namespaces, .op_id = "listNamespaces",
	  .summary = "The namespaces of a drive and their Identify data." },
	{ VIEW("/v1/drives/{id}/history"), .shape = EM_SHAPE_HISTORY, PARAMS(history_params),
	  .handle = em_handle_history, .waits = true, .op_id = "getHistory",
	  .summary = "One value over time, oldest first." },
	{ .method = "POST", .path = "/v1/drives/{id}/refresh", .role = EM_ROLE_ADMIN,
	  .shape = EM_SHAPE_REFRESH, PARAMS(refresh_params), .handle = em_handle_refresh,
	  .status = 202, .conflicts = true, .waits = true, .op_id = "refreshDrive",
	  .summary = "Read every page of a drive now. attempted_at of its pages tells when each "
		     "was." },
	{ .method = "POST", .path = "/v1/drives/{id}/raw", .role = EM_ROLE_ADMIN,
	  .shape = EM_SHAPE_COMMAND, PARAMS(command_params), .handle = em_handle_command,
	  .conflicts = true, .waits = true, .op_id = "readRaw",
	  .summary = "Read one page of a drive now, as bytes and, where Ember has a table, as "
		     "values." },
	{ .method = "POST", .path = "/v1/drives/{id}/selftest", .role = EM_ROLE_ADMIN,
	  .shape = EM_SHAPE_SELF_TEST, PARAMS(self_test_params), .handle = em_handle_self_test,
	  .status = 202, .conflicts = true, .waits = true, .op_id = "runSelftest",
	  .summary = "Begin a device self-test on the controller and all its namespaces, or end "
		     "the one that runs." },
	{ .method = "POST", .path = "/v1/drives/{id}/retire", .role = EM_ROLE_ADMIN,
	  .shape = EM_SHAPE_SUMMARY, .handle = em_handle_retire, .conflicts = true, .waits = true,
	  .op_id = "retireDrive",
	  .summary = "A removed drive was taken away on purpose: it is missed no longer." },
	{ .method = "POST", .path = "/v1/drives/{id}/unretire", .role = EM_ROLE_ADMIN,
	  .shape = EM_SHAPE_SUMMARY, .handle = em_handle_unretire, .conflicts = true, .waits = true,
	  .op_id = "unretireDrive",
	  .summary = "A retired drive was not taken away on purpose: it is removed again." },
	{ VIEW("/v1/events"), .shape = EM_SHAPE_EVENTS, PARAMS(events_params),
	  .handle = em_handle_events, .stable = true, .waits = true, .op_id = "listEvents",
	  .summary = "What happened. With Accept: text/event-stream a stream of what happens." },
	{ VIEW("/v1/changes"), .shape = EM_SHAPE_EVENTS, PARAMS(changes_params),
	  .handle = em_handle_changes, .stable = true, .waits = true, .op_id = "listChanges",
	  .summary = "The events that changed something: drives, names, firmware, namespaces." },
	{ .method = "GET", .path = "/v1/tokens", .role = EM_ROLE_ADMIN, .shape = EM_SHAPE_TOKENS,
	  .handle = em_handle_tokens, .stable = true, .op_id = "listTokens",
	  .summary = "The tokens of the network listener, oldest first, without their secrets." },
	{ .method = "POST", .path = "/v1/tokens", .role = EM_ROLE_ADMIN, .shape = EM_SHAPE_TOKEN,
	  PARAMS(token_params), .handle = em_handle_token_create, .takes_body = true,
	  .status = 201, .conflicts = true, .waits = true, .op_id = "createToken",
	  .summary = "A new token. Its secret is told here and never again." },
	{ .method = "DELETE", .path = "/v1/tokens/{token}", .role = EM_ROLE_ADMIN,
	  .shape = EM_SHAPE_NONE, .handle = em_handle_token_revoke, .status = 204, .waits = true,
	  .op_id = "revokeToken", .summary = "From now on a token is refused." },
	{ VIEW("/metrics"), .shape = EM_SHAPE_METRICS, .handle = em_handle_metrics,
	  .op_id = "getMetrics", .summary = "Everything for Prometheus, text format 0.0.4." },
	{ VIEW("/openapi.json"), .shape = EM_SHAPE_OPENAPI, .handle = em_handle_openapi,
	  .stable = true, .op_id = "getOpenapi",
	  .summary = "This interface as an OpenAPI 3.1 document." },
};
/* clang-format on */
const unsigned em_route_count = EM_COUNT(em_routes);

/* ---- what rows say ------------------------------------------------------------------------ */

const char *em_route_path_param(const struct em_route *route)
{
	if (strstr(route->path, "{id}"))
		return "id";
	return strstr(route->path, "{token}") ? "token" : NULL;
}

unsigned em_route_statuses(const struct em_route *route, unsigned ret[EM_STATUSES_MAX])
{
	bool get = !strcmp(route->method, "GET");
	bool drive = strstr(route->path, "{id}") || route->shape == EM_SHAPE_EVENTS;
	const struct {
		unsigned status;
		bool may;
	} all[] = {
		{ route->status ? route->status : 200, true },
		{ 304, route->stable },
		{ 400, true }, /* a parameter that is not known or not valid */
		{ 401, true }, /* the network listener, without a valid token */
		{ 403, true }, /* a role that does not suffice; a page of another site */
		{ 404, drive || em_route_path_param(route) },
		{ 405, !get }, /* TCP is for reading only */
		{ 409, drive || route->conflicts },
		{ 413, true },
		{ 421, true }, /* TCP, and a Host that is not this host */
		{ 500, true }, /* no memory */
		{ 503, true }, /* too much at once, or what is needed does not work now */
	};
	unsigned count = 0;

	_Static_assert(EM_COUNT(all) <= EM_STATUSES_MAX, "all fit");
	for (unsigned i = 0; i < EM_COUNT(all); i++)
		if (all[i].may)
			ret[count++] = all[i].status;
	return count;
}
