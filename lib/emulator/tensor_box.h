/* How a tensor map describes a tensor, and the boxes that it cuts out of it.
 * Layer: emulator. Must not know: PTX text, instructions, warps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMULATOR_TENSOR_BOX_H
#define UATTN_EMULATOR_TENSOR_BOX_H

#include "support/support.h"
#include "uattn/emulator.h"

enum { EMU_TENSOR_MAP_BYTES = 128, EMU_TENSOR_MAX_RANK = 5 };

/* Marks 128 bytes as a tensor map: "UATTNMAP". */
#define EMU_TENSOR_MAP_MAGIC UINT64_C(0x50414D4E54544155)

/* The emulator's own form; 128 bytes hold it. */
typedef struct {
  uint64_t magic;
  uint64_t address;
  uint64_t dims[EMU_TENSOR_MAX_RANK];
  uint64_t strides[EMU_TENSOR_MAX_RANK - 1]; /* bytes, of dimension 1 and on */
  uint16_t box[EMU_TENSOR_MAX_RANK];
  uint8_t element_strides[EMU_TENSOR_MAX_RANK];
  uint8_t element; /* uattn_element_t */
  uint8_t rank;
  uint8_t swizzle; /* uattn_swizzle_t */
  uint8_t fills_with_nan;
} emu_tensor_map_t;

/* False where the bytes are no tensor map. */
bool emu_tensor_map_read(const uint8_t bytes[EMU_TENSOR_MAP_BYTES],
                         emu_tensor_map_t *out_map);

size_t emu_element_bytes(uattn_element_t element);

/* Rows of a box lie one after the other in shared memory; with a swizzle, a
 * whole span apart. */
uint32_t emu_box_rows(const emu_tensor_map_t *map);
size_t emu_box_row_bytes(const emu_tensor_map_t *map);
size_t emu_box_pitch_bytes(const emu_tensor_map_t *map);

/* The part of a row that lies inside the tensor; of a store, that is written.
 */
typedef struct {
  uint64_t address;  /* global, of the first byte inside */
  size_t skip_bytes; /* of the row, before it */
  size_t bytes;      /* 0: the row is outside */
} emu_box_row_t;
emu_box_row_t emu_box_row(const emu_tensor_map_t *map,
                          const int32_t at[EMU_TENSOR_MAX_RANK], uint32_t row,
                          bool is_store);

/* Where the 16 bytes at shared address `address` really are. */
uint64_t emu_swizzled(uattn_swizzle_t swizzle, uint64_t address);

/* What elements outside of the tensor read as. */
void emu_box_fill(const emu_tensor_map_t *map, uint8_t *row_bytes, size_t size);

#endif /* UATTN_EMULATOR_TENSOR_BOX_H */
