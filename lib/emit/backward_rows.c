/* What every row of q brings to the backward products.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "emit/kernel_backward.h"
#include "emit/softmax.h"

/* Of rows of lse, of the warpgroup's rows. */
typedef struct {
  const uattn_backward_kernel_t *kernel;
  MlirType rows_type;
  MlirValue first_row;
  MlirValue offset; /* in [batch, q_heads, q_tokens] */
  MlirValue q_tokens;
} rows_t;

static MlirValue load(const uattn_builder_t *b, const rows_t *rows,
                      uattn_backward_param_t param, MlirValue offset) {
  return uattn_emit_row_load(b, rows->kernel->params[param], offset,
                             rows->first_row, rows->q_tokens, rows->rows_type);
}

static void store(const uattn_builder_t *b, const rows_t *rows,
                  uattn_backward_param_t param, MlirValue value) {
  uattn_emit_row_store(b, value, rows->kernel->params[param], rows->offset,
                       rows->first_row, rows->q_tokens);
}

static MlirValue splat(const uattn_builder_t *b, const rows_t *rows,
                       double value) {
  return uattn_constant_splat(b, rows->rows_type, value);
}

/* lse less what the cap's constant adds to all scores of a row:
 * uattn_softmax_constants_t. */
static MlirValue shifted_lse(const uattn_builder_t *b, const rows_t *rows,
                             MlirValue lse) {
  const uattn_backward_kernel_t *kernel = rows->kernel;
  MlirValue shift = kernel->params[UATTN_BACKWARD_PARAM_LSE_SHIFT];
  if (!shift.ptr)
    return lse;
  shift = uattn_softmax_spread(b, shift, rows->rows_type);
  if (kernel->plan->has_temp) {
    MlirType i64 = uattn_type_i64(b);
    MlirValue offset = uattn_binary(
        b, "arith.muli", uattn_cast(b, "arith.extui", kernel->batch, i64),
        uattn_cast(b, "arith.extui", rows->q_tokens, i64));
    shift = uattn_binary(b, "arith.mulf", shift,
                         load(b, rows, UATTN_BACKWARD_PARAM_TEMP, offset));
  }
  return uattn_binary(b, "arith.subf", lse, shift);
}

/* z_loss_weight lse + dlse */
static MlirValue lse_gradient(const uattn_builder_t *b, const rows_t *rows,
                              MlirValue lse) {
  const uattn_backward_kernel_t *kernel = rows->kernel;
  MlirValue weight = uattn_softmax_spread(
      b, kernel->params[UATTN_BACKWARD_PARAM_Z_LOSS_WEIGHT], rows->rows_type);
  MlirValue gradient = uattn_binary(b, "arith.mulf", weight, lse);
  if (!kernel->plan->has_dlse)
    return gradient;
  return uattn_binary(b, "arith.addf", gradient,
                      load(b, rows, UATTN_BACKWARD_PARAM_DLSE, rows->offset));
}

/* A row without a key has lse = -inf: p must become 0, and nothing else may
 * meet the infinity. */
static void emit_row_data(const uattn_builder_t *b, const rows_t *rows,
                          MlirValue delta) {
  MlirValue lse = load(b, rows, UATTN_BACKWARD_PARAM_LSE, rows->offset);
  MlirValue is_empty =
      uattn_compare_f(b, UATTN_CMPF_OEQ, lse, splat(b, rows, -INFINITY));
  MlirValue exponent = uattn_binary(b, "arith.mulf", shifted_lse(b, rows, lse),
                                    splat(b, rows, -M_LOG2E));
  MlirValue gradient =
      uattn_binary(b, "arith.subf", lse_gradient(b, rows, lse), delta);
  store(b, rows, UATTN_BACKWARD_PARAM_EXPONENT_SHIFT,
        uattn_select(b, is_empty, splat(b, rows, -INFINITY), exponent));
  store(b, rows, UATTN_BACKWARD_PARAM_GRADIENT_SHIFT,
        uattn_select(b, is_empty, splat(b, rows, 0.0), gradient));
}

MlirRegion uattn_backward_emit_rows(const uattn_builder_t *b,
                                    const uattn_backward_kernel_t *kernel) {
  uattn_builder_t role;
  MlirRegion region = uattn_region_create(b, NULL, 0, &role);
  MlirValue row_in_cta =
      uattn_binary(&role, "arith.muli", kernel->index_in_role,
                   uattn_constant_i32(&role, UATTN_WARPGROUP_ROWS));
  rows_t rows = {
      .kernel = kernel,
      .rows_type =
          uattn_type_vector1(uattn_type_f32(&role), UATTN_WARPGROUP_ROWS),
      .first_row =
          uattn_binary(&role, "arith.addi", kernel->first_row, row_in_cta),
      .offset = uattn_backward_emit_row_offset(&role, kernel, kernel->head),
      .q_tokens = kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS]};
  MlirValue out = uattn_emit_smem_rows(
      &role, uattn_emit_ring_acquire(&role, kernel->first_tile, kernel->zero),
      kernel->index_in_role, UATTN_WARPGROUP_ROWS);
  MlirValue dout = uattn_emit_smem_rows(
      &role, uattn_emit_ring_acquire(&role, kernel->second_tile, kernel->zero),
      kernel->index_in_role, UATTN_WARPGROUP_ROWS);
  emit_row_data(&role, &rows,
                uattn_emit_row_dot(&role, out, dout, rows.rows_type));
  uattn_yield(&role, NULL, 0);
  return region;
}
