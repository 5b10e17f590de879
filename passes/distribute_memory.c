/* Tiles and rows between registers, shared and global memory.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "passes/distribute.h"

/* ---- Global memory --------------------------------------------------------
 */

/* The tensor row of the thread's row `i` (0 or 1) of the tile at `first`. */
static MlirValue tensor_row(const uattn_distributor_t *d, MlirValue first,
                            int i) {
  const uattn_builder_t *b = &d->builder;
  MlirValue row = uattn_binary(b, "arith.addi", first, d->place.first_row);
  return i ? uattn_binary(b, "arith.addi", row, uattn_constant_i32(b, 8)) : row;
}

static MlirValue zero_of(const uattn_builder_t *b, MlirType element) {
  return mlirTypeIsAInteger(element) ? uattn_constant_i32(b, 0)
                                     : uattn_constant_f32(b, 0.0);
}

/* source[offset + index] where 0 <= index < limit, else 0. */
static MlirValue load_inside(const uattn_distributor_t *d, MlirOperation op,
                             MlirValue index, MlirValue limit) {
  const uattn_builder_t *b = &d->builder;
  MlirType element =
      uattn_type_inner(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  MlirValue is_inside = uattn_compare_i(b, UATTN_CMPI_ULT, index, limit);
  uattn_builder_t inside, outside;
  MlirRegion then = uattn_region_create(b, NULL, 0, &inside);
  MlirValue loaded = uattn_emit_global_load(
      &inside, uattn_distributed_operand(d, op, 0),
      uattn_distributed_operand(d, op, 1), index, element);
  MlirType type = mlirValueGetType(loaded);
  uattn_yield(&inside, &loaded, 1);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &outside);
  MlirValue zero = zero_of(&outside, element);
  uattn_yield(&outside, &zero, 1);
  return mlirOperationGetResult(
      uattn_if_else_append(b, is_inside, &type, 1, then, otherwise), 0);
}

static bool distribute_row_load(uattn_distributor_t *d, MlirOperation op) {
  MlirValue rows[2];
  for (int i = 0; i < 2; ++i)
    rows[i] = load_inside(d, op,
                          tensor_row(d, uattn_distributed_operand(d, op, 2), i),
                          uattn_distributed_operand(d, op, 3));
  uattn_set_distributed(d, op, 0,
                        uattn_vector_from_elements(&d->builder, rows, 2));
  return true;
}

static bool distribute_scalar_load(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirType element =
      uattn_type_inner(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_global_load(b, uattn_distributed_operand(d, op, 0),
                             uattn_distributed_operand(d, op, 1),
                             uattn_constant_i32(b, 0), element));
  return true;
}

/* A thread has two neighbouring columns in every eight, in both rows. */
static bool distribute_column_load(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirType type =
      uattn_distributed_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  int64_t count = uattn_type_dim(type, 0);
  MlirValue *elements = uattn_allocate((size_t)count * sizeof *elements);
  MlirValue first =
      uattn_binary(b, "arith.addi", uattn_distributed_operand(d, op, 2),
                   d->place.first_column);
  for (int64_t i = 0; i < count; i += 4)
    for (int64_t e = 0; e < 2; ++e) {
      MlirValue index = uattn_binary(
          b, "arith.addi", first, uattn_constant_i32(b, (int32_t)(2 * i + e)));
      elements[i + e] = elements[i + e + 2] =
          load_inside(d, op, index, uattn_distributed_operand(d, op, 3));
    }
  uattn_set_distributed(d, op, 0,
                        uattn_vector_from_elements(b, elements, (int)count));
  free(elements);
  return true;
}

/* The four threads of a row hold the same value; the first writes it. */
static bool distribute_row_store(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue rows[2];
  uattn_vector_elements(b, uattn_distributed_operand(d, op, 0), rows);
  for (int i = 0; i < 2; ++i) {
    MlirValue row = tensor_row(d, uattn_distributed_operand(d, op, 3), i);
    MlirValue is_inside = uattn_compare_i(b, UATTN_CMPI_SLT, row,
                                          uattn_distributed_operand(d, op, 4));
    uattn_builder_t then;
    MlirRegion region = uattn_region_create(b, NULL, 0, &then);
    uattn_op_t store = uattn_op("llvm.store");
    uattn_op_operand(&store, rows[i]);
    uattn_op_operand(&store, uattn_emit_global_address(
                                 &then, uattn_distributed_operand(d, op, 1),
                                 uattn_distributed_operand(d, op, 2), row,
                                 mlirValueGetType(rows[i])));
    uattn_op_append(&then, &store);
    uattn_yield(&then, NULL, 0);
    uattn_if_append(
        b, uattn_binary(b, "arith.andi", d->place.is_row_leader, is_inside),
        region);
  }
  return true;
}

/* ---- Shared memory ---------------------------------------------------------
 */

/* Bytes between panels of an smem value: those of the tile that it is part
 * of. */
static int64_t panel_bytes(MlirValue tile) {
  MlirOperation owner = mlirOpResultGetOwner(tile);
  if (uattn_op_is(owner, UATTN_OPNAME_SMEM_ROWS) ||
      uattn_op_is(owner, UATTN_OPNAME_SMEM_COLUMNS))
    return panel_bytes(mlirOperationGetOperand(owner, 0));
  return uattn_type_dim(uattn_type_inner(mlirValueGetType(tile)), 0) *
         UATTN_PANEL_ROW_BYTES;
}

uattn_smem_tile_t uattn_distributed_smem_tile(const uattn_distributor_t *d,
                                              MlirValue tile) {
  uattn_smem_tile_t result = {uattn_distributed(d, tile), panel_bytes(tile)};
  return result;
}

static bool distribute_segment_hull(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  int64_t offset = 0;
  uattn_segment_scan_t scan = {
      .q_ids = uattn_distributed_operand(d, op, 0),
      .q_offset = uattn_distributed_operand(d, op, 1),
      .first_row = uattn_distributed_operand(d, op, 2),
      .q_tokens = uattn_distributed_operand(d, op, 3),
      .kv_ids = uattn_distributed_operand(d, op, 4),
      .kv_offset = uattn_distributed_operand(d, op, 5),
      .begin = uattn_distributed_operand(d, op, 6),
      .end = uattn_distributed_operand(d, op, 7),
  };
  UATTN_CHECK(uattn_op_get_i64(op, UATTN_ATTR_ROWS, &scan.rows) &&
              uattn_op_get_i64(op, UATTN_ATTR_THREADS, &scan.threads) &&
              uattn_op_get_i64(op, UATTN_ATTR_SMEM_OFFSET, &offset));
  scan.scratch = uattn_binary(b, "arith.addi", d->smem_base,
                              uattn_constant_i32(b, (int32_t)offset));
  MlirValue first, after, is_uniform;
  uattn_emit_segment_search(b, d->thread, &scan, &first, &after, &is_uniform);
  uattn_set_distributed(d, op, 0, first);
  uattn_set_distributed(d, op, 1, after);
  uattn_set_distributed(d, op, 2, is_uniform);
  return true;
}

static bool distribute_smem_read(uattn_distributor_t *d, MlirOperation op) {
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirType tile = uattn_type_inner(mlirValueGetType(source));
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_fragment_load(&d->builder, d->thread,
                               uattn_distributed_smem_tile(d, source),
                               uattn_type_dim(tile, 1)));
  return true;
}

static bool distribute_row_dot(uattn_distributor_t *d, MlirOperation op) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType tile = uattn_type_inner(mlirValueGetType(x));
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_fragment_row_dot(
          &d->builder, d->thread, uattn_distributed_smem_tile(d, x),
          uattn_distributed_smem_tile(d, mlirOperationGetOperand(op, 1)),
          uattn_type_dim(tile, 1), uattn_type_element(tile)));
  return true;
}

static bool distribute_smem_clear_rows(uattn_distributor_t *d,
                                       MlirOperation op) {
  MlirValue value = mlirOperationGetOperand(op, 0);
  MlirType tile = uattn_type_inner(mlirValueGetType(value));
  uattn_emit_clear_rows(&d->builder, d->thread,
                        uattn_distributed_smem_tile(d, value),
                        uattn_type_dim(tile, 0), uattn_type_dim(tile, 1),
                        uattn_distributed_operand(d, op, 1));
  return true;
}

static bool distribute_smem_transpose(uattn_distributor_t *d,
                                      MlirOperation op) {
  uattn_emit_fragment_transpose(
      &d->builder, d->thread, uattn_distributed_operand(d, op, 0),
      uattn_distributed_smem_tile(d, mlirOperationGetOperand(op, 1)));
  return true;
}

static bool distribute_smem_drop_rows(uattn_distributor_t *d,
                                      MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  const MlirValue always = {NULL};
  MlirValue tile = mlirOperationGetOperand(op, 0);
  uattn_emit_drop_rows(
      b, &d->place, uattn_distributed_smem_tile(d, tile),
      uattn_type_dim(uattn_type_inner(mlirValueGetType(tile)), 1),
      uattn_distributed_operand(d, op, 1));
  uattn_emit_async_proxy_fence(b);
  uattn_emit_bar(b, true, uattn_distributed_operand(d, op, 2),
                 UATTN_WARPGROUP_THREADS, always);
  return true;
}

/* Only warps with a row to flip touch the tile. */
static bool distribute_smem_negate_rows(uattn_distributor_t *d,
                                        MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  const MlirValue always = {NULL};
  MlirValue value = mlirOperationGetOperand(op, 0);
  int64_t columns =
      uattn_type_dim(uattn_type_inner(mlirValueGetType(value)), 1);
  uattn_smem_tile_t tile = uattn_distributed_smem_tile(d, value);
  MlirValue flags = uattn_distributed_operand(d, op, 1);
  MlirType words = uattn_type_vector1(uattn_type_i32(b), 2);
  MlirValue signs = uattn_select(
      b, flags, uattn_constant_splat_i32(b, words, INT32_MIN | 0x8000),
      uattn_constant_splat_i32(b, words, 0));
  MlirValue each[2];
  uattn_vector_elements(b, flags, each);
  uattn_builder_t then;
  MlirRegion region = uattn_region_create(b, NULL, 0, &then);
  MlirValue fragment =
      uattn_emit_fragment_load(&then, d->thread, tile, columns);
  int64_t count = uattn_type_dim(mlirValueGetType(fragment), 0);
  int64_t *rows = uattn_allocate((size_t)count * sizeof *rows);
  for (int64_t i = 0; i < count; ++i)
    rows[i] = i % 2; /* a packed word is of one row */
  MlirValue flipped =
      uattn_binary(&then, "arith.xori", fragment,
                   uattn_vector_shuffle(&then, signs, rows, (int)count));
  free(rows);
  uattn_emit_fragment_store(&then, d->thread, flipped, tile);
  uattn_emit_async_proxy_fence(&then);
  uattn_yield(&then, NULL, 0);
  uattn_if_append(
      b, uattn_emit_vote_any(b, uattn_binary(b, "arith.ori", each[0], each[1])),
      region);
  uattn_emit_bar(b, true, uattn_distributed_operand(d, op, 2),
                 UATTN_WARPGROUP_THREADS, always);
  return true;
}

static bool distribute_warp_sync(uattn_distributor_t *d, MlirOperation op) {
  (void)op;
  uattn_emit_warp_barrier(&d->builder);
  return true;
}

static bool distribute_async_proxy_fence(uattn_distributor_t *d,
                                         MlirOperation op) {
  (void)op;
  uattn_emit_async_proxy_fence(&d->builder);
  return true;
}

/* ---- Storing a tile -------------------------------------------------------
 */

static void emit_panel_stores(const uattn_distributor_t *d,
                              const uattn_builder_t *b, MlirOperation op,
                              uattn_smem_tile_t staging, int64_t columns) {
  uattn_tma_coordinates_t at = {
      .head = uattn_distributed_operand(d, op, 3),
      .row = uattn_distributed_operand(d, op, 4),
      .batch = uattn_distributed_operand(d, op, 5),
  };
  for (int64_t panel = 0; panel < columns / UATTN_PANEL_COLUMNS; ++panel) {
    at.column = uattn_constant_i32(b, (int32_t)panel * UATTN_PANEL_COLUMNS);
    MlirValue source = uattn_binary(
        b, "arith.addi", staging.address,
        uattn_constant_i32(b, (int32_t)(panel * staging.panel_bytes)));
    uattn_emit_tma_store(b, uattn_distributed_operand(d, op, 2), &at, source);
  }
  uattn_emit_tma_store_wait(b);
}

/* The warpgroup meets before it writes, since another warp's product may still
 * have read the staging tile, and again before one thread copies it out. */
static bool distribute_tile_store(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  const MlirValue always = {NULL};
  MlirValue barrier = uattn_distributed_operand(d, op, 6);
  uattn_smem_tile_t staging =
      uattn_distributed_smem_tile(d, mlirOperationGetOperand(op, 1));
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  uattn_emit_bar(b, true, barrier, UATTN_WARPGROUP_THREADS, always);
  uattn_emit_fragment_store(b, d->thread, uattn_distributed_operand(d, op, 0),
                            staging);
  uattn_emit_async_proxy_fence(b);
  uattn_emit_bar(b, true, barrier, UATTN_WARPGROUP_THREADS, always);
  MlirValue is_first = uattn_distributed_elected(d);
  uattn_builder_t then;
  MlirRegion region = uattn_region_create(b, NULL, 0, &then);
  emit_panel_stores(d, &then, op, staging, uattn_type_dim(type, 1));
  uattn_yield(&then, NULL, 0);
  uattn_if_append(b, is_first, region);
  return true;
}

const uattn_distribute_row_t uattn_distribute_memory_ops[] = {
    {UATTN_OPNAME_ROW_LOAD, distribute_row_load},
    {UATTN_OPNAME_ROW_STORE, distribute_row_store},
    {UATTN_OPNAME_SCALAR_LOAD, distribute_scalar_load},
    {UATTN_OPNAME_COLUMN_LOAD, distribute_column_load},
    {UATTN_OPNAME_SEGMENT_HULL, distribute_segment_hull},
    {UATTN_OPNAME_SMEM_READ, distribute_smem_read},
    {UATTN_OPNAME_ROW_DOT, distribute_row_dot},
    {UATTN_OPNAME_SMEM_CLEAR_ROWS, distribute_smem_clear_rows},
    {UATTN_OPNAME_SMEM_TRANSPOSE, distribute_smem_transpose},
    {UATTN_OPNAME_SMEM_DROP_ROWS, distribute_smem_drop_rows},
    {UATTN_OPNAME_SMEM_NEGATE_ROWS, distribute_smem_negate_rows},
    {UATTN_OPNAME_WARP_SYNC, distribute_warp_sync},
    {UATTN_OPNAME_ASYNC_PROXY_FENCE, distribute_async_proxy_fence},
    {UATTN_OPNAME_TILE_STORE, distribute_tile_store},
    {NULL, NULL},
};
