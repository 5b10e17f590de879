/* The softmax of the forward op, a tile of keys at a time.
 * Layer: host. Must not know: tensors, caps, which masks there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/tile_softmax.h"

#include <math.h>

#include "host/vector_exp2.h"

enum { LANES = UATTN_BLOCK_ROWS };

HOST_VECTOR_CLONES
static void add_tile(uattn_tile_softmax_t *restrict softmax,
                     const uattn_tile_mask_t *restrict mask, int64_t row_count,
                     float *restrict tile, float *restrict out_rescale) {
  float max[LANES];
  float base[LANES]; /* max, or a stand-in for that of a lane without a key */
  float sum[LANES] = {0};
  for (int lane = 0; lane < LANES; ++lane)
    max[lane] = softmax->max[lane];
  for (int64_t row = 0; row < row_count; ++row)
    for (int lane = 0; lane < LANES; ++lane) {
      float *logit = &tile[row * LANES + lane];
      float scaled = *logit * softmax->temp[lane];
      scaled = mask->pairs[row * LANES + lane] ? scaled : -INFINITY;
      max[lane] = scaled > max[lane] ? scaled : max[lane];
      *logit = scaled;
    }
  for (int lane = 0; lane < LANES; ++lane) {
    base[lane] = max[lane] == -INFINITY ? 0.0f : max[lane];
    out_rescale[lane] = uattn_exp2(softmax->max[lane] - base[lane]);
  }
  for (int64_t row = 0; row < row_count; ++row)
    for (int lane = 0; lane < LANES; ++lane) {
      float *logit = &tile[row * LANES + lane];
      *logit = uattn_exp2(*logit - base[lane]);
      sum[lane] += *logit;
    }
  for (int lane = 0; lane < LANES; ++lane) {
    softmax->sum[lane] = softmax->sum[lane] * out_rescale[lane] + sum[lane];
    softmax->max[lane] = max[lane];
  }
}

void uattn_tile_softmax_add(uattn_tile_softmax_t *softmax,
                            const uattn_tile_mask_t *mask, int64_t row_count,
                            float *tile, float *out_rescale) {
  add_tile(softmax, mask, row_count, tile, out_rescale);
}

float uattn_tile_softmax_lse(const uattn_tile_softmax_t *softmax,
                             int64_t lane) {
  if (softmax->sum[lane] == 0) /* all logits are -inf: 0 / 0, as out is */
    return NAN;
  return (float)((double)softmax->max[lane] * M_LN2 +
                 log((double)softmax->sum[lane]));
}
