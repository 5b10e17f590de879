/* Tests that the names in C and those in the dialect's source are the same.
 * Layer: test. Must not know: what any name means.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "dialect/dialect.h"

/* The name behind every `keyword @NAME` of the source is in `names`, and as
 * many are there. */
static void assert_same_names(const char *keyword, const char *const *names,
                              size_t count) {
  size_t found_count = 0;
  const char *at = uattn_dialect_source();
  while ((at = strstr(at, keyword))) {
    at += strlen(keyword);
    char name[64];
    snprintf(name, sizeof name, "uattn.%.*s",
             (int)strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789"), at);
    bool is_known = false;
    for (size_t index = 0; index < count; ++index)
      is_known |= strcmp(names[index], name) == 0;
    if (!is_known)
      fail_msg("%s is declared but not named in names.h", name);
    ++found_count;
  }
  assert_int_equal(found_count, count);
}

static void ops_have_one_name(void **state) {
  (void)state;
  assert_same_names("irdl.operation @", uattn_op_names, uattn_op_name_count);
}

static void types_have_one_name(void **state) {
  (void)state;
  assert_same_names("irdl.type @", uattn_type_names, uattn_type_name_count);
}

static void attributes_have_one_name(void **state) {
  (void)state;
  static const char *const names[] = {UATTN_ATTRNAME_CAP, UATTN_ATTRNAME_PLAN};
  assert_same_names("irdl.attribute @", names, COUNT_OF(names));
}

static void nearest_name_is_close_or_none(void **state) {
  (void)state;
  static const char *const known[] = {"causal", "window_len", "q_offset"};
  static const struct {
    const char *name;
    const char *nearest;
  } cases[] = {
      {"casual", "causal"},
      {"causl", "causal"},
      {"windowlen", "window_len"},
      {"q_ofset", "q_offset"},
      {"dropout", NULL},
      {"x", NULL},
      {"", NULL},
      {"causal_window_len_q_offset", NULL},
  };
  for (size_t i = 0; i < COUNT_OF(cases); ++i) {
    const char *nearest = uattn_nearest_name(
        mlirStringRefCreateFromCString(cases[i].name), known, COUNT_OF(known));
    if (cases[i].nearest)
      assert_string_equal(nearest, cases[i].nearest);
    else
      assert_null(nearest);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_have_one_name),
      cmocka_unit_test(types_have_one_name),
      cmocka_unit_test(attributes_have_one_name),
      cmocka_unit_test(nearest_name_is_close_or_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
