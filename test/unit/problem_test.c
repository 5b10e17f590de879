/* Tests of the problem's names, sizes, shapes and types.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "uattn/problem.h"

static const uattn_problem_t forward = {
    .kind = UATTN_OP_FORWARD,
    .dtype = UATTN_DTYPE_F16,
    .temp_dtype = UATTN_DTYPE_BF16,
    .batch = 2,
    .q_tokens = 3,
    .kv_tokens = UATTN_DIM_DYNAMIC,
    .q_heads = 10,
    .kv_heads = 5,
    .head_dim = 64,
};

static uattn_problem_t backward_problem(void) {
  uattn_problem_t problem = forward;
  problem.kind = UATTN_OP_BACKWARD;
  return problem;
}

static void names_and_sizes_of_types(void **state) {
  (void)state;
  static const struct {
    uattn_dtype_t dtype;
    const char *name;
    size_t bytes;
  } cases[] = {
      {UATTN_DTYPE_BF16, "bf16", 2},
      {UATTN_DTYPE_F16, "f16", 2},
      {UATTN_DTYPE_F32, "f32", 4},
      {UATTN_DTYPE_I32, "i32", 4},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    assert_string_equal(uattn_dtype_name(cases[i].dtype), cases[i].name);
    assert_int_equal(uattn_dtype_bytes(cases[i].dtype), cases[i].bytes);
  }
}

static void numbers_outside_an_enumeration_are_unknown(void **state) {
  (void)state;
  assert_string_equal(uattn_dtype_name((uattn_dtype_t)4), "unknown");
  assert_int_equal(uattn_dtype_bytes((uattn_dtype_t)-1), 0);
  assert_string_equal(uattn_cap_method_name((uattn_cap_method_t)4), "unknown");
  assert_string_equal(uattn_operand_name((uattn_operand_t)11), "unknown");
  assert_string_equal(uattn_result_name(UATTN_OP_FORWARD, 2), "unknown");
  assert_string_equal(uattn_result_name(UATTN_OP_BACKWARD, 4), "unknown");
  assert_string_equal(uattn_result_name(UATTN_OP_BACKWARD, -1), "unknown");
}

static void cap_names_parse_back(void **state) {
  (void)state;
  for (int i = 0; i < 4; ++i) {
    uattn_cap_method_t method = UATTN_CAP_NONE;
    assert_true(uattn_cap_method_parse(
        uattn_cap_method_name((uattn_cap_method_t)i), &method));
    assert_int_equal(method, i);
  }
  assert_string_equal(uattn_cap_method_name(UATTN_CAP_SOFT_SIGN), "soft_sign");
}

static void other_names_are_no_cap(void **state) {
  (void)state;
  static const char *const names[] = {"", "Tanh", "tanh ", "softsign", "al"};
  for (size_t i = 0; i < COUNT_OF(names); ++i) {
    uattn_cap_method_t method = UATTN_CAP_ALSC;
    assert_false(uattn_cap_method_parse(names[i], &method));
    assert_int_equal(method, UATTN_CAP_ALSC);
  }
}

static void operands_and_results_are_in_the_ops_order(void **state) {
  (void)state;
  static const char *const operands[] = {
      "q",   "k",   "v",    "temp", "bounds", "q_segment_ids", "kv_segment_ids",
      "out", "lse", "dout", "dlse"};
  assert_int_equal(uattn_operand_count(UATTN_OP_FORWARD), 7);
  assert_int_equal(uattn_operand_count(UATTN_OP_BACKWARD), COUNT_OF(operands));
  for (size_t i = 0; i < COUNT_OF(operands); ++i)
    assert_string_equal(uattn_operand_name((uattn_operand_t)i), operands[i]);
  static const char *const gradients[] = {"dq", "dk", "dv", "dtemp"};
  assert_int_equal(uattn_result_count(UATTN_OP_FORWARD), 2);
  assert_int_equal(uattn_result_count(UATTN_OP_BACKWARD), 4);
  assert_string_equal(uattn_result_name(UATTN_OP_FORWARD, 0), "out");
  assert_string_equal(uattn_result_name(UATTN_OP_FORWARD, 1), "lse");
  for (int i = 0; i < 4; ++i)
    assert_string_equal(uattn_result_name(UATTN_OP_BACKWARD, i), gradients[i]);
}

typedef struct {
  int rank;
  int64_t shape[4];
  uattn_dtype_t dtype;
} expected_t;

#define Q_SHAPE                                                                \
  { 4, {2, 3, 10, 64}, UATTN_DTYPE_F16 }
#define K_SHAPE                                                                \
  { 4, {2, UATTN_DIM_DYNAMIC, 5, 64}, UATTN_DTYPE_F16 }
#define LSE_SHAPE                                                              \
  { 3, {2, 10, 3}, UATTN_DTYPE_F32 }

static void operands_have_shapes_and_types(void **state) {
  (void)state;
  static const expected_t expected[UATTN_OPERAND_COUNT] = {
      Q_SHAPE,
      K_SHAPE,
      K_SHAPE,
      {2, {2, 3}, UATTN_DTYPE_BF16},
      {2, {2, 4}, UATTN_DTYPE_I32},
      {2, {2, 3}, UATTN_DTYPE_I32},
      {2, {2, UATTN_DIM_DYNAMIC}, UATTN_DTYPE_I32},
      Q_SHAPE,
      LSE_SHAPE,
      Q_SHAPE,
      LSE_SHAPE,
  };
  uattn_problem_t problem = backward_problem();
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    uattn_operand_t operand = (uattn_operand_t)i;
    int64_t shape[4] = {0};
    assert_int_equal(uattn_operand_shape(&problem, operand, shape),
                     expected[i].rank);
    assert_memory_equal(shape, expected[i].shape, sizeof shape);
    assert_int_equal(uattn_operand_dtype(&problem, operand), expected[i].dtype);
  }
}

static void assert_results(const uattn_problem_t *problem,
                           const expected_t *expected) {
  for (int i = 0; i < uattn_result_count(problem->kind); ++i) {
    int64_t shape[4] = {0};
    assert_int_equal(uattn_result_shape(problem, i, shape), expected[i].rank);
    assert_memory_equal(shape, expected[i].shape, sizeof shape);
    assert_int_equal(uattn_result_dtype(problem, i), expected[i].dtype);
  }
}

static void results_have_shapes_and_types(void **state) {
  (void)state;
  static const expected_t forward_results[] = {Q_SHAPE, LSE_SHAPE};
  assert_results(&forward, forward_results);
  static const expected_t backward_results[] = {
      Q_SHAPE, K_SHAPE, K_SHAPE, {2, {2, 3}, UATTN_DTYPE_F32}};
  uattn_problem_t problem = backward_problem();
  assert_results(&problem, backward_results);
}

static void ask_for_third_forward_result(void) {
  int64_t shape[4];
  (void)uattn_result_shape(&forward, 2, shape);
}

static void ask_for_twelfth_operand(void) {
  (void)uattn_operand_dtype(&forward, (uattn_operand_t)11);
}

static void absent_indices_are_our_bug(void **state) {
  (void)state;
  assert_aborts(ask_for_third_forward_result);
  assert_aborts(ask_for_twelfth_operand);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_and_sizes_of_types),
      cmocka_unit_test(numbers_outside_an_enumeration_are_unknown),
      cmocka_unit_test(cap_names_parse_back),
      cmocka_unit_test(other_names_are_no_cap),
      cmocka_unit_test(operands_and_results_are_in_the_ops_order),
      cmocka_unit_test(operands_have_shapes_and_types),
      cmocka_unit_test(results_have_shapes_and_types),
      cmocka_unit_test(absent_indices_are_our_bug),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
