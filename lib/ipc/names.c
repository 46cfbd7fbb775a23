/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/ipc/proto.h"

#define EM_X(id, name) [EM_CLASS_##id] = name,
static const char *const class_names[] = { EM_CLASSES(EM_X) };
#undef EM_X

#define EM_X(id, name, cls) [EM_OP_##id] = name,
static const char *const op_names[] = { EM_OPERATIONS(EM_X) };
#undef EM_X

#define EM_X(id, name, cls) [EM_OP_##id] = EM_CLASS_##cls,
static const enum em_class op_classes[] = { EM_OPERATIONS(EM_X) };
#undef EM_X

#define EM_X(id, name) [EM_ANSWER_##id] = name,
static const char *const answer_names[] = { EM_ANSWERS(EM_X) };
#undef EM_X

static int find(const char *const *names, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -ENOENT;
}

const char *em_class_name(enum em_class cls)
{
	return cls < EM_CLASS_COUNT ? class_names[cls] : "unknown";
}

const char *em_op_name(enum em_op op)
{
	return op < EM_OP_COUNT ? op_names[op] : "unknown";
}

/* An operation that does not exist counts as the worst class. */
enum em_class em_op_class(enum em_op op)
{
	return op < EM_OP_COUNT ? op_classes[op] : EM_CLASS_ERASE;
}

int em_class_find(const char *name, enum em_class *ret)
{
	int r = find(class_names, EM_COUNT(class_names), name);

	if (r < 0)
		return r;
	*ret = (enum em_class)r;
	return 0;
}

int em_op_find(const char *name, enum em_op *ret)
{
	int r = find(op_names, EM_COUNT(op_names), name);

	if (r < 0)
		return r;
	*ret = (enum em_op)r;
	return 0;
}

const char *em_answer_name(enum em_answer answer)
{
	return answer < EM_ANSWER_COUNT ? answer_names[answer] : "unknown";
}
