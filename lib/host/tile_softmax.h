/* The softmax of the forward op, a tile of keys at a time.
 * Layer: host. Must not know: tensors, caps, which masks there are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_TILE_SOFTMAX_H
#define UATTN_HOST_TILE_SOFTMAX_H

#include "host/tile_mask.h"

/* Of each query, a lane. In units of base 2. */
typedef struct {
  float temp[UATTN_BLOCK_ROWS]; /* log2(e) times the temperature */
  float max[UATTN_BLOCK_ROWS];  /* -inf at the start */
  float sum[UATTN_BLOCK_ROWS];  /* of the weights by that max; 0 at the start */
} uattn_tile_softmax_t;

/* Turns capped logits [row_count keys][lanes] into weights by the new max, 0
 * where the mask forbids; `out_rescale` [lanes] is what weights by the old max
 * are to be multiplied by. */
void uattn_tile_softmax_add(uattn_tile_softmax_t *softmax,
                            const uattn_tile_mask_t *mask, int64_t row_count,
                            float *tile, float *out_rescale);

/* The natural logarithm of a lane's whole sum, to which keys were added. */
float uattn_tile_softmax_lse(const uattn_tile_softmax_t *softmax, int64_t lane);

#endif /* UATTN_HOST_TILE_SOFTMAX_H */
