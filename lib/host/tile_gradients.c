/* The gradients of a tile of logits in the backward op.
 * Layer: host. Must not know: tensors, caps, which masks there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/tile_gradients.h"

#include "host/vector_exp2.h"

enum { LANES = UATTN_BLOCK_ROWS };

typedef struct {
  float weight;         /* p_ij */
  float logit_gradient; /* dt_ij */
  float score_gradient; /* ds_ij sm_scale */
} pair_t;

/* Of a pair whose query stands at `query`. */
HOST_INLINE pair_t evaluate_pair(const uattn_tile_queries_t *queries, int query,
                                 float capped, float dout_dot_v, float slope,
                                 int32_t is_allowed) {
  float temp = queries->temp[query];
  float weight =
      uattn_exp2(HOST_LOG2_E * (temp * capped - queries->lse[query]));
  float gradient = weight * ((dout_dot_v - queries->delta[query]) +
                             queries->lse_gradient[query]);
  float score = gradient * (temp * slope);
  return (pair_t){.weight = is_allowed ? weight : 0.0f,
                  .logit_gradient = is_allowed ? gradient : 0.0f,
                  .score_gradient = is_allowed ? score : 0.0f};
}

/* Sums of one tile before they are added to those of all, which keeps long sums
 * exact. */
HOST_VECTOR_CLONES
static void evaluate_lanes(const uattn_tile_queries_t *restrict queries,
                           const uattn_tile_mask_t *restrict mask,
                           int64_t row_count,
                           const uattn_tile_pairs_t *restrict pairs,
                           uattn_tile_sums_t *restrict sums) {
  uattn_tile_sums_t own = {0};
  for (int64_t row = 0; row < row_count; ++row) {
    float *restrict capped = pairs->capped + row * LANES;
    float *restrict dout_dot_v = pairs->dout_dot_v + row * LANES;
    const float *restrict slopes = pairs->slopes + row * LANES;
    const int32_t *restrict allowed = mask->pairs + row * LANES;
    for (int lane = 0; lane < LANES; ++lane) {
      float c = allowed[lane] ? capped[lane] : 0.0f;
      pair_t pair = evaluate_pair(queries, lane, c, dout_dot_v[lane],
                                  slopes[lane], allowed[lane]);
      own.capped_gradient[lane] += pair.logit_gradient * c;
      own.gradient[lane] += pair.logit_gradient;
      own.capped[lane] += pair.weight * c;
      capped[lane] = pair.weight;
      dout_dot_v[lane] = pair.score_gradient;
    }
  }
  for (int lane = 0; lane < LANES; ++lane) {
    sums->capped_gradient[lane] += own.capped_gradient[lane];
    sums->gradient[lane] += own.gradient[lane];
    sums->capped[lane] += own.capped[lane];
  }
}

HOST_VECTOR_CLONES
static void evaluate_rows(const uattn_tile_queries_t *restrict queries,
                          const uattn_tile_mask_t *restrict mask,
                          int64_t row_count,
                          const uattn_tile_pairs_t *restrict pairs) {
  for (int64_t row = 0; row < row_count; ++row) {
    float *restrict capped = pairs->capped + row * LANES;
    float *restrict dout_dot_v = pairs->dout_dot_v + row * LANES;
    const float *restrict slopes = pairs->slopes + row * LANES;
    const int32_t *restrict allowed = mask->pairs + row * LANES;
    for (int lane = 0; lane < LANES; ++lane) {
      pair_t pair =
          evaluate_pair(queries, (int)row, capped[lane], dout_dot_v[lane],
                        slopes[lane], allowed[lane]);
      capped[lane] = pair.weight;
      dout_dot_v[lane] = pair.score_gradient;
    }
  }
}

void uattn_tile_gradients_of_lanes(const uattn_tile_queries_t *queries,
                                   const uattn_tile_mask_t *mask,
                                   int64_t row_count,
                                   const uattn_tile_pairs_t *pairs,
                                   uattn_tile_sums_t *sums) {
  evaluate_lanes(queries, mask, row_count, pairs, sums);
}

void uattn_tile_gradients_of_rows(const uattn_tile_queries_t *queries,
                                  const uattn_tile_mask_t *mask,
                                  int64_t row_count,
                                  const uattn_tile_pairs_t *pairs) {
  evaluate_rows(queries, mask, row_count, pairs);
}
