/* Tests of inputs drawn from a seed.
 * Layer: test. Must not know: anything above the layers that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include <math.h>

#include "draw_inputs.h"
#include "random_stream.h"
#include "spec/spec.h"
#include "uattn/reference.h"

enum { BATCH = 3, TOKENS = 100, HEADS = 2, HEAD_DIM = 64 };

static const uattn_draw_options_t some_options = {.seed = 42,
                                                  .thread_count = 1};

/* With every operand of its kind. */
static uattn_problem_t full_problem(uattn_op_kind_t kind) {
  uattn_problem_t problem = {.kind = kind,
                             .dtype = UATTN_DTYPE_BF16,
                             .temp_dtype = UATTN_DTYPE_F32,
                             .batch = BATCH,
                             .q_tokens = TOKENS,
                             .kv_tokens = TOKENS,
                             .q_heads = HEADS,
                             .kv_heads = HEADS,
                             .head_dim = HEAD_DIM,
                             .sm_scale = 0.125};
  for (int i = 0; i < uattn_operand_count(kind); ++i)
    problem.has_operand[i] = true;
  problem.has_result[0] = true;
  problem.has_result[1] = problem.has_result[2] = problem.has_result[3] =
      kind == UATTN_OP_BACKWARD;
  return problem;
}

static size_t operand_bytes(const uattn_problem_t *problem, int operand) {
  int64_t shape[4] = {0};
  int rank = uattn_operand_shape(problem, (uattn_operand_t)operand, shape);
  size_t bytes = 4;
  for (int dim = 0; dim < rank; ++dim)
    bytes *= (size_t)shape[dim];
  return bytes;
}

static void free_operands(void *operands[UATTN_OPERAND_COUNT]) {
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    free(operands[i]);
}

static void one_seed_gives_one_draw(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_BACKWARD);
  void *first[UATTN_OPERAND_COUNT] = {0};
  void *second[UATTN_OPERAND_COUNT] = {0};
  assert_ok(uattn_draw_missing_inputs(&problem, &some_options, first));
  assert_ok(uattn_draw_missing_inputs(&problem, &some_options, second));
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i) {
    assert_non_null(first[i]);
    assert_memory_equal(first[i], second[i], operand_bytes(&problem, i));
  }
  free_operands(first);
  free_operands(second);
}

/* Bits that every machine must give for seed 42. */
static void draws_are_pinned(void **state) {
  (void)state;
  uint64_t key = uattn_random_key(42, 0, 0);
  assert_true(uattn_random_bits(key, 0) == UINT64_C(0xc16129ecd0dc5b93));
  assert_true(uattn_random_bits(key, 1) == UINT64_C(0x723ad4cbd7c9b07b));
  float q[BATCH * TOKENS * HEADS * HEAD_DIM];
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  uattn_draw_operand(&problem, UATTN_OPERAND_Q, &some_options, q);
  const float wanted[] = {0.69140625f, -0.134765625f, -0.6953125f, 0.5859375f};
  assert_memory_equal(q, wanted, sizeof wanted);
}

static void seeds_and_ops_and_operands_differ(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  enum { SIZE = BATCH * TOKENS * HEADS * HEAD_DIM };
  static float base[SIZE];
  static float other[SIZE];
  const uattn_draw_options_t others[] = {{.seed = 43},
                                         {.seed = 42, .op_index = 1}};
  uattn_draw_operand(&problem, UATTN_OPERAND_Q, &some_options, base);
  for (size_t n = 0; n < COUNT_OF(others); ++n) {
    uattn_draw_operand(&problem, UATTN_OPERAND_Q, &others[n], other);
    assert_memory_not_equal(base, other, sizeof base);
  }
  uattn_draw_operand(&problem, UATTN_OPERAND_K, &some_options, other);
  assert_memory_not_equal(base, other, sizeof base);
}

static void giving_one_operand_leaves_the_others(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  void *all[UATTN_OPERAND_COUNT] = {0};
  void *others[UATTN_OPERAND_COUNT] = {0};
  float *k = calloc(operand_bytes(&problem, UATTN_OPERAND_K), 1);
  others[UATTN_OPERAND_K] = k;
  assert_ok(uattn_draw_missing_inputs(&problem, &some_options, all));
  assert_ok(uattn_draw_missing_inputs(&problem, &some_options, others));
  assert_ptr_equal(others[UATTN_OPERAND_K], k);
  assert_true(k[0] == 0 && k[1] == 0);
  for (int i = 0; i < UATTN_FORWARD_OPERAND_COUNT; ++i)
    if (i != UATTN_OPERAND_K)
      assert_memory_equal(all[i], others[i], operand_bytes(&problem, i));
  free_operands(all);
  free_operands(others);
}

static void absent_operands_stay_absent(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  problem.has_operand[UATTN_OPERAND_TEMP] = false;
  void *operands[UATTN_OPERAND_COUNT] = {0};
  assert_ok(uattn_draw_missing_inputs(&problem, &some_options, operands));
  assert_null(operands[UATTN_OPERAND_TEMP]);
  assert_null(operands[UATTN_OPERAND_LSE]);
  assert_non_null(operands[UATTN_OPERAND_Q]);
  free_operands(operands);
}

/* Mean, variance and fourth moment of N(0, 1) with 38400 draws: the standard
 * deviations of the three are 0.005, 0.007 and 0.05. */
static void numbers_are_normal(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  enum { SIZE = BATCH * TOKENS * HEADS * HEAD_DIM };
  static float q[SIZE];
  uattn_draw_operand(&problem, UATTN_OPERAND_Q, &some_options, q);
  double moments[5] = {0};
  int beyond_two = 0;
  for (int i = 0; i < SIZE; ++i) {
    double power = 1;
    for (int n = 0; n < 5; ++n, power *= (double)q[i])
      moments[n] += power / SIZE;
    beyond_two += fabsf(q[i]) > 2;
    assert_true(uattn_round_to_dtype(q[i], UATTN_DTYPE_BF16) == q[i]);
  }
  assert_true(fabs(moments[1]) < 0.02);
  assert_true(fabs(moments[2] - 1) < 0.03);
  assert_true(fabs(moments[4] - 3) < 0.25);
  assert_true(abs(beyond_two - (int)(0.0455 * SIZE)) < 200);
}

static void temp_is_uniform(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  float temp[BATCH * TOKENS];
  uattn_draw_operand(&problem, UATTN_OPERAND_TEMP, &some_options, temp);
  double sum = 0;
  for (size_t i = 0; i < COUNT_OF(temp); ++i) {
    assert_true(temp[i] >= 0.5f && temp[i] <= 1.5f);
    sum += (double)temp[i] / COUNT_OF(temp);
  }
  assert_true(fabs(sum - 1) < 0.07);
}

static void bounds_are_valid_and_differ(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  int32_t bounds[BATCH][4];
  uattn_draw_operand(&problem, UATTN_OPERAND_BOUNDS, &some_options, bounds);
  for (int batch = 0; batch < BATCH; ++batch) {
    assert_int_equal(bounds[batch][0], 0);
    assert_true(bounds[batch][1] >= TOKENS / 4);
    assert_int_equal(bounds[batch][2], bounds[batch][1]);
    assert_true(bounds[batch][3] > bounds[batch][2]);
    assert_true(bounds[batch][3] < TOKENS && bounds[batch][3] >= TOKENS - 9);
  }
  assert_memory_not_equal(bounds[0], bounds[1], sizeof bounds[0]);
}

static void segment_ids_agree_with_bounds(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  problem.q_tokens = 10;
  problem.q_offset = TOKENS - 10;
  int32_t bounds[BATCH][4];
  int32_t kv_ids[BATCH][TOKENS];
  int32_t q_ids[BATCH][10];
  uattn_draw_operand(&problem, UATTN_OPERAND_BOUNDS, &some_options, bounds);
  uattn_draw_operand(&problem, UATTN_OPERAND_KV_SEGMENT_IDS, &some_options,
                     kv_ids);
  uattn_draw_operand(&problem, UATTN_OPERAND_Q_SEGMENT_IDS, &some_options,
                     q_ids);
  for (int batch = 0; batch < BATCH; ++batch)
    for (int j = 0; j < TOKENS; ++j) {
      int32_t wanted = j < bounds[batch][1] ? 1 : j < bounds[batch][3] ? -1 : 0;
      assert_int_equal(kv_ids[batch][j], wanted);
      if (j >= TOKENS - 10)
        assert_int_equal(q_ids[batch][j - (TOKENS - 10)], wanted);
    }
}

static void smallest_problems_have_a_history(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  for (int64_t tokens = 1; tokens < 20; ++tokens) {
    problem.q_tokens = problem.kv_tokens = tokens;
    int32_t bounds[BATCH][4];
    uattn_draw_operand(&problem, UATTN_OPERAND_BOUNDS, &some_options, bounds);
    for (int batch = 0; batch < BATCH; ++batch) {
      assert_true(bounds[batch][1] > 0);
      assert_true(bounds[batch][1] <= bounds[batch][3]);
      assert_true(bounds[batch][3] <= tokens);
    }
  }
}

static void backward_gets_the_forwards_results(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_BACKWARD);
  void *operands[UATTN_OPERAND_COUNT] = {0};
  assert_ok(uattn_draw_missing_inputs(&problem, &some_options, operands));
  uattn_problem_t forward = full_problem(UATTN_OP_FORWARD);
  forward.has_result[UATTN_RESULT_LSE] = true;
  enum { OUT_SIZE = BATCH * TOKENS * HEADS * HEAD_DIM };
  static double out[OUT_SIZE];
  static double lse[BATCH * HEADS * TOKENS];
  uattn_reference_tensors_t tensors = {.results = {out, lse}};
  for (int i = 0; i < UATTN_FORWARD_OPERAND_COUNT; ++i)
    tensors.operands[i] = operands[i];
  assert_ok(uattn_reference_run(&forward, &tensors, NULL));
  const float *given_out = operands[UATTN_OPERAND_OUT];
  const float *given_lse = operands[UATTN_OPERAND_LSE];
  for (int i = 0; i < OUT_SIZE; ++i)
    assert_true(given_out[i] ==
                uattn_round_to_dtype((float)out[i], UATTN_DTYPE_BF16));
  for (int i = 0; i < BATCH * HEADS * TOKENS; ++i)
    assert_true(given_lse[i] == (float)lse[i]);
  free_operands(operands);
}

/* For timing: of the size that out and lse of such inputs have on average. */
static void stand_ins_are_of_the_usual_size(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_BACKWARD);
  enum { OUT_SIZE = BATCH * TOKENS * HEADS * HEAD_DIM };
  static float out[OUT_SIZE];
  static float lse[BATCH * HEADS * TOKENS];
  uattn_draw_operand(&problem, UATTN_OPERAND_OUT, &some_options, out);
  uattn_draw_operand(&problem, UATTN_OPERAND_LSE, &some_options, lse);
  double squares = 0;
  for (int i = 0; i < OUT_SIZE; ++i)
    squares += (double)out[i] * (double)out[i];
  assert_float_equal(squares / OUT_SIZE, 1.0 / TOKENS, 0.1 / TOKENS);
  for (int i = 0; i < BATCH * HEADS * TOKENS; ++i)
    assert_float_equal(lse[i], log(TOKENS) + 0.5, 1e-5);
}

/* A forward that the reference refuses: a group of heads that does not come
 * out even. */
static void failure_takes_everything_back(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_BACKWARD);
  problem.kv_heads = 3;
  void *operands[UATTN_OPERAND_COUNT] = {0};
  uattn_error_t *error =
      uattn_draw_missing_inputs(&problem, &some_options, operands);
  assert_non_null(error);
  uattn_error_destroy(error);
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    assert_null(operands[i]);
}

static void absurd_size_is_an_error(void **state) {
  (void)state;
  uattn_problem_t problem = full_problem(UATTN_OP_FORWARD);
  problem.batch = problem.q_tokens = problem.q_heads = INT32_MAX;
  void *operands[UATTN_OPERAND_COUNT] = {0};
  assert_error(uattn_draw_missing_inputs(&problem, &some_options, operands),
               UATTN_ERROR_INTERNAL, "no memory for drawing q");
  assert_null(operands[UATTN_OPERAND_Q]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_seed_gives_one_draw),
      cmocka_unit_test(draws_are_pinned),
      cmocka_unit_test(seeds_and_ops_and_operands_differ),
      cmocka_unit_test(giving_one_operand_leaves_the_others),
      cmocka_unit_test(absent_operands_stay_absent),
      cmocka_unit_test(numbers_are_normal),
      cmocka_unit_test(temp_is_uniform),
      cmocka_unit_test(bounds_are_valid_and_differ),
      cmocka_unit_test(segment_ids_agree_with_bounds),
      cmocka_unit_test(smallest_problems_have_a_history),
      cmocka_unit_test(backward_gets_the_forwards_results),
      cmocka_unit_test(stand_ins_are_of_the_usual_size),
      cmocka_unit_test(failure_takes_everything_back),
      cmocka_unit_test(absurd_size_is_an_error)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
