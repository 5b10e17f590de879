/* P and dS from products, and the values of rows of q that they take.
 * Layer: emit. Must not know: masks, where products come from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/backward_consumer.h"
#include "emit/softmax.h"

/* ---- Values of rows of q ----------------------------------------------------
 */

MlirValue uattn_backward_token_offset(const uattn_builder_t *b,
                                      const uattn_backward_kernel_t *kernel,
                                      uattn_backward_param_t tokens) {
  MlirType i64 = uattn_type_i64(b);
  return uattn_binary(
      b, "arith.muli", uattn_cast(b, "arith.extui", kernel->batch, i64),
      uattn_cast(b, "arith.extui", kernel->params[tokens], i64));
}

uattn_backward_q_values_t
uattn_backward_step_values(const uattn_builder_t *b,
                           const uattn_backward_consumer_t *consumer) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirType type = consumer->scores_type;
  uattn_backward_q_values_t values = {{NULL}, {NULL}, {NULL}};
  if (!uattn_backward_has_keys(consumer)) {
    values.exponent_shift =
        uattn_softmax_spread(b, consumer->exponent_shift, type);
    values.gradient_shift =
        uattn_softmax_spread(b, consumer->gradient_shift, type);
    if (kernel->plan->has_temp)
      values.temp = uattn_softmax_spread(b, consumer->temp, type);
    return values;
  }
  values.exponent_shift = uattn_emit_column_read(
      b, consumer->records, UATTN_BACKWARD_RECORD_EXPONENT_SHIFT, type);
  if (kernel->plan->has_temp)
    values.temp = uattn_emit_column_read(b, consumer->records,
                                         UATTN_BACKWARD_RECORD_TEMP, type);
  return values;
}

/* ---- Weights ----------------------------------------------------------------
 */

MlirValue uattn_backward_emit_cap(const uattn_builder_t *b,
                                  const uattn_backward_consumer_t *consumer,
                                  MlirValue products) {
  const uattn_backward_kernel_t *kernel = consumer->kernel;
  MlirType type = mlirValueGetType(products);
  MlirValue pre = kernel->params[UATTN_BACKWARD_PARAM_PRE_SCALE];
  MlirValue bias = kernel->params[UATTN_BACKWARD_PARAM_PRE_BIAS];
  if (kernel->plan->cap_method == UATTN_CAP_NONE)
    return products;
  pre = uattn_softmax_spread(b, pre, type);
  MlirValue x = bias.ptr ? uattn_ternary(b, "math.fma", products, pre,
                                         uattn_softmax_spread(b, bias, type))
                         : uattn_binary(b, "arith.mulf", products, pre);
  return uattn_emit_cap_apply(
      b, uattn_cap_method_name(kernel->plan->cap_method), x);
}

/* f'(x) of y = f(x), from y, but for the constant that gradient_scale has:
 * tanh 1 - y^2, soft_sign (1 - |y|)^2, alsc y - y^2. Null: 1. */
static MlirValue emit_slope(const uattn_builder_t *b, uattn_cap_method_t method,
                            MlirValue y) {
  MlirValue none = {NULL};
  MlirType type = mlirValueGetType(y);
  switch (method) {
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

MlirValue uattn_backward_emit_exponents(
    const uattn_builder_t *b, const uattn_backward_consumer_t *consumer,
    MlirValue y, const uattn_backward_q_values_t *values) {
  MlirValue scale = uattn_softmax_spread(
      b, consumer->kernel->params[UATTN_BACKWARD_PARAM_POST_SCALE],
      mlirValueGetType(y));
  if (values->temp.ptr)
    scale = uattn_binary(b, "arith.mulf", scale, values->temp);
  return uattn_ternary(b, "math.fma", y, scale, values->exponent_shift);
}

MlirValue uattn_backward_emit_factor(const uattn_builder_t *b,
                                     const uattn_backward_consumer_t *consumer,
                                     MlirValue y, MlirValue p,
                                     const uattn_backward_q_values_t *values) {
  MlirValue slope = emit_slope(b, consumer->kernel->plan->cap_method, y);
  MlirValue factor = p;
  if (slope.ptr)
    factor = uattn_binary(b, "arith.mulf", factor, slope);
  if (values->temp.ptr)
    factor = uattn_binary(b, "arith.mulf", factor, values->temp);
  return factor;
}
