/* Error diagnostics with a formatted message, and MLIR's strings.
 * Layer: dialect. Must not know: any op of the dialect.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <mlir-c/Diagnostics.h>
#include <string.h>

static void emit(MlirLocation location, const char *format, va_list arguments) {
  uattn_string_t message = {0};
  uattn_string_appendv(&message, format, arguments);
  mlirEmitError(location, uattn_string_get(&message));
  uattn_string_release(&message);
}

void uattn_emit_error(MlirOperation op, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(mlirOperationGetLocation(op), format, arguments);
  va_end(arguments);
}

void uattn_emit_error_at(MlirLocation location, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  emit(location, format, arguments);
  va_end(arguments);
}

bool uattn_string_ref_is(MlirStringRef string, const char *text) {
  size_t size = strlen(text);
  return string.length == size && memcmp(string.data, text, size) == 0;
}

void uattn_string_append_ref(MlirStringRef chunk, void *user_data) {
  uattn_string_append_bytes(user_data, chunk.data, chunk.length);
}
