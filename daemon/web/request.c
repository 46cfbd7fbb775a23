/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/web/request.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>
#include "lib/base/parse.h"

static enum MHD_Result count_header(void *userdata, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	struct em_header *header = userdata;

	(void)kind;
	if (strcasecmp(name, header->name))
		return MHD_YES;
	header->value = value ? value : "";
	header->count++;
	return MHD_YES;
}

struct em_header em_header_find(struct MHD_Connection *connection, const char *name)
{
	struct em_header header = { .name = name };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &header);
	return header;
}

bool em_request_has_body(struct MHD_Connection *connection)
{
	struct em_header length = em_header_find(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (em_header_find(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).count)
		return true;
	return length.count > 1 ||
	       (length.count && strspn(length.value, "0") != strlen(length.value));
}

bool em_request_body_may_come(struct MHD_Connection *connection, size_t max)
{
	struct em_header length = em_header_find(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct em_header coding = em_header_find(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
	uint64_t bytes;

	if (coding.count)
		return coding.count == 1 && !length.count && !strcasecmp(coding.value, "chunked");
	return length.count == 1 && em_parse_u64(length.value, 0, max, &bytes) == 0;
}

const char *em_request_bearer(struct MHD_Connection *connection)
{
	static const char scheme[] = "Bearer ";
	struct em_header header = em_header_find(connection, MHD_HTTP_HEADER_AUTHORIZATION);

	if (header.count != 1 || strncasecmp(header.value, scheme, sizeof(scheme) - 1))
		return NULL;
	return header.value + sizeof(scheme) - 1;
}
