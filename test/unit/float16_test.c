/* Tests of the 16-bit types against their plain definition.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "spec/spec.h"

typedef struct {
  uint16_t (*from_float)(float value);
  float (*to_float)(uint16_t bits);
  int mantissa_bits;
  int exponent_bias;
  uint16_t infinity;
} format_t;

static const format_t bf16 = {uattn_bf16_from_float, uattn_bf16_to_float, 7,
                              127, 0x7f80};
static const format_t f16 = {uattn_f16_from_float, uattn_f16_to_float, 10, 15,
                             0x7c00};

/* What the bits stand for, by IEEE 754's definition. */
static double value_of(const format_t *format, uint16_t bits) {
  int fraction = bits & ((1 << format->mantissa_bits) - 1);
  int exponent = (bits & 0x7fff) >> format->mantissa_bits;
  double sign = bits & 0x8000 ? -1 : 1;
  if ((bits & 0x7fff) >= format->infinity)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign *
           ldexp(fraction, 1 - format->exponent_bias - format->mantissa_bits);
  return sign * ldexp(fraction + (1 << format->mantissa_bits),
                      exponent - format->exponent_bias - format->mantissa_bits);
}

static void assert_every_value_converts(const format_t *format) {
  for (uint32_t i = 0; i <= 0xffff; ++i) {
    uint16_t bits = (uint16_t)i;
    double wanted = value_of(format, bits);
    float found = format->to_float(bits);
    if (isnan(wanted)) {
      assert_true(isnan(found));
      uint16_t back = format->from_float(found);
      assert_true(isnan(value_of(format, back)));
      assert_int_equal(back & 0x8000, bits & 0x8000);
      continue;
    }
    assert_true((double)found == wanted);
    assert_int_equal(signbit(found) != 0, bits >> 15);
    assert_int_equal(format->from_float(found), bits);
  }
}

/* Between each two neighbours: the middle goes to the even one, anything to
 * either side of it to the nearer. Beyond the largest, infinity is next. */
static void assert_rounds_to_nearest_even(const format_t *format) {
  for (uint16_t low = 0; low < format->infinity; ++low) {
    uint16_t high = (uint16_t)(low + 1);
    double low_value = value_of(format, low);
    double high_value = high == format->infinity
                            ? 2 * low_value - value_of(format, low - 1)
                            : value_of(format, high);
    float middle = (float)((low_value + high_value) / 2);
    assert_true((double)middle == (low_value + high_value) / 2);
    uint16_t even = low & 1 ? high : low;
    for (int sign = 0; sign <= 0x8000; sign += 0x8000) {
      float factor = sign ? -1.0f : 1.0f;
      float below = nextafterf(middle, 0) * factor;
      float above = nextafterf(middle, INFINITY) * factor;
      assert_int_equal(format->from_float(middle * factor), even | sign);
      assert_int_equal(format->from_float(below), low | sign);
      assert_int_equal(format->from_float(above), high | sign);
    }
  }
}

static void assert_extremes(const format_t *format) {
  assert_int_equal(format->from_float(INFINITY), format->infinity);
  assert_int_equal(format->from_float(-INFINITY), format->infinity | 0x8000);
  assert_int_equal(format->from_float(-0.0f), 0x8000);
  assert_int_equal(format->from_float(-0x1p-149f), 0x8000);
  assert_int_equal(format->from_float(0x1.fffffep127f), format->infinity);
}

static void every_bf16_converts(void **state) {
  (void)state;
  assert_every_value_converts(&bf16);
}

static void every_f16_converts(void **state) {
  (void)state;
  assert_every_value_converts(&f16);
}

static void bf16_rounds_to_nearest_even(void **state) {
  (void)state;
  assert_rounds_to_nearest_even(&bf16);
  assert_extremes(&bf16);
}

static void f16_rounds_to_nearest_even(void **state) {
  (void)state;
  assert_rounds_to_nearest_even(&f16);
  assert_extremes(&f16);
}

/* A NaN whose set bits are all among those that are cut off. */
static void nan_with_low_payload_stays_nan(void **state) {
  (void)state;
  uint32_t bits = 0xff800001;
  float value = 0;
  memcpy(&value, &bits, sizeof value);
  assert_true(isnan(uattn_bf16_to_float(uattn_bf16_from_float(value))));
  assert_true(isnan(uattn_f16_to_float(uattn_f16_from_float(value))));
}

static void rounding_is_by_type(void **state) {
  (void)state;
  float value = 1.0f + 0x1p-9f + 0x1p-20f;
  assert_true(uattn_round_to_dtype(value, UATTN_DTYPE_BF16) == 1.0f);
  assert_true(uattn_round_to_dtype(value, UATTN_DTYPE_F16) == 1.0f + 0x1p-9f);
  assert_true(uattn_round_to_dtype(value, UATTN_DTYPE_F32) == value);
  assert_true(uattn_round_to_dtype(value, UATTN_DTYPE_I32) == value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_bf16_converts),
      cmocka_unit_test(every_f16_converts),
      cmocka_unit_test(bf16_rounds_to_nearest_even),
      cmocka_unit_test(f16_rounds_to_nearest_even),
      cmocka_unit_test(nan_with_low_payload_stays_nan),
      cmocka_unit_test(rounding_is_by_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
