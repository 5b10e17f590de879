/* Fragments: what one thread holds of a 64-row tile.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
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

/* The column of element e is a constant plus the thread's first column, which
 * is taken from the limits instead: one comparison with a constant each. */
MlirValue uattn_emit_fragment_mask(const uattn_builder_t *b,
                                   const uattn_fragment_place_t *place,
                                   MlirValue fragment, MlirValue end,
                                   MlirValue begin) {
  MlirType type = mlirValueGetType(fragment);
  int64_t count = uattn_type_dim(type, 0);
  MlirType indices = uattn_type_vector1(uattn_type_i32(b), count);
  int32_t *columns = uattn_allocate((size_t)count * sizeof *columns);
  for (int64_t i = 0; i < count; ++i)
    columns[i] = (int32_t)(i / GROUP * 8 + i % 2);
  uattn_op_t op = uattn_op("arith.constant");
  uattn_op_attribute(&op, "value",
                     mlirDenseElementsAttrInt32Get(indices, count, columns));
  uattn_op_result(&op, indices);
  free(columns);
  MlirValue column = uattn_op_append_value(b, &op);
  MlirValue first = uattn_broadcast(b, place->first_column,
                                    uattn_type_vector1(uattn_type_i32(b), 2));
  MlirValue none = uattn_constant_splat(b, type, -INFINITY);
  MlirValue limit = uattn_emit_fragment_spread(
      b, uattn_binary(b, "arith.subi", end, first), count);
  MlirValue masked = uattn_select(
      b, uattn_compare_i(b, UATTN_CMPI_SLT, column, limit), fragment, none);
  if (mlirValueIsNull(begin))
    return masked;
  limit = uattn_emit_fragment_spread(
      b, uattn_binary(b, "arith.subi", begin, first), count);
  return uattn_select(b, uattn_compare_i(b, UATTN_CMPI_SLE, limit, column),
                      masked, none);
}
