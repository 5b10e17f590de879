/* Tests of pipelines inside a program: the public call and the pieces below it.
 * Layer: test. Must not know: how a pass works, the tools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include "dialect/dialect.h"
#include "passes/pass_pipeline.h"

static const char forward_op[] =
    "func.func @f(%q: tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16> {\n"
    "  %dead = arith.constant 1 : i32\n"
    "  %0 = \"uattn.ranker_attention\"(%q, %q, %q) {\n"
    "    cap = #uattn.cap<\"none\", 0.0 : f32, 0.0 : f32, 0.0 : f32>,\n"
    "    sm_scale = 0.125 : f32,\n"
    "    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>,\n"
    "    resultSegmentSizes = array<i32: 1, 0>\n"
    "  } : (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>,\n"
    "       tensor<1x64x2x64xbf16>) -> tensor<1x64x2x64xbf16>\n"
    "  return %0 : tensor<1x64x2x64xbf16>\n"
    "}\n";

typedef struct {
  MlirContext context;
  MlirModule module;
  uattn_string_t diagnostics;
} fixture_t;

static MlirLogicalResult record(MlirDiagnostic diagnostic, void *user_data) {
  fixture_t *fixture = user_data;
  mlirDiagnosticPrint(diagnostic, uattn_string_append_ref,
                      &fixture->diagnostics);
  return mlirLogicalResultSuccess();
}

static int set_up(void **state) {
  fixture_t *fixture = uattn_allocate(sizeof *fixture);
  fixture->context = uattn_context_create(NULL);
  mlirContextAttachDiagnosticHandler(fixture->context, record, fixture, NULL);
  uattn_source_t source = {"test.mlir", forward_op, sizeof forward_op - 1};
  fixture->module = uattn_module_parse(fixture->context, &source);
  *state = fixture;
  return mlirModuleIsNull(fixture->module) ? -1 : 0;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  mlirModuleDestroy(fixture->module);
  mlirContextDestroy(fixture->context);
  uattn_string_release(&fixture->diagnostics);
  free(fixture);
  return 0;
}

static MlirOperation root_of(const fixture_t *fixture) {
  return mlirModuleGetOperation(fixture->module);
}

static MlirWalkResult find_attention(MlirOperation op, void *user_data) {
  if (!uattn_is_attention_op(op))
    return MlirWalkResultAdvance;
  *(MlirOperation *)user_data = op;
  return MlirWalkResultInterrupt;
}

static MlirOperation attention_of(const fixture_t *fixture) {
  MlirOperation found = {NULL};
  mlirOperationWalk(root_of(fixture), find_attention, &found, MlirWalkPreOrder);
  assert_false(mlirOperationIsNull(found));
  return found;
}

static bool has_constant(const fixture_t *fixture) {
  uattn_string_t text = {0};
  mlirOperationPrint(root_of(fixture), uattn_string_append_ref, &text);
  bool has = strstr(uattn_string_get(&text), "arith.constant") != NULL;
  uattn_string_release(&text);
  return has;
}

static void both_kinds_of_passes_run(void **state) {
  fixture_t *fixture = *state;
  assert_true(has_constant(fixture));
  assert_ok(uattn_pipeline_run(
      root_of(fixture),
      "builtin.module(uattn-verify,func.func(canonicalize,cse),uattn-verify)"));
  assert_false(has_constant(fixture));
  assert_int_equal(fixture->diagnostics.size, 0);
}

static void text_with_a_mistake_runs_nothing(void **state) {
  fixture_t *fixture = *state;
  assert_error(uattn_pipeline_run(root_of(fixture),
                                  "builtin.module(canonicalize,uattn-verfy)"),
               UATTN_ERROR_INVALID_ARGUMENT,
               "pipeline 'builtin.module(canonicalize,uattn-verfy)', column "
               "29: 'uattn-verfy' is no registered pass or pipeline: did you "
               "mean 'uattn-verify'?");
  assert_true(has_constant(fixture));
}

static void deep_nesting_is_refused(void **state) {
  fixture_t *fixture = *state;
  uattn_string_t text = {0};
  for (int level = 0; level < 70; ++level)
    uattn_string_append(&text, "any(");
  uattn_error_t *error =
      uattn_pipeline_run(root_of(fixture), uattn_string_get(&text));
  assert_non_null(error);
  assert_non_null(strstr(uattn_error_message(error),
                         "column 257: nested too deep: expected at most 64"));
  uattn_error_destroy(error);
  uattn_string_release(&text);
}

static void wrong_op_stops_the_pipeline_before_the_first_pass(void **state) {
  fixture_t *fixture = *state;
  uattn_op_set_attribute(attention_of(fixture), "casual",
                         mlirUnitAttrGet(fixture->context));
  assert_error(
      uattn_pipeline_run(root_of(fixture), "builtin.module(canonicalize)"),
      UATTN_ERROR_INVALID_ARGUMENT,
      "pipeline 'builtin.module(canonicalize)' failed: expected IR "
      "that its passes accept, see the diagnostics");
  assert_true(has_constant(fixture));
  assert_string_equal(uattn_string_get(&fixture->diagnostics),
                      "unknown attribute 'casual' on uattn.ranker_attention: "
                      "did you mean 'causal'?");
}

static void every_wrong_op_is_reported(void **state) {
  fixture_t *fixture = *state;
  MlirOperation first = attention_of(fixture);
  MlirOperation second = mlirOperationClone(first);
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(first), first,
                                     second);
  uattn_op_set_attribute(first, "casual", mlirUnitAttrGet(fixture->context));
  uattn_op_set_attribute(second, "causl", mlirUnitAttrGet(fixture->context));
  assert_false(uattn_verify_module(root_of(fixture)));
  const char *text = uattn_string_get(&fixture->diagnostics);
  assert_non_null(strstr(text, "'casual'"));
  assert_non_null(strstr(text, "'causl'"));
}

static void passes_are_added_one_by_one(void **state) {
  fixture_t *fixture = *state;
  uattn_pass_pipeline_t pipeline = uattn_pass_pipeline_create(
      fixture->context, "builtin.module", UATTN_VERIFY_EACH_PASS);
  assert_ok(uattn_pass_pipeline_add(&pipeline, "uattn-verify"));
  assert_ok(uattn_pass_pipeline_add(&pipeline, "affine-loop-tile"));
  assert_ok(uattn_pass_pipeline_add(&pipeline, "canonicalize{top-down=true}"));
  assert_error(uattn_pass_pipeline_add(&pipeline, "no-such-pass"),
               UATTN_ERROR_INVALID_ARGUMENT,
               "pass 'no-such-pass', column 1: 'no-such-pass' is no "
               "registered pass or pipeline");
  assert_error(uattn_pass_pipeline_add(&pipeline, "cse{} cse"),
               UATTN_ERROR_INVALID_ARGUMENT,
               "pass 'cse{} cse', column 6: expected the end");
  /* What could be added still runs, more than once. */
  assert_true(uattn_pass_pipeline_run(&pipeline, root_of(fixture)));
  assert_true(uattn_pass_pipeline_run(&pipeline, root_of(fixture)));
  assert_false(has_constant(fixture));
  uattn_pass_pipeline_destroy(&pipeline);
  uattn_pass_pipeline_destroy(&pipeline);
}

static void pipeline_for_another_op_fails(void **state) {
  fixture_t *fixture = *state;
  uattn_error_t *error = uattn_pipeline_run(root_of(fixture), "func.func(cse)");
  assert_non_null(error);
  assert_int_equal(uattn_error_code(error), UATTN_ERROR_INVALID_ARGUMENT);
  uattn_error_destroy(error);
  assert_non_null(strstr(uattn_string_get(&fixture->diagnostics),
                         "'func.func' pass manager on 'builtin.module'"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(both_kinds_of_passes_run),
      TEST(text_with_a_mistake_runs_nothing),
      TEST(deep_nesting_is_refused),
      TEST(wrong_op_stops_the_pipeline_before_the_first_pass),
      TEST(every_wrong_op_is_reported),
      TEST(passes_are_added_one_by_one),
      TEST(pipeline_for_another_op_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
