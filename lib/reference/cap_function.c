/* The cap of a logit and its derivative, in float64.
 * Layer: reference. Must not know: base-2 forms, masks, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference/cap_function.h"

#include <math.h>

/* sigma(z); exp's argument is never positive, so nothing overflows. */
static double logistic(double z) {
  double tail = exp(-fabs(z));
  return z >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
}

/* sigma(z) (1 - sigma(z)) without the cancellation of large z. */
static double logistic_derivative(double z) {
  double tail = exp(-fabs(z));
  return tail / ((1 + tail) * (1 + tail));
}

uattn_cap_function_t uattn_cap_function_prepare(const uattn_cap_t *cap) {
  double sigma_beta = logistic(cap->alpha * cap->beta);
  return (uattn_cap_function_t){.cap = *cap,
                                .sigma_beta = sigma_beta,
                                .slope = sigma_beta * (1 - sigma_beta) + 1e-12};
}

double uattn_cap_function_evaluate(const uattn_cap_function_t *function,
                                   double logit, double *out_derivative) {
  const uattn_cap_t *cap = &function->cap;
  double value = logit;
  double derivative = 1;
  switch (cap->method) {
  case UATTN_CAP_NONE:
    break;
  case UATTN_CAP_TANH: {
    double y = tanh(logit / cap->cap);
    value = cap->cap * y;
    derivative = 1 - y * y;
    break;
  }
  case UATTN_CAP_SOFT_SIGN: {
    double factor = 1 / (1 + fabs(logit) / cap->cap);
    value = logit * factor;
    derivative = factor * factor;
    break;
  }
  case UATTN_CAP_ALSC: {
    double z = cap->alpha * (logit / cap->cap + cap->beta);
    value = cap->cap * (logistic(z) - function->sigma_beta) / function->slope;
    if (out_derivative)
      derivative = cap->alpha * logistic_derivative(z) / function->slope;
    break;
  }
  }
  if (out_derivative)
    *out_derivative = derivative;
  return value;
}
