/* The tile of pairs that both passes of the backward op evaluate.
 * Layer: host. Must not know: which side is summed over, threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "host/host_backward.h"
#include "host/tensor_rows.h"
#include "host/tile_product.h"

enum { LANES = UATTN_BLOCK_ROWS };

uattn_backward_tile_t uattn_backward_tile_take(const uattn_host_work_t *work,
                                               uattn_scratch_t *scratch) {
  int64_t head_dim = work->problem->head_dim;
  int64_t pitch = work->column_pitch;
  uattn_backward_tile_t tile = {0};
  tile.mask = uattn_scratch_take(scratch, sizeof *tile.mask);
  tile.queries = uattn_scratch_take(scratch, sizeof *tile.queries);
  tile.lanes_a = uattn_scratch_take_floats(scratch, head_dim, LANES);
  tile.lanes_b = uattn_scratch_take_floats(scratch, head_dim, LANES);
  tile.rows_a = uattn_scratch_take_floats(scratch, LANES, pitch);
  tile.rows_b = uattn_scratch_take_floats(scratch, LANES, pitch);
  tile.pairs.capped = uattn_scratch_take_floats(scratch, LANES, LANES);
  tile.pairs.dout_dot_v = uattn_scratch_take_floats(scratch, LANES, LANES);
  tile.slopes = uattn_scratch_take_floats(scratch, LANES, LANES);
  tile.pairs.slopes = tile.slopes;
  return tile;
}

void uattn_backward_tile_load_queries(const uattn_host_backward_t *backward,
                                      uattn_row_block_t block,
                                      uattn_backward_tile_t *tile) {
  const uattn_problem_t *problem = backward->work->problem;
  const uattn_tensor_t *operands = backward->work->tensors->operands;
  uattn_tile_queries_t *queries = tile->queries;
  float z_loss_weight = (float)problem->z_loss_weight;
  float dlse[LANES] = {0};
  for (int row = 0; row < LANES; ++row)
    queries->temp[row] = 1;
  if (problem->has_operand[UATTN_OPERAND_TEMP])
    uattn_numbers_load(&operands[UATTN_OPERAND_TEMP], block, queries->temp);
  uattn_numbers_load(&operands[UATTN_OPERAND_LSE], block, queries->lse);
  if (problem->has_operand[UATTN_OPERAND_DLSE])
    uattn_numbers_load(&operands[UATTN_OPERAND_DLSE], block, dlse);
  const float *deltas =
      backward->deltas + uattn_host_head_row_index(backward->work, block);
  for (int64_t row = 0; row < block.count; ++row) {
    queries->delta[row] = deltas[row];
    queries->lse_gradient[row] = dlse[row];
    if (z_loss_weight != 0)
      queries->lse_gradient[row] += z_loss_weight * queries->lse[row];
  }
}

/* out[row][lane] = <rows[row], lanes[lane]> */
static void multiply(const uattn_host_work_t *work, const float *rows,
                     const float *lanes, int64_t row_count, int64_t lane_count,
                     float *out) {
  memset(out, 0, sizeof(float) * LANES * LANES);
  uattn_tile_product_add(
      &(uattn_tile_product_t){.a = rows,
                              .a_row_stride = work->column_pitch,
                              .a_depth_stride = 1,
                              .b = lanes,
                              .b_stride = LANES,
                              .c = out,
                              .c_stride = LANES,
                              .rows = row_count,
                              .columns = lane_count,
                              .depth = work->problem->head_dim});
}

void uattn_backward_tile_score(const uattn_host_work_t *work, int64_t row_count,
                               int64_t lane_count,
                               uattn_backward_tile_t *tile) {
  multiply(work, tile->rows_a, tile->lanes_a, row_count, lane_count,
           tile->pairs.capped);
  multiply(work, tile->rows_b, tile->lanes_b, row_count, lane_count,
           tile->pairs.dout_dot_v);
  uattn_tile_cap_apply(&work->cap, row_count * LANES, tile->pairs.capped,
                       tile->slopes);
}

void uattn_backward_tile_reduce(const uattn_host_work_t *work,
                                const float *tile, const float *rows,
                                int64_t row_count, int64_t lane_count,
                                float *out) {
  uattn_tile_product_add(&(uattn_tile_product_t){.a = tile,
                                                 .a_row_stride = 1,
                                                 .a_depth_stride = LANES,
                                                 .b = rows,
                                                 .b_stride = work->column_pitch,
                                                 .c = out,
                                                 .c_stride = work->column_pitch,
                                                 .rows = lane_count,
                                                 .columns = work->column_pitch,
                                                 .depth = row_count});
}
