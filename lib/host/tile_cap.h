/* The cap of a tile of logits and its slope, in float32.
 * Layer: host. Must not know: masks, softmax, tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_TILE_CAP_H
#define UATTN_HOST_TILE_CAP_H

#include "uattn/problem.h"

/* cap(sm_scale * dot) as a function of dot. */
typedef struct {
  uattn_cap_method_t method;
  float cap;
  float dot_scale;   /* sm_scale; tanh: over cap; alsc: times alpha over cap */
  float slope_scale; /* what the method's own slope is multiplied by */
  float alpha_beta;  /* alsc */
  float rise_scale;  /* alsc, from u on: cap sigma(-alpha beta) / n */
  float fall_scale;  /* alsc, below:     cap sigma(alpha beta) / n */
} uattn_tile_cap_t;

uattn_tile_cap_t uattn_tile_cap_prepare(const uattn_problem_t *problem);

/* Turns <q_i, k_j> into cap(s_ij); `out_slopes` becomes its derivative by
 * <q_i, k_j>, unless NULL. */
void uattn_tile_cap_apply(const uattn_tile_cap_t *cap, int64_t count,
                          float *tile, float *out_slopes);

#endif /* UATTN_HOST_TILE_CAP_H */
