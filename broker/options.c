/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/options.h"

#include <errno.h>
#include <getopt.h>
#include <libnvme.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/cleanup.h"
#include "lib/base/log.h"
#include "lib/base/parse.h"

#include "config.h"

#define PATIENCE_MIN_US	    (100 * EM_US_PER_MS)
#define PATIENCE_MAX_US	    (600 * EM_US_PER_SEC)
#define PATIENCE_RANGE	    "100ms to 10min"
#define PATIENCE_DEFAULT    "10s"
#define CLIENT_USER_DEFAULT "ember"

static const char usage[] =
	"Usage: ember-broker [OPTION]...\n"
	"Carries out for emberd what needs root, as far as the policy allows.\n\n"
	"  --socket PATH        listen here (default: the socket systemd passes)\n"
	"  --config FILE        read FILE instead of " EM_SYSCONFDIR "/broker.conf\n"
	"  --policy FILE        read FILE instead of " EM_SYSCONFDIR "/policy.conf\n"
	"  --client-user USER   name or number of the only user let in (" CLIENT_USER_DEFAULT ")\n"
	"  --patience TIME      how long a drive may take to answer (" PATIENCE_DEFAULT ")\n"
	"  --log-level LEVEL    " EM_LOG_LEVELS " (info)\n"
	"  --print-policy       say what is wrong with the files, or what the policy answers, and "
	"exit\n"
	"  --record FILE        write what the drives answer into FILE, for ember-sim to play, and "
	"exit\n"
	"  --mask               with --record: other serial numbers and names in their place\n"
	"  --version            print the versions of ember-broker and libnvme\n"
	"  --help               print this\n";

static int parse_log_level(const char *text, int *ret)
{
	int r = em_log_level_find(text, ret);

	if (r < 0)
		fprintf(stderr, "ember-broker: --log-level %s: write " EM_LOG_LEVELS "\n", text);
	return r;
}

static int take_option(struct em_options *config, int option)
{
	switch (option) {
	case 's':
		config->socket = optarg;
		return 0;
	case 'c':
		config->config = optarg;
		config->config_given = true;
		return 0;
	case 'p':
		config->policy = optarg;
		config->policy_given = true;
		return 0;
	case 'u':
		config->client_user_option = optarg;
		return 0;
	case 't':
		config->patience_option = optarg;
		return 0;
	case 'l':
		return parse_log_level(optarg, &config->log_level);
	case 'P':
		config->print_policy = true;
		return 0;
	case 'r':
		config->record = optarg;
		return 0;
	case 'm':
		config->mask = true;
		return 0;
	case 'v':
		printf("ember-broker " PACKAGE_VERSION "\nlibnvme %s\n",
		       nvme_get_version(NVME_VERSION_PROJECT));
		return 1;
	case 'h':
		fputs(usage, stdout);
		return 1;
	default:
		fputs("Try ember-broker --help\n", stderr);
		return -EINVAL;
	}
}

int em_options_parse(struct em_options *config, int argc, char **argv)
{
	static const struct option options[] = {
		{ "socket", required_argument, NULL, 's' },
		{ "config", required_argument, NULL, 'c' },
		{ "policy", required_argument, NULL, 'p' },
		{ "client-user", required_argument, NULL, 'u' },
		{ "patience", required_argument, NULL, 't' },
		{ "log-level", required_argument, NULL, 'l' },
		{ "print-policy", no_argument, NULL, 'P' },
		{ "record", required_argument, NULL, 'r' },
		{ "mask", no_argument, NULL, 'm' },
		{ "version", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option, r = 0;

	*config = (struct em_options){
		.config = EM_SYSCONFDIR "/broker.conf",
		.policy = EM_SYSCONFDIR "/policy.conf",
		.log_level = LOG_INFO,
	};
	while (r == 0 && (option = getopt_long(argc, argv, "", options, NULL)) != -1)
		r = take_option(config, option);
	if (r == 0 && optind < argc) {
		fprintf(stderr, "ember-broker: \"%s\" is not an option\n", argv[optind]);
		r = -EINVAL;
	}
	if (r == 0 && config->mask && !config->record) {
		fputs("ember-broker: --mask is for --record FILE\n", stderr);
		r = -EINVAL;
	}
	return r;
}

static const char *set_user(struct em_options *config, const char *text)
{
	if (*text == '\0' || strlen(text) >= sizeof(config->client_user))
		return "must be the name or number of a user";
	strcpy(config->client_user, text);
	return NULL;
}

static const char *set_patience(struct em_options *config, const char *text)
{
	if (em_parse_duration_us(text, PATIENCE_MIN_US, PATIENCE_MAX_US, &config->patience_us) < 0)
		return "must be a time from " PATIENCE_RANGE ", such as " PATIENCE_DEFAULT;
	return NULL;
}

const struct em_broker_option em_broker_options[] = {
	{ "patience", PATIENCE_DEFAULT,
	  "How long a drive may take to answer before it counts as unresponsive: " PATIENCE_RANGE
	  ". The kernel's own timeout is another matter and stays as it is.",
	  set_patience },
	{ "client_user", CLIENT_USER_DEFAULT,
	  "The only user whose connections are accepted, by name or number.", set_user },
};
const unsigned em_broker_option_count = EM_COUNT(em_broker_options);

static const char *on_entry(void *self, const struct em_conf_entry *entry)
{
	if (strcmp(entry->section, "broker") != 0)
		return "the only section is [broker]";
	if (!entry->key)
		return NULL;
	for (unsigned i = 0; i < em_broker_option_count; i++)
		if (strcmp(entry->key, em_broker_options[i].key) == 0)
			return em_broker_options[i].set(self, entry->value);
	return "no such key (patience, client_user)";
}

static void set_defaults(struct em_options *config)
{
	for (unsigned i = 0; i < em_broker_option_count; i++)
		em_broker_options[i].set(config, em_broker_options[i].value);
}

static int apply_options(struct em_options *config, char *error)
{
	const char *problem = NULL, *option = NULL;

	if (config->client_user_option) {
		option = "--client-user";
		problem = set_user(config, config->client_user_option);
	}
	if (!problem && config->patience_option) {
		option = "--patience";
		problem = set_patience(config, config->patience_option);
	}
	if (!problem)
		return 0;
	snprintf(error, EM_CONF_ERROR_SIZE, "%s: %s", option, problem);
	return -EINVAL;
}

static int resolve_user(struct em_options *config, char *error)
{
	const struct passwd *pw;
	uint64_t number;

	if (em_parse_u64(config->client_user, 0, UINT32_MAX - 1, &number) == 0)
		pw = getpwuid((uid_t)number);
	else
		pw = getpwnam(config->client_user);
	if (pw) {
		config->client_uid = pw->pw_uid;
		config->client_gid = pw->pw_gid;
		return 0;
	}
	if (em_parse_u64(config->client_user, 0, UINT32_MAX - 1, &number) == 0) {
		config->client_uid = (uid_t)number;
		config->client_gid = (gid_t)-1;
		return 0;
	}
	snprintf(error, EM_CONF_ERROR_SIZE, "there is no user \"%s\" (client_user, --client-user)",
		 config->client_user);
	return -ESRCH;
}

int em_options_load(struct em_options *config, char error[EM_CONF_ERROR_SIZE])
{
	struct em_options loaded = *config;
	int r;

	set_defaults(&loaded);
	r = em_conf_read(config->config, on_entry, &loaded, error);
	if (r < 0 && !(r == -ENOENT && !config->config_given))
		return r;
	r = apply_options(&loaded, error);
	if (r < 0)
		return r;
	/* A recording has no client: it works where that user was never made. */
	r = config->record ? 0 : resolve_user(&loaded, error);
	if (r < 0)
		return r;
	*config = loaded;
	return 0;
}
