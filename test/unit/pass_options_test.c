/* Tests of the values of a pass's options.
 * Layer: test. Must not know: any pass of the table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "passes/pass_options.h"

static const uattn_pass_option_t option_rows[] = {
    {"target", UATTN_PASS_OPTION_STRING, "sm_90a", "a chip"},
    {"stages", UATTN_PASS_OPTION_INTEGER, "2", "a number"},
    {"fast", UATTN_PASS_OPTION_BOOLEAN, "false", "a switch"},
};
static const uattn_pass_t pass = {.flag = "uattn-example",
                                  .options = option_rows,
                                  .option_count = COUNT_OF(option_rows)};

static uattn_pass_options_t *parse(const char *text) {
  uattn_pass_options_t *options = NULL;
  assert_ok(uattn_pass_options_parse(&pass, text, strlen(text), &options));
  return options;
}

static void refuse(const char *text, const char *message) {
  uattn_pass_options_t *options = NULL;
  assert_error(uattn_pass_options_parse(&pass, text, strlen(text), &options),
               UATTN_ERROR_INVALID_ARGUMENT, message);
  assert_null(options);
}

static void defaults_hold_where_nothing_is_said(void **state) {
  (void)state;
  uattn_pass_options_t *options = parse("");
  assert_string_equal(uattn_pass_options_get_string(options, "target"),
                      "sm_90a");
  assert_int_equal(uattn_pass_options_get_integer(options, "stages"), 2);
  assert_false(uattn_pass_options_get_boolean(options, "fast"));
  uattn_pass_options_destroy(options);
}

static void values_replace_defaults(void **state) {
  (void)state;
  uattn_pass_options_t *options =
      parse(" stages=-3  target=sm_100a fast=true ");
  assert_string_equal(uattn_pass_options_get_string(options, "target"),
                      "sm_100a");
  assert_int_equal(uattn_pass_options_get_integer(options, "stages"), -3);
  assert_true(uattn_pass_options_get_boolean(options, "fast"));
  uattn_pass_options_destroy(options);
}

static void bare_boolean_is_true(void **state) {
  (void)state;
  uattn_pass_options_t *options = parse("fast");
  assert_true(uattn_pass_options_get_boolean(options, "fast"));
  uattn_pass_options_destroy(options);
}

static void quotes_and_braces_hold_a_value_together(void **state) {
  (void)state;
  static const struct {
    const char *text;
    const char *value;
  } cases[] = {
      {"target='a b=c'", "a b=c"},       {"target=\"a b\" fast", "a b"},
      {"target={a b {c}}", "a b {c}"},   {"target=", ""},
      {"target=f(a){b c}", "f(a){b c}"},
  };
  for (size_t index = 0; index < COUNT_OF(cases); ++index) {
    uattn_pass_options_t *options = parse(cases[index].text);
    assert_string_equal(uattn_pass_options_get_string(options, "target"),
                        cases[index].value);
    uattn_pass_options_destroy(options);
  }
}

static void copies_live_alone(void **state) {
  (void)state;
  uattn_pass_options_t *options = parse("target=x stages=7");
  uattn_pass_options_t *copy = uattn_pass_options_copy(options);
  uattn_pass_options_destroy(options);
  assert_string_equal(uattn_pass_options_get_string(copy, "target"), "x");
  assert_int_equal(uattn_pass_options_get_integer(copy, "stages"), 7);
  assert_false(uattn_pass_options_get_boolean(copy, "fast"));
  uattn_pass_options_destroy(copy);
  uattn_pass_options_destroy(NULL);
}

static void mistakes_are_named(void **state) {
  (void)state;
  refuse("depth=3", "uattn-example has no option 'depth': expected target, "
                    "stages, fast");
  refuse("stages=many",
         "option stages of uattn-example is 'many': expected an integer");
  refuse("stages", "option stages of uattn-example has no value: expected "
                   "stages=...");
  refuse("fast=maybe",
         "option fast of uattn-example is 'maybe': expected true or false");
  refuse("stages=1 stages=2",
         "option stages of uattn-example is given twice: expected once");
  refuse("=3", "uattn-example has no option '': expected target, stages, fast");
}

static void passes_without_options_refuse_all(void **state) {
  (void)state;
  static const uattn_pass_t plain = {.flag = "uattn-plain"};
  uattn_pass_options_t *options = NULL;
  assert_error(uattn_pass_options_parse(&plain, "x", 1, &options),
               UATTN_ERROR_INVALID_ARGUMENT,
               "uattn-plain has no option 'x': expected none");
}

static void ask_for_an_unlisted_name(void) {
  uattn_pass_options_get_string(parse(""), "no such option");
}

static void ask_for_another_kind(void) {
  uattn_pass_options_get_integer(parse(""), "target");
}

static void wrong_questions_are_our_bugs(void **state) {
  (void)state;
  assert_aborts(ask_for_an_unlisted_name);
  assert_aborts(ask_for_another_kind);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_hold_where_nothing_is_said),
      cmocka_unit_test(values_replace_defaults),
      cmocka_unit_test(bare_boolean_is_true),
      cmocka_unit_test(quotes_and_braces_hold_a_value_together),
      cmocka_unit_test(copies_live_alone),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(passes_without_options_refuse_all),
      cmocka_unit_test(wrong_questions_are_our_bugs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
