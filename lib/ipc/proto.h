/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * proto - what emberd and ember-broker say to each other over /run/ember/broker.sock.
 *
 * SOCK_SEQPACKET, so one packet is one message: a fixed header, then a body of the kind the header
 * names. All numbers little-endian. Both sides treat the other's bytes as hostile: a decoder
 * returns -EBADMSG for anything that is not exactly right, and the connection is closed.
 *
 * After connect the broker sends one EM_IPC_DRIVE "present" per drive and then EM_IPC_SYNC; from
 * then on drives, events and replies come as they happen. Requests carry an id of the client's
 * choice, which the reply repeats; replies may come in any order.
 *
 * Owns:     decoded structures borrow from the packet they were decoded from.
 * Threads:  pure functions, but for the two that touch a socket. Blocking: never (MSG_DONTWAIT).
 * Limits:   a packet is at most EM_IPC_PACKET_MAX bytes; more data travels as a sealed memfd, at
 *           most EM_IPC_DATA_MAX bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EM_IPC_SOCKET	  "/run/ember/broker.sock"
#define EM_IPC_VERSION	  1
#define EM_IPC_INLINE_MAX 65536u
#define EM_IPC_PACKET_MAX (EM_IPC_INLINE_MAX + 512u)
#define EM_IPC_DATA_MAX	  (16u << 20)

enum em_ipc_kind {
	EM_IPC_REQUEST = 1, /* client to broker */
	EM_IPC_REPLY,	    /* broker to client, from here on */
	EM_IPC_DRIVE,	    /* a drive is present, changed or gone */
	EM_IPC_EVENT,	    /* the kernel told something about a drive */
	EM_IPC_SYNC,	    /* all drives of this moment have been sent */
};

/* Classes of operations, from harmless to final. The policy speaks of these. */
#define EM_CLASSES(X)                                                                              \
	X(READ, "read")                                                                            \
	X(ARM, "arm")                                                                              \
	X(TEST, "test")                                                                            \
	X(PROVISION, "provision")                                                                  \
	X(FIRMWARE, "firmware")                                                                    \
	X(ERASE, "erase")

/*
 * Operations: name on the wire's logs, class. The broker's table adds timeout, checks, handler. A
 * row's place is its number on the wire: new ones go to the end.
 */
#define EM_OPERATIONS(X)                                                                           \
	X(IDENTIFY, "identify", READ)                                                              \
	X(GET_LOG, "get-log", READ)                                                                \
	X(GET_FEATURE, "get-feature", READ)                                                        \
	X(IDENTIFY_ANY, "identify-any", ARM)                                                       \
	X(GET_LOG_ANY, "get-log-any", ARM)                                                         \
	X(GET_FEATURE_ANY, "get-feature-any", ARM)                                                 \
	X(ACKNOWLEDGE_EVENT, "acknowledge-event", ARM)                                             \
	X(ARM_EVENTS, "arm-events", ARM)                                                           \
	X(SELF_TEST, "self-test", TEST)                                                            \
	X(NAMESPACE_CREATE, "namespace-create", PROVISION)                                         \
	X(NAMESPACE_ATTACH, "namespace-attach", PROVISION)                                         \
	X(NAMESPACE_DETACH, "namespace-detach", PROVISION)                                         \
	X(FIRMWARE_DOWNLOAD, "firmware-download", FIRMWARE)                                        \
	X(FIRMWARE_COMMIT, "firmware-commit", FIRMWARE)                                            \
	X(NAMESPACE_DELETE, "namespace-delete", ERASE)                                             \
	X(FORMAT, "format", ERASE)                                                                 \
	X(SANITIZE, "sanitize", ERASE)                                                             \
	X(SECURITY_RECEIVE, "security-receive", READ)                                              \
	X(PERSISTENT_EVENTS, "persistent-events", ARM)

#define EM_X(id, name) EM_CLASS_##id,
enum em_class { EM_CLASSES(EM_X) EM_CLASS_COUNT };
#undef EM_X

#define EM_X(id, name, cls) EM_OP_##id,
enum em_op { EM_OPERATIONS(EM_X) EM_OP_COUNT };
#undef EM_X

const char *em_class_name(enum em_class cls);
const char *em_op_name(enum em_op op);
enum em_class em_op_class(enum em_op op);
/* -ENOENT */
int em_class_find(const char *name, enum em_class *ret);
int em_op_find(const char *name, enum em_op *ret);

/* How a request ended. */
#define EM_ANSWERS(X)                                                                              \
	X(DONE, "done")				    /* the drive completed it with status 0 */     \
	X(STATUS, "status")			    /* the drive (or kernel) answered .status */   \
	X(DENIED, "denied")			    /* the policy says no */                       \
	X(NEEDS_CONFIRMATION, "needs-confirmation") /* the policy wants root's word */             \
	X(INVALID, "invalid")		  /* the request breaks the operation's checks */          \
	X(NOT_SUPPORTED, "not-supported") /* this broker has no handler for it */                  \
	X(TIMEOUT, "timeout")		  /* no answer in our patience; it is still out */         \
	X(STUCK, "stuck")		  /* an earlier command is still out; not sent */          \
	X(BUSY, "busy")			  /* the kernel is resetting the controller */             \
	X(QUEUE_FULL, "queue-full")	  /* too many requests wait for this drive */              \
	X(GONE, "gone")			  /* no such drive any more */                             \
	X(HOST_ERROR, "host-error")	  /* the system call failed with .err */

#define EM_X(id, name) EM_ANSWER_##id,
enum em_answer { EM_ANSWERS(EM_X) EM_ANSWER_COUNT };
#undef EM_X
const char *em_answer_name(enum em_answer answer);

struct em_ipc_request {
	uint32_t id; /* repeated in the reply */
	uint32_t
		drive; /* handle from an EM_IPC_DRIVE message; never used again for another drive */
	enum em_op op;
	uint8_t page; /* CNS, log page, feature, security protocol or self-test code */
	uint8_t lsp;  /* log specific parameter, or SEL of a feature */
	uint16_t lsi; /* log specific identifier, CNTID of Identify, or SPSP of a protocol */
	uint32_t nsid;
	uint64_t offset; /* of a log page */
	uint32_t len;	 /* bytes wanted; 0 where the operation returns none */
	uint32_t arg;	 /* ARM_EVENTS: bits to set in feature 0Bh */
};

struct em_ipc_reply {
	uint32_t id, drive;
	enum em_answer answer;
	uint16_t status;     /* EM_ANSWER_STATUS: the whole word of lib/nvme/status.h */
	int32_t err;	     /* EM_ANSWER_HOST_ERROR: positive errno */
	uint32_t result;     /* completion dword 0 */
	uint64_t elapsed_us; /* from the queue to the answer */
	const uint8_t *data; /* NULL when there is none, or when it came as memfd */
	uint32_t data_len;
	int data_fd; /* sealed memfd with data_len bytes, or -1; the receiver closes it */
};

enum em_drive_change { EM_DRIVE_PRESENT = 1, EM_DRIVE_CHANGED, EM_DRIVE_GONE };

/* Strings are what sysfs says, byte by byte, trailing newline cut; "" when the attribute is absent.
 */
#define EM_IPC_STRING_MAX 256
struct em_ipc_drive {
	uint32_t drive; /* its handle, never 0 */
	enum em_drive_change change;
	char device[32]; /* nvme0 */
	char serial[EM_IPC_STRING_MAX], model[EM_IPC_STRING_MAX], firmware[EM_IPC_STRING_MAX];
	char subsystem_nqn[EM_IPC_STRING_MAX];
	char address[EM_IPC_STRING_MAX]; /* 0000:01:00.0 */
	char transport[32];		 /* pcie */
	char state[32];			 /* live, resetting, connecting, deleting, dead */
	char cntlid[16], numa_node[16], controller_type[32];
	/* Of PCIe: "16.0 GT/s PCIe", "4". The greatest is what both ends could do. */
	char link_speed[32], link_width[16], link_speed_max[32], link_width_max[16];
};

enum em_event_kind {
	EM_EVENT_AEN = 1,    /* NVME_AEN=: .aen is dword 0 of the completion */
	EM_EVENT_CONNECTED,  /* NVME_EVENT=connected: the controller was started (again) */
	EM_EVENT_NAMESPACES, /* a block device of this controller came, went or changed */
	EM_EVENT_UNSTUCK,    /* the command that was out has come back: the drive answers again */
};

struct em_ipc_event {
	uint32_t drive;
	enum em_event_kind kind;
	uint32_t aen;
};

struct em_ipc_message {
	enum em_ipc_kind kind;
	union {
		struct em_ipc_request request;
		struct em_ipc_reply reply;
		struct em_ipc_drive drive;
		struct em_ipc_event event;
	};
};

/* Each writes one packet into buf and returns its length, or -EMSGSIZE, or -EINVAL. */
ptrdiff_t em_ipc_encode(const struct em_ipc_message *message, uint8_t *buf, size_t size);

/* fd: a descriptor that came with the packet, or -1; on success the message owns it. -EBADMSG. */
int em_ipc_decode(const uint8_t *packet, size_t len, int fd, struct em_ipc_message *ret);

/*
 * Sends one message; reply data above EM_IPC_INLINE_MAX goes as a sealed memfd of its own.
 * -EAGAIN: the peer does not read; -EPIPE, -ECONNRESET: it is gone.
 */
int em_ipc_send(int fd, const struct em_ipc_message *message);

/*
 * Receives one message into buf (EM_IPC_PACKET_MAX bytes), from which *ret borrows.
 * 1: a message; 0: the peer closed; -EAGAIN: nothing there; -EBADMSG: not our protocol.
 * A memfd is checked (sealed, of the size named) before it is handed out.
 */
int em_ipc_receive(int fd, uint8_t *buf, size_t size, struct em_ipc_message *ret);
