/* The boxes that a tensor map cuts out of a tensor.
 * Layer: emulator. Must not know: PTX text, instructions, warps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/tensor_box.h"

#include <string.h>

/* Stores are clipped at the innermost dimension's end rounded up to so many
 * bytes, as on an H200; loads at the element. */
enum { STORE_UNIT = 16 };

_Static_assert(sizeof(emu_tensor_map_t) <= EMU_TENSOR_MAP_BYTES,
               "a tensor map is a parameter of 128 bytes");

bool emu_tensor_map_read(const uint8_t bytes[EMU_TENSOR_MAP_BYTES],
                         emu_tensor_map_t *out_map) {
  memcpy(out_map, bytes, sizeof *out_map);
  return out_map->magic == EMU_TENSOR_MAP_MAGIC;
}

size_t emu_element_bytes(uattn_element_t element) {
  switch (element) {
  case UATTN_ELEMENT_U8:
    return 1;
  case UATTN_ELEMENT_U16:
  case UATTN_ELEMENT_F16:
  case UATTN_ELEMENT_BF16:
    return 2;
  case UATTN_ELEMENT_U32:
  case UATTN_ELEMENT_I32:
  case UATTN_ELEMENT_F32:
    return 4;
  case UATTN_ELEMENT_U64:
  case UATTN_ELEMENT_I64:
  case UATTN_ELEMENT_F64:
    return 8;
  }
  return 0;
}

/* Elements of a box along `dim`: every so many of those that it spans. The
 * innermost dimension has no stride. */
static uint32_t box_count(const emu_tensor_map_t *map, int dim) {
  uint32_t stride = dim == 0 ? 1 : map->element_strides[dim];
  return (map->box[dim] + stride - 1) / stride;
}

uint32_t emu_box_rows(const emu_tensor_map_t *map) {
  uint32_t rows = 1;
  for (int dim = 1; dim < map->rank; ++dim)
    rows *= box_count(map, dim);
  return rows;
}

size_t emu_box_row_bytes(const emu_tensor_map_t *map) {
  return map->box[0] * emu_element_bytes((uattn_element_t)map->element);
}

size_t emu_box_pitch_bytes(const emu_tensor_map_t *map) {
  return map->swizzle == UATTN_SWIZZLE_NONE ? emu_box_row_bytes(map)
                                            : (size_t)16 << map->swizzle;
}

emu_box_row_t emu_box_row(const emu_tensor_map_t *map,
                          const int32_t at[EMU_TENSOR_MAX_RANK], uint32_t row,
                          bool is_store) {
  emu_box_row_t result = {.address = map->address};
  for (int dim = 1; dim < map->rank; ++dim) {
    uint32_t count = box_count(map, dim);
    int64_t position =
        at[dim] + (int64_t)(row % count) * map->element_strides[dim];
    row /= count;
    if (position < 0 || (uint64_t)position >= map->dims[dim])
      return result;
    result.address += (uint64_t)position * map->strides[dim - 1];
  }
  size_t bytes = emu_element_bytes((uattn_element_t)map->element);
  size_t row_bytes = emu_box_row_bytes(map);
  int64_t start = at[0] * (int64_t)bytes;
  int64_t limit = (int64_t)(map->dims[0] * bytes);
  if (is_store)
    limit = (limit + STORE_UNIT - 1) / STORE_UNIT * STORE_UNIT;
  int64_t skip = start < 0 ? -start : 0;
  int64_t end =
      start + (int64_t)row_bytes < limit ? (int64_t)row_bytes : limit - start;
  if (skip >= end)
    return result;
  result.address += (uint64_t)(start + skip);
  result.skip_bytes = (size_t)skip;
  result.bytes = (size_t)(end - skip);
  return result;
}

/* Bits 4 and up, as many as the pattern has, are mixed with those from bit 7:
 * 8 rows of 128 bytes, 4 of 64 bytes twice, 2 of 32 bytes four times. */
uint64_t emu_swizzled(uattn_swizzle_t swizzle, uint64_t address) {
  uint64_t mask = (UINT64_C(1) << swizzle) - 1;
  return address ^ (address >> 7 & mask) << 4;
}

/* Every 16 bits are 0x7FF7, whatever the type: so an H200 writes it. */
void emu_box_fill(const emu_tensor_map_t *map, uint8_t *row_bytes,
                  size_t size) {
  memset(row_bytes, 0, size);
  for (size_t i = 0; map->fills_with_nan && i < size; ++i)
    row_bytes[i] = i % 2 ? 0x7F : 0xF7;
}
