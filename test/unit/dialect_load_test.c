/* Tests of loading the dialect into contexts of all kinds, and of parsing.
 * Layer: test. Must not know: passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "dialect/dialect.h"

#include <mlir-c/Dialect/IRDL.h>

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static bool knows_uattn(MlirContext context) {
  for (size_t index = 0; index < uattn_op_name_count; ++index)
    if (!mlirContextIsRegisteredOperation(context, ref(uattn_op_names[index])))
      return false;
  return true;
}

static void bare_context_learns_the_dialect(void **state) {
  (void)state;
  MlirContext context = mlirContextCreate();
  assert_false(knows_uattn(context));
  assert_ok(uattn_dialect_load(context));
  assert_true(knows_uattn(context));
  mlirContextDestroy(context);
}

static void loading_twice_is_loading_once(void **state) {
  (void)state;
  MlirContext context = uattn_context_create(NULL);
  assert_true(knows_uattn(context));
  assert_ok(uattn_dialect_load(context));
  assert_ok(uattn_dialect_load(context));
  mlirContextDestroy(context);
}

static void contexts_are_independent(void **state) {
  (void)state;
  MlirContext first = uattn_context_create(NULL);
  MlirContext second = uattn_context_create(NULL);
  mlirContextDestroy(first);
  assert_true(knows_uattn(second));
  mlirContextDestroy(second);
}

static void another_dialect_of_that_name_is_refused(void **state) {
  (void)state;
  MlirContext context = mlirContextCreate();
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__irdl__(), context);
  MlirModule other = mlirModuleCreateParse(
      context, ref("irdl.dialect @uattn { irdl.operation @other {} }"));
  assert_true(mlirLogicalResultIsSuccess(mlirLoadIRDLDialects(other)));
  mlirModuleDestroy(other);
  assert_error(uattn_dialect_load(context), UATTN_ERROR_INVALID_ARGUMENT,
               "the context holds another dialect named uattn: expected none");
  mlirContextDestroy(context);
}

static void options_reach_the_context(void **state) {
  (void)state;
  uattn_context_options_t options = {.allow_unregistered_dialects = true,
                                     .disable_threading = true};
  MlirContext context = uattn_context_create(&options);
  assert_true(mlirContextGetAllowUnregisteredDialects(context));
  assert_int_equal(mlirContextGetNumThreads(context), 1);
  mlirContextDestroy(context);
  context = uattn_context_create(NULL);
  assert_false(mlirContextGetAllowUnregisteredDialects(context));
  mlirContextDestroy(context);
}

static MlirLogicalResult record(MlirDiagnostic diagnostic, void *user_data) {
  static const uattn_source_t source = {"file.mlir", "func.func @f( {\n}\n",
                                        18};
  uattn_diagnostic_append(user_data, diagnostic, &source);
  return mlirLogicalResultSuccess();
}

static void diagnostics_show_the_line(void **state) {
  (void)state;
  MlirContext context = uattn_context_create(NULL);
  uattn_string_t text = {0};
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(context, record, &text, NULL);
  uattn_source_t source = {"file.mlir", "func.func @f( {\n}\n", 18};
  assert_true(mlirModuleIsNull(uattn_module_parse(context, &source)));
  mlirContextDetachDiagnosticHandler(context, handler);
  assert_string_equal(uattn_string_get(&text),
                      "file.mlir:1:14: error: expected non-function type\n"
                      "func.func @f( {\n"
                      "             ^\n");
  uattn_string_release(&text);
  mlirContextDestroy(context);
}

static void locations_name_the_file(void **state) {
  (void)state;
  MlirContext context = uattn_context_create(NULL);
  static const char text[] = "func.func @f(%x: i32) {\n  return\n}\n";
  uattn_source_t source = {"folder/file.mlir", text, sizeof text - 1};
  MlirModule module = uattn_module_parse(context, &source);
  MlirOperation function =
      mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  MlirBlock body =
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(function));
  MlirLocation locations[] = {
      mlirOperationGetLocation(function),
      mlirValueGetLocation(mlirBlockGetArgument(body, 0)),
      mlirOperationGetLocation(mlirBlockGetFirstOperation(body))};
  static const int lines[] = {1, 1, 2};
  for (size_t index = 0; index < COUNT_OF(locations); ++index) {
    uattn_position_t position = uattn_position_of(locations[index], &source);
    assert_true(uattn_string_ref_is(position.file, "folder/file.mlir"));
    assert_int_equal(position.line, lines[index]);
  }
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
}

static void positions_are_found_inside_other_locations(void **state) {
  (void)state;
  MlirContext context = mlirContextCreate();
  uattn_source_t source = {"source.mlir", "", 0};
  MlirLocation unknown = mlirLocationUnknownGet(context);
  MlirLocation file =
      mlirLocationFileLineColGet(context, ref("other.mlir"), 3, 4);
  MlirLocation named = mlirLocationNameGet(context, ref("name"), file);
  MlirLocation parts[] = {unknown, named};
  MlirLocation fused =
      mlirLocationFusedGet(context, 2, parts, mlirAttributeGetNull());
  MlirLocation call = mlirLocationCallSiteGet(fused, unknown);
  MlirLocation all[] = {file, named, fused, call};
  for (size_t index = 0; index < COUNT_OF(all); ++index) {
    uattn_position_t position = uattn_position_of(all[index], &source);
    assert_true(uattn_string_ref_is(position.file, "other.mlir"));
    assert_int_equal(position.line, 3);
    assert_int_equal(position.column, 4);
  }
  assert_int_equal(uattn_position_of(unknown, &source).line, 0);
  mlirContextDestroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bare_context_learns_the_dialect),
      cmocka_unit_test(loading_twice_is_loading_once),
      cmocka_unit_test(contexts_are_independent),
      cmocka_unit_test(another_dialect_of_that_name_is_refused),
      cmocka_unit_test(options_reach_the_context),
      cmocka_unit_test(diagnostics_show_the_line),
      cmocka_unit_test(locations_name_the_file),
      cmocka_unit_test(positions_are_found_inside_other_locations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
