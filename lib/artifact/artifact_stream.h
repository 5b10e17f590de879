/* A stream of little-endian fields that either writes or reads them.
 * Layer: artifact. Must not know: MLIR, CUDA, which records there are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_ARTIFACT_ARTIFACT_STREAM_H
#define UATTN_ARTIFACT_ARTIFACT_STREAM_H

#include "support/support.h"

/* One direction or the other. Writing changes none of the values. The first
 * error stops a reader, which then gives zeros. */
typedef struct {
  uattn_string_t *output; /* NULL: reading */
  const uint8_t *bytes;
  size_t offset;
  size_t end;
  uint32_t minor;      /* of the format that is written or read */
  const char *section; /* for messages */
  uattn_error_t *error;
} uattn_stream_t;

bool uattn_stream_is_reading(const uattn_stream_t *stream);

/* Takes `owned_error`; NULL and any but the first are dropped. */
void uattn_stream_fail(uattn_stream_t *stream, uattn_error_t *owned_error);

/* False, with an error, where fewer than `size` bytes are left to read. */
bool uattn_stream_have(uattn_stream_t *stream, uint64_t size);

void uattn_stream_bytes(uattn_stream_t *stream, void *data, size_t size);
void uattn_stream_u32(uattn_stream_t *stream, uint32_t *value);
void uattn_stream_u64(uattn_stream_t *stream, uint64_t *value);
void uattn_stream_i32(uattn_stream_t *stream, int32_t *value);
void uattn_stream_i64(uattn_stream_t *stream, int64_t *value);
void uattn_stream_f64(uattn_stream_t *stream, double *value);
void uattn_stream_bool(uattn_stream_t *stream, bool *value);
/* `value` points to an enumeration; its members are checked by the caller. */
void uattn_stream_enum(uattn_stream_t *stream, void *value);
/* One of members 0 to 255 in one byte. */
void uattn_stream_small_enum(uattn_stream_t *stream, void *value);
/* A size and the text; ends with a zero in memory, which the file lacks. */
void uattn_stream_string(uattn_stream_t *stream, char **text);
/* A size and bytes; NULL where there are none. */
void uattn_stream_blob(uattn_stream_t *stream, uint8_t **data, size_t *size);

/* A count and, when reading, room for the records that follow it: `array` is
 * the address of a pointer to them. They take at least `least_bytes` of the
 * file each, so that a wrong count cannot ask for much memory. */
void uattn_stream_count(uattn_stream_t *stream, void *array, uint32_t *count,
                        size_t element_bytes, size_t least_bytes);

#endif /* UATTN_ARTIFACT_ARTIFACT_STREAM_H */
