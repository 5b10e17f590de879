/* The gradients of a tile of logits in the backward op.
 * Layer: host. Must not know: tensors, caps, which masks there are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_TILE_GRADIENTS_H
#define UATTN_HOST_TILE_GRADIENTS_H

#include "host/tile_mask.h"

/* What all pairs of a query share. */
typedef struct {
  float temp[UATTN_BLOCK_ROWS];
  float lse[UATTN_BLOCK_ROWS];
  float delta[UATTN_BLOCK_ROWS];
  float lse_gradient[UATTN_BLOCK_ROWS]; /* e_i, by z-loss and dlse */
} uattn_tile_queries_t;

/* Tiles [row][lane]. */
typedef struct {
  float *capped;       /* c_ij in, p_ij out */
  float *dout_dot_v;   /* <dout_i, v_j> in, ds_ij sm_scale out */
  const float *slopes; /* of c by <q_i, k_j> */
} uattn_tile_pairs_t;

/* The semantics' sums for dtemp. */
typedef struct {
  float capped_gradient[UATTN_BLOCK_ROWS]; /* A */
  float gradient[UATTN_BLOCK_ROWS];        /* R */
  float capped[UATTN_BLOCK_ROWS];          /* C */
} uattn_tile_sums_t;

/* Outputs are 0 where the mask forbids. The first has queries as lanes and adds
 * to sums of each, the second has them as rows. */
void uattn_tile_gradients_of_lanes(const uattn_tile_queries_t *queries,
                                   const uattn_tile_mask_t *mask,
                                   int64_t row_count,
                                   const uattn_tile_pairs_t *pairs,
                                   uattn_tile_sums_t *sums);
void uattn_tile_gradients_of_rows(const uattn_tile_queries_t *queries,
                                  const uattn_tile_mask_t *mask,
                                  int64_t row_count,
                                  const uattn_tile_pairs_t *pairs);

#endif /* UATTN_HOST_TILE_GRADIENTS_H */
