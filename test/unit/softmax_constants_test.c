/* Tests of the folded softmax scalars against the op's own formulas.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "spec/spec.h"

/* cap(s) as the op's semantics state it, "Forward". */
static double cap_of(const uattn_cap_t *cap, double s) {
  double c = cap->cap;
  switch (cap->method) {
  case UATTN_CAP_NONE:
    return s;
  case UATTN_CAP_TANH:
    return c * tanh(s / c);
  case UATTN_CAP_SOFT_SIGN:
    return s / (1 + fabs(s) / c);
  case UATTN_CAP_ALSC:
    break;
  }
  double z = cap->alpha * (s / c + cap->beta);
  double sigma_beta = 1 / (1 + exp(-cap->alpha * cap->beta));
  double norm = sigma_beta * (1 - sigma_beta) + 1e-12;
  return c * (1 / (1 + exp(-z)) - sigma_beta) / norm;
}

/* The normalised function that belongs to the method, as a kernel has it. */
static double normalised(uattn_cap_method_t method, double x) {
  switch (method) {
  case UATTN_CAP_NONE:
    return x;
  case UATTN_CAP_TANH:
    return tanh(x);
  case UATTN_CAP_SOFT_SIGN:
    return x / (1 + fabs(x));
  case UATTN_CAP_ALSC:
    break;
  }
  return 1 / (1 + exp2(x));
}

static void assert_folding_is_exact(uattn_cap_t cap, double sm_scale) {
  uattn_problem_t problem = {.cap = cap, .sm_scale = sm_scale};
  uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
  double magnitude = fabs(constants.post_scale) + fabs(constants.lse_shift);
  for (double dot = -400; dot <= 400; dot += 0.37) {
    double y =
        normalised(cap.method, constants.pre_scale * dot + constants.pre_bias);
    double found = constants.post_scale * y + M_LOG2E * constants.lse_shift;
    double wanted = M_LOG2E * cap_of(&cap, sm_scale * dot);
    assert_true(fabs(found - wanted) <= 1e-14 * (magnitude + fabs(wanted)) * 4);
  }
}

static void folding_gives_the_capped_logit(void **state) {
  (void)state;
  static const double scales[] = {0.125, 0.08838834764831845, 0, -0.5, 3};
  static const uattn_cap_t caps[] = {
      {UATTN_CAP_NONE, 0, 0, 0},         {UATTN_CAP_TANH, 30, 0, 0},
      {UATTN_CAP_TANH, 0.5, 0, 0},       {UATTN_CAP_SOFT_SIGN, 80, 0, 0},
      {UATTN_CAP_SOFT_SIGN, 0.25, 0, 0}, {UATTN_CAP_ALSC, 50, 2, 0.5},
      {UATTN_CAP_ALSC, 80, 1, -3},       {UATTN_CAP_ALSC, 5, -4, 1},
      {UATTN_CAP_ALSC, 5, 0, 1},
  };
  for (size_t cap = 0; cap < COUNT_OF(caps); ++cap)
    for (size_t scale = 0; scale < COUNT_OF(scales); ++scale)
      assert_folding_is_exact(caps[cap], scales[scale]);
}

/* Only alsc moves lse or has a bias; elsewhere a kernel may leave them out. */
static void other_caps_have_neither_bias_nor_shift(void **state) {
  (void)state;
  for (int method = 0; method < UATTN_CAP_ALSC; ++method) {
    uattn_problem_t problem = {
        .cap = {(uattn_cap_method_t)method, method ? 30 : 0, 0, 0},
        .sm_scale = 0.125};
    uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
    assert_true(constants.pre_bias == 0);
    assert_true(constants.lse_shift == 0);
  }
}

/* sigma(alpha beta) reaches 0 or 1: the 1e-12 keeps the norm from zero. */
static void saturated_alsc_is_finite(void **state) {
  (void)state;
  for (double beta = -2000; beta <= 2000; beta += 4000) {
    uattn_problem_t problem = {.cap = {UATTN_CAP_ALSC, 50, 1, beta},
                               .sm_scale = 0.125};
    uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
    assert_true(isfinite(constants.post_scale));
    assert_true(isfinite(constants.lse_shift));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folding_gives_the_capped_logit),
      cmocka_unit_test(other_caps_have_neither_bias_nor_shift),
      cmocka_unit_test(saturated_alsc_is_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
