/* What the reference's passes share: the inputs of a run by row.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference/reference_work.h"

uattn_row_place_t uattn_row_set_place(const uattn_row_set_t *set,
                                      int64_t index) {
  int64_t row = set->chosen ? set->chosen[index] : index;
  return (uattn_row_place_t){row / set->tokens, row % set->tokens};
}

int64_t uattn_lse_index(int64_t batch, int64_t q_heads, int64_t head,
                        int64_t tokens, int64_t token) {
  return (batch * q_heads + head) * tokens + token;
}

const float *uattn_q_like_row(const uattn_reference_work_t *work,
                              uattn_operand_t operand, uattn_row_place_t place,
                              int64_t head) {
  const uattn_problem_t *problem = work->problem;
  int64_t row = place.batch * problem->q_tokens + place.token;
  return (const float *)work->tensors->operands[operand] +
         (row * problem->q_heads + head) * problem->head_dim;
}

const float *uattn_kv_like_row(const uattn_reference_work_t *work,
                               uattn_operand_t operand, uattn_row_place_t place,
                               int64_t kv_head) {
  const uattn_problem_t *problem = work->problem;
  int64_t row = place.batch * problem->kv_tokens + place.token;
  return (const float *)work->tensors->operands[operand] +
         (row * problem->kv_heads + kv_head) * problem->head_dim;
}

double uattn_row_temp(const uattn_reference_work_t *work,
                      uattn_row_place_t place) {
  const uattn_problem_t *problem = work->problem;
  if (!problem->has_operand[UATTN_OPERAND_TEMP])
    return 1;
  const float *temp = work->tensors->operands[UATTN_OPERAND_TEMP];
  return (double)temp[place.batch * problem->q_tokens + place.token];
}
