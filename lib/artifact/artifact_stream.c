/* A stream of little-endian fields that either writes or reads them.
 * Layer: artifact. Must not know: MLIR, CUDA, which records there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "artifact/artifact_stream.h"

#include <inttypes.h>
#include <string.h>

bool uattn_stream_is_reading(const uattn_stream_t *stream) {
  return !stream->output;
}

void uattn_stream_fail(uattn_stream_t *stream, uattn_error_t *owned_error) {
  if (stream->error)
    uattn_error_destroy(owned_error);
  else
    stream->error = owned_error;
}

#define FAIL(stream, code, ...)                                                \
  uattn_stream_fail(stream, uattn_error_create(code, __VA_ARGS__))

bool uattn_stream_have(uattn_stream_t *stream, uint64_t size) {
  if (stream->error)
    return false;
  size_t left = stream->end - stream->offset;
  if (size > left)
    FAIL(stream, UATTN_ERROR_IO,
         "section %s has %zu bytes left: wanted %" PRIu64, stream->section,
         left, size);
  return size <= left;
}

void uattn_stream_bytes(uattn_stream_t *stream, void *data, size_t size) {
  if (size == 0)
    return;
  if (!uattn_stream_is_reading(stream)) {
    uattn_string_append_bytes(stream->output, data, size);
  } else if (uattn_stream_have(stream, size)) {
    memcpy(data, stream->bytes + stream->offset, size);
    stream->offset += size;
  }
}

/* The low `size` bytes of `value` when writing; gives what was read. */
static uint64_t exchange(uattn_stream_t *stream, uint64_t value, size_t size) {
  uint8_t data[8] = {0};
  if (!uattn_stream_is_reading(stream))
    for (size_t i = 0; i < size; ++i)
      data[i] = (uint8_t)(value >> (8 * i));
  uattn_stream_bytes(stream, data, size);
  uint64_t found = 0;
  for (size_t i = 0; i < size; ++i)
    found |= (uint64_t)data[i] << (8 * i);
  return found;
}

void uattn_stream_u64(uattn_stream_t *stream, uint64_t *value) {
  uint64_t found = exchange(stream, *value, 8);
  if (uattn_stream_is_reading(stream))
    *value = found;
}

void uattn_stream_u32(uattn_stream_t *stream, uint32_t *value) {
  uint32_t found = (uint32_t)exchange(stream, *value, 4);
  if (uattn_stream_is_reading(stream))
    *value = found;
}

void uattn_stream_i32(uattn_stream_t *stream, int32_t *value) {
  uint32_t found = (uint32_t)exchange(stream, (uint32_t)*value, 4);
  if (uattn_stream_is_reading(stream))
    *value = (int32_t)found;
}

void uattn_stream_i64(uattn_stream_t *stream, int64_t *value) {
  uint64_t found = exchange(stream, (uint64_t)*value, 8);
  if (uattn_stream_is_reading(stream))
    *value = (int64_t)found;
}

void uattn_stream_f64(uattn_stream_t *stream, double *value) {
  uint64_t bits = 0;
  memcpy(&bits, value, sizeof bits);
  bits = exchange(stream, bits, 8);
  if (uattn_stream_is_reading(stream))
    memcpy(value, &bits, sizeof bits);
}

void uattn_stream_bool(uattn_stream_t *stream, bool *value) {
  uint64_t found = exchange(stream, *value, 1);
  if (!uattn_stream_is_reading(stream))
    return;
  if (found > 1)
    FAIL(stream, UATTN_ERROR_IO,
         "section %s has %" PRIu64 " for a truth value: wanted 0 or 1",
         stream->section, found);
  *value = found == 1;
}

static void exchange_enum(uattn_stream_t *stream, void *value, size_t size) {
  _Static_assert(sizeof(uattn_error_code_t) == 4, "enumerations are 32 bits");
  uint32_t bits = 0;
  memcpy(&bits, value, sizeof bits);
  bits = (uint32_t)exchange(stream, bits, size);
  if (uattn_stream_is_reading(stream))
    memcpy(value, &bits, sizeof bits);
}

void uattn_stream_enum(uattn_stream_t *stream, void *value) {
  exchange_enum(stream, value, 4);
}

void uattn_stream_small_enum(uattn_stream_t *stream, void *value) {
  exchange_enum(stream, value, 1);
}

/* Zeroed memory for `count` elements after a check that the file justifies it;
 * NULL, with an error, where it does not or there is none. */
static void *make_room(uattn_stream_t *stream, uint64_t count,
                       size_t element_bytes, size_t least_bytes) {
  if (stream->error)
    return NULL;
  size_t left = stream->end - stream->offset;
  if (count > left / least_bytes) {
    FAIL(stream, UATTN_ERROR_IO,
         "section %s counts %" PRIu64
         " records in %zu bytes: wanted at least %zu bytes each",
         stream->section, count, left, least_bytes);
    return NULL;
  }
  size_t bytes = 0;
  void *data = NULL;
  if (uattn_size_multiply((size_t)count, element_bytes, &bytes))
    data = uattn_try_allocate(bytes + 1);
  if (!data)
    FAIL(stream, UATTN_ERROR_INTERNAL,
         "out of host memory: wanted %" PRIu64 " records of %zu bytes", count,
         element_bytes);
  return data;
}

void uattn_stream_count(uattn_stream_t *stream, void *array, uint32_t *count,
                        size_t element_bytes, size_t least_bytes) {
  uint32_t found = (uint32_t)exchange(stream, *count, 4);
  if (!uattn_stream_is_reading(stream))
    return;
  void *data = make_room(stream, found, element_bytes, least_bytes);
  if (!data)
    return;
  memcpy(array, &data, sizeof data);
  *count = found;
}

void uattn_stream_blob(uattn_stream_t *stream, uint8_t **data, size_t *size) {
  uint64_t found = exchange(stream, *size, 8);
  if (uattn_stream_is_reading(stream) && found > 0) {
    *data = make_room(stream, found, 1, 1);
    *size = *data ? (size_t)found : 0;
  }
  uattn_stream_bytes(stream, *data, *size);
}

void uattn_stream_string(uattn_stream_t *stream, char **text) {
  bool is_reading = uattn_stream_is_reading(stream);
  uint64_t size = is_reading || !*text ? 0 : strlen(*text);
  size = exchange(stream, size, 8);
  if (is_reading)
    *text = make_room(stream, size, 1, 1); /* and a byte for the zero */
  if (!*text)
    return;
  uattn_stream_bytes(stream, *text, (size_t)size);
  if (is_reading && memchr(*text, 0, (size_t)size))
    FAIL(stream, UATTN_ERROR_IO, "section %s has a zero within a text",
         stream->section);
}
