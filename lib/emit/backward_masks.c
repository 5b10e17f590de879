/* Which columns a consumer's rows see in the backward products, and what of the
 * tiles counts.
 * Layer: emit. Must not know: attributes of the op level; products.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "emit/backward_consumer.h"
#include "emit/softmax.h"

static MlirType i32_rows(const uattn_builder_t *b) {
  return uattn_type_vector1(uattn_type_i32(b), UATTN_WARPGROUP_ROWS);
}

/* ---- Limits of rows ---------------------------------------------------------
 */

MlirValue uattn_backward_row_positions(const uattn_builder_t *b,
                                       MlirValue first) {
  MlirType type = i32_rows(b);
  return uattn_binary(b, "arith.addi", uattn_emit_row_index(b, type),
                      uattn_broadcast(b, first, type));
}

/* dkv: key j sees, so to say, the rows of q in [j - q_offset, j + window -
 * q_offset). Rows behind the last have records that let no key see them. */
static void emit_seen_rows(const uattn_builder_t *b,
                           uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  if (!masks.is_causal && !masks.has_window)
    return;
  consumer->end =
      uattn_broadcast(b, params[UATTN_BACKWARD_PARAM_Q_TOKENS], i32_rows(b));
  MlirValue own = uattn_backward_row_positions(
      b, uattn_binary(b, "arith.subi", consumer->first_row,
                      params[UATTN_BACKWARD_PARAM_Q_OFFSET]));
  if (masks.is_causal)
    consumer->begin = own;
  if (masks.has_window) {
    MlirValue window = uattn_broadcast(
        b, params[UATTN_BACKWARD_PARAM_WINDOW_TOKENS], i32_rows(b));
    consumer->end = uattn_binary(b, "arith.minsi", consumer->end,
                                 uattn_binary(b, "arith.addi", own, window));
  }
}

MlirValue uattn_backward_is_within(const uattn_builder_t *b, MlirValue rows,
                                   MlirValue lower, MlirValue upper) {
  MlirType type = mlirValueGetType(rows);
  return uattn_binary(
      b, "arith.andi",
      uattn_compare_i(b, UATTN_CMPI_SLE, uattn_broadcast(b, lower, type), rows),
      uattn_compare_i(b, UATTN_CMPI_SLT, rows,
                      uattn_broadcast(b, upper, type)));
}

/* dkv: keys of the history, and candidates whose own row of q is there. */
static void emit_key_kinds(const uattn_builder_t *b,
                           uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  MlirValue keys = uattn_backward_row_positions(b, consumer->first_row);
  MlirValue own_rows = uattn_backward_row_positions(
      b, uattn_binary(b, "arith.subi", consumer->first_row,
                      params[UATTN_BACKWARD_PARAM_Q_OFFSET]));
  consumer->is_live = uattn_backward_is_within(b, keys, kernel->history_lower,
                                               kernel->history_upper);
  MlirValue is_candidate = uattn_backward_is_within(
      b, keys, kernel->candidate_lower, kernel->candidate_upper);
  MlirValue has_row = uattn_backward_is_within(
      b, own_rows, kernel->zero, params[UATTN_BACKWARD_PARAM_Q_TOKENS]);
  consumer->is_candidate = uattn_binary(
      b, "arith.andi", uattn_binary(b, "arith.andi", is_candidate, has_row),
      uattn_not(b, consumer->is_live));
}

void uattn_backward_emit_limits(const uattn_builder_t *b,
                                uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  if (!uattn_backward_has_keys(consumer)) {
    uattn_forward_rows_t rows =
        uattn_forward_emit_rows(b, &kernel->forward, consumer->first_row);
    consumer->begin = rows.begin;
    consumer->end = rows.end;
    consumer->segment_ids = rows.segment_ids;
    consumer->is_live = rows.is_live;
    consumer->is_candidate = rows.is_candidate;
    return;
  }
  emit_seen_rows(b, consumer);
  if (masks.has_ranker)
    emit_key_kinds(b, consumer);
  if (masks.has_segments)
    consumer->segment_ids = uattn_emit_row_load(
        b, params[UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS],
        uattn_backward_token_offset(b, kernel, UATTN_BACKWARD_PARAM_KV_TOKENS),
        consumer->first_row, params[UATTN_BACKWARD_PARAM_KV_TOKENS],
        i32_rows(b));
}

/* ---- A step's mask ----------------------------------------------------------
 */

/* i1: some row of the warpgroup does not see all columns of the tile. */
static MlirValue needs_limits(const uattn_builder_t *b,
                              const uattn_backward_consumer_t *consumer,
                              MlirValue step, const uattn_backward_step_t *at) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  if (!uattn_backward_has_keys(consumer)) {
    const uattn_forward_steps_t *keys = &kernel->forward.keys;
    return uattn_binary(
        b, "arith.ori",
        uattn_compare_i(b, UATTN_CMPI_SLT, step, keys->first_full),
        uattn_compare_i(b, UATTN_CMPI_SLE, keys->after_full, step));
  }
  MlirValue after =
      uattn_binary(b, "arith.addi", at->place.row,
                   uattn_constant_i32(b, kernel->plan->moving_tile_rows));
  MlirValue end = at->end;
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
                      uattn_compare_i(b, UATTN_CMPI_SLT, at->place.row, last));
}

/* The exponents that `owned_then` yields, where `condition`; else `exponents`.
 */
static MlirValue exponents_where(const uattn_builder_t *b, MlirValue condition,
                                 MlirRegion owned_then, MlirValue exponents) {
  MlirType type = mlirValueGetType(exponents);
  uattn_builder_t none;
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &none);
  uattn_yield(&none, &exponents, 1);
  return mlirOperationGetResult(
      uattn_if_else_append(b, condition, &type, 1, owned_then, otherwise), 0);
}

/* -inf outside the limits, where some row has one within the tile. */
static MlirValue apply_limits(const uattn_builder_t *b,
                              const uattn_backward_consumer_t *consumer,
                              MlirValue step, const uattn_backward_step_t *at,
                              MlirValue exponents) {
  if (!consumer->end.ptr)
    return exponents;
  uattn_builder_t some;
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  MlirValue end = consumer->end;
  if (consumer->kernel->plan->masks.has_ranker &&
      uattn_backward_has_keys(consumer))
    end = uattn_binary(&some, "arith.minsi", end,
                       uattn_broadcast(&some, at->end, i32_rows(b)));
  MlirValue masked = uattn_emit_mask_apply(&some, exponents, at->place.row, end,
                                           consumer->begin);
  uattn_yield(&some, &masked, 1);
  return exponents_where(b, needs_limits(b, consumer, step, at), then,
                         exponents);
}

static MlirValue apply_segments(const uattn_builder_t *b,
                                const uattn_backward_consumer_t *consumer,
                                MlirValue first_column, MlirValue exponents) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  if (!consumer->segment_ids.ptr)
    return exponents;
  MlirType type = uattn_type_vector2(uattn_type_i32(b), UATTN_WARPGROUP_ROWS,
                                     kernel->plan->moving_tile_rows);
  MlirValue column_ids =
      uattn_backward_has_keys(consumer)
          ? uattn_emit_column_read(b, consumer->records,
                                   UATTN_BACKWARD_RECORD_SEGMENT_ID, type)
          : uattn_emit_column_load(
                b, kernel->params[UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS],
                uattn_backward_token_offset(b, kernel,
                                            UATTN_BACKWARD_PARAM_KV_TOKENS),
                first_column, kernel->params[UATTN_BACKWARD_PARAM_KV_TOKENS],
                type);
  MlirValue is_same =
      uattn_compare_i(b, UATTN_CMPI_EQ, column_ids,
                      uattn_emit_row_broadcast(b, consumer->segment_ids, type));
  return uattn_select(
      b, is_same, exponents,
      uattn_constant_splat(b, consumer->scores_type, -INFINITY));
}

/* Fused: rows of i1, the keys that a step may multiply into dQ. */
static MlirValue counting_keys(const uattn_builder_t *b,
                               const uattn_backward_consumer_t *consumer) {
  MlirValue keys = uattn_backward_row_positions(b, consumer->first_row);
  MlirValue tokens = uattn_broadcast(
      b, consumer->kernel->params[UATTN_BACKWARD_PARAM_KV_TOKENS], i32_rows(b));
  MlirValue are_there = uattn_compare_i(b, UATTN_CMPI_SLT, keys, tokens);
  return consumer->is_live.ptr
             ? uattn_binary(b, "arith.andi", are_there, consumer->is_live)
             : are_there;
}

/* Fused: keys past the end, whose p may overflow, and with the ranker mask keys
 * that are no history have dS = 0, since they are multiplied into dQ. */
static MlirValue apply_keys(const uattn_builder_t *b,
                            const uattn_backward_consumer_t *consumer,
                            MlirValue exponents) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  if (kernel->kind != UATTN_BACKWARD_FUSED)
    return exponents;
  MlirValue after = uattn_binary(b, "arith.addi", consumer->first_row,
                                 uattn_constant_i32(b, UATTN_WARPGROUP_ROWS));
  MlirValue end = kernel->params[UATTN_BACKWARD_PARAM_KV_TOKENS];
  if (kernel->plan->masks.has_ranker)
    end = uattn_binary(b, "arith.minsi", end, kernel->history_upper);
  MlirValue has_others = uattn_compare_i(b, UATTN_CMPI_SLT, end, after);
  if (kernel->plan->masks.has_ranker)
    has_others =
        uattn_binary(b, "arith.ori", has_others,
                     uattn_compare_i(b, UATTN_CMPI_SLT, consumer->first_row,
                                     kernel->history_lower));
  uattn_builder_t some;
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  MlirType flags = uattn_type_vector2(uattn_type_i1(b), UATTN_WARPGROUP_ROWS,
                                      uattn_type_dim(consumer->scores_type, 1));
  MlirValue masked = uattn_select(
      &some,
      uattn_emit_row_broadcast(&some, counting_keys(&some, consumer), flags),
      exponents, uattn_constant_splat(&some, consumer->scores_type, -INFINITY));
  uattn_yield(&some, &masked, 1);
  return exponents_where(b, has_others, then, exponents);
}

MlirValue uattn_backward_emit_mask(const uattn_builder_t *b,
                                   const uattn_backward_consumer_t *consumer,
                                   MlirValue step,
                                   const uattn_backward_step_t *at,
                                   MlirValue exponents) {
  exponents = apply_limits(b, consumer, step, at, exponents);
  exponents = apply_keys(b, consumer, exponents);
  return apply_segments(b, consumer, at->place.row, exponents);
}

/* ---- Dead rows of tiles -----------------------------------------------------
 */

/* The first row of the step's tiles that does not count: behind the history,
 * which the first step of dq has; behind a range of rows of q. */
static MlirValue dead_from(const uattn_builder_t *b,
                           const uattn_backward_consumer_t *consumer,
                           const uattn_backward_step_t *at) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirValue end = uattn_backward_has_keys(consumer)
                      ? at->end
                      : kernel->forward.history_upper;
  return uattn_binary(b, "arith.maxsi", kernel->zero,
                      uattn_binary(b, "arith.subi", end, at->place.row));
}

/* One consumer writes; all wait for it. */
void uattn_backward_emit_clear(const uattn_builder_t *b,
                               const uattn_backward_consumer_t *consumer,
                               MlirValue step,
                               const uattn_backward_step_t *at) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue always = {NULL};
  if (!kernel->plan->masks.has_ranker)
    return;
  uattn_builder_t some, mine;
  MlirValue first = dead_from(b, consumer, at);
  MlirValue has_dead =
      uattn_compare_i(b, UATTN_CMPI_SLT, first,
                      uattn_constant_i32(b, kernel->plan->moving_tile_rows));
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  MlirValue ring_step = uattn_backward_emit_ring_step(&some, kernel, step);
  MlirValue tiles[] = {
      uattn_emit_ring_acquire(&some, kernel->first_ring, ring_step),
      uattn_emit_ring_acquire(&some, kernel->second_ring, ring_step)};
  MlirRegion writer = uattn_region_create(&some, NULL, 0, &mine);
  for (int i = 0; i < 2; ++i)
    uattn_emit_smem_clear_rows(&mine, tiles[i], first);
  uattn_emit_async_proxy_fence_op(&mine);
  uattn_yield(&mine, NULL, 0);
  uattn_if_append(&some,
                  uattn_compare_i(&some, UATTN_CMPI_EQ, kernel->index_in_role,
                                  kernel->zero),
                  writer);
  uattn_emit_named_barrier_sync(
      &some, uattn_constant_i32(&some, kernel->layout.clear_barrier_id),
      (int64_t)UATTN_WARPGROUP_THREADS * kernel->plan->consumer_warpgroups,
      always);
  uattn_yield(&some, NULL, 0);
  uattn_if_append(b, has_dead, then);
}
