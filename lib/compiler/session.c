/* One compilation: reporting, dumps and the pipeline.
 * Layer: compiler. Must not know: how any pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compiler/session.h"

#include <stdlib.h>

#include "passes/pass_pipeline.h"
#include "passes/walk.h"

void uattn_session_report(const uattn_session_t *session,
                          uattn_severity_t severity, const char *text) {
  if (session->options.report)
    session->options.report(severity, text, session->options.report_data);
  else
    fputs(text, stderr);
}

uattn_error_t *uattn_session_dump(const uattn_session_t *session,
                                  const char *name, const char *text) {
  if (!session->options.dump_directory)
    return NULL;
  uattn_string_t path = {0}, content = {0};
  uattn_string_appendf(&path, "%s/%s", session->options.dump_directory, name);
  uattn_string_append(&content, text);
  uattn_error_t *error = uattn_file_write(
      uattn_string_get(&path), uattn_string_get(&content), content.size);
  uattn_string_release(&path);
  uattn_string_release(&content);
  return uattn_error_annotate(error, "dumping");
}

char *uattn_session_print(const uattn_session_t *session) {
  uattn_string_t text = {0};
  mlirOperationPrint(mlirModuleGetOperation(session->module),
                     uattn_string_append_ref, &text);
  return uattn_string_take(&text);
}

static uattn_error_t *dump_module(uattn_session_t *session, const char *pass) {
  if (!session->options.dump_directory)
    return NULL;
  uattn_string_t name = {0};
  uattn_string_appendf(&name, "%02d-%s.mlir", session->dump_count++, pass);
  char *text = uattn_session_print(session);
  uattn_error_t *error =
      uattn_session_dump(session, uattn_string_get(&name), text);
  free(text);
  uattn_string_release(&name);
  return error;
}

uattn_error_t *uattn_session_run(uattn_session_t *session, const char *pass,
                                 uattn_error_code_t code) {
  uattn_pass_pipeline_t pipeline = uattn_pass_pipeline_create(
      session->context, "builtin.module", UATTN_VERIFY_OWN_PASSES);
  uattn_error_t *error = uattn_pass_pipeline_add(&pipeline, pass);
  if (!error && !uattn_pass_pipeline_run(
                    &pipeline, mlirModuleGetOperation(session->module)))
    error = uattn_error_create(code, "%s: %s failed",
                               session->options.source_name, pass);
  uattn_pass_pipeline_destroy(&pipeline);
  return error;
}

static bool holds_kernels(const uattn_session_t *session) {
  uattn_op_list_t modules =
      uattn_collect_ops(mlirModuleGetOperation(session->module), "gpu.module");
  free(modules.ops);
  return modules.count > 0;
}

uattn_error_t *uattn_session_lower(uattn_session_t *session,
                                   uattn_emit_t emit) {
  /* What uattn-plan refuses is the user's to change, and so are kernels that
   * came with the source; any other failure is our fault. */
  static const struct {
    const char *pass;
    uattn_emit_t level;
    uattn_error_code_t code;
  } steps[] = {
      {"uattn-plan", UATTN_EMIT_PLANNED, UATTN_ERROR_INVALID_ARGUMENT},
      {"uattn-lower-to-pipeline", UATTN_EMIT_PIPELINE,
       UATTN_ERROR_INVALID_ARGUMENT},
      {"canonicalize", UATTN_EMIT_PIPELINE, UATTN_ERROR_INTERNAL},
      {"cse", UATTN_EMIT_PIPELINE, UATTN_ERROR_INTERNAL},
      {"uattn-expand-tile-ops", UATTN_EMIT_THREAD, UATTN_ERROR_INTERNAL},
      {"uattn-distribute-tiles", UATTN_EMIT_THREAD, UATTN_ERROR_INTERNAL},
      {"uattn-lower-to-llvm", UATTN_EMIT_LLVM, UATTN_ERROR_INTERNAL},
  };
  bool has_kernels = holds_kernels(session);
  uattn_error_t *error = dump_module(session, "source");
  for (size_t i = 0; i < sizeof steps / sizeof *steps && !error; ++i) {
    if (steps[i].level > emit)
      break;
    uattn_string_t pass = {0};
    uattn_string_append(&pass, steps[i].pass);
    if (i == 0)
      uattn_string_appendf(&pass, "{target=%s}", session->options.chip);
    error = uattn_session_run(session, uattn_string_get(&pass),
                              has_kernels ? UATTN_ERROR_INVALID_ARGUMENT
                                          : steps[i].code);
    uattn_string_release(&pass);
    if (!error)
      error = dump_module(session, steps[i].pass);
  }
  return error;
}
