/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/policy.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

#define UNSET	    (-1)
#define SERIAL_SIZE 64

struct drive_rules {
	char serial[SERIAL_SIZE];
	int verdicts[EM_CLASS_COUNT];
};

struct em_policy {
	const char *hostname; /* while loading */
	int defaults[EM_CLASS_COUNT];
	int host[EM_CLASS_COUNT];
	struct drive_rules *drives;
	size_t n_drives;
};

static const char *const verdict_names[] = {
	[EM_VERDICT_ALLOW] = "allow",
	[EM_VERDICT_CONFIRM] = "confirm",
	[EM_VERDICT_DENY] = "deny",
};

static const int built_in[EM_CLASS_COUNT] = {
	[EM_CLASS_READ] = EM_VERDICT_ALLOW,	  [EM_CLASS_ARM] = EM_VERDICT_ALLOW,
	[EM_CLASS_TEST] = EM_VERDICT_ALLOW,	  [EM_CLASS_PROVISION] = EM_VERDICT_CONFIRM,
	[EM_CLASS_FIRMWARE] = EM_VERDICT_CONFIRM, [EM_CLASS_ERASE] = EM_VERDICT_CONFIRM,
};

static const char *const class_help[EM_CLASS_COUNT] = {
	[EM_CLASS_READ] = "Identify, logs, features, lock state: what reading does not change.",
	[EM_CLASS_ARM] = "Asynchronous events: switch on, acknowledge.",
	[EM_CLASS_TEST] = "Device self-tests.",
	[EM_CLASS_PROVISION] = "Namespaces: create, attach, detach.",
	[EM_CLASS_FIRMWARE] = "Firmware: download, commit.",
	[EM_CLASS_ERASE] = "Format, sanitize, delete namespaces.",
};

const char *em_policy_class_help(enum em_class cls)
{
	return class_help[cls];
}

const char *em_verdict_name(enum em_verdict verdict)
{
	return verdict_names[verdict];
}

enum em_verdict em_policy_built_in(enum em_class cls)
{
	return (enum em_verdict)built_in[cls];
}

static void unset(int verdicts[EM_CLASS_COUNT])
{
	for (int i = 0; i < EM_CLASS_COUNT; i++)
		verdicts[i] = UNSET;
}

/* The text of a serial without blanks around it, as people write it in a file. */
static void plain_serial(char dst[SERIAL_SIZE], const char *serial)
{
	serial += strspn(serial, " \t");
	em_text_clean(dst, SERIAL_SIZE, serial, strlen(serial));
}

static struct drive_rules *find_drive(const struct em_policy *policy, const char *serial)
{
	for (size_t i = 0; i < policy->n_drives; i++)
		if (strcmp(policy->drives[i].serial, serial) == 0)
			return &policy->drives[i];
	return NULL;
}

static struct drive_rules *add_drive(struct em_policy *policy, const char serial[SERIAL_SIZE])
{
	struct drive_rules *grown = find_drive(policy, serial);

	if (grown || policy->n_drives == EM_POLICY_DRIVES_MAX)
		return grown;
	grown = reallocarray(policy->drives, policy->n_drives + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	policy->drives = grown;
	grown += policy->n_drives++;
	strcpy(grown->serial, serial);
	unset(grown->verdicts);
	return grown;
}

/* "drive  X" with prefix "drive" gives "X"; NULL when it is not that, or without a name. */
static const char *name_after(const char *section, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(section, prefix, len) != 0 || !strchr(" \t", section[len]))
		return NULL;
	section += len;
	section += strspn(section, " \t");
	return *section ? section : NULL;
}

static bool same_host(const char *name, const char *hostname)
{
	size_t len = strlen(name);

	while (len > 0 && strchr(" \t", name[len - 1]))
		len--;
	return strlen(hostname) == len && strncasecmp(name, hostname, len) == 0;
}

static const char *find_section(struct em_policy *policy, const char *section, int **ret)
{
	char serial[SERIAL_SIZE];
	struct drive_rules *drive;
	const char *name;

	if (strcmp(section, "default") == 0) {
		*ret = policy->defaults;
		return NULL;
	}
	name = name_after(section, "host");
	if (name) {
		*ret = same_host(name, policy->hostname) ? policy->host : NULL;
		return NULL;
	}
	name = name_after(section, "drive");
	if (!name)
		return "sections are [default], [host NAME] and [drive SERIAL]";
	if (strlen(name) >= SERIAL_SIZE)
		return "the serial is too long";
	/* Otherwise the rule would be one for another drive, or for none. */
	plain_serial(serial, name);
	if (strncmp(name, serial, strlen(serial)) != 0)
		return "a serial is printable ASCII, as \"emberctl drives\" shows it";
	drive = add_drive(policy, serial);
	if (!drive)
		return "too many drives";
	*ret = drive->verdicts;
	return NULL;
}

static const char *on_entry(void *self, const struct em_conf_entry *entry)
{
	int *verdicts = NULL;
	enum em_class cls;
	const char *problem;

	problem = find_section(self, entry->section, &verdicts);
	if (problem || !entry->key)
		return problem;
	if (em_class_find(entry->key, &cls) < 0)
		return "no class of operations (read, arm, test, provision, firmware, erase)";
	for (size_t i = 0; i < EM_COUNT(verdict_names); i++) {
		if (strcmp(entry->value, verdict_names[i]) != 0)
			continue;
		/* The same drive or host, written with other blanks or letters. */
		if (verdicts && verdicts[cls] != UNSET)
			return "stands twice";
		if (verdicts)
			verdicts[cls] = (int)i;
		return NULL;
	}
	return "must be allow, confirm or deny";
}

static int policy_new(const char *hostname, struct em_policy **ret)
{
	struct em_policy *policy = calloc(1, sizeof(*policy));

	if (!policy)
		return -ENOMEM;
	policy->hostname = hostname;
	unset(policy->defaults);
	unset(policy->host);
	*ret = policy;
	return 0;
}

int em_policy_load(const char *path, const char *hostname, struct em_policy **ret,
		   char error[EM_CONF_ERROR_SIZE])
{
	em_cleanup(em_policy_freep) struct em_policy *policy = NULL;
	int r = policy_new(hostname, &policy);

	if (r < 0)
		return r;
	r = em_conf_read(path, on_entry, policy, error);
	if (r < 0)
		return r;
	policy->hostname = NULL;
	*ret = em_steal(policy);
	return 0;
}

int em_policy_default(struct em_policy **ret)
{
	return policy_new(NULL, ret);
}

struct em_policy *em_policy_free(struct em_policy *policy)
{
	if (policy)
		free(policy->drives);
	free(policy);
	return NULL;
}

enum em_verdict em_policy_judge(const struct em_policy *policy, enum em_class cls,
				const char *serial)
{
	const struct drive_rules *drive;
	char plain[SERIAL_SIZE];
	int verdict = UNSET;

	plain_serial(plain, serial);
	drive = find_drive(policy, plain);
	if (drive)
		verdict = drive->verdicts[cls];
	if (verdict == UNSET)
		verdict = policy->host[cls];
	if (verdict == UNSET)
		verdict = policy->defaults[cls];
	if (verdict == UNSET)
		verdict = (int)em_policy_built_in(cls);
	return (enum em_verdict)verdict;
}
