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

/* A loop over the consumers, since the producer has few registers; it does not
 * run where the CTA has no candidate. */
void uattn_forward_emit_diagonal_loads(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  MlirType step_type = uattn_type_i32(b);
  uattn_builder_t body;
  MlirRegion region = uattn_region_create(b, &step_type, 1, &body);
  MlirValue step = mlirBlockGetArgument(body.block, 0);
  MlirValue row = uattn_binary(
      &body, "arith.addi", kernel->cta_row,
      uattn_binary(&body, "arith.muli", step,
                   uattn_constant_i32(&body, UATTN_WARPGROUP_ROWS)));
  uattn_tile_place_t place = {kernel->kv_head,
                              uattn_binary(&body, "arith.addi",
                                           params[UATTN_FORWARD_PARAM_Q_OFFSET],
                                           row),
                              kernel->batch};
  uattn_emit_ring_produce(&body, params[UATTN_FORWARD_PARAM_K_DIAGONAL], place,
                          kernel->k_ring, step);
  uattn_emit_ring_produce(&body, params[UATTN_FORWARD_PARAM_V_DIAGONAL], place,
                          kernel->v_ring, step);
  uattn_yield(&body, NULL, 0);
  uattn_for_append(b, kernel->zero, kernel->ring_offset, kernel->one, NULL, 0,
                   region);
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

/* The state of rows that have seen their own key alone. NaN in the K and V of
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
  MlirValue p = uattn_softmax_start(b, softmax, capped, sees_itself,
                                    &io_state[UATTN_FORWARD_MAX]);
  /* The sum is spread evenly over the 8 columns of partial sums. */
  io_state[UATTN_FORWARD_SUMS] = uattn_softmax_spread(
      b,
      uattn_binary(b, "arith.mulf", p,
                   uattn_constant_splat(b, softmax->rows_type, 0.125)),
      softmax->sums_type);
  MlirValue v = uattn_cast(b, "arith.extf", uattn_emit_smem_read(b, v_rows),
                           consumer->out_type);
  if (softmax->has_fixed_maximum)
    v = uattn_binary(b, "arith.mulf", v,
                     uattn_softmax_spread(b, p, consumer->out_type));
  MlirType flags = uattn_type_vector2(uattn_type_i1(b), UATTN_WARPGROUP_ROWS,
                                      uattn_type_dim(consumer->out_type, 1));
  io_state[UATTN_FORWARD_OUT] =
      uattn_select(b, uattn_emit_row_broadcast(b, sees_itself, flags), v,
                   io_state[UATTN_FORWARD_OUT]);
}

/* Lets the other consumers' ring steps [first, after) pass: a slot can only be
 * released once it is known to be full. */
static void emit_pass_steps(const uattn_builder_t *b,
                            const uattn_forward_kernel_t *kernel,
                            MlirValue first, MlirValue after) {
  MlirType step_type = uattn_type_i32(b);
  uattn_builder_t body;
  MlirRegion region = uattn_region_create(b, &step_type, 1, &body);
  MlirValue step = mlirBlockGetArgument(body.block, 0);
  const MlirValue rings[] = {kernel->k_ring, kernel->v_ring};
  for (int i = 0; i < 2; ++i) {
    uattn_emit_ring_acquire_rows(&body, rings[i], step, UATTN_WARPGROUP_ROWS);
    uattn_emit_ring_release(&body, rings[i], step);
  }
  uattn_yield(&body, NULL, 0);
  uattn_for_append(b, first, after, kernel->one, NULL, 0, region);
}

static void emit_own_step(const uattn_builder_t *b,
                          const uattn_forward_consumer_t *consumer,
                          MlirValue io_state[UATTN_FORWARD_P]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirValue step = kernel->index_in_role;
  emit_pass_steps(b, kernel, kernel->zero, step);
  MlirValue k_rows = uattn_emit_ring_acquire_rows(b, kernel->k_ring, step,
                                                  UATTN_WARPGROUP_ROWS);
  MlirValue v_rows = uattn_emit_ring_acquire_rows(b, kernel->v_ring, step,
                                                  UATTN_WARPGROUP_ROWS);
  emit_itself_seen(b, consumer, k_rows, v_rows, io_state);
  uattn_emit_async_proxy_fence_op(b);
  uattn_emit_ring_release(b, kernel->k_ring, step);
  uattn_emit_ring_release(b, kernel->v_ring, step);
  emit_pass_steps(b, kernel, uattn_binary(b, "arith.addi", step, kernel->one),
                  kernel->ring_offset);
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
  emit_own_step(&some, consumer, inner);
  uattn_yield(&some, inner, UATTN_FORWARD_P);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &none);
  uattn_yield(&none, out_state, UATTN_FORWARD_P);
  MlirOperation made = uattn_if_else_append(b, kernel->has_candidates, types,
                                            UATTN_FORWARD_P, then, otherwise);
  for (int i = 0; i < UATTN_FORWARD_P; ++i)
    out_state[i] = mlirOperationGetResult(made, i);
}
