/* Online softmax in base 2 over the score tiles of one warpgroup.
 * Layer: emit. Must not know: where scores come from, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/softmax.h"

#include <math.h>

#include "emit/pipeline_builder.h"

/* Columns that stay apart while sums are gathered: one accumulator fragment. */
enum { SUM_COLUMNS = 8 };

/* A scale of zero would turn a masked score into -inf * 0. This one leaves
 * every representable score at zero and keeps -inf. */
static const double tiny_scale = 0x1p-100;

MlirValue uattn_softmax_spread(const uattn_builder_t *b, MlirValue value,
                               MlirType type) {
  MlirType from = mlirValueGetType(value);
  if (mlirTypeEqual(from, type))
    return value;
  return mlirTypeIsAVector(from) ? uattn_emit_row_broadcast(b, value, type)
                                 : uattn_broadcast(b, value, type);
}

/* value * tile, where value is a scalar or rows. */
static MlirValue multiply(const uattn_builder_t *b, MlirValue tile,
                          MlirValue value) {
  return uattn_binary(b, "arith.mulf", tile,
                      uattn_softmax_spread(b, value, mlirValueGetType(tile)));
}

/* p may grow to 2^8 before the maximum it is relative to is raised: far from
 * the ends of f32, bf16 and f16. */
static const double growth_limit = 8.0;

static void apply_temp(const uattn_builder_t *b,
                       const uattn_softmax_inputs_t *inputs,
                       uattn_softmax_t *softmax) {
  MlirType rows = softmax->rows_type;
  /* post_scale is positive for every cap; without one it has sm_scale's sign,
   * which joins temp's. */
  MlirValue row_scale = multiply(b, inputs->temp, inputs->post_scale);
  MlirValue is_negative = uattn_compare_f(b, UATTN_CMPF_OLT, row_scale,
                                          uattn_constant_splat(b, rows, 0.0));
  softmax->scale =
      uattn_binary(b, "arith.maximumf", uattn_unary(b, "math.absf", row_scale),
                   uattn_constant_splat(b, rows, tiny_scale));
  if (!softmax->pre.ptr) {
    softmax->negates_q = is_negative;
    return;
  }
  MlirValue sign =
      uattn_select(b, is_negative, uattn_constant_splat(b, rows, -1.0),
                   uattn_constant_splat(b, rows, 1.0));
  softmax->pre = multiply(b, sign, softmax->pre);
  if (softmax->bias.ptr)
    softmax->bias = multiply(b, sign, softmax->bias);
  if (!softmax->lse_offset.ptr)
    return;
  /* alsc in a row of negative temp computes scale (1 - y) for -scale y. */
  MlirValue natural = uattn_constant_splat(b, rows, M_LN2);
  MlirValue reflected = uattn_binary(b, "arith.minimumf", row_scale,
                                     uattn_constant_splat(b, rows, 0.0));
  softmax->lse_offset =
      uattn_ternary(b, "math.fma", reflected, natural,
                    multiply(b, inputs->temp, softmax->lse_offset));
}

uattn_softmax_t uattn_softmax_create(const uattn_builder_t *b,
                                     const uattn_forward_plan_t *plan,
                                     const uattn_softmax_inputs_t *inputs) {
  MlirType f32 = uattn_type_f32(b);
  uattn_softmax_t softmax = {
      .cap_method = plan->cap_method,
      .polynomial_period = plan->polynomial_period,
      .has_fixed_maximum = plan->has_fixed_maximum,
      .tile_type =
          uattn_type_vector2(f32, UATTN_WARPGROUP_ROWS, plan->kv_tile_rows),
      .rows_type = uattn_type_vector1(f32, UATTN_WARPGROUP_ROWS),
      .sums_type = uattn_type_vector2(f32, UATTN_WARPGROUP_ROWS, SUM_COLUMNS),
      .pre = inputs->pre_scale,
      .bias = inputs->pre_bias,
      .lse_offset = inputs->lse_shift,
  };
  if (inputs->temp.ptr) {
    apply_temp(b, inputs, &softmax);
  } else {
    MlirValue scale = inputs->post_scale;
    if (plan->scale_sign == UATTN_SCALE_SIGN_NEGATIVE)
      scale = uattn_unary(b, "arith.negf", scale);
    softmax.scale = uattn_binary(b, "arith.maximumf", scale,
                                 uattn_constant_f32(b, tiny_scale));
  }
  return softmax;
}

MlirValue uattn_softmax_cap(const uattn_builder_t *b,
                            const uattn_softmax_t *softmax,
                            MlirValue products) {
  MlirType type = mlirValueGetType(products);
  MlirValue scores = products;
  if (softmax->bias.ptr)
    scores = uattn_ternary(b, "math.fma", products,
                           uattn_softmax_spread(b, softmax->pre, type),
                           uattn_softmax_spread(b, softmax->bias, type));
  else if (softmax->pre.ptr)
    scores = multiply(b, products, softmax->pre);
  if (softmax->cap_method == UATTN_CAP_NONE)
    return scores;
  return uattn_emit_cap_apply(b, uattn_cap_method_name(softmax->cap_method),
                              scores);
}

static MlirValue row_maximum(const uattn_builder_t *b,
                             const uattn_softmax_t *softmax, MlirValue capped,
                             MlirValue at_least) {
  MlirValue folded =
      uattn_emit_fold_columns(b, "max", capped, softmax->sums_type);
  return uattn_reduce_columns(b, "maxnumf", folded, at_least);
}

/* The polynomial does not reach the 0 of a masked score. */
static MlirValue exponentials(const uattn_builder_t *b,
                              const uattn_softmax_t *softmax,
                              MlirValue exponents, bool is_masked) {
  if (softmax->polynomial_period > 0 && !is_masked)
    return uattn_emit_exp2_apply(b, exponents, softmax->polynomial_period);
  return uattn_unary_approximate(b, "math.exp2", exponents);
}

/* 2^(scale y - scale max) */
static MlirValue probabilities(const uattn_builder_t *b,
                               const uattn_softmax_t *softmax, MlirValue capped,
                               bool is_masked, MlirValue max) {
  MlirType type = softmax->tile_type;
  if (softmax->has_fixed_maximum)
    return exponentials(b, softmax, multiply(b, capped, softmax->scale),
                        is_masked);
  MlirValue shift =
      uattn_unary(b, "arith.negf", multiply(b, max, softmax->scale));
  MlirValue exponent = uattn_ternary(
      b, "math.fma", capped, uattn_softmax_spread(b, softmax->scale, type),
      uattn_softmax_spread(b, shift, type));
  return exponentials(b, softmax, exponent, is_masked);
}

MlirValue uattn_softmax_first(const uattn_builder_t *b,
                              const uattn_softmax_t *softmax, MlirValue capped,
                              uattn_softmax_state_t *out_state) {
  out_state->max =
      softmax->has_fixed_maximum
          ? uattn_constant_splat(b, softmax->rows_type, 0.0)
          : row_maximum(b, softmax, capped,
                        uattn_constant_splat(b, softmax->rows_type, -INFINITY));
  MlirValue p = probabilities(b, softmax, capped, true, out_state->max);
  out_state->sums = uattn_emit_fold_columns(b, "add", p, softmax->sums_type);
  return p;
}

MlirValue uattn_softmax_start(const uattn_builder_t *b,
                              const uattn_softmax_t *softmax, MlirValue capped,
                              MlirValue sees, MlirValue *io_max) {
  MlirType rows = softmax->rows_type;
  MlirValue p = uattn_constant_splat(b, rows, 1.0);
  if (softmax->has_fixed_maximum)
    p = uattn_unary_approximate(b, "math.exp2",
                                multiply(b, capped, softmax->scale));
  else
    *io_max = uattn_select(b, sees, capped, *io_max);
  return uattn_select(b, sees, p, uattn_constant_splat(b, rows, 0.0));
}

/* Raises the maximum in all rows of a warp in which one row needs it. */
static MlirValue raise_maximum(const uattn_builder_t *b,
                               const uattn_softmax_t *softmax,
                               MlirValue old_max, MlirValue new_max,
                               uattn_softmax_growth_t *out_growth) {
  MlirType rows = softmax->rows_type;
  MlirValue growth = multiply(
      b, uattn_binary(b, "arith.subf", new_max, old_max), softmax->scale);
  out_growth->is_needed = uattn_emit_warp_any(
      b, uattn_compare_f(b, UATTN_CMPF_OLT,
                         uattn_constant_splat(b, rows, growth_limit), growth));
  MlirValue max = uattn_select(b, out_growth->is_needed, new_max, old_max);
  MlirValue drop =
      multiply(b, uattn_binary(b, "arith.subf", old_max, max), softmax->scale);
  out_growth->rescale = uattn_unary_approximate(b, "math.exp2", drop);
  return max;
}

MlirValue uattn_softmax_next(const uattn_builder_t *b,
                             const uattn_softmax_t *softmax, MlirValue capped,
                             bool is_masked, uattn_softmax_state_t *io_state,
                             uattn_softmax_growth_t *out_growth) {
  if (softmax->has_fixed_maximum) {
    MlirValue bounded =
        probabilities(b, softmax, capped, is_masked, io_state->max);
    io_state->sums = uattn_binary(
        b, "arith.addf", io_state->sums,
        uattn_emit_fold_columns(b, "add", bounded, softmax->sums_type));
    out_growth->is_needed.ptr = NULL;
    return bounded;
  }
  MlirValue new_max = row_maximum(b, softmax, capped, io_state->max);
  MlirValue max = raise_maximum(b, softmax, io_state->max, new_max, out_growth);
  MlirValue p = probabilities(b, softmax, capped, is_masked, max);
  io_state->max = max;
  io_state->sums = uattn_ternary(
      b, "math.fma", io_state->sums,
      uattn_softmax_spread(b, out_growth->rescale, softmax->sums_type),
      uattn_emit_fold_columns(b, "add", p, softmax->sums_type));
  return p;
}

MlirValue uattn_softmax_rescale(const uattn_builder_t *b,
                                const uattn_softmax_growth_t *growth,
                                MlirValue tile) {
  MlirType type = mlirValueGetType(tile);
  if (!growth->is_needed.ptr) /* the maximum is fixed */
    return tile;
  uattn_builder_t needed, not_needed;
  MlirRegion then = uattn_region_create(b, NULL, 0, &needed);
  MlirValue scaled = multiply(&needed, tile, growth->rescale);
  uattn_yield(&needed, &scaled, 1);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &not_needed);
  uattn_yield(&not_needed, &tile, 1);
  return mlirOperationGetResult(
      uattn_if_else_append(b, growth->is_needed, &type, 1, then, otherwise), 0);
}

static MlirValue log_sum_exp(const uattn_builder_t *b,
                             const uattn_softmax_t *softmax, MlirValue max,
                             MlirValue sum) {
  MlirType rows = softmax->rows_type;
  MlirValue base2 = uattn_ternary(b, "math.fma", max,
                                  uattn_softmax_spread(b, softmax->scale, rows),
                                  uattn_unary_approximate(b, "math.log2", sum));
  MlirValue natural = uattn_constant_splat(b, rows, M_LN2);
  return softmax->lse_offset.ptr
             ? uattn_ternary(b, "math.fma", base2, natural,
                             uattn_softmax_spread(b, softmax->lse_offset, rows))
             : uattn_binary(b, "arith.mulf", base2, natural);
}

uattn_softmax_result_t uattn_softmax_finish(const uattn_builder_t *b,
                                            const uattn_softmax_t *softmax,
                                            const uattn_softmax_state_t *state,
                                            MlirValue is_live,
                                            bool may_be_empty) {
  MlirType rows = softmax->rows_type;
  MlirValue zero = uattn_constant_splat(b, rows, 0.0);
  MlirValue sum = uattn_reduce_columns(b, "add", state->sums, zero);
  if (is_live.ptr)
    sum = uattn_select(b, is_live, sum, zero);
  uattn_softmax_result_t result = {
      .inverse_sum =
          uattn_divide_approximate(b, uattn_constant_splat(b, rows, 1.0), sum),
      .lse = log_sum_exp(b, softmax, state->max, sum),
  };
  if (!may_be_empty)
    return result;
  result.is_empty = uattn_compare_f(b, UATTN_CMPF_OEQ, sum, zero);
  result.inverse_sum =
      uattn_select(b, result.is_empty, zero, result.inverse_sum);
  result.lse = uattn_select(
      b, result.is_empty, uattn_constant_splat(b, rows, -INFINITY), result.lse);
  return result;
}
