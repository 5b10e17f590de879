/* The state before any tile: a candidate has seen its own key.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The candidates' keys cost no products on the tensor cores: the score is a
 * row-wise scalar product of Q and K, the output starts as the row of V. The
 * producer sends, ring step c, the 64 rows of K and of V that are consumer c's
 * own positions; every consumer acquires and releases all of them, since a
 * ring's slots pass in order, and works on its own. */
#include "dialect/dialect.h"
#include "emit/forward_kernel.h"

/* No maximum yet: finite, so that (max - max) * scale is 0 in a row that sees
 * nothing, and far below every score. */
static const double no_max = -0x1p+100;

void uattn_forward_emit_diagonal_loads(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_builder_t then;
  MlirRegion region = uattn_region_create(b, NULL, 0, &then);
  MlirValue first_key =
      uattn_binary(&then, "arith.addi", params[UATTN_FORWARD_PARAM_Q_OFFSET],
                   kernel->cta_row);
  for (int32_t c = 0; c < kernel->plan->consumer_warpgroups; ++c) {
    MlirValue step = uattn_constant_i32(&then, c);
    uattn_tile_place_t place = {
        kernel->kv_head,
        uattn_binary(&then, "arith.addi", first_key,
                     uattn_constant_i32(&then, c * UATTN_WARPGROUP_ROWS)),
        kernel->batch};
    uattn_emit_ring_produce(&then, params[UATTN_FORWARD_PARAM_K_DIAGONAL],
                            place, kernel->k_ring, step);
    uattn_emit_ring_produce(&then, params[UATTN_FORWARD_PARAM_V_DIAGONAL],
                            place, kernel->v_ring, step);
  }
  uattn_yield(&then, NULL, 0);
  uattn_if_append(b, kernel->has_candidates, region);
}

static void emit_nothing_seen(const uattn_builder_t *b,
                              const uattn_forward_consumer_t *consumer,
                              MlirValue out_state[UATTN_FORWARD_P]) {
  const uattn_softmax_t *softmax = &consumer->softmax;
  out_state[UATTN_FORWARD_MAX] = uattn_constant_splat(
      b, softmax->rows_type, softmax->has_fixed_maximum ? 0.0 : no_max);
  out_state[UATTN_FORWARD_SUMS] =
      uattn_constant_splat(b, softmax->sums_type, 0.0);
  out_state[UATTN_FORWARD_OUT] =
      uattn_constant_splat(b, consumer->out_type, 0.0);
}

/* Rows of i1: does the row see its own key? */
static MlirValue emit_sees_itself(const uattn_builder_t *b,
                                  const uattn_forward_consumer_t *consumer) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  const uattn_forward_rows_t *rows = &consumer->rows;
  if (!kernel->plan->masks.has_segments)
    return rows->is_candidate;
  MlirValue kv_tokens = kernel->params[UATTN_FORWARD_PARAM_KV_TOKENS];
  MlirValue first_key = uattn_binary(
      b, "arith.addi", kernel->params[UATTN_FORWARD_PARAM_Q_OFFSET],
      consumer->first_row);
  MlirValue ids =
      uattn_emit_row_load(b, kernel->params[UATTN_FORWARD_PARAM_KV_SEGMENT_IDS],
                          uattn_forward_emit_batch_offset(b, kernel, kv_tokens),
                          first_key, kv_tokens, rows->i32_rows);
  return uattn_binary(
      b, "arith.andi", rows->is_candidate,
      uattn_compare_i(b, UATTN_CMPI_EQ, ids, rows->segment_ids));
}

/* The state of rows that have seen their own key, p = 1. NaN in the K and V of
 * other rows stays out, since it is selected away. */
static void emit_itself_seen(const uattn_builder_t *b,
                             const uattn_forward_consumer_t *consumer,
                             MlirValue k_rows, MlirValue v_rows,
                             MlirValue io_state[UATTN_FORWARD_P]) {
  const uattn_softmax_t *softmax = &consumer->softmax;
  MlirValue sees_itself = emit_sees_itself(b, consumer);
  MlirValue product =
      uattn_emit_row_dot(b, consumer->q_tile, k_rows, softmax->rows_type);
  if (consumer->kernel->plan->scale_sign == UATTN_SCALE_SIGN_NEGATIVE)
    product = uattn_unary(b, "arith.negf", product);
  MlirValue capped = uattn_softmax_cap(b, softmax, product);
  io_state[UATTN_FORWARD_MAX] =
      uattn_select(b, sees_itself, capped, io_state[UATTN_FORWARD_MAX]);
  /* The sum 1 is spread evenly over the 8 columns of partial sums. */
  MlirValue eighth = uattn_select(
      b, sees_itself, uattn_constant_splat(b, softmax->rows_type, 0.125),
      uattn_constant_splat(b, softmax->rows_type, 0.0));
  io_state[UATTN_FORWARD_SUMS] =
      uattn_softmax_spread(b, eighth, softmax->sums_type);
  MlirValue v = uattn_cast(b, "arith.extf", uattn_emit_smem_read(b, v_rows),
                           consumer->out_type);
  MlirType flags = uattn_type_vector2(uattn_type_i1(b), UATTN_WARPGROUP_ROWS,
                                      uattn_type_dim(consumer->out_type, 1));
  io_state[UATTN_FORWARD_OUT] =
      uattn_select(b, uattn_emit_row_broadcast(b, sees_itself, flags), v,
                   io_state[UATTN_FORWARD_OUT]);
}

/* Ring step `c`: consumer c works, all release. */
static void emit_diagonal_step(const uattn_builder_t *b,
                               const uattn_forward_consumer_t *consumer,
                               int32_t c, MlirValue io_state[UATTN_FORWARD_P]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirValue step = uattn_constant_i32(b, c);
  MlirValue k_rows = uattn_emit_ring_acquire_rows(b, kernel->k_ring, step,
                                                  UATTN_WARPGROUP_ROWS);
  MlirValue v_rows = uattn_emit_ring_acquire_rows(b, kernel->v_ring, step,
                                                  UATTN_WARPGROUP_ROWS);
  MlirType types[UATTN_FORWARD_P];
  MlirValue inner[UATTN_FORWARD_P];
  for (int i = 0; i < UATTN_FORWARD_P; ++i) {
    types[i] = mlirValueGetType(io_state[i]);
    inner[i] = io_state[i];
  }
  uattn_builder_t mine, others;
  MlirRegion then = uattn_region_create(b, NULL, 0, &mine);
  emit_itself_seen(&mine, consumer, k_rows, v_rows, inner);
  uattn_emit_async_proxy_fence_op(&mine);
  uattn_yield(&mine, inner, UATTN_FORWARD_P);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &others);
  uattn_yield(&others, io_state, UATTN_FORWARD_P);
  MlirOperation made = uattn_if_else_append(
      b, uattn_compare_i(b, UATTN_CMPI_EQ, kernel->index_in_role, step), types,
      UATTN_FORWARD_P, then, otherwise);
  for (int i = 0; i < UATTN_FORWARD_P; ++i)
    io_state[i] = mlirOperationGetResult(made, i);
  uattn_emit_ring_release(b, kernel->k_ring, step);
  uattn_emit_ring_release(b, kernel->v_ring, step);
}

void uattn_forward_emit_initial_state(const uattn_builder_t *b,
                                      const uattn_forward_consumer_t *consumer,
                                      MlirValue out_state[UATTN_FORWARD_P]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  emit_nothing_seen(b, consumer, out_state);
  if (!kernel->plan->masks.has_ranker)
    return;
  MlirType types[UATTN_FORWARD_P];
  MlirValue inner[UATTN_FORWARD_P];
  for (int i = 0; i < UATTN_FORWARD_P; ++i) {
    types[i] = mlirValueGetType(out_state[i]);
    inner[i] = out_state[i];
  }
  uattn_builder_t some, none;
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  for (int32_t c = 0; c < kernel->plan->consumer_warpgroups; ++c)
    emit_diagonal_step(&some, consumer, c, inner);
  uattn_yield(&some, inner, UATTN_FORWARD_P);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &none);
  uattn_yield(&none, out_state, UATTN_FORWARD_P);
  MlirOperation made = uattn_if_else_append(b, kernel->has_candidates, types,
                                            UATTN_FORWARD_P, then, otherwise);
  for (int i = 0; i < UATTN_FORWARD_P; ++i)
    out_state[i] = mlirOperationGetResult(made, i);
}
