/* Fragments: what one thread holds of a 64-row tile.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "emit/thread_builder.h"

/* Elements of a fragment in 8 columns: 2 rows of 2 columns. */
enum { GROUP = 4 };

static MlirValue and_i32(const uattn_builder_t *b, MlirValue value,
                         int32_t mask) {
  return uattn_binary(b, "arith.andi", value, uattn_constant_i32(b, mask));
}
static MlirValue shift_right(const uattn_builder_t *b, MlirValue value,
                             int32_t bits) {
  return uattn_binary(b, "arith.shrui", value, uattn_constant_i32(b, bits));
}
static MlirValue shift_left(const uattn_builder_t *b, MlirValue value,
                            int32_t bits) {
  return uattn_binary(b, "arith.shli", value, uattn_constant_i32(b, bits));
}

/* First row of the warp: 16 (warp % 4). */
static MlirValue warp_row(const uattn_builder_t *b, MlirValue thread) {
  return shift_left(b, and_i32(b, shift_right(b, thread, 5), 3), 4);
}

uattn_fragment_place_t uattn_emit_fragment_place(const uattn_builder_t *b,
                                                 MlirValue thread) {
  uattn_fragment_place_t place;
  MlirValue in_row = and_i32(b, thread, 3);
  place.first_row = uattn_binary(b, "arith.addi", warp_row(b, thread),
                                 and_i32(b, shift_right(b, thread, 2), 7));
  place.first_column = shift_left(b, in_row, 1);
  place.is_row_leader =
      uattn_compare_i(b, UATTN_CMPI_EQ, in_row, uattn_constant_i32(b, 0));
  return place;
}

MlirValue uattn_emit_fragment_spread(const uattn_builder_t *b, MlirValue rows,
                                     int64_t count) {
  int64_t *indices = uattn_allocate((size_t)count * sizeof *indices);
  for (int64_t i = 0; i < count; ++i)
    indices[i] = i % GROUP / 2;
  MlirValue spread = uattn_vector_shuffle(b, rows, indices, (int)count);
  free(indices);
  return spread;
}

MlirValue uattn_emit_fragment_fold(const uattn_builder_t *b, const char *name,
                                   MlirValue fragment, int64_t count) {
  int64_t total = uattn_type_dim(mlirValueGetType(fragment), 0);
  int64_t *indices = uattn_allocate((size_t)count * sizeof *indices);
  MlirValue folded = {NULL};
  for (int64_t first = 0; first < total; first += count) {
    for (int64_t i = 0; i < count; ++i)
      indices[i] = first + i;
    MlirValue slice = uattn_vector_shuffle(b, fragment, indices, (int)count);
    folded = first ? uattn_binary(b, name, folded, slice) : slice;
  }
  free(indices);
  return folded;
}

MlirValue uattn_emit_fragment_reduce(const uattn_builder_t *b, const char *name,
                                     MlirValue fragment) {
  MlirValue elements[GROUP], rows[2];
  uattn_vector_elements(b, uattn_emit_fragment_fold(b, name, fragment, GROUP),
                        elements);
  for (int row = 0; row < 2; ++row) {
    MlirValue value =
        uattn_binary(b, name, elements[2 * row], elements[2 * row + 1]);
    for (int32_t mask = 1; mask <= 2; mask *= 2)
      value =
          uattn_binary(b, name, value, uattn_emit_shuffle_xor(b, value, mask));
    rows[row] = value;
  }
  return uattn_vector_from_elements(b, rows, 2);
}

MlirValue uattn_emit_fragment_columns(const uattn_builder_t *b,
                                      const uattn_fragment_place_t *place,
                                      int64_t count) {
  MlirType type = uattn_type_vector1(uattn_type_i32(b), count);
  int32_t *columns = uattn_allocate((size_t)count * sizeof *columns);
  for (int64_t i = 0; i < count; ++i)
    columns[i] = (int32_t)(i / GROUP * 8 + i % 2);
  uattn_op_t op = uattn_op("arith.constant");
  uattn_op_attribute(&op, "value",
                     mlirDenseElementsAttrInt32Get(type, count, columns));
  uattn_op_result(&op, type);
  free(columns);
  return uattn_binary(b, "arith.addi", uattn_op_append_value(b, &op),
                      uattn_broadcast(b, place->first_column, type));
}

/* stmatrix x4 writes four 8 x 8 matrices: columns [16 s, 16 s + 16) of the
 * warp's 16 rows. Lane l gives the address of row l % 8 of matrix l / 8: rows
 * 8 (l / 8 % 2), columns 8 (l / 16). A row's 16-byte chunks are permuted by
 * the swizzle: chunk c of row r lies at c ^ (r % 8). */
void uattn_emit_fragment_store(const uattn_builder_t *b, MlirValue thread,
                               MlirValue fragment, uattn_smem_tile_t target) {
  const MlirType no_result = {NULL};
  int64_t pairs = uattn_type_dim(mlirValueGetType(fragment), 0);
  MlirValue *words = uattn_allocate((size_t)pairs * sizeof *words);
  uattn_vector_elements(b, fragment, words);
  MlirValue lane = and_i32(b, thread, 31);
  MlirValue row =
      uattn_binary(b, "arith.addi", warp_row(b, thread), and_i32(b, lane, 15));
  MlirValue chunk = uattn_binary(b, "arith.xori", shift_right(b, lane, 4),
                                 and_i32(b, lane, 7));
  MlirValue row_address =
      uattn_binary(b, "arith.addi", target.address,
                   uattn_binary(b, "arith.muli", row,
                                uattn_constant_i32(b, UATTN_PANEL_ROW_BYTES)));
  MlirValue chunk_bytes = shift_left(b, chunk, 4);
  for (int64_t s = 0; s < pairs / 4; ++s) {
    int64_t in_panel = s % (UATTN_PANEL_COLUMNS / 16);
    int64_t panel = s / (UATTN_PANEL_COLUMNS / 16);
    MlirValue in_row =
        uattn_binary(b, "arith.xori", chunk_bytes,
                     uattn_constant_i32(b, (int32_t)(in_panel * 32)));
    MlirValue panel_address = uattn_binary(
        b, "arith.addi", row_address,
        uattn_constant_i32(b, (int32_t)(panel * target.panel_bytes)));
    MlirValue operands[5] = {
        uattn_binary(b, "arith.addi", panel_address, in_row), words[4 * s],
        words[4 * s + 1], words[4 * s + 2], words[4 * s + 3]};
    uattn_inline_ptx(b,
                     "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], "
                     "{$1, $2, $3, $4};",
                     "r,r,r,r,r", operands, 5, no_result);
  }
  free(words);
}
