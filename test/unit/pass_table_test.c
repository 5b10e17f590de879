/* Tests of the pass table: every row is complete, its examples parse, and its
 * flag, file and lit test have one name.
 * Layer: test. Must not know: how a pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "dialect/dialect.h"
#include "passes/pass.h"

static const char *source_folder;

static void rows_are_complete(void **state) {
  (void)state;
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  assert_true(count > 0);
  for (size_t index = 0; index < count; ++index) {
    const uattn_pass_t *pass = &table[index];
    const char *texts[] = {pass->flag,   pass->anchor, pass->summary,
                           pass->before, pass->after,  pass->requires,
                           pass->ensures};
    for (size_t text = 0; text < COUNT_OF(texts); ++text) {
      assert_non_null(texts[text]);
      assert_true(strlen(texts[text]) > 0);
    }
    assert_non_null(pass->run);
    assert_int_equal(strncmp(pass->flag, "uattn-", 6), 0);
    /* A sentence. */
    assert_true(pass->summary[0] >= 'A' && pass->summary[0] <= 'Z');
    assert_int_equal(pass->summary[strlen(pass->summary) - 1], '.');
  }
}

static void options_are_complete(void **state) {
  (void)state;
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  for (size_t index = 0; index < count; ++index) {
    for (size_t i = 0; i < table[index].option_count; ++i) {
      const uattn_pass_option_t *option = &table[index].options[i];
      int64_t number = 0;
      assert_true(strlen(option->name) > 0);
      assert_true(strlen(option->summary) > 0);
      assert_non_null(option->default_value);
      if (option->kind == UATTN_PASS_OPTION_INTEGER)
        assert_true(uattn_parse_int64(option->default_value, &number));
      if (option->kind == UATTN_PASS_OPTION_BOOLEAN)
        assert_true(strcmp(option->default_value, "true") == 0 ||
                    strcmp(option->default_value, "false") == 0);
    }
  }
}

static void flags_are_found_and_unique(void **state) {
  (void)state;
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  for (size_t index = 0; index < count; ++index) {
    assert_ptr_equal(uattn_pass_find(table[index].flag), &table[index]);
    char dashed[128];
    snprintf(dashed, sizeof dashed, "--%s", table[index].flag);
    assert_ptr_equal(uattn_pass_find(dashed), &table[index]);
  }
  assert_null(uattn_pass_find("uattn-verif"));
  assert_null(uattn_pass_find(""));
}

static void assert_parses(MlirContext context, const uattn_pass_t *pass,
                          const char *which, const char *text) {
  char name[160];
  snprintf(name, sizeof name, "%s, %s", pass->flag, which);
  uattn_source_t source = {name, text, strlen(text)};
  MlirModule module = uattn_module_parse(context, &source);
  if (mlirModuleIsNull(module))
    fail_msg("the example '%s' of %s does not parse", which, pass->flag);
  if (!uattn_verify_module(mlirModuleGetOperation(module)))
    fail_msg("the example '%s' of %s does not verify", which, pass->flag);
  mlirModuleDestroy(module);
}

static void examples_parse_and_verify(void **state) {
  (void)state;
  /* StableHLO is not linked. */
  uattn_context_options_t options = {.allow_unregistered_dialects = true};
  MlirContext context = uattn_context_create(&options);
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  for (size_t index = 0; index < count; ++index) {
    assert_parses(context, &table[index], "before", table[index].before);
    assert_parses(context, &table[index], "after", table[index].after);
  }
  mlirContextDestroy(context);
}

static void assert_file_names(const char *format, const char *name,
                              const char *text) {
  char path[1024];
  snprintf(path, sizeof path, format, source_folder, name);
  char *data = NULL;
  size_t size = 0;
  assert_ok(uattn_file_read(path, &data, &size));
  if (!strstr(data, text))
    fail_msg("%s does not mention %s", path, text);
  free(data);
}

/* passes/uattn_x_y.c holds uattn_x_y_run, test/Passes/uattn-x-y.mlir runs
 * --uattn-x-y. */
static void flag_file_and_test_have_one_name(void **state) {
  (void)state;
  size_t count = 0;
  const uattn_pass_t *table = uattn_pass_table(&count);
  for (size_t index = 0; index < count; ++index) {
    const char *flag = table[index].flag;
    char name[100];
    char text[120];
    snprintf(name, sizeof name, "%s", flag);
    for (char *at = name; *at; ++at)
      if (*at == '-')
        *at = '_';
    snprintf(text, sizeof text, "%s_run(", name);
    assert_file_names("%s/passes/%s.c", name, text);
    snprintf(text, sizeof text, "--%s", flag);
    assert_file_names("%s/test/Passes/%s.mlir", flag, text);
  }
}

int main(int argument_count, char **arguments) {
  if (argument_count != 2) {
    fprintf(stderr, "usage: pass_table SOURCE_FOLDER\n");
    return 2;
  }
  source_folder = arguments[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_complete),
      cmocka_unit_test(options_are_complete),
      cmocka_unit_test(flags_are_found_and_unique),
      cmocka_unit_test(examples_parse_and_verify),
      cmocka_unit_test(flag_file_and_test_have_one_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
