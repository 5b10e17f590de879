/* The forward op: a block of queries against all blocks of keys that it sees.
 * Layer: host. Must not know: plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tile of scores has keys as rows and queries as lanes, so that every sum
 * over keys adds whole vectors. For each block of keys that is not masked:
 *
 *   T = K Q^T;  T = cap(T);  m' = max(m, T);  P = exp2(T - m')
 *   l = l exp2(m - m') + sum P;  out = out exp2(m - m') + P^T V
 *
 * and at the end out / l, and lse = m + log l. */
#include <math.h>
#include <string.h>

#include "host/host_work.h"
#include "host/tensor_rows.h"
#include "host/tile_mask.h"
#include "host/tile_product.h"
#include "host/tile_softmax.h"
#include "host/vector_exp2.h"
#include "support/parallel_for.h"

enum { LANES = UATTN_BLOCK_ROWS };

/* A thread's memory. */
typedef struct {
  uattn_tile_mask_t *mask;
  uattn_tile_softmax_t *softmax;
  float *q; /* [head_dim][LANES] */
  float *k; /* [LANES][column_pitch], as v and out */
  float *v;
  float *out;
  float *scores; /* [LANES keys][LANES] */
} forward_scratch_t;

static size_t forward_scratch_view(const uattn_host_work_t *work,
                                   uattn_scratch_t memory,
                                   forward_scratch_t *out_scratch) {
  int64_t pitch = work->column_pitch;
  forward_scratch_t scratch = {0};
  scratch.mask = uattn_scratch_take(&memory, sizeof *scratch.mask);
  scratch.softmax = uattn_scratch_take(&memory, sizeof *scratch.softmax);
  scratch.q =
      uattn_scratch_take_floats(&memory, work->problem->head_dim, LANES);
  scratch.k = uattn_scratch_take_floats(&memory, LANES, pitch);
  scratch.v = uattn_scratch_take_floats(&memory, LANES, pitch);
  scratch.out = uattn_scratch_take_floats(&memory, LANES, pitch);
  scratch.scores = uattn_scratch_take_floats(&memory, LANES, LANES);
  *out_scratch = scratch;
  return memory.bytes + UATTN_SCRATCH_ALIGNMENT;
}

static void begin_block(const uattn_host_work_t *work, uattn_row_block_t block,
                        const forward_scratch_t *scratch) {
  const uattn_tensor_t *operands = work->tensors->operands;
  uattn_tile_softmax_t *softmax = scratch->softmax;
  memset(scratch->mask->lanes, 0, sizeof scratch->mask->lanes);
  memset(scratch->out, 0, sizeof(float) * (size_t)(LANES * work->column_pitch));
  for (int lane = 0; lane < LANES; ++lane) {
    softmax->temp[lane] = 1;
    softmax->max[lane] = -INFINITY;
    softmax->sum[lane] = 0;
  }
  if (work->problem->has_operand[UATTN_OPERAND_TEMP])
    uattn_numbers_load(&operands[UATTN_OPERAND_TEMP], block, softmax->temp);
  for (int lane = 0; lane < LANES; ++lane)
    softmax->temp[lane] *= HOST_LOG2_E;
  uattn_rows_load_transposed(&operands[UATTN_OPERAND_Q], block, scratch->q);
}

static void rescale_out(const float *rescale, int64_t row_count, int64_t pitch,
                        float *out) {
  for (int64_t row = 0; row < row_count; ++row)
    if (rescale[row] != 1)
      for (int64_t d = 0; d < pitch; ++d)
        out[row * pitch + d] *= rescale[row];
}

/* Adds what the queries see of a block of keys, by the scratch's mask. */
static void add_keys(const uattn_host_work_t *work, int64_t q_count,
                     uattn_row_block_t keys, const forward_scratch_t *scratch) {
  const uattn_tensor_t *operands = work->tensors->operands;
  int64_t pitch = work->column_pitch;
  float rescale[LANES];
  uattn_rows_load(&operands[UATTN_OPERAND_K], keys, pitch, scratch->k);
  uattn_rows_load(&operands[UATTN_OPERAND_V], keys, pitch, scratch->v);
  uattn_tile_mask_clear_rows(scratch->mask, keys.count, pitch, scratch->v);

  memset(scratch->scores, 0, sizeof(float) * LANES * LANES);
  uattn_tile_product_add(
      &(uattn_tile_product_t){.a = scratch->k,
                              .a_row_stride = pitch,
                              .a_depth_stride = 1,
                              .b = scratch->q,
                              .b_stride = LANES,
                              .c = scratch->scores,
                              .c_stride = LANES,
                              .rows = keys.count,
                              .columns = q_count,
                              .depth = work->problem->head_dim});
  uattn_tile_cap_apply(&work->cap, keys.count * LANES, scratch->scores, NULL);
  uattn_tile_softmax_add(scratch->softmax, scratch->mask, keys.count,
                         scratch->scores, rescale);
  rescale_out(rescale, q_count, pitch, scratch->out);
  uattn_tile_product_add(&(uattn_tile_product_t){.a = scratch->scores,
                                                 .a_row_stride = 1,
                                                 .a_depth_stride = LANES,
                                                 .b = scratch->v,
                                                 .b_stride = pitch,
                                                 .c = scratch->out,
                                                 .c_stride = pitch,
                                                 .rows = q_count,
                                                 .columns = pitch,
                                                 .depth = keys.count});
}

static void finish_block(const uattn_host_work_t *work, uattn_row_block_t block,
                         const forward_scratch_t *scratch) {
  const uattn_tensor_t *results = work->tensors->results;
  int64_t pitch = work->column_pitch;
  float lse[LANES];
  for (int64_t row = 0; row < block.count; ++row) {
    bool has_key = scratch->mask->lanes[row] != 0;
    float *out = scratch->out + row * pitch;
    lse[row] =
        has_key ? uattn_tile_softmax_lse(scratch->softmax, row) : -INFINITY;
    for (int64_t d = 0; d < pitch; ++d)
      out[d] = has_key ? out[d] / scratch->softmax->sum[row] : 0;
  }
  if (results[UATTN_RESULT_OUT].data)
    uattn_rows_store(&results[UATTN_RESULT_OUT], block, pitch, scratch->out);
  if (results[UATTN_RESULT_LSE].data)
    uattn_numbers_store(&results[UATTN_RESULT_LSE], block, lse);
}

static void forward_item(const void *context, void *memory, int64_t item) {
  const uattn_host_work_t *work = context;
  const uattn_problem_t *problem = work->problem;
  forward_scratch_t scratch;
  forward_scratch_view(work, uattn_scratch_open(memory), &scratch);
  int64_t q_block = item % work->q_block_count;
  int64_t head = item / work->q_block_count % problem->q_heads;
  int64_t batch = item / work->q_block_count / problem->q_heads;
  int64_t kv_head = head / (problem->q_heads / problem->kv_heads);
  uattn_row_block_t block = uattn_host_q_block(work, batch, head, q_block);

  begin_block(work, block, &scratch);
  for (int64_t key_block = 0; key_block < work->key_block_count; ++key_block)
    if (uattn_tile_mask_build(work, batch, q_block, key_block,
                              UATTN_LANES_QUERIES, scratch.mask))
      add_keys(work, block.count,
               uattn_host_key_block(work, batch, kv_head, key_block), &scratch);
  finish_block(work, block, &scratch);
}

uattn_error_t *uattn_host_forward(const uattn_host_work_t *work) {
  forward_scratch_t scratch;
  return uattn_parallel_for(
      uattn_host_item_count(work, work->problem->q_heads, work->q_block_count),
      work->thread_count,
      forward_scratch_view(work, (uattn_scratch_t){0}, &scratch), forward_item,
      work);
}
