/* Tests of NaN in the host layer's operands: dead rows change nothing, live
 * ones show; and of what rows with one key or none give. Layer: test. Must not
 * know: anything above the host layer and the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "host_fixture.h"

enum { HISTORY_END = 90, DEAD_BEGIN = 140, TOKENS = 200 };

/* Blocks of history, of both kinds, of candidates and dead rows, and of dead
 * rows alone. */
static const host_case_t ranker_case = {
    .problem = {.dtype = UATTN_DTYPE_F32,
                .temp_dtype = UATTN_DTYPE_F32,
                HOST_SIZES(1, TOKENS, TOKENS, 4, 2, 64),
                .sm_scale = 0.125,
                .cap = {UATTN_CAP_ALSC, 30, 4, 0.5},
                .z_loss_weight = 0.1,
                HOST_WITH(TEMP),
                HOST_WITH(BOUNDS),
                HOST_WITH(DLSE)},
    .bounds = {{0, HISTORY_END, HISTORY_END, DEAD_BEGIN}}};

/* The token of a number of an operand or result. */
static int64_t token_of(const uattn_tensor_t *tensor, size_t index) {
  int64_t place = (int64_t)index;
  if (tensor->rank == 4)
    return place / (tensor->shape[2] * tensor->shape[3]) % tensor->shape[1];
  return place % tensor->shape[tensor->rank - 1];
}

static void poison(const uattn_tensor_t *tensor, int64_t first_token,
                   int64_t end_token, double value) {
  for (size_t n = 0; n < host_tensor_size(tensor); ++n)
    if (token_of(tensor, n) >= first_token && token_of(tensor, n) < end_token)
      host_tensor_set(tensor, n, value);
}

static void check_dead_rows(uattn_op_kind_t kind, double value) {
  host_fixture_t clean = host_fixture_create(&ranker_case, kind);
  host_fixture_t poisoned = host_fixture_create(&ranker_case, kind);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    if (poisoned.problem.has_operand[i] && i != UATTN_OPERAND_BOUNDS)
      poison(&poisoned.tensors.operands[i], DEAD_BEGIN, TOKENS, value);
  host_fixture_run(&clean, 0);
  host_fixture_run(&poisoned, 0);
  assert_same_host_results(&poisoned, &clean);
  host_fixture_destroy(&clean);
  host_fixture_destroy(&poisoned);
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
  for (int kind = 0; kind < 2; ++kind) {
    host_fixture_t fixture =
        host_fixture_create(&ranker_case, (uattn_op_kind_t)kind);
    host_fixture_run(&fixture, 0);
    for (int i = 0; i < uattn_result_count(fixture.problem.kind); ++i) {
      const uattn_tensor_t *result = &fixture.tensors.results[i];
      bool is_lse = kind == 0 && i == UATTN_RESULT_LSE;
      for (size_t n = 0; n < host_tensor_size(result); ++n)
        if (token_of(result, n) >= DEAD_BEGIN)
          assert_true(host_tensor_number(result, n) ==
                      (is_lse ? (double)-INFINITY : 0));
    }
    host_fixture_destroy(&fixture);
  }
}

static bool has_nan(const uattn_tensor_t *tensor, int64_t token) {
  for (size_t n = 0; n < host_tensor_size(tensor); ++n)
    if (token_of(tensor, n) == token && isnan(host_tensor_number(tensor, n)))
      return true;
  return false;
}

/* Every live query sees a key of the history. */
static void live_nan_reaches_those_who_see_it(void **state) {
  (void)state;
  static const uattn_operand_t operands[] = {UATTN_OPERAND_K, UATTN_OPERAND_V};
  for (size_t i = 0; i < COUNT_OF(operands); ++i) {
    host_fixture_t fixture =
        host_fixture_create(&ranker_case, UATTN_OP_FORWARD);
    poison(&fixture.tensors.operands[operands[i]], 5, 6, NAN);
    host_fixture_run(&fixture, 0);
    for (int64_t token = 0; token < TOKENS; ++token)
      assert_true(has_nan(&fixture.tensors.results[UATTN_RESULT_OUT], token) ==
                  (token < DEAD_BEGIN));
    host_fixture_destroy(&fixture);
  }
}

/* Candidate 130 has dead keys in its block. */
static void live_nan_reaches_the_gradient(void **state) {
  (void)state;
  static const uattn_operand_t operands[] = {
      UATTN_OPERAND_Q,   UATTN_OPERAND_TEMP, UATTN_OPERAND_OUT,
      UATTN_OPERAND_LSE, UATTN_OPERAND_DOUT, UATTN_OPERAND_DLSE};
  for (size_t i = 0; i < COUNT_OF(operands); ++i) {
    host_fixture_t fixture =
        host_fixture_create(&ranker_case, UATTN_OP_BACKWARD);
    const uattn_tensor_t *results = fixture.tensors.results;
    poison(&fixture.tensors.operands[operands[i]], 130, 131, NAN);
    host_fixture_run(&fixture, 0);
    for (int64_t token = 0; token < TOKENS; ++token) {
      assert_true(has_nan(&results[UATTN_RESULT_DQ], token) == (token == 130));
      if (token < HISTORY_END || token == 130)
        assert_true(has_nan(&results[UATTN_RESULT_DK], token));
      if (token >= DEAD_BEGIN)
        assert_false(has_nan(&results[UATTN_RESULT_DK], token));
    }
    host_fixture_destroy(&fixture);
  }
}

/* A key of the history reaches every live query's gradient, the key of a
 * candidate its own; dtemp keeps them apart even within a block. */
static void live_nan_of_keys_spares_dead_queries(void **state) {
  (void)state;
  static const int64_t keys[] = {5, 130};
  for (size_t i = 0; i < COUNT_OF(keys); ++i) {
    host_fixture_t fixture =
        host_fixture_create(&ranker_case, UATTN_OP_BACKWARD);
    const uattn_tensor_t *results = fixture.tensors.results;
    poison(&fixture.tensors.operands[UATTN_OPERAND_K], keys[i], keys[i] + 1,
           NAN);
    host_fixture_run(&fixture, 0);
    for (int64_t token = 0; token < TOKENS; ++token) {
      bool sees =
          token < DEAD_BEGIN && (keys[i] < HISTORY_END || token == keys[i]);
      assert_true(has_nan(&results[UATTN_RESULT_DTEMP], token) == sees);
      if (sees)
        assert_true(has_nan(&results[UATTN_RESULT_DQ], token));
      if (token >= DEAD_BEGIN)
        assert_false(has_nan(&results[UATTN_RESULT_DQ], token));
    }
    host_fixture_destroy(&fixture);
  }
}

/* No number is as good as another where every weight is 0 of a sum of 0. */
static void logits_that_all_are_minus_infinity_give_nan(void **state) {
  (void)state;
  host_case_t plain_case = {.problem = {.dtype = UATTN_DTYPE_F32,
                                        HOST_SIZES(1, 3, 70, 1, 1, 64),
                                        .sm_scale = 1}};
  host_fixture_t fixture = host_fixture_create(&plain_case, UATTN_OP_FORWARD);
  poison(&fixture.tensors.operands[UATTN_OPERAND_Q], 0, 3, 1);
  poison(&fixture.tensors.operands[UATTN_OPERAND_K], 0, 70, -INFINITY);
  host_fixture_run(&fixture, 0);
  for (int i = 0; i < UATTN_FORWARD_RESULT_COUNT; ++i) {
    double *wanted = host_fixture_reference(&fixture, i);
    const uattn_tensor_t *found = &fixture.tensors.results[i];
    for (size_t n = 0; n < host_tensor_size(found); ++n)
      assert_true(isnan(wanted[n]) && isnan(host_tensor_number(found, n)));
    free(wanted);
  }
  poison(&fixture.tensors.operands[UATTN_OPERAND_K], 69, 70, 1);
  host_fixture_run(&fixture, 0);
  const uattn_tensor_t *lse = &fixture.tensors.results[UATTN_RESULT_LSE];
  assert_true(host_tensor_number(lse, 0) == 64);
  host_fixture_destroy(&fixture);
}

static double sum_of_squares(const uattn_tensor_t *tensor) {
  double sum = 0;
  for (size_t n = 0; n < host_tensor_size(tensor); ++n)
    sum += host_tensor_number(tensor, n) * host_tensor_number(tensor, n);
  return sum;
}

/* Candidates without a history see themselves: the weight is 1 whatever the
 * score, and not even a rounding error is left of the gradients that cancel. */
static void single_keys_give_exact_results(void **state) {
  (void)state;
  host_case_t single_case = ranker_case;
  single_case.problem.q_heads = single_case.problem.kv_heads;
  single_case.problem.has_operand[UATTN_OPERAND_DLSE] = false;
  single_case.problem.z_loss_weight = 0;
  memcpy(single_case.bounds[0], (int32_t[]){0, 0, 0, TOKENS},
         sizeof single_case.bounds[0]);
  host_fixture_t forward = host_fixture_create(&single_case, UATTN_OP_FORWARD);
  host_fixture_t backward =
      host_fixture_create(&single_case, UATTN_OP_BACKWARD);
  host_fixture_run(&forward, 0);
  const uattn_tensor_t *out = &forward.tensors.results[UATTN_RESULT_OUT];
  const uattn_tensor_t *v = &forward.tensors.operands[UATTN_OPERAND_V];
  assert_memory_equal(out->data, v->data, host_tensor_bytes(v));
  host_fixture_run(&backward, 0);
  const uattn_tensor_t *results = backward.tensors.results;
  assert_true(sum_of_squares(&results[UATTN_RESULT_DQ]) == 0);
  assert_true(sum_of_squares(&results[UATTN_RESULT_DK]) == 0);
  assert_true(sum_of_squares(&results[UATTN_RESULT_DTEMP]) == 0);
  assert_true(sum_of_squares(&results[UATTN_RESULT_DV]) > 0);
  host_fixture_destroy(&forward);
  host_fixture_destroy(&backward);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(dead_rows_change_no_result),
      cmocka_unit_test(dead_rows_change_no_gradient),
      cmocka_unit_test(dead_rows_have_zero_results),
      cmocka_unit_test(live_nan_reaches_those_who_see_it),
      cmocka_unit_test(live_nan_reaches_the_gradient),
      cmocka_unit_test(live_nan_of_keys_spares_dead_queries),
      cmocka_unit_test(logits_that_all_are_minus_infinity_give_nan),
      cmocka_unit_test(single_keys_give_exact_results)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
