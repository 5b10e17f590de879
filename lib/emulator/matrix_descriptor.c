/* Matrices in shared memory as wgmma's descriptors describe them.
 * Layer: emulator. Must not know: instructions, registers, warps.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emulator/matrix_descriptor.h"

enum { ATOM_ROWS = 8 };

/* Bits 14-15, 30-31, 46-48 and 52-61 are reserved. */
#define RESERVED_BITS UINT64_C(0x3FF1C000C000C000)

static uint64_t field(uint64_t descriptor, int shift) {
  return (descriptor >> shift & 0x3FFF) << 4;
}

bool emu_matrix_decode(uint64_t descriptor, bool is_mn_major,
                       emu_matrix_t *out_matrix) {
  static const uint64_t spans[4] = {16, 128, 64, 32};
  *out_matrix = (emu_matrix_t){.address = field(descriptor, 0),
                               .leading_bytes = field(descriptor, 16),
                               .stride_bytes = field(descriptor, 32),
                               .span_bytes = spans[descriptor >> 62],
                               .base_offset = descriptor >> 49 & 7,
                               .is_mn_major = is_mn_major};
  return (descriptor & RESERVED_BITS) == 0;
}

/* Chunks of a row of 2, 4 or 8 are mixed with the row's number in the pattern,
 * which starts where the base offset says. */
static uint64_t swizzle(const emu_matrix_t *matrix, uint64_t address) {
  uint64_t mask = matrix->span_bytes / EMU_CHUNK_BYTES - 1;
  uint64_t row = (address >> 7) - matrix->base_offset;
  return address ^ (row & mask) << 4;
}

/* Atoms are 8 rows of mn; each row's chunks follow each other along k. */
static uint64_t k_major_offset(const emu_matrix_t *matrix, uint32_t mn,
                               uint32_t k_chunk) {
  bool is_swizzled = matrix->span_bytes > EMU_CHUNK_BYTES;
  return mn / ATOM_ROWS * matrix->stride_bytes +
         mn % ATOM_ROWS * matrix->span_bytes +
         k_chunk *
             (is_swizzled ? (uint64_t)EMU_CHUNK_BYTES : matrix->leading_bytes);
}

/* Atoms are 8 rows of k; each row's chunks follow each other along mn, to the
 * end of the span. */
static uint64_t mn_major_offset(const emu_matrix_t *matrix, uint32_t mn_chunk,
                                uint32_t k) {
  uint32_t span_chunks = (uint32_t)matrix->span_bytes / EMU_CHUNK_BYTES;
  uint64_t across = mn_chunk / span_chunks;
  uint64_t down = k / ATOM_ROWS;
  bool is_swizzled = span_chunks > 1;
  return across * (is_swizzled ? matrix->leading_bytes : matrix->stride_bytes) +
         down * (is_swizzled ? matrix->stride_bytes : matrix->leading_bytes) +
         k % ATOM_ROWS * matrix->span_bytes +
         mn_chunk % span_chunks * EMU_CHUNK_BYTES;
}

uint64_t emu_matrix_chunk(const emu_matrix_t *matrix, uint32_t mn, uint32_t k) {
  uint64_t offset = matrix->is_mn_major
                        ? mn_major_offset(matrix, mn / EMU_CHUNK_ELEMENTS, k)
                        : k_major_offset(matrix, mn, k / EMU_CHUNK_ELEMENTS);
  return swizzle(matrix, matrix->address + offset);
}
