/* Tests of who sees whom in the reference, read from its results.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_fixture.h"

/* What a query sees shows when its q is 0 and v is the identity: out_i holds
 * 1 / count at the keys that it sees, and lse_i is log count. */
static void assert_sees(fixture_t *fixture, const char *const *wanted) {
  const uattn_problem_t *problem = &fixture->problem;
  int64_t kv_tokens = problem->kv_tokens;
  size_t q_size = fixture_operand_size(fixture, UATTN_OPERAND_Q);
  memset(fixture->numbers[UATTN_OPERAND_Q], 0, q_size * sizeof(float));
  float *v = fixture->numbers[UATTN_OPERAND_V];
  for (int64_t j = 0; j < kv_tokens; ++j)
    for (int64_t d = 0; d < 64; ++d)
      v[j * 64 + d] = j == d ? 1 : 0;
  fixture_run(fixture, NULL);
  for (int64_t i = 0; i < problem->q_tokens; ++i) {
    char found[65] = "";
    int count = 0;
    for (int64_t j = 0; j < kv_tokens; ++j) {
      bool sees = fixture->results[UATTN_RESULT_OUT][i * 64 + j] != 0;
      found[j] = sees ? 'x' : '.';
      count += sees;
    }
    assert_string_equal(found, wanted[i]);
    double lse = fixture->results[UATTN_RESULT_LSE][i];
    if (count == 0)
      assert_true(lse == -INFINITY);
    else
      assert_true(fabs(lse - log(count)) < 1e-12);
  }
  fixture_destroy(fixture);
}

static uattn_problem_t square_problem(int64_t tokens) {
  return (uattn_problem_t){.batch = 1,
                           .q_tokens = tokens,
                           .kv_tokens = tokens,
                           .q_heads = 1,
                           .kv_heads = 1,
                           .sm_scale = 1};
}

/* A fixture of 6 tokens with a ranker mask. */
static fixture_t ranker_fixture(const int32_t bounds[4]) {
  uattn_problem_t problem = square_problem(6);
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_BOUNDS], bounds, 4 * sizeof(int32_t));
  return fixture;
}

static void without_masks_all_see_all(void **state) {
  (void)state;
  fixture_t fixture = fixture_create(square_problem(3));
  assert_sees(&fixture, (const char *[]){"xxx", "xxx", "xxx"});
}

static void candidates_see_history_and_themselves(void **state) {
  (void)state;
  fixture_t fixture = ranker_fixture((int32_t[]){0, 3, 3, 6});
  assert_sees(&fixture, (const char *[]){"xxx...", "xxx...", "xxx...", "xxxx..",
                                         "xxx.x.", "xxx..x"});
}

static void rows_in_neither_range_are_dead(void **state) {
  (void)state;
  fixture_t fixture = ranker_fixture((int32_t[]){1, 3, 4, 5});
  assert_sees(&fixture, (const char *[]){"......", ".xx...", ".xx...", "......",
                                         ".xx.x.", "......"});
}

static void empty_ranges_hold_nothing(void **state) {
  (void)state;
  fixture_t fixture = ranker_fixture((int32_t[]){3, 3, 5, 2});
  assert_sees(&fixture, (const char *[]){"......", "......", "......", "......",
                                         "......", "......"});
}

static void candidates_alone_see_themselves(void **state) {
  (void)state;
  fixture_t fixture = ranker_fixture((int32_t[]){0, 0, 0, 2});
  assert_sees(&fixture, (const char *[]){"x.....", ".x....", "......", "......",
                                         "......", "......"});
}

static void overlapping_ranges_are_ored(void **state) {
  (void)state;
  fixture_t fixture = ranker_fixture((int32_t[]){0, 3, 2, 5});
  assert_sees(&fixture, (const char *[]){"xxx...", "xxx...", "xxx...", "xxxx..",
                                         "xxx.x.", "......"});
}

static void bounds_outside_the_tokens_are_clamped(void **state) {
  (void)state;
  fixture_t fixture = ranker_fixture((int32_t[]){INT32_MIN, 2, 4, INT32_MAX});
  assert_sees(&fixture, (const char *[]){"xx....", "xx....", "......", "......",
                                         "xx..x.", "xx...x"});
}

static void bounds_differ_by_batch(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(2);
  problem.batch = 2;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_BOUNDS],
         (int32_t[]){0, 0, 0, 0, 0, 2, 0, 0}, 8 * sizeof(int32_t));
  fixture_run(&fixture, NULL);
  const double *lse = fixture.results[UATTN_RESULT_LSE];
  assert_true(lse[0] == -INFINITY && lse[1] == -INFINITY);
  assert_true(isfinite(lse[2]) && isfinite(lse[3]));
  fixture_destroy(&fixture);
}

static void negative_positions_are_in_no_range(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(3);
  problem.q_offset = -1;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_BOUNDS], (int32_t[]){-5, 2, 0, 0},
         4 * sizeof(int32_t));
  assert_sees(&fixture, (const char *[]){"...", "xx.", "xx."});
}

static void causal_queries_see_the_past(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(4);
  problem.is_causal = true;
  fixture_t fixture = fixture_create(problem);
  assert_sees(&fixture, (const char *[]){"x...", "xx..", "xxx.", "xxxx"});
}

static void window_alone_limits_only_the_past(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(4);
  problem.window_tokens = 2;
  fixture_t fixture = fixture_create(problem);
  assert_sees(&fixture, (const char *[]){"xxxx", "xxxx", ".xxx", "..xx"});
}

static void window_and_causal_make_a_band(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(4);
  problem.window_tokens = 2;
  problem.is_causal = true;
  fixture_t fixture = fixture_create(problem);
  assert_sees(&fixture, (const char *[]){"x...", "xx..", ".xx.", "..xx"});
}

static void huge_window_limits_nothing(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(2);
  problem.window_tokens = INT64_MAX;
  problem.q_offset = -(INT64_C(1) << 62);
  fixture_t fixture = fixture_create(problem);
  assert_sees(&fixture, (const char *[]){"xx", "xx"});
}

static void offset_moves_the_queries(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(2);
  problem.kv_tokens = 5;
  problem.q_offset = 3;
  problem.is_causal = true;
  problem.window_tokens = 3;
  fixture_t fixture = fixture_create(problem);
  assert_sees(&fixture, (const char *[]){".xxx.", "..xxx"});
}

static void offset_moves_the_ranges_of_queries(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(3);
  problem.kv_tokens = 5;
  problem.q_offset = 2;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_BOUNDS], (int32_t[]){0, 2, 3, 4},
         4 * sizeof(int32_t));
  assert_sees(&fixture, (const char *[]){".....", "xx.x.", "....."});
}

static void segments_see_equal_ids(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(3);
  problem.kv_tokens = 4;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_Q_SEGMENT_IDS], (int32_t[]){7, -1, 3},
         3 * sizeof(int32_t));
  memcpy(fixture.integers[UATTN_OPERAND_KV_SEGMENT_IDS],
         (int32_t[]){-1, 7, -1, 7}, 4 * sizeof(int32_t));
  assert_sees(&fixture, (const char *[]){".x.x", "x.x.", "...."});
}

static void all_masks_are_anded(void **state) {
  (void)state;
  uattn_problem_t problem = square_problem(6);
  problem.is_causal = true;
  problem.window_tokens = 4;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_BOUNDS], (int32_t[]){0, 3, 3, 6},
         4 * sizeof(int32_t));
  int32_t ids[] = {1, 2, 1, 1, 1, 1};
  memcpy(fixture.integers[UATTN_OPERAND_Q_SEGMENT_IDS], ids, sizeof ids);
  memcpy(fixture.integers[UATTN_OPERAND_KV_SEGMENT_IDS], ids, sizeof ids);
  assert_sees(&fixture, (const char *[]){"x.....", ".x....", "x.x...", "x.xx..",
                                         "..x.x.", "..x..x"});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_masks_all_see_all),
      cmocka_unit_test(candidates_see_history_and_themselves),
      cmocka_unit_test(rows_in_neither_range_are_dead),
      cmocka_unit_test(empty_ranges_hold_nothing),
      cmocka_unit_test(candidates_alone_see_themselves),
      cmocka_unit_test(overlapping_ranges_are_ored),
      cmocka_unit_test(bounds_outside_the_tokens_are_clamped),
      cmocka_unit_test(bounds_differ_by_batch),
      cmocka_unit_test(negative_positions_are_in_no_range),
      cmocka_unit_test(causal_queries_see_the_past),
      cmocka_unit_test(window_alone_limits_only_the_past),
      cmocka_unit_test(window_and_causal_make_a_band),
      cmocka_unit_test(huge_window_limits_nothing),
      cmocka_unit_test(offset_moves_the_queries),
      cmocka_unit_test(offset_moves_the_ranges_of_queries),
      cmocka_unit_test(segments_see_equal_ids),
      cmocka_unit_test(all_masks_are_anded)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
