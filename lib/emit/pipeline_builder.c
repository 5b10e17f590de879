/* Builders of the dialect's pipeline ops.
 * Layer: emit. Must not know: plans, how the ops are lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/pipeline_builder.h"

#include "dialect/dialect.h"

static MlirAttribute i64_array(const uattn_builder_t *b, const int64_t *values,
                               int count) {
  return mlirDenseI64ArrayGet(b->context, count, values);
}

/* An op without attributes and results. */
static void append(const uattn_builder_t *b, const char *name,
                   const MlirValue *operands, int count) {
  uattn_op_t op = uattn_op(name);
  uattn_op_more_operands(&op, operands, count);
  uattn_op_append(b, &op);
}

void uattn_emit_role(const uattn_builder_t *b, const int64_t *registers,
                     const int64_t *warpgroups, int count, MlirValue *out_role,
                     MlirValue *out_index) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_ROLE);
  uattn_op_attribute(&op, UATTN_ATTR_REGISTERS, i64_array(b, registers, count));
  uattn_op_attribute(&op, UATTN_ATTR_WARPGROUPS,
                     i64_array(b, warpgroups, count));
  uattn_op_result(&op, uattn_type_i32(b));
  uattn_op_result(&op, uattn_type_i32(b));
  MlirOperation made = uattn_op_append(b, &op);
  *out_role = mlirOperationGetResult(made, 0);
  *out_index = mlirOperationGetResult(made, 1);
}

void uattn_emit_role_switch(const uattn_builder_t *b, MlirValue role,
                            const MlirRegion *owned_regions, int count) {
  int64_t cases[4] = {0, 1, 2, 3};
  UATTN_CHECK(count >= 2 && count <= 4);
  uattn_op_t op = uattn_op("scf.index_switch");
  uattn_op_operand(
      &op, uattn_cast(b, "arith.index_cast", role, uattn_type_index(b)));
  uattn_op_attribute(&op, "cases", i64_array(b, cases, count - 1));
  uattn_op_region(&op, owned_regions[count - 1]); /* the default comes first */
  for (int i = 0; i < count - 1; ++i)
    uattn_op_region(&op, owned_regions[i]);
  uattn_op_append(b, &op);
}

MlirValue uattn_emit_elect(const uattn_builder_t *b) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_ELECT);
  uattn_op_result(&op, uattn_type_i1(b));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_cta_index(const uattn_builder_t *b) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_CTA_INDEX);
  uattn_op_result(&op, uattn_type_i32(b));
  return uattn_op_append_value(b, &op);
}

void uattn_emit_segment_hull(const uattn_builder_t *b,
                             const uattn_segment_search_t *search,
                             MlirValue *out_first, MlirValue *out_after,
                             MlirValue *out_is_uniform) {
  const MlirValue operands[] = {
      search->q_ids,  search->q_offset,  search->first_row, search->q_tokens,
      search->kv_ids, search->kv_offset, search->begin,     search->end};
  uattn_op_t op = uattn_op(UATTN_OPNAME_SEGMENT_HULL);
  uattn_op_more_operands(&op, operands, 8);
  uattn_op_attribute(&op, UATTN_ATTR_ROWS,
                     uattn_attribute_i64(b, search->rows));
  uattn_op_attribute(&op, UATTN_ATTR_THREADS,
                     uattn_attribute_i64(b, search->threads));
  uattn_op_attribute(&op, UATTN_ATTR_SMEM_OFFSET,
                     uattn_attribute_i64(b, search->smem_offset));
  uattn_op_result(&op, uattn_type_i32(b));
  uattn_op_result(&op, uattn_type_i32(b));
  uattn_op_result(&op, uattn_type_i1(b));
  MlirOperation made = uattn_op_append(b, &op);
  *out_first = mlirOperationGetResult(made, 0);
  *out_after = mlirOperationGetResult(made, 1);
  *out_is_uniform = mlirOperationGetResult(made, 2);
}

MlirValue uattn_emit_ring_alloc(const uattn_builder_t *b,
                                const uattn_ring_description_t *ring) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_RING_ALLOC);
  uattn_op_attribute(&op, UATTN_ATTR_SMEM_OFFSET,
                     uattn_attribute_i64(b, ring->smem_offset));
  uattn_op_attribute(&op, UATTN_ATTR_BARRIER_OFFSET,
                     uattn_attribute_i64(b, ring->barrier_offset));
  uattn_op_attribute(&op, UATTN_ATTR_CONSUMER_WARPS,
                     uattn_attribute_i64(b, ring->consumer_warps));
  uattn_op_result(&op, uattn_ring_type(ring->tile, ring->stage_count));
  return uattn_op_append_value(b, &op);
}

void uattn_emit_ring_produce(const uattn_builder_t *b, MlirValue map,
                             uattn_tile_place_t place, MlirValue ring,
                             MlirValue step) {
  const MlirValue operands[] = {map,         place.head, place.row,
                                place.batch, ring,       step};
  append(b, UATTN_OPNAME_RING_PRODUCE, operands, 6);
}

/* `rows` rows of a tile in shared memory. */
static MlirType rows_type(MlirType tile, int64_t rows) {
  return uattn_smem_type(uattn_type_vector2(uattn_type_element(tile), rows,
                                            uattn_type_dim(tile, 1)));
}

MlirValue uattn_emit_ring_acquire_rows(const uattn_builder_t *b, MlirValue ring,
                                       MlirValue step, int64_t rows) {
  MlirType tile = uattn_type_inner(mlirValueGetType(ring));
  uattn_op_t op = uattn_op(UATTN_OPNAME_RING_ACQUIRE);
  uattn_op_operand(&op, ring);
  uattn_op_operand(&op, step);
  uattn_op_result(&op, rows_type(tile, rows));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_ring_acquire(const uattn_builder_t *b, MlirValue ring,
                                  MlirValue step) {
  MlirType tile = uattn_type_inner(mlirValueGetType(ring));
  return uattn_emit_ring_acquire_rows(b, ring, step, uattn_type_dim(tile, 0));
}

void uattn_emit_ring_release(const uattn_builder_t *b, MlirValue ring,
                             MlirValue step) {
  const MlirValue operands[] = {ring, step};
  append(b, UATTN_OPNAME_RING_RELEASE, operands, 2);
}

void uattn_emit_ring_produce_records(const uattn_builder_t *b, MlirValue source,
                                     MlirValue offset, MlirValue ring,
                                     MlirValue step) {
  const MlirValue operands[] = {source, offset, ring, step};
  append(b, UATTN_OPNAME_RING_PRODUCE_RECORDS, operands, 4);
}

MlirValue uattn_emit_smem_alloc(const uattn_builder_t *b, MlirType tile,
                                int64_t smem_offset) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_SMEM_ALLOC);
  uattn_op_attribute(&op, UATTN_ATTR_SMEM_OFFSET,
                     uattn_attribute_i64(b, smem_offset));
  uattn_op_result(&op, uattn_smem_type(tile));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_smem_columns(const uattn_builder_t *b, MlirValue source,
                                  MlirValue index, int64_t columns) {
  MlirType tile = uattn_type_inner(mlirValueGetType(source));
  uattn_op_t op = uattn_op(UATTN_OPNAME_SMEM_COLUMNS);
  uattn_op_operand(&op, source);
  uattn_op_operand(&op, index);
  uattn_op_result(
      &op, uattn_smem_type(uattn_type_vector2(
               uattn_type_element(tile), uattn_type_dim(tile, 0), columns)));
  return uattn_op_append_value(b, &op);
}

void uattn_emit_smem_transpose(const uattn_builder_t *b, MlirValue value,
                               MlirValue target) {
  const MlirValue operands[] = {value, target};
  append(b, UATTN_OPNAME_SMEM_TRANSPOSE, operands, 2);
}

MlirValue uattn_emit_smem_rows(const uattn_builder_t *b, MlirValue source,
                               MlirValue index, int64_t rows) {
  MlirType tile = uattn_type_inner(mlirValueGetType(source));
  uattn_op_t op = uattn_op(UATTN_OPNAME_SMEM_ROWS);
  uattn_op_operand(&op, source);
  uattn_op_operand(&op, index);
  uattn_op_result(&op, rows_type(tile, rows));
  return uattn_op_append_value(b, &op);
}

static void named_barrier(const uattn_builder_t *b, const char *name,
                          MlirValue id, int64_t threads, MlirValue when) {
  uattn_op_t op = uattn_op(name);
  uattn_op_operand(&op, id);
  if (!mlirValueIsNull(when))
    uattn_op_operand(&op, when);
  uattn_op_attribute(&op, UATTN_ATTR_THREADS, uattn_attribute_i64(b, threads));
  uattn_op_append(b, &op);
}

void uattn_emit_named_barrier_sync(const uattn_builder_t *b, MlirValue id,
                                   int64_t threads, MlirValue when) {
  named_barrier(b, UATTN_OPNAME_NAMED_BARRIER_SYNC, id, threads, when);
}

void uattn_emit_named_barrier_arrive(const uattn_builder_t *b, MlirValue id,
                                     int64_t threads, MlirValue when) {
  named_barrier(b, UATTN_OPNAME_NAMED_BARRIER_ARRIVE, id, threads, when);
}

MlirValue uattn_emit_wgmma(const uattn_builder_t *b,
                           const uattn_wgmma_operands_t *operands) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_WGMMA);
  uattn_op_operand(&op, operands->a);
  uattn_op_operand(&op, operands->b);
  if (!mlirValueIsNull(operands->accumulator))
    uattn_op_operand(&op, operands->accumulator);
  if (operands->transpose_b)
    uattn_op_attribute(&op, UATTN_ATTR_TRANSPOSE_B, uattn_attribute_unit(b));
  if (operands->negate_a)
    uattn_op_attribute(&op, UATTN_ATTR_NEGATE_A, uattn_attribute_unit(b));
  uattn_op_result(&op, operands->result);
  return uattn_op_append_value(b, &op);
}

void uattn_emit_wgmma_wait(const uattn_builder_t *b, int64_t pending,
                           MlirValue *io_value, MlirValue *io_tied) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_WGMMA_WAIT);
  uattn_op_operand(&op, *io_value);
  uattn_op_result(&op, mlirValueGetType(*io_value));
  if (io_tied) {
    uattn_op_operand(&op, *io_tied);
    uattn_op_result(&op, mlirValueGetType(*io_tied));
  }
  uattn_op_attribute(&op, UATTN_ATTR_PENDING, uattn_attribute_i64(b, pending));
  MlirOperation made = uattn_op_append(b, &op);
  *io_value = mlirOperationGetResult(made, 0);
  if (io_tied)
    *io_tied = mlirOperationGetResult(made, 1);
}

MlirValue uattn_emit_cap_apply(const uattn_builder_t *b, const char *method,
                               MlirValue scores) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_CAP_APPLY);
  uattn_op_operand(&op, scores);
  uattn_op_attribute(&op, UATTN_ATTR_METHOD, uattn_attribute_string(b, method));
  uattn_op_result(&op, mlirValueGetType(scores));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_exp2_apply(const uattn_builder_t *b, MlirValue exponents,
                                int64_t polynomial_period) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_EXP2_APPLY);
  uattn_op_operand(&op, exponents);
  uattn_op_attribute(&op, UATTN_ATTR_POLYNOMIAL_PERIOD,
                     uattn_attribute_i64(b, polynomial_period));
  uattn_op_result(&op, mlirValueGetType(exponents));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_mask_apply(const uattn_builder_t *b, MlirValue scores,
                                MlirValue first_key, MlirValue end,
                                MlirValue begin) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_MASK_APPLY);
  uattn_op_operand(&op, scores);
  uattn_op_operand(&op, first_key);
  uattn_op_operand(&op, end);
  if (!mlirValueIsNull(begin))
    uattn_op_operand(&op, begin);
  uattn_op_result(&op, mlirValueGetType(scores));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_row_index(const uattn_builder_t *b, MlirType rows) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_ROW_INDEX);
  uattn_op_result(&op, rows);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_scalar_load(const uattn_builder_t *b, MlirValue source,
                                 MlirValue offset) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_SCALAR_LOAD);
  uattn_op_operand(&op, source);
  uattn_op_operand(&op, offset);
  uattn_op_result(&op, uattn_type_inner(mlirValueGetType(source)));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_column_load(const uattn_builder_t *b, MlirValue source,
                                 MlirValue offset, MlirValue first_column,
                                 MlirValue limit, MlirType tile) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_COLUMN_LOAD);
  uattn_op_operand(&op, source);
  uattn_op_operand(&op, offset);
  uattn_op_operand(&op, first_column);
  uattn_op_operand(&op, limit);
  uattn_op_result(&op, tile);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_column_read(const uattn_builder_t *b, MlirValue records,
                                 int64_t field, MlirType tile) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_COLUMN_READ);
  uattn_op_operand(&op, records);
  uattn_op_attribute(&op, UATTN_ATTR_FIELD, uattn_attribute_i64(b, field));
  uattn_op_result(&op, tile);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_smem_read(const uattn_builder_t *b, MlirValue source) {
  return uattn_cast(b, UATTN_OPNAME_SMEM_READ, source,
                    uattn_type_inner(mlirValueGetType(source)));
}

MlirValue uattn_emit_row_dot(const uattn_builder_t *b, MlirValue x, MlirValue y,
                             MlirType rows) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_ROW_DOT);
  uattn_op_operand(&op, x);
  uattn_op_operand(&op, y);
  uattn_op_result(&op, rows);
  return uattn_op_append_value(b, &op);
}

void uattn_emit_smem_negate_rows(const uattn_builder_t *b, MlirValue tile,
                                 MlirValue flags, MlirValue barrier) {
  const MlirValue operands[] = {tile, flags, barrier};
  append(b, UATTN_OPNAME_SMEM_NEGATE_ROWS, operands, 3);
}

void uattn_emit_smem_drop_rows(const uattn_builder_t *b, MlirValue tile,
                               MlirValue flags, MlirValue barrier) {
  const MlirValue operands[] = {tile, flags, barrier};
  append(b, UATTN_OPNAME_SMEM_DROP_ROWS, operands, 3);
}

MlirValue uattn_emit_warpgroup_all(const uattn_builder_t *b, MlirValue flags,
                                   MlirValue barrier) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_WARPGROUP_ALL);
  uattn_op_operand(&op, flags);
  uattn_op_operand(&op, barrier);
  uattn_op_result(&op, uattn_type_i1(b));
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_warp_any(const uattn_builder_t *b, MlirValue flags) {
  return uattn_cast(b, UATTN_OPNAME_WARP_ANY, flags, uattn_type_i1(b));
}

void uattn_emit_smem_clear_rows(const uattn_builder_t *b, MlirValue tile,
                                MlirValue first) {
  const MlirValue operands[] = {tile, first};
  append(b, UATTN_OPNAME_SMEM_CLEAR_ROWS, operands, 2);
}

void uattn_emit_warp_sync(const uattn_builder_t *b) {
  append(b, UATTN_OPNAME_WARP_SYNC, NULL, 0);
}

void uattn_emit_async_proxy_fence_op(const uattn_builder_t *b) {
  append(b, UATTN_OPNAME_ASYNC_PROXY_FENCE, NULL, 0);
}

MlirValue uattn_emit_row_broadcast(const uattn_builder_t *b, MlirValue rows,
                                   MlirType tile) {
  return uattn_cast(b, UATTN_OPNAME_ROW_BROADCAST, rows, tile);
}

MlirValue uattn_emit_fold_columns(const uattn_builder_t *b, const char *kind,
                                  MlirValue tile, MlirType folded) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_FOLD_COLUMNS);
  uattn_op_operand(&op, tile);
  uattn_op_attribute(&op, UATTN_ATTR_KIND, uattn_attribute_string(b, kind));
  uattn_op_result(&op, folded);
  return uattn_op_append_value(b, &op);
}

MlirValue uattn_emit_row_load(const uattn_builder_t *b, MlirValue source,
                              MlirValue offset, MlirValue first_row,
                              MlirValue limit, MlirType rows) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_ROW_LOAD);
  uattn_op_operand(&op, source);
  uattn_op_operand(&op, offset);
  uattn_op_operand(&op, first_row);
  uattn_op_operand(&op, limit);
  uattn_op_result(&op, rows);
  return uattn_op_append_value(b, &op);
}

void uattn_emit_row_store(const uattn_builder_t *b, MlirValue rows,
                          MlirValue target, MlirValue offset,
                          MlirValue first_row, MlirValue limit) {
  const MlirValue operands[] = {rows, target, offset, first_row, limit};
  append(b, UATTN_OPNAME_ROW_STORE, operands, 5);
}

void uattn_emit_record_store(const uattn_builder_t *b,
                             const MlirValue fields[4], MlirValue target,
                             MlirValue offset, MlirValue first_row,
                             MlirValue limit) {
  const MlirValue operands[] = {fields[0], fields[1], fields[2], fields[3],
                                target,    offset,    first_row, limit};
  append(b, UATTN_OPNAME_RECORD_STORE, operands, 8);
}

void uattn_emit_tile_store(const uattn_builder_t *b, MlirValue value,
                           MlirValue staging, MlirValue map,
                           uattn_tile_place_t place, MlirValue barrier) {
  const MlirValue operands[] = {value,     staging,     map,    place.head,
                                place.row, place.batch, barrier};
  append(b, UATTN_OPNAME_TILE_STORE, operands, 7);
}

static void add_sums(uattn_op_t *op, uattn_sums_t sums) {
  uattn_op_operand(op, sums.memory);
  uattn_op_operand(op, sums.offset);
  uattn_op_operand(op, sums.first_row);
  uattn_op_operand(op, sums.limit);
}

void uattn_emit_sums_clear(const uattn_builder_t *b, uattn_sums_t sums,
                           int64_t columns) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_SUMS_CLEAR);
  add_sums(&op, sums);
  uattn_op_attribute(&op, UATTN_ATTR_COLUMNS, uattn_attribute_i64(b, columns));
  uattn_op_append(b, &op);
}

void uattn_emit_sums_add(const uattn_builder_t *b, MlirValue value,
                         MlirValue staging, uattn_sums_t sums,
                         MlirValue barrier) {
  const MlirValue operands[] = {value,       staging,        sums.memory,
                                sums.offset, sums.first_row, sums.limit,
                                barrier};
  append(b, UATTN_OPNAME_SUMS_ADD, operands, 7);
}

MlirValue uattn_emit_sums_load(const uattn_builder_t *b, uattn_sums_t sums,
                               MlirType tile) {
  uattn_op_t op = uattn_op(UATTN_OPNAME_SUMS_LOAD);
  add_sums(&op, sums);
  uattn_op_result(&op, tile);
  return uattn_op_append_value(b, &op);
}
