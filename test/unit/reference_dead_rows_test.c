/* Tests of NaN in rows of the reference's inputs: dead ones change nothing,
 * live ones show.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_fixture.h"

enum { TOKENS = 8, HEADS = 2, HEAD_DIM = 64, HISTORY_END = 3, DEAD_TOKEN = 6 };

/* Positions 0 to 2 are history, 3 to 5 candidates, 6 and 7 dead. */
static fixture_t ranker_fixture(uattn_op_kind_t kind) {
  uattn_problem_t problem = {.kind = kind,
                             .batch = 1,
                             .q_tokens = TOKENS,
                             .kv_tokens = TOKENS,
                             .q_heads = HEADS,
                             .kv_heads = 1,
                             .sm_scale = 0.125};
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  problem.has_operand[UATTN_OPERAND_DLSE] = kind == UATTN_OP_BACKWARD;
  problem.z_loss_weight = kind == UATTN_OP_BACKWARD ? 0.5 : 0;
  fixture_t fixture = fixture_create(problem);
  memcpy(fixture.integers[UATTN_OPERAND_BOUNDS],
         (int32_t[]){0, HISTORY_END, HISTORY_END, DEAD_TOKEN},
         4 * sizeof(int32_t));
  if (kind == UATTN_OP_BACKWARD)
    fixture_fill_forward_results(&fixture, UATTN_DTYPE_BF16);
  return fixture;
}

/* The token of an operand's element, by the operand's layout. */
static int64_t token_of(uattn_operand_t operand, size_t element) {
  switch (operand) {
  case UATTN_OPERAND_K:
  case UATTN_OPERAND_V:
    return (int64_t)element / HEAD_DIM;
  case UATTN_OPERAND_TEMP:
    return (int64_t)element;
  case UATTN_OPERAND_LSE:
  case UATTN_OPERAND_DLSE:
    return (int64_t)element % TOKENS;
  default:
    return (int64_t)element / (HEADS * HEAD_DIM);
  }
}

static void poison(fixture_t *fixture, uattn_operand_t operand, int64_t token,
                   float value) {
  size_t size = fixture_operand_size(fixture, operand);
  for (size_t i = 0; i < size; ++i)
    if (token_of(operand, i) == token)
      fixture->numbers[operand][i] = value;
}

static void assert_same_results(const fixture_t *found,
                                const fixture_t *wanted) {
  for (int i = 0; i < uattn_result_count(found->problem.kind); ++i)
    assert_memory_equal(found->results[i], wanted->results[i],
                        fixture_result_size(found, i) * sizeof(double));
}

/* Poisons both dead tokens of every operand of numbers. */
static void check_dead_rows(uattn_op_kind_t kind, float value) {
  fixture_t clean = ranker_fixture(kind);
  fixture_t poisoned = ranker_fixture(kind);
  for (int i = 0; i < uattn_operand_count(kind); ++i)
    for (int64_t token = DEAD_TOKEN; token < TOKENS; ++token)
      if (poisoned.numbers[i])
        poison(&poisoned, (uattn_operand_t)i, token, value);
  fixture_run(&clean, NULL);
  fixture_run(&poisoned, NULL);
  assert_same_results(&poisoned, &clean);
  uattn_reference_options_t options = {.struct_size = sizeof options,
                                       .uses_given_out = true};
  fixture_run(&clean, &options);
  fixture_run(&poisoned, &options);
  assert_same_results(&poisoned, &clean);
  fixture_destroy(&clean);
  fixture_destroy(&poisoned);
}

static void dead_rows_change_no_result(void **state) {
  (void)state;
  check_dead_rows(UATTN_OP_FORWARD, NAN);
  check_dead_rows(UATTN_OP_FORWARD, INFINITY);
}

static void dead_rows_change_no_gradient(void **state) {
  (void)state;
  check_dead_rows(UATTN_OP_BACKWARD, NAN);
  check_dead_rows(UATTN_OP_BACKWARD, INFINITY);
}

static void dead_rows_have_zero_results(void **state) {
  (void)state;
  fixture_t forward = ranker_fixture(UATTN_OP_FORWARD);
  fixture_t backward = ranker_fixture(UATTN_OP_BACKWARD);
  fixture_run(&forward, NULL);
  fixture_run(&backward, NULL);
  size_t q_row = HEADS * HEAD_DIM;
  for (size_t i = DEAD_TOKEN * q_row; i < TOKENS * q_row; ++i) {
    assert_true(forward.results[UATTN_RESULT_OUT][i] == 0);
    assert_true(backward.results[UATTN_RESULT_DQ][i] == 0);
  }
  for (size_t i = DEAD_TOKEN * HEAD_DIM; i < TOKENS * HEAD_DIM; ++i) {
    assert_true(backward.results[UATTN_RESULT_DK][i] == 0);
    assert_true(backward.results[UATTN_RESULT_DV][i] == 0);
  }
  for (int token = 0; token < TOKENS; ++token) {
    bool is_dead = token >= DEAD_TOKEN;
    const double *lse = forward.results[UATTN_RESULT_LSE];
    assert_true((lse[token] == -INFINITY) == is_dead);
    assert_true((lse[TOKENS + token] == -INFINITY) == is_dead);
    assert_true((backward.results[UATTN_RESULT_DTEMP][token] == 0) == is_dead);
  }
  fixture_destroy(&forward);
  fixture_destroy(&backward);
}

/* Whether any number of a token's row of a q-like result is NaN. */
static bool has_nan(const double *result, int64_t token, int64_t row_size) {
  for (int64_t i = token * row_size; i < (token + 1) * row_size; ++i)
    if (isnan(result[i]))
      return true;
  return false;
}

/* Only candidate 4 sees key 4. */
static void live_nan_reaches_those_who_see_it(void **state) {
  (void)state;
  static const uattn_operand_t operands[] = {UATTN_OPERAND_K, UATTN_OPERAND_V};
  for (size_t n = 0; n < COUNT_OF(operands); ++n) {
    fixture_t fixture = ranker_fixture(UATTN_OP_FORWARD);
    poison(&fixture, operands[n], 4, NAN);
    fixture_run(&fixture, NULL);
    for (int64_t token = 0; token < TOKENS; ++token)
      assert_true(has_nan(fixture.results[UATTN_RESULT_OUT], token,
                          HEADS * HEAD_DIM) == (token == 4));
    fixture_destroy(&fixture);
  }
}

/* Of the query's own numbers, each spoils its dq. */
static void live_nan_reaches_the_gradient(void **state) {
  (void)state;
  static const uattn_operand_t operands[] = {
      UATTN_OPERAND_Q,   UATTN_OPERAND_TEMP, UATTN_OPERAND_OUT,
      UATTN_OPERAND_LSE, UATTN_OPERAND_DOUT, UATTN_OPERAND_DLSE};
  for (size_t n = 0; n < COUNT_OF(operands); ++n) {
    fixture_t fixture = ranker_fixture(UATTN_OP_BACKWARD);
    poison(&fixture, operands[n], 4, NAN);
    fixture_run(&fixture, NULL);
    for (int64_t token = 0; token < TOKENS; ++token)
      assert_true(has_nan(fixture.results[UATTN_RESULT_DQ], token,
                          HEADS * HEAD_DIM) == (token == 4));
    /* Key 4 and the history are seen by query 4, the other candidates not. */
    for (int64_t token = 0; token < TOKENS; ++token)
      assert_true(has_nan(fixture.results[UATTN_RESULT_DK], token, HEAD_DIM) ==
                  (token < HISTORY_END || token == 4));
    fixture_destroy(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dead_rows_change_no_result),
      cmocka_unit_test(dead_rows_change_no_gradient),
      cmocka_unit_test(dead_rows_have_zero_results),
      cmocka_unit_test(live_nan_reaches_those_who_see_it),
      cmocka_unit_test(live_nan_reaches_the_gradient)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
