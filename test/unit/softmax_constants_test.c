/* Tests of the folded softmax scalars against the op's own formulas.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "reference/cap_function.h"
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

static const double scales[] = {0.125, 0.08838834764831845, 0, -0.5, 3};
static const uattn_cap_t caps[] = {
    {UATTN_CAP_NONE, 0, 0, 0},         {UATTN_CAP_TANH, 30, 0, 0},
    {UATTN_CAP_TANH, 0.5, 0, 0},       {UATTN_CAP_SOFT_SIGN, 80, 0, 0},
    {UATTN_CAP_SOFT_SIGN, 0.25, 0, 0}, {UATTN_CAP_ALSC, 50, 2, 0.5},
    {UATTN_CAP_ALSC, 80, 1, -3},       {UATTN_CAP_ALSC, 5, -4, 1},
    {UATTN_CAP_ALSC, 5, 0, 1},
};

static void folding_gives_the_capped_logit(void **state) {
  (void)state;
  for (size_t cap = 0; cap < COUNT_OF(caps); ++cap)
    for (size_t scale = 0; scale < COUNT_OF(scales); ++scale)
      assert_folding_is_exact(caps[cap], scales[scale]);
}

/* The slope of the normalised function as a kernel forms it from its value,
 * without the constants that gradient_scale holds. */
static double slope_of(uattn_cap_method_t method, double y) {
  switch (method) {
  case UATTN_CAP_NONE:
    return 1;
  case UATTN_CAP_TANH:
    return 1 - y * y;
  case UATTN_CAP_SOFT_SIGN:
    return (1 - fabs(y)) * (1 - fabs(y));
  case UATTN_CAP_ALSC:
    break;
  }
  return y * (1 - y);
}

static void assert_slope_is_that_of_the_cap(uattn_cap_t cap, double sm_scale) {
  uattn_problem_t problem = {.cap = cap, .sm_scale = sm_scale};
  uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
  uattn_cap_function_t function = uattn_cap_function_prepare(&cap);
  /* Error of the difference: of second order in the step, and the rounding of
   * values up to `magnitude` over the step. */
  const double step = 1e-4;
  double magnitude = fabs(constants.post_scale) + fabs(constants.lse_shift);
  for (double dot = -400; dot <= 400; dot += 0.37) {
    double y =
        normalised(cap.method, constants.pre_scale * dot + constants.pre_bias);
    double found = constants.gradient_scale * slope_of(cap.method, y);
    double above =
        uattn_cap_function_evaluate(&function, sm_scale * (dot + step), NULL);
    double below =
        uattn_cap_function_evaluate(&function, sm_scale * (dot - step), NULL);
    double wanted = (above - below) / (2 * step);
    double derivative = 0;
    (void)uattn_cap_function_evaluate(&function, sm_scale * dot, &derivative);
    assert_true(fabs(found - wanted) <=
                1e-5 * fabs(constants.gradient_scale) +
                    1e-15 * (magnitude + fabs(sm_scale * dot)) / step);
    assert_true(fabs(found - derivative * sm_scale) <=
                1e-13 * fabs(constants.gradient_scale));
  }
}

static void gradient_scale_gives_the_slope_of_the_cap(void **state) {
  (void)state;
  for (size_t cap = 0; cap < COUNT_OF(caps); ++cap)
    for (size_t scale = 0; scale < COUNT_OF(scales); ++scale)
      assert_slope_is_that_of_the_cap(caps[cap], scales[scale]);
}

/* p of the backward op from lse with the shift taken out of it. */
static void shift_leaves_lse_as_it_came(void **state) {
  (void)state;
  static const double dots[] = {-31, 0.5, 12, 90};
  const double temp = -0.75;
  for (size_t i = 0; i < COUNT_OF(caps); ++i) {
    uattn_problem_t problem = {.cap = caps[i], .sm_scale = 0.125};
    uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
    double sum = 0;
    for (size_t j = 0; j < COUNT_OF(dots); ++j)
      sum += exp(temp * cap_of(&caps[i], problem.sm_scale * dots[j]));
    double lse = log(sum);
    double lse2 = M_LOG2E * (lse - temp * constants.lse_shift);
    for (size_t j = 0; j < COUNT_OF(dots); ++j) {
      double capped = cap_of(&caps[i], problem.sm_scale * dots[j]);
      double y = normalised(caps[i].method,
                            constants.pre_scale * dots[j] + constants.pre_bias);
      double p = exp2(temp * constants.post_scale * y - lse2);
      assert_true(fabs(p - exp(temp * capped - lse)) <= 1e-10);
      double again = M_LN2 * constants.post_scale * y + constants.lse_shift;
      assert_true(fabs(again - capped) <= 1e-10 * (1 + fabs(capped)));
    }
  }
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
    assert_true(isfinite(constants.gradient_scale));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folding_gives_the_capped_logit),
      cmocka_unit_test(gradient_scale_gives_the_slope_of_the_cap),
      cmocka_unit_test(shift_leaves_lse_as_it_came),
      cmocka_unit_test(other_caps_have_neither_bias_nor_shift),
      cmocka_unit_test(saturated_alsc_is_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
