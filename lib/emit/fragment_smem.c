/* Fragments to and from shared-memory tiles.
 * Layer: emit. Must not know: plans, the dialect's ops, passes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile's row has 128 bytes a panel; its 16-byte chunks are permuted by the
 * swizzle: chunk c of row r lies at c ^ (r % 8). */
#include <stdlib.h>

#include "emit/thread_builder.h"

enum { CHUNK_BYTES = 16, CHUNK_ELEMENTS = 8, CHUNKS_PER_PANEL_ROW = 8 };

/* First row of the warp: 16 (warp % 4). */
static MlirValue warp_row(const uattn_builder_t *b, MlirValue thread) {
  MlirValue warp = uattn_binary_i32(
      b, "arith.andi", uattn_binary_i32(b, "arith.shrui", thread, 5), 3);
  return uattn_binary_i32(b, "arith.shli", warp, 4);
}

/* Addresses that ldmatrix and stmatrix x4 take for columns [16 s, 16 s + 16)
 * of the warp's 16 rows: lane l gives row l % 8 of matrix l / 8, which covers
 * rows 8 (l / 8 % 2) and columns 8 (l / 16) on. */
typedef struct {
  MlirValue row_address;
  MlirValue chunk_bytes; /* of the lane's chunk in step 0, swizzled */
  int64_t panel_bytes;
} matrix_addresses_t;

static matrix_addresses_t matrix_addresses(const uattn_builder_t *b,
                                           MlirValue thread,
                                           uattn_smem_tile_t tile) {
  MlirValue lane = uattn_binary_i32(b, "arith.andi", thread, 31);
  MlirValue row = uattn_binary(b, "arith.addi", warp_row(b, thread),
                               uattn_binary_i32(b, "arith.andi", lane, 15));
  MlirValue chunk =
      uattn_binary(b, "arith.xori", uattn_binary_i32(b, "arith.shrui", lane, 4),
                   uattn_binary_i32(b, "arith.andi", lane, 7));
  matrix_addresses_t addresses = {
      .row_address = uattn_binary(
          b, "arith.addi", tile.address,
          uattn_binary_i32(b, "arith.muli", row, UATTN_PANEL_ROW_BYTES)),
      .chunk_bytes = uattn_binary_i32(b, "arith.shli", chunk, 4),
      .panel_bytes = tile.panel_bytes,
  };
  return addresses;
}

static MlirValue matrix_address(const uattn_builder_t *b,
                                const matrix_addresses_t *addresses,
                                int64_t step) {
  int64_t steps_per_panel = UATTN_PANEL_COLUMNS / (2 * CHUNK_ELEMENTS);
  MlirValue in_row = uattn_binary_i32(b, "arith.xori", addresses->chunk_bytes,
                                      step % steps_per_panel * 2 * CHUNK_BYTES);
  MlirValue panel =
      uattn_binary_i32(b, "arith.addi", addresses->row_address,
                       step / steps_per_panel * addresses->panel_bytes);
  return uattn_binary(b, "arith.addi", panel, in_row);
}

void uattn_emit_fragment_store(const uattn_builder_t *b, MlirValue thread,
                               MlirValue fragment, uattn_smem_tile_t target) {
  const MlirType no_result = {NULL};
  int64_t pairs = uattn_type_dim(mlirValueGetType(fragment), 0);
  MlirValue *words = uattn_allocate((size_t)pairs * sizeof *words);
  uattn_vector_elements(b, fragment, words);
  matrix_addresses_t addresses = matrix_addresses(b, thread, target);
  for (int64_t s = 0; s < pairs / 4; ++s) {
    MlirValue operands[5] = {matrix_address(b, &addresses, s), words[4 * s],
                             words[4 * s + 1], words[4 * s + 2],
                             words[4 * s + 3]};
    uattn_inline_ptx(b,
                     "stmatrix.sync.aligned.m8n8.x4.shared.b16 [$0], "
                     "{$1, $2, $3, $4};",
                     "r,r,r,r,r", operands, 5, no_result);
  }
  free(words);
}

/* stmatrix x4 transposes four 8 x 8 matrices, which lie as those of
 * matrix_addresses do in the fragment: lane l gives the row of the target that
 * column l % 8 of matrix l / 8 becomes. */
void uattn_emit_fragment_transpose(const uattn_builder_t *b, MlirValue thread,
                                   MlirValue fragment,
                                   uattn_smem_tile_t target) {
  const MlirType no_result = {NULL};
  int64_t pairs = uattn_type_dim(mlirValueGetType(fragment), 0);
  MlirValue *words = uattn_allocate((size_t)pairs * sizeof *words);
  uattn_vector_elements(b, fragment, words);
  MlirValue in_matrix = uattn_binary_i32(b, "arith.andi", thread, 7);
  MlirValue row = uattn_binary(
      b, "arith.addi", in_matrix,
      uattn_binary_i32(b, "arith.andi",
                       uattn_binary_i32(b, "arith.shrui", thread, 1), 8));
  MlirValue chunk = uattn_binary(
      b, "arith.addi",
      uattn_binary_i32(b, "arith.shrui", warp_row(b, thread), 3),
      uattn_binary_i32(b, "arith.andi",
                       uattn_binary_i32(b, "arith.shrui", thread, 3), 1));
  MlirValue address = uattn_binary(
      b, "arith.addi", target.address,
      uattn_binary(
          b, "arith.addi",
          uattn_binary_i32(b, "arith.muli", row, UATTN_PANEL_ROW_BYTES),
          uattn_binary_i32(b, "arith.shli",
                           uattn_binary(b, "arith.xori", chunk, in_matrix),
                           4)));
  for (int64_t s = 0; s < pairs / 4; ++s) {
    MlirValue operands[5] = {
        uattn_binary_i32(b, "arith.addi", address,
                         s * 2 * CHUNK_ELEMENTS * UATTN_PANEL_ROW_BYTES),
        words[4 * s], words[4 * s + 1], words[4 * s + 2], words[4 * s + 3]};
    uattn_inline_ptx(b,
                     "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [$0], "
                     "{$1, $2, $3, $4};",
                     "r,r,r,r,r", operands, 5, no_result);
  }
  free(words);
}

/* A warp barrier now and then keeps ptxas from starting all loads at once, for
 * which it would spill. */
MlirValue uattn_emit_fragment_load(const uattn_builder_t *b, MlirValue thread,
                                   uattn_smem_tile_t source, int64_t columns) {
  enum { LOADS_IN_FLIGHT = 2 };
  MlirType four_words =
      uattn_type_parse(b->context, "!llvm.struct<(i32, i32, i32, i32)>");
  int64_t pairs = columns / 4;
  MlirValue *words = uattn_allocate((size_t)pairs * sizeof *words);
  matrix_addresses_t addresses = matrix_addresses(b, thread, source);
  for (int64_t s = 0; s < pairs / 4; ++s) {
    MlirValue address = matrix_address(b, &addresses, s);
    MlirOperation made = uattn_inline_ptx(
        b, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];",
        "=r,=r,=r,=r,r", &address, 1, four_words);
    for (int64_t i = 0; i < 4; ++i)
      words[4 * s + i] = uattn_extract_value(b, mlirOperationGetResult(made, 0),
                                             i, uattn_type_i32(b));
    if (s % LOADS_IN_FLIGHT == LOADS_IN_FLIGHT - 1)
      uattn_emit_warp_barrier(b);
  }
  MlirValue fragment = uattn_vector_from_elements(b, words, (int)pairs);
  free(words);
  return fragment;
}

/* A bf16 is the upper half of an f32: two integer operations for a pair, where
 * the conversion instruction runs at a sixteenth of the rate. */
static MlirValue widen_bf16(const uattn_builder_t *b, MlirValue packed) {
  MlirType words = mlirValueGetType(packed);
  int64_t count = uattn_type_dim(words, 0);
  MlirType floats = uattn_type_vector1(uattn_type_f32(b), count);
  MlirValue low = uattn_binary(b, "arith.shli", packed,
                               uattn_constant_splat_i32(b, words, 16));
  MlirValue high =
      uattn_binary(b, "arith.andi", packed,
                   uattn_constant_splat_i32(b, words, (int32_t)0xFFFF0000));
  int64_t *indices = uattn_allocate((size_t)(2 * count) * sizeof *indices);
  for (int64_t i = 0; i < 2 * count; ++i)
    indices[i] = i / 2 + i % 2 * count;
  MlirValue wide = uattn_vector_shuffle2(
      b, uattn_cast(b, "arith.bitcast", low, floats),
      uattn_cast(b, "arith.bitcast", high, floats), indices, (int)(2 * count));
  free(indices);
  return wide;
}

MlirValue uattn_emit_widen(const uattn_builder_t *b, MlirValue packed,
                           MlirType element) {
  if (mlirTypeIsABF16(element))
    return widen_bf16(b, packed);
  int64_t count = 2 * uattn_type_dim(mlirValueGetType(packed), 0);
  MlirValue narrow = uattn_cast(b, "vector.bitcast", packed,
                                uattn_type_vector1(element, count));
  return uattn_cast(b, "arith.extf", narrow,
                    uattn_type_vector1(uattn_type_f32(b), count));
}

/* ---- Row-wise products ------------------------------------------------------
 * The four threads of a row take every fourth chunk. */

static MlirValue load_chunk(const uattn_builder_t *b, MlirValue row_address,
                            MlirValue chunk_bytes, int64_t panel_offset,
                            MlirType element) {
  MlirType words =
      uattn_type_parse(b->context, "!llvm.struct<(i32, i32, i32, i32)>");
  MlirValue address = uattn_binary_i32(
      b, "arith.addi", uattn_binary(b, "arith.addi", row_address, chunk_bytes),
      panel_offset);
  MlirOperation made =
      uattn_inline_ptx(b, "ld.shared.v4.b32 {$0, $1, $2, $3}, [$4];",
                       "=r,=r,=r,=r,r", &address, 1, words);
  MlirValue pairs[4];
  for (int64_t i = 0; i < 4; ++i)
    pairs[i] = uattn_extract_value(b, mlirOperationGetResult(made, 0), i,
                                   uattn_type_i32(b));
  return uattn_emit_widen(b, uattn_vector_from_elements(b, pairs, 4), element);
}

/* The thread's share of the product of one row, 8 partial sums. */
static MlirValue row_products(const uattn_builder_t *b, MlirValue row,
                              MlirValue in_quad, uattn_smem_tile_t x,
                              uattn_smem_tile_t y, int64_t columns,
                              MlirType element) {
  MlirValue row_bytes =
      uattn_binary_i32(b, "arith.muli", row, UATTN_PANEL_ROW_BYTES);
  MlirValue x_row = uattn_binary(b, "arith.addi", x.address, row_bytes);
  MlirValue y_row = uattn_binary(b, "arith.addi", y.address, row_bytes);
  MlirValue swizzle = uattn_binary_i32(b, "arith.andi", row, 7);
  MlirValue sums = uattn_constant_splat(
      b, uattn_type_vector1(uattn_type_f32(b), CHUNK_ELEMENTS), 0.0);
  for (int64_t step = 0; step < columns / (4 * CHUNK_ELEMENTS); ++step) {
    int64_t first = step * 4; /* chunk of the quad's first thread */
    int64_t panel = first / CHUNKS_PER_PANEL_ROW;
    MlirValue chunk = uattn_binary_i32(b, "arith.addi", in_quad,
                                       first % CHUNKS_PER_PANEL_ROW);
    MlirValue chunk_bytes = uattn_binary_i32(
        b, "arith.shli", uattn_binary(b, "arith.xori", chunk, swizzle), 4);
    sums = uattn_ternary(
        b, "math.fma",
        load_chunk(b, x_row, chunk_bytes, panel * x.panel_bytes, element),
        load_chunk(b, y_row, chunk_bytes, panel * y.panel_bytes, element),
        sums);
    uattn_emit_warp_barrier(b);
  }
  return sums;
}

MlirValue uattn_emit_fragment_row_dot(const uattn_builder_t *b,
                                      MlirValue thread, uattn_smem_tile_t x,
                                      uattn_smem_tile_t y, int64_t columns,
                                      MlirType element) {
  MlirValue in_quad = uattn_binary_i32(b, "arith.andi", thread, 3);
  MlirValue quad = uattn_binary_i32(
      b, "arith.andi", uattn_binary_i32(b, "arith.shrui", thread, 2), 7);
  MlirValue first_row =
      uattn_binary(b, "arith.addi", warp_row(b, thread), quad);
  MlirValue rows[2];
  for (int64_t i = 0; i < 2; ++i) {
    MlirValue row = uattn_binary_i32(b, "arith.addi", first_row, 8 * i);
    MlirValue elements[CHUNK_ELEMENTS];
    uattn_vector_elements(
        b, row_products(b, row, in_quad, x, y, columns, element), elements);
    MlirValue sum = elements[0];
    for (int e = 1; e < CHUNK_ELEMENTS; ++e)
      sum = uattn_binary(b, "arith.addf", sum, elements[e]);
    for (int32_t mask = 1; mask <= 2; mask *= 2)
      sum = uattn_binary(b, "arith.addf", sum,
                         uattn_emit_shuffle_xor(b, sum, mask));
    rows[i] = sum;
    uattn_emit_warp_barrier(b);
  }
  return uattn_vector_from_elements(b, rows, 2);
}

/* ---- Clearing ---------------------------------------------------------------
 */

void uattn_emit_clear_rows(const uattn_builder_t *b, MlirValue thread,
                           uattn_smem_tile_t tile, int64_t rows,
                           int64_t columns, MlirValue first) {
  const MlirType no_result = {NULL};
  MlirValue in_warpgroup =
      uattn_binary_i32(b, "arith.andi", thread, UATTN_WARPGROUP_THREADS - 1);
  MlirValue zero = uattn_constant_i32(b, 0);
  int64_t panel_chunks = rows * CHUNKS_PER_PANEL_ROW;
  for (int64_t panel = 0; panel < columns / UATTN_PANEL_COLUMNS; ++panel)
    for (int64_t done = 0; done < panel_chunks;
         done += UATTN_WARPGROUP_THREADS) {
      MlirValue chunk = uattn_binary_i32(b, "arith.addi", in_warpgroup, done);
      MlirValue row = uattn_binary_i32(b, "arith.shrui", chunk, 3);
      MlirValue is_dead = uattn_compare_i(b, UATTN_CMPI_SLE, first, row);
      MlirValue is_inside = uattn_compare_i(
          b, UATTN_CMPI_SLT, row, uattn_constant_i32(b, (int32_t)rows));
      MlirValue operands[3] = {
          uattn_binary_i32(
              b, "arith.addi",
              uattn_binary(b, "arith.addi", tile.address,
                           uattn_binary_i32(b, "arith.shli", chunk, 4)),
              panel * tile.panel_bytes),
          zero, uattn_binary(b, "arith.andi", is_dead, is_inside)};
      uattn_inline_ptx(b, "@$2 st.shared.v4.b32 [$0], {$1, $1, $1, $1};",
                       "r,r,b", operands, 3, no_result);
    }
}

/* The four threads of a row take every fourth chunk. */
void uattn_emit_drop_rows(const uattn_builder_t *b,
                          const uattn_fragment_place_t *place,
                          uattn_smem_tile_t tile, int64_t columns,
                          MlirValue flags) {
  const MlirType no_result = {NULL};
  MlirValue zero = uattn_constant_i32(b, 0), each[2];
  uattn_vector_elements(b, flags, each);
  for (int64_t i = 0; i < 2; ++i) {
    MlirValue row = uattn_binary(
        b, "arith.addi", tile.address,
        uattn_binary(b, "arith.addi",
                     uattn_binary_i32(b, "arith.muli",
                                      uattn_binary_i32(b, "arith.addi",
                                                       place->first_row, 8 * i),
                                      UATTN_PANEL_ROW_BYTES),
                     uattn_binary_i32(b, "arith.muli", place->first_column,
                                      CHUNK_BYTES / 2)));
    for (int64_t chunk = 0; chunk < columns / CHUNK_ELEMENTS; chunk += 4) {
      MlirValue operands[3] = {
          uattn_binary_i32(b, "arith.addi", row,
                           chunk / CHUNKS_PER_PANEL_ROW * tile.panel_bytes +
                               chunk % CHUNKS_PER_PANEL_ROW * CHUNK_BYTES),
          zero, each[i]};
      uattn_inline_ptx(b, "@$2 st.shared.v4.b32 [$0], {$1, $1, $1, $1};",
                       "r,r,b", operands, 3, no_result);
    }
  }
}
