/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * cleanup - scope-bound release of resources and transfer of ownership.
 *
 * Rule: a function uses these or `goto`, never both. Destructors accept NULL and return NULL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define em_cleanup(fn) __attribute__((cleanup(fn)))

/* Makes fn##p, usable with em_cleanup(), out of a destructor `type *fn(type *)`. */
#define EM_DEFINE_CLEANUP(type, fn)                                                                \
	static inline void fn##p(type **p)                                                         \
	{                                                                                          \
		if (*p)                                                                            \
			*p = fn(*p);                                                               \
	}

/* Hands a pointer over: the source becomes NULL, so that nothing is freed twice. */
#define em_steal(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(p) em_stolen_ = (p);                                                    \
		(p) = NULL;                                                                        \
		em_stolen_;                                                                        \
	})

#define EM_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline void em_freep(void *p)
{
	free(*(void **)p);
	*(void **)p = NULL;
}

static inline void em_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
	*f = NULL;
}

/* Descriptors start as -1. */
static inline void em_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline int em_steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
