/* The backward op: deltas first, then dq and dtemp by blocks of queries beside
 * dk and dv by blocks of keys, so that no two threads add to one number.
 * Layer: host. Must not know: plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host/host_backward.h"

#include <stdlib.h>
#include <string.h>

#include "host/tensor_rows.h"
#include "host/tile_product.h"
#include "support/parallel_for.h"
#include "support/support.h"

enum { LANES = UATTN_BLOCK_ROWS };

int64_t uattn_host_head_row_index(const uattn_host_work_t *work,
                                  uattn_row_block_t queries) {
  return uattn_host_row_index(
             work, queries.batch * work->problem->q_heads + queries.head, 0) +
         queries.first;
}

/* A thread's memory of the pass for deltas. */
typedef struct {
  float *out;      /* [head_dim][LANES] */
  float *dout;     /* [LANES][column_pitch] */
  float *products; /* [LANES][LANES], of which the diagonal is wanted */
} delta_scratch_t;

static delta_scratch_t delta_scratch_take(const uattn_host_work_t *work,
                                          uattn_scratch_t *memory) {
  delta_scratch_t scratch = {0};
  scratch.out =
      uattn_scratch_take_floats(memory, work->problem->head_dim, LANES);
  scratch.dout = uattn_scratch_take_floats(memory, LANES, work->column_pitch);
  scratch.products = uattn_scratch_take_floats(memory, LANES, LANES);
  return scratch;
}

/* delta_i = <dout_i, out_i> by the very sum that makes <dout_i, v_j>: where
 * they should cancel, as with a single key, nothing is left. */
static void delta_item(const void *context, void *memory, int64_t item) {
  enum { GROUP = UATTN_PRODUCT_COLUMNS };
  const uattn_host_backward_t *backward = context;
  const uattn_host_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  const uattn_tensor_t *operands = work->tensors->operands;
  uattn_scratch_t opened = uattn_scratch_open(memory);
  delta_scratch_t scratch = delta_scratch_take(work, &opened);
  uattn_row_block_t block =
      uattn_host_q_block(work, item / work->q_block_count / problem->q_heads,
                         item / work->q_block_count % problem->q_heads,
                         item % work->q_block_count);
  uattn_rows_load_transposed(&operands[UATTN_OPERAND_OUT], block, scratch.out);
  uattn_rows_load(&operands[UATTN_OPERAND_DOUT], block, work->column_pitch,
                  scratch.dout);
  memset(scratch.products, 0, sizeof(float) * LANES * LANES);
  for (int64_t first = 0; first < block.count; first += GROUP)
    uattn_tile_product_add(
        &(uattn_tile_product_t){.a = scratch.dout + first * work->column_pitch,
                                .a_row_stride = work->column_pitch,
                                .a_depth_stride = 1,
                                .b = scratch.out + first,
                                .b_stride = LANES,
                                .c = scratch.products + first * LANES + first,
                                .c_stride = LANES,
                                .rows = GROUP,
                                .columns = GROUP,
                                .depth = problem->head_dim});
  float *deltas = backward->deltas + uattn_host_head_row_index(work, block);
  for (int64_t row = 0; row < block.count; ++row)
    deltas[row] = scratch.products[row * LANES + row];
}

static uattn_error_t *find_deltas(const uattn_host_backward_t *backward) {
  const uattn_host_work_t *work = backward->work;
  uattn_scratch_t memory = {0};
  delta_scratch_take(work, &memory);
  return uattn_parallel_for(
      uattn_host_item_count(work, work->problem->q_heads, work->q_block_count),
      work->thread_count, memory.bytes + UATTN_SCRATCH_ALIGNMENT, delta_item,
      backward);
}

/* Items of both passes, in one row. */
typedef struct {
  uattn_host_backward_t backward;
  int64_t query_items;
  int64_t key_items;
} gradient_pass_t;

static void gradient_item(const void *context, void *memory, int64_t item) {
  const gradient_pass_t *pass = context;
  if (item < pass->query_items)
    uattn_backward_query_item(&pass->backward, memory, item);
  else
    uattn_backward_key_item(&pass->backward, memory, item - pass->query_items);
}

/* Both at once, so that all memory is there before the first result. */
static uattn_error_t *find_gradients(const uattn_host_backward_t *backward) {
  const uattn_host_work_t *work = backward->work;
  const uattn_problem_t *problem = work->problem;
  const uattn_tensor_t *results = work->tensors->results;
  gradient_pass_t pass = {.backward = *backward};
  if (results[UATTN_RESULT_DQ].data || results[UATTN_RESULT_DTEMP].data)
    pass.query_items =
        uattn_host_item_count(work, problem->q_heads, work->q_block_count);
  if (results[UATTN_RESULT_DK].data || results[UATTN_RESULT_DV].data)
    pass.key_items =
        uattn_host_item_count(work, problem->kv_heads, work->key_block_count);
  size_t query_bytes = uattn_backward_query_bytes(work);
  size_t key_bytes = uattn_backward_key_bytes(work);
  return uattn_parallel_for(
      pass.query_items + pass.key_items, work->thread_count,
      query_bytes > key_bytes ? query_bytes : key_bytes, gradient_item, &pass);
}

/* The heads' shares in a fixed order. */
static void sum_dtemp(const uattn_host_backward_t *backward, int64_t batch,
                      int64_t q_block) {
  const uattn_host_work_t *work = backward->work;
  float sums[LANES] = {0};
  uattn_row_block_t block = {0};
  for (int64_t head = 0; head < work->problem->q_heads; ++head) {
    block = uattn_host_q_block(work, batch, head, q_block);
    const float *shares =
        backward->dtemp_shares + uattn_host_head_row_index(work, block);
    for (int64_t row = 0; row < block.count; ++row)
      sums[row] += shares[row];
  }
  uattn_numbers_store(&work->tensors->results[UATTN_RESULT_DTEMP], block, sums);
}

static uattn_error_t *allocate_rows(const uattn_host_work_t *work,
                                    float **out_numbers) {
  size_t blocks = (size_t)uattn_host_item_count(work, work->problem->q_heads,
                                                work->q_block_count);
  *out_numbers = uattn_try_allocate(blocks * LANES * sizeof(float));
  return *out_numbers ? NULL
                      : uattn_error_create(UATTN_ERROR_INTERNAL,
                                           "no memory for a number for each "
                                           "row of %zu blocks of rows",
                                           blocks);
}

uattn_error_t *uattn_host_backward(const uattn_host_work_t *work) {
  bool wants_dtemp = work->tensors->results[UATTN_RESULT_DTEMP].data != NULL;
  uattn_host_backward_t backward = {.work = work};
  uattn_error_t *error = allocate_rows(work, &backward.deltas);
  if (!error && wants_dtemp)
    error = allocate_rows(work, &backward.dtemp_shares);
  if (!error)
    error = find_deltas(&backward);
  if (!error)
    error = find_gradients(&backward);
  for (int64_t batch = 0; wants_dtemp && !error && batch < work->problem->batch;
       ++batch)
    for (int64_t q_block = 0; q_block < work->q_block_count; ++q_block)
      sum_dtemp(&backward, batch, q_block);
  free(backward.deltas);
  free(backward.dtemp_shares);
  return error;
}
