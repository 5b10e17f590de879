/* Tests of error objects: messages, causes, codes and exit codes.
 * Layer: test. Must not know: anything above the layer that it tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

static void message_is_formatted(void **state) {
  (void)state;
  assert_error(
      uattn_error_create(UATTN_ERROR_IO, "found %d, wanted %s", 3, "four"),
      UATTN_ERROR_IO, "found 3, wanted four");
}

static void annotation_leads_and_keeps_the_code(void **state) {
  (void)state;
  uattn_error_t *error = uattn_error_create(UATTN_ERROR_DEVICE, "no device");
  error = uattn_error_annotate(error, "kernel %d", 7);
  error = uattn_error_annotate(error, "launching");
  assert_error(error, UATTN_ERROR_DEVICE, "launching: kernel 7: no device");
}

static void annotating_success_is_success(void **state) {
  (void)state;
  assert_null(uattn_error_annotate(NULL, "reading `%s`", "a"));
}

static void long_messages_are_whole(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  assert_error(uattn_error_create(UATTN_ERROR_IO, "%s", text), UATTN_ERROR_IO,
               text);
}

static void exit_codes_follow_the_contract(void **state) {
  (void)state;
  static const struct {
    uattn_error_code_t code;
    int exit_code;
  } cases[] = {
      {UATTN_ERROR_INVALID_ARGUMENT, 2},
      {UATTN_ERROR_UNSUPPORTED, 2},
      {UATTN_ERROR_IO, 2},
      {UATTN_ERROR_DEVICE, 3},
      {UATTN_ERROR_TOOLCHAIN, 4},
      {UATTN_ERROR_INTERNAL, 4},
      {UATTN_ERROR_FAULT, 1},
  };
  assert_int_equal(uattn_error_exit_code(NULL), 0);
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    uattn_error_t *error = uattn_error_create(cases[i].code, "x");
    assert_int_equal(uattn_error_exit_code(error), cases[i].exit_code);
    uattn_error_destroy(error);
  }
}

static void destroying_nothing_is_allowed(void **state) {
  (void)state;
  uattn_error_destroy(NULL);
}

static void version_is_that_of_the_header(void **state) {
  (void)state;
  assert_int_equal(uattn_version().abi_major, UATTN_ABI_MAJOR);
  assert_int_equal(uattn_version().abi_minor, UATTN_ABI_MINOR);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(message_is_formatted),
      cmocka_unit_test(annotation_leads_and_keeps_the_code),
      cmocka_unit_test(annotating_success_is_success),
      cmocka_unit_test(long_messages_are_whole),
      cmocka_unit_test(exit_codes_follow_the_contract),
      cmocka_unit_test(destroying_nothing_is_allowed),
      cmocka_unit_test(version_is_that_of_the_header),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
