/* A consumer warpgroup of the backward kernels with products.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm and its barriers: kernel_backward.c. */
#include <math.h>

#include "dialect/dialect.h"
#include "emit/backward_consumer.h"
#include "emit/softmax.h"

enum { FOLDED_COLUMNS = 8 };

int uattn_backward_sum_count(const uattn_backward_consumer_t *consumer) {
  if (uattn_backward_has_keys(consumer))
    return uattn_backward_has_gradient(consumer) +
           uattn_backward_has_value_gradient(consumer);
  return uattn_backward_has_dtemp(consumer) ? UATTN_BACKWARD_MOST_SUMS : 1;
}

MlirType uattn_backward_sum_type(const uattn_builder_t *b,
                                 const uattn_backward_consumer_t *consumer,
                                 int sum) {
  if (sum == UATTN_BACKWARD_GRADIENT || uattn_backward_has_keys(consumer))
    return consumer->gradient_type;
  return uattn_type_vector2(uattn_type_f32(b), UATTN_WARPGROUP_ROWS,
                            FOLDED_COLUMNS);
}

static MlirValue narrow(const uattn_builder_t *b,
                        const uattn_backward_consumer_t *consumer,
                        MlirValue weights) {
  return uattn_cast(b, "arith.truncf", weights, consumer->narrow_type);
}

/* For dtemp: adds to the row sums; `shifted` is dP + gradient_shift. */
static void add_row_sums(const uattn_builder_t *b,
                         const uattn_backward_consumer_t *consumer, MlirValue y,
                         MlirValue p, MlirValue shifted, MlirValue *io_sums) {
  MlirValue dt = uattn_binary(b, "arith.mulf", p, shifted);
  const MlirValue tiles[] = {dt, uattn_binary(b, "arith.mulf", dt, y),
                             uattn_binary(b, "arith.mulf", p, y)};
  for (int i = 0; i < 3; ++i) {
    int sum = UATTN_BACKWARD_SUM_OF_DT + i;
    io_sums[sum] = uattn_binary(
        b, "arith.addf", io_sums[sum],
        uattn_emit_fold_columns(b, "add", tiles[i],
                                uattn_backward_sum_type(b, consumer, sum)));
  }
}

/* ---- Steps ------------------------------------------------------------------
 */

static MlirValue emit_scores(const uattn_builder_t *b,
                             const uattn_backward_consumer_t *consumer,
                             MlirValue tile, MlirValue moving) {
  uattn_wgmma_operands_t operands = {.a = tile,
                                     .b = moving,
                                     .result = consumer->scores_type,
                                     .transpose_b = true};
  return uattn_emit_wgmma(b, &operands);
}

static MlirValue emit_gradient(const uattn_builder_t *b,
                               const uattn_backward_consumer_t *consumer,
                               MlirValue weights, MlirValue moving,
                               MlirValue gradient) {
  uattn_wgmma_operands_t operands = {.a = weights,
                                     .b = moving,
                                     .accumulator = gradient,
                                     .result = consumer->gradient_type};
  return uattn_emit_wgmma(b, &operands);
}

/* P of a step, and what it was made from. */
typedef struct {
  uattn_backward_q_values_t values;
  MlirValue y;
  MlirValue p;
  MlirValue factor;
} weights_t;

static weights_t emit_weights(const uattn_builder_t *b,
                              const uattn_backward_consumer_t *consumer,
                              MlirValue step, MlirValue products) {
  uattn_backward_step_t at =
      uattn_backward_emit_step(b, consumer->kernel, step);
  weights_t made = {.values = uattn_backward_step_values(b, consumer),
                    .y = uattn_backward_emit_cap(b, consumer, products)};
  MlirValue exponents = uattn_backward_emit_mask(
      b, consumer, step, &at,
      uattn_backward_emit_exponents(b, consumer, made.y, &made.values));
  made.p = uattn_unary_approximate(b, "math.exp2", exponents);
  if (uattn_backward_has_gradient(consumer))
    made.factor =
        uattn_backward_emit_factor(b, consumer, made.y, made.p, &made.values);
  return made;
}

/* dS but for gradient_scale, in 16 bits; `shifted` is dP + gradient_shift. */
static MlirValue emit_ds(const uattn_builder_t *b,
                         const uattn_backward_consumer_t *consumer,
                         const weights_t *weights, MlirValue shifted) {
  return narrow(b, consumer,
                uattn_binary(b, "arith.mulf", weights->factor, shifted));
}

static MlirValue shift_dp(const uattn_builder_t *b,
                          const uattn_backward_consumer_t *consumer,
                          const weights_t *weights, MlirValue dp) {
  MlirValue shift = weights->values.gradient_shift;
  if (!shift.ptr)
    shift = uattn_emit_column_read(b, consumer->records,
                                   UATTN_BACKWARD_RECORD_GRADIENT_SHIFT,
                                   mlirValueGetType(dp));
  return uattn_binary(b, "arith.addf", dp, shift);
}

/* dV runs while dS is made, dK while dQ is added to its sums. dP waits until P
 * has left the registers of S: measured on an H200, that is faster than both
 * products at once, and nothing spills. */
static void emit_key_step(const uattn_builder_t *b,
                          const uattn_backward_consumer_t *consumer,
                          MlirValue step,
                          MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  bool has_gradient = uattn_backward_has_gradient(consumer);
  bool has_values = uattn_backward_has_value_gradient(consumer);
  uattn_backward_dq_share_t share = uattn_backward_dq_share(kernel);
  uattn_backward_consumer_t at_step = *consumer;
  MlirValue *keys_sum = &io_sums[UATTN_BACKWARD_GRADIENT];
  MlirValue *values_sum = &io_sums[uattn_backward_value_gradient(consumer)];
  MlirValue dp = {NULL}, ds = {NULL}, dq = {NULL};
  MlirValue first = uattn_emit_ring_acquire(b, kernel->first_ring, step);
  MlirValue products = emit_scores(b, consumer, consumer->first_tile, first);
  at_step.records = uattn_emit_ring_acquire(b, kernel->records_ring, step);
  uattn_emit_wgmma_wait(b, 0, &products, NULL);
  weights_t weights = emit_weights(b, &at_step, step, products);
  MlirValue second = uattn_emit_ring_acquire(b, kernel->second_ring, step);
  if (has_gradient)
    dp = emit_scores(b, consumer, consumer->second_tile, second);
  if (has_values)
    *values_sum = emit_gradient(b, consumer, narrow(b, consumer, weights.p),
                                second, *values_sum);
  if (has_gradient) {
    uattn_emit_wgmma_wait(b, has_values ? 1 : 0, &dp, NULL);
    ds = emit_ds(b, consumer, &weights, shift_dp(b, &at_step, &weights, dp));
  }
  if (share != UATTN_BACKWARD_DQ_NONE) {
    uattn_backward_put_ds(b, consumer, step, ds);
  } else { /* the records are read */
    uattn_emit_warp_sync(b);
    uattn_emit_async_proxy_fence_op(b);
  }
  if (share == UATTN_BACKWARD_DQ_BLOCK)
    dq = uattn_backward_emit_query_gradient(b, consumer, step);
  if (has_gradient)
    *keys_sum = emit_gradient(b, consumer, ds, first, *keys_sum);
  if (share == UATTN_BACKWARD_DQ_BLOCK) {
    uattn_emit_wgmma_wait(b, 1, &dq, values_sum);
    uattn_emit_ring_release(b, kernel->second_ring, step);
    uattn_backward_add_query_gradient(b, consumer, step, dq);
    uattn_emit_wgmma_wait(b, 0, keys_sum, NULL);
  } else {
    uattn_emit_wgmma_wait(b, 0, keys_sum,
                          has_gradient && has_values ? values_sum : NULL);
    uattn_emit_ring_release(b, kernel->second_ring, step);
  }
  uattn_emit_ring_release(b, kernel->records_ring, step);
  uattn_emit_ring_release(b, kernel->first_ring, step);
  if (share == UATTN_BACKWARD_DQ_TURNS)
    uattn_backward_add_in_turn(b, consumer, step);
}

/* S and dP at once, but where dQ leaves registers for one of them alone. */
static void emit_query_step(const uattn_builder_t *b,
                            const uattn_backward_consumer_t *consumer,
                            MlirValue step,
                            MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  enum { LARGEST_HEAD_DIM_OF_BOTH = 128 };
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  bool is_early = kernel->plan->head_dim <= LARGEST_HEAD_DIM_OF_BOTH;
  MlirValue ring_step = uattn_backward_emit_ring_step(b, kernel, step);
  MlirValue first = uattn_emit_ring_acquire(b, kernel->first_ring, ring_step);
  MlirValue products = emit_scores(b, consumer, consumer->first_tile, first);
  if (!is_early)
    uattn_emit_wgmma_wait(b, 0, &products, NULL);
  MlirValue second = uattn_emit_ring_acquire(b, kernel->second_ring, ring_step);
  MlirValue dp = emit_scores(b, consumer, consumer->second_tile, second);
  if (is_early) {
    uattn_emit_wgmma_wait(b, 0, &products, &dp);
    uattn_emit_ring_release(b, kernel->second_ring, ring_step);
  }
  weights_t made = emit_weights(b, consumer, step, products);
  if (!is_early) {
    uattn_emit_wgmma_wait(b, 0, &dp, NULL);
    uattn_emit_ring_release(b, kernel->second_ring, ring_step);
  }
  MlirValue shifted = shift_dp(b, consumer, &made, dp);
  if (uattn_backward_has_dtemp(consumer))
    add_row_sums(b, consumer, made.y, made.p, shifted, io_sums);
  MlirValue *sum = &io_sums[UATTN_BACKWARD_GRADIENT];
  *sum = emit_gradient(b, consumer, emit_ds(b, consumer, &made, shifted), first,
                       *sum);
  uattn_emit_wgmma_wait(b, 0, sum, NULL);
  uattn_emit_ring_release(b, kernel->first_ring, ring_step);
}

static void emit_step(const uattn_builder_t *b,
                      const uattn_backward_consumer_t *consumer, MlirValue step,
                      MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  uattn_backward_step_t at =
      uattn_backward_emit_step(b, consumer->kernel, step);
  uattn_backward_emit_clear(b, consumer, step, &at);
  (uattn_backward_has_keys(consumer) ? emit_key_step : emit_query_step)(
      b, consumer, step, io_sums);
}

void uattn_backward_emit_loop(const uattn_builder_t *b,
                              const uattn_backward_consumer_t *consumer,
                              MlirValue steps,
                              uattn_backward_emit_step_t *emit_one,
                              MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  int count = uattn_backward_sum_count(consumer);
  MlirType types[1 + UATTN_BACKWARD_MOST_SUMS] = {uattn_type_i32(b)};
  MlirValue inner[UATTN_BACKWARD_MOST_SUMS];
  uattn_builder_t body;
  for (int i = 0; i < count; ++i)
    types[1 + i] = mlirValueGetType(io_sums[i]);
  MlirRegion region = uattn_region_create(b, types, 1 + count, &body);
  for (int i = 0; i < count; ++i)
    inner[i] = mlirBlockGetArgument(body.block, 1 + i);
  emit_one(&body, consumer, mlirBlockGetArgument(body.block, 0), inner);
  uattn_yield(&body, inner, count);
  MlirOperation loop = uattn_for_append(b, kernel->zero, steps, kernel->one,
                                        io_sums, count, region);
  for (int i = 0; i < count; ++i)
    io_sums[i] = mlirOperationGetResult(loop, i);
}

/* ---- Results ----------------------------------------------------------------
 */

/* With the ranker mask: 0 in rows that are none of `is_live`, where sums may be
 * NaN. */
static void drop_dead(const uattn_builder_t *b,
                      const uattn_backward_consumer_t *consumer,
                      MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  if (!consumer->is_live.ptr)
    return;
  for (int i = 0; i < uattn_backward_sum_count(consumer); ++i) {
    MlirType type = mlirValueGetType(io_sums[i]);
    MlirType flags = uattn_type_vector2(uattn_type_i1(b), UATTN_WARPGROUP_ROWS,
                                        uattn_type_dim(type, 1));
    io_sums[i] =
        uattn_select(b, uattn_emit_row_broadcast(b, consumer->is_live, flags),
                     io_sums[i], uattn_constant_splat(b, type, 0.0));
  }
}

/* The head's share of dtemp, A - (R - e) C of the semantics: with c = ln(2)
 * post_scale y + lse_shift, and p summing to 1. Rows without a key have none.
 */
static void emit_dtemp_share(const uattn_builder_t *b,
                             const uattn_backward_consumer_t *consumer,
                             const MlirValue sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirType type = uattn_type_vector1(uattn_type_f32(b), UATTN_WARPGROUP_ROWS);
  MlirValue zero = uattn_constant_splat(b, type, 0.0);
  MlirValue row_sums[UATTN_BACKWARD_MOST_SUMS];
  for (int i = UATTN_BACKWARD_SUM_OF_DT; i < UATTN_BACKWARD_MOST_SUMS; ++i)
    row_sums[i] = uattn_reduce_columns(b, "add", sums[i], zero);
  MlirValue scale = uattn_binary(
      b, "arith.mulf",
      uattn_softmax_spread(b, kernel->params[UATTN_BACKWARD_PARAM_POST_SCALE],
                           type),
      uattn_constant_splat(b, type, M_LN2));
  MlirValue a = uattn_binary(b, "arith.mulf",
                             row_sums[UATTN_BACKWARD_SUM_OF_DT_Y], scale);
  MlirValue c =
      uattn_binary(b, "arith.mulf", row_sums[UATTN_BACKWARD_SUM_OF_P_Y], scale);
  MlirValue shift = kernel->params[UATTN_BACKWARD_PARAM_LSE_SHIFT];
  if (shift.ptr) {
    shift = uattn_softmax_spread(b, shift, type);
    a = uattn_ternary(b, "math.fma", row_sums[UATTN_BACKWARD_SUM_OF_DT], shift,
                      a);
    c = uattn_binary(b, "arith.addf", c, shift);
  }
  MlirValue lse = uattn_backward_load_rows(b, kernel, UATTN_BACKWARD_PARAM_LSE,
                                           consumer->first_row);
  MlirValue rest = uattn_binary(
      b, "arith.subf",
      uattn_backward_emit_lse_gradient(b, kernel, consumer->first_row, lse),
      row_sums[UATTN_BACKWARD_SUM_OF_DT]);
  MlirValue is_empty = uattn_compare_f(
      b, UATTN_CMPF_OEQ, lse, uattn_constant_splat(b, type, -INFINITY));
  if (consumer->is_live.ptr)
    is_empty =
        uattn_binary(b, "arith.ori", is_empty, uattn_not(b, consumer->is_live));
  uattn_backward_store_rows(
      b, kernel, UATTN_BACKWARD_PARAM_DTEMP_SHARE, consumer->first_row,
      uattn_select(b, is_empty, zero,
                   uattn_ternary(b, "math.fma", rest, c, a)));
}

static void emit_store(const uattn_builder_t *b,
                       const uattn_backward_consumer_t *consumer,
                       MlirValue gradient, MlirValue staging,
                       uattn_backward_param_t map) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirType stored =
      uattn_type_vector2(uattn_emit_element_type(b, kernel->plan->dtype),
                         UATTN_WARPGROUP_ROWS, kernel->plan->head_dim);
  uattn_tile_place_t place = {kernel->head, consumer->first_row, kernel->batch};
  uattn_emit_tile_store(b, uattn_cast(b, "arith.truncf", gradient, stored),
                        staging, kernel->params[map], place,
                        uattn_backward_store_barrier(b, kernel));
}

void uattn_backward_emit_results(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    const MlirValue sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  bool has_keys = uattn_backward_has_keys(consumer);
  if (uattn_backward_has_dtemp(consumer))
    emit_dtemp_share(b, consumer, sums);
  if (uattn_backward_has_gradient(consumer))
    emit_store(
        b, consumer,
        uattn_binary(b, "arith.mulf", sums[UATTN_BACKWARD_GRADIENT],
                     uattn_softmax_spread(
                         b, kernel->params[UATTN_BACKWARD_PARAM_GRADIENT_SCALE],
                         consumer->gradient_type)),
        consumer->first_tile,
        has_keys ? UATTN_BACKWARD_PARAM_DK : UATTN_BACKWARD_PARAM_DQ);
  if (uattn_backward_has_value_gradient(consumer))
    emit_store(b, consumer, sums[uattn_backward_value_gradient(consumer)],
               consumer->second_tile, UATTN_BACKWARD_PARAM_DV);
}

/* dq: what its rows of q bring. */
static void load_rows(const uattn_builder_t *b,
                      uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  consumer->exponent_shift = uattn_backward_load_rows(
      b, kernel, UATTN_BACKWARD_PARAM_EXPONENT_SHIFT, consumer->first_row);
  consumer->gradient_shift = uattn_backward_load_rows(
      b, kernel, UATTN_BACKWARD_PARAM_GRADIENT_SHIFT, consumer->first_row);
  if (kernel->plan->has_temp)
    consumer->temp =
        uattn_backward_load_of_batch(b, kernel, UATTN_BACKWARD_PARAM_TEMP,
                                     consumer->first_row, consumer->rows_type);
}

static MlirValue own_rows(const uattn_builder_t *b,
                          const uattn_backward_kernel_t *kernel,
                          MlirValue tile) {
  return uattn_emit_smem_rows(b, tile, kernel->index_in_role,
                              UATTN_WARPGROUP_ROWS);
}

MlirValue uattn_backward_acquire_rows(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel,
                                      MlirValue tile) {
  return own_rows(b, kernel, uattn_emit_ring_acquire(b, tile, kernel->zero));
}

void uattn_backward_acquire_tiles(const uattn_builder_t *b,
                                  uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  consumer->all_keys =
      uattn_emit_ring_acquire(b, kernel->first_tile, kernel->zero);
  consumer->first_tile = own_rows(b, kernel, consumer->all_keys);
  consumer->second_tile =
      kernel->kind == UATTN_BACKWARD_DV
          ? own_rows(
                b, kernel,
                uattn_emit_smem_alloc(
                    b, uattn_type_inner(mlirValueGetType(kernel->second_tile)),
                    kernel->layout.second_offset))
          : uattn_backward_acquire_rows(b, kernel, kernel->second_tile);
}

uattn_backward_consumer_t
uattn_backward_consumer(const uattn_builder_t *b,
                        const uattn_backward_kernel_t *kernel) {
  const uattn_backward_plan_t *plan = kernel->plan;
  MlirType f32 = uattn_type_f32(b);
  return (uattn_backward_consumer_t){
      .kernel = kernel,
      .scores_type =
          uattn_type_vector2(f32, UATTN_WARPGROUP_ROWS, plan->moving_tile_rows),
      .narrow_type =
          uattn_type_vector2(uattn_emit_element_type(b, plan->dtype),
                             UATTN_WARPGROUP_ROWS, plan->moving_tile_rows),
      .gradient_type =
          uattn_type_vector2(f32, UATTN_WARPGROUP_ROWS, plan->head_dim),
      .rows_type = uattn_type_vector1(f32, UATTN_WARPGROUP_ROWS),
      .first_row = uattn_backward_own_row(b, kernel)};
}

MlirRegion uattn_backward_emit_products(const uattn_builder_t *b,
                                        const uattn_backward_kernel_t *kernel) {
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  uattn_backward_consumer_t consumer = uattn_backward_consumer(&role, kernel);
  bool has_ranker = kernel->plan->masks.has_ranker;
  bool is_fused = kernel->kind == UATTN_BACKWARD_FUSED;
  if (kernel->kind == UATTN_BACKWARD_DQ)
    load_rows(&role, &consumer);
  uattn_backward_emit_limits(&role, &consumer);
  uattn_backward_acquire_tiles(&role, &consumer);
  if (has_ranker && is_fused)
    uattn_backward_drop_dead_keys(&role, &consumer);
  MlirValue sums[UATTN_BACKWARD_MOST_SUMS];
  for (int i = 0; i < uattn_backward_sum_count(&consumer); ++i)
    sums[i] = uattn_constant_splat(
        &role, uattn_backward_sum_type(&role, &consumer, i), 0.0);
  if (has_ranker && kernel->kind == UATTN_BACKWARD_DQ)
    uattn_backward_emit_own(&role, &consumer, sums);
  uattn_backward_emit_loop(&role, &consumer, kernel->steps, emit_step, sums);
  if (is_fused)
    uattn_backward_meet(&role, kernel);
  else
    drop_dead(&role, &consumer, sums);
  if (has_ranker && kernel->kind != UATTN_BACKWARD_DQ)
    uattn_backward_emit_own(&role, &consumer, sums);
  uattn_backward_emit_results(&role, &consumer, sums);
  uattn_yield(&role, NULL, 0);
  return region;
}
