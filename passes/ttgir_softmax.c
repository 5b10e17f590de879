/* Caps and online softmax in base 2 on tensors of Triton's.
 * Layer: passes. Must not know: where scores come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "passes/ttgir.h"

/* Below every score; a maximum that starts here stays finite in rows without
 * a key. */
static const double lowest = -0x1p100;

/* A scale of zero would turn a masked score into -inf * 0. This one leaves
 * every score at zero and keeps -inf. */
static const double tiny_scale = 0x1p-100;

static MlirValue constant(const uattn_ttgir_role_t *role, double value) {
  return uattn_constant_f32(&role->b, value);
}

static MlirValue rows_of(const uattn_ttgir_role_t *role, double value) {
  return uattn_constant_splat(
      &role->b, uattn_ttgir_rows_type(role->kernel, uattn_type_f32(&role->b)),
      value);
}

static MlirValue compare(const uattn_ttgir_role_t *role, int predicate,
                         MlirValue rows, double value) {
  uattn_op_t op = uattn_op("arith.cmpf");
  uattn_op_operand(&op, rows);
  uattn_op_operand(&op, rows_of(role, value));
  uattn_op_attribute(&op, "predicate",
                     uattn_attribute_i64(&role->b, predicate));
  uattn_op_result(&op,
                  uattn_ttgir_rows_type(role->kernel, uattn_type_i1(&role->b)));
  return uattn_op_append_value(&role->b, &op);
}

uattn_ttgir_softmax_t
uattn_ttgir_softmax_create(const uattn_ttgir_role_t *role) {
  uattn_ttgir_softmax_t softmax = {.max = {NULL}, .sum = rows_of(role, 0.0)};
  if (role->kernel->is_online)
    softmax.max = rows_of(role, lowest);
  return softmax;
}

/* ---- Capped scores --------------------------------------------------------
 */

static uattn_ttgir_scale_t constant_scale(const uattn_ttgir_role_t *role) {
  double scale = role->kernel->constants.post_scale;
  return (uattn_ttgir_scale_t){
      .factor = constant(role, fmax(fabs(scale), tiny_scale)),
      .sign = scale < 0 ? constant(role, -1.0) : (MlirValue){NULL},
  };
}

uattn_ttgir_scale_t uattn_ttgir_scale(const uattn_ttgir_role_t *role,
                                      MlirValue temp) {
  const uattn_builder_t *b = &role->b;
  if (!temp.ptr)
    return constant_scale(role);
  MlirValue scale =
      uattn_ttgir_binary(role, "arith.mulf", temp,
                         constant(role, role->kernel->constants.post_scale));
  MlirValue is_negative = compare(role, UATTN_CMPF_OLT, scale, 0.0);
  return (uattn_ttgir_scale_t){
      .factor =
          uattn_binary(b, "arith.maxnumf", uattn_unary(b, "math.absf", scale),
                       rows_of(role, tiny_scale)),
      .sign =
          uattn_select(b, is_negative, rows_of(role, -1.0), rows_of(role, 1.0)),
  };
}

/* 1 / (1 + x) */
static MlirValue reciprocal_of_one_plus(const uattn_ttgir_role_t *role,
                                        MlirValue x) {
  MlirValue one = uattn_constant_splat(&role->b, mlirValueGetType(x), 1.0);
  return uattn_binary(&role->b, "arith.divf", one,
                      uattn_binary(&role->b, "arith.addf", x, one));
}

static MlirValue cap(const uattn_ttgir_role_t *role, MlirValue scores) {
  const uattn_builder_t *b = &role->b;
  switch (role->kernel->plan->cap_method) {
  case UATTN_CAP_NONE:
    return scores;
  case UATTN_CAP_TANH:
    return uattn_ttgir_ptx(role, "tanh.approx.f32 $0, $1;", scores);
  case UATTN_CAP_SOFT_SIGN:
    return uattn_binary(
        b, "arith.mulf", scores,
        reciprocal_of_one_plus(role, uattn_unary(b, "math.absf", scores)));
  case UATTN_CAP_ALSC:
    return reciprocal_of_one_plus(role, uattn_unary(b, "math.exp2", scores));
  }
  UATTN_CHECK(!"a cap");
  return scores;
}

MlirValue uattn_ttgir_capped(const uattn_ttgir_role_t *role, MlirValue products,
                             const uattn_ttgir_scale_t *scale) {
  const uattn_softmax_constants_t *constants = &role->kernel->constants;
  MlirValue scores = products;
  if (role->kernel->plan->cap_method != UATTN_CAP_NONE)
    scores = uattn_ttgir_binary(role, "arith.mulf", scores,
                                constant(role, constants->pre_scale));
  if (role->kernel->plan->cap_method == UATTN_CAP_ALSC)
    scores = uattn_ttgir_binary(role, "arith.addf", scores,
                                constant(role, constants->pre_bias));
  scores = cap(role, scores);
  return scale->sign.ptr
             ? uattn_ttgir_binary(role, "arith.mulf", scores, scale->sign)
             : scores;
}

/* ---- Softmax --------------------------------------------------------------
 */

/* Raises the maximum, and returns what older results are multiplied by. */
static MlirValue raise_maximum(const uattn_ttgir_role_t *role, MlirValue capped,
                               const uattn_ttgir_scale_t *scale,
                               uattn_ttgir_softmax_t *io_softmax) {
  const uattn_builder_t *b = &role->b;
  MlirValue old = io_softmax->max;
  io_softmax->max =
      uattn_binary(b, "arith.maxnumf", old,
                   uattn_ttgir_reduce(role, "arith.maxnumf", capped));
  MlirValue drop = uattn_binary(b, "arith.subf", old, io_softmax->max);
  return uattn_unary(
      b, "math.exp2",
      uattn_ttgir_binary(role, "arith.mulf", drop, scale->factor));
}

/* factor capped - factor max */
static MlirValue exponents(const uattn_ttgir_role_t *role, MlirValue capped,
                           const uattn_ttgir_scale_t *scale, MlirValue max) {
  const uattn_builder_t *b = &role->b;
  MlirType type = mlirValueGetType(capped);
  if (!max.ptr)
    return uattn_ttgir_binary(role, "arith.mulf", capped, scale->factor);
  /* Triton does not lower arith.negf. */
  MlirValue shift =
      uattn_binary(b, "arith.subf", rows_of(role, 0.0),
                   uattn_ttgir_binary(role, "arith.mulf", max, scale->factor));
  return uattn_ternary(b, "math.fma", capped,
                       uattn_ttgir_spread(role, scale->factor, type),
                       uattn_ttgir_spread(role, shift, type));
}

MlirValue uattn_ttgir_softmax_step(const uattn_ttgir_role_t *role,
                                   MlirValue capped,
                                   const uattn_ttgir_scale_t *scale,
                                   uattn_ttgir_softmax_t *io_softmax,
                                   MlirValue *out_alpha) {
  const uattn_builder_t *b = &role->b;
  const uattn_ttgir_kernel_t *kernel = role->kernel;
  out_alpha->ptr = NULL;
  if (kernel->is_online) {
    *out_alpha = raise_maximum(role, capped, scale, io_softmax);
    io_softmax->sum =
        uattn_binary(b, "arith.mulf", io_softmax->sum, *out_alpha);
  }
  MlirValue p = uattn_unary(b, "math.exp2",
                            exponents(role, capped, scale, io_softmax->max));
  io_softmax->sum = uattn_binary(b, "arith.addf", io_softmax->sum,
                                 uattn_ttgir_reduce(role, "arith.addf", p));
  MlirValue rounded = uattn_cast(
      b, "arith.truncf", p, uattn_ttgir_scores_type(kernel, kernel->element));
  return uattn_ttgir_convert(role, rounded, uattn_ttgir_p_type(kernel));
}

/* ---- Results --------------------------------------------------------------
 */

static MlirValue is_empty(const uattn_ttgir_role_t *role,
                          const uattn_ttgir_softmax_t *softmax) {
  return compare(role, UATTN_CMPF_OEQ, softmax->sum, 0.0);
}

MlirValue uattn_ttgir_inverse_sum(const uattn_ttgir_role_t *role,
                                  const uattn_ttgir_softmax_t *softmax) {
  const uattn_builder_t *b = &role->b;
  MlirValue inverse =
      uattn_binary(b, "arith.divf", rows_of(role, 1.0), softmax->sum);
  return uattn_select(b, is_empty(role, softmax), rows_of(role, 0.0), inverse);
}

MlirValue uattn_ttgir_lse(const uattn_ttgir_role_t *role,
                          const uattn_ttgir_softmax_t *softmax,
                          const uattn_ttgir_scale_t *scale, MlirValue temp) {
  const uattn_builder_t *b = &role->b;
  MlirValue base2 = uattn_unary(b, "math.log2", softmax->sum);
  if (softmax->max.ptr)
    base2 = uattn_binary(
        b, "arith.addf", base2,
        uattn_ttgir_binary(role, "arith.mulf", softmax->max, scale->factor));
  MlirValue lse =
      uattn_ttgir_binary(role, "arith.mulf", base2, constant(role, M_LN2));
  MlirValue shift = constant(role, role->kernel->constants.lse_shift);
  if (temp.ptr)
    shift = uattn_ttgir_binary(role, "arith.mulf", temp, shift);
  lse = uattn_ttgir_binary(role, "arith.addf", lse, shift);
  return uattn_select(b, is_empty(role, softmax), rows_of(role, -INFINITY),
                      lse);
}
