/* Tests of the reference's options, chosen rows and refusals.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_fixture.h"

static uattn_problem_t some_problem(uattn_op_kind_t kind) {
  uattn_problem_t problem = {.kind = kind,
                             .batch = 2,
                             .q_tokens = 37,
                             .kv_tokens = 41,
                             .q_heads = 4,
                             .kv_heads = 2,
                             .sm_scale = 0.125,
                             .is_causal = true,
                             .q_offset = 3,
                             .cap = {.method = UATTN_CAP_TANH, .cap = 2}};
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  return problem;
}

static fixture_t some_fixture(uattn_op_kind_t kind) {
  fixture_t fixture = fixture_create(some_problem(kind));
  if (kind == UATTN_OP_BACKWARD)
    fixture_fill_forward_results(&fixture, UATTN_DTYPE_BF16);
  return fixture;
}

static void thread_count_does_not_matter(void **state) {
  (void)state;
  for (int kind = 0; kind < 2; ++kind) {
    fixture_t one = some_fixture((uattn_op_kind_t)kind);
    fixture_t many = some_fixture((uattn_op_kind_t)kind);
    uattn_reference_options_t options = {.struct_size = sizeof options,
                                         .thread_count = 1};
    fixture_run(&one, &options);
    options.thread_count = 7;
    fixture_run(&many, &options);
    for (int i = 0; i < uattn_result_count(one.problem.kind); ++i)
      assert_memory_equal(one.results[i], many.results[i],
                          fixture_result_size(&one, i) * sizeof(double));
    fixture_destroy(&one);
    fixture_destroy(&many);
  }
}

/* One row in the middle of the second batch, then the very first. */
static const int64_t q_rows[] = {37 + 20, 0};
static const int64_t kv_rows[] = {41 + 40, 7, 0};

/* `rows` of a result with `row_size` numbers a token are those of the whole. */
static void assert_rows(const double *chosen, const double *whole,
                        const int64_t *rows, size_t row_count,
                        size_t row_size) {
  for (size_t n = 0; n < row_count; ++n)
    assert_memory_equal(chosen + n * row_size,
                        whole + (size_t)rows[n] * row_size,
                        row_size * sizeof(double));
}

static void chosen_rows_are_those_of_the_whole_forward(void **state) {
  (void)state;
  fixture_t whole = some_fixture(UATTN_OP_FORWARD);
  fixture_t chosen = some_fixture(UATTN_OP_FORWARD);
  fixture_run(&whole, NULL);
  fixture_run(&chosen, &(uattn_reference_options_t){
                           .struct_size = sizeof(uattn_reference_options_t),
                           .q_rows = q_rows,
                           .q_row_count = COUNT_OF(q_rows)});
  assert_rows(chosen.results[UATTN_RESULT_OUT], whole.results[UATTN_RESULT_OUT],
              q_rows, COUNT_OF(q_rows), 4 * 64);
  for (size_t head = 0; head < 4; ++head)
    for (size_t n = 0; n < COUNT_OF(q_rows); ++n) {
      size_t batch = (size_t)q_rows[n] / 37;
      size_t token = (size_t)q_rows[n] % 37;
      assert_true(
          chosen.results[UATTN_RESULT_LSE][head * COUNT_OF(q_rows) + n] ==
          whole.results[UATTN_RESULT_LSE][(batch * 4 + head) * 37 + token]);
    }
  fixture_destroy(&whole);
  fixture_destroy(&chosen);
}

static void check_chosen_backward(bool uses_given_out) {
  fixture_t whole = some_fixture(UATTN_OP_BACKWARD);
  fixture_t chosen = some_fixture(UATTN_OP_BACKWARD);
  uattn_reference_options_t options = {.struct_size = sizeof options,
                                       .uses_given_out = uses_given_out};
  fixture_run(&whole, &options);
  options.q_rows = q_rows;
  options.q_row_count = COUNT_OF(q_rows);
  options.kv_rows = kv_rows;
  options.kv_row_count = COUNT_OF(kv_rows);
  fixture_run(&chosen, &options);
  assert_rows(chosen.results[UATTN_RESULT_DQ], whole.results[UATTN_RESULT_DQ],
              q_rows, COUNT_OF(q_rows), 4 * 64);
  assert_rows(chosen.results[UATTN_RESULT_DTEMP],
              whole.results[UATTN_RESULT_DTEMP], q_rows, COUNT_OF(q_rows), 1);
  assert_rows(chosen.results[UATTN_RESULT_DK], whole.results[UATTN_RESULT_DK],
              kv_rows, COUNT_OF(kv_rows), 2 * 64);
  assert_rows(chosen.results[UATTN_RESULT_DV], whole.results[UATTN_RESULT_DV],
              kv_rows, COUNT_OF(kv_rows), 2 * 64);
  fixture_destroy(&whole);
  fixture_destroy(&chosen);
}

static void chosen_rows_are_those_of_the_whole_backward(void **state) {
  (void)state;
  check_chosen_backward(false);
  check_chosen_backward(true);
}

static uattn_reference_tensors_t tensors_of(const fixture_t *fixture) {
  uattn_reference_tensors_t tensors = {0};
  for (int i = 0; i < UATTN_OPERAND_COUNT; ++i)
    tensors.operands[i] = fixture->numbers[i];
  return tensors;
}

static void results_that_are_not_wanted_are_left_out(void **state) {
  (void)state;
  fixture_t fixture = some_fixture(UATTN_OP_BACKWARD);
  fixture_run(&fixture, NULL);
  double *dk =
      calloc(fixture_result_size(&fixture, UATTN_RESULT_DK), sizeof(double));
  uattn_reference_tensors_t tensors = tensors_of(&fixture);
  tensors.results[UATTN_RESULT_DK] = dk;
  assert_ok(uattn_reference_run(&fixture.problem, &tensors, NULL));
  assert_memory_equal(dk, fixture.results[UATTN_RESULT_DK],
                      fixture_result_size(&fixture, UATTN_RESULT_DK) *
                          sizeof(double));
  free(dk);
  fixture_destroy(&fixture);
}

static void fields_past_the_callers_size_are_not_read(void **state) {
  (void)state;
  fixture_t fixture = some_fixture(UATTN_OP_FORWARD);
  fixture_run(&fixture,
              &(uattn_reference_options_t){
                  .struct_size = offsetof(uattn_reference_options_t, q_rows),
                  .q_rows = (const int64_t *)8,
                  .q_row_count = 1000});
  fixture_destroy(&fixture);
}

static void assert_refused(const fixture_t *fixture,
                           const uattn_reference_options_t *options,
                           const char *message) {
  uattn_reference_tensors_t tensors = tensors_of(fixture);
  assert_error(uattn_reference_run(&fixture->problem, &tensors, options),
               UATTN_ERROR_INVALID_ARGUMENT, message);
}

static void bad_arguments_are_refused(void **state) {
  (void)state;
  fixture_t fixture = some_fixture(UATTN_OP_FORWARD);
  const size_t struct_size = sizeof(uattn_reference_options_t);
  assert_refused(&fixture,
                 &(uattn_reference_options_t){.struct_size = struct_size,
                                              .thread_count = -2},
                 "thread_count is -2: expected 0 or more");
  assert_refused(&fixture,
                 &(uattn_reference_options_t){.struct_size = struct_size,
                                              .q_rows = (int64_t[]){0, 74},
                                              .q_row_count = 2},
                 "q_rows[1] is 74: expected 0 to 73");
  assert_refused(&fixture,
                 &(uattn_reference_options_t){.struct_size = struct_size,
                                              .kv_rows = (int64_t[]){-1},
                                              .kv_row_count = 1},
                 "kv_rows[0] is -1: expected 0 to 81");
  float *k = fixture.numbers[UATTN_OPERAND_K];
  fixture.numbers[UATTN_OPERAND_K] = NULL;
  assert_refused(&fixture, NULL,
                 "operand k has no data: the reference expects an array");
  fixture.numbers[UATTN_OPERAND_K] = k;
  fixture.problem.kv_tokens = UATTN_DIM_DYNAMIC;
  assert_refused(&fixture, NULL,
                 "kv_tokens is dynamic: the reference expects a number");
  fixture.problem.kv_tokens = 0;
  uattn_reference_tensors_t tensors = tensors_of(&fixture);
  uattn_error_t *error = uattn_reference_run(&fixture.problem, &tensors, NULL);
  assert_non_null(error); /* the problem's own rules hold */
  uattn_error_destroy(error);
  fixture_destroy(&fixture);
}

static void dtemp_without_temp_is_refused(void **state) {
  (void)state;
  fixture_t fixture = some_fixture(UATTN_OP_BACKWARD);
  fixture.problem.has_operand[UATTN_OPERAND_TEMP] = false;
  fixture.problem.has_result[UATTN_RESULT_DTEMP] = false;
  uattn_reference_tensors_t tensors = tensors_of(&fixture);
  tensors.results[UATTN_RESULT_DTEMP] = fixture.results[UATTN_RESULT_DTEMP];
  assert_error(uattn_reference_run(&fixture.problem, &tensors, NULL),
               UATTN_ERROR_INVALID_ARGUMENT,
               "dtemp is wanted of an op without temp: expected temp");
  fixture_destroy(&fixture);
}

static void rows_are_chosen_from_end_to_end(void **state) {
  (void)state;
  int64_t rows[100];
  assert_int_equal(uattn_reference_choose_rows(1000003, 100, rows), 100);
  assert_int_equal(rows[0], 0);
  assert_int_equal(rows[99], 1000002);
  int places_in_tile[64] = {0};
  for (int n = 1; n < 100; ++n) {
    assert_true(rows[n] > rows[n - 1]);
    assert_true(rows[n] - rows[n - 1] < 3 * 1000003 / 100);
    ++places_in_tile[rows[n] % 64];
  }
  int distinct = 0;
  for (int place = 0; place < 64; ++place)
    distinct += places_in_tile[place] > 0;
  assert_true(distinct > 32);
}

static void few_rows_are_all_chosen(void **state) {
  (void)state;
  int64_t rows[5] = {9, 9, 9, 9, 9};
  assert_int_equal(uattn_reference_choose_rows(3, 5, rows), 3);
  assert_true(rows[0] == 0 && rows[1] == 1 && rows[2] == 2 && rows[3] == 9);
  assert_int_equal(uattn_reference_choose_rows(7, 1, rows), 1);
  assert_int_equal(rows[0], 0);
  assert_int_equal(uattn_reference_choose_rows(0, 5, rows), 0);
  assert_int_equal(uattn_reference_choose_rows(5, 0, rows), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thread_count_does_not_matter),
      cmocka_unit_test(chosen_rows_are_those_of_the_whole_forward),
      cmocka_unit_test(chosen_rows_are_those_of_the_whole_backward),
      cmocka_unit_test(results_that_are_not_wanted_are_left_out),
      cmocka_unit_test(fields_past_the_callers_size_are_not_read),
      cmocka_unit_test(bad_arguments_are_refused),
      cmocka_unit_test(dtemp_without_temp_is_refused),
      cmocka_unit_test(rows_are_chosen_from_end_to_end),
      cmocka_unit_test(few_rows_are_all_chosen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
