/* A consumer warpgroup of the forward kernel.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm and its barriers: kernel_forward.c. */
#include <math.h>

#include "dialect/dialect.h"
#include "emit/forward_kernel.h"

/* Two warpgroups meet: the one that waits and the one that hands over. */
enum { TURN_THREADS = 2 * UATTN_WARPGROUP_THREADS };

static void wait_turn(const uattn_builder_t *b,
                      const uattn_forward_consumer_t *consumer,
                      MlirValue when) {
  if (consumer->kernel->plan->is_ping_pong)
    uattn_emit_named_barrier_sync(b, consumer->turn, TURN_THREADS, when);
}

/* Hands the tensor cores on. The last consumer hands nothing on in its last
 * step, since nobody would take it. */
static void pass_turn(const uattn_builder_t *b,
                      const uattn_forward_consumer_t *consumer,
                      MlirValue step) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  if (!kernel->plan->is_ping_pong)
    return;
  MlirValue next = uattn_binary(b, "arith.addi", step, kernel->one);
  MlirValue has_next_step =
      uattn_compare_i(b, UATTN_CMPI_NE, next, kernel->keys.steps);
  MlirValue when =
      uattn_binary(b, "arith.ori", consumer->is_not_last, has_next_step);
  uattn_emit_named_barrier_arrive(b, consumer->next_turn, TURN_THREADS, when);
}

static void emit_turns(const uattn_builder_t *b,
                       uattn_forward_consumer_t *consumer) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirValue index = kernel->index_in_role;
  MlirValue first_turn = uattn_constant_i32(b, kernel->layout.turn_barrier_id);
  MlirValue last_index =
      uattn_constant_i32(b, kernel->plan->consumer_warpgroups - 1);
  consumer->is_not_last = uattn_compare_i(b, UATTN_CMPI_NE, index, last_index);
  consumer->turn = uattn_binary(b, "arith.addi", first_turn, index);
  consumer->next_turn = uattn_select(
      b, consumer->is_not_last,
      uattn_binary(b, "arith.addi", consumer->turn, kernel->one), first_turn);
}

static uattn_softmax_t emit_softmax_inputs(const uattn_builder_t *b,
                                           const uattn_forward_kernel_t *kernel,
                                           MlirValue first_row) {
  const MlirValue *params = kernel->params;
  uattn_softmax_inputs_t inputs = {
      .pre_scale = params[UATTN_FORWARD_PARAM_PRE_SCALE],
      .pre_bias = params[UATTN_FORWARD_PARAM_PRE_BIAS],
      .post_scale = params[UATTN_FORWARD_PARAM_POST_SCALE],
      .lse_shift = params[UATTN_FORWARD_PARAM_LSE_SHIFT],
  };
  if (kernel->plan->has_temp) {
    MlirValue q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS];
    MlirValue offset = uattn_forward_emit_batch_offset(b, kernel, q_tokens);
    inputs.temp = uattn_emit_row_load(
        b, params[UATTN_FORWARD_PARAM_TEMP], offset, first_row, q_tokens,
        uattn_type_vector1(uattn_type_f32(b), UATTN_WARPGROUP_ROWS));
  }
  return uattn_softmax_create(b, kernel->plan, &inputs);
}

/* The named barrier of the executing consumer alone. */
static MlirValue store_barrier(const uattn_builder_t *b,
                               const uattn_forward_kernel_t *kernel) {
  return uattn_binary(b, "arith.addi", kernel->index_in_role,
                      uattn_constant_i32(b, kernel->layout.store_barrier_id));
}

static uattn_forward_consumer_t
emit_consumer_start(const uattn_builder_t *b,
                    const uattn_forward_kernel_t *kernel) {
  const uattn_forward_plan_t *plan = kernel->plan;
  uattn_forward_consumer_t consumer = {.kernel = kernel};
  MlirValue row_in_cta =
      uattn_binary(b, "arith.muli", kernel->index_in_role,
                   uattn_constant_i32(b, UATTN_WARPGROUP_ROWS));
  consumer.first_row =
      uattn_binary(b, "arith.addi", kernel->cta_row, row_in_cta);
  consumer.out_type = uattn_type_vector2(uattn_type_f32(b),
                                         UATTN_WARPGROUP_ROWS, plan->head_dim);
  consumer.probabilities_type =
      uattn_type_vector2(uattn_emit_element_type(b, plan->dtype),
                         UATTN_WARPGROUP_ROWS, plan->kv_tile_rows);
  consumer.softmax = emit_softmax_inputs(b, kernel, consumer.first_row);
  uattn_forward_kernel_t reloaded = uattn_forward_reload_bounds(b, kernel);
  consumer.rows = uattn_forward_emit_rows(b, &reloaded, consumer.first_row);
  emit_turns(b, &consumer);
  consumer.q_tile = uattn_emit_smem_rows(
      b, uattn_emit_ring_acquire(b, kernel->q_ring, kernel->zero),
      kernel->index_in_role, UATTN_WARPGROUP_ROWS);
  if (consumer.softmax.negates_q.ptr)
    uattn_emit_smem_negate_rows(b, consumer.q_tile, consumer.softmax.negates_q,
                                store_barrier(b, kernel));
  return consumer;
}

/* The candidates' own keys take the ring's first steps. */
static MlirValue ring_step(const uattn_builder_t *b,
                           const uattn_forward_kernel_t *kernel,
                           MlirValue step) {
  return kernel->plan->masks.has_ranker
             ? uattn_binary(b, "arith.addi", kernel->ring_offset, step)
             : step;
}

/* S = Q K^T of `step`, started. */
static MlirValue emit_qk(const uattn_builder_t *b,
                         const uattn_forward_consumer_t *consumer,
                         MlirValue step) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  uattn_wgmma_operands_t operands = {
      .a = consumer->q_tile,
      .b = uattn_emit_ring_acquire(b, kernel->k_ring,
                                   ring_step(b, kernel, step)),
      .result = consumer->softmax.tile_type,
      .transpose_b = true,
      .negate_a = kernel->plan->scale_sign == UATTN_SCALE_SIGN_NEGATIVE,
  };
  return uattn_emit_wgmma(b, &operands);
}

/* O + P V of `step`, started. */
static MlirValue emit_pv(const uattn_builder_t *b,
                         const uattn_forward_consumer_t *consumer,
                         MlirValue step, MlirValue probabilities,
                         MlirValue out) {
  uattn_wgmma_operands_t operands = {
      .a = probabilities,
      .b = uattn_emit_ring_acquire(b, consumer->kernel->v_ring,
                                   ring_step(b, consumer->kernel, step)),
      .accumulator = out,
      .result = consumer->out_type,
  };
  return uattn_emit_wgmma(b, &operands);
}

static MlirValue narrow(const uattn_builder_t *b,
                        const uattn_forward_consumer_t *consumer,
                        MlirValue probabilities) {
  return uattn_cast(b, "arith.truncf", probabilities,
                    consumer->probabilities_type);
}

/* Capped scores of `step`, -inf where a row must not see a key. */
static MlirValue emit_scores(const uattn_builder_t *b,
                             const uattn_forward_consumer_t *consumer,
                             MlirValue step, MlirValue products,
                             bool is_masked) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  const uattn_forward_rows_t *rows = &consumer->rows;
  const uattn_softmax_t *softmax = &consumer->softmax;
  MlirValue scores = uattn_softmax_cap(b, softmax, products);
  bool has_segments = kernel->plan->masks.has_segments;
  if (!is_masked && !has_segments)
    return scores;
  MlirValue first_key = uattn_forward_emit_first_key(b, kernel, step);
  if (is_masked)
    scores =
        uattn_emit_mask_apply(b, scores, first_key, rows->end, rows->begin);
  if (!has_segments)
    return scores;
  MlirType ids_type = uattn_type_vector2(
      uattn_type_i32(b), UATTN_WARPGROUP_ROWS, kernel->plan->kv_tile_rows);
  MlirValue kv_tokens = kernel->params[UATTN_FORWARD_PARAM_KV_TOKENS];
  MlirValue key_ids = uattn_emit_column_load(
      b, kernel->params[UATTN_FORWARD_PARAM_KV_SEGMENT_IDS],
      uattn_forward_emit_batch_offset(b, kernel, kv_tokens), first_key,
      kv_tokens, ids_type);
  MlirValue is_same =
      uattn_compare_i(b, UATTN_CMPI_EQ, key_ids,
                      uattn_emit_row_broadcast(b, rows->segment_ids, ids_type));
  return uattn_select(b, is_same, scores,
                      uattn_constant_splat(b, softmax->tile_type, -INFINITY));
}

/* Rows of V behind the history may be dead and hold NaN, which 0 would not
 * cancel: they are zeroed in the first tile, the only one that can have them.
 * One consumer writes; all wait for it. */
static void emit_clear_dead_values(const uattn_builder_t *b,
                                   const uattn_forward_consumer_t *consumer) {
  const MlirValue always = {NULL};
  const uattn_forward_kernel_t reloaded =
      uattn_forward_reload_bounds(b, consumer->kernel);
  const uattn_forward_kernel_t *kernel = &reloaded;
  uattn_builder_t some, mine;
  MlirValue first_key = uattn_forward_emit_first_key(b, kernel, kernel->zero);
  MlirValue dead_from = uattn_binary(
      b, "arith.maxsi", kernel->zero,
      uattn_binary(b, "arith.subi", kernel->history_upper, first_key));
  MlirValue has_dead =
      uattn_compare_i(b, UATTN_CMPI_SLT, dead_from,
                      uattn_constant_i32(b, kernel->plan->kv_tile_rows));
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  MlirValue tile =
      uattn_emit_ring_acquire(&some, kernel->v_ring, kernel->ring_offset);
  MlirRegion writer = uattn_region_create(&some, NULL, 0, &mine);
  uattn_emit_smem_clear_rows(&mine, tile, dead_from);
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

/* Softmax of the first tile, on top of the initial state where there is one. */
static MlirValue
emit_first_softmax(const uattn_builder_t *b,
                   const uattn_forward_consumer_t *consumer, MlirValue scores,
                   MlirValue io_carried[UATTN_FORWARD_CARRIED_COUNT]) {
  const uattn_softmax_t *softmax = &consumer->softmax;
  uattn_mask_kinds_t masks = consumer->kernel->plan->masks;
  uattn_softmax_state_t state = {io_carried[UATTN_FORWARD_MAX],
                                 io_carried[UATTN_FORWARD_SUMS]};
  uattn_softmax_growth_t growth;
  MlirValue p;
  if (!uattn_mask_may_be_empty(masks)) {
    p = uattn_softmax_first(b, softmax, scores, &state);
    io_carried[UATTN_FORWARD_OUT] =
        uattn_constant_splat(b, consumer->out_type, 0.0);
  } else {
    p = uattn_softmax_next(b, softmax, scores, true, &state, &growth);
    if (masks.has_ranker) /* else there is nothing in it yet */
      io_carried[UATTN_FORWARD_OUT] =
          uattn_softmax_rescale(b, &growth, io_carried[UATTN_FORWARD_OUT]);
  }
  io_carried[UATTN_FORWARD_MAX] = state.max;
  io_carried[UATTN_FORWARD_SUMS] = state.sums;
  return p;
}

static void emit_first_step(const uattn_builder_t *b,
                            const uattn_forward_consumer_t *consumer,
                            MlirValue io_carried[UATTN_FORWARD_CARRIED_COUNT]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirValue is_not_first =
      uattn_compare_i(b, UATTN_CMPI_SLT, kernel->zero, kernel->index_in_role);
  wait_turn(b, consumer, is_not_first);
  MlirValue products = emit_qk(b, consumer, kernel->zero);
  pass_turn(b, consumer, kernel->zero);
  uattn_emit_wgmma_wait(b, 0, &products, NULL);
  uattn_emit_ring_release(b, kernel->k_ring,
                          ring_step(b, kernel, kernel->zero));
  if (kernel->plan->masks.has_ranker)
    emit_clear_dead_values(b, consumer);
  MlirValue scores = emit_scores(b, consumer, kernel->zero, products, true);
  io_carried[UATTN_FORWARD_P] =
      narrow(b, consumer, emit_first_softmax(b, consumer, scores, io_carried));
}

/* A step after the first: the products of this step and of the last one's
 * probabilities are in flight together, and softmax runs beside the second. */
static void emit_step(const uattn_builder_t *b,
                      const uattn_forward_consumer_t *consumer, MlirValue step,
                      bool is_masked,
                      MlirValue io_carried[UATTN_FORWARD_CARRIED_COUNT]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirValue last_step = uattn_binary(b, "arith.subi", step, kernel->one);
  MlirValue always = {NULL};
  wait_turn(b, consumer, always);
  MlirValue products = emit_qk(b, consumer, step);
  MlirValue out = emit_pv(b, consumer, last_step, io_carried[UATTN_FORWARD_P],
                          io_carried[UATTN_FORWARD_OUT]);
  pass_turn(b, consumer, step);
  uattn_emit_wgmma_wait(b, 1, &products, NULL);
  uattn_emit_ring_release(b, kernel->k_ring, ring_step(b, kernel, step));

  uattn_softmax_state_t state = {io_carried[UATTN_FORWARD_MAX],
                                 io_carried[UATTN_FORWARD_SUMS]};
  uattn_softmax_growth_t growth;
  MlirValue p =
      uattn_softmax_next(b, &consumer->softmax,
                         emit_scores(b, consumer, step, products, is_masked),
                         is_masked, &state, &growth);

  uattn_emit_wgmma_wait(b, 0, &out, &p);
  uattn_emit_ring_release(b, kernel->v_ring, ring_step(b, kernel, last_step));
  io_carried[UATTN_FORWARD_MAX] = state.max;
  io_carried[UATTN_FORWARD_SUMS] = state.sums;
  io_carried[UATTN_FORWARD_OUT] = uattn_softmax_rescale(b, &growth, out);
  io_carried[UATTN_FORWARD_P] = narrow(b, consumer, p);
}

/* Steps [first, after). */
static void emit_loop(const uattn_builder_t *b,
                      const uattn_forward_consumer_t *consumer, MlirValue first,
                      MlirValue after, bool is_masked,
                      MlirValue io_carried[UATTN_FORWARD_CARRIED_COUNT]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirType types[1 + UATTN_FORWARD_CARRIED_COUNT] = {uattn_type_i32(b)};
  MlirValue inner[UATTN_FORWARD_CARRIED_COUNT];
  uattn_builder_t body;
  for (int i = 0; i < UATTN_FORWARD_CARRIED_COUNT; ++i)
    types[1 + i] = mlirValueGetType(io_carried[i]);
  MlirRegion region =
      uattn_region_create(b, types, 1 + UATTN_FORWARD_CARRIED_COUNT, &body);
  for (int i = 0; i < UATTN_FORWARD_CARRIED_COUNT; ++i)
    inner[i] = mlirBlockGetArgument(body.block, 1 + i);
  emit_step(&body, consumer, mlirBlockGetArgument(body.block, 0), is_masked,
            inner);
  uattn_yield(&body, inner, UATTN_FORWARD_CARRIED_COUNT);
  MlirOperation loop =
      uattn_for_append(b, first, after, kernel->one, io_carried,
                       UATTN_FORWARD_CARRIED_COUNT, region);
  for (int i = 0; i < UATTN_FORWARD_CARRIED_COUNT; ++i)
    io_carried[i] = mlirOperationGetResult(loop, i);
}

/* All tiles, from `io_state` (max, sums, out) to the final one. */
static void emit_tiles(const uattn_builder_t *b,
                       const uattn_forward_consumer_t *consumer,
                       MlirValue io_state[UATTN_FORWARD_P]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  const uattn_forward_steps_t *keys = &kernel->keys;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  MlirValue carried[UATTN_FORWARD_CARRIED_COUNT];
  for (int i = 0; i < UATTN_FORWARD_P; ++i)
    carried[i] = io_state[i];
  emit_first_step(b, consumer, carried);
  MlirValue next = kernel->one;
  if (masks.is_causal || masks.has_segments) {
    emit_loop(b, consumer, next, keys->first_full, true, carried);
    next = uattn_binary(b, "arith.maxsi", next, keys->first_full);
  }
  MlirValue after_full = masks.has_window ? keys->after_full : keys->steps;
  emit_loop(b, consumer, next, after_full, false, carried);
  if (masks.has_window)
    emit_loop(b, consumer, uattn_binary(b, "arith.maxsi", next, after_full),
              keys->steps, true, carried);
  MlirValue last_step = uattn_binary(b, "arith.subi", keys->steps, kernel->one);
  MlirValue out = emit_pv(b, consumer, last_step, carried[UATTN_FORWARD_P],
                          carried[UATTN_FORWARD_OUT]);
  uattn_emit_wgmma_wait(b, 0, &out, NULL);
  uattn_emit_ring_release(b, kernel->v_ring, ring_step(b, kernel, last_step));
  io_state[UATTN_FORWARD_MAX] = carried[UATTN_FORWARD_MAX];
  io_state[UATTN_FORWARD_SUMS] = carried[UATTN_FORWARD_SUMS];
  io_state[UATTN_FORWARD_OUT] = out;
}

/* The same where there may be no tile at all. */
static void emit_tiles_if_any(const uattn_builder_t *b,
                              const uattn_forward_consumer_t *consumer,
                              MlirValue io_state[UATTN_FORWARD_P]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  MlirType types[UATTN_FORWARD_P];
  MlirValue inner[UATTN_FORWARD_P];
  for (int i = 0; i < UATTN_FORWARD_P; ++i) {
    types[i] = mlirValueGetType(io_state[i]);
    inner[i] = io_state[i];
  }
  uattn_builder_t some, none;
  MlirRegion then = uattn_region_create(b, NULL, 0, &some);
  emit_tiles(&some, consumer, inner);
  uattn_yield(&some, inner, UATTN_FORWARD_P);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &none);
  uattn_yield(&none, io_state, UATTN_FORWARD_P);
  MlirOperation made = uattn_if_else_append(
      b, uattn_compare_i(b, UATTN_CMPI_SLT, kernel->zero, kernel->keys.steps),
      types, UATTN_FORWARD_P, then, otherwise);
  for (int i = 0; i < UATTN_FORWARD_P; ++i)
    io_state[i] = mlirOperationGetResult(made, i);
}

/* lse [batch, head, q_tokens] */
static void emit_lse(const uattn_builder_t *b,
                     const uattn_forward_consumer_t *consumer, MlirValue lse) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  MlirValue q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS];
  MlirType i64 = uattn_type_i64(b);
  MlirValue heads_before =
      uattn_binary(b, "arith.addi",
                   uattn_binary(b, "arith.muli", kernel->batch,
                                params[UATTN_FORWARD_PARAM_Q_HEADS]),
                   kernel->head);
  MlirValue offset = uattn_binary(
      b, "arith.muli", uattn_cast(b, "arith.extui", heads_before, i64),
      uattn_cast(b, "arith.extui", q_tokens, i64));
  uattn_emit_row_store(b, lse, params[UATTN_FORWARD_PARAM_LSE], offset,
                       consumer->first_row, q_tokens);
}

/* What the rows are and how they are scaled is computed anew here: cheaper than
 * registers that hold it through all tiles. */
static void emit_results(const uattn_builder_t *b,
                         const uattn_forward_consumer_t *consumer,
                         const MlirValue state[UATTN_FORWARD_P]) {
  const uattn_forward_kernel_t *kernel = consumer->kernel;
  uattn_softmax_state_t softmax_state = {state[UATTN_FORWARD_MAX],
                                         state[UATTN_FORWARD_SUMS]};
  uattn_forward_kernel_t reloaded = uattn_forward_reload_bounds(b, kernel);
  MlirValue is_live =
      uattn_forward_emit_rows(b, &reloaded, consumer->first_row).is_live;
  uattn_softmax_t softmax = emit_softmax_inputs(b, kernel, consumer->first_row);
  uattn_softmax_result_t result =
      uattn_softmax_finish(b, &softmax, &softmax_state, is_live,
                           uattn_mask_may_be_empty(kernel->plan->masks));
  if (kernel->plan->has_lse)
    emit_lse(b, consumer, result.lse);
  MlirValue out = uattn_binary(
      b, "arith.mulf", state[UATTN_FORWARD_OUT],
      uattn_softmax_spread(b, result.inverse_sum, consumer->out_type));
  if (result.is_empty.ptr) {
    MlirType flags = uattn_type_vector2(uattn_type_i1(b), UATTN_WARPGROUP_ROWS,
                                        uattn_type_dim(consumer->out_type, 1));
    out = uattn_select(b, uattn_emit_row_broadcast(b, result.is_empty, flags),
                       uattn_constant_splat(b, consumer->out_type, 0.0), out);
  }
  MlirType stored_type =
      uattn_type_vector2(uattn_emit_element_type(b, kernel->plan->dtype),
                         UATTN_WARPGROUP_ROWS, kernel->plan->head_dim);
  uattn_tile_place_t place = {kernel->head, consumer->first_row, kernel->batch};
  uattn_emit_tile_store(
      b, uattn_cast(b, "arith.truncf", out, stored_type), consumer->q_tile,
      kernel->params[UATTN_FORWARD_PARAM_OUT], place, store_barrier(b, kernel));
}

/* Everything from the first key to the last: max, sums, out. */
static void emit_attention(const uattn_builder_t *b,
                           const uattn_forward_consumer_t *consumer,
                           MlirValue out_state[UATTN_FORWARD_P]) {
  if (uattn_mask_may_be_empty(consumer->kernel->plan->masks)) {
    uattn_forward_emit_initial_state(b, consumer, out_state);
    emit_tiles_if_any(b, consumer, out_state);
  } else {
    emit_tiles(b, consumer, out_state);
  }
}

/* The same without a maximum where the rows' scales allow it. */
static void emit_attention_by_scale(const uattn_builder_t *b,
                                    const uattn_forward_consumer_t *consumer,
                                    MlirValue out_state[UATTN_FORWARD_P]) {
  const uattn_softmax_t *softmax = &consumer->softmax;
  uattn_forward_consumer_t running = *consumer;
  running.softmax.has_fixed_maximum = false;
  MlirValue is_small = uattn_compare_f(
      b, UATTN_CMPF_OLT, softmax->scale,
      uattn_constant_splat(b, softmax->rows_type, UATTN_FIXED_MAXIMUM_LIMIT));
  MlirValue all_small =
      uattn_emit_warpgroup_all(b, is_small, store_barrier(b, consumer->kernel));
  MlirType types[UATTN_FORWARD_P] = {softmax->rows_type, softmax->sums_type,
                                     consumer->out_type};
  MlirValue inner[UATTN_FORWARD_P] = {{NULL}, {NULL}, {NULL}};
  uattn_builder_t small, large;
  MlirRegion then = uattn_region_create(b, NULL, 0, &small);
  emit_attention(&small, consumer, inner);
  uattn_yield(&small, inner, UATTN_FORWARD_P);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &large);
  emit_attention(&large, &running, inner);
  uattn_yield(&large, inner, UATTN_FORWARD_P);
  MlirOperation made = uattn_if_else_append(b, all_small, types,
                                            UATTN_FORWARD_P, then, otherwise);
  for (int i = 0; i < UATTN_FORWARD_P; ++i)
    out_state[i] = mlirOperationGetResult(made, i);
}

MlirRegion uattn_forward_emit_consumer(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel) {
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  uattn_forward_consumer_t consumer = emit_consumer_start(&role, kernel);
  MlirValue state[UATTN_FORWARD_P] = {{NULL}, {NULL}, {NULL}};
  if (kernel->plan->has_fixed_maximum && kernel->plan->has_temp)
    emit_attention_by_scale(&role, &consumer, state);
  else
    emit_attention(&role, &consumer, state);
  emit_results(&role, &consumer, state);
  uattn_yield(&role, NULL, 0);
  return region;
}
