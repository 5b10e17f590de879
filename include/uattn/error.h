/* Errors as returned objects: a code, a message and optional causes.
 * Layer: support (public). Must not know: any other concept of uattn.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_ERROR_H
#define UATTN_ERROR_H

#include "uattn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whose fault it is; the tools' exit codes follow from it. */
typedef enum {
  UATTN_ERROR_INVALID_ARGUMENT = 1, /* the user's mistake: exit code 2 */
  UATTN_ERROR_UNSUPPORTED = 2,      /* valid, not compiled yet: exit code 2 */
  UATTN_ERROR_IO = 3,               /* a file: missing, torn: exit code 2 */
  UATTN_ERROR_DEVICE = 4,           /* driver, GPU, its memory: exit code 3 */
  UATTN_ERROR_TOOLCHAIN = 5,        /* ptxas and the like: exit code 4 */
  UATTN_ERROR_INTERNAL = 6,         /* our bug, host memory: exit code 4 */
  UATTN_ERROR_FAULT = 7 /* a kernel did what it must not: exit code 1 */
} uattn_error_code_t;

/* NULL is success. Whoever receives a non-NULL error owns it. */
typedef struct uattn_error uattn_error_t;

/* Never returns NULL: where memory is short it returns a static error, which
 * uattn_error_destroy accepts. Messages are lower case without a full stop and
 * name what was found and what was wanted. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_error_create(uattn_error_code_t code, const char *format, ...)
    UATTN_PRINTF(2, 3);

/* Wraps `owned_cause` (taken; NULL gives NULL) in a message of what was being
 * done; the code stays the cause's. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_error_annotate(uattn_error_t *owned_cause, const char *format, ...)
    UATTN_PRINTF(2, 3);

UATTN_EXPORT uattn_error_code_t uattn_error_code(const uattn_error_t *error);

/* "outer: inner: innermost", borrowed until the error is destroyed. */
UATTN_EXPORT const char *uattn_error_message(const uattn_error_t *error);

/* The exit code that the tools' contract gives to `error`; 0 for NULL. */
UATTN_EXPORT int uattn_error_exit_code(const uattn_error_t *error);

/* Accepts NULL. */
UATTN_EXPORT void uattn_error_destroy(uattn_error_t *error);

#ifdef __cplusplus
}
#endif

#endif /* UATTN_ERROR_H */
