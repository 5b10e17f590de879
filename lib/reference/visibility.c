/* Which keys a query row may see, row by row from the op's definition.
 * Layer: reference. Must not know: lib/mask, tiles, plans.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference/visibility.h"

uattn_visibility_t
uattn_visibility_of_batch(const uattn_problem_t *problem,
                          const uattn_reference_tensors_t *tensors,
                          int64_t batch) {
  uattn_visibility_t visibility = {.problem = problem};
  if (problem->has_operand[UATTN_OPERAND_BOUNDS])
    visibility.bounds =
        (const int32_t *)tensors->operands[UATTN_OPERAND_BOUNDS] + batch * 4;
  if (problem->has_operand[UATTN_OPERAND_Q_SEGMENT_IDS]) {
    visibility.q_segment_ids =
        (const int32_t *)tensors->operands[UATTN_OPERAND_Q_SEGMENT_IDS] +
        batch * problem->q_tokens;
    visibility.kv_segment_ids =
        (const int32_t *)tensors->operands[UATTN_OPERAND_KV_SEGMENT_IDS] +
        batch * problem->kv_tokens;
  }
  return visibility;
}

/* Bounds are clamped to [0, S]: no position below 0 is in a range, and none
 * from S on exists. */
static bool is_in_range(int64_t position, const int32_t *range) {
  return position >= 0 && position >= range[0] && position < range[1];
}

static bool ranker_mask_sees(const int32_t *bounds, int64_t q_position,
                             int64_t kv_position) {
  const int32_t *history = bounds;
  const int32_t *candidates = bounds + 2;
  bool q_in_history = is_in_range(q_position, history);
  bool q_in_candidates = is_in_range(q_position, candidates);
  bool sees_history =
      is_in_range(kv_position, history) && (q_in_history || q_in_candidates);
  bool sees_itself = q_in_candidates && is_in_range(kv_position, candidates) &&
                     q_position == kv_position;
  return sees_history || sees_itself;
}

bool uattn_visibility_sees(const uattn_visibility_t *visibility, int64_t q_row,
                           int64_t kv_row) {
  const uattn_problem_t *problem = visibility->problem;
  int64_t q_position = problem->q_offset + q_row;
  int64_t kv_position = kv_row;
  if (problem->is_causal && q_position < kv_position)
    return false;
  if (problem->window_tokens > 0 &&
      q_position - kv_position >= problem->window_tokens)
    return false;
  if (visibility->q_segment_ids &&
      visibility->q_segment_ids[q_row] != visibility->kv_segment_ids[kv_row])
    return false;
  return !visibility->bounds ||
         ranker_mask_sees(visibility->bounds, q_position, kv_position);
}

int64_t uattn_visibility_list_keys(const uattn_visibility_t *visibility,
                                   int64_t q_row, int32_t *out_rows) {
  int64_t count = 0;
  for (int64_t kv_row = 0; kv_row < visibility->problem->kv_tokens; ++kv_row)
    if (uattn_visibility_sees(visibility, q_row, kv_row))
      out_rows[count++] = (int32_t)kv_row;
  return count;
}

int64_t uattn_visibility_list_queries(const uattn_visibility_t *visibility,
                                      int64_t kv_row, int32_t *out_rows) {
  int64_t count = 0;
  for (int64_t q_row = 0; q_row < visibility->problem->q_tokens; ++q_row)
    if (uattn_visibility_sees(visibility, q_row, kv_row))
      out_rows[count++] = (int32_t)q_row;
  return count;
}
