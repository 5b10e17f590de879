/* Which pairs of a block of queries and a block of keys the op allows.
 * Layer: host. Must not know: scores, softmax.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_TILE_MASK_H
#define UATTN_HOST_TILE_MASK_H

#include "host/host_work.h"

/* A tile has the rows of one block and, as its lanes, those of the other. */
typedef enum { UATTN_LANES_QUERIES, UATTN_LANES_KEYS } uattn_tile_lanes_t;

/* All bits set where a pair is allowed, else 0. Rows past the end of the
 * tensors are in no pair. */
typedef struct {
  int32_t pairs[UATTN_BLOCK_ROWS * UATTN_BLOCK_ROWS]; /* [row][lane] */
  int32_t rows[UATTN_BLOCK_ROWS];  /* where any of the row's pairs is allowed */
  int32_t lanes[UATTN_BLOCK_ROWS]; /* likewise, of all tiles since it was 0 */
} uattn_tile_mask_t;

/* False where no pair is allowed; then only `lanes` is as it should be. */
bool uattn_tile_mask_build(const uattn_host_work_t *work, int64_t batch,
                           int64_t q_block, int64_t key_block,
                           uattn_tile_lanes_t lanes, uattn_tile_mask_t *mask);

/* Zeros the rows that are in no pair, lest 0 * NaN reach the others. */
void uattn_tile_mask_clear_rows(const uattn_tile_mask_t *mask,
                                int64_t row_count, int64_t pitch, float *rows);

#endif /* UATTN_HOST_TILE_MASK_H */
