/* The scalars of the base-2 softmax, folded from scale and cap.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/spec.h"

#include <math.h>

static const double log2_e = 1.4426950408889634074;

static uattn_softmax_constants_t alsc_constants(double sm_scale,
                                                const uattn_cap_t *cap) {
  double sigma = 1.0 / (1.0 + exp(-cap->alpha * cap->beta));
  double norm = sigma * (1.0 - sigma) + 1e-12;
  return (uattn_softmax_constants_t){
      .pre_scale = -cap->alpha * sm_scale * log2_e / cap->cap,
      .pre_bias = -cap->alpha * cap->beta * log2_e,
      .post_scale = cap->cap * log2_e / norm,
      .lse_shift = -cap->cap * sigma / norm,
      .gradient_scale = sm_scale * cap->alpha / norm,
  };
}

uattn_softmax_constants_t
uattn_softmax_constants(const uattn_problem_t *problem) {
  const uattn_cap_t *cap = &problem->cap;
  if (cap->method == UATTN_CAP_ALSC)
    return alsc_constants(problem->sm_scale, cap);
  if (cap->method == UATTN_CAP_NONE)
    return (uattn_softmax_constants_t){.pre_scale = 1.0,
                                       .post_scale = problem->sm_scale * log2_e,
                                       .gradient_scale = problem->sm_scale};
  return (uattn_softmax_constants_t){.pre_scale = problem->sm_scale / cap->cap,
                                     .post_scale = cap->cap * log2_e,
                                     .gradient_scale = problem->sm_scale};
}
