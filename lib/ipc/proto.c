/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wire format. Header of 16 bytes: magic u32, version u16, kind u16, length of the body u32, zero
 * u32. Bodies are read and written by the two cursors below, field by field, so that no padding and
 * no byte order of a compiler gets onto the wire. Reserved bytes must be zero.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/cleanup.h"
#include "lib/base/le.h"
#include "lib/ipc/proto.h"

#define MAGIC	    UINT32_C(0x72626d45) /* "Embr" */
#define HEADER_SIZE 16u
#define SEALS	    (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

enum data_place { DATA_NONE, DATA_INLINE, DATA_MEMFD };

struct writer {
	uint8_t *at, *end;
	bool full;
};

struct reader {
	const uint8_t *at, *end;
	bool bad;
};

static uint8_t *writer_room(struct writer *w, size_t len)
{
	uint8_t *at = w->at;

	if (w->full || (size_t)(w->end - w->at) < len) {
		w->full = true;
		return NULL;
	}
	w->at += len;
	return at;
}

static void put(struct writer *w, uint64_t value, unsigned len)
{
	uint8_t *at = writer_room(w, len);

	for (unsigned i = 0; at && i < len; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(struct writer *w, const void *data, size_t len)
{
	uint8_t *at = writer_room(w, len);

	if (at && len > 0)
		memcpy(at, data, len);
}

static uint64_t take(struct reader *r, unsigned len)
{
	const uint8_t *at = r->at;

	if (r->bad || (size_t)(r->end - r->at) < len) {
		r->bad = true;
		return 0;
	}
	r->at += len;
	return (uint64_t)em_le_n(at, len);
}

static void take_zero(struct reader *r, unsigned len)
{
	if (take(r, len) != 0)
		r->bad = true;
}

/* What a structure must keep to on both ways; one place, so that what is sent can be read. */

static bool request_is_valid(const struct em_ipc_request *request)
{
	return request->op < EM_OP_COUNT && request->len <= EM_IPC_DATA_MAX;
}

static bool reply_is_valid(const struct em_ipc_reply *reply)
{
	if (reply->answer >= EM_ANSWER_COUNT || reply->data_len > EM_IPC_DATA_MAX)
		return false;
	if ((reply->answer == EM_ANSWER_STATUS) != (reply->status != 0))
		return false;
	if (reply->answer == EM_ANSWER_HOST_ERROR ? reply->err <= 0 : reply->err != 0)
		return false;
	return reply->data_len == 0 || reply->answer == EM_ANSWER_DONE;
}

static bool event_is_valid(const struct em_ipc_event *event)
{
	if (event->kind < EM_EVENT_AEN || event->kind > EM_EVENT_UNSTUCK)
		return false;
	return event->kind == EM_EVENT_AEN || event->aen == 0;
}

static bool drive_is_valid(const struct em_ipc_drive *drive)
{
	return drive->drive != 0 && drive->change >= EM_DRIVE_PRESENT &&
	       drive->change <= EM_DRIVE_GONE && drive->device[0] && !strchr(drive->device, '/');
}

static enum data_place data_place(const struct em_ipc_reply *reply)
{
	if (reply->data_len == 0)
		return DATA_NONE;
	return reply->data_len <= EM_IPC_INLINE_MAX ? DATA_INLINE : DATA_MEMFD;
}

/* The strings of a drive in the order of the wire. */
struct string_at {
	size_t offset, size;
};

#define STRING(member)                                                                             \
	{                                                                                          \
		offsetof(struct em_ipc_drive, member),                                             \
			sizeof(((struct em_ipc_drive *)NULL)->member)                              \
	}
static const struct string_at drive_strings[] = {
	STRING(device),	       STRING(serial),	       STRING(model),		STRING(firmware),
	STRING(subsystem_nqn), STRING(address),	       STRING(transport),	STRING(state),
	STRING(cntlid),	       STRING(numa_node),      STRING(controller_type), STRING(link_speed),
	STRING(link_width),    STRING(link_speed_max), STRING(link_width_max),
};

static void put_request(struct writer *w, const struct em_ipc_request *request)
{
	put(w, request->id, 4);
	put(w, request->drive, 4);
	put(w, request->op, 1);
	put(w, request->page, 1);
	put(w, request->lsp, 1);
	put(w, 0, 1);
	put(w, request->lsi, 2);
	put(w, 0, 2);
	put(w, request->nsid, 4);
	put(w, request->offset, 8);
	put(w, request->len, 4);
	put(w, request->arg, 4);
}

static bool take_request(struct reader *r, struct em_ipc_request *ret)
{
	ret->id = (uint32_t)take(r, 4);
	ret->drive = (uint32_t)take(r, 4);
	ret->op = (enum em_op)take(r, 1);
	ret->page = (uint8_t)take(r, 1);
	ret->lsp = (uint8_t)take(r, 1);
	take_zero(r, 1);
	ret->lsi = (uint16_t)take(r, 2);
	take_zero(r, 2);
	ret->nsid = (uint32_t)take(r, 4);
	ret->offset = take(r, 8);
	ret->len = (uint32_t)take(r, 4);
	ret->arg = (uint32_t)take(r, 4);
	return request_is_valid(ret);
}

static void put_reply(struct writer *w, const struct em_ipc_reply *reply)
{
	put(w, reply->id, 4);
	put(w, reply->drive, 4);
	put(w, reply->answer, 1);
	put(w, data_place(reply), 1);
	put(w, reply->status, 2);
	put(w, (uint32_t)reply->err, 4);
	put(w, reply->result, 4);
	put(w, reply->elapsed_us, 8);
	put(w, reply->data_len, 4);
	if (data_place(reply) == DATA_INLINE)
		put_bytes(w, reply->data, reply->data_len);
}

static bool take_reply(struct reader *r, struct em_ipc_reply *ret)
{
	enum data_place place;

	ret->id = (uint32_t)take(r, 4);
	ret->drive = (uint32_t)take(r, 4);
	ret->answer = (enum em_answer)take(r, 1);
	place = (enum data_place)take(r, 1);
	ret->status = (uint16_t)take(r, 2);
	ret->err = (int32_t)(uint32_t)take(r, 4);
	ret->result = (uint32_t)take(r, 4);
	ret->elapsed_us = take(r, 8);
	ret->data_len = (uint32_t)take(r, 4);
	ret->data_fd = -1;
	if (r->bad || !reply_is_valid(ret) || place != data_place(ret))
		return false;
	if (place == DATA_INLINE) {
		if ((size_t)(r->end - r->at) < ret->data_len)
			return false;
		ret->data = r->at;
		r->at += ret->data_len;
	}
	return true;
}

static void put_drive(struct writer *w, const struct em_ipc_drive *drive)
{
	put(w, drive->drive, 4);
	put(w, drive->change, 1);
	put(w, 0, 3);
	for (size_t i = 0; i < EM_COUNT(drive_strings); i++) {
		const char *text = (const char *)drive + drive_strings[i].offset;
		size_t len = strnlen(text, drive_strings[i].size - 1);

		put(w, len, 2);
		put_bytes(w, text, len);
	}
}

static void take_string(struct reader *r, char *text, size_t size)
{
	size_t len = take(r, 2);

	if (r->bad || len >= size || (size_t)(r->end - r->at) < len || memchr(r->at, 0, len)) {
		r->bad = true;
		return;
	}
	memcpy(text, r->at, len);
	text[len] = '\0';
	r->at += len;
}

static bool take_drive(struct reader *r, struct em_ipc_drive *ret)
{
	ret->drive = (uint32_t)take(r, 4);
	ret->change = (enum em_drive_change)take(r, 1);
	take_zero(r, 3);
	for (size_t i = 0; i < EM_COUNT(drive_strings); i++)
		take_string(r, (char *)ret + drive_strings[i].offset, drive_strings[i].size);
	return drive_is_valid(ret);
}

static void put_event(struct writer *w, const struct em_ipc_event *event)
{
	put(w, event->drive, 4);
	put(w, event->kind, 1);
	put(w, 0, 3);
	put(w, event->aen, 4);
}

static bool take_event(struct reader *r, struct em_ipc_event *ret)
{
	ret->drive = (uint32_t)take(r, 4);
	ret->kind = (enum em_event_kind)take(r, 1);
	take_zero(r, 3);
	ret->aen = (uint32_t)take(r, 4);
	return event_is_valid(ret);
}

static bool message_is_valid(const struct em_ipc_message *message)
{
	switch (message->kind) {
	case EM_IPC_REQUEST:
		return request_is_valid(&message->request);
	case EM_IPC_REPLY:
		return reply_is_valid(&message->reply) &&
		       (data_place(&message->reply) != DATA_INLINE || message->reply.data);
	case EM_IPC_DRIVE:
		return drive_is_valid(&message->drive);
	case EM_IPC_EVENT:
		return event_is_valid(&message->event);
	case EM_IPC_SYNC:
		return true;
	}
	return false;
}

static void put_body(struct writer *w, const struct em_ipc_message *message)
{
	switch (message->kind) {
	case EM_IPC_REQUEST:
		put_request(w, &message->request);
		break;
	case EM_IPC_REPLY:
		put_reply(w, &message->reply);
		break;
	case EM_IPC_DRIVE:
		put_drive(w, &message->drive);
		break;
	case EM_IPC_EVENT:
		put_event(w, &message->event);
		break;
	case EM_IPC_SYNC:
		break;
	}
}

ptrdiff_t em_ipc_encode(const struct em_ipc_message *message, uint8_t *buf, size_t size)
{
	struct writer w = { .at = buf, .end = buf + size };
	size_t body;

	if (!message_is_valid(message))
		return -EINVAL;
	put(&w, MAGIC, 4);
	put(&w, EM_IPC_VERSION, 2);
	put(&w, message->kind, 2);
	put(&w, 0, 8); /* the length is filled in below */
	put_body(&w, message);
	if (w.full)
		return -EMSGSIZE;
	body = (size_t)(w.at - buf) - HEADER_SIZE;
	em_put_le32(buf + 8, (uint32_t)body);
	return w.at - buf;
}

static bool take_body(struct reader *r, struct em_ipc_message *ret)
{
	switch (ret->kind) {
	case EM_IPC_REQUEST:
		return take_request(r, &ret->request);
	case EM_IPC_REPLY:
		return take_reply(r, &ret->reply);
	case EM_IPC_DRIVE:
		return take_drive(r, &ret->drive);
	case EM_IPC_EVENT:
		return take_event(r, &ret->event);
	case EM_IPC_SYNC:
		return true;
	}
	return false;
}

/* Sealed, so that the sender cannot change or cut it under our feet, and of the size named. */
static bool memfd_is_valid(int fd, uint32_t size)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
	       S_ISREG(st.st_mode) && st.st_size == (off_t)size;
}

/* A descriptor has to come with a reply that names one, and with nothing else. */
static bool fd_fits(const struct em_ipc_message *message, int fd)
{
	bool wanted = message->kind == EM_IPC_REPLY && data_place(&message->reply) == DATA_MEMFD;

	if (!wanted)
		return fd < 0;
	return fd >= 0 && memfd_is_valid(fd, message->reply.data_len);
}

int em_ipc_decode(const uint8_t *packet, size_t len, int fd, struct em_ipc_message *ret)
{
	struct reader r = { .at = packet, .end = packet + len };
	struct em_ipc_message message = { 0 };
	uint32_t body;

	if (take(&r, 4) != MAGIC || take(&r, 2) != EM_IPC_VERSION)
		return -EBADMSG;
	message.kind = (enum em_ipc_kind)take(&r, 2);
	body = (uint32_t)take(&r, 4);
	take_zero(&r, 4);
	if (r.bad || body != len - HEADER_SIZE)
		return -EBADMSG;
	if (!take_body(&r, &message) || r.bad || r.at != r.end || !fd_fits(&message, fd))
		return -EBADMSG;
	if (fd >= 0)
		message.reply.data_fd = fd;
	*ret = message;
	return 0;
}
