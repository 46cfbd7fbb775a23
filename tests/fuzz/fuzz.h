/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/*
 * fuzz - what the fuzz targets share: reading an input piece by piece, and files made of it. A
 * target says what must hold with fuzz_check(): a sanitizer finds crashes, the checks nonsense.
 *
 * Owns:     one temporary directory per process, removed at exit.
 * Threads:  the fuzzer's one. Limits: FUZZ_PATH_SIZE bytes of a path.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FUZZ_PATH_SIZE 128

/* libFuzzer calls these; each target defines the first. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_check(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* Numbers read as 0 behind the end of the input. */
uint8_t fuzz_u8(struct fuzz_input *in);
uint16_t fuzz_u16(struct fuzz_input *in);
uint32_t fuzz_u32(struct fuzz_input *in);
/* At most len bytes; *ret_len says how many there were. */
const uint8_t *fuzz_bytes(struct fuzz_input *in, size_t len, size_t *ret_len);
/* A copy of at most len bytes of exactly that size, so that a sanitizer sees its end; to be freed.
 */
uint8_t *fuzz_copy(struct fuzz_input *in, size_t len, size_t *ret_len);
/* Up to the next newline, which is skipped; NUL-terminated, to be freed. */
char *fuzz_line(struct fuzz_input *in);

/* "NAME" in the temporary directory. */
void fuzz_path(char buf[FUZZ_PATH_SIZE], const char *name);
void fuzz_write(const char *path, const void *data, size_t len);
/* Removes all files in the temporary directory. */
void fuzz_empty(void);
