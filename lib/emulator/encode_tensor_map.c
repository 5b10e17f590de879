/* Checks a description of a tensor by the rules of the driver's
 * cuTensorMapEncodeTiled and writes it as a tensor map.
 * Layer: emulator. Must not know: PTX text, instructions, warps.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "emulator/tensor_box.h"

enum {
  ALIGNMENT = 16, /* of addresses, strides and box rows, in bytes */
  MAX_BOX = 256,
  MAX_ELEMENT_STRIDE = 8,
  BOX_LIMIT = 1 << 18 /* bytes; what fits in shared memory is less */
};
#define MAX_DIM (UINT64_C(1) << 32)
#define STRIDE_LIMIT (UINT64_C(1) << 40)

static bool is_float(uattn_element_t element) {
  return element == UATTN_ELEMENT_F16 || element == UATTN_ELEMENT_BF16 ||
         element == UATTN_ELEMENT_F32 || element == UATTN_ELEMENT_F64;
}

static UATTN_PRINTF(1, 2) uattn_error_t *invalid(const char *format, ...) {
  uattn_string_t text = {0};
  va_list arguments;
  va_start(arguments, format);
  uattn_string_appendv(&text, format, arguments);
  va_end(arguments);
  uattn_error_t *error = uattn_error_create(
      UATTN_ERROR_INVALID_ARGUMENT, "tensor map: %s", uattn_string_get(&text));
  uattn_string_release(&text);
  return error;
}

static uattn_error_t *check_kinds(const uattn_tensor_map_t *map) {
  if (emu_element_bytes(map->element) == 0)
    return invalid("element type %d: expected one of uattn_element_t",
                   (int)map->element);
  if (map->rank < 1 || map->rank > EMU_TENSOR_MAX_RANK)
    return invalid("rank %d: expected 1 to %d", (int)map->rank,
                   EMU_TENSOR_MAX_RANK);
  if ((unsigned)map->swizzle > UATTN_SWIZZLE_128B)
    return invalid("swizzle %d: expected one of uattn_swizzle_t",
                   (int)map->swizzle);
  if (map->fills_with_nan && !is_float(map->element))
    return invalid("fill with NaN of a type that has none: expected f16, bf16, "
                   "f32 or f64");
  if (!map->data || (uintptr_t)map->data % ALIGNMENT)
    return invalid("address %p: expected a multiple of %d bytes", map->data,
                   ALIGNMENT);
  return NULL;
}

static uattn_error_t *check_dim(const uattn_tensor_map_t *map, int dim) {
  if (map->dims[dim] < 1 || map->dims[dim] > MAX_DIM)
    return invalid("dims[%d] %" PRIu64 ": expected 1 to %" PRIu64, dim,
                   map->dims[dim], MAX_DIM);
  if (map->box[dim] < 1 || map->box[dim] > MAX_BOX)
    return invalid("box[%d] %u: expected 1 to %d", dim, map->box[dim], MAX_BOX);
  if (map->element_strides[dim] > MAX_ELEMENT_STRIDE)
    return invalid("element_strides[%d] %u: expected 1 to %d", dim,
                   map->element_strides[dim], MAX_ELEMENT_STRIDE);
  if (dim + 1 == map->rank)
    return NULL;
  if (map->strides[dim] % ALIGNMENT || map->strides[dim] >= STRIDE_LIMIT)
    return invalid("strides[%d] %" PRIu64 " bytes: expected a multiple of %d "
                   "below %" PRIu64,
                   dim, map->strides[dim], ALIGNMENT, STRIDE_LIMIT);
  return NULL;
}

static uattn_error_t *check_row(const uattn_tensor_map_t *map) {
  size_t bytes = map->box[0] * emu_element_bytes(map->element);
  if (bytes % ALIGNMENT)
    return invalid("box[0] %u spans %zu bytes: expected a multiple of %d",
                   map->box[0], bytes, ALIGNMENT);
  size_t most = (size_t)16 << map->swizzle;
  if (map->swizzle != UATTN_SWIZZLE_NONE && bytes > most)
    return invalid("box[0] %u spans %zu bytes: expected at most the %zu of the "
                   "swizzle",
                   map->box[0], bytes, most);
  return NULL;
}

static uattn_error_t *check_size(const uattn_tensor_map_t *map) {
  uint64_t bytes = emu_element_bytes(map->element);
  for (int dim = 0; dim < map->rank; ++dim)
    bytes *= map->box[dim];
  if (bytes >= BOX_LIMIT)
    return invalid("the box has %" PRIu64 " bytes: expected less than %d",
                   bytes, BOX_LIMIT);
  return NULL;
}

static void write_map(const uattn_tensor_map_t *map,
                      uint8_t out_bytes[EMU_TENSOR_MAP_BYTES]) {
  emu_tensor_map_t form = {.magic = EMU_TENSOR_MAP_MAGIC,
                           .address = (uint64_t)(uintptr_t)map->data,
                           .element = (uint8_t)map->element,
                           .rank = (uint8_t)map->rank,
                           .swizzle = (uint8_t)map->swizzle,
                           .fills_with_nan = map->fills_with_nan};
  for (int dim = 0; dim < map->rank; ++dim) {
    uint32_t element_stride = map->element_strides[dim];
    form.dims[dim] = map->dims[dim];
    form.box[dim] = (uint16_t)map->box[dim];
    form.element_strides[dim] = (uint8_t)(element_stride ? element_stride : 1);
    if (dim + 1 < map->rank)
      form.strides[dim] = map->strides[dim];
  }
  memset(out_bytes, 0, EMU_TENSOR_MAP_BYTES);
  memcpy(out_bytes, &form, sizeof form);
}

uattn_error_t *
uattn_emulator_encode_tensor_map(const uattn_tensor_map_t *map,
                                 uint8_t out_bytes[EMU_TENSOR_MAP_BYTES]) {
  uattn_error_t *error = check_kinds(map);
  for (int dim = 0; !error && dim < map->rank; ++dim)
    error = check_dim(map, dim);
  if (!error)
    error = check_row(map);
  if (!error)
    error = check_size(map);
  if (!error)
    write_map(map, out_bytes);
  return error;
}
