/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * wire - what the preload library and the simulator say to each other.
 *
 * All of it travels over Unix SOCK_SEQPACKET sockets below $EMBER_SIM_ROOT, in host byte order:
 *   dev.sock     one connection per open device node. It starts with a hello and its answer. Each
 *                ioctl is one request with a socket of its own for the answer (SCM_RIGHTS), so that
 *                threads and processes that share the descriptor cannot take each other's answer.
 *   event.sock   one connection per NETLINK_KOBJECT_UEVENT socket. bind() sends the group mask and
 *                gets it back; from then on each message is a uevent.
 */
#include <stdint.h>

#define SIM_ENV_ROOT	 "EMBER_SIM_ROOT"
#define SIM_ENV_CONTROL	 "EMBER_SIM_CONTROL"
#define SIM_DEV_SOCKET	 "/dev.sock"
#define SIM_EVENT_SOCKET "/event.sock"

/* Linux splits at max_hw_sectors and refuses more; ours is 128 KiB for every drive. */
#define SIM_DATA_MAX (128u * 1024)

enum sim_hello_kind { SIM_HELLO_OPEN = 1, SIM_HELLO_STAT = 2 };

struct sim_hello {
	uint32_t kind;
	uint32_t open_flags;
	char node[48]; /* "nvme0", "nvme0n1" */
};

struct sim_node_info {
	int32_t err; /* errno of the open, or 0 */
	uint32_t is_block;
	uint32_t major, minor;
};

enum sim_request_kind { SIM_REQ_STAT = 1, SIM_REQ_IOCTL = 2 };

struct sim_passthru {
	uint8_t opcode, flags;
	uint16_t rsvd;
	uint32_t nsid, cdw2, cdw3;
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
	uint32_t data_len, metadata_len, timeout_ms;
};

/* Followed by cmd.data_len bytes when the command sends data to the drive. */
struct sim_request {
	uint32_t kind;
	uint32_t ioctl;
	struct sim_passthru cmd;
};

/* Followed by data_len bytes for the caller's buffer. */
struct sim_reply {
	int32_t ret; /* what ioctl() returns: 0, an NVMe status or NSID, or -1 with err */
	int32_t err;
	uint64_t result; /* completion dword 0, or the value an ioctl stores */
	uint32_t data_len;
	struct sim_node_info node;
};

/* The header of a message of udevd, as libudev and libsystemd expect it. */
struct sim_udev_header {
	char prefix[8]; /* "libudev" */
	uint32_t magic; /* big-endian 0xfeedcafe */
	uint32_t header_size;
	uint32_t properties_off, properties_len;
	uint32_t subsystem_hash, devtype_hash, tag_hi, tag_lo;
};
