/* The cap of a tile of logits and its slope, in float32.
 * Layer: host. Must not know: masks, softmax, tensors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here subtracts numbers that nearly cancel:
 *
 *   tanh(x) = (1 - E) / (1 + E)    1 - tanh(x)^2 = 4 E / (1 + E)^2
 *     with x >= 0, E = exp(-2 x)
 *   sigma(z) - sigma(z - u) = sigma(z) sigma(u - z) (1 - exp(-u))     u >= 0
 *                           = -sigma(-z) sigma(z - u) (1 - exp(u))    u < 0
 *   sigma'(z) = E / (1 + E)^2      with E = exp(-|z|) */
#include "host/tile_cap.h"

#include <math.h>

#include "host/vector_exp2.h"

static double logistic(double z) {
  double tail = exp(-fabs(z));
  return z >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
}

uattn_tile_cap_t uattn_tile_cap_prepare(const uattn_problem_t *problem) {
  const uattn_cap_t *cap = &problem->cap;
  uattn_tile_cap_t made = {.method = cap->method,
                           .cap = (float)cap->cap,
                           .dot_scale = (float)problem->sm_scale,
                           .slope_scale = (float)problem->sm_scale};
  if (cap->method == UATTN_CAP_TANH)
    made.dot_scale = (float)(problem->sm_scale / cap->cap);
  if (cap->method == UATTN_CAP_ALSC) {
    double above = logistic(cap->alpha * cap->beta);
    double below = logistic(-cap->alpha * cap->beta);
    double n = above * below + 1e-12;
    made.dot_scale = (float)(problem->sm_scale * cap->alpha / cap->cap);
    made.slope_scale = (float)(problem->sm_scale * cap->alpha / n);
    made.alpha_beta = (float)(cap->alpha * cap->beta);
    made.rise_scale = (float)(cap->cap * below / n);
    made.fall_scale = (float)(cap->cap * above / n);
  }
  return made;
}

typedef struct {
  float value;
  float slope;
} capped_t;

HOST_INLINE capped_t cap_none(const uattn_tile_cap_t *cap, float dot) {
  return (capped_t){cap->dot_scale * dot, cap->slope_scale};
}

HOST_INLINE capped_t cap_tanh(const uattn_tile_cap_t *cap, float dot) {
  float x = cap->dot_scale * dot;
  uattn_power_t e = uattn_power_of_two(-2 * HOST_LOG2_E * fabsf(x));
  float inverse = 1 / (1 + e.power);
  return (capped_t){copysignf(cap->cap * (-e.excess * inverse), x),
                    cap->slope_scale * (4 * e.power * inverse * inverse)};
}

HOST_INLINE capped_t cap_soft_sign(const uattn_tile_cap_t *cap, float dot) {
  float s = cap->dot_scale * dot;
  float sum = cap->cap + fabsf(s);
  float factor = cap->cap / sum;
  return (capped_t){cap->cap * (s / sum), cap->slope_scale * factor * factor};
}

HOST_INLINE capped_t cap_alsc(const uattn_tile_cap_t *cap, float dot) {
  float u = cap->dot_scale * dot;
  float z = u + cap->alpha_beta;
  float change = -uattn_power_of_two(-HOST_LOG2_E * fabsf(u)).excess;
  float tail = uattn_power_of_two(-HOST_LOG2_E * fabsf(z)).power;
  float large = 1 / (1 + tail); /* sigma(|z|) */
  float small = tail * large;   /* sigma(-|z|) */
  float above = z >= 0 ? large : small;
  float below = z >= 0 ? small : large;
  float value = u >= 0 ? cap->rise_scale * above : -(cap->fall_scale * below);
  return (capped_t){value * change, cap->slope_scale * (large * small)};
}

/* One loop for each method, so that each becomes vectors. */
#define APPLY(method)                                                          \
  for (int64_t i = 0; i < count; ++i) {                                        \
    capped_t capped = method(&constants, tile[i]);                             \
    tile[i] = capped.value;                                                    \
    if (out_slopes)                                                            \
      out_slopes[i] = capped.slope;                                            \
  }                                                                            \
  break

HOST_VECTOR_CLONES
static void apply(const uattn_tile_cap_t constants, int64_t count,
                  float *restrict tile, float *restrict out_slopes) {
  switch (constants.method) {
  case UATTN_CAP_NONE:
    APPLY(cap_none);
  case UATTN_CAP_TANH:
    APPLY(cap_tanh);
  case UATTN_CAP_SOFT_SIGN:
    APPLY(cap_soft_sign);
  case UATTN_CAP_ALSC:
    APPLY(cap_alsc);
  }
}

void uattn_tile_cap_apply(const uattn_tile_cap_t *cap, int64_t count,
                          float *tile, float *out_slopes) {
  apply(*cap, count, tile, out_slopes);
}
