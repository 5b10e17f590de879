/* From a command to the text or bytecode that it asks for.
 * Layer: tools. Must not know: how options are spelt, where output goes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "opt_process.h"

#include "dialect/dialect.h"
#include "opt_expectations.h"
#include "opt_pieces.h"
#include "passes/pass_pipeline.h"

#include <stdlib.h>
#include <string.h>

/* ---- The pipeline ------------------------------------------------------- */

static bool prints_ir(const opt_command_t *command) {
  return command->prints_before_all || command->prints_after_all ||
         command->prints_after_change || command->prints_after_failure;
}

static uattn_verify_mode_t verify_mode(const opt_command_t *command) {
  if (!command->verifies_each)
    return UATTN_VERIFY_NO_PASS;
  return prints_ir(command) || command->prints_timing ? UATTN_VERIFY_OWN_PASSES
                                                      : UATTN_VERIFY_EACH_PASS;
}

static MlirOpPrintingFlags printing_flags(const opt_command_t *command) {
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  if (command->prints_locations)
    mlirOpPrintingFlagsEnableDebugInfo(flags, true, /*prettyForm=*/false);
  if (command->prints_generic)
    mlirOpPrintingFlagsPrintGenericOpForm(flags);
  return flags;
}

static void instrument(const opt_command_t *command, MlirPassManager manager) {
  if (prints_ir(command)) {
    MlirOpPrintingFlags flags = printing_flags(command);
    bool prints_after = command->prints_after_all ||
                        command->prints_after_change ||
                        command->prints_after_failure;
    mlirPassManagerEnableIRPrinting(manager, command->prints_before_all,
                                    prints_after, command->prints_module_scope,
                                    command->prints_after_change,
                                    command->prints_after_failure, flags,
                                    mlirStringRefCreateFromCString(""));
    mlirOpPrintingFlagsDestroy(flags);
  }
  if (command->prints_timing)
    mlirPassManagerEnableTiming(manager);
}

static uattn_error_t *add_passes(const opt_command_t *command,
                                 uattn_pass_pipeline_t *pipeline) {
  uattn_error_t *error = NULL;
  for (size_t index = 0; index < command->pass_count && !error; ++index) {
    const char *pass = command->passes[index];
    error = uattn_pass_pipeline_add(pipeline, pass);
    if (!error)
      continue;
    const char *nearest = opt_command_nearest_option(pass);
    if (nearest)
      error = uattn_error_annotate(error, "did you mean --%s?", nearest);
  }
  return error;
}

static uattn_error_t *make_pipeline(const opt_command_t *command,
                                    MlirContext context,
                                    uattn_pass_pipeline_t *out_pipeline) {
  uattn_error_t *error = NULL;
  if (command->pipeline) {
    error = uattn_pass_pipeline_parse(context, command->pipeline,
                                      verify_mode(command), out_pipeline);
  } else {
    *out_pipeline = uattn_pass_pipeline_create(context, "builtin.module",
                                               verify_mode(command));
    error = add_passes(command, out_pipeline);
  }
  if (!error)
    instrument(command, out_pipeline->manager);
  return error;
}

/* ---- Diagnostics -------------------------------------------------------- */

/* What the diagnostic handler knows of the piece at hand. */
typedef struct {
  const uattn_source_t *source;
  opt_expectations_t *expectations; /* NULL: every diagnostic is printed */
} listener_t;

static void print_report(uattn_string_t *report) {
  fputs(uattn_string_get(report), stderr);
  uattn_string_release(report);
}

static MlirLogicalResult listen(MlirDiagnostic diagnostic, void *user_data) {
  listener_t *listener = user_data;
  uattn_string_t report = {0};
  if (listener->expectations)
    opt_expectations_take(listener->expectations, diagnostic, &report);
  else
    uattn_diagnostic_append(&report, diagnostic, listener->source);
  print_report(&report);
  return mlirLogicalResultSuccess();
}

/* ---- Pieces ------------------------------------------------------------- */

static void append_module(const opt_command_t *command, MlirOperation module,
                          uattn_string_t *result) {
  if (command->emits_bytecode) {
    mlirOperationWriteBytecode(module, uattn_string_append_ref, result);
    return;
  }
  MlirOpPrintingFlags flags = printing_flags(command);
  mlirOperationPrintWithFlags(module, flags, uattn_string_append_ref, result);
  mlirOpPrintingFlagsDestroy(flags);
  if (result->size > 0 && result->data[result->size - 1] != '\n')
    uattn_string_append(result, "\n");
}

static bool transform(const opt_command_t *command,
                      const uattn_pass_pipeline_t *pipeline,
                      const uattn_source_t *source, uattn_string_t *result) {
  MlirModule module = uattn_module_parse(pipeline->context, source);
  if (mlirModuleIsNull(module))
    return false;
  MlirOperation root = mlirModuleGetOperation(module);
  bool is_right = uattn_pass_pipeline_run(pipeline, root);
  if (is_right)
    append_module(command, root, result);
  mlirModuleDestroy(module);
  return is_right;
}

static bool process_piece(const opt_command_t *command,
                          const uattn_pass_pipeline_t *pipeline,
                          const uattn_source_t *source,
                          uattn_string_t *result) {
  uattn_string_t report = {0};
  listener_t listener = {.source = source};
  if (command->verifies_diagnostics)
    listener.expectations = opt_expectations_create(source, &report);
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      pipeline->context, listen, &listener, NULL);
  bool is_right = transform(command, pipeline, source, result);
  mlirContextDetachDiagnosticHandler(pipeline->context, handler);
  if (listener.expectations)
    is_right = opt_expectations_finish(listener.expectations, &report);
  print_report(&report);
  opt_expectations_destroy(listener.expectations);
  return is_right;
}

static bool process_text(const opt_command_t *command,
                         const uattn_pass_pipeline_t *pipeline,
                         const char *text, size_t size,
                         uattn_string_t *result) {
  const char *name =
      strcmp(command->input, "-") == 0 ? "<stdin>" : command->input;
  opt_pieces_t pieces = opt_pieces_cut(text, size, command->splits_input);
  bool is_right = true;
  for (size_t index = 0; index < pieces.count; ++index) {
    uattn_source_t source = {name, pieces.texts[index], pieces.sizes[index]};
    if (index > 0)
      uattn_string_append(result, OPT_SPLIT_LINE "\n");
    is_right &= process_piece(command, pipeline, &source, result);
  }
  opt_pieces_release(&pieces);
  return is_right;
}

uattn_error_t *opt_process(const opt_command_t *command,
                           uattn_string_t *out_result, bool *out_is_right) {
  uattn_context_options_t options = {
      .allow_unregistered_dialects = command->allows_unregistered,
      .disable_threading = command->disables_threading || prints_ir(command)};
  MlirContext context = uattn_context_create(&options);
  uattn_pass_pipeline_t pipeline = {0};
  char *text = NULL;
  size_t size = 0;
  uattn_error_t *error = make_pipeline(command, context, &pipeline);
  if (!error)
    error = uattn_file_read(command->input, &text, &size);
  if (!error)
    *out_is_right = process_text(command, &pipeline, text, size, out_result);
  free(text);
  uattn_pass_pipeline_destroy(&pipeline);
  mlirContextDestroy(context);
  return error;
}
