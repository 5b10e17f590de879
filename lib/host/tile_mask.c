/* Which pairs of a block of queries and a block of keys the op allows.
 * Layer: host. Must not know: scores, softmax.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/tile_mask.h"

#include <string.h>

#include "host/host_clones.h"
#include "host/tensor_rows.h"

/* What a tile's pairs depend on; keys are counted from the block's first. */
typedef struct {
  int32_t key_begin[UATTN_BLOCK_ROWS];
  int32_t key_end[UATTN_BLOCK_ROWS];
  int32_t own_key[UATTN_BLOCK_ROWS]; /* -1: none in this block */
  int32_t q_segment[UATTN_BLOCK_ROWS];
  int32_t kv_segment[UATTN_BLOCK_ROWS];
} pair_facts_t;

static int32_t key_of_block(int64_t key, int64_t first_key) {
  int64_t offset = key - first_key;
  if (offset < 0)
    return 0;
  return offset < UATTN_BLOCK_ROWS ? (int32_t)offset : UATTN_BLOCK_ROWS;
}

static void collect_facts(const uattn_host_work_t *work, int64_t batch,
                          int64_t q_block, int64_t key_block,
                          pair_facts_t *facts) {
  const uattn_tensor_t *operands = work->tensors->operands;
  int64_t index = uattn_host_row_index(work, batch, q_block);
  int64_t first_key = key_block * UATTN_BLOCK_ROWS;
  for (int row = 0; row < UATTN_BLOCK_ROWS; ++row) {
    int64_t own = work->own_key[index + row] - first_key;
    facts->key_begin[row] =
        key_of_block(work->key_begin[index + row], first_key);
    facts->key_end[row] = key_of_block(work->key_end[index + row], first_key);
    facts->own_key[row] =
        own >= 0 && own < UATTN_BLOCK_ROWS ? (int32_t)own : -1;
  }
  memset(facts->q_segment, 0, sizeof facts->q_segment);
  memset(facts->kv_segment, 0, sizeof facts->kv_segment);
  if (!work->problem->has_operand[UATTN_OPERAND_Q_SEGMENT_IDS])
    return;
  uattn_integers_load(&operands[UATTN_OPERAND_Q_SEGMENT_IDS],
                      uattn_host_q_block(work, batch, 0, q_block),
                      facts->q_segment);
  uattn_integers_load(&operands[UATTN_OPERAND_KV_SEGMENT_IDS],
                      uattn_host_key_block(work, batch, 0, key_block),
                      facts->kv_segment);
}

HOST_INLINE int32_t pair_bits(const pair_facts_t *facts, int32_t query,
                              int32_t key) {
  int is_in_range =
      (key >= facts->key_begin[query]) & (key < facts->key_end[query]);
  int is_allowed = (is_in_range | (key == facts->own_key[query])) &
                   (facts->q_segment[query] == facts->kv_segment[key]);
  return -(int32_t)is_allowed;
}

HOST_VECTOR_CLONES
static void fill_pairs(const pair_facts_t *restrict facts,
                       uattn_tile_lanes_t lanes,
                       uattn_tile_mask_t *restrict mask) {
  for (int32_t row = 0; row < UATTN_BLOCK_ROWS; ++row) {
    int32_t *restrict pairs = mask->pairs + row * UATTN_BLOCK_ROWS;
    if (lanes == UATTN_LANES_QUERIES)
      for (int32_t lane = 0; lane < UATTN_BLOCK_ROWS; ++lane)
        pairs[lane] = pair_bits(facts, lane, row);
    else
      for (int32_t lane = 0; lane < UATTN_BLOCK_ROWS; ++lane)
        pairs[lane] = pair_bits(facts, row, lane);
    int32_t any = 0;
    for (int lane = 0; lane < UATTN_BLOCK_ROWS; ++lane)
      any |= pairs[lane];
    for (int lane = 0; lane < UATTN_BLOCK_ROWS; ++lane)
      mask->lanes[lane] |= pairs[lane];
    mask->rows[row] = any;
  }
}

static bool overlaps(int64_t begin, int64_t end, int64_t first_key) {
  return begin < first_key + UATTN_BLOCK_ROWS && end > first_key;
}

bool uattn_tile_mask_build(const uattn_host_work_t *work, int64_t batch,
                           int64_t q_block, int64_t key_block,
                           uattn_tile_lanes_t lanes, uattn_tile_mask_t *mask) {
  const uattn_key_hull_t *hull =
      &work->hulls[batch * work->q_block_count + q_block];
  int64_t first_key = key_block * UATTN_BLOCK_ROWS;
  if (!overlaps(hull->begin, hull->end, first_key) &&
      !overlaps(hull->own_begin, hull->own_end, first_key))
    return false;
  if (hull->full_begin <= first_key &&
      first_key + UATTN_BLOCK_ROWS <= hull->full_end &&
      !work->problem->has_operand[UATTN_OPERAND_Q_SEGMENT_IDS]) {
    memset(mask, 0xff, sizeof *mask);
    return true;
  }
  pair_facts_t facts;
  collect_facts(work, batch, q_block, key_block, &facts);
  fill_pairs(&facts, lanes, mask);
  int32_t any = 0;
  for (int row = 0; row < UATTN_BLOCK_ROWS; ++row)
    any |= mask->rows[row];
  return any != 0;
}

void uattn_tile_mask_clear_rows(const uattn_tile_mask_t *mask,
                                int64_t row_count, int64_t pitch, float *rows) {
  for (int64_t row = 0; row < row_count; ++row)
    if (!mask->rows[row])
      memset(rows + row * pitch, 0, (size_t)pitch * sizeof *rows);
}
