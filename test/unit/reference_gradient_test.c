/* Tests of the reference's backward against differences of its forward.
 * Layer: test. Must not know: anything above the reference.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_fixture.h"

/* Half the distance of a central difference; sums with the fixture's numbers
 * are exact in float. */
static const float half_step = 1.0f / 1024;

/* The loss whose gradient the backward gives: what arrives through out and
 * lse, and z-loss. */
static double loss(fixture_t *forward, const fixture_t *backward) {
  uattn_reference_options_t options = {.struct_size = sizeof options,
                                       .thread_count = 1};
  fixture_run(forward, &options);
  const float *dout = backward->numbers[UATTN_OPERAND_DOUT];
  const float *dlse = backward->numbers[UATTN_OPERAND_DLSE];
  const double *lse = forward->results[UATTN_RESULT_LSE];
  double sum = 0;
  for (size_t i = 0; i < fixture_result_size(forward, UATTN_RESULT_OUT); ++i)
    sum += (double)dout[i] * forward->results[UATTN_RESULT_OUT][i];
  for (size_t i = 0; i < fixture_result_size(forward, UATTN_RESULT_LSE); ++i) {
    if (isinf(lse[i]))
      continue; /* a row without an allowed key */
    sum += dlse ? (double)dlse[i] * lse[i] : 0;
    sum += backward->problem.z_loss_weight / 2 * lse[i] * lse[i];
  }
  return sum;
}

/* Relative Frobenius error of a result against central differences. */
static double gradient_error(fixture_t *forward, const fixture_t *backward,
                             uattn_operand_t operand, int result) {
  float *numbers = forward->numbers[operand];
  double differences = 0;
  double squares = 0;
  for (size_t i = 0; i < fixture_operand_size(forward, operand); ++i) {
    float kept = numbers[i];
    numbers[i] = kept + half_step;
    double above = loss(forward, backward);
    numbers[i] = kept - half_step;
    double below = loss(forward, backward);
    numbers[i] = kept;
    double wanted = (above - below) / (2 * (double)half_step);
    double difference = backward->results[result][i] - wanted;
    differences += difference * difference;
    squares += wanted * wanted;
  }
  assert_true(squares > 0);
  return sqrt(differences / squares);
}

static void set_integers(const fixture_t *fixture, uattn_operand_t operand,
                         const int32_t *values) {
  memcpy(fixture->integers[operand], values,
         fixture_operand_size(fixture, operand) * sizeof(int32_t));
}

/* Checks every gradient that the problem has. */
static void check_gradients(fixture_t *backward) {
  static const struct {
    uattn_operand_t operand;
    int result;
  } pairs[] = {{UATTN_OPERAND_Q, UATTN_RESULT_DQ},
               {UATTN_OPERAND_K, UATTN_RESULT_DK},
               {UATTN_OPERAND_V, UATTN_RESULT_DV},
               {UATTN_OPERAND_TEMP, UATTN_RESULT_DTEMP}};
  fixture_fill_forward_results(backward, UATTN_DTYPE_BF16);
  fixture_run(backward, NULL);
  fixture_t forward = fixture_forward_of(backward);
  for (size_t i = 0; i < COUNT_OF(pairs); ++i) {
    if (!backward->problem.has_operand[pairs[i].operand])
      continue;
    double error =
        gradient_error(&forward, backward, pairs[i].operand, pairs[i].result);
    if (!(error <= 2e-6)) /* lse is given as a float */
      fail_msg("gradient of %s: relative error %.2e: expected at most 2e-6",
               uattn_operand_name(pairs[i].operand), error);
  }
  fixture_destroy(&forward);
}

/* Everything that a mask does not need, for one cap. */
static uattn_problem_t unmasked_problem(uattn_cap_t cap) {
  uattn_problem_t problem = {.kind = UATTN_OP_BACKWARD,
                             .batch = 2,
                             .q_tokens = 3,
                             .kv_tokens = 4,
                             .q_heads = 4,
                             .kv_heads = 2,
                             .sm_scale = 0.125,
                             .cap = cap,
                             .z_loss_weight = 0.25};
  problem.has_operand[UATTN_OPERAND_TEMP] = true;
  problem.has_operand[UATTN_OPERAND_DLSE] = true;
  return problem;
}

static void check_cap(uattn_cap_t cap) {
  fixture_t fixture = fixture_create(unmasked_problem(cap));
  check_gradients(&fixture);
  fixture_destroy(&fixture);
}

/* Caps small enough to bend the logits, which are some 1.3 wide. */
static void without_cap(void **state) {
  (void)state;
  check_cap((uattn_cap_t){.method = UATTN_CAP_NONE});
}

static void tanh_cap(void **state) {
  (void)state;
  check_cap((uattn_cap_t){.method = UATTN_CAP_TANH, .cap = 1.5});
}

static void soft_sign_cap(void **state) {
  (void)state;
  check_cap((uattn_cap_t){.method = UATTN_CAP_SOFT_SIGN, .cap = 2});
}

static void alsc_cap(void **state) {
  (void)state;
  check_cap((uattn_cap_t){
      .method = UATTN_CAP_ALSC, .cap = 5, .alpha = 4, .beta = 0.5});
}

static void plain_op_without_optional_operands(void **state) {
  (void)state;
  fixture_t fixture =
      fixture_create((uattn_problem_t){.kind = UATTN_OP_BACKWARD,
                                       .batch = 1,
                                       .q_tokens = 3,
                                       .kv_tokens = 5,
                                       .q_heads = 2,
                                       .kv_heads = 1,
                                       .sm_scale = 0.125});
  check_gradients(&fixture);
  fixture_destroy(&fixture);
}

/* Rows 0 and 1 of q see nothing: 0 is dead, 1 has a segment of its own. */
static void every_mask_at_once(void **state) {
  (void)state;
  uattn_problem_t problem =
      unmasked_problem((uattn_cap_t){.method = UATTN_CAP_TANH, .cap = 1.5});
  problem.batch = 1;
  problem.q_tokens = 6;
  problem.kv_tokens = 8;
  problem.q_offset = 1;
  problem.is_causal = true;
  problem.window_tokens = 4;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = true;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = true;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = true;
  fixture_t fixture = fixture_create(problem);
  set_integers(&fixture, UATTN_OPERAND_BOUNDS, (int32_t[]){2, 5, 5, 7});
  set_integers(&fixture, UATTN_OPERAND_Q_SEGMENT_IDS,
               (int32_t[]){1, 9, 1, 1, 1, 1});
  set_integers(&fixture, UATTN_OPERAND_KV_SEGMENT_IDS,
               (int32_t[]){1, 1, 1, 2, 1, 1, 1, 1});
  check_gradients(&fixture);
  for (int i = 0; i < 2 * 4 * 64; ++i)
    assert_true(fixture.results[UATTN_RESULT_DQ][i] == 0);
  fixture_destroy(&fixture);
}

static double relative_difference(const double *found, const double *wanted,
                                  size_t size) {
  double differences = 0;
  double squares = 0;
  for (size_t i = 0; i < size; ++i) {
    differences += (found[i] - wanted[i]) * (found[i] - wanted[i]);
    squares += wanted[i] * wanted[i];
  }
  return sqrt(differences / squares);
}

/* The rounding of a given out shows in dq, dk; the row sums take it out of
 * dtemp, and dv has none. */
static void given_out_spoils_dq_but_not_dtemp(void **state) {
  (void)state;
  uattn_problem_t problem =
      unmasked_problem((uattn_cap_t){.method = UATTN_CAP_SOFT_SIGN, .cap = 2});
  fixture_t exact = fixture_create(problem);
  fixture_t given = fixture_create(problem);
  fixture_fill_forward_results(&exact, UATTN_DTYPE_BF16);
  fixture_fill_forward_results(&given, UATTN_DTYPE_BF16);
  uattn_reference_options_t options = {.struct_size = sizeof options,
                                       .uses_given_out = true};
  fixture_run(&exact, NULL);
  fixture_run(&given, &options);
  double errors[UATTN_RESULT_COUNT];
  for (int i = 0; i < UATTN_RESULT_COUNT; ++i)
    errors[i] = relative_difference(given.results[i], exact.results[i],
                                    fixture_result_size(&exact, i));
  assert_true(errors[UATTN_RESULT_DQ] > 1e-5);
  assert_true(errors[UATTN_RESULT_DQ] < 1e-2);
  assert_true(errors[UATTN_RESULT_DK] > 1e-5);
  assert_true(errors[UATTN_RESULT_DK] < 1e-2);
  assert_true(errors[UATTN_RESULT_DV] == 0);
  assert_true(errors[UATTN_RESULT_DTEMP] < 1e-6);
  fixture_destroy(&exact);
  fixture_destroy(&given);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_cap),
      cmocka_unit_test(tanh_cap),
      cmocka_unit_test(soft_sign_cap),
      cmocka_unit_test(alsc_cap),
      cmocka_unit_test(plain_op_without_optional_operands),
      cmocka_unit_test(every_mask_at_once),
      cmocka_unit_test(given_out_spoils_dq_but_not_dtemp)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
