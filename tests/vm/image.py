# SPDX-License-Identifier: Apache-2.0
"""The disk image of the guest: a Debian tree made once per list of packages and kept, and per run
a copy of it with Ember installed as `make install` does it."""
import fcntl
import glob
import hashlib
import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("EMBER_VM_DIR", "/var/tmp/ember-vm")

PACKAGES = """systemd systemd-sysv udev dbus kmod linux-image-amd64 nvme-cli curl python3
libnvme1 libsystemd0 libmicrohttpd12 libsqlite3-0 libjansson4 libcurl3-gnutls libeconf0
libgnutls30""".split()

# What the initial RAM disk has to find: the root file system, nothing else.
MODULES = "virtio_pci virtio_blk ext4 crc32c_generic".split()

ESSENTIAL_HOOK = ('set -e; cd "$1"; mkdir -p etc/initramfs-tools/conf.d usr/share/initramfs-tools/modules.d; '
                  "echo MODULES=list >etc/initramfs-tools/conf.d/ember; "
                  "printf '%s\\n' " + " ".join(MODULES)
                  + " >usr/share/initramfs-tools/modules.d/ember")

AGENT_UNIT = """[Unit]
Description=Test agent
[Service]
ExecStart=/usr/bin/python3 /usr/local/lib/ember-test/agent.py
Restart=always
OOMScoreAdjust=-900
[Install]
WantedBy=multi-user.target
"""

# Processes of the guest that only cost time under a software CPU.
MASKED = """serial-getty@ttyS0.service getty@tty1.service apt-daily.timer apt-daily-upgrade.timer
nvmf-autoconnect.service
e2scrub_all.timer fstrim.timer dpkg-db-backup.timer e2scrub_reap.service""".split()


def _apt_options():
    """Settings of the host's apt that decide whether its package sources work at all."""
    wanted = ("Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until",
              "Acquire::Check-Date")
    dump = subprocess.run(["apt-config", "dump"], stdout=subprocess.PIPE, text=True, check=True)
    lines = [line.rstrip(";") for line in dump.stdout.splitlines()]
    return ["--aptopt=" + line for line in lines if line.split(" ")[0] in wanted]


def _sources():
    """The host's own Debian sources, when it has them in the usual place."""
    for path in ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"):
        if os.path.exists(path):
            return [path]
    return []


def base_tree(say):
    """Returns the directory of the base tree, made now if there is none for this recipe."""
    recipe = "\n".join(PACKAGES + MASKED + [ESSENTIAL_HOOK])
    base = os.path.join(CACHE, hashlib.sha256(recipe.encode()).hexdigest()[:16])
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(os.path.join(base, "complete")):
            return base
        say("making the base tree (once, one to three minutes)")
        shutil.rmtree(base, ignore_errors=True)
        tree = os.path.join(base, "tree")
        os.makedirs(tree)
        excludes = ["--dpkgopt=path-exclude=/usr/share/%s/*" % d for d in ("doc", "man", "locale")]
        command = (["mmdebstrap", "--quiet", "--variant=minbase", "--format=directory",
                    "--include=" + ",".join(PACKAGES), "--essential-hook=" + ESSENTIAL_HOOK]
                   + excludes + _apt_options() + ["bookworm", tree] + _sources())
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        shutil.rmtree(os.path.join(tree, "var/lib/apt/lists"), ignore_errors=True)
        for name in MASKED:
            os.symlink("/dev/null", os.path.join(tree, "etc/systemd/system", name))
        with open(os.path.join(tree, "etc/hostname"), "w") as hostname:
            hostname.write("ember-vm\n")
        with open(os.path.join(base, "complete"), "w"):
            pass
    return base


def kernel(base):
    """(kernel, initial RAM disk) of the base tree."""
    boot = os.path.join(base, "tree/boot")
    return sorted(glob.glob(boot + "/vmlinuz-*"))[-1], sorted(glob.glob(boot + "/initrd.img-*"))[-1]


def _write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.unlink(path)  # the file in the base tree has the same inode
    with open(path, "w") as out:
        out.write(text)


def root_image(base, build, work):
    """Makes work/root.img: the base tree, Ember from the build directory, the agent."""
    tree = os.path.join(work, "tree")
    # Hard links: quick, and every tool below replaces files instead of writing into them.
    subprocess.run(["cp", "-al", os.path.join(base, "tree"), tree], check=True)
    subprocess.run(["make", "-s", "-C", build, "install", "DESTDIR=" + tree], check=True,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    # What the install step of a package would do, and `make install` does on a live machine.
    subprocess.run(["systemd-sysusers", "--root=" + tree], check=True)
    with open(os.path.join(HERE, "agent.py")) as agent:
        _write(os.path.join(tree, "usr/local/lib/ember-test/agent.py"), agent.read())
    _write(os.path.join(tree, "etc/systemd/system/ember-test-agent.service"), AGENT_UNIT)
    wants = os.path.join(tree, "etc/systemd/system/multi-user.target.wants")
    os.makedirs(wants, exist_ok=True)
    os.symlink("../ember-test-agent.service", os.path.join(wants, "ember-test-agent.service"))
    image = os.path.join(work, "root.img")
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-E", "root_owner=0:0", "-d", tree, image, "3G"],
                   check=True)
    shutil.rmtree(tree)
    return image
