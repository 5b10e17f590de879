/* What the two passes of the host's backward op share.
 * Layer: host. Must not know: plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_HOST_HOST_BACKWARD_H
#define UATTN_HOST_HOST_BACKWARD_H

#include "host/tile_gradients.h"

typedef struct {
  const uattn_host_work_t *work;
  float *deltas;       /* by uattn_host_head_row_index */
  float *dtemp_shares; /* of a head, likewise; NULL where not wanted */
} uattn_host_backward_t;

/* Where the arrays above hold the first row of a block of queries. */
int64_t uattn_host_head_row_index(const uattn_host_work_t *work,
                                  uattn_row_block_t queries);

/* What both passes keep of a tile. */
typedef struct {
  uattn_tile_mask_t *mask;
  uattn_tile_queries_t *queries;
  float *lanes_a; /* [head_dim][UATTN_BLOCK_ROWS]: q^T, or k^T */
  float *lanes_b; /* dout^T, or v^T */
  float *rows_a;  /* [UATTN_BLOCK_ROWS][column_pitch]: k, or q */
  float *rows_b;  /* v, or dout */
  uattn_tile_pairs_t pairs;
  float *slopes;
} uattn_backward_tile_t;

uattn_backward_tile_t uattn_backward_tile_take(const uattn_host_work_t *work,
                                               uattn_scratch_t *scratch);

/* Reads what the gradients need of each query but q and dout. */
void uattn_backward_tile_load_queries(const uattn_host_backward_t *backward,
                                      uattn_row_block_t queries,
                                      uattn_backward_tile_t *tile);

/* From rows and lanes: capped logits, their slopes, and <dout_i, v_j>. */
void uattn_backward_tile_score(const uattn_host_work_t *work, int64_t row_count,
                               int64_t lane_count, uattn_backward_tile_t *tile);

/* out[lane_count][column_pitch] += tile^T rows, the tile's sum over its rows.
 */
void uattn_backward_tile_reduce(const uattn_host_work_t *work,
                                const float *tile, const float *rows,
                                int64_t row_count, int64_t lane_count,
                                float *out);

/* Each pass's memory, and one item of it: a block of queries of a head for dq
 * and dtemp; a block of keys of a kv head for dk and dv. */
size_t uattn_backward_query_bytes(const uattn_host_work_t *work);
void uattn_backward_query_item(const uattn_host_backward_t *backward,
                               void *memory, int64_t item);
size_t uattn_backward_key_bytes(const uattn_host_work_t *work);
void uattn_backward_key_item(const uattn_host_backward_t *backward,
                             void *memory, int64_t item);

#endif /* UATTN_HOST_HOST_BACKWARD_H */
