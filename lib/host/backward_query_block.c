/* dq and dtemp of a block of queries: queries as lanes, keys as rows.
 * Layer: host. Must not know: dk, dv, threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "host/host_backward.h"
#include "host/tensor_rows.h"

enum { LANES = UATTN_BLOCK_ROWS };

/* A thread's memory. */
typedef struct {
  uattn_backward_tile_t tile;
  uattn_tile_sums_t *sums;
  float *dq; /* [LANES][column_pitch] */
} query_scratch_t;

static query_scratch_t query_scratch_take(const uattn_host_work_t *work,
                                          uattn_scratch_t *memory) {
  query_scratch_t scratch = {.tile = uattn_backward_tile_take(work, memory)};
  scratch.sums = uattn_scratch_take(memory, sizeof *scratch.sums);
  scratch.dq = uattn_scratch_take_floats(memory, LANES, work->column_pitch);
  return scratch;
}

size_t uattn_backward_query_bytes(const uattn_host_work_t *work) {
  uattn_scratch_t memory = {0};
  query_scratch_take(work, &memory);
  return memory.bytes + UATTN_SCRATCH_ALIGNMENT;
}

static void begin_block(const uattn_host_backward_t *backward,
                        uattn_row_block_t block, query_scratch_t *scratch) {
  const uattn_host_work_t *work = backward->work;
  const uattn_tensor_t *operands = work->tensors->operands;
  uattn_backward_tile_t *tile = &scratch->tile;
  memset(tile->mask->lanes, 0, sizeof tile->mask->lanes);
  memset(scratch->sums, 0, sizeof *scratch->sums);
  memset(scratch->dq, 0, sizeof(float) * (size_t)(LANES * work->column_pitch));
  uattn_rows_load_transposed(&operands[UATTN_OPERAND_Q], block, tile->lanes_a);
  uattn_rows_load_transposed(&operands[UATTN_OPERAND_DOUT], block,
                             tile->lanes_b);
  uattn_backward_tile_load_queries(backward, block, tile);
}

/* By the tile's mask. */
static void add_keys(const uattn_host_work_t *work, int64_t q_count,
                     uattn_row_block_t keys, query_scratch_t *scratch) {
  const uattn_tensor_t *operands = work->tensors->operands;
  int64_t pitch = work->column_pitch;
  uattn_backward_tile_t *tile = &scratch->tile;
  uattn_rows_load(&operands[UATTN_OPERAND_K], keys, pitch, tile->rows_a);
  uattn_rows_load(&operands[UATTN_OPERAND_V], keys, pitch, tile->rows_b);
  uattn_tile_mask_clear_rows(tile->mask, keys.count, pitch, tile->rows_a);
  uattn_backward_tile_score(work, keys.count, q_count, tile);
  uattn_tile_gradients_of_lanes(tile->queries, tile->mask, keys.count,
                                &tile->pairs, scratch->sums);
  uattn_backward_tile_reduce(work, tile->pairs.dout_dot_v, tile->rows_a,
                             keys.count, q_count, scratch->dq);
}

/* A - (R - e) C of the semantics. */
static float dtemp_share(const query_scratch_t *scratch, int64_t row) {
  const uattn_tile_sums_t *sums = scratch->sums;
  return sums->capped_gradient[row] -
         (sums->gradient[row] - scratch->tile.queries->lse_gradient[row]) *
             sums->capped[row];
}

static void finish_block(const uattn_host_backward_t *backward,
                         uattn_row_block_t block,
                         const query_scratch_t *scratch) {
  const uattn_host_work_t *work = backward->work;
  const uattn_tensor_t *dq = &work->tensors->results[UATTN_RESULT_DQ];
  int64_t index = uattn_host_head_row_index(work, block);
  for (int64_t row = 0; row < block.count; ++row) {
    bool has_key = scratch->tile.mask->lanes[row] != 0;
    if (!has_key)
      memset(scratch->dq + row * work->column_pitch, 0,
             sizeof(float) * (size_t)work->column_pitch);
    if (backward->dtemp_shares)
      backward->dtemp_shares[index + row] =
          has_key ? dtemp_share(scratch, row) : 0;
  }
  if (dq->data)
    uattn_rows_store(dq, block, work->column_pitch, scratch->dq);
}

void uattn_backward_query_item(const uattn_host_backward_t *backward,
                               void *memory, int64_t item) {
  const uattn_host_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  uattn_scratch_t opened = uattn_scratch_open(memory);
  query_scratch_t scratch = query_scratch_take(work, &opened);
  int64_t q_block = item % work->q_block_count;
  int64_t head = item / work->q_block_count % problem->q_heads;
  int64_t batch = item / work->q_block_count / problem->q_heads;
  int64_t kv_head = head / (problem->q_heads / problem->kv_heads);
  uattn_row_block_t block = uattn_host_q_block(work, batch, head, q_block);

  begin_block(backward, block, &scratch);
  for (int64_t key_block = 0; key_block < work->key_block_count; ++key_block)
    if (uattn_tile_mask_build(work, batch, q_block, key_block,
                              UATTN_LANES_QUERIES, scratch.tile.mask))
      add_keys(work, block.count,
               uattn_host_key_block(work, batch, kv_head, key_block), &scratch);
  finish_block(backward, block, &scratch);
}
