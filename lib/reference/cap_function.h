/* The cap of a logit and its derivative, in float64.
 * Layer: reference. Must not know: base-2 forms, masks, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_REFERENCE_CAP_FUNCTION_H
#define UATTN_REFERENCE_CAP_FUNCTION_H

#include "uattn/problem.h"

/* A cap with the constants that alsc needs for every logit. */
typedef struct {
  uattn_cap_t cap;
  double sigma_beta; /* sigma(alpha beta) */
  double slope;      /* n: sigma_beta (1 - sigma_beta) + 1e-12 */
} uattn_cap_function_t;

uattn_cap_function_t uattn_cap_function_prepare(const uattn_cap_t *cap);

/* cap(s) of the op's semantics; `*out_derivative` is cap'(s), unless NULL. */
double uattn_cap_function_evaluate(const uattn_cap_function_t *function,
                                   double logit, double *out_derivative);

#endif /* UATTN_REFERENCE_CAP_FUNCTION_H */
