/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* exit - how emberctl ends. The help, the man page and the code read this one list. */

#define EM_EXITS(X)                                                                                \
	X(OK, 0, "Done.")                                                                          \
	X(FAILED, 1, "The operation failed.")                                                      \
	X(USAGE, 2, "The command line is wrong, or an argument is out of range.")                  \
	X(UNREACHABLE, 3, "emberd could not be reached, or did not answer in time.")               \
	X(REFUSED, 4, "Refused: by permission, by the policy, or for safety.")                     \
	X(NOT_FOUND, 5, "There is no such drive, field, page or token.")                           \
	X(DEGRADED, 6, "health: a drive is degraded; none is worse.")                              \
	X(FAILING, 7, "health: a drive is failing.")                                               \
	X(UNKNOWN, 8, "health: what a drive is now is not known; none is failing.")

#define EM_X(id, code, text) EM_EXIT_##id = (code),
enum em_exit { EM_EXITS(EM_X) };
#undef EM_X
