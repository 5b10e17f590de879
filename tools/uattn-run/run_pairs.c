/* Counts the pairs of a query and a key that an op's masks allow.
 * Layer: tools. Must not know: devices, kernels, tiles.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row's keys are an interval (causal, window), cut with the history and with
 * the row's own candidate: counted without a look at each key. Only segment ids
 * ask for that. */
#include "run_pairs.h"

/* Keys from `first` to before `end`. */
typedef struct {
  int64_t first;
  int64_t end;
} interval_t;

/* One batch's masks; NULL where absent. */
typedef struct {
  const int32_t *bounds;
  const int32_t *q_ids;
  const int32_t *kv_ids;
} masks_t;

static interval_t cut(interval_t a, interval_t b) {
  interval_t both = {a.first > b.first ? a.first : b.first,
                     a.end < b.end ? a.end : b.end};
  return both;
}

static bool holds(interval_t interval, int64_t position) {
  return position >= interval.first && position < interval.end;
}

/* What causal and window leave of the keys for a query at `position`. */
static interval_t reachable_keys(const uattn_problem_t *problem,
                                 int64_t position) {
  interval_t keys = {0, problem->kv_tokens};
  if (problem->is_causal && position < problem->kv_tokens - 1)
    keys.end = position + 1;
  if (problem->window_tokens > 0 && position >= problem->window_tokens)
    keys.first = position - problem->window_tokens + 1;
  return keys;
}

static int64_t count_keys(interval_t keys, const masks_t *masks, int64_t row) {
  if (keys.first >= keys.end)
    return 0;
  if (!masks->q_ids)
    return keys.end - keys.first;
  int64_t count = 0;
  for (int64_t key = keys.first; key < keys.end; ++key)
    count += masks->kv_ids[key] == masks->q_ids[row];
  return count;
}

static int64_t count_row(const uattn_problem_t *problem, const masks_t *masks,
                         int64_t row) {
  int64_t position = problem->q_offset + row;
  interval_t keys = reachable_keys(problem, position);
  if (!masks->bounds)
    return count_keys(keys, masks, row);
  interval_t history = {masks->bounds[0], masks->bounds[1]};
  interval_t candidates = {masks->bounds[2], masks->bounds[3]};
  bool is_candidate = position >= 0 && holds(candidates, position);
  if (!is_candidate && (position < 0 || !holds(history, position)))
    return 0;
  int64_t count = count_keys(cut(keys, history), masks, row);
  interval_t itself = {position, position + 1};
  if (is_candidate && !holds(history, position))
    count += count_keys(cut(keys, itself), masks, row);
  return count;
}

int64_t run_count_pairs(const uattn_problem_t *problem,
                        const void *const operands[UATTN_OPERAND_COUNT]) {
  const int32_t *bounds = operands[UATTN_OPERAND_BOUNDS];
  const int32_t *q_ids = operands[UATTN_OPERAND_Q_SEGMENT_IDS];
  const int32_t *kv_ids = operands[UATTN_OPERAND_KV_SEGMENT_IDS];
  int64_t count = 0;
  for (int64_t batch = 0; batch < problem->batch; ++batch) {
    masks_t masks = {.bounds = bounds ? bounds + batch * 4 : NULL,
                     .q_ids = q_ids ? q_ids + batch * problem->q_tokens : NULL,
                     .kv_ids =
                         kv_ids ? kv_ids + batch * problem->kv_tokens : NULL};
    for (int64_t row = 0; row < problem->q_tokens; ++row)
      count += count_row(problem, &masks, row);
  }
  return count;
}
