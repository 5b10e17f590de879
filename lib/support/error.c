/* Errors as returned objects.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct uattn_error {
  uattn_error_code_t code;
  char *message;  /* owned, with the messages of all causes */
  bool is_static; /* never freed; told by a flag rather than by address since a
                     process may hold two copies of this library */
};

static char out_of_memory_message[] = "out of host memory";
static uattn_error_t out_of_memory = {UATTN_ERROR_INTERNAL,
                                      out_of_memory_message, true};

/* Takes `message`; NULL stands for memory that ran out. */
static uattn_error_t *create_owned(uattn_error_code_t code, char *message) {
  uattn_error_t *error = message ? malloc(sizeof *error) : NULL;
  if (!error) {
    free(message);
    return &out_of_memory;
  }
  *error = (uattn_error_t){code, message, false};
  return error;
}

uattn_error_t *uattn_error_create(uattn_error_code_t code, const char *format,
                                  ...) {
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&message, format, arguments) < 0)
    message = NULL;
  va_end(arguments);
  return create_owned(code, message);
}

uattn_error_t *uattn_error_annotate(uattn_error_t *owned_cause,
                                    const char *format, ...) {
  if (!owned_cause)
    return NULL;
  char *outer = NULL;
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&outer, format, arguments) < 0)
    outer = NULL;
  va_end(arguments);
  if (outer && asprintf(&message, "%s: %s", outer, owned_cause->message) < 0)
    message = NULL;
  free(outer);
  uattn_error_t *error = create_owned(owned_cause->code, message);
  uattn_error_destroy(owned_cause);
  return error;
}

uattn_error_code_t uattn_error_code(const uattn_error_t *error) {
  return error->code;
}

const char *uattn_error_message(const uattn_error_t *error) {
  return error->message;
}

int uattn_error_exit_code(const uattn_error_t *error) {
  if (!error)
    return 0;
  switch (error->code) {
  case UATTN_ERROR_INVALID_ARGUMENT:
  case UATTN_ERROR_UNSUPPORTED:
  case UATTN_ERROR_IO:
    return 2;
  case UATTN_ERROR_DEVICE:
    return 3;
  case UATTN_ERROR_FAULT:
    return 1;
  case UATTN_ERROR_TOOLCHAIN:
  case UATTN_ERROR_INTERNAL:
    break;
  }
  return 4;
}

void uattn_error_destroy(uattn_error_t *error) {
  if (!error || error->is_static)
    return;
  free(error->message);
  free(error);
}
