/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "client/api.h"
#include "lib/base/cleanup.h"

enum em_exit em_verb_version(struct em_client *client)
{
	em_cleanup(em_doc_done) struct em_doc doc = { 0 };
	const char *version;
	enum em_exit code;

	/* Our own version is known whatever becomes of the question. */
	em_writer_fact(client->writer, "emberctl",
		       (struct em_cell){ PACKAGE_VERSION, EM_TONE_PLAIN });
	code = em_api_get(client, "/v1/health", &doc);
	if (code != EM_EXIT_OK)
		return code;
	em_writer_document(client->writer, NULL, doc.text, doc.len);
	version = em_json_text(doc.root, "version");
	em_writer_fact(client->writer, "emberd", (struct em_cell){ version, EM_TONE_PLAIN });
	return EM_EXIT_OK;
}
