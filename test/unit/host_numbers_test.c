/* Tests of the host layer's arithmetic: conversions, powers of two, caps.
 * Layer: test. Must not know: anything above the host layer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "host/tensor_rows.h"
#include "host/tile_product.h"
#include "host/vector_exp2.h"
#include "spec/spec.h"

static void check_widening(uattn_dtype_t dtype, float (*widen)(uint16_t bits)) {
  enum { COUNT = 64 };
  uint16_t bits[COUNT];
  float found[COUNT];
  int64_t shape[4] = {1, 1, 1, COUNT};
  uattn_tensor_t tensor = uattn_tensor_dense(bits, dtype, 4, shape);
  for (uint32_t first = 0; first < 0x10000; first += COUNT) {
    for (uint32_t i = 0; i < COUNT; ++i)
      bits[i] = (uint16_t)(first + i);
    uattn_rows_load(&tensor, (uattn_row_block_t){0, 0, 0, 1}, COUNT, found);
    for (int i = 0; i < COUNT; ++i) {
      float wanted = widen(bits[i]);
      assert_memory_equal(&found[i], &wanted, sizeof wanted);
    }
  }
}

static void sixteen_bits_widen_as_the_spec_says(void **state) {
  (void)state;
  check_widening(UATTN_DTYPE_BF16, uattn_bf16_to_float);
  check_widening(UATTN_DTYPE_F16, uattn_f16_to_float);
}

static void powers_of_two_are_accurate(void **state) {
  (void)state;
  for (float x = -126; x < 127; x += 0.00137f) {
    double wanted = exp2((double)x);
    assert_true(fabs((double)uattn_exp2(x) - wanted) <= 2e-7 * wanted);
  }
  assert_true(uattn_exp2(0) == 1);
  assert_true(uattn_exp2(-127) == 0 && uattn_exp2(-INFINITY) == 0);
  assert_true(uattn_exp2(129) == INFINITY && uattn_exp2(INFINITY) == INFINITY);
  assert_true(isnan(uattn_exp2(NAN)));
}

static void excess_does_not_cancel(void **state) {
  (void)state;
  for (float x = -1e-30f; x > -100; x *= 1.013f) {
    double wanted = expm1((double)x * M_LN2);
    double found = (double)uattn_power_of_two(x).excess;
    assert_true(fabs(found - wanted) <= 3e-7 * fabs(wanted));
  }
  assert_true(uattn_power_of_two(0).excess == 0);
}

/* The semantics' formulas, in a form that float64 is good enough for. */
static double cap_in_double(const uattn_cap_t *cap, double s,
                            double *out_slope) {
  double z = cap->alpha * (s / cap->cap + cap->beta);
  double sigma = 1 / (1 + exp(-z));
  double middle = 1 / (1 + exp(-cap->alpha * cap->beta));
  double n = middle * (1 - middle) + 1e-12;
  switch (cap->method) {
  case UATTN_CAP_TANH:
    *out_slope = pow(cosh(s / cap->cap), -2);
    return cap->cap * tanh(s / cap->cap);
  case UATTN_CAP_SOFT_SIGN:
    *out_slope = pow(1 + fabs(s) / cap->cap, -2);
    return s / (1 + fabs(s) / cap->cap);
  case UATTN_CAP_ALSC:
    *out_slope = cap->alpha * sigma * (1 - sigma) / n;
    /* sigma - middle = middle (1 - sigma) (exp(z - alpha beta) - 1) */
    return cap->cap * middle * (1 - sigma) * expm1(cap->alpha * s / cap->cap) /
           n;
  default:
    *out_slope = 1;
    return s;
  }
}

static void check_cap(uattn_cap_t cap) {
  uattn_problem_t problem = {.cap = cap, .sm_scale = 0.375};
  uattn_tile_cap_t prepared = uattn_tile_cap_prepare(&problem);
  for (float size = 1e-12f; size < 300; size *= 1.03f)
    for (int sign = -1; sign <= 1; sign += 2) {
      float dot = (float)sign * size;
      float value = dot;
      float slope = 0;
      double wanted_slope = 0;
      double wanted = cap_in_double(&cap, 0.375 * (double)dot, &wanted_slope);
      wanted_slope *= 0.375;
      uattn_tile_cap_apply(&prepared, 1, &value, &slope);
      /* An exponential is as inexact as its argument is large. */
      double steepness = cap.method == UATTN_CAP_TANH ? 2 : fabs(cap.alpha);
      double bound = 1e-6 + 3e-7 * steepness * fabs((double)dot) / 30;
      assert_true(fabs((double)value - wanted) <= 1e-6 * fabs(wanted));
      assert_true(fabs((double)slope - wanted_slope) <=
                  bound * fabs(wanted_slope) + 1e-30);
    }
}

static void caps_are_accurate_near_zero_and_far_away(void **state) {
  (void)state;
  check_cap((uattn_cap_t){UATTN_CAP_NONE, 0, 0, 0});
  check_cap((uattn_cap_t){UATTN_CAP_SOFT_SIGN, 3, 0, 0});
  check_cap((uattn_cap_t){UATTN_CAP_TANH, 30, 0, 0});
  check_cap((uattn_cap_t){UATTN_CAP_ALSC, 30, 4, 0.5});
  check_cap((uattn_cap_t){UATTN_CAP_ALSC, 30, 4, -0.5});
  check_cap((uattn_cap_t){UATTN_CAP_ALSC, 20, -3, 0.25});
}

static void caps_of_nan_and_infinity(void **state) {
  (void)state;
  uattn_problem_t problem = {.cap = {UATTN_CAP_TANH, 5, 0, 0}, .sm_scale = 1};
  float tile[] = {NAN, INFINITY, -INFINITY, 0};
  uattn_tile_cap_t cap = uattn_tile_cap_prepare(&problem);
  uattn_tile_cap_apply(&cap, 4, tile, NULL);
  assert_true(isnan(tile[0]));
  assert_true(tile[1] == 5 && tile[2] == -5 && tile[3] == 0);
  problem.cap = (uattn_cap_t){UATTN_CAP_ALSC, 30, 4, 0.5};
  float other[] = {NAN, INFINITY, -INFINITY, 0};
  cap = uattn_tile_cap_prepare(&problem);
  uattn_tile_cap_apply(&cap, 4, other, NULL);
  assert_true(isnan(other[0]) && isfinite(other[1]) && isfinite(other[2]));
  assert_true(other[1] > 0 && other[2] < 0 && other[3] == 0);
}

/* Small integers, of which every sum is exact. */
static void products_of_either_stride(void **state) {
  (void)state;
  enum { ROWS = 8, COLUMNS = 32, DEPTH = 5 };
  float a[ROWS * DEPTH];
  float b[DEPTH * COLUMNS];
  for (int i = 0; i < ROWS * DEPTH; ++i)
    a[i] = (float)(i * 7 % 11 - 5);
  for (int i = 0; i < DEPTH * COLUMNS; ++i)
    b[i] = (float)(i * 5 % 13 - 6);
  for (int is_transposed = 0; is_transposed < 2; ++is_transposed) {
    int64_t row_stride = is_transposed ? 1 : DEPTH;
    int64_t depth_stride = is_transposed ? ROWS : 1;
    float c[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; ++i)
      c[i] = 3;
    uattn_tile_product_add(&(uattn_tile_product_t){a, row_stride, depth_stride,
                                                   b, COLUMNS, c, COLUMNS, ROWS,
                                                   COLUMNS, DEPTH});
    for (int row = 0; row < ROWS; ++row)
      for (int column = 0; column < COLUMNS; ++column) {
        float wanted = 3;
        for (int d = 0; d < DEPTH; ++d)
          wanted +=
              a[row * row_stride + d * depth_stride] * b[d * COLUMNS + column];
        assert_true(c[row * COLUMNS + column] == wanted);
      }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sixteen_bits_widen_as_the_spec_says),
      cmocka_unit_test(powers_of_two_are_accurate),
      cmocka_unit_test(excess_does_not_cancel),
      cmocka_unit_test(caps_are_accurate_near_zero_and_far_away),
      cmocka_unit_test(caps_of_nan_and_infinity),
      cmocka_unit_test(products_of_either_stride)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
