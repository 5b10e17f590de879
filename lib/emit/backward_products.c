/* A consumer warpgroup of the backward kernels with products.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm and its barriers: kernel_backward.c. */
#include <math.h>

#include "emit/kernel_backward.h"
#include "emit/softmax.h"

/* What steps add to: dK and dV; or dQ and, for dtemp, sums of a row over its
 * keys of dt, dt y and p y, spread over 8 columns. */
enum {
  GRADIENT,
  VALUE_GRADIENT = 1,
  SUM_OF_DT = 1,
  SUM_OF_DT_Y,
  SUM_OF_P_Y,
  MOST_SUMS
};
enum { FOLDED_COLUMNS = 8 };

typedef struct {
  const uattn_backward_kernel_t *kernel;
  MlirType scores_type;   /* vector<64 x moving x f32> */
  MlirType narrow_type;   /* the same in 16 bits */
  MlirType gradient_type; /* vector<64 x head_dim x f32> */
  MlirValue first_tile;   /* its 64 rows of K or Q */
  MlirValue second_tile;  /* of V or dout */
  MlirValue first_row;
  /* dq: rows, of q, that stay. Else null: each step loads columns. */
  MlirValue exponent_shift;
  MlirValue gradient_shift;
  MlirValue temp;
  /* Columns that a row sees, rows of i32; null: from the first, to the last. */
  MlirValue begin;
  MlirValue end;
  MlirValue segment_ids; /* of the rows; null without */
} consumer_t;

static bool is_dkv(const consumer_t *consumer) {
  return consumer->kernel->kind == UATTN_BACKWARD_DKV;
}

static bool has_dtemp(const consumer_t *consumer) {
  return !is_dkv(consumer) && consumer->kernel->plan->has_dtemp;
}

static int sum_count(const consumer_t *consumer) {
  return is_dkv(consumer) ? 2 : has_dtemp(consumer) ? MOST_SUMS : 1;
}

static MlirType sum_type(const uattn_builder_t *b, const consumer_t *consumer,
                         int sum) {
  bool is_gradient = sum == GRADIENT || is_dkv(consumer);
  return is_gradient ? consumer->gradient_type
                     : uattn_type_vector2(uattn_type_f32(b),
                                          UATTN_WARPGROUP_ROWS, FOLDED_COLUMNS);
}

/* ---- Values of rows of q ----------------------------------------------------
 */

/* Where the batch begins in a tensor of [batch, tokens]. */
static MlirValue token_offset(const uattn_builder_t *b,
                              const uattn_backward_kernel_t *kernel,
                              uattn_backward_param_t tokens) {
  MlirType i64 = uattn_type_i64(b);
  return uattn_binary(
      b, "arith.muli", uattn_cast(b, "arith.extui", kernel->batch, i64),
      uattn_cast(b, "arith.extui", kernel->params[tokens], i64));
}

static void load_rows(const uattn_builder_t *b, consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  MlirValue q_tokens = params[UATTN_BACKWARD_PARAM_Q_TOKENS];
  MlirValue offset = uattn_backward_emit_row_offset(b, kernel, kernel->head);
  MlirType rows = uattn_type_vector1(uattn_type_f32(b), UATTN_WARPGROUP_ROWS);
  consumer->exponent_shift =
      uattn_emit_row_load(b, params[UATTN_BACKWARD_PARAM_EXPONENT_SHIFT],
                          offset, consumer->first_row, q_tokens, rows);
  consumer->gradient_shift =
      uattn_emit_row_load(b, params[UATTN_BACKWARD_PARAM_GRADIENT_SHIFT],
                          offset, consumer->first_row, q_tokens, rows);
  if (kernel->plan->has_temp)
    consumer->temp = uattn_emit_row_load(
        b, params[UATTN_BACKWARD_PARAM_TEMP],
        token_offset(b, kernel, UATTN_BACKWARD_PARAM_Q_TOKENS),
        consumer->first_row, q_tokens, rows);
}

/* A value of each row of q, over the tile: loaded by columns, or the rows
 * `staying`. */
static MlirValue q_values(const uattn_builder_t *b, const consumer_t *consumer,
                          uattn_backward_param_t param, MlirValue offset,
                          MlirValue first_column, MlirValue staying) {
  const MlirValue *params = consumer->kernel->params;
  if (staying.ptr)
    return uattn_softmax_spread(b, staying, consumer->scores_type);
  return uattn_emit_column_load(b, params[param], offset, first_column,
                                params[UATTN_BACKWARD_PARAM_Q_TOKENS],
                                consumer->scores_type);
}

/* ---- P and dS ---------------------------------------------------------------
 */

static MlirValue spread(const uattn_builder_t *b, const consumer_t *consumer,
                        MlirValue value) {
  return uattn_softmax_spread(b, value, consumer->scores_type);
}

static MlirValue emit_cap(const uattn_builder_t *b, const consumer_t *consumer,
                          MlirValue products) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue pre = kernel->params[UATTN_BACKWARD_PARAM_PRE_SCALE];
  MlirValue bias = kernel->params[UATTN_BACKWARD_PARAM_PRE_BIAS];
  if (kernel->plan->cap_method == UATTN_CAP_NONE)
    return products;
  MlirValue x =
      bias.ptr
          ? uattn_ternary(b, "math.fma", products, spread(b, consumer, pre),
                          spread(b, consumer, bias))
          : uattn_binary(b, "arith.mulf", products, spread(b, consumer, pre));
  return uattn_emit_cap_apply(
      b, uattn_cap_method_name(kernel->plan->cap_method), x);
}

/* f'(x) of y = f(x), from y, but for the constant that gradient_scale has:
 * tanh 1 - y^2, soft_sign (1 - |y|)^2, alsc y - y^2. Null: 1. */
static MlirValue emit_slope(const uattn_builder_t *b,
                            const consumer_t *consumer, MlirValue y) {
  MlirValue none = {NULL};
  MlirType type = consumer->scores_type;
  switch (consumer->kernel->plan->cap_method) {
  case UATTN_CAP_NONE:
    return none;
  case UATTN_CAP_TANH:
    return uattn_ternary(b, "math.fma", uattn_unary(b, "arith.negf", y), y,
                         uattn_constant_splat(b, type, 1.0));
  case UATTN_CAP_SOFT_SIGN: {
    MlirValue root =
        uattn_binary(b, "arith.subf", uattn_constant_splat(b, type, 1.0),
                     uattn_unary(b, "math.absf", y));
    return uattn_binary(b, "arith.mulf", root, root);
  }
  case UATTN_CAP_ALSC:
    break;
  }
  return uattn_ternary(b, "math.fma", uattn_unary(b, "arith.negf", y), y, y);
}

/* ---- Masks ------------------------------------------------------------------
 */

/* dkv: key j sees, so to say, the rows of q in [j - q_offset, j + window -
 * q_offset). Zeros past q's end need a mask with alsc alone, whose exponent of
 * a score of 0 may overflow. */
static void emit_seen_rows(const uattn_builder_t *b, consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  MlirType rows = uattn_type_vector1(uattn_type_i32(b), UATTN_WARPGROUP_ROWS);
  MlirValue end =
      uattn_broadcast(b, params[UATTN_BACKWARD_PARAM_Q_TOKENS], rows);
  bool is_alsc = kernel->plan->cap_method == UATTN_CAP_ALSC;
  if (masks.is_causal || masks.has_window || is_alsc)
    consumer->end = end;
  if (!masks.is_causal && !masks.has_window)
    return;
  MlirValue first = uattn_binary(b, "arith.subi", consumer->first_row,
                                 params[UATTN_BACKWARD_PARAM_Q_OFFSET]);
  MlirValue own = uattn_binary(b, "arith.addi", uattn_emit_row_index(b, rows),
                               uattn_broadcast(b, first, rows));
  if (masks.is_causal)
    consumer->begin = own;
  if (masks.has_window) {
    MlirValue window =
        uattn_broadcast(b, params[UATTN_BACKWARD_PARAM_WINDOW_TOKENS], rows);
    consumer->end = uattn_binary(b, "arith.minsi", end,
                                 uattn_binary(b, "arith.addi", own, window));
  }
}

static void emit_limits(const uattn_builder_t *b, consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  if (!is_dkv(consumer)) {
    uattn_forward_rows_t rows =
        uattn_forward_emit_rows(b, &kernel->forward, consumer->first_row);
    consumer->begin = rows.begin;
    consumer->end = rows.end;
    consumer->segment_ids = rows.segment_ids;
    return;
  }
  emit_seen_rows(b, consumer);
  if (kernel->plan->masks.has_segments)
    consumer->segment_ids = uattn_emit_row_load(
        b, params[UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS],
        token_offset(b, kernel, UATTN_BACKWARD_PARAM_KV_TOKENS),
        consumer->first_row, params[UATTN_BACKWARD_PARAM_KV_TOKENS],
        uattn_type_vector1(uattn_type_i32(b), UATTN_WARPGROUP_ROWS));
}

/* i1: some row of the warpgroup does not see all columns of the tile. */
static MlirValue needs_limits(const uattn_builder_t *b,
                              const consumer_t *consumer, MlirValue step,
                              MlirValue first_column) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  if (!is_dkv(consumer)) {
    const uattn_forward_steps_t *keys = &kernel->forward.keys;
    return uattn_binary(
        b, "arith.ori",
        uattn_compare_i(b, UATTN_CMPI_SLT, step, keys->first_full),
        uattn_compare_i(b, UATTN_CMPI_SLE, keys->after_full, step));
  }
  uattn_mask_kinds_t masks = kernel->plan->masks;
  MlirValue after =
      uattn_binary(b, "arith.addi", first_column,
                   uattn_constant_i32(b, kernel->plan->moving_tile_rows));
  MlirValue end = params[UATTN_BACKWARD_PARAM_Q_TOKENS];
  MlirValue first = {NULL};
  if (masks.is_causal || masks.has_window)
    first = uattn_binary(b, "arith.subi", consumer->first_row,
                         params[UATTN_BACKWARD_PARAM_Q_OFFSET]);
  if (masks.has_window)
    end =
        uattn_binary(b, "arith.minsi", end,
                     uattn_binary(b, "arith.addi", first,
                                  params[UATTN_BACKWARD_PARAM_WINDOW_TOKENS]));
  MlirValue needs = uattn_compare_i(b, UATTN_CMPI_SLT, end, after);
  if (!masks.is_causal)
    return needs;
  MlirValue last = uattn_binary(
      b, "arith.addi", first, uattn_constant_i32(b, UATTN_WARPGROUP_ROWS - 1));
  return uattn_binary(b, "arith.ori", needs,
                      uattn_compare_i(b, UATTN_CMPI_SLT, first_column, last));
}

/* -inf outside the limits, where some row has one within the tile. */
static MlirValue apply_limits(const uattn_builder_t *b,
                              const consumer_t *consumer, MlirValue step,
                              MlirValue first_column, MlirValue exponents) {
  if (!consumer->end.ptr)
    return exponents;
  uattn_builder_t some, none;
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  MlirValue masked = uattn_emit_mask_apply(&some, exponents, first_column,
                                           consumer->end, consumer->begin);
  uattn_yield(&some, &masked, 1);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &none);
  uattn_yield(&none, &exponents, 1);
  MlirOperation made =
      uattn_if_else_append(b, needs_limits(b, consumer, step, first_column),
                           &consumer->scores_type, 1, then, otherwise);
  return mlirOperationGetResult(made, 0);
}

static MlirValue apply_segments(const uattn_builder_t *b,
                                const consumer_t *consumer,
                                MlirValue first_column, MlirValue exponents) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  if (!consumer->segment_ids.ptr)
    return exponents;
  uattn_backward_param_t ids = is_dkv(consumer)
                                   ? UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS
                                   : UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS;
  uattn_backward_param_t tokens = is_dkv(consumer)
                                      ? UATTN_BACKWARD_PARAM_Q_TOKENS
                                      : UATTN_BACKWARD_PARAM_KV_TOKENS;
  MlirType type = uattn_type_vector2(uattn_type_i32(b), UATTN_WARPGROUP_ROWS,
                                     kernel->plan->moving_tile_rows);
  MlirValue column_ids = uattn_emit_column_load(
      b, kernel->params[ids], token_offset(b, kernel, tokens), first_column,
      kernel->params[tokens], type);
  MlirValue is_same =
      uattn_compare_i(b, UATTN_CMPI_EQ, column_ids,
                      uattn_emit_row_broadcast(b, consumer->segment_ids, type));
  return uattn_select(
      b, is_same, exponents,
      uattn_constant_splat(b, consumer->scores_type, -INFINITY));
}

/* ---- Weights ----------------------------------------------------------------
 */

typedef struct {
  MlirValue p;
  MlirValue y;
  MlirValue dt;
  MlirValue ds; /* but for gradient_scale */
} weights_t;

static weights_t emit_weights(const uattn_builder_t *b,
                              const consumer_t *consumer, MlirValue step,
                              MlirValue products, MlirValue dp) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  uattn_backward_step_t at = uattn_backward_emit_step(b, kernel, step);
  MlirValue column = at.place.row;
  MlirValue offset = uattn_backward_emit_row_offset(b, kernel, at.q_head);
  MlirValue y = emit_cap(b, consumer, products);
  MlirValue scale =
      spread(b, consumer, kernel->params[UATTN_BACKWARD_PARAM_POST_SCALE]);
  MlirValue temp = {NULL};
  if (kernel->plan->has_temp) {
    temp = q_values(b, consumer, UATTN_BACKWARD_PARAM_TEMP,
                    token_offset(b, kernel, UATTN_BACKWARD_PARAM_Q_TOKENS),
                    column, consumer->temp);
    scale = uattn_binary(b, "arith.mulf", scale, temp);
  }
  MlirValue exponents =
      uattn_ternary(b, "math.fma", y, scale,
                    q_values(b, consumer, UATTN_BACKWARD_PARAM_EXPONENT_SHIFT,
                             offset, column, consumer->exponent_shift));
  exponents = apply_limits(b, consumer, step, column, exponents);
  exponents = apply_segments(b, consumer, column, exponents);
  MlirValue p = uattn_unary_approximate(b, "math.exp2", exponents);
  MlirValue dt = uattn_binary(
      b, "arith.mulf", p,
      uattn_binary(b, "arith.addf", dp,
                   q_values(b, consumer, UATTN_BACKWARD_PARAM_GRADIENT_SHIFT,
                            offset, column, consumer->gradient_shift)));
  MlirValue ds = dt;
  MlirValue slope = emit_slope(b, consumer, y);
  if (slope.ptr)
    ds = uattn_binary(b, "arith.mulf", ds, slope);
  if (temp.ptr)
    ds = uattn_binary(b, "arith.mulf", ds, temp);
  return (weights_t){p, y, dt, ds};
}

static MlirValue narrow(const uattn_builder_t *b, const consumer_t *consumer,
                        MlirValue weights) {
  return uattn_cast(b, "arith.truncf", weights, consumer->narrow_type);
}

/* For dtemp: adds to the row sums. */
static void add_row_sums(const uattn_builder_t *b, const consumer_t *consumer,
                         const weights_t *weights, MlirValue *io_sums) {
  const MlirValue tiles[] = {
      weights->dt, uattn_binary(b, "arith.mulf", weights->dt, weights->y),
      uattn_binary(b, "arith.mulf", weights->p, weights->y)};
  for (int i = 0; i < 3; ++i) {
    MlirValue *sum = &io_sums[SUM_OF_DT + i];
    *sum = uattn_binary(
        b, "arith.addf", *sum,
        uattn_emit_fold_columns(b, "add", tiles[i],
                                sum_type(b, consumer, SUM_OF_DT + i)));
  }
}

/* ---- Steps ------------------------------------------------------------------
 */

static MlirValue emit_scores(const uattn_builder_t *b,
                             const consumer_t *consumer, MlirValue tile,
                             MlirValue moving) {
  uattn_wgmma_operands_t operands = {.a = tile,
                                     .b = moving,
                                     .result = consumer->scores_type,
                                     .transpose_b = true};
  return uattn_emit_wgmma(b, &operands);
}

static MlirValue emit_gradient(const uattn_builder_t *b,
                               const consumer_t *consumer, MlirValue weights,
                               MlirValue moving, MlirValue gradient) {
  uattn_wgmma_operands_t operands = {.a = weights,
                                     .b = moving,
                                     .accumulator = gradient,
                                     .result = consumer->gradient_type};
  return uattn_emit_wgmma(b, &operands);
}

static void emit_step(const uattn_builder_t *b, const consumer_t *consumer,
                      MlirValue step, MlirValue io_sums[MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue first = uattn_emit_ring_acquire(b, kernel->first_ring, step);
  MlirValue products = emit_scores(b, consumer, consumer->first_tile, first);
  MlirValue second = uattn_emit_ring_acquire(b, kernel->second_ring, step);
  MlirValue dp = emit_scores(b, consumer, consumer->second_tile, second);
  uattn_emit_wgmma_wait(b, 0, &products, &dp);
  if (!is_dkv(consumer)) /* V has been used */
    uattn_emit_ring_release(b, kernel->second_ring, step);
  weights_t weights = emit_weights(b, consumer, step, products, dp);
  if (has_dtemp(consumer))
    add_row_sums(b, consumer, &weights, io_sums);
  MlirValue *gradient = &io_sums[GRADIENT];
  *gradient = emit_gradient(b, consumer, narrow(b, consumer, weights.ds), first,
                            *gradient);
  if (is_dkv(consumer)) {
    MlirValue *values = &io_sums[VALUE_GRADIENT];
    *values = emit_gradient(b, consumer, narrow(b, consumer, weights.p), second,
                            *values);
    uattn_emit_wgmma_wait(b, 0, gradient, values);
    uattn_emit_ring_release(b, kernel->second_ring, step);
  } else {
    uattn_emit_wgmma_wait(b, 0, gradient, NULL);
  }
  uattn_emit_ring_release(b, kernel->first_ring, step);
}

static void emit_loop(const uattn_builder_t *b, const consumer_t *consumer,
                      MlirValue io_sums[MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  int count = sum_count(consumer);
  MlirType types[1 + MOST_SUMS] = {uattn_type_i32(b)};
  MlirValue inner[MOST_SUMS];
  uattn_builder_t body;
  for (int i = 0; i < count; ++i)
    types[1 + i] = mlirValueGetType(io_sums[i]);
  MlirRegion region = uattn_region_create(b, types, 1 + count, &body);
  for (int i = 0; i < count; ++i)
    inner[i] = mlirBlockGetArgument(body.block, 1 + i);
  emit_step(&body, consumer, mlirBlockGetArgument(body.block, 0), inner);
  uattn_yield(&body, inner, count);
  MlirOperation loop = uattn_for_append(b, kernel->zero, kernel->steps,
                                        kernel->one, io_sums, count, region);
  for (int i = 0; i < count; ++i)
    io_sums[i] = mlirOperationGetResult(loop, i);
}

/* ---- Results ----------------------------------------------------------------
 */

/* The head's share of dtemp, A - (R - e) C of the semantics: with c = ln(2)
 * post_scale y + lse_shift, and p summing to 1. Rows without a key have none.
 */
static void emit_dtemp_share(const uattn_builder_t *b,
                             const consumer_t *consumer,
                             const MlirValue sums[MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirType type = uattn_type_vector1(uattn_type_f32(b), UATTN_WARPGROUP_ROWS);
  MlirValue zero = uattn_constant_splat(b, type, 0.0);
  MlirValue row_sums[MOST_SUMS];
  for (int i = SUM_OF_DT; i < MOST_SUMS; ++i)
    row_sums[i] = uattn_reduce_columns(b, "add", sums[i], zero);
  MlirValue scale = uattn_binary(
      b, "arith.mulf",
      uattn_softmax_spread(b, kernel->params[UATTN_BACKWARD_PARAM_POST_SCALE],
                           type),
      uattn_constant_splat(b, type, M_LN2));
  MlirValue a = uattn_binary(b, "arith.mulf", row_sums[SUM_OF_DT_Y], scale);
  MlirValue c = uattn_binary(b, "arith.mulf", row_sums[SUM_OF_P_Y], scale);
  MlirValue shift = kernel->params[UATTN_BACKWARD_PARAM_LSE_SHIFT];
  if (shift.ptr) {
    shift = uattn_softmax_spread(b, shift, type);
    a = uattn_ternary(b, "math.fma", row_sums[SUM_OF_DT], shift, a);
    c = uattn_binary(b, "arith.addf", c, shift);
  }
  MlirValue lse = uattn_backward_load_rows(b, kernel, UATTN_BACKWARD_PARAM_LSE,
                                           consumer->first_row);
  MlirValue rest = uattn_binary(
      b, "arith.subf",
      uattn_backward_emit_lse_gradient(b, kernel, consumer->first_row, lse),
      row_sums[SUM_OF_DT]);
  MlirValue is_empty = uattn_compare_f(
      b, UATTN_CMPF_OEQ, lse, uattn_constant_splat(b, type, -INFINITY));
  uattn_backward_store_rows(
      b, kernel, UATTN_BACKWARD_PARAM_DTEMP_SHARE, consumer->first_row,
      uattn_select(b, is_empty, zero,
                   uattn_ternary(b, "math.fma", rest, c, a)));
}

static void emit_store(const uattn_builder_t *b, const consumer_t *consumer,
                       MlirValue gradient, MlirValue staging,
                       uattn_backward_param_t map) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirType stored =
      uattn_type_vector2(uattn_emit_element_type(b, kernel->plan->dtype),
                         UATTN_WARPGROUP_ROWS, kernel->plan->head_dim);
  uattn_tile_place_t place = {kernel->head, consumer->first_row, kernel->batch};
  MlirValue barrier =
      uattn_binary(b, "arith.addi", kernel->index_in_role,
                   uattn_constant_i32(b, kernel->layout.store_barrier_id));
  uattn_emit_tile_store(b, uattn_cast(b, "arith.truncf", gradient, stored),
                        staging, kernel->params[map], place, barrier);
}

static void emit_results(const uattn_builder_t *b, const consumer_t *consumer,
                         const MlirValue sums[MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue scale = uattn_softmax_spread(
      b, kernel->params[UATTN_BACKWARD_PARAM_GRADIENT_SCALE],
      consumer->gradient_type);
  if (has_dtemp(consumer))
    emit_dtemp_share(b, consumer, sums);
  emit_store(b, consumer, uattn_binary(b, "arith.mulf", sums[GRADIENT], scale),
             consumer->first_tile,
             is_dkv(consumer) ? UATTN_BACKWARD_PARAM_DK
                              : UATTN_BACKWARD_PARAM_DQ);
  if (is_dkv(consumer))
    emit_store(b, consumer, sums[VALUE_GRADIENT], consumer->second_tile,
               UATTN_BACKWARD_PARAM_DV);
}

/* Its rows of a tile that stays. */
static MlirValue own_rows(const uattn_builder_t *b,
                          const uattn_backward_kernel_t *kernel,
                          MlirValue tile) {
  return uattn_emit_smem_rows(b, uattn_emit_ring_acquire(b, tile, kernel->zero),
                              kernel->index_in_role, UATTN_WARPGROUP_ROWS);
}

MlirRegion uattn_backward_emit_products(const uattn_builder_t *b,
                                        const uattn_backward_kernel_t *kernel) {
  const uattn_backward_plan_t *plan = kernel->plan;
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  MlirType f32 = uattn_type_f32(&role);
  MlirValue row_in_cta =
      uattn_binary(&role, "arith.muli", kernel->index_in_role,
                   uattn_constant_i32(&role, UATTN_WARPGROUP_ROWS));
  consumer_t consumer = {
      .kernel = kernel,
      .scores_type =
          uattn_type_vector2(f32, UATTN_WARPGROUP_ROWS, plan->moving_tile_rows),
      .narrow_type =
          uattn_type_vector2(uattn_emit_element_type(&role, plan->dtype),
                             UATTN_WARPGROUP_ROWS, plan->moving_tile_rows),
      .gradient_type =
          uattn_type_vector2(f32, UATTN_WARPGROUP_ROWS, plan->head_dim),
      .first_row =
          uattn_binary(&role, "arith.addi", kernel->first_row, row_in_cta)};
  if (kernel->kind == UATTN_BACKWARD_DQ)
    load_rows(&role, &consumer);
  emit_limits(&role, &consumer);
  consumer.first_tile = own_rows(&role, kernel, kernel->first_tile);
  consumer.second_tile = own_rows(&role, kernel, kernel->second_tile);
  MlirValue sums[MOST_SUMS];
  for (int i = 0; i < sum_count(&consumer); ++i)
    sums[i] = uattn_constant_splat(&role, sum_type(&role, &consumer, i), 0.0);
  emit_loop(&role, &consumer, sums);
  emit_results(&role, &consumer, sums);
  uattn_yield(&role, NULL, 0);
  return region;
}
