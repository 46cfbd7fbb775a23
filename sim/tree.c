/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"

bool sim_is_pcie(const struct sim_drive *drive)
{
	return strcmp(drive->transport, "pcie") == 0;
}

static unsigned subsystem_of(const struct sim_drive *drive)
{
	return drive->subsystem < 0 ? drive->minor : (unsigned)drive->subsystem;
}

#define CNTRLTYPE	    111 /* in Identify Controller */
#define CNTRLTYPE_DISCOVERY 2

unsigned sim_ns_minor(const struct sim_drive *drive, const struct sim_namespace *ns)
{
	return subsystem_of(drive) * 64 + ns->node - 1;
}

const char *sim_node_name(const struct sim_drive *drive, const struct sim_namespace *ns, char *buf)
{
	if (ns)
		snprintf(buf, 48, "nvme%un%u", subsystem_of(drive), ns->node);
	else
		snprintf(buf, 48, "%s", drive->name);
	return buf;
}

const char *sim_devpath(const struct sim_drive *drive, const struct sim_namespace *ns, char *buf)
{
	char node[48];
	int n;

	/* The disks of several controllers belong to none of them. */
	if (ns && drive->first)
		n = snprintf(buf, SIM_PATH_MAX, "/devices/virtual/nvme-subsystem/nvme-subsys%u",
			     subsystem_of(drive));
	else if (sim_is_pcie(drive))
		n = snprintf(buf, SIM_PATH_MAX, "/devices/pci0000:00/%s/nvme/%s", drive->address,
			     drive->name);
	else
		n = snprintf(buf, SIM_PATH_MAX, "/devices/virtual/nvme-fabrics/ctl/%s",
			     drive->name);
	if (ns)
		snprintf(buf + n, (size_t)(SIM_PATH_MAX - n), "/%s",
			 sim_node_name(drive, ns, node));
	return buf;
}

/* A place in the tree that several files and links are made in. The first error sticks. */
struct place {
	const char *root;
	char dir[SIM_PATH_MAX + 8]; /* below the root */
	int err;
};

__attribute__((format(printf, 2, 3))) static void enter(struct place *p, const char *format, ...)
{
	char path[PATH_MAX];
	va_list ap;
	size_t len = strlen(p->root);

	va_start(ap, format);
	vsnprintf(p->dir, sizeof(p->dir), format, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s%s", p->root, p->dir);
	for (char *slash = path + len + 1; p->err == 0 && slash; slash = strchr(slash, '/')) {
		if (slash > path + len + 1)
			*slash = '\0';
		if (slash > path + len + 1 && mkdir(path, 0755) < 0 && errno != EEXIST)
			p->err = -errno;
		if (slash > path + len + 1)
			*slash = '/';
		slash++;
	}
	if (p->err == 0 && mkdir(path, 0755) < 0 && errno != EEXIST)
		p->err = -errno;
}

/*
 * A file that is there is replaced, not rewritten: a reader sees the old text or the new one,
 * never half of it.
 */
static int write_file(const char *path, const char *text, size_t len)
{
	char aside[PATH_MAX + 1];
	em_cleanup(em_closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	bool replaces = fd < 0 && errno == EEXIST;

	if (replaces) {
		snprintf(aside, sizeof(aside), "%s~", path);
		fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	}
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len)
		return -EIO;
	return replaces && rename(aside, path) < 0 ? -errno : 0;
}

__attribute__((format(printf, 3, 4))) static void put(struct place *p, const char *name,
						      const char *format, ...)
{
	char path[PATH_MAX], text[1024];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s%s/%s", p->root, p->dir, name);
	if (p->err == 0)
		p->err = write_file(path, text, (size_t)n);
}

/* A relative link to `to`; its own place is the formatted path. Both are below /sys. */
__attribute__((format(printf, 3, 4))) static void link_to(struct place *p, const char *to,
							  const char *format, ...)
{
	char from[SIM_PATH_MAX], path[PATH_MAX], target[PATH_MAX];
	va_list ap;
	size_t n = 0;

	va_start(ap, format);
	vsnprintf(from, sizeof(from), format, ap);
	va_end(ap);
	/* One ".." for each directory between /sys and the link. */
	for (const char *c = strchr(from + 1, '/'); c; c = strchr(c + 1, '/'))
		n += (size_t)snprintf(target + n, sizeof(target) - n, "../");
	snprintf(target + n, sizeof(target) - n, "%s", to + 1);
	snprintf(path, sizeof(path), "%s/sys%s", p->root, from);
	if (p->err == 0 && symlink(target, path) < 0 && errno != EEXIST)
		p->err = -errno;
}

static void make_node(struct place *p, const char *node)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/dev/%s", p->root, node);
	if (p->err == 0 && mknod(path, S_IFSOCK | 0666, 0) < 0 && errno != EEXIST)
		p->err = -errno;
}

static void add_pci(struct place *p, const struct sim_drive *d)
{
	const uint8_t *id = d->page[SIM_PAGE_IDENTIFY];
	char dir[SIM_PATH_MAX];

	enter(p, "/sys/devices/pci0000:00/%s", d->address);
	put(p, "vendor", "0x%04x\n", em_le16(id));
	put(p, "device", "0x%04x\n", d->device_id);
	put(p, "subsystem_vendor", "0x%04x\n", d->subsystem_vendor);
	put(p, "subsystem_device", "0x%04x\n", d->subsystem_device);
	put(p, "class", "0x010802\n");
	put(p, "numa_node", "%d\n", d->numa_node);
	put(p, "current_link_speed", "%s\n", d->link_speed[0] ? d->link_speed : "16.0 GT/s PCIe");
	put(p, "current_link_width", "%u\n", d->link_width ? d->link_width : 4);
	put(p, "max_link_speed", "%s\n",
	    d->link_speed_max[0] ? d->link_speed_max : "16.0 GT/s PCIe");
	put(p, "max_link_width", "%u\n", d->link_width_max ? d->link_width_max : 4);
	put(p, "uevent",
	    "DRIVER=nvme\nPCI_CLASS=10802\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\n"
	    "PCI_SLOT_NAME=%s\nMODALIAS=pci:v%08Xd%08Xsv%08Xsd%08Xbc01sc08i02\n",
	    em_le16(id), d->device_id, d->subsystem_vendor, d->subsystem_device, d->address,
	    em_le16(id), d->device_id, d->subsystem_vendor, d->subsystem_device);
	snprintf(dir, sizeof(dir), "/devices/pci0000:00/%s", d->address);
	link_to(p, "/bus/pci", "%s/subsystem", dir);
	link_to(p, "/bus/pci/drivers/nvme", "%s/driver", dir);
	link_to(p, dir, "/bus/pci/devices/%s", d->address);
	if (!d->slot[0])
		return;
	/* A slot has the address of a device, without its function. */
	enter(p, "/sys/bus/pci/slots/%s", d->slot);
	put(p, "address", "%.*s\n", (int)strcspn(d->address, "."), d->address);
}

/* As Linux prints them: padded with blanks, up to the first NUL. */
static void put_identity(struct place *p, const struct sim_drive *d)
{
	const char *id = (const char *)d->page[SIM_PAGE_IDENTIFY];

	put(p, "serial", "%.20s\n", id + 4);
	put(p, "model", "%.40s\n", id + 24);
	put(p, "firmware_rev", "%.8s\n", id + 64);
}

static bool is_discovery(const struct sim_drive *d)
{
	return d->page[SIM_PAGE_IDENTIFY][CNTRLTYPE] == CNTRLTYPE_DISCOVERY;
}

static const char *type_name(const struct sim_drive *d)
{
	static const char *const names[] = { "reserved", "io", "discovery", "admin" };
	uint8_t type = d->page[SIM_PAGE_IDENTIFY][CNTRLTYPE];

	return type < EM_COUNT(names) ? names[type] : names[0];
}

static void add_subsystem(struct place *p, const struct sim_drive *d, const char *devpath)
{
	char dir[SIM_PATH_MAX];

	snprintf(dir, sizeof(dir), "/devices/virtual/nvme-subsystem/nvme-subsys%u",
		 subsystem_of(d));
	enter(p, "/sys%s", dir);
	put_identity(p, d);
	put(p, "subsysnqn", "%s\n", d->nqn);
	put(p, "subsystype", "%s\n", is_discovery(d) ? "discovery" : "nvm");
	put(p, "iopolicy", "numa\n");
	put(p, "uevent", "%s", "");
	link_to(p, "/class/nvme-subsystem", "%s/subsystem", dir);
	link_to(p, devpath, "%s/%s", dir, d->name);
	link_to(p, dir, "/class/nvme-subsystem/nvme-subsys%u", subsystem_of(d));
}

static void add_udev_entry(struct place *p, char kind, unsigned major, unsigned minor)
{
	char name[48];

	p->dir[0] = '\0';
	snprintf(name, sizeof(name), "run/udev/data/%c%u:%u", kind, major, minor);
	put(p, name, "I:1000000\nG:systemd\nQ:systemd\nV:1\n");
}

static void put_hex(struct place *p, const char *name, const uint8_t *bytes, size_t len,
		    bool dashes)
{
	char text[64];
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		bool dash = dashes ? i == 4 || i == 6 || i == 8 || i == 10 : i > 0;

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%02x",
				      dash ? (dashes ? "-" : " ") : "", bytes[i]);
	}
	put(p, name, "%s\n", text);
}

static void add_namespace(struct place *p, const struct sim_drive *d,
			  const struct sim_namespace *ns)
{
	char devpath[SIM_PATH_MAX], parent[SIM_PATH_MAX], node[48], eui[24];
	unsigned minor = sim_ns_minor(d, ns), block = 1u << ns->block_shift;
	const uint8_t *e = ns->eui64;

	sim_devpath(d, ns, devpath);
	sim_node_name(d, ns, node);
	snprintf(eui, sizeof(eui), "%02x%02x%02x%02x%02x%02x%02x%02x", e[0], e[1], e[2], e[3], e[4],
		 e[5], e[6], e[7]);
	enter(p, "/sys%s/queue", devpath);
	put(p, "logical_block_size", "%u\n", block);
	put(p, "physical_block_size", "%u\n", block);
	put(p, "rotational", "0\n");
	put(p, "max_hw_sectors_kb", "%u\n", SIM_DATA_MAX / 1024);
	enter(p, "/sys%s/holders", devpath);
	enter(p, "/sys%s", devpath);
	put(p, "dev", "%u:%u\n", SIM_MAJOR_BLOCK, minor);
	put(p, "size", "%llu\n", (unsigned long long)(ns->blocks << (ns->block_shift - 9)));
	put(p, "nsid", "%u\n", ns->nsid);
	put(p, "ro", "0\n");
	put(p, "removable", "0\n");
	put(p, "wwid", "eui.%s\n", eui);
	put_hex(p, "eui", ns->eui64, 8, false);
	put_hex(p, "nguid", ns->nguid, 16, true);
	put(p, "uevent", "MAJOR=%u\nMINOR=%u\nDEVNAME=%s\nDEVTYPE=disk\nDISKSEQ=%u\n",
	    SIM_MAJOR_BLOCK, minor, node, minor + 1);
	link_to(p, "/class/block", "%s/subsystem", devpath);
	if (d->first)
		snprintf(parent, sizeof(parent), "/devices/virtual/nvme-subsystem/nvme-subsys%u",
			 subsystem_of(d));
	else
		sim_devpath(d, NULL, parent);
	link_to(p, parent, "%s/device", devpath);
	add_udev_entry(p, 'b', SIM_MAJOR_BLOCK, minor);
	make_node(p, node);
	link_to(p, devpath, "/dev/block/%u:%u", SIM_MAJOR_BLOCK, minor);
	link_to(p, devpath, "/block/%s", node);
	link_to(p, devpath, "/class/block/%s", node);
}

static void add_controller(struct place *p, const struct sim_drive *d, const char *devpath)
{
	char parent[SIM_PATH_MAX];

	enter(p, "/sys%s", devpath);
	put_identity(p, d);
	put(p, "address", "%s\n", d->address);
	put(p, "transport", "%s\n", d->transport);
	put(p, "cntlid", "%u\n", em_le16(d->page[SIM_PAGE_IDENTIFY] + 78));
	put(p, "state", "%s\n", d->state);
	put(p, "subsysnqn", "%s\n", d->nqn);
	put(p, "numa_node", "%d\n", d->numa_node);
	put(p, "queue_count", "%u\n", d->queue_count);
	put(p, "sqsize", "1023\n");
	put(p, "cntrltype", "%s\n", type_name(d));
	put(p, "dctype", "none\n");
	put(p, "kato", "0\n");
	put(p, "dev", "%u:%u\n", SIM_MAJOR_CTRL, d->minor);
	put(p, "uevent", "MAJOR=%u\nMINOR=%u\nDEVNAME=%s\nNVME_TRTYPE=%s\n", SIM_MAJOR_CTRL,
	    d->minor, d->name, d->transport);
	snprintf(parent, sizeof(parent), "/devices/pci0000:00/%s", d->address);
	link_to(p, "/class/nvme", "%s/subsystem", devpath);
	link_to(p, sim_is_pcie(d) ? parent : "/devices/virtual/nvme-fabrics/ctl", "%s/device",
		devpath);
	add_udev_entry(p, 'c', SIM_MAJOR_CTRL, d->minor);
	make_node(p, d->name);
}

/* The links by which others find the drive come last. */
int sim_tree_add(const char *root, const struct sim_drive *drive)
{
	struct place p = { .root = root };
	char devpath[SIM_PATH_MAX];

	sim_devpath(drive, NULL, devpath);
	if (sim_is_pcie(drive))
		add_pci(&p, drive);
	add_controller(&p, drive, devpath);
	add_subsystem(&p, drive, devpath);
	link_to(&p, devpath, "/dev/char/%u:%u", SIM_MAJOR_CTRL, drive->minor);
	link_to(&p, devpath, "/class/nvme/%s", drive->name);
	for (unsigned i = 0; i < drive->ns_count; i++)
		add_namespace(&p, drive, &drive->ns[i]);
	return p.err;
}

int sim_tree_set_state(const char *root, const struct sim_drive *drive)
{
	struct place p = { .root = root };
	char devpath[SIM_PATH_MAX];

	snprintf(p.dir, sizeof(p.dir), "/sys%s", sim_devpath(drive, NULL, devpath));
	put(&p, "state", "%s\n", drive->state);
	return p.err;
}

int sim_tree_set_identity(const char *root, const struct sim_drive *drive)
{
	struct place p = { .root = root };
	char devpath[SIM_PATH_MAX];

	snprintf(p.dir, sizeof(p.dir), "/sys%s", sim_devpath(drive, NULL, devpath));
	put_identity(&p, drive);
	return p.err;
}

static void remove_at(int dirfd, const char *name)
{
	DIR *dir;
	struct dirent *e;
	int fd;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_at(fd, e->d_name);
	closedir(dir);
	unlinkat(dirfd, name, AT_REMOVEDIR);
}

__attribute__((format(printf, 2, 3))) static void drop(const char *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int n = snprintf(path, sizeof(path), "%s", root);

	va_start(ap, format);
	vsnprintf(path + n, sizeof(path) - (size_t)n, format, ap);
	va_end(ap);
	remove_at(AT_FDCWD, path);
}

int sim_tree_add_namespace(const char *root, const struct sim_drive *drive,
			   const struct sim_namespace *ns)
{
	struct place p = { .root = root };

	add_namespace(&p, drive, ns);
	return p.err;
}

void sim_tree_remove_namespace(const char *root, const struct sim_drive *drive,
			       const struct sim_namespace *ns)
{
	char node[48], devpath[SIM_PATH_MAX];
	unsigned minor = sim_ns_minor(drive, ns);

	sim_node_name(drive, ns, node);
	drop(root, "/dev/%s", node);
	drop(root, "/sys/class/block/%s", node);
	drop(root, "/sys/block/%s", node);
	drop(root, "/sys/dev/block/%u:%u", SIM_MAJOR_BLOCK, minor);
	drop(root, "/run/udev/data/b%u:%u", SIM_MAJOR_BLOCK, minor);
	drop(root, "/sys%s", sim_devpath(drive, ns, devpath));
}

static void remove_pci(const char *root, const struct sim_drive *drive)
{
	if (drive->slot[0])
		drop(root, "/sys/bus/pci/slots/%s", drive->slot);
	drop(root, "/sys/bus/pci/devices/%s", drive->address);
	drop(root, "/sys/devices/pci0000:00/%s", drive->address);
}

void sim_tree_remove(const char *root, const struct sim_drive *drive, bool disks_stay)
{
	char devpath[SIM_PATH_MAX];
	unsigned subsystem = subsystem_of(drive);

	for (unsigned i = 0; i < drive->ns_count && !disks_stay; i++)
		sim_tree_remove_namespace(root, drive, &drive->ns[i]);
	drop(root, "/dev/%s", drive->name);
	drop(root, "/sys/class/nvme/%s", drive->name);
	drop(root, "/sys/dev/char/%u:%u", SIM_MAJOR_CTRL, drive->minor);
	drop(root, "/run/udev/data/c%u:%u", SIM_MAJOR_CTRL, drive->minor);
	drop(root, "/sys/devices/virtual/nvme-subsystem/nvme-subsys%u/%s", subsystem, drive->name);
	if (!disks_stay) {
		drop(root, "/sys/class/nvme-subsystem/nvme-subsys%u", subsystem);
		drop(root, "/sys/devices/virtual/nvme-subsystem/nvme-subsys%u", subsystem);
	}
	drop(root, "/sys%s", sim_devpath(drive, NULL, devpath));
	if (sim_is_pcie(drive))
		remove_pci(root, drive);
}

/* What programs want to know of the real machine stays real. */
static void link_real(struct place *p, const char *name)
{
	char path[PATH_MAX], target[64];

	snprintf(path, sizeof(path), "%s/sys/%s", p->root, name);
	snprintf(target, sizeof(target), "/sys/%s", name);
	if (p->err == 0 && access(target, F_OK) == 0 && symlink(target, path) < 0)
		p->err = -errno;
}

/* Shell patterns read /dev itself: all that is there, and in its place for nvme* ours. */
static void link_dev(struct place *p)
{
	DIR *dir = opendir("/dev");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[PATH_MAX], target[300];

		if (e->d_name[0] == '.' || strncmp(e->d_name, "nvme", 4) == 0)
			continue;
		snprintf(path, sizeof(path), "%s/dev/%s", p->root, e->d_name);
		snprintf(target, sizeof(target), "/dev/%s", e->d_name);
		if (symlink(target, path) < 0)
			continue;
	}
	if (dir)
		closedir(dir);
}

/* A thousand drives are fifty thousand small files: in memory where that is possible. */
static const char *base_directory(void)
{
	const char *base = getenv("TMPDIR");

	if (base && *base == '/')
		return base;
	return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

static bool is_served(const char *root)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	em_cleanup(em_closep) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.90s%s", root, SIM_DEV_SOCKET);
	return fd >= 0 && connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0;
}

/*
 * A simulator that was killed leaves its tree behind. The age spares one that was made this moment
 * and has no socket yet.
 */
static void remove_leftovers(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		char path[PATH_MAX];

		if (strncmp(e->d_name, "ember-sim.", strlen("ember-sim.")) != 0)
			continue;
		snprintf(path, sizeof(path), "%.400s/%.200s", base, e->d_name);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
		    st.st_mtime < time(NULL) - 60 && !is_served(path))
			remove_at(AT_FDCWD, path);
	}
	if (dir)
		closedir(dir);
}

static const char *const directories[] = {
	"/dev",
	"/run/udev/data",
	"/run/udev/tags",
	"/sys/class/nvme",
	"/sys/class/nvme-subsystem",
	"/sys/class/block",
	"/sys/block",
	"/sys/dev/block",
	"/sys/dev/char",
	"/sys/bus/pci/devices",
	"/sys/bus/pci/slots",
	"/sys/bus/pci/drivers/nvme",
	"/sys/devices/pci0000:00",
	"/sys/devices/virtual/nvme-fabrics/ctl",
};

int sim_tree_create(char *root)
{
	char *real = NULL;
	struct place p = { .root = root };

	remove_leftovers(base_directory());
	snprintf(root, SIM_PATH_MAX, "%.400s/ember-sim.XXXXXX", base_directory());
	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		return -errno;
	real = realpath(root, NULL);
	if (!real)
		return -errno;
	snprintf(root, SIM_PATH_MAX, "%s", real);
	free(real);
	if (strlen(root) >= 80)
		return -ENAMETOOLONG; /* a socket's address has to fit behind it */
	for (unsigned i = 0; i < EM_COUNT(directories); i++)
		enter(&p, "%s", directories[i]);
	enter(&p, "/run/udev");
	put(&p, "control", "%s", "");
	link_dev(&p);
	link_real(&p, "devices/system");
	link_real(&p, "fs");
	link_real(&p, "kernel");
	link_real(&p, "module");
	return p.err;
}

void sim_tree_destroy(const char *root)
{
	drop(root, "%s", "");
}
