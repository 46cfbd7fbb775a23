/* SPDX-License-Identifier: Apache-2.0 */
/* options-doc - what is made at build of the broker's tables: files, man page, lists of names. */
#include "broker/options.h"
#include "broker/policy.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"
#include "lib/base/manual.h"
#include "lib/ipc/proto.h"

static void print_broker_file(struct em_buf *out)
{
	em_buf_adds(out, "# broker.conf - options of ember-broker, with their defaults.\n");
	em_manual_comment(out,
			  "Remove the # of a line to set it. The file must belong to root, and "
			  "nobody else may be able to write to it. \"systemctl reload "
			  "ember-broker\" takes over. See broker.conf(5).");
	em_buf_adds(out, "\n[broker]\n");
	for (unsigned i = 0; i < em_broker_option_count; i++) {
		em_manual_comment(out, em_broker_options[i].help);
		em_buf_addf(out, "#%s=%s\n", em_broker_options[i].key, em_broker_options[i].value);
	}
}

static void print_policy_file(struct em_buf *out)
{
	em_buf_adds(out, "# policy.conf - what ember-broker does for emberd on this host.\n");
	em_manual_comment(
		out, "Each class of operations is answered with allow, confirm (root must "
		     "confirm each plan) or deny. Remove the # of a line to set it. [host NAME] "
		     "(as \"uname -n\" prints it) overrides [default], [drive SERIAL] "
		     "overrides both. The file must belong to root, and nobody else may be able "
		     "to write to it. \"systemctl reload ember-broker\" takes over; a file with "
		     "an error changes nothing. See broker.conf(5).");
	em_buf_adds(out, "\n[default]\n");
	for (unsigned cls = 0; cls < EM_CLASS_COUNT; cls++) {
		em_manual_comment(out, em_policy_class_help(cls));
		em_buf_addf(out, "#%s=%s\n", em_class_name(cls),
			    em_verdict_name(em_policy_built_in(cls)));
	}
	em_buf_adds(out, "\n# Never to erase one drive:\n#[drive PH0042]\n#erase=deny\n");
}

static void add_item(struct em_buf *out, const char *key, const char *value, const char *help)
{
	em_buf_adds(out, ".TP\n\\fB");
	em_manual_roff(out, key);
	em_buf_adds(out, "=\\fR");
	em_manual_roff(out, value);
	em_buf_addc(out, '\n');
	em_manual_roff(out, help);
	em_buf_addc(out, '\n');
}

static const char man_head[] =
	".\\\" SPDX-License-Identifier: Apache-2.0\n"
	".TH BROKER.CONF 5 \"\" \"Ember\" \"File Formats\"\n"
	".SH NAME\n"
	"broker.conf, policy.conf \\- configuration and policy of ember\\-broker\n"
	".SH SYNOPSIS\n"
	".I " EM_SYSCONFDIR "/broker.conf\n"
	".br\n"
	".I " EM_SYSCONFDIR "/policy.conf\n"
	".SH DESCRIPTION\n"
	"Both files are optional.\n"
	"They and the directories above them must belong to root, and nobody else may be able to\n"
	"write to them:\n"
	"otherwise the broker does not start.\n"
	".PP\n"
	"A line is\n"
	".BR [SECTION] ,\n"
	".BR KEY=VALUE ,\n"
	"a comment that begins with #, or empty.\n"
	"An unknown section or key, a key twice, and a bad value are errors, told with file and "
	"line;\n"
	"a broker that runs keeps what it has.\n"
	"There are no drop\\-in directories: what root allows stands in one place.\n"
	".SH BROKER.CONF\n"
	"Section\n"
	".BR [broker] .\n"
	"Each option is shown with its default.\n";

static const char man_policy[] =
	".SH POLICY.CONF\n"
	"Each operation that emberd asks for belongs to a class, and each class has an answer:\n"
	".BR allow ,\n"
	".B confirm\n"
	"(root has to confirm each plan) or\n"
	".BR deny .\n"
	"Section\n"
	".B [default]\n"
	"is for all drives;\n"
	".B [host NAME]\n"
	"overrides it on the host of that name, and\n"
	".B [drive SERIAL]\n"
	"for one drive, which wins over both.\n"
	"The classes, with the answer that holds without a file:\n";

static const char man_tail[] = ".SH EXAMPLES\n"
			       "Never to erase one drive:\n"
			       ".PP\n.RS\n.nf\n"
			       "[drive PH0042]\n"
			       "erase=deny\n"
			       ".fi\n.RE\n"
			       ".SH SEE ALSO\n"
			       ".BR ember\\-broker (8),\n"
			       ".BR emberd.conf (5)\n";

static void print_man(struct em_buf *out)
{
	em_buf_adds(out, man_head);
	for (unsigned i = 0; i < em_broker_option_count; i++)
		add_item(out, em_broker_options[i].key, em_broker_options[i].value,
			 em_broker_options[i].help);
	em_buf_adds(out, man_policy);
	for (unsigned cls = 0; cls < EM_CLASS_COUNT; cls++)
		add_item(out, em_class_name(cls), em_verdict_name(em_policy_built_in(cls)),
			 em_policy_class_help(cls));
	em_buf_adds(out, man_tail);
}

static void print_option_names(struct em_buf *out)
{
	for (unsigned i = 0; i < em_broker_option_count; i++)
		em_buf_addf(out, "broker.conf [broker] %s=%s\n", em_broker_options[i].key,
			    em_broker_options[i].value);
	for (unsigned cls = 0; cls < EM_CLASS_COUNT; cls++)
		em_buf_addf(out, "policy.conf [default] %s=%s\n", em_class_name(cls),
			    em_verdict_name(em_policy_built_in(cls)));
	em_buf_adds(out, "policy.conf [host NAME]\npolicy.conf [drive SERIAL]\n");
}

static void print_broker_names(struct em_buf *out)
{
	for (unsigned i = EM_VERDICT_ALLOW; i <= EM_VERDICT_DENY; i++)
		em_buf_addf(out, "verdict %s\n", em_verdict_name(i));
	for (unsigned i = 0; i < EM_CLASS_COUNT; i++)
		em_buf_addf(out, "class %s\n", em_class_name(i));
	for (unsigned i = 0; i < EM_OP_COUNT; i++)
		em_buf_addf(out, "operation %s %s\n", em_op_name(i), em_class_name(em_op_class(i)));
	for (unsigned i = 0; i < EM_ANSWER_COUNT; i++)
		em_buf_addf(out, "answer %s\n", em_answer_name(i));
}

static void print_journal_names(struct em_buf *out)
{
#define EM_X(member, name) em_buf_adds(out, name "\n");
	EM_LOG_TEXTS(EM_X)
	EM_LOG_NUMBERS(EM_X)
#undef EM_X
}

int main(int argc, char **argv)
{
	static const struct em_manual_document documents[] = {
		{ "broker.conf", print_broker_file },
		{ "policy.conf", print_policy_file },
		{ "man", print_man },
		{ "names-options", print_option_names },
		{ "names-broker", print_broker_names },
		{ "names-journal", print_journal_names },
	};

	return em_manual_main(argc, argv, documents, EM_COUNT(documents));
}
