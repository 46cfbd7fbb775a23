/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/route.h"

#include "daemon/web/handlers.h"
#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

#define DAY_US (UINT64_C(86400) * EM_US_PER_SEC)

static const struct em_param history_params[EM_HISTORY_PARAM_COUNT] = {
	[EM_HISTORY_FIELD] = { .name = "field", .type = EM_PARAM_NAME, .required = true,
			       .help = "The key of the value, as in the page documents." },
	[EM_HISTORY_FROM] = { .name = "from", .type = EM_PARAM_TIME, .fallback = "-24h",
			      .help = "First moment: RFC 3339, seconds since 1970, now, -15min." },
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
			      .help = "The namespace, for values of a namespace; 0 otherwise." },
};

#define PAGE_ROUTE(path_, page_, op_id_, summary_)                                                 \
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = path_, .shape = EM_SHAPE_PAGE, .page = page_,                   \
	  .handle = em_handle_page, .op_id = op_id_, .summary = summary_ }

const struct em_route em_routes[] = {
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/", .shape = EM_SHAPE_TEXT, .handle = em_handle_index,
	  .op_id = "getIndex", .summary = "What can be asked, as plain text." },
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/v1/health", .shape = EM_SHAPE_HEALTH,
	  .handle = em_handle_health, .op_id = "getHealth",
	  .summary = "How Ember itself is doing." },
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/v1/drives", .shape = EM_SHAPE_DRIVES,
	  .handle = em_handle_drives, .op_id = "listDrives",
	  .summary = "All drives with their state and most important values." },
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/v1/drives/{id}", .shape = EM_SHAPE_DRIVE,
	  .handle = em_handle_drive, .op_id = "getDrive",
	  .summary = "One drive: its state, and when each of its pages was read." },
	PAGE_ROUTE("/v1/drives/{id}/identify", EM_PAGE_IDENTIFY_CTRL, "getIdentify",
		   "Identify Controller: what the drive is and can do."),
	PAGE_ROUTE("/v1/drives/{id}/smart", EM_PAGE_SMART, "getSmart",
		   "SMART / health information: wear, temperature, errors, work done."),
	PAGE_ROUTE("/v1/drives/{id}/firmware", EM_PAGE_FIRMWARE, "getFirmware",
		   "Firmware slots and what they hold."),
	PAGE_ROUTE("/v1/drives/{id}/selftest", EM_PAGE_SELFTEST, "getSelftest",
		   "The running self-test and the results of earlier ones."),
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/v1/drives/{id}/namespaces", .shape = EM_SHAPE_NAMESPACES,
	  .handle = em_handle_namespaces, .op_id = "listNamespaces",
	  .summary = "The namespaces of a drive and their Identify data." },
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/v1/drives/{id}/history", .shape = EM_SHAPE_HISTORY,
	  .params = history_params, .param_count = EM_COUNT(history_params),
	  .handle = em_handle_history, .waits = true, .op_id = "getHistory",
	  .summary = "One value over time, oldest first." },
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/metrics", .shape = EM_SHAPE_METRICS,
	  .handle = em_handle_metrics, .op_id = "getMetrics",
	  .summary = "Everything for Prometheus, text format 0.0.4." },
	{ .method = "GET", .role = EM_ROLE_VIEWER, .path = "/openapi.json", .shape = EM_SHAPE_OPENAPI,
	  .handle = em_handle_openapi, .op_id = "getOpenapi",
	  .summary = "This interface as an OpenAPI 3.1 document." },
};
const unsigned em_route_count = EM_COUNT(em_routes);
