/* dk and dv of a block of keys: keys as lanes, queries as rows.
 * Layer: host. Must not know: dq, dtemp, threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "host/host_backward.h"
#include "host/tensor_rows.h"

enum { LANES = UATTN_BLOCK_ROWS };

/* A thread's memory. */
typedef struct {
  uattn_backward_tile_t tile;
  float *dk; /* [LANES][column_pitch] */
  float *dv; /* likewise */
} key_scratch_t;

static key_scratch_t key_scratch_take(const uattn_host_work_t *work,
                                      uattn_scratch_t *memory) {
  key_scratch_t scratch = {.tile = uattn_backward_tile_take(work, memory)};
  scratch.dk = uattn_scratch_take_floats(memory, LANES, work->column_pitch);
  scratch.dv = uattn_scratch_take_floats(memory, LANES, work->column_pitch);
  return scratch;
}

size_t uattn_backward_key_bytes(const uattn_host_work_t *work) {
  uattn_scratch_t memory = {0};
  key_scratch_take(work, &memory);
  return memory.bytes + UATTN_SCRATCH_ALIGNMENT;
}

/* By the tile's mask. */
static void add_queries(const uattn_host_backward_t *backward,
                        uattn_row_block_t queries, int64_t key_count,
                        key_scratch_t *scratch) {
  const uattn_host_work_t *work = backward->work;
  const uattn_tensor_t *operands = work->tensors->operands;
  int64_t pitch = work->column_pitch;
  uattn_backward_tile_t *tile = &scratch->tile;
  uattn_rows_load(&operands[UATTN_OPERAND_Q], queries, pitch, tile->rows_a);
  uattn_rows_load(&operands[UATTN_OPERAND_DOUT], queries, pitch, tile->rows_b);
  uattn_tile_mask_clear_rows(tile->mask, queries.count, pitch, tile->rows_a);
  uattn_tile_mask_clear_rows(tile->mask, queries.count, pitch, tile->rows_b);
  uattn_backward_tile_load_queries(backward, queries, tile);
  uattn_backward_tile_score(work, queries.count, key_count, tile);
  uattn_tile_gradients_of_rows(tile->queries, tile->mask, queries.count,
                               &tile->pairs);
  uattn_backward_tile_reduce(work, tile->pairs.dout_dot_v, tile->rows_a,
                             queries.count, key_count, scratch->dk);
  uattn_backward_tile_reduce(work, tile->pairs.capped, tile->rows_b,
                             queries.count, key_count, scratch->dv);
}

static void finish_block(const uattn_host_work_t *work, uattn_row_block_t block,
                         const key_scratch_t *scratch) {
  const uattn_tensor_t *results = work->tensors->results;
  int64_t pitch = work->column_pitch;
  for (int64_t row = 0; row < block.count; ++row)
    if (!scratch->tile.mask->lanes[row]) {
      memset(scratch->dk + row * pitch, 0, sizeof(float) * (size_t)pitch);
      memset(scratch->dv + row * pitch, 0, sizeof(float) * (size_t)pitch);
    }
  if (results[UATTN_RESULT_DK].data)
    uattn_rows_store(&results[UATTN_RESULT_DK], block, pitch, scratch->dk);
  if (results[UATTN_RESULT_DV].data)
    uattn_rows_store(&results[UATTN_RESULT_DV], block, pitch, scratch->dv);
}

void uattn_backward_key_item(const uattn_host_backward_t *backward,
                             void *memory, int64_t item) {
  const uattn_host_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  const uattn_tensor_t *operands = work->tensors->operands;
  uattn_scratch_t opened = uattn_scratch_open(memory);
  key_scratch_t scratch = key_scratch_take(work, &opened);
  uattn_backward_tile_t *tile = &scratch.tile;
  size_t result_bytes = sizeof(float) * (size_t)(LANES * work->column_pitch);
  int64_t key_block = item % work->key_block_count;
  int64_t kv_head = item / work->key_block_count % problem->kv_heads;
  int64_t batch = item / work->key_block_count / problem->kv_heads;
  int64_t group = problem->q_heads / problem->kv_heads;
  uattn_row_block_t keys =
      uattn_host_key_block(work, batch, kv_head, key_block);

  memset(tile->mask->lanes, 0, sizeof tile->mask->lanes);
  memset(scratch.dk, 0, result_bytes);
  memset(scratch.dv, 0, result_bytes);
  uattn_rows_load_transposed(&operands[UATTN_OPERAND_K], keys, tile->lanes_a);
  uattn_rows_load_transposed(&operands[UATTN_OPERAND_V], keys, tile->lanes_b);
  for (int64_t q_block = 0; q_block < work->q_block_count; ++q_block) {
    if (!uattn_tile_mask_build(work, batch, q_block, key_block,
                               UATTN_LANES_KEYS, tile->mask))
      continue;
    for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head)
      add_queries(backward, uattn_host_q_block(work, batch, head, q_block),
                  keys.count, &scratch);
  }
  finish_block(work, keys, &scratch);
}
