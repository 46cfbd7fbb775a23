/* SPDX-License-Identifier: Apache-2.0 */
/* emberd: composes its rooms and runs the loop; nothing else. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <config.h>
#include "daemon/main/daemon.h"
#include "daemon/main/options.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"

enum { OPT_CONFIG = 'c', OPT_HELP = 'h', OPT_LONG = 256 };
enum {
	OPT_BROKER = OPT_LONG,
	OPT_SOCKET,
	OPT_STATE,
	OPT_CHECK,
	OPT_PRINT,
	OPT_DEFAULT,
	OPT_LEVEL,
	OPT_VERSION
};

static const struct option options[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "broker-socket", required_argument, NULL, OPT_BROKER },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "state-directory", required_argument, NULL, OPT_STATE },
	{ "check-config", no_argument, NULL, OPT_CHECK },
	{ "print-config", no_argument, NULL, OPT_PRINT },
	{ "print-default-config", no_argument, NULL, OPT_DEFAULT },
	{ "log-level", required_argument, NULL, OPT_LEVEL },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static const char usage[] =
	"Usage: emberd [OPTION...]\n"
	"Watches the NVMe drives of this host and answers over HTTP.\n"
	"\n"
	"  -c, --config FILE         read FILE and FILE.d/*.conf (default " EM_SYSCONFDIR
	"/emberd.conf)\n"
	"      --broker-socket PATH  where ember-broker listens\n"
	"      --socket PATH         unix socket to answer on\n"
	"      --state-directory DIR where the history is kept\n"
	"      --log-level LEVEL     " EM_LOG_LEVELS "\n"
	"      --check-config        read the configuration, say what is wrong, and exit\n"
	"      --print-config        read the configuration and print every option as it is\n"
	"      --print-default-config\n"
	"                            print a configuration file with every option explained\n"
	"      --version, -h, --help\n"
	"\n"
	"SIGHUP reads the configuration again. See emberd(8) and emberd.conf(5).\n";

/* Far above what the option table can print. */
#define DEFAULT_FILE_MAX (1u << 20)

static void print_default(void)
{
	struct em_buf text;

	em_buf_init(&text, DEFAULT_FILE_MAX);
	em_options_print_file(&text);
	if (!em_buf_failed(&text))
		fwrite(text.data, 1, text.len, stdout);
	em_buf_done(&text);
}

enum action { RUN, CHECK, PRINT, STOP, FAIL };

static enum action read_option(int option, struct em_daemon_options *ret)
{
	switch (option) {
	case OPT_CONFIG:
		ret->config_path = optarg;
		return RUN;
	case OPT_BROKER:
		ret->broker_socket = optarg;
		return RUN;
	case OPT_SOCKET:
		ret->socket = optarg;
		return RUN;
	case OPT_STATE:
		ret->state_directory = optarg;
		return RUN;
	case OPT_LEVEL:
		ret->log_level = optarg;
		return RUN;
	case OPT_CHECK:
		return CHECK;
	case OPT_PRINT:
		return PRINT;
	case OPT_DEFAULT:
		print_default();
		return STOP;
	case OPT_VERSION:
		puts("emberd " PACKAGE_VERSION);
		return STOP;
	case OPT_HELP:
		fputs(usage, stdout);
		return STOP;
	default:
		return FAIL;
	}
}

static enum action read_arguments(int argc, char **argv, struct em_daemon_options *ret)
{
	enum action action = RUN;
	int option;

	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		enum action wanted = read_option(option, ret);

		if (wanted == STOP || wanted == FAIL)
			return wanted;
		if (wanted != RUN)
			action = wanted;
	}
	if (optind < argc) {
		fprintf(stderr, "emberd: unexpected argument '%s'\n", argv[optind]);
		return FAIL;
	}
	return action;
}

int main(int argc, char **argv)
{
	struct em_daemon_options wanted = { 0 };

	em_log_init("emberd", LOG_INFO);
	switch (read_arguments(argc, argv, &wanted)) {
	case STOP:
		return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
	case FAIL:
		fputs("Try 'emberd --help'.\n", stderr);
		return 2;
	case CHECK:
		em_log_plain();
		return em_daemon_check(&wanted) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	case PRINT:
		em_log_plain();
		return em_daemon_print(&wanted) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
	case RUN:
		break;
	}
	return em_daemon_run(&wanted) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
