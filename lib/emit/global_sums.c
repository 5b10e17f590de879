/* Sums of f32 in global memory that any CTA adds to, and records of rows.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of sums has 64 numbers, 256 bytes. The four numbers that a thread holds
 * of 16 columns lie together: thread t of a row's four has bytes
 * 64 (g ^ row % 2) + 16 t of columns 16 g on. So stores of 16 bytes meet all
 * banks of shared memory, and rows that follow each other are one copy. */
#include <stdlib.h>

#include "emit/thread_builder.h"

enum {
  ROW_BYTES = 256,
  ROW_NUMBERS = 64,
  GROUP_COLUMNS = 16,
  GROUP_BYTES = 64,
  GROUPS = ROW_NUMBERS / GROUP_COLUMNS,
  CHUNK_BYTES = 16,
  CHUNK_NUMBERS = 4,
  ROWS_OF_THREAD = 2
};

static const MlirType no_result = {NULL};

/* Element of a fragment of 64 columns: number `i` of the thread's four in group
 * `group` of row `row`. */
static int64_t element_of(int64_t group, int64_t row, int64_t i) {
  return 8 * group + 2 * row + i / 2 * 4 + i % 2;
}

/* Bytes from the first row's start to the thread's chunk of group 0 in its row
 * `row`; the chunk of group g is at that xor 64 g. `first_row`: of the tile, by
 * which rows are odd. */
static MlirValue chunk_offset(const uattn_builder_t *b,
                              const uattn_fragment_place_t *place,
                              MlirValue first_row, int64_t row) {
  MlirValue in_tile =
      uattn_binary_i32(b, "arith.addi", place->first_row, 8 * row);
  MlirValue is_odd = uattn_binary_i32(
      b, "arith.andi", uattn_binary(b, "arith.addi", in_tile, first_row), 1);
  MlirValue in_row = uattn_binary(
      b, "arith.addi", uattn_binary_i32(b, "arith.muli", is_odd, GROUP_BYTES),
      uattn_binary_i32(b, "arith.muli", place->first_column, CHUNK_BYTES / 2));
  return uattn_binary(b, "arith.addi", in_row,
                      uattn_binary_i32(b, "arith.muli", in_tile, ROW_BYTES));
}

static MlirValue rows_left(const uattn_builder_t *b,
                           const uattn_sums_place_t *sums) {
  return uattn_binary(b, "arith.subi", sums->limit, sums->first_row);
}

/* Of a tile; 0 or less: none. So few that their bytes are an i32. */
static MlirValue rows_inside(const uattn_builder_t *b,
                             const uattn_sums_place_t *sums) {
  return uattn_binary_i32(b, "arith.minsi", rows_left(b, sums),
                          UATTN_WARPGROUP_ROWS);
}

/* Where the tile's first row lies in block `block` of 64 columns. */
static MlirValue tile_address(const uattn_builder_t *b,
                              const uattn_sums_place_t *sums, int64_t block) {
  MlirValue row = sums->first_row;
  MlirType i64 = uattn_type_i64(b);
  MlirValue rows = uattn_cast(b, "arith.extui", row, i64);
  if (block > 0)
    rows = uattn_binary(
        b, "arith.addi", rows,
        uattn_binary(b, "arith.muli",
                     uattn_cast(b, "arith.extui", sums->limit, i64),
                     uattn_constant_i64(b, block)));
  MlirValue numbers =
      uattn_binary(b, "arith.muli", rows, uattn_constant_i64(b, ROW_NUMBERS));
  return uattn_emit_global_address(
      b, sums->memory, uattn_binary(b, "arith.addi", sums->offset, numbers),
      uattn_constant_i32(b, 0), uattn_type_f32(b));
}

static MlirValue byte_address(const uattn_builder_t *b, MlirValue base,
                              MlirValue offset) {
  return uattn_emit_global_address(b, base, uattn_constant_i64(b, 0), offset,
                                   mlirIntegerTypeGet(b->context, 8));
}

/* ---- Clearing ---------------------------------------------------------------
 */

void uattn_emit_sums_zero(const uattn_builder_t *b, MlirValue thread,
                          const uattn_sums_place_t *sums, int64_t columns) {
  enum { BYTES_A_TURN = UATTN_WARPGROUP_THREADS * CHUNK_BYTES };
  MlirValue in_warpgroup =
      uattn_binary_i32(b, "arith.andi", thread, UATTN_WARPGROUP_THREADS - 1);
  MlirValue first =
      uattn_binary_i32(b, "arith.muli", in_warpgroup, CHUNK_BYTES);
  MlirValue left =
      uattn_binary_i32(b, "arith.muli", rows_inside(b, sums), ROW_BYTES);
  MlirValue zero = uattn_constant_f32(b, 0.0);
  for (int64_t block = 0; block < columns / ROW_NUMBERS; ++block) {
    MlirValue base = tile_address(b, sums, block);
    for (int64_t done = 0; done < UATTN_WARPGROUP_ROWS * ROW_BYTES;
         done += BYTES_A_TURN) {
      MlirValue offset = uattn_binary_i32(b, "arith.addi", first, done);
      MlirValue operands[3] = {
          byte_address(b, base, offset), zero,
          uattn_compare_i(b, UATTN_CMPI_SLT, offset, left)};
      uattn_inline_ptx(b, "@$2 st.global.v4.f32 [$0], {$1, $1, $1, $1};",
                       "l,f,b", operands, 3, no_result);
    }
  }
}

/* ---- Adding -----------------------------------------------------------------
 */

void uattn_emit_sums_stage(const uattn_builder_t *b,
                           const uattn_fragment_place_t *place,
                           MlirValue fragment, MlirValue staging,
                           MlirValue first_row) {
  MlirValue elements[UATTN_WARPGROUP_ROWS / 2];
  uattn_vector_elements(b, fragment, elements);
  for (int64_t row = 0; row < ROWS_OF_THREAD; ++row) {
    MlirValue base = uattn_binary(b, "arith.addi", staging,
                                  chunk_offset(b, place, first_row, row));
    for (int64_t group = 0; group < GROUPS; ++group) {
      MlirValue operands[1 + CHUNK_NUMBERS] = {
          uattn_binary_i32(b, "arith.xori", base, group * GROUP_BYTES)};
      for (int64_t i = 0; i < CHUNK_NUMBERS; ++i)
        operands[1 + i] = elements[element_of(group, row, i)];
      uattn_inline_ptx(b, "st.shared.v4.f32 [$0], {$1, $2, $3, $4};",
                       "r,f,f,f,f", operands, 1 + CHUNK_NUMBERS, no_result);
    }
  }
}

void uattn_emit_sums_copy(const uattn_builder_t *b,
                          const uattn_sums_place_t *sums, MlirValue staging) {
  MlirValue rows = rows_inside(b, sums);
  MlirValue operands[4] = {
      tile_address(b, sums, 0), staging,
      uattn_binary_i32(b, "arith.muli", rows, ROW_BYTES),
      uattn_compare_i(b, UATTN_CMPI_SLT, uattn_constant_i32(b, 0), rows)};
  uattn_inline_ptx(b,
                   "@$3 cp.reduce.async.bulk.global.shared::cta.bulk_group"
                   ".add.f32 [$0], [$1], $2;\n"
                   "cp.async.bulk.commit_group;",
                   "l,r,r,b", operands, 4, no_result);
}

void uattn_emit_sums_wait(const uattn_builder_t *b) {
  uattn_inline_ptx(b, "cp.async.bulk.wait_group.read 0;", "", NULL, 0,
                   no_result);
}

/* ---- Loading ----------------------------------------------------------------
 */

static void load_chunk(const uattn_builder_t *b, MlirValue address,
                       MlirValue is_inside, MlirValue out[CHUNK_NUMBERS]) {
  MlirValue operands[2] = {address, is_inside};
  MlirType four =
      uattn_type_parse(b->context, "!llvm.struct<(f32, f32, f32, f32)>");
  MlirOperation made = uattn_inline_ptx(
      b,
      "mov.b32 $0, 0;\nmov.b32 $1, 0;\nmov.b32 $2, 0;\nmov.b32 $3, 0;\n"
      "@$5 ld.global.v4.f32 {$0, $1, $2, $3}, [$4];",
      "=&f,=&f,=&f,=&f,l,b", operands, 2, four);
  for (int64_t i = 0; i < CHUNK_NUMBERS; ++i)
    out[i] = uattn_extract_value(b, mlirOperationGetResult(made, 0), i,
                                 uattn_type_f32(b));
}

MlirValue uattn_emit_sums_fragment(const uattn_builder_t *b,
                                   const uattn_fragment_place_t *place,
                                   const uattn_sums_place_t *sums,
                                   int64_t columns) {
  int64_t count = columns / 2;
  MlirValue *elements = uattn_allocate((size_t)count * sizeof *elements);
  MlirValue left = rows_left(b, sums);
  for (int64_t block = 0; block < columns / ROW_NUMBERS; ++block) {
    MlirValue base = tile_address(b, sums, block);
    for (int64_t row = 0; row < ROWS_OF_THREAD; ++row) {
      MlirValue is_inside = uattn_compare_i(
          b, UATTN_CMPI_SLT,
          uattn_binary_i32(b, "arith.addi", place->first_row, 8 * row), left);
      MlirValue first = chunk_offset(b, place, sums->first_row, row);
      for (int64_t group = 0; group < GROUPS; ++group) {
        MlirValue chunk[CHUNK_NUMBERS];
        MlirValue offset =
            uattn_binary_i32(b, "arith.xori", first, group * GROUP_BYTES);
        load_chunk(b, byte_address(b, base, offset), is_inside, chunk);
        for (int64_t i = 0; i < CHUNK_NUMBERS; ++i)
          elements[block * ROW_NUMBERS / 2 + element_of(group, row, i)] =
              chunk[i];
      }
    }
  }
  MlirValue fragment = uattn_vector_from_elements(b, elements, (int)count);
  free(elements);
  return fragment;
}

/* ---- Records ----------------------------------------------------------------
 */

void uattn_emit_record_write(const uattn_builder_t *b,
                             const uattn_fragment_place_t *place,
                             const MlirValue fields[UATTN_RECORD_NUMBERS],
                             const uattn_sums_place_t *records) {
  MlirValue values[UATTN_RECORD_NUMBERS][ROWS_OF_THREAD];
  for (int i = 0; i < UATTN_RECORD_NUMBERS; ++i)
    uattn_vector_elements(b, fields[i], values[i]);
  for (int row = 0; row < ROWS_OF_THREAD; ++row) {
    MlirValue at = uattn_binary_i32(
        b, "arith.addi",
        uattn_binary(b, "arith.addi", records->first_row, place->first_row),
        8 * row);
    MlirValue operands[2 + UATTN_RECORD_NUMBERS] = {
        uattn_emit_global_address(
            b, records->memory, records->offset,
            uattn_binary_i32(b, "arith.muli", at, UATTN_RECORD_NUMBERS),
            uattn_type_f32(b)),
        uattn_binary(b, "arith.andi", place->is_row_leader,
                     uattn_compare_i(b, UATTN_CMPI_SLT, at, records->limit))};
    for (int i = 0; i < UATTN_RECORD_NUMBERS; ++i)
      operands[2 + i] = values[i][row];
    uattn_inline_ptx(b, "@$1 st.global.v4.f32 [$0], {$2, $3, $4, $5};",
                     "l,b,f,f,f,f", operands, 2 + UATTN_RECORD_NUMBERS,
                     no_result);
  }
}

MlirValue uattn_emit_record_columns(const uattn_builder_t *b,
                                    const uattn_fragment_place_t *place,
                                    MlirValue records, int64_t field,
                                    int64_t columns, MlirType element) {
  enum { RECORD_BYTES = 4 * UATTN_RECORD_NUMBERS };
  int64_t count = columns / 2;
  MlirValue *elements = uattn_allocate((size_t)count * sizeof *elements);
  MlirValue base = uattn_binary(
      b, "arith.addi", records,
      uattn_binary_i32(b, "arith.muli", place->first_column, RECORD_BYTES));
  bool is_float = mlirTypeIsAF32(element);
  for (int64_t i = 0; i < count; i += 4)
    for (int64_t e = 0; e < 2; ++e) {
      MlirValue address = uattn_binary_i32(
          b, "arith.addi", base, (2 * i + e) * RECORD_BYTES + 4 * field);
      elements[i + e] = elements[i + e + 2] = mlirOperationGetResult(
          uattn_inline_ptx(b, "ld.shared.b32 $0, [$1];",
                           is_float ? "=f,r" : "=r,r", &address, 1, element),
          0);
    }
  MlirValue fragment = uattn_vector_from_elements(b, elements, (int)count);
  free(elements);
  return fragment;
}
