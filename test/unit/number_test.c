/* Tests of strict numbers.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "support/support.h"

static void integers_are_read_whole(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t value;
  } cases[] = {
      {"0", 0},
      {"-1", -1},
      {"+12", 12},
      {"007", 7},
      {"9223372036854775807", INT64_MAX},
      {"-9223372036854775808", INT64_MIN},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    int64_t value = 99;
    assert_true(uattn_parse_int64(cases[i].text, &value));
    assert_true(value == cases[i].value);
  }
}

static void other_texts_are_no_integers(void **state) {
  (void)state;
  static const char *const cases[] = {
      "",
      " 1",
      "1 ",
      "1x",
      "0x10",
      "1.0",
      "--1",
      "1-1",
      "+",
      "-",
      "9223372036854775808",
      "abc",
      "1\n",
      "1e3",
      "-9223372036854775809",
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    int64_t value = 99;
    assert_false(uattn_parse_int64(cases[i], &value));
    assert_int_equal(value, 99);
  }
}

static void doubles_are_read_whole(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"0", 0.0},     {"-1.5", -1.5},  {".25", 0.25},     {"1e-3", 1e-3},
      {"2.E+2", 200}, {"1e-400", 0.0}, {"+0.125", 0.125}, {"1e308", 1e308},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double value = 99;
    assert_true(uattn_parse_double(cases[i].text, &value));
    assert_true(value == cases[i].value);
  }
}

static void other_texts_are_no_doubles(void **state) {
  (void)state;
  static const char *const cases[] = {
      "",  " 1",    "1 ",    "1x",    "0x1p3",  "inf", "nan",      "1e",
      ".", "1e+-2", "1.2.3", "1e999", "-1e999", "e5",  "infinity",
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    double value = 99;
    assert_false(uattn_parse_double(cases[i], &value));
    assert_true(value == 99);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_are_read_whole),
      cmocka_unit_test(other_texts_are_no_integers),
      cmocka_unit_test(doubles_are_read_whole),
      cmocka_unit_test(other_texts_are_no_doubles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
