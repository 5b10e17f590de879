/* Reads the tensor maps of a launch description.
 * Layer: tools. Must not know: PTX, inputs, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "launch_reader.h"
#include "launch_type.h"

static uattn_error_t *read_swizzle(const launch_reader_t *reader,
                                   const char *word, uattn_tensor_map_t *map) {
  static const char *const names[] = {[UATTN_SWIZZLE_NONE] = "none",
                                      [UATTN_SWIZZLE_32B] = "32",
                                      [UATTN_SWIZZLE_64B] = "64",
                                      [UATTN_SWIZZLE_128B] = "128"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(word, names[i]) == 0) {
      map->swizzle = (uattn_swizzle_t)i;
      return NULL;
    }
  return launch_wrong(reader, "swizzle is '%s': expected none, 32, 64 or 128",
                      word);
}

static uattn_error_t *read_fill(const launch_reader_t *reader, const char *word,
                                uattn_tensor_map_t *map) {
  map->fills_with_nan = strcmp(word, "nan") == 0;
  if (map->fills_with_nan || strcmp(word, "zeros") == 0)
    return NULL;
  return launch_wrong(reader, "fill is '%s': expected zeros or nan", word);
}

static uattn_error_t *read_element(const launch_reader_t *reader,
                                   const char *word, uattn_tensor_map_t *map) {
  launch_type_t type;
  if (launch_type_parse(word, &type) &&
      launch_type_element(type, &map->element))
    return NULL;
  return launch_wrong(
      reader, "element is '%s': expected a type that maps have, %s", word,
      "u8, u16, i32, u32, i64, u64, f16, bf16, f32 or f64");
}

/* Numbers of one property; each must fit 32 bits but for sizes of the tensor.
 */
static uattn_error_t *read_box(const launch_reader_t *reader, const char *key,
                               const char *word, uint32_t *out, int rank) {
  int64_t sizes[5];
  int count = 0;
  uattn_error_t *error =
      launch_read_sizes(reader, key, word, 5, 0, sizes, &count);
  for (int i = 0; i < count && !error; ++i) {
    if (sizes[i] > INT32_MAX)
      error = launch_wrong(reader, "%s is '%s': expected numbers below 2^31",
                           key, word);
    out[i] = (uint32_t)sizes[i];
  }
  if (!error && count != rank)
    error =
        launch_wrong(reader, "%s is '%s': expected %d numbers, one a dimension",
                     key, word, rank);
  return error;
}

static uattn_error_t *read_strides(const launch_reader_t *reader,
                                   const char *word, uattn_tensor_map_t *map) {
  int64_t sizes[4];
  int count = 0;
  uattn_error_t *error =
      launch_read_sizes(reader, "strides", word, 4, 0, sizes, &count);
  for (int i = 0; i < count && !error; ++i)
    map->strides[i] = (uint64_t)sizes[i];
  if (!error && count != map->rank - 1)
    error =
        launch_wrong(reader,
                     "strides is '%s': expected %d numbers, of all dimensions "
                     "but the first",
                     word, map->rank - 1);
  return error;
}

/* Innermost first; what follows speaks of so many dimensions. */
static uattn_error_t *read_dims(const launch_reader_t *reader, const char *word,
                                uattn_tensor_map_t *map) {
  int64_t sizes[5];
  uattn_error_t *error =
      launch_read_sizes(reader, "dims", word, 5, 1, sizes, &map->rank);
  for (int i = 0; i < map->rank && !error; ++i)
    map->dims[i] = (uint64_t)sizes[i];
  return error;
}

static uattn_error_t *read_map_property(const launch_reader_t *reader,
                                        const char *key, const char *word,
                                        uattn_tensor_map_t *map) {
  if (strcmp(key, "element") == 0)
    return read_element(reader, word, map);
  if (strcmp(key, "strides") == 0)
    return read_strides(reader, word, map);
  if (strcmp(key, "box") == 0)
    return read_box(reader, key, word, map->box, map->rank);
  if (strcmp(key, "element_strides") == 0)
    return read_box(reader, key, word, map->element_strides, map->rank);
  if (strcmp(key, "swizzle") == 0)
    return read_swizzle(reader, word, map);
  if (strcmp(key, "fill") == 0)
    return read_fill(reader, word, map);
  return launch_wrong(reader,
                      "found '%s': expected element, dims, strides, box, "
                      "element_strides, swizzle or fill",
                      key);
}

/* The whole buffer, which lies in C order. */
static uattn_error_t *cover_buffer(const launch_reader_t *reader,
                                   const launch_buffer_t *buffer,
                                   uattn_tensor_map_t *map) {
  if (!launch_type_element(buffer->type, &map->element))
    map->element = UATTN_ELEMENT_U8;
  if (buffer->rank > 5)
    return launch_wrong(reader,
                        "buffer %s has rank %d: expected at most 5 for a map",
                        buffer->name, buffer->rank);
  map->rank = buffer->rank;
  for (int i = 0; i < map->rank; ++i)
    map->dims[i] = (uint64_t)buffer->shape[map->rank - 1 - i];
  return NULL;
}

static uint64_t element_bytes(uattn_element_t element) {
  for (int type = 0; type < LAUNCH_TYPE_COUNT; ++type) {
    uattn_element_t known;
    if (launch_type_element((launch_type_t)type, &known) && known == element)
      return launch_type_bytes((launch_type_t)type);
  }
  return 1;
}

/* Dense ones, where the text has none. */
static void complete_strides(uattn_tensor_map_t *map) {
  uint64_t stride = element_bytes(map->element);
  for (int i = 0; i + 1 < map->rank; ++i) {
    stride *= map->dims[i];
    map->strides[i] = stride;
  }
}

uattn_error_t *launch_read_map(launch_reader_t *reader,
                               launch_argument_t *argument) {
  const launch_buffer_t *buffer =
      &reader->description->buffers[argument->buffer];
  uattn_tensor_map_t *map = &argument->map;
  uattn_error_t *error = cover_buffer(reader, buffer, map);
  bool has_strides = false;
  const char *key = NULL;
  while (!error && (key = launch_take(reader))) {
    const char *word = NULL;
    error = launch_take_wanted(reader, "a value", &word);
    has_strides |= strcmp(key, "strides") == 0;
    if (error)
      break;
    error = strcmp(key, "dims") == 0
                ? read_dims(reader, word, map)
                : read_map_property(reader, key, word, map);
  }
  if (!error && map->box[0] == 0)
    error =
        launch_wrong(reader, "the map has no box: expected box and its sizes");
  if (!error && !has_strides)
    complete_strides(map);
  argument->bytes = 128;
  return error;
}
