/* uattn_compile: from a module's text to the bytes that were asked for.
 * Layer: compiler. Must not know: how any pass works.
 * SPDX-License-Identifier: Apache-2.0 */
#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/session.h"
#include "passes/plan_attribute.h"

void uattn_compile_options_init_sized(uattn_compile_options_t *options,
                                      size_t struct_size) {
  memset(options, 0, struct_size);
  options->struct_size = struct_size;
}

static uattn_error_t *complete_options(const uattn_compile_options_t *given,
                                       uattn_compile_options_t *out) {
  uattn_compile_options_init(out);
  if (given) {
    if (given->struct_size < sizeof given->struct_size)
      return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                                "options have size %zu: expected what "
                                "uattn_compile_options_init sets",
                                given->struct_size);
    size_t known =
        given->struct_size < sizeof *out ? given->struct_size : sizeof *out;
    memcpy(out, given, known);
    out->struct_size = sizeof *out;
  }
  if (!out->source_name)
    out->source_name = "<source>";
  if (!out->chip)
    out->chip = "sm_90a";
  if (!uattn_target_find(out->chip))
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "chip %s is not supported: expected sm_90a",
                              out->chip);
  if ((int)out->emit < UATTN_EMIT_ARTIFACT || out->emit > UATTN_EMIT_CUBIN)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "emit is %d: expected %d to %d", (int)out->emit,
                              UATTN_EMIT_ARTIFACT, UATTN_EMIT_CUBIN);
  if (out->emit == UATTN_EMIT_CUBIN && !out->ptxas_path && !out->nvjitlink_path)
    return uattn_error_create(
        UATTN_ERROR_TOOLCHAIN,
        "no assembler was found: a cubin needs ptxas or libnvJitLink.so.13");
  return NULL;
}

static MlirLogicalResult listen(MlirDiagnostic diagnostic, void *user_data) {
  const uattn_session_t *session = user_data;
  bool is_error = mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError;
  uattn_string_t text = {0};
  uattn_diagnostic_append(&text, diagnostic, &session->source);
  uattn_session_report(session,
                       is_error ? UATTN_SEVERITY_ERROR : UATTN_SEVERITY_WARNING,
                       uattn_string_get(&text));
  uattn_string_release(&text);
  return mlirLogicalResultSuccess();
}

static uattn_error_t *parse(uattn_session_t *session) {
  session->module = uattn_module_parse(session->context, &session->source);
  if (mlirModuleIsNull(session->module) ||
      !uattn_verify_module(mlirModuleGetOperation(session->module)))
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "%s is not a valid module",
                              session->options.source_name);
  return NULL;
}

static uattn_error_t *dump_plans(const uattn_session_t *session) {
  if (!session->options.dump_directory)
    return NULL;
  uattn_function_ops_t functions = uattn_attention_functions(session);
  uattn_string_t text = {0};
  for (size_t f = 0; f < functions.count; ++f) {
    uattn_function_ops_t ops = uattn_function_ops(functions.ops[f]);
    for (size_t i = 0; i < ops.count; ++i)
      (void)uattn_op_append_plan_text(ops.ops[i], &text);
    free(ops.ops);
  }
  free(functions.ops);
  uattn_error_t *error =
      uattn_session_dump(session, "plan.txt", uattn_string_get(&text));
  uattn_string_release(&text);
  return error;
}

/* PTX or cubin of the module's only kernel. */
static uattn_error_t *take_image(const uattn_session_t *session,
                                 uattn_artifact_t *artifact,
                                 uint8_t **out_bytes, size_t *out_size) {
  if (artifact->image_count != 1)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "%s needs %u kernels: PTX and cubin are emitted for a module that "
        "needs one",
        session->options.source_name, artifact->image_count);
  uattn_artifact_image_t *image = &artifact->images[0];
  if (session->options.emit == UATTN_EMIT_CUBIN) {
    *out_bytes = image->cubin;
    *out_size = image->cubin_bytes;
    image->cubin = NULL;
    image->cubin_bytes = 0;
  } else {
    *out_size = strlen(image->ptx);
    *out_bytes = (uint8_t *)image->ptx;
    image->ptx = NULL;
  }
  return NULL;
}

static uattn_error_t *compile_binary(uattn_session_t *session,
                                     uint8_t **out_bytes, size_t *out_size) {
  uattn_emit_t emit = session->options.emit;
  uattn_artifact_t *artifact = uattn_artifact_create();
  uattn_error_t *error = uattn_build_functions(session, artifact);
  if (!error && emit != UATTN_EMIT_PROBLEM)
    error = uattn_session_lower(session, UATTN_EMIT_LLVM);
  if (!error && emit != UATTN_EMIT_PROBLEM)
    error = dump_plans(session);
  if (!error && emit != UATTN_EMIT_PROBLEM)
    error = uattn_build_kernels(session, artifact);
  if (!error && (emit == UATTN_EMIT_PTX || emit == UATTN_EMIT_CUBIN))
    error = take_image(session, artifact, out_bytes, out_size);
  else if (!error)
    uattn_artifact_serialize(artifact, out_bytes, out_size);
  uattn_artifact_destroy(artifact);
  return error;
}

static uattn_error_t *compile_text(uattn_session_t *session,
                                   uint8_t **out_bytes, size_t *out_size) {
  uattn_error_t *error = uattn_session_lower(session, session->options.emit);
  if (!error)
    error = dump_plans(session);
  if (!error) {
    char *text = uattn_session_print(session);
    *out_size = strlen(text);
    *out_bytes = (uint8_t *)text;
  }
  return error;
}

uattn_error_t *uattn_compile(const char *source, size_t size,
                             const uattn_compile_options_t *options,
                             uint8_t **out_bytes, size_t *out_size) {
  uattn_session_t session = {.dump_count = 0};
  uattn_error_t *error = complete_options(options, &session.options);
  if (error)
    return error;
  session.source.name = session.options.source_name;
  session.source.text = source;
  session.source.size = size;
  session.context = uattn_context_create(NULL);
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      session.context, listen, &session, NULL);
  error = parse(&session);
  bool is_text = session.options.emit >= UATTN_EMIT_PLANNED &&
                 session.options.emit <= UATTN_EMIT_LLVM;
  if (!error)
    error = is_text ? compile_text(&session, out_bytes, out_size)
                    : compile_binary(&session, out_bytes, out_size);
  if (!mlirModuleIsNull(session.module))
    mlirModuleDestroy(session.module);
  mlirContextDetachDiagnosticHandler(session.context, handler);
  mlirContextDestroy(session.context);
  return error;
}
