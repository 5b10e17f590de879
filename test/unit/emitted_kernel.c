/* Kernels of the pipeline level, lowered as the compiler lowers its own, for
 * the emulator.
 * Layer: test. Must not know: what the kernels do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emitted_kernel.h"

#include "dialect/dialect.h"
#include "passes/pass_pipeline.h"
#include "target/target.h"

static const char lowering[] =
    "builtin.module(canonicalize,cse,uattn-expand-tile-ops,"
    "uattn-distribute-tiles,uattn-lower-to-llvm)";

static char *read_source(const char *name, const char *aliases) {
  uattn_string_t path = {0}, text = {0};
  char *body = NULL;
  size_t size = 0;
  uattn_string_appendf(&path, "%s/%s.mlir", EMIT_INPUTS, name);
  assert_ok(uattn_file_read(uattn_string_get(&path), &body, &size));
  uattn_string_append(&text, aliases);
  uattn_string_append(&text, body);
  uattn_string_release(&path);
  free(body);
  return uattn_string_take(&text);
}

static uattn_emulator_t *lower(MlirContext context, MlirModule module,
                               const char *name) {
  uattn_pass_pipeline_t pipeline = {0};
  uattn_ptx_t ptx = {NULL, NULL};
  uattn_emulator_t *program = NULL;
  assert_ok(uattn_pass_pipeline_parse(context, lowering, UATTN_VERIFY_EACH_PASS,
                                      &pipeline));
  assert_true(
      uattn_pass_pipeline_run(&pipeline, mlirModuleGetOperation(module)));
  uattn_pass_pipeline_destroy(&pipeline);
  assert_ok(uattn_target_emit_ptx(
      mlirBlockGetFirstOperation(mlirModuleGetBody(module)), "sm_90a", &ptx));
  assert_ok(uattn_emulator_create(name, ptx.ptx, strlen(ptx.ptx), &program));
  free(ptx.llvm_ir);
  free(ptx.ptx);
  return program;
}

uattn_emulator_t *emitted_program(const char *name, const char *aliases) {
  MlirContext context = uattn_context_create(NULL);
  char *text = read_source(name, aliases);
  const uattn_source_t source = {name, text, strlen(text)};
  MlirModule module = uattn_module_parse(context, &source);
  assert_false(mlirModuleIsNull(module));
  uattn_emulator_t *program = lower(context, module, name);
  mlirModuleDestroy(module);
  free(text);
  mlirContextDestroy(context);
  return program;
}
