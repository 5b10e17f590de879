/* Tests of the verdict on a computed result.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "uattn/reference.h"

enum { TOKENS = 3, HEADS = 2, HEAD_DIM = 64, BATCH = 2 };
enum { ROW_COUNT = BATCH * TOKENS * HEADS, OUT_SIZE = ROW_COUNT * HEAD_DIM };

static uattn_problem_t problem_of(uattn_op_kind_t kind, uattn_dtype_t dtype) {
  return (uattn_problem_t){.kind = kind,
                           .dtype = dtype,
                           .batch = BATCH,
                           .q_tokens = TOKENS,
                           .kv_tokens = TOKENS + 1,
                           .q_heads = HEADS,
                           .kv_heads = 1,
                           .head_dim = HEAD_DIM,
                           .sm_scale = 1};
}

/* An out whose numbers are all 1, computed exactly. */
typedef struct {
  float computed[OUT_SIZE];
  double wanted[OUT_SIZE];
} out_t;

static out_t make_out(void) {
  out_t out;
  for (int i = 0; i < OUT_SIZE; ++i) {
    out.computed[i] = 1;
    out.wanted[i] = 1;
  }
  return out;
}

static uattn_comparison_t compare_as(const uattn_problem_t *problem, int result,
                                     const float *computed,
                                     const double *wanted) {
  return uattn_reference_compare(
      problem, &(uattn_comparison_inputs_t){.result = result,
                                            .computed = computed,
                                            .reference = wanted});
}

static uattn_comparison_t compare_out(const out_t *out, uattn_dtype_t dtype) {
  uattn_problem_t problem = problem_of(UATTN_OP_FORWARD, dtype);
  return compare_as(&problem, UATTN_RESULT_OUT, out->computed, out->wanted);
}

static void equal_results_are_right(void **state) {
  (void)state;
  out_t out = make_out();
  uattn_comparison_t found = compare_out(&out, UATTN_DTYPE_BF16);
  assert_true(found.is_within_bound);
  assert_true(found.error == 0);
  assert_false(found.is_absolute);
}

static void error_is_relative_to_the_whole(void **state) {
  (void)state;
  out_t out = make_out();
  for (int i = 0; i < OUT_SIZE; ++i)
    out.computed[i] = 1 + 1.0f / 1024;
  uattn_comparison_t found = compare_out(&out, UATTN_DTYPE_BF16);
  assert_true(fabs(found.error - 1.0 / 1024) < 1e-12);
}

static void wrong_row_is_over_the_bound_and_named(void **state) {
  (void)state;
  out_t out = make_out();
  /* batch 1, token 2, head 0 */
  for (int d = 0; d < HEAD_DIM; ++d)
    out.computed[((1 * TOKENS + 2) * HEADS + 0) * HEAD_DIM + d] = 2;
  uattn_comparison_t found = compare_out(&out, UATTN_DTYPE_BF16);
  assert_false(found.is_within_bound);
  assert_true(fabs(found.error - sqrt(1.0 / ROW_COUNT)) < 1e-12);
  assert_int_equal(found.worst_batch, 1);
  assert_int_equal(found.worst_token, 2);
  assert_int_equal(found.worst_head, 0);
  assert_true(fabs(found.worst_row_error - 1) < 1e-12);
}

/* The bounds of each kind and type, from either side. */
static void bounds_are_those_of_the_semantics(void **state) {
  (void)state;
  static const struct {
    uattn_op_kind_t kind;
    uattn_dtype_t dtype;
    double bound;
  } cases[] = {{UATTN_OP_FORWARD, UATTN_DTYPE_BF16, 5e-3},
               {UATTN_OP_FORWARD, UATTN_DTYPE_F16, 1e-3},
               {UATTN_OP_BACKWARD, UATTN_DTYPE_BF16, 1.2e-2},
               {UATTN_OP_BACKWARD, UATTN_DTYPE_F16, 3e-3}};
  for (size_t n = 0; n < COUNT_OF(cases); ++n) {
    uattn_problem_t problem = problem_of(cases[n].kind, cases[n].dtype);
    for (int side = 0; side < 2; ++side) {
      out_t out = make_out();
      for (int i = 0; i < OUT_SIZE; ++i)
        out.computed[i] = 1 + (float)(cases[n].bound * (side ? 1.01 : 0.99));
      uattn_comparison_t found =
          compare_as(&problem, 0, out.computed, out.wanted);
      assert_true(found.bound == cases[n].bound);
      assert_true(found.is_within_bound == (side == 0));
    }
  }
}

static void nan_or_infinity_is_never_right(void **state) {
  (void)state;
  static const float values[] = {NAN, INFINITY, -INFINITY};
  for (size_t n = 0; n < COUNT_OF(values); ++n) {
    out_t out = make_out();
    out.computed[3 * HEAD_DIM + 5] = values[n];
    uattn_comparison_t found = compare_out(&out, UATTN_DTYPE_BF16);
    assert_false(found.is_within_bound);
    assert_true(isinf(found.error));
    assert_int_equal(found.mismatch_count, 1);
    assert_int_equal(found.worst_batch, 0);
    assert_int_equal(found.worst_token, 1);
    assert_int_equal(found.worst_head, 1);
  }
}

static void wanted_nan_must_show(void **state) {
  (void)state;
  out_t out = make_out();
  out.wanted[7] = NAN;
  assert_false(compare_out(&out, UATTN_DTYPE_BF16).is_within_bound);
  out.computed[7] = NAN;
  assert_true(compare_out(&out, UATTN_DTYPE_BF16).is_within_bound);
}

/* 1e5 is infinite in f16 and not in bf16. */
static void overflow_of_the_type_is_wanted(void **state) {
  (void)state;
  out_t out = make_out();
  out.wanted[7] = 1e5;
  out.computed[7] = INFINITY;
  assert_true(compare_out(&out, UATTN_DTYPE_F16).is_within_bound);
  assert_false(compare_out(&out, UATTN_DTYPE_BF16).is_within_bound);
}

static void zero_result_compares_absolutely(void **state) {
  (void)state;
  out_t out = make_out();
  memset(out.wanted, 0, sizeof out.wanted);
  memset(out.computed, 0, sizeof out.computed);
  out.computed[0] = 5e-7f;
  uattn_comparison_t found = compare_out(&out, UATTN_DTYPE_BF16);
  assert_true(found.is_absolute && found.is_within_bound);
  assert_true(found.bound == 1e-6);
  out.computed[0] = 2e-6f;
  assert_false(compare_out(&out, UATTN_DTYPE_BF16).is_within_bound);
}

/* [batch, head, token]; all 10 but for one row without an allowed key. */
enum { LSE_SIZE = BATCH * HEADS * TOKENS, EMPTY_ROW = 4 };
typedef struct {
  float computed[LSE_SIZE];
  double wanted[LSE_SIZE];
} lse_t;

static lse_t make_lse(void) {
  lse_t lse;
  for (int i = 0; i < LSE_SIZE; ++i) {
    lse.computed[i] = i == EMPTY_ROW ? -INFINITY : 10;
    lse.wanted[i] = (double)lse.computed[i];
  }
  return lse;
}

static uattn_comparison_t compare_lse(const lse_t *lse) {
  uattn_problem_t problem = problem_of(UATTN_OP_FORWARD, UATTN_DTYPE_BF16);
  return compare_as(&problem, UATTN_RESULT_LSE, lse->computed, lse->wanted);
}

/* 2e-3 + 1e-3 * 10 */
static void lse_has_a_bound_for_each_number(void **state) {
  (void)state;
  lse_t lse = make_lse();
  assert_true(compare_lse(&lse).is_within_bound);
  lse.computed[9] = 10.0115f; /* batch 1, head 1, token 0 */
  uattn_comparison_t found = compare_lse(&lse);
  assert_true(found.is_within_bound && found.is_absolute);
  assert_true(fabs(found.bound - 12e-3) < 1e-12);
  assert_true(fabs(found.error - 0.0115) < 1e-6);
  assert_int_equal(found.worst_batch, 1);
  assert_int_equal(found.worst_head, 1);
  assert_int_equal(found.worst_token, 0);
  lse.computed[9] = 10.0125f;
  assert_false(compare_lse(&lse).is_within_bound);
}

static void empty_rows_of_lse_must_agree(void **state) {
  (void)state;
  static const struct {
    int row;
    float value;
  } wrong[] = {{EMPTY_ROW, -1e30f},
               {EMPTY_ROW, NAN},
               {EMPTY_ROW, INFINITY},
               {0, -INFINITY},
               {0, NAN}};
  for (size_t n = 0; n < COUNT_OF(wrong); ++n) {
    lse_t lse = make_lse();
    lse.computed[wrong[n].row] = wrong[n].value;
    uattn_comparison_t found = compare_lse(&lse);
    assert_false(found.is_within_bound);
    assert_int_equal(found.mismatch_count, 1);
  }
}

static void key_gradients_have_the_keys_shape(void **state) {
  (void)state;
  enum { SIZE = BATCH * (TOKENS + 1) * HEAD_DIM };
  float computed[SIZE];
  double wanted[SIZE];
  for (int i = 0; i < SIZE; ++i)
    wanted[i] = computed[i] = 1;
  computed[SIZE - 1] = 9;
  uattn_problem_t problem = problem_of(UATTN_OP_BACKWARD, UATTN_DTYPE_BF16);
  uattn_comparison_t found =
      compare_as(&problem, UATTN_RESULT_DV, computed, wanted);
  assert_false(found.is_within_bound);
  assert_int_equal(found.worst_batch, 1);
  assert_int_equal(found.worst_token, TOKENS);
  assert_int_equal(found.worst_head, 0);
}

static void dtemp_has_no_heads(void **state) {
  (void)state;
  float computed[BATCH * TOKENS] = {1, 1, 1, 1, 2, 1};
  double wanted[BATCH * TOKENS] = {1, 1, 1, 1, 1, 1};
  uattn_problem_t problem = problem_of(UATTN_OP_BACKWARD, UATTN_DTYPE_BF16);
  uattn_comparison_t found =
      compare_as(&problem, UATTN_RESULT_DTEMP, computed, wanted);
  assert_false(found.is_within_bound);
  assert_int_equal(found.worst_batch, 1);
  assert_int_equal(found.worst_token, 1);
  assert_int_equal(found.worst_head, -1);
}

static void chosen_rows_compare_with_a_whole_result(void **state) {
  (void)state;
  const int64_t rows[] = {5, 1}; /* batch 1 token 2, batch 0 token 1 */
  uattn_problem_t problem = problem_of(UATTN_OP_FORWARD, UATTN_DTYPE_BF16);
  float computed[LSE_SIZE];
  double wanted[2 * HEADS] = {0};
  for (int i = 0; i < LSE_SIZE; ++i)
    computed[i] = (float)i; /* [batch, head, token] */
  wanted[0] = 8;            /* [head, row] */
  wanted[1] = 1;
  wanted[2] = 11;
  wanted[3] = 4;
  uattn_comparison_inputs_t inputs = {.result = UATTN_RESULT_LSE,
                                      .computed = computed,
                                      .reference = wanted,
                                      .rows = rows,
                                      .row_count = 2};
  assert_true(uattn_reference_compare(&problem, &inputs).is_within_bound);
  computed[11] = 12;
  uattn_comparison_t found = uattn_reference_compare(&problem, &inputs);
  assert_false(found.is_within_bound);
  assert_int_equal(found.worst_batch, 1);
  assert_int_equal(found.worst_token, 2);
  assert_int_equal(found.worst_head, 1);
}

static void nothing_compared_is_not_right(void **state) {
  (void)state;
  const int64_t rows[1] = {0};
  out_t out = make_out();
  uattn_problem_t problem = problem_of(UATTN_OP_FORWARD, UATTN_DTYPE_BF16);
  uattn_comparison_inputs_t inputs = {.computed = out.computed,
                                      .reference = out.wanted,
                                      .rows = rows,
                                      .row_count = 0};
  assert_false(uattn_reference_compare(&problem, &inputs).is_within_bound);
}

static void line_says_it_all(void **state) {
  (void)state;
  char line[256];
  uattn_problem_t problem = problem_of(UATTN_OP_FORWARD, UATTN_DTYPE_BF16);
  uattn_comparison_t comparison = {.is_within_bound = true,
                                   .error = 2.1e-3,
                                   .bound = 5e-3,
                                   .worst_token = 17,
                                   .worst_head = 3,
                                   .worst_row_error = 4e-3};
  uattn_comparison_format(&problem, UATTN_RESULT_OUT, &comparison, line,
                          sizeof line);
  assert_string_equal(line, "out: relative error 2.10e-03, bound 5.00e-03, "
                            "worst row batch 0 token 17 head 3 with 4.00e-03: "
                            "ok");
  comparison = (uattn_comparison_t){.error = INFINITY,
                                    .bound = 1.2e-2,
                                    .mismatch_count = 5,
                                    .worst_head = -1,
                                    .worst_row_error = INFINITY};
  problem.kind = UATTN_OP_BACKWARD;
  uattn_comparison_format(&problem, UATTN_RESULT_DTEMP, &comparison, line,
                          sizeof line);
  assert_string_equal(line, "dtemp: relative error inf, bound 1.20e-02, worst "
                            "row batch 0 token 0 with inf, 5 numbers NaN or "
                            "infinite on one side only: over its bound");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_results_are_right),
      cmocka_unit_test(error_is_relative_to_the_whole),
      cmocka_unit_test(wrong_row_is_over_the_bound_and_named),
      cmocka_unit_test(bounds_are_those_of_the_semantics),
      cmocka_unit_test(nan_or_infinity_is_never_right),
      cmocka_unit_test(wanted_nan_must_show),
      cmocka_unit_test(overflow_of_the_type_is_wanted),
      cmocka_unit_test(zero_result_compares_absolutely),
      cmocka_unit_test(lse_has_a_bound_for_each_number),
      cmocka_unit_test(empty_rows_of_lse_must_agree),
      cmocka_unit_test(key_gradients_have_the_keys_shape),
      cmocka_unit_test(dtemp_has_no_heads),
      cmocka_unit_test(chosen_rows_compare_with_a_whole_result),
      cmocka_unit_test(nothing_compared_is_not_right),
      cmocka_unit_test(line_says_it_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
