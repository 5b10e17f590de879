/* A growing text.
 * Layer: support. Must not know: any concept of attention, MLIR or CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

/* Room for `extra` more characters and the terminator. */
static void reserve(uattn_string_t *string, size_t extra) {
  size_t needed = 0;
  UATTN_CHECK(uattn_size_add(string->size, extra, &needed));
  UATTN_CHECK(uattn_size_add(needed, 1, &needed));
  if (needed <= string->capacity)
    return;
  size_t capacity = string->capacity < 64 ? 64 : string->capacity;
  while (capacity < needed)
    UATTN_CHECK(uattn_size_multiply(capacity, 2, &capacity));
  char *data = realloc(string->data, capacity);
  UATTN_CHECK(data != NULL);
  string->data = data;
  string->capacity = capacity;
}

void uattn_string_append_bytes(uattn_string_t *string, const void *bytes,
                               size_t size) {
  reserve(string, size);
  if (size > 0)
    memcpy(string->data + string->size, bytes, size);
  string->size += size;
  string->data[string->size] = '\0';
}

void uattn_string_append(uattn_string_t *string, const char *text) {
  uattn_string_append_bytes(string, text, strlen(text));
}

void uattn_string_appendv(uattn_string_t *string, const char *format,
                          va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, arguments);
  UATTN_CHECK(size >= 0);
  reserve(string, (size_t)size);
  vsnprintf(string->data + string->size, (size_t)size + 1, format, again);
  string->size += (size_t)size;
  va_end(again);
}

void uattn_string_appendf(uattn_string_t *string, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(string, format, arguments);
  va_end(arguments);
}

const char *uattn_string_get(const uattn_string_t *string) {
  return string->data ? string->data : "";
}

char *uattn_string_take(uattn_string_t *string) {
  reserve(string, 0);
  string->data[string->size] = '\0';
  char *data = string->data;
  *string = (uattn_string_t){0};
  return data;
}

void uattn_string_release(uattn_string_t *string) {
  free(string->data);
  *string = (uattn_string_t){0};
}
