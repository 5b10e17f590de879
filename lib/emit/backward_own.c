/* The candidates' own keys in the backward products: row-wise.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row's own key costs scalar products of rows, and adds one row to each
 * gradient. Every consumer acquires and releases the tiles of all consumers,
 * since a ring's slots pass in order, and works on its own. NaN in other rows
 * stays out, since it is selected away. */
#include "dialect/dialect.h"
#include "emit/backward_consumer.h"
#include "emit/softmax.h"

/* Tiles of 64 rows that belong to the consumer's own. */
typedef struct {
  MlirValue first; /* rows of Q or K */
  MlirValue second;
} own_tiles_t;

/* The values of rows of q at `first_row` of head `q_head`. */
static uattn_backward_q_values_t
own_values(const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
           MlirValue q_head, MlirValue first_row) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  const MlirValue *params = kernel->params;
  MlirValue q_tokens = params[UATTN_BACKWARD_PARAM_Q_TOKENS];
  MlirType rows = consumer->rows_type;
  MlirValue offset = uattn_backward_emit_row_offset(b, kernel, q_head);
  uattn_backward_q_values_t values = {
      uattn_emit_row_load(b, params[UATTN_BACKWARD_PARAM_EXPONENT_SHIFT],
                          offset, first_row, q_tokens, rows),
      {NULL},
      {NULL}};
  if (uattn_backward_has_gradient(consumer))
    values.gradient_shift =
        uattn_emit_row_load(b, params[UATTN_BACKWARD_PARAM_GRADIENT_SHIFT],
                            offset, first_row, q_tokens, rows);
  if (kernel->plan->has_temp)
    values.temp = uattn_backward_load_of_batch(
        b, kernel, UATTN_BACKWARD_PARAM_TEMP, first_row, rows);
  return values;
}

/* Rows of i1: those whose own key counts. `first_other` is the row of the other
 * tensor that the first of them meets. */
static MlirValue sees_itself(const uattn_builder_t *b,
                             const uattn_backward_consumer_t *consumer,
                             MlirValue first_other) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  if (!kernel->plan->masks.has_segments)
    return consumer->is_candidate;
  bool is_dkv = uattn_backward_has_keys(consumer);
  uattn_backward_param_t ids = is_dkv ? UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS
                                      : UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS;
  uattn_backward_param_t tokens =
      is_dkv ? UATTN_BACKWARD_PARAM_Q_TOKENS : UATTN_BACKWARD_PARAM_KV_TOKENS;
  MlirValue others = uattn_emit_row_load(
      b, kernel->params[ids], uattn_backward_token_offset(b, kernel, tokens),
      first_other, kernel->params[tokens],
      mlirValueGetType(consumer->segment_ids));
  return uattn_binary(
      b, "arith.andi", consumer->is_candidate,
      uattn_compare_i(b, UATTN_CMPI_EQ, others, consumer->segment_ids));
}

/* gradient + weights * rows of `tile`, where `sees`. */
static MlirValue add_rows(const uattn_builder_t *b,
                          const uattn_backward_consumer_t *consumer,
                          MlirValue gradient, MlirValue weights, MlirValue tile,
                          MlirValue sees) {
  MlirType type = consumer->gradient_type;
  MlirType flags = uattn_type_vector2(uattn_type_i1(b), UATTN_WARPGROUP_ROWS,
                                      uattn_type_dim(type, 1));
  MlirValue sum = uattn_ternary(
      b, "math.fma",
      uattn_cast(b, "arith.extf", uattn_emit_smem_read(b, tile), type),
      uattn_emit_row_broadcast(b, weights, type), gradient);
  return uattn_select(b, uattn_emit_row_broadcast(b, sees, flags), sum,
                      gradient);
}

/* For dtemp: a row's value, spread evenly over the columns of its sum. */
static void add_to_sum(const uattn_builder_t *b,
                       const uattn_backward_consumer_t *consumer, int sum,
                       MlirValue rows, MlirValue sees, MlirValue *io_sums) {
  MlirType type = uattn_backward_sum_type(b, consumer, sum);
  MlirValue eighth =
      uattn_binary(b, "arith.mulf", rows,
                   uattn_constant_splat(b, consumer->rows_type, 0.125));
  eighth = uattn_select(b, sees, eighth,
                        uattn_constant_splat(b, consumer->rows_type, 0.0));
  io_sums[sum] = uattn_binary(b, "arith.addf", io_sums[sum],
                              uattn_emit_row_broadcast(b, eighth, type));
}

static void add_own(const uattn_builder_t *b,
                    const uattn_backward_consumer_t *consumer,
                    own_tiles_t tiles, MlirValue q_head, MlirValue first_q_row,
                    MlirValue first_other,
                    MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  uattn_backward_q_values_t values =
      own_values(b, consumer, q_head, first_q_row);
  MlirValue sees = sees_itself(b, consumer, first_other);
  MlirType rows = consumer->rows_type;
  MlirValue y = uattn_backward_emit_cap(
      b, consumer,
      uattn_emit_row_dot(b, consumer->first_tile, tiles.first, rows));
  MlirValue p = uattn_unary_approximate(
      b, "math.exp2", uattn_backward_emit_exponents(b, consumer, y, &values));
  if (uattn_backward_has_value_gradient(consumer)) {
    MlirValue *values_gradient =
        &io_sums[uattn_backward_value_gradient(consumer)];
    *values_gradient =
        add_rows(b, consumer, *values_gradient, p, tiles.second, sees);
  }
  if (!uattn_backward_has_gradient(consumer))
    return;
  MlirValue shifted = uattn_binary(
      b, "arith.addf",
      uattn_emit_row_dot(b, consumer->second_tile, tiles.second, rows),
      values.gradient_shift);
  MlirValue ds =
      uattn_binary(b, "arith.mulf", shifted,
                   uattn_backward_emit_factor(b, consumer, y, p, &values));
  io_sums[UATTN_BACKWARD_GRADIENT] = add_rows(
      b, consumer, io_sums[UATTN_BACKWARD_GRADIENT], ds, tiles.first, sees);
  if (!uattn_backward_has_dtemp(consumer))
    return;
  MlirValue dt = uattn_binary(b, "arith.mulf", p, shifted);
  add_to_sum(b, consumer, UATTN_BACKWARD_SUM_OF_DT, dt, sees, io_sums);
  add_to_sum(b, consumer, UATTN_BACKWARD_SUM_OF_DT_Y,
             uattn_binary(b, "arith.mulf", dt, y), sees, io_sums);
  add_to_sum(b, consumer, UATTN_BACKWARD_SUM_OF_P_Y,
             uattn_binary(b, "arith.mulf", p, y), sees, io_sums);
}

/* ---- Steps ------------------------------------------------------------------
 */

static own_tiles_t acquire(const uattn_builder_t *b,
                           const uattn_backward_kernel_t *kernel,
                           MlirValue ring_step) {
  return (own_tiles_t){
      uattn_emit_ring_acquire_rows(b, kernel->first_ring, ring_step,
                                   UATTN_WARPGROUP_ROWS),
      uattn_emit_ring_acquire_rows(b, kernel->second_ring, ring_step,
                                   UATTN_WARPGROUP_ROWS)};
}

static void release(const uattn_builder_t *b,
                    const uattn_backward_kernel_t *kernel,
                    MlirValue ring_step) {
  uattn_emit_ring_release(b, kernel->first_ring, ring_step);
  uattn_emit_ring_release(b, kernel->second_ring, ring_step);
}

/* The work of an own step `step`: dkv, one of a head of the group. */
static void emit_own_step(const uattn_builder_t *b,
                          const uattn_backward_consumer_t *consumer,
                          MlirValue step, own_tiles_t tiles,
                          MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  if (uattn_backward_has_keys(consumer)) {
    uattn_tile_place_t place = uattn_backward_emit_own_place(b, kernel, step);
    add_own(b, consumer, tiles, place.head, place.row, place.row, io_sums);
  } else {
    MlirValue first_key =
        uattn_binary(b, "arith.addi", consumer->first_row,
                     kernel->params[UATTN_BACKWARD_PARAM_Q_OFFSET]);
    add_own(b, consumer, tiles, kernel->head, consumer->first_row, first_key,
            io_sums);
  }
  uattn_emit_async_proxy_fence_op(b);
}

/* Step `step` of all own ones: the consumer's, or one to let pass. */
static void emit_step(const uattn_builder_t *b,
                      const uattn_backward_consumer_t *consumer, MlirValue step,
                      MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  bool is_dkv = uattn_backward_has_keys(consumer);
  int count = uattn_backward_sum_count(consumer);
  MlirValue ring_step =
      is_dkv ? uattn_binary(b, "arith.addi", kernel->steps, step) : step;
  MlirValue owner =
      uattn_binary(b, "arith.remui", step,
                   uattn_constant_i32(b, kernel->layout.consumer_warpgroups));
  MlirType types[UATTN_BACKWARD_MOST_SUMS];
  MlirValue inner[UATTN_BACKWARD_MOST_SUMS];
  for (int i = 0; i < count; ++i) {
    types[i] = mlirValueGetType(io_sums[i]);
    inner[i] = io_sums[i];
  }
  own_tiles_t tiles = acquire(b, kernel, ring_step);
  uattn_builder_t mine, others;
  MlirRegion then = uattn_region_create(b, NULL, 0, &mine);
  emit_own_step(&mine, consumer, step, tiles, inner);
  uattn_yield(&mine, inner, count);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &others);
  uattn_yield(&others, io_sums, count);
  MlirOperation made = uattn_if_else_append(
      b, uattn_compare_i(b, UATTN_CMPI_EQ, owner, kernel->index_in_role), types,
      count, then, otherwise);
  for (int i = 0; i < count; ++i)
    io_sums[i] = mlirOperationGetResult(made, i);
  release(b, kernel, ring_step);
}

void uattn_backward_emit_own(const uattn_builder_t *b,
                             const uattn_backward_consumer_t *consumer,
                             MlirValue io_sums[UATTN_BACKWARD_MOST_SUMS]) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  uattn_backward_emit_loop(b, consumer,
                           uattn_backward_has_keys(consumer)
                               ? kernel->own_steps
                               : kernel->forward.ring_offset,
                           emit_step, io_sums);
}
