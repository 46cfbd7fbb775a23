/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * field - one row describes one value inside a page that a drive returns: where it stands, what it
 * means, and what it is called in JSON, SQL, metrics, the terminal and the docs. The decoder and
 * every surface read the row; nobody else spells an offset or a key.
 *
 * Owns:     nothing; rows are static, values are copies.
 * Threads:  pure functions. Blocking: never.
 * Errors:   none. A value that the drive does not give is absent, never 0.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/base/buf.h"
#include "lib/base/u128.h"

/* NVMe version as in Identify Controller VER. */
#define EM_VER(major, minor) ((uint32_t)(major) << 16 | (uint32_t)(minor) << 8)

/* What has to be known of the controller to read its pages; taken from Identify Controller. */
struct em_nvme_ctx {
	bool known; /* false: no valid Identify yet; fields with .since are then absent */
	uint32_t ver;
	uint8_t frmw;
	bool log_offset;	/* Get Log Page can begin anywhere and be longer than 4 KiB */
	uint16_t error_entries; /* of the error log, 1..256; 0 = not known */
};

enum em_field_type {
	EM_UINT,   /* little-endian unsigned, 1..16 bytes, optionally bits of it */
	EM_KELVIN, /* u16 kelvin, shown in Celsius (kelvin - 273); 0 and FFFFh are absent */
	EM_BITS,   /* unsigned with named bits: the number under key, the names under key "_bits" */
	EM_ENUM,   /* unsigned shown by its name; an unnamed value as "reserved_N" */
	EM_BOOL,   /* the selected bits are not zero */
	EM_TEXT,   /* ASCII, padded */
	EM_HEX,	   /* bytes shown in hexadecimal; all zero is absent */
	EM_VERSION, /* VER shown as "1.4" or "1.3.1" */
};

enum em_metric_type { EM_METRIC_NONE, EM_METRIC_GAUGE, EM_METRIC_COUNTER };

enum em_field_flags {
	EM_ZERO_ABSENT = 1 << 0,   /* zero means "not reported" */
	EM_ONES_ABSENT = 1 << 1,   /* all ones means "not reported" */
	EM_NO_HISTORY = 1 << 2,	   /* no SQL column (derivable, or does not change) */
	EM_RAISE_ONE = 1 << 3,	   /* a 0-based count: shown plus one */
	EM_LITTLE_ENDIAN = 1 << 4, /* EM_HEX of a number: shown from the highest byte */
	EM_DERIVED = 1 << 5, /* bytes that another row shows too, or a value computed from them */
};

struct em_name {
	uint32_t value; /* for EM_BITS the bit number */
	const char *name;
};

/* How far a row can be relied on. What nobody states is shown, and nothing is decided by it. */
enum em_trust {
	EM_TRUST_STATED,     /* the specification or the vendor's own tool says so */
	EM_TRUST_DERIVED,    /* plausible from a table, not stated */
	EM_TRUST_UNVERIFIED, /* could not be confirmed */
	EM_TRUST_COUNT,
};
const char *em_trust_name(enum em_trust trust); /* "stated" */

/*
 * Where a value stands in a page that is a list of items: in the item with that id, in those
 * layouts of the page. An id means different things in different layouts.
 */
struct em_place {
	uint8_t layouts; /* bit N: layout N; 0 ends a list of places */
	uint8_t id;	 /* never 0 */
	uint8_t at, len; /* bytes of the item's raw value, or EM_AT_NORMALISED and 1 */
};
#define EM_AT_NORMALISED 0xff

#define EM_VALUE_TEXT_SIZE 520

struct em_field {
	const char *key; /* JSON key = SQL column */
	/* With places len is that of the widest, and offset is not used. */
	uint16_t offset, len;
	const struct em_place *places; /* NULL = offset tells where */
	uint8_t type;		       /* enum em_field_type */
	uint8_t shift, bits;	       /* a part of an unsigned; bits 0 = all of it */
	uint16_t flags;
	uint32_t scale; /* value = raw * scale; 0 = 1. Only EM_UINT */
	uint32_t since; /* EM_VER() of the first version that has it; 0 = always */
	/*
	 * Present only while (byte at gate_offset & gate_mask) != 0, or equals gate_value where
	 * that is not 0; gate_mask 0 = no gate.
	 */
	uint16_t gate_offset;
	uint8_t gate_mask, gate_value;
	uint8_t metric;		     /* enum em_metric_type */
	uint8_t trust;		     /* enum em_trust */
	const struct em_name *names; /* EM_BITS, EM_ENUM; ends with name NULL */
	/* EM_UINT or EM_BOOL that no offset holds: sets *ret and returns true, or false when
	 * absent. */
	bool (*derive)(const uint8_t *page, size_t len, em_u128 *ret);
	/* EM_TEXT that no offset holds as such: likewise; clean ASCII. */
	bool (*derive_text)(const uint8_t *page, size_t len, char text[EM_VALUE_TEXT_SIZE]);
	const char *metric_name;  /* whole, e.g. "ember_temperature_celsius" */
	uint32_t metric_scale;	  /* metric = value * metric_scale; 0 = 1 */
	const char *metric_label; /* one more label and its value, e.g. sensor="1" */
	const char *metric_label_value;
	const char *label; /* heading for people */
	const char *unit;  /* "celsius", "bytes", "percent", "minutes", "hours", "seconds", "" */
	const char *help;  /* one sentence: metric HELP, OpenAPI, docs/fields.md */
	const char *ref;   /* where the specification says so */
};

enum em_value_kind { EM_V_ABSENT, EM_V_UINT, EM_V_INT, EM_V_BOOL, EM_V_NAME, EM_V_TEXT };

struct em_value {
	enum em_value_kind kind;
	em_u128 number;		       /* EM_V_UINT: unscaled raw; EM_V_BOOL: 0 or 1 */
	int64_t integer;	       /* EM_V_INT */
	char text[EM_VALUE_TEXT_SIZE]; /* EM_V_TEXT (clean ASCII) and EM_V_NAME */
};

/* Reads one field out of page bytes. Too few bytes, a shut gate, an older VER: absent. */
void em_field_get(const struct em_field *field, const uint8_t *page, size_t len,
		  const struct em_nvme_ctx *ctx, struct em_value *ret);

/* What a reader has to know of a row that is not stated: one sentence; "" for one that is. */
const char *em_field_caveat(const struct em_field *field);

/* The value as text: digits (scaled, exact), a name, true/false or the text; "" when absent. */
const char *em_value_text(const struct em_field *field, const struct em_value *value,
			  char buf[EM_VALUE_TEXT_SIZE]);

/* As a double for metrics, metric_scale applied. Only numbers and booleans; false otherwise. */
bool em_value_metric(const struct em_field *field, const struct em_value *value, double *ret);

/*
 * The exact text of a metric sample (counters without exponent, as far as digits go), metric_scale
 * applied; false when absent or not a number.
 */
bool em_value_metric_text(const struct em_field *field, const struct em_value *value,
			  char buf[EM_U128_DEC_SIZE]);

/*
 * How JSON shows the field, a property of the row and not of the value, so that a key has one type:
 * unsigned of more than 6 bytes, or scaled, are decimal strings; other numbers are numbers.
 */
enum em_json_type { EM_JSON_INTEGER, EM_JSON_DECIMAL_STRING, EM_JSON_STRING, EM_JSON_BOOLEAN };
enum em_json_type em_field_json_type(const struct em_field *field);

/* EM_BITS: the name of a bit (0 = lowest of those selected); "reserved_6" where the row has none.
 */
#define EM_BIT_NAME_SIZE 64
const char *em_field_bit_name(const struct em_field *field, unsigned bit,
			      char buf[EM_BIT_NAME_SIZE]);
