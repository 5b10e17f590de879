/* A consumer: 64 rows of the query tile against all tiles of keys.
 * Layer: passes. Must not know: how tiles come to shared memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm and its barriers: ttgir_kernel.c. */
#include "passes/ttgir.h"

/* What the steps need and do not change. */
typedef struct {
  int32_t index;
  uattn_ttgir_place_t place;
  uattn_ttgir_keys_t keys;
  uattn_ttgir_rows_t rows;
  MlirValue first_row;
  MlirValue q;    /* tile */
  MlirValue temp; /* rows; null without */
  uattn_ttgir_scale_t scale;
} consumer_t;

/* What a step hands to the next; `softmax.max` is last, as it may be null. */
typedef struct {
  MlirValue out;
  MlirValue p;
  uattn_ttgir_softmax_t softmax;
} state_t;
enum { MAX_CARRIED = 4 };

static MlirValue constant(const uattn_ttgir_role_t *role, int32_t value) {
  return uattn_constant_i32(&role->b, value);
}

static int pack_state(const state_t *state, MlirValue out_values[MAX_CARRIED]) {
  out_values[0] = state->out;
  out_values[1] = state->p;
  out_values[2] = state->softmax.sum;
  out_values[3] = state->softmax.max;
  return state->softmax.max.ptr ? 4 : 3;
}

static state_t unpack_state(const MlirValue *values, int count) {
  state_t state = {values[0], values[1], {{NULL}, values[2]}};
  if (count > 3)
    state.softmax.max = values[3];
  return state;
}

/* ---- Rows -----------------------------------------------------------------
 */

static MlirValue is_row(const uattn_ttgir_role_t *role, MlirValue indices) {
  return uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, indices,
                               role->values[UATTN_TTGIR_Q_TOKENS]);
}

static MlirValue row_indices(const uattn_ttgir_role_t *role,
                             MlirValue first_row) {
  return uattn_ttgir_range(
      role, uattn_ttgir_rows_type(role->kernel, uattn_type_i32(&role->b)),
      first_row);
}

static MlirValue load_temp(const uattn_ttgir_role_t *role,
                           const consumer_t *consumer) {
  const uattn_builder_t *b = &role->b;
  MlirValue none = {NULL};
  if (!role->kernel->plan->has_temp)
    return none;
  uattn_dtype_t dtype = role->kernel->plan->temp_dtype;
  MlirType f32 = uattn_type_f32(b);
  MlirType element = dtype == UATTN_DTYPE_F32   ? f32
                     : dtype == UATTN_DTYPE_F16 ? mlirF16TypeGet(b->context)
                                                : mlirBF16TypeGet(b->context);
  MlirValue indices = row_indices(role, consumer->first_row);
  MlirValue pointer = uattn_ttgir_advance(
      role, role->values[UATTN_TTGIR_TEMP],
      uattn_ttgir_batch_offset(role, &consumer->place,
                               role->values[UATTN_TTGIR_Q_TOKENS]));
  MlirValue temp =
      uattn_ttgir_load(role, pointer, element, indices, is_row(role, indices));
  return dtype == UATTN_DTYPE_F32
             ? temp
             : uattn_cast(b, "arith.extf", temp,
                          uattn_ttgir_rows_type(role->kernel, f32));
}

static consumer_t create(const uattn_ttgir_role_t *role, int32_t index) {
  consumer_t consumer = {.index = index, .place = uattn_ttgir_place(role)};
  consumer.keys = uattn_ttgir_keys(role, &consumer.place);
  consumer.first_row =
      uattn_ttgir_binary(role, "arith.addi", consumer.place.first_row,
                         constant(role, index * UATTN_WARPGROUP_ROWS));
  consumer.rows = uattn_ttgir_rows(role, &consumer.place, consumer.first_row);
  consumer.q = uattn_ttgir_tile_at(role, UATTN_TTGIR_Q_TILES,
                                   constant(role, index), UATTN_WARPGROUP_ROWS);
  consumer.temp = load_temp(role, &consumer);
  consumer.scale = uattn_ttgir_scale(role, consumer.temp);
  return consumer;
}

/* ---- Rings ----------------------------------------------------------------
 */

/* Where a step's tile lies. */
typedef struct {
  MlirValue stage;
  MlirValue parity;
} slot_t;

static slot_t slot_of(const uattn_ttgir_role_t *role, MlirValue step) {
  MlirValue stages = constant(role, role->kernel->plan->stage_count);
  return (slot_t){
      .stage = uattn_ttgir_binary(role, "arith.remsi", step, stages),
      .parity = uattn_ttgir_binary(
          role, "arith.andi",
          uattn_ttgir_binary(role, "arith.divsi", step, stages),
          constant(role, 1)),
  };
}

/* The tile, once it is there. */
static MlirValue take(const uattn_ttgir_role_t *role, uattn_ttgir_value_t full,
                      uattn_ttgir_value_t tiles, const slot_t *slot) {
  uattn_ttgir_wait(role, uattn_ttgir_barrier_at(role, full, slot->stage),
                   slot->parity);
  return uattn_ttgir_tile_at(role, tiles, slot->stage,
                             role->kernel->kv_tile_rows);
}

static void release(const uattn_ttgir_role_t *role, uattn_ttgir_value_t empty,
                    const slot_t *slot) {
  uattn_ttgir_arrive(role, uattn_ttgir_barrier_at(role, empty, slot->stage));
}

/* ---- Turns ----------------------------------------------------------------
 * Consumers issue a step's products one after the other, so that the softmax of
 * one runs beside the products of the next. */

static MlirValue turn_of(const uattn_ttgir_role_t *role, int32_t index) {
  return uattn_ttgir_barrier_at(role, UATTN_TTGIR_TURN, constant(role, index));
}

/* The first consumer waits for the last one's step before. */
static void wait_turn(const uattn_ttgir_role_t *role,
                      const consumer_t *consumer, MlirValue step) {
  if (!role->values[UATTN_TTGIR_TURN].ptr)
    return;
  MlirValue parity =
      uattn_ttgir_binary(role, "arith.andi", step, constant(role, 1));
  if (consumer->index == 0)
    parity = uattn_ttgir_binary(role, "arith.xori", parity, constant(role, 1));
  uattn_ttgir_wait(role, turn_of(role, consumer->index), parity);
}

static void pass_turn(const uattn_ttgir_role_t *role,
                      const consumer_t *consumer) {
  int32_t count = role->kernel->plan->consumer_warpgroups;
  if (role->values[UATTN_TTGIR_TURN].ptr)
    uattn_ttgir_arrive(role, turn_of(role, (consumer->index + 1) % count));
}

/* ---- Steps ----------------------------------------------------------------
 */

/* Q K(step), under way. */
static MlirValue issue_scores(const uattn_ttgir_role_t *role,
                              const consumer_t *consumer, const slot_t *slot) {
  MlirValue none = {NULL};
  MlirValue k = take(role, UATTN_TTGIR_K_FULL, UATTN_TTGIR_K_RING, slot);
  return uattn_ttgir_dot(
      role, consumer->q,
      uattn_ttgir_view(role, k, UATTN_TTGIR_TILE_TRANSPOSED,
                       role->kernel->kv_tile_rows),
      none, uattn_ttgir_scores_type(role->kernel, uattn_type_f32(&role->b)));
}

/* out + P V(step), under way. */
static MlirValue issue_out(const uattn_ttgir_role_t *role, const state_t *state,
                           const slot_t *slot) {
  MlirValue v = take(role, UATTN_TTGIR_V_FULL, UATTN_TTGIR_V_RING, slot);
  return uattn_ttgir_dot(role, state->p, v, state->out,
                         mlirValueGetType(state->out));
}

static MlirValue softmax(const uattn_ttgir_role_t *role,
                         const consumer_t *consumer, MlirValue step,
                         MlirValue products, state_t *io_state) {
  MlirValue alpha;
  MlirValue capped = uattn_ttgir_capped(role, products, &consumer->scale);
  capped = uattn_ttgir_mask(role, &consumer->rows,
                            uattn_ttgir_first_key(role, &consumer->keys, step),
                            capped);
  io_state->p = uattn_ttgir_softmax_step(role, capped, &consumer->scale,
                                         &io_state->softmax, &alpha);
  return alpha;
}

static state_t first_step(const uattn_ttgir_role_t *role,
                          const consumer_t *consumer) {
  MlirValue step = constant(role, 0);
  slot_t slot = slot_of(role, step);
  uattn_ttgir_wait(role,
                   uattn_ttgir_barrier_at(role, UATTN_TTGIR_Q_FULL,
                                          constant(role, consumer->index)),
                   step);
  wait_turn(role, consumer, step);
  MlirValue products = issue_scores(role, consumer, &slot);
  pass_turn(role, consumer);
  uattn_ttgir_dot_wait(role, 0, &products, 1);
  release(role, UATTN_TTGIR_K_EMPTY, &slot);
  state_t state = {
      .out = uattn_constant_splat(
          &role->b,
          uattn_ttgir_out_type(role->kernel, uattn_type_f32(&role->b)), 0.0),
      .softmax = uattn_ttgir_softmax_create(role),
  };
  softmax(role, consumer, step, products, &state);
  return state;
}

static void next_step(const uattn_ttgir_role_t *role,
                      const consumer_t *consumer, MlirValue step,
                      state_t *state) {
  MlirValue last =
      uattn_ttgir_binary(role, "arith.subi", step, constant(role, 1));
  slot_t k_slot = slot_of(role, step), v_slot = slot_of(role, last);
  wait_turn(role, consumer, step);
  MlirValue under_way[2] = {issue_scores(role, consumer, &k_slot)};
  under_way[1] = issue_out(role, state, &v_slot);
  pass_turn(role, consumer);
  uattn_ttgir_dot_wait(role, 1, under_way, 2);
  release(role, UATTN_TTGIR_K_EMPTY, &k_slot);
  MlirValue alpha = softmax(role, consumer, step, under_way[0], state);
  uattn_ttgir_dot_wait(role, 0, &under_way[1], 1);
  release(role, UATTN_TTGIR_V_EMPTY, &v_slot);
  state->out = alpha.ptr
                   ? uattn_ttgir_binary(role, "arith.mulf", under_way[1], alpha)
                   : under_way[1];
}

static state_t walk_keys(const uattn_ttgir_role_t *role,
                         const consumer_t *consumer, const state_t *first) {
  MlirValue carried[MAX_CARRIED];
  MlirType types[MAX_CARRIED + 1] = {uattn_type_i32(&role->b)};
  int count = pack_state(first, carried);
  for (int i = 0; i < count; ++i)
    types[i + 1] = mlirValueGetType(carried[i]);
  uattn_ttgir_role_t body = *role;
  MlirRegion region = uattn_region_create(&role->b, types, count + 1, &body.b);
  MlirValue inner[MAX_CARRIED];
  for (int i = 0; i < count; ++i)
    inner[i] = mlirBlockGetArgument(body.b.block, i + 1);
  state_t state = unpack_state(inner, count);
  next_step(&body, consumer, mlirBlockGetArgument(body.b.block, 0), &state);
  uattn_yield(&body.b, inner, pack_state(&state, inner));
  MlirOperation loop =
      uattn_for_append(&role->b, constant(role, 1), consumer->keys.steps,
                       constant(role, 1), carried, count, region);
  for (int i = 0; i < count; ++i)
    inner[i] = mlirOperationGetResult(loop, i);
  return unpack_state(inner, count);
}

/* ---- Results --------------------------------------------------------------
 */

static void store_lse(const uattn_ttgir_role_t *role,
                      const consumer_t *consumer, const state_t *state) {
  const uattn_builder_t *b = &role->b;
  MlirType i64 = uattn_type_i64(b);
  MlirValue q_tokens = role->values[UATTN_TTGIR_Q_TOKENS];
  MlirValue heads_before = uattn_ttgir_binary(
      role, "arith.addi",
      uattn_ttgir_batch_offset(role, &consumer->place,
                               role->values[UATTN_TTGIR_Q_HEADS]),
      uattn_cast(b, "arith.extsi", consumer->place.head, i64));
  MlirValue offset =
      uattn_ttgir_binary(role, "arith.muli", heads_before,
                         uattn_cast(b, "arith.extsi", q_tokens, i64));
  MlirValue indices = row_indices(role, consumer->first_row);
  uattn_ttgir_store(
      role, uattn_ttgir_advance(role, role->values[UATTN_TTGIR_LSE], offset),
      indices,
      uattn_ttgir_lse(role, &state->softmax, &consumer->scale, consumer->temp),
      is_row(role, indices));
}

/* Through the tile that Q came in; TMA leaves out rows behind q_tokens. */
static void store_out(const uattn_ttgir_role_t *role,
                      const consumer_t *consumer, const state_t *state) {
  const uattn_ttgir_kernel_t *kernel = role->kernel;
  MlirValue scaled =
      uattn_ttgir_binary(role, "arith.mulf", state->out,
                         uattn_ttgir_inverse_sum(role, &state->softmax));
  uattn_ttgir_local_store(
      role,
      uattn_cast(&role->b, "arith.truncf", scaled,
                 uattn_ttgir_out_type(kernel, kernel->element)),
      consumer->q);
  uattn_ttgir_fence(role);
  MlirValue at[4] = {consumer->place.batch, consumer->place.head,
                     consumer->first_row, constant(role, 0)};
  uattn_ttgir_tma_store(role, UATTN_TTGIR_OUT, at, consumer->q,
                        UATTN_WARPGROUP_ROWS);
}

void uattn_ttgir_emit_consumer(uattn_ttgir_role_t *role, int32_t index) {
  consumer_t consumer = create(role, index);
  state_t first = first_step(role, &consumer);
  state_t state = walk_keys(role, &consumer, &first);
  slot_t slot =
      slot_of(role, uattn_ttgir_binary(role, "arith.subi", consumer.keys.steps,
                                       constant(role, 1)));
  state.out = issue_out(role, &state, &slot);
  uattn_ttgir_dot_wait(role, 0, &state.out, 1);
  if (role->values[UATTN_TTGIR_LSE].ptr)
    store_lse(role, &consumer, &state);
  store_out(role, &consumer, &state);
}
