/* Shared memory, mbarriers, TMA and products in Triton's ops: one op each.
 * Layer: passes. Must not know: what the kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/ttgir.h"

/* ---- Shared memory --------------------------------------------------------
 */

MlirValue uattn_ttgir_alloc(const uattn_builder_t *b, MlirType type) {
  uattn_op_t op = uattn_op("ttg.local_alloc");
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

static MlirValue at(const uattn_ttgir_role_t *role, uattn_ttgir_value_t what,
                    MlirValue index, MlirType type) {
  uattn_op_t op = uattn_op("ttg.memdesc_index");
  uattn_op_operand(&op, role->values[what]);
  uattn_op_operand(&op, index);
  uattn_op_result(&op, type);
  return uattn_op_append_value(&role->b, &op);
}

MlirValue uattn_ttgir_tile_at(const uattn_ttgir_role_t *role,
                              uattn_ttgir_value_t tiles, MlirValue index,
                              int32_t rows) {
  return at(role, tiles, index,
            uattn_ttgir_tile_type(role->kernel, UATTN_TTGIR_TILE, rows));
}

MlirValue uattn_ttgir_barrier_at(const uattn_ttgir_role_t *role,
                                 uattn_ttgir_value_t barriers,
                                 MlirValue index) {
  return at(role, barriers, index,
            uattn_ttgir_barriers_type(role->b.context, 0));
}

MlirValue uattn_ttgir_view(const uattn_ttgir_role_t *role, MlirValue tile,
                           uattn_ttgir_form_t form, int32_t rows) {
  static const int32_t order[2] = {1, 0};
  bool is_transposed = form == UATTN_TTGIR_TILE_TRANSPOSED;
  uattn_op_t op =
      uattn_op(is_transposed ? "ttg.memdesc_trans" : "ttg.memdesc_reshape");
  uattn_op_operand(&op, tile);
  if (is_transposed)
    uattn_op_attribute(&op, "order",
                       mlirDenseI32ArrayGet(role->b.context, 2, order));
  uattn_op_result(&op, uattn_ttgir_tile_type(role->kernel, form, rows));
  return uattn_op_append_value(&role->b, &op);
}

void uattn_ttgir_local_store(const uattn_ttgir_role_t *role, MlirValue value,
                             MlirValue tile) {
  uattn_op_t op = uattn_op("ttg.local_store");
  uattn_op_operand(&op, value);
  uattn_op_operand(&op, tile);
  uattn_op_append(&role->b, &op);
}

/* ---- Barriers -------------------------------------------------------------
 */

static MlirValue yes(const uattn_builder_t *b) {
  uattn_op_t op = uattn_op("arith.constant");
  uattn_op_attribute(&op, "value", mlirBoolAttrGet(b->context, true));
  uattn_op_result(&op, uattn_type_i1(b));
  return uattn_op_append_value(b, &op);
}

void uattn_ttgir_init_barrier(const uattn_ttgir_role_t *role, MlirValue barrier,
                              int32_t count) {
  uattn_op_t op = uattn_op("ttng.init_barrier");
  uattn_op_operand(&op, barrier);
  uattn_op_attribute(&op, "count", uattn_attribute_i32(&role->b, count));
  uattn_op_append(&role->b, &op);
}

void uattn_ttgir_wait(const uattn_ttgir_role_t *role, MlirValue barrier,
                      MlirValue parity) {
  static const int32_t segments[4] = {1, 1, 1, 0};
  uattn_op_t op = uattn_op("ttng.wait_barrier");
  uattn_op_operand(&op, barrier);
  uattn_op_operand(&op, parity);
  uattn_op_operand(&op, yes(&role->b));
  uattn_op_attribute(&op, "operandSegmentSizes",
                     mlirDenseI32ArrayGet(role->b.context, 4, segments));
  uattn_op_append(&role->b, &op);
}

void uattn_ttgir_arrive(const uattn_ttgir_role_t *role, MlirValue barrier) {
  uattn_op_t op = uattn_op("ttng.arrive_barrier");
  uattn_op_operand(&op, barrier);
  uattn_op_operand(&op, yes(&role->b));
  uattn_op_attribute(&op, "count", uattn_attribute_i32(&role->b, 1));
  uattn_op_append(&role->b, &op);
}

void uattn_ttgir_fence(const uattn_ttgir_role_t *role) {
  uattn_op_t op = uattn_op("ttng.fence_async_shared");
  uattn_op_attribute(&op, "bCluster", mlirBoolAttrGet(role->b.context, false));
  uattn_op_append(&role->b, &op);
}

/* ---- TMA ------------------------------------------------------------------
 */

static void expect_tile(const uattn_ttgir_role_t *role, MlirValue barrier,
                        int32_t rows) {
  const uattn_forward_plan_t *plan = role->kernel->plan;
  int32_t bytes =
      rows * plan->head_dim * (int32_t)uattn_dtype_bytes(plan->dtype);
  uattn_op_t op = uattn_op("ttng.barrier_expect");
  uattn_op_operand(&op, barrier);
  uattn_op_operand(&op, yes(&role->b));
  uattn_op_attribute(&op, "size", uattn_attribute_i32(&role->b, bytes));
  uattn_op_append(&role->b, &op);
}

void uattn_ttgir_tma_load(const uattn_ttgir_role_t *role,
                          uattn_ttgir_value_t descriptor,
                          const MlirValue coordinates[4], MlirValue tile,
                          int32_t rows, MlirValue barrier) {
  const uattn_builder_t *b = &role->b;
  expect_tile(role, barrier, rows);
  uattn_op_t op = uattn_op("ttng.async_tma_copy_global_to_local");
  uattn_op_operand(&op, role->values[descriptor]);
  for (int i = 0; i < 4; ++i)
    uattn_op_operand(&op, coordinates[i]);
  uattn_op_operand(&op, barrier);
  uattn_op_operand(&op,
                   uattn_ttgir_view(role, tile, UATTN_TTGIR_TILE_4D, rows));
  uattn_op_operand(&op, yes(b));
  uattn_op_attribute(&op, "cache", uattn_attribute_i32(b, 1));
  uattn_op_attribute(&op, "evict", uattn_attribute_i32(b, 1));
  uattn_op_attribute(&op, "isVolatile", mlirBoolAttrGet(b->context, false));
  uattn_op_append(b, &op);
}

void uattn_ttgir_tma_store(const uattn_ttgir_role_t *role,
                           uattn_ttgir_value_t descriptor,
                           const MlirValue coordinates[4], MlirValue tile,
                           int32_t rows) {
  uattn_op_t op = uattn_op("ttng.async_tma_copy_local_to_global");
  uattn_op_operand(&op, role->values[descriptor]);
  for (int i = 0; i < 4; ++i)
    uattn_op_operand(&op, coordinates[i]);
  uattn_op_operand(&op,
                   uattn_ttgir_view(role, tile, UATTN_TTGIR_TILE_4D, rows));
  uattn_op_append(&role->b, &op);
  uattn_op_t wait = uattn_op("ttng.async_tma_store_wait");
  uattn_op_attribute(&wait, "pendings", uattn_attribute_i32(&role->b, 0));
  uattn_op_append(&role->b, &wait);
}

/* ---- Products -------------------------------------------------------------
 */

MlirValue uattn_ttgir_dot(const uattn_ttgir_role_t *role, MlirValue a,
                          MlirValue other, MlirValue accumulator,
                          MlirType type) {
  const uattn_builder_t *b = &role->b;
  bool accumulates = accumulator.ptr != NULL;
  uattn_op_t use = uattn_op("arith.constant");
  uattn_op_attribute(&use, "value", mlirBoolAttrGet(b->context, accumulates));
  uattn_op_result(&use, uattn_type_i1(b));
  uattn_op_t op = uattn_op("ttng.warp_group_dot");
  uattn_op_operand(&op, a);
  uattn_op_operand(&op, other);
  uattn_op_operand(&op, accumulates ? accumulator
                                    : uattn_constant_splat(b, type, 0.0));
  uattn_op_operand(&op, uattn_op_append_value(b, &use));
  uattn_op_attribute(&op, "inputPrecision", uattn_attribute_i32(b, 0));
  uattn_op_attribute(&op, "isAsync", mlirBoolAttrGet(b->context, true));
  uattn_op_attribute(&op, "maxNumImpreciseAcc", uattn_attribute_i32(b, 0));
  uattn_op_result(&op, type);
  return uattn_op_append_value(b, &op);
}

void uattn_ttgir_dot_wait(const uattn_ttgir_role_t *role, int32_t pendings,
                          MlirValue *io_values, int count) {
  uattn_op_t op = uattn_op("ttng.warp_group_dot_wait");
  for (int i = 0; i < count; ++i) {
    uattn_op_operand(&op, io_values[i]);
    uattn_op_result(&op, mlirValueGetType(io_values[i]));
  }
  uattn_op_attribute(&op, "pendings", uattn_attribute_i32(&role->b, pendings));
  MlirOperation wait = uattn_op_append(&role->b, &op);
  for (int i = 0; i < count; ++i)
    io_values[i] = mlirOperationGetResult(wait, i);
}
