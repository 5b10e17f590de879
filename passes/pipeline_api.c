/* The public call that runs a pipeline inside a caller's program.
 * Layer: passes. Must not know: the syntax of a pipeline's text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/pass_pipeline.h"
#include "uattn/mlir.h"

uattn_error_t *uattn_pipeline_run(MlirOperation root, const char *pipeline) {
  uattn_pass_pipeline_t parsed = {0};
  uattn_error_t *error = uattn_pass_pipeline_parse(
      mlirOperationGetContext(root), pipeline, UATTN_VERIFY_EACH_PASS, &parsed);
  if (!error && !uattn_pass_pipeline_run(&parsed, root))
    error = uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "pipeline '%s' failed: expected IR that its passes accept, see the "
        "diagnostics",
        pipeline);
  uattn_pass_pipeline_destroy(&parsed);
  return error;
}
