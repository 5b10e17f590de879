/* The fused backward: what keys that stay give to dQ, and dQ from its sums.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm and its barriers: kernel_backward.c. A consumer has S^T and
 * dP^T of its 64 keys. dS goes through shared memory, where it lies as
 * [rows of q, keys of all consumers], to become the left operand of dQ: of two
 * blocks of 64 columns each consumer multiplies one; of a single block they
 * take turns by step, so that one goes on while the other adds. */
#include "emit/backward_consumer.h"

uattn_backward_dq_share_t
uattn_backward_dq_share(const uattn_backward_kernel_t *kernel) {
  if (kernel->kind != UATTN_BACKWARD_FUSED)
    return UATTN_BACKWARD_DQ_NONE;
  return kernel->plan->head_dim == UATTN_PANEL_COLUMNS
             ? UATTN_BACKWARD_DQ_TURNS
             : UATTN_BACKWARD_DQ_BLOCK;
}

uattn_sums_t uattn_backward_emit_sums(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel,
                                      MlirValue q_head, MlirValue first_row) {
  return (uattn_sums_t){
      .memory = kernel->params[UATTN_BACKWARD_PARAM_DQ_SUMS],
      .offset = uattn_binary(b, "arith.muli",
                             uattn_backward_emit_row_offset(b, kernel, q_head),
                             uattn_constant_i64(b, kernel->plan->head_dim)),
      .first_row = first_row,
      .limit = kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS]};
}

/* ---- dQ of a step -----------------------------------------------------------
 */

/* The tile of dS of `step`: they take turns. */
static MlirValue ds_tile(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel,
                         MlirValue step) {
  const uattn_backward_plan_t *plan = kernel->plan;
  MlirType both =
      uattn_type_vector2(uattn_emit_element_type(b, plan->dtype),
                         UATTN_BACKWARD_DS_TILES * plan->moving_tile_rows,
                         kernel->layout.rows_per_cta);
  return uattn_emit_smem_rows(
      b, uattn_emit_smem_alloc(b, both, kernel->layout.ds_offset),
      uattn_binary(b, "arith.remui", step,
                   uattn_constant_i32(b, UATTN_BACKWARD_DS_TILES)),
      UATTN_WARPGROUP_ROWS);
}

void uattn_backward_meet(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel) {
  const MlirValue always = {NULL};
  uattn_emit_named_barrier_sync(
      b, uattn_constant_i32(b, kernel->layout.ds_barrier_id),
      (int64_t)UATTN_WARPGROUP_THREADS * kernel->layout.consumer_warpgroups,
      always);
}

void uattn_backward_put_ds(const uattn_builder_t *b,
                           const uattn_backward_consumer_t *consumer,
                           MlirValue step, MlirValue ds) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  uattn_emit_smem_transpose(b, ds,
                            uattn_emit_smem_columns(b, ds_tile(b, kernel, step),
                                                    kernel->index_in_role,
                                                    UATTN_PANEL_COLUMNS));
  uattn_emit_async_proxy_fence_op(b);
  uattn_backward_meet(b, kernel);
}

MlirValue
uattn_backward_emit_query_gradient(const uattn_builder_t *b,
                                   const uattn_backward_consumer_t *consumer,
                                   MlirValue step) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue block = uattn_backward_dq_share(kernel) == UATTN_BACKWARD_DQ_BLOCK
                        ? kernel->index_in_role
                        : kernel->zero;
  uattn_wgmma_operands_t operands = {
      .a = ds_tile(b, kernel, step),
      .b = uattn_emit_smem_columns(b, consumer->all_keys, block,
                                   UATTN_PANEL_COLUMNS),
      .result = uattn_type_vector2(uattn_type_f32(b), UATTN_WARPGROUP_ROWS,
                                   UATTN_PANEL_COLUMNS)};
  return uattn_emit_wgmma(b, &operands);
}

/* Only the consumer whose turn the step is. */
void uattn_backward_add_in_turn(const uattn_builder_t *b,
                                const uattn_backward_consumer_t *consumer,
                                MlirValue step) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue turn =
      uattn_binary(b, "arith.remui", step,
                   uattn_constant_i32(b, kernel->layout.consumer_warpgroups));
  uattn_builder_t mine;
  MlirRegion then = uattn_region_create(b, NULL, 0, &mine);
  MlirValue dq = uattn_backward_emit_query_gradient(&mine, consumer, step);
  uattn_emit_wgmma_wait(&mine, 0, &dq, NULL);
  uattn_backward_add_query_gradient(&mine, consumer, step, dq);
  uattn_yield(&mine, NULL, 0);
  uattn_if_append(
      b, uattn_compare_i(b, UATTN_CMPI_EQ, turn, kernel->index_in_role), then);
}

void uattn_backward_add_query_gradient(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    MlirValue step, MlirValue dq) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  uattn_backward_step_t at = uattn_backward_emit_step(b, kernel, step);
  MlirType f32 = uattn_type_f32(b);
  MlirType all = uattn_type_vector2(
      f32, (int64_t)UATTN_WARPGROUP_ROWS * kernel->layout.consumer_warpgroups,
      UATTN_PANEL_COLUMNS);
  MlirValue staging = uattn_emit_smem_rows(
      b, uattn_emit_smem_alloc(b, all, kernel->layout.staging_offset),
      kernel->index_in_role, UATTN_WARPGROUP_ROWS);
  uattn_sums_t sums =
      uattn_backward_emit_sums(b, kernel, at.q_head, at.place.row);
  if (uattn_backward_dq_share(kernel) == UATTN_BACKWARD_DQ_BLOCK) {
    MlirType i64 = uattn_type_i64(b);
    MlirValue before =
        uattn_binary(b, "arith.muli",
                     uattn_cast(b, "arith.extui", kernel->index_in_role, i64),
                     uattn_cast(b, "arith.extui", sums.limit, i64));
    sums.offset =
        uattn_binary(b, "arith.addi", sums.offset,
                     uattn_binary(b, "arith.muli", before,
                                  uattn_constant_i64(b, UATTN_PANEL_COLUMNS)));
  }
  sums.limit = at.end;
  uattn_emit_sums_add(b, dq, staging, sums,
                      uattn_backward_store_barrier(b, kernel));
}

/* With the ranker mask: zeros in keys that nobody may see, which may hold NaN
 * and which dQ multiplies by the zeros of dS. */
void uattn_backward_drop_dead_keys(const uattn_builder_t *b,
                                   const uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue seen =
      uattn_binary(b, "arith.ori", consumer->is_live, consumer->is_candidate);
  MlirValue is_dead = uattn_not(b, seen);
  MlirValue tiles[] = {consumer->first_tile, consumer->second_tile};
  for (int i = 0; i < 2; ++i)
    uattn_emit_smem_drop_rows(b, tiles[i], is_dead,
                              uattn_backward_store_barrier(b, kernel));
}

/* ---- dQ from its sums -------------------------------------------------------
 */

MlirRegion uattn_backward_emit_finish(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel) {
  const uattn_backward_plan_t *plan = kernel->plan;
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  uattn_backward_consumer_t consumer = uattn_backward_consumer(&role, kernel);
  MlirValue sums[UATTN_BACKWARD_MOST_SUMS];
  sums[UATTN_BACKWARD_GRADIENT] = uattn_emit_sums_load(
      &role,
      uattn_backward_emit_sums(&role, kernel, kernel->head, consumer.first_row),
      consumer.gradient_type);
  if (plan->masks.has_ranker) {
    uattn_backward_emit_limits(&role, &consumer);
    uattn_backward_acquire_tiles(&role, &consumer);
    uattn_backward_emit_own(&role, &consumer, sums);
  } else {
    consumer.first_tile = uattn_emit_smem_alloc(
        &role,
        uattn_type_vector2(uattn_emit_element_type(&role, plan->dtype),
                           UATTN_WARPGROUP_ROWS, plan->head_dim),
        kernel->layout.first_offset);
  }
  uattn_backward_emit_results(&role, &consumer, sums);
  uattn_yield(&role, NULL, 0);
  return region;
}
