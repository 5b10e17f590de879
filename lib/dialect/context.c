/* Contexts that know the uattn dialect, and upstream's dialects and passes.
 * Layer: dialect. Must not know: what the dialect's ops mean.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/IRDL.h>
#include <mlir-c/RegisterEverything.h>
#include <pthread.h>

extern const char uattn_irdl_text[]; /* generated from uattn.irdl.mlir */

const char *uattn_dialect_source(void) { return uattn_irdl_text; }

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/* Collects what MLIR says about the embedded source. */
static MlirLogicalResult collect_message(MlirDiagnostic diagnostic,
                                         void *user_data) {
  uattn_string_t *messages = user_data;
  if (messages->size > 0)
    uattn_string_append(messages, "; ");
  mlirDiagnosticPrint(diagnostic, uattn_string_append_ref, messages);
  return mlirLogicalResultSuccess();
}

static bool load_embedded_source(MlirContext context) {
  MlirModule source = mlirModuleCreateParse(context, ref(uattn_irdl_text));
  if (mlirModuleIsNull(source))
    return false;
  MlirLogicalResult result = mlirLoadIRDLDialects(source);
  mlirModuleDestroy(source);
  return mlirLogicalResultIsSuccess(result);
}

uattn_error_t *uattn_dialect_load(MlirContext context) {
  if (mlirContextIsRegisteredOperation(context,
                                       ref(UATTN_OPNAME_RANKER_ATTENTION)))
    return NULL;
  if (!mlirDialectIsNull(
          mlirContextGetOrLoadDialect(context, ref(UATTN_NAMESPACE))))
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "the context holds another dialect named uattn: expected none");
  mlirDialectHandleLoadDialect(mlirGetDialectHandle__irdl__(), context);
  uattn_string_t messages = {0};
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      context, collect_message, &messages, NULL);
  bool loaded = load_embedded_source(context);
  mlirContextDetachDiagnosticHandler(context, handler);
  uattn_error_t *error = NULL;
  if (!loaded)
    error = uattn_error_create(UATTN_ERROR_INTERNAL,
                               "the embedded dialect does not load: %s",
                               uattn_string_get(&messages));
  uattn_string_release(&messages);
  return error;
}

MlirContext uattn_context_create(const uattn_context_options_t *options) {
  static pthread_once_t passes_registered = PTHREAD_ONCE_INIT;
  UATTN_CHECK(pthread_once(&passes_registered, mlirRegisterAllPasses) == 0);
  uattn_context_options_t defaults = {0};
  if (!options)
    options = &defaults;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, !options->disable_threading);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(context);
  mlirContextSetAllowUnregisteredDialects(context,
                                          options->allow_unregistered_dialects);
  uattn_error_t *error = uattn_dialect_load(context);
  if (error)
    fprintf(stderr, "%s\n", uattn_error_message(error));
  UATTN_CHECK(!error);
  return context;
}
