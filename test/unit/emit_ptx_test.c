/* Tests of the way from the llvm dialect to LLVM IR and PTX.
 * Layer: test. Must not know: what a kernel does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "unit_test.h"

#include <mlir-c/Diagnostics.h>

#include "dialect/dialect.h"
#include "target/target.h"

typedef struct {
  MlirContext context;
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
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  fixture_t *fixture = *state;
  mlirContextDestroy(fixture->context);
  uattn_string_release(&fixture->diagnostics);
  free(fixture);
  return 0;
}

/* The PTX of the gpu.module `text`, which is all of a module. */
static uattn_error_t *emit(const fixture_t *fixture, const char *text,
                           uattn_ptx_t *out_ptx) {
  uattn_source_t source = {"test.mlir", text, strlen(text)};
  MlirModule module = uattn_module_parse(fixture->context, &source);
  assert_false(mlirModuleIsNull(module));
  MlirOperation kernels = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
  uattn_error_t *error = uattn_target_emit_ptx(kernels, "sm_90a", out_ptx);
  mlirModuleDestroy(module);
  return error;
}

static void kernel_becomes_ptx_of_the_chip(void **state) {
  uattn_ptx_t ptx = {NULL, NULL};
  assert_ok(emit(*state,
                 "gpu.module @m {\n"
                 "  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {\n"
                 "      nvvm.kernel, nvvm.maxnreg = 40 : i32,\n"
                 "      nvvm.reqntid = array<i32: 128, 1, 1>} {\n"
                 "    %y = llvm.fmul %x, %x : f32\n"
                 "    llvm.store %y, %p : f32, !llvm.ptr<1>\n"
                 "    llvm.return\n"
                 "  }\n"
                 "}\n",
                 &ptx));
  const char *in_ptx[] = {
      ".version 8.3", ".target sm_90a", ".visible .entry k(", ".reqntid 128",
      ".maxnreg 40",  "st.global",      "mul.rn.f32"};
  for (size_t i = 0; i < COUNT_OF(in_ptx); ++i)
    if (!strstr(ptx.ptx, in_ptx[i]))
      fail_msg("'%s' is not in:\n%s", in_ptx[i], ptx.ptx);
  assert_non_null(
      strstr(ptx.llvm_ir, "target triple = \"nvptx64-nvidia-cuda\""));
  assert_non_null(strstr(ptx.llvm_ir, "define ptx_kernel void @k("));
  free(ptx.ptx);
  free(ptx.llvm_ir);
}

/* Approximate functions become single instructions, not calls. */
static void approximate_functions_are_instructions(void **state) {
  uattn_ptx_t ptx = {NULL, NULL};
  assert_ok(emit(
      *state,
      "gpu.module @m {\n"
      "  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel,\n"
      "      passthrough = [[\"denormal-fp-math-f32\",\n"
      "                      \"preserve-sign,preserve-sign\"]]} {\n"
      "    %a = llvm.intr.exp2(%x) {fastmathFlags = #llvm.fastmath<afn>}\n"
      "      : (f32) -> f32\n"
      "    %b = llvm.intr.tanh(%a) {fastmathFlags = #llvm.fastmath<afn>}\n"
      "      : (f32) -> f32\n"
      "    llvm.store %b, %p : f32, !llvm.ptr<1>\n"
      "    llvm.return\n"
      "  }\n"
      "}\n",
      &ptx));
  assert_non_null(strstr(ptx.ptx, "ex2.approx.ftz.f32"));
  assert_non_null(strstr(ptx.ptx, "tanh.approx.f32"));
  assert_null(strstr(ptx.ptx, "call"));
  free(ptx.ptx);
  free(ptx.llvm_ir);
}

static void what_does_not_translate_is_an_error(void **state) {
  fixture_t *fixture = *state;
  uattn_ptx_t ptx = {NULL, NULL};
  assert_error(emit(fixture,
                    "gpu.module @m {\n"
                    "  llvm.func @k() attributes {nvvm.kernel} {\n"
                    "    %e = \"uattn.elect\"() : () -> i1\n"
                    "    llvm.return\n"
                    "  }\n"
                    "}\n",
                    &ptx),
               UATTN_ERROR_INTERNAL,
               "the kernel does not translate to LLVM IR");
  assert_null(ptx.ptx);
  assert_null(ptx.llvm_ir);
  assert_non_null(
      strstr(uattn_string_get(&fixture->diagnostics), "uattn.elect"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(kernel_becomes_ptx_of_the_chip),
      TEST(approximate_functions_are_instructions),
      TEST(what_does_not_translate_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
