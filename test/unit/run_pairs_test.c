/* Tests of the count of allowed pairs against a look at each.
 * Layer: test. Must not know: anything above the part that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "run_pairs.h"

enum { BATCH = 2, Q_TOKENS = 13, KV_TOKENS = 17 };

static bool in_range(int64_t position, int32_t lower, int32_t upper) {
  return position >= 0 && position < 64 && position >= lower &&
         position < upper;
}

/* The definition, word by word. */
static bool is_allowed(const uattn_problem_t *problem, const int32_t *bounds,
                       const int32_t *q_ids, const int32_t *kv_ids, int64_t row,
                       int64_t key) {
  int64_t position = problem->q_offset + row;
  if (problem->is_causal && !(position >= key))
    return false;
  if (problem->window_tokens && !(key > position - problem->window_tokens))
    return false;
  if (q_ids && q_ids[row] != kv_ids[key])
    return false;
  if (!bounds)
    return true;
  bool q_history = in_range(position, bounds[0], bounds[1]);
  bool q_candidate = in_range(position, bounds[2], bounds[3]);
  bool kv_history = in_range(key, bounds[0], bounds[1]);
  bool kv_candidate = in_range(key, bounds[2], bounds[3]);
  return (kv_history && (q_history || q_candidate)) ||
         (q_candidate && kv_candidate && position == key);
}

static int64_t count_each(const uattn_problem_t *problem,
                          const void *const operands[]) {
  const int32_t *bounds = operands[UATTN_OPERAND_BOUNDS];
  const int32_t *q_ids = operands[UATTN_OPERAND_Q_SEGMENT_IDS];
  const int32_t *kv_ids = operands[UATTN_OPERAND_KV_SEGMENT_IDS];
  int64_t count = 0;
  for (int64_t batch = 0; batch < BATCH; ++batch)
    for (int64_t row = 0; row < Q_TOKENS; ++row)
      for (int64_t key = 0; key < KV_TOKENS; ++key)
        count +=
            is_allowed(problem, bounds ? bounds + 4 * batch : NULL,
                       q_ids ? q_ids + Q_TOKENS * batch : NULL,
                       kv_ids ? kv_ids + KV_TOKENS * batch : NULL, row, key);
  return count;
}

static const int32_t bounds[][4 * BATCH] = {
    {0, 9, 9, 15, 0, 4, 4, 17},
    {-5, 6, 3, 40, 2, 2, 5, 12},   /* outside, empty, overlapping */
    {10, 17, 0, 10, 0, 17, 0, 17}, /* candidates first; both everywhere */
};

static void every_mask_is_counted(void **state) {
  (void)state;
  int32_t q_ids[BATCH * Q_TOKENS];
  int32_t kv_ids[BATCH * KV_TOKENS];
  for (int i = 0; i < BATCH * Q_TOKENS; ++i)
    q_ids[i] = i / 5 % 3;
  for (int i = 0; i < BATCH * KV_TOKENS; ++i)
    kv_ids[i] = i / 4 % 3;
  static const int64_t windows[] = {0, 1, 4, 100};
  static const int64_t offsets[] = {0, 4, -3, 30, -40};
  int64_t total = 0;
  for (size_t c = 0; c < 2; ++c)
    for (size_t w = 0; w < COUNT_OF(windows); ++w)
      for (size_t o = 0; o < COUNT_OF(offsets); ++o)
        for (size_t b = 0; b <= COUNT_OF(bounds); ++b)
          for (size_t ids = 0; ids < 2; ++ids) {
            uattn_problem_t problem = {.batch = BATCH,
                                       .q_tokens = Q_TOKENS,
                                       .kv_tokens = KV_TOKENS,
                                       .is_causal = c == 1,
                                       .window_tokens = windows[w],
                                       .q_offset = offsets[o]};
            const void *operands[UATTN_OPERAND_COUNT] = {NULL};
            if (b > 0)
              operands[UATTN_OPERAND_BOUNDS] = bounds[b - 1];
            if (ids) {
              operands[UATTN_OPERAND_Q_SEGMENT_IDS] = q_ids;
              operands[UATTN_OPERAND_KV_SEGMENT_IDS] = kv_ids;
            }
            int64_t found = run_count_pairs(&problem, operands);
            assert_true(found == count_each(&problem, operands));
            total += found;
          }
  assert_true(total > 0);
}

/* Positions and windows at the ends of what is allowed do not wrap round. */
static void far_positions_are_counted(void **state) {
  (void)state;
  const void *operands[UATTN_OPERAND_COUNT] = {NULL};
  uattn_problem_t problem = {.batch = 1,
                             .q_tokens = 4,
                             .kv_tokens = 5,
                             .is_causal = true,
                             .window_tokens = INT64_MAX,
                             .q_offset = INT64_C(1) << 62};
  assert_true(run_count_pairs(&problem, operands) == 20);
  problem.window_tokens = 3;
  assert_true(run_count_pairs(&problem, operands) == 0);
  problem.q_offset = -(INT64_C(1) << 62);
  assert_true(run_count_pairs(&problem, operands) == 0);
  problem.is_causal = false;
  assert_true(run_count_pairs(&problem, operands) == 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mask_is_counted),
      cmocka_unit_test(far_positions_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
