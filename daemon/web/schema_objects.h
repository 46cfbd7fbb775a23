/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * schema_objects - the members of the objects that handlers make by hand, as rows: schema.c makes
 * JSON Schemas of them, and tests hold the handlers to those.
 *
 * Owns:     nothing; rows are static. Threads: any. Blocking: never.
 */
#include <stdbool.h>
#include "daemon/web/route.h"

enum em_member_kind {
	EM_M_STRING,
	EM_M_INTEGER,
	EM_M_NUMBER,
	EM_M_BOOLEAN,
	EM_M_TIME,
	EM_M_DECIMAL, /* digits of any number, as a string */
	EM_M_NAME,    /* one of .set */
	EM_M_OBJECT,  /* the schema named .of */
};

/* Members of the objects that are made by hand. */
struct em_member {
	const char *name;
	enum em_member_kind kind;
	bool list, null;
	const struct em_name_set *set;
	const char *of;
	const char *constant; /* EM_M_STRING: always this */
	const char *help;
};

/* Members that follow those of the rows, from the tables that have them. */
enum em_members_more {
	EM_MORE_NONE,
	EM_MORE_SUMMARY,   /* the SMART values of a drive's summary */
	EM_MORE_NAMESPACE, /* values: those of Identify Namespace */
	EM_MORE_VALUE,	   /* value: of any field's type */
	EM_MORE_STATES,	   /* how many drives are in each state */
	EM_MORE_DECODED,   /* values: of whatever page it is, or null */
};

struct em_object {
	const char *name;
	const char *base;		 /* begins with the members of this one; NULL = none */
	const struct em_member *members; /* ends with name NULL */
	enum em_members_more more;
};

extern const struct em_object em_objects[];
extern const unsigned em_object_count;
/* What every page document begins with. */
extern const struct em_member em_page_members[];
