/* Shape and element type of every operand and result.
 * Layer: spec. Must not know: masks in tiles, plans, kernels, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "support/support.h"
#include "uattn/problem.h"

#include <string.h>

static int set_shape(int64_t out_shape[4], int rank, const int64_t dims[4]) {
  memcpy(out_shape, dims, (size_t)rank * sizeof *dims);
  return rank;
}

static int query_shape(const uattn_problem_t *problem, int64_t out_shape[4]) {
  return set_shape(out_shape, 4,
                   (int64_t[4]){problem->batch, problem->q_tokens,
                                problem->q_heads, problem->head_dim});
}

static int key_shape(const uattn_problem_t *problem, int64_t out_shape[4]) {
  return set_shape(out_shape, 4,
                   (int64_t[4]){problem->batch, problem->kv_tokens,
                                problem->kv_heads, problem->head_dim});
}

static int lse_shape(const uattn_problem_t *problem, int64_t out_shape[4]) {
  return set_shape(
      out_shape, 3,
      (int64_t[4]){problem->batch, problem->q_heads, problem->q_tokens});
}

static int row_shape(const uattn_problem_t *problem, int64_t columns,
                     int64_t out_shape[4]) {
  return set_shape(out_shape, 2, (int64_t[4]){problem->batch, columns});
}

int uattn_operand_shape(const uattn_problem_t *problem, uattn_operand_t operand,
                        int64_t out_shape[4]) {
  switch (operand) {
  case UATTN_OPERAND_Q:
  case UATTN_OPERAND_OUT:
  case UATTN_OPERAND_DOUT:
    return query_shape(problem, out_shape);
  case UATTN_OPERAND_K:
  case UATTN_OPERAND_V:
    return key_shape(problem, out_shape);
  case UATTN_OPERAND_TEMP:
  case UATTN_OPERAND_Q_SEGMENT_IDS:
    return row_shape(problem, problem->q_tokens, out_shape);
  case UATTN_OPERAND_BOUNDS:
    return row_shape(problem, 4, out_shape);
  case UATTN_OPERAND_KV_SEGMENT_IDS:
    return row_shape(problem, problem->kv_tokens, out_shape);
  case UATTN_OPERAND_LSE:
  case UATTN_OPERAND_DLSE:
    return lse_shape(problem, out_shape);
  }
  UATTN_CHECK(!"operand is one of uattn_operand_t");
  return 0;
}

int uattn_result_shape(const uattn_problem_t *problem, int result,
                       int64_t out_shape[4]) {
  UATTN_CHECK(result >= 0 && result < uattn_result_count(problem->kind));
  if (problem->kind == UATTN_OP_FORWARD)
    return result == UATTN_RESULT_OUT ? query_shape(problem, out_shape)
                                      : lse_shape(problem, out_shape);
  if (result == UATTN_RESULT_DQ)
    return query_shape(problem, out_shape);
  if (result == UATTN_RESULT_DTEMP)
    return row_shape(problem, problem->q_tokens, out_shape);
  return key_shape(problem, out_shape);
}

uattn_dtype_t uattn_operand_dtype(const uattn_problem_t *problem,
                                  uattn_operand_t operand) {
  switch (operand) {
  case UATTN_OPERAND_Q:
  case UATTN_OPERAND_K:
  case UATTN_OPERAND_V:
  case UATTN_OPERAND_OUT:
  case UATTN_OPERAND_DOUT:
    return problem->dtype;
  case UATTN_OPERAND_TEMP:
    return problem->temp_dtype;
  case UATTN_OPERAND_BOUNDS:
  case UATTN_OPERAND_Q_SEGMENT_IDS:
  case UATTN_OPERAND_KV_SEGMENT_IDS:
    return UATTN_DTYPE_I32;
  case UATTN_OPERAND_LSE:
  case UATTN_OPERAND_DLSE:
    return UATTN_DTYPE_F32;
  }
  UATTN_CHECK(!"operand is one of uattn_operand_t");
  return UATTN_DTYPE_F32;
}

uattn_dtype_t uattn_result_dtype(const uattn_problem_t *problem, int result) {
  UATTN_CHECK(result >= 0 && result < uattn_result_count(problem->kind));
  bool is_f32 = problem->kind == UATTN_OP_FORWARD
                    ? result == UATTN_RESULT_LSE
                    : result == UATTN_RESULT_DTEMP;
  return is_f32 ? UATTN_DTYPE_F32 : problem->dtype;
}
