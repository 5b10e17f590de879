/* Caps and online softmax in base 2 on tensors of Triton's.
 * Layer: passes. Must not know: where scores come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "passes/ttgir.h"

/* Below every logit; a maximum that starts here stays finite in rows without
 * a key. */
static const double lowest = -0x1p100;

static MlirValue constant(const uattn_ttgir_role_t *role, double value) {
  return uattn_constant_f32(&role->b, value);
}

static MlirValue rows_of(const uattn_ttgir_role_t *role, double value) {
  return uattn_constant_splat(
      &role->b, uattn_ttgir_rows_type(role->kernel, uattn_type_f32(&role->b)),
      value);
}

uattn_ttgir_softmax_t
uattn_ttgir_softmax_create(const uattn_ttgir_role_t *role) {
  uattn_ttgir_softmax_t softmax = {.max = {NULL}, .sum = rows_of(role, 0.0)};
  if (role->kernel->is_online)
    softmax.max = rows_of(role, lowest);
  return softmax;
}

/* ---- Logits ---------------------------------------------------------------
 */

MlirValue uattn_ttgir_scale(const uattn_ttgir_role_t *role, MlirValue temp) {
  MlirValue scale = constant(role, role->kernel->constants.post_scale);
  return temp.ptr ? uattn_ttgir_binary(role, "arith.mulf", temp, scale) : scale;
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

MlirValue uattn_ttgir_logits(const uattn_ttgir_role_t *role, MlirValue products,
                             MlirValue scale) {
  const uattn_softmax_constants_t *constants = &role->kernel->constants;
  MlirValue scores = products;
  if (role->kernel->plan->cap_method != UATTN_CAP_NONE)
    scores = uattn_ttgir_binary(role, "arith.mulf", scores,
                                constant(role, constants->pre_scale));
  if (role->kernel->plan->cap_method == UATTN_CAP_ALSC)
    scores = uattn_ttgir_binary(role, "arith.addf", scores,
                                constant(role, constants->pre_bias));
  return uattn_ttgir_binary(role, "arith.mulf", cap(role, scores), scale);
}

/* ---- Softmax --------------------------------------------------------------
 */

MlirValue uattn_ttgir_softmax_step(const uattn_ttgir_role_t *role,
                                   MlirValue logits,
                                   uattn_ttgir_softmax_t *io_softmax,
                                   MlirValue *out_alpha) {
  const uattn_builder_t *b = &role->b;
  const uattn_ttgir_kernel_t *kernel = role->kernel;
  out_alpha->ptr = NULL;
  if (kernel->is_online) {
    MlirValue max =
        uattn_binary(b, "arith.maxnumf", io_softmax->max,
                     uattn_ttgir_reduce(role, "arith.maxnumf", logits));
    *out_alpha = uattn_unary(
        b, "math.exp2", uattn_binary(b, "arith.subf", io_softmax->max, max));
    logits = uattn_ttgir_binary(role, "arith.subf", logits, max);
    io_softmax->max = max;
    io_softmax->sum =
        uattn_binary(b, "arith.mulf", io_softmax->sum, *out_alpha);
  }
  MlirValue p = uattn_unary(b, "math.exp2", logits);
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
  uattn_op_t op = uattn_op("arith.cmpf");
  uattn_op_operand(&op, softmax->sum);
  uattn_op_operand(&op, rows_of(role, 0.0));
  uattn_op_attribute(&op, "predicate",
                     uattn_attribute_i64(&role->b, UATTN_CMPF_OEQ));
  uattn_op_result(&op,
                  uattn_ttgir_rows_type(role->kernel, uattn_type_i1(&role->b)));
  return uattn_op_append_value(&role->b, &op);
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
                          MlirValue temp) {
  const uattn_builder_t *b = &role->b;
  MlirValue base2 = uattn_unary(b, "math.log2", softmax->sum);
  if (softmax->max.ptr)
    base2 = uattn_binary(b, "arith.addf", base2, softmax->max);
  MlirValue lse =
      uattn_ttgir_binary(role, "arith.mulf", base2, constant(role, M_LN2));
  MlirValue shift = constant(role, role->kernel->constants.lse_shift);
  if (temp.ptr)
    shift = uattn_ttgir_binary(role, "arith.mulf", temp, shift);
  lse = uattn_ttgir_binary(role, "arith.addf", lse, shift);
  return uattn_select(b, is_empty(role, softmax), rows_of(role, -INFINITY),
                      lse);
}
