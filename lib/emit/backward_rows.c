/* Kernels of rows of q alone: what each row brings to the backward products,
 * and dtemp from what they leave.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "emit/kernel_backward.h"
#include "emit/softmax.h"

static MlirType rows_type(const uattn_builder_t *b) {
  return uattn_type_vector1(uattn_type_f32(b), UATTN_WARPGROUP_ROWS);
}

static MlirValue splat(const uattn_builder_t *b, double value) {
  return uattn_constant_splat(b, rows_type(b), value);
}

MlirValue uattn_backward_load_rows(const uattn_builder_t *b,
                                   const uattn_backward_kernel_t *kernel,
                                   uattn_backward_param_t param,
                                   MlirValue first_row) {
  return uattn_emit_row_load(
      b, kernel->params[param],
      uattn_backward_emit_row_offset(b, kernel, kernel->head), first_row,
      kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS], rows_type(b));
}

void uattn_backward_store_rows(const uattn_builder_t *b,
                               const uattn_backward_kernel_t *kernel,
                               uattn_backward_param_t param,
                               MlirValue first_row, MlirValue rows) {
  uattn_emit_row_store(b, rows, kernel->params[param],
                       uattn_backward_emit_row_offset(b, kernel, kernel->head),
                       first_row,
                       kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS]);
}

MlirValue uattn_backward_load_of_batch(const uattn_builder_t *b,
                                       const uattn_backward_kernel_t *kernel,
                                       uattn_backward_param_t param,
                                       MlirValue first_row, MlirType rows) {
  return uattn_emit_row_load(
      b, kernel->params[param],
      uattn_backward_token_offset(b, kernel, UATTN_BACKWARD_PARAM_Q_TOKENS),
      first_row, kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS], rows);
}

/* ---- Row data ---------------------------------------------------------------
 */

/* lse less what the cap's constant adds to all scores of a row:
 * uattn_softmax_constants_t. */
static MlirValue shifted_lse(const uattn_builder_t *b,
                             const uattn_backward_kernel_t *kernel,
                             MlirValue first_row, MlirValue lse) {
  MlirValue shift = kernel->params[UATTN_BACKWARD_PARAM_LSE_SHIFT];
  if (!shift.ptr)
    return lse;
  shift = uattn_softmax_spread(b, shift, rows_type(b));
  if (kernel->plan->has_temp)
    shift = uattn_binary(b, "arith.mulf", shift,
                         uattn_backward_load_of_batch(b, kernel,
                                                      UATTN_BACKWARD_PARAM_TEMP,
                                                      first_row, rows_type(b)));
  return uattn_binary(b, "arith.subf", lse, shift);
}

MlirValue
uattn_backward_emit_lse_gradient(const uattn_builder_t *b,
                                 const uattn_backward_kernel_t *kernel,
                                 MlirValue first_row, MlirValue lse) {
  MlirValue weight = uattn_softmax_spread(
      b, kernel->params[UATTN_BACKWARD_PARAM_Z_LOSS_WEIGHT], rows_type(b));
  MlirValue gradient = uattn_binary(b, "arith.mulf", weight, lse);
  if (!kernel->plan->has_dlse)
    return gradient;
  return uattn_binary(b, "arith.addf", gradient,
                      uattn_backward_load_rows(
                          b, kernel, UATTN_BACKWARD_PARAM_DLSE, first_row));
}

static void store_records(const uattn_builder_t *b,
                          const uattn_backward_kernel_t *kernel,
                          MlirValue first_row, const MlirValue fields[4]) {
  MlirValue after = uattn_binary(b, "arith.addi", first_row,
                                 uattn_constant_i32(b, UATTN_WARPGROUP_ROWS));
  uattn_emit_record_store(
      b, fields, kernel->params[UATTN_BACKWARD_PARAM_RECORDS],
      uattn_backward_emit_record_offset(b, kernel, kernel->head, kernel->zero),
      first_row, after);
}

/* Temp of a row without a key may be NaN. Behind the last row of q there are
 * records of a whole tile of rows that see nothing: the last tiles of q start
 * at any row. */
static void emit_records(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel,
                         MlirValue first_row, MlirValue exponent,
                         MlirValue gradient, MlirValue is_empty) {
  MlirType i32_rows =
      uattn_type_vector1(uattn_type_i32(b), UATTN_WARPGROUP_ROWS);
  MlirValue q_tokens = kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS];
  MlirValue none = splat(b, -INFINITY), zero = splat(b, 0.0);
  MlirValue is_row = uattn_compare_i(b, UATTN_CMPI_SLT,
                                     uattn_backward_row_positions(b, first_row),
                                     uattn_broadcast(b, q_tokens, i32_rows));
  MlirValue fields[4] = {uattn_select(b, is_row, exponent, none),
                         uattn_select(b, is_row, gradient, zero), splat(b, 1.0),
                         zero};
  if (kernel->plan->has_temp)
    fields[2] = uattn_select(
        b, is_empty, zero,
        uattn_backward_load_of_batch(b, kernel, UATTN_BACKWARD_PARAM_TEMP,
                                     first_row, rows_type(b)));
  if (kernel->plan->masks.has_segments)
    fields[3] = uattn_cast(
        b, "arith.bitcast",
        uattn_backward_load_of_batch(
            b, kernel, UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS, first_row, i32_rows),
        rows_type(b));
  store_records(b, kernel, first_row, fields);
  MlirValue next = uattn_binary(b, "arith.addi", first_row,
                                uattn_constant_i32(b, UATTN_WARPGROUP_ROWS));
  uattn_builder_t last;
  MlirRegion then = uattn_region_create(b, NULL, 0, &last);
  const MlirValue nothing[4] = {none, zero, zero, zero};
  store_records(&last, kernel, next, nothing);
  uattn_yield(&last, NULL, 0);
  uattn_if_append(b, uattn_compare_i(b, UATTN_CMPI_SLE, q_tokens, next), then);
}

/* Rows of i1: those without a key, where lse is -inf; with the ranker mask
 * those in neither range too, of which nothing need be a number. */
static MlirValue see_nothing(const uattn_builder_t *b,
                             const uattn_backward_kernel_t *kernel,
                             MlirValue first_row, MlirValue lse) {
  MlirValue is_empty =
      uattn_compare_f(b, UATTN_CMPF_OEQ, lse, splat(b, -INFINITY));
  if (!kernel->plan->masks.has_ranker)
    return is_empty;
  MlirValue positions = uattn_backward_row_positions(
      b, uattn_binary(b, "arith.addi", first_row,
                      kernel->params[UATTN_BACKWARD_PARAM_Q_OFFSET]));
  MlirValue is_live = uattn_binary(
      b, "arith.ori",
      uattn_backward_is_within(b, positions, kernel->history_lower,
                               kernel->history_upper),
      uattn_backward_is_within(b, positions, kernel->candidate_lower,
                               kernel->candidate_upper));
  return uattn_binary(b, "arith.ori", is_empty, uattn_not(b, is_live));
}

/* A row without a key: p must become 0, and nothing else may meet the infinity.
 */
static void emit_row_data(const uattn_builder_t *b,
                          const uattn_backward_kernel_t *kernel,
                          MlirValue first_row, MlirValue delta) {
  MlirValue lse =
      uattn_backward_load_rows(b, kernel, UATTN_BACKWARD_PARAM_LSE, first_row);
  MlirValue is_empty = see_nothing(b, kernel, first_row, lse);
  MlirValue exponent =
      uattn_binary(b, "arith.mulf", shifted_lse(b, kernel, first_row, lse),
                   splat(b, -M_LOG2E));
  MlirValue gradient = uattn_binary(
      b, "arith.subf",
      uattn_backward_emit_lse_gradient(b, kernel, first_row, lse), delta);
  exponent = uattn_select(b, is_empty, splat(b, -INFINITY), exponent);
  gradient = uattn_select(b, is_empty, splat(b, 0.0), gradient);
  if (kernel->params[UATTN_BACKWARD_PARAM_EXPONENT_SHIFT].ptr) {
    uattn_backward_store_rows(b, kernel, UATTN_BACKWARD_PARAM_EXPONENT_SHIFT,
                              first_row, exponent);
    uattn_backward_store_rows(b, kernel, UATTN_BACKWARD_PARAM_GRADIENT_SHIFT,
                              first_row, gradient);
  }
  emit_records(b, kernel, first_row, exponent, gradient, is_empty);
  if (kernel->plan->fuses_dq)
    uattn_emit_sums_clear(
        b, uattn_backward_emit_sums(b, kernel, kernel->head, first_row),
        kernel->plan->head_dim);
}

/* <out, dout> of each row, by the tensor cores, which sum as they do for dP: a
 * row that sees one key has out = v, and dP + gradient shift is exactly 0. */
static MlirValue emit_delta(const uattn_builder_t *b, MlirValue out,
                            MlirValue dout) {
  MlirType tile = uattn_type_vector2(uattn_type_f32(b), UATTN_WARPGROUP_ROWS,
                                     UATTN_WARPGROUP_ROWS);
  MlirType i32_rows =
      uattn_type_vector1(uattn_type_i32(b), UATTN_WARPGROUP_ROWS);
  uattn_wgmma_operands_t operands = {
      .a = out, .b = dout, .result = tile, .transpose_b = true};
  MlirValue products = uattn_emit_wgmma(b, &operands);
  uattn_emit_wgmma_wait(b, 0, &products, NULL);
  MlirValue zeros = uattn_constant_splat(b, tile, 0.0);
  MlirValue row = uattn_emit_row_index(b, i32_rows);
  MlirValue after =
      uattn_binary(b, "arith.addi", row,
                   uattn_broadcast(b, uattn_constant_i32(b, 1), i32_rows));
  MlirValue is_own = uattn_compare_f(
      b, UATTN_CMPF_OEQ,
      uattn_emit_mask_apply(b, zeros, uattn_constant_i32(b, 0), after, row),
      zeros);
  return uattn_reduce_columns(
      b, "add", uattn_select(b, is_own, products, zeros), splat(b, 0.0));
}

MlirRegion uattn_backward_emit_rows(const uattn_builder_t *b,
                                    const uattn_backward_kernel_t *kernel) {
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  MlirValue out =
      uattn_backward_acquire_rows(&role, kernel, kernel->first_tile);
  MlirValue dout =
      uattn_backward_acquire_rows(&role, kernel, kernel->second_tile);
  emit_row_data(&role, kernel, uattn_backward_own_row(&role, kernel),
                emit_delta(&role, out, dout));
  uattn_yield(&role, NULL, 0);
  return region;
}

/* ---- dtemp ------------------------------------------------------------------
 */

/* The CTAs of head 0 sum over all heads, in order; the others have nothing to
 * do. */
MlirRegion uattn_backward_emit_dtemp(const uattn_builder_t *b,
                                     const uattn_backward_kernel_t *kernel) {
  uattn_builder_t role, first, body;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  MlirValue first_row = uattn_backward_own_row(&role, kernel);
  MlirRegion then = uattn_region_create(&role, NULL, 0, &first);
  MlirType types[] = {uattn_type_i32(b), rows_type(b)};
  MlirRegion loop = uattn_region_create(&first, types, 2, &body);
  uattn_backward_kernel_t at_head = *kernel;
  at_head.head = mlirBlockGetArgument(body.block, 0);
  MlirValue sum = uattn_binary(
      &body, "arith.addf", mlirBlockGetArgument(body.block, 1),
      uattn_backward_load_rows(&body, &at_head,
                               UATTN_BACKWARD_PARAM_DTEMP_SHARE, first_row));
  uattn_yield(&body, &sum, 1);
  MlirValue zero = splat(&first, 0.0);
  MlirOperation sums = uattn_for_append(
      &first, kernel->zero, kernel->params[UATTN_BACKWARD_PARAM_Q_HEADS],
      kernel->one, &zero, 1, loop);
  uattn_emit_row_store(&first, mlirOperationGetResult(sums, 0),
                       kernel->params[UATTN_BACKWARD_PARAM_DTEMP],
                       uattn_backward_token_offset(
                           &first, kernel, UATTN_BACKWARD_PARAM_Q_TOKENS),
                       first_row,
                       kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS]);
  uattn_yield(&first, NULL, 0);
  uattn_if_append(
      &role, uattn_compare_i(&role, UATTN_CMPI_EQ, kernel->head, kernel->zero),
      then);
  uattn_yield(&role, NULL, 0);
  return region;
}
