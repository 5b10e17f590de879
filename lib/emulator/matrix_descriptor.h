/* Matrices in shared memory as wgmma's descriptors describe them.
 * Layer: emulator. Must not know: instructions, registers, warps.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 9.0, "Matrix Descriptor Format" and "Strides". A matrix has rows (of
 * A, or columns of B: "mn") and a depth ("k"); 8 elements that are neighbours
 * along the major dimension are a chunk of 16 bytes. */
#ifndef UATTN_EMULATOR_MATRIX_DESCRIPTOR_H
#define UATTN_EMULATOR_MATRIX_DESCRIPTOR_H

#include "support/support.h"

enum { EMU_CHUNK_BYTES = 16, EMU_CHUNK_ELEMENTS = 8 };

typedef struct {
  uint64_t address;       /* in shared memory */
  uint64_t leading_bytes; /* meaning depends on the layout */
  uint64_t stride_bytes;
  uint64_t span_bytes; /* of a swizzled row: 32, 64, 128; 16 without swizzle */
  uint64_t base_offset;
  bool is_mn_major;
} emu_matrix_t;

/* False where reserved bits are set. */
bool emu_matrix_decode(uint64_t descriptor, bool is_mn_major,
                       emu_matrix_t *out_matrix);

/* The shared address of the chunk that holds element (mn, k). */
uint64_t emu_matrix_chunk(const emu_matrix_t *matrix, uint32_t mn, uint32_t k);

#endif /* UATTN_EMULATOR_MATRIX_DESCRIPTOR_H */
