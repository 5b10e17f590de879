/* Pipelines of uattn's and upstream's passes.
 * Layer: passes. Must not know: the syntax of a pipeline's text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/pass_pipeline.h"

#include "dialect/dialect.h"
#include "passes/pipeline_text.h"

#include <stdlib.h>
#include <string.h>

uattn_pass_pipeline_t
uattn_pass_pipeline_create(MlirContext context, const char *anchor,
                           uattn_verify_mode_t verify_mode) {
  uattn_pass_pipeline_t pipeline = {
      .context = context,
      .manager = mlirPassManagerCreateOnOperation(
          context, mlirStringRefCreateFromCString(anchor)),
      .anchor = uattn_string_copy(anchor),
      .verify_mode = verify_mode};
  mlirPassManagerEnableVerifier(pipeline.manager,
                                verify_mode != UATTN_VERIFY_NO_PASS);
  return pipeline;
}

void uattn_pass_pipeline_destroy(uattn_pass_pipeline_t *pipeline) {
  if (!mlirPassManagerIsNull(pipeline->manager))
    mlirPassManagerDestroy(pipeline->manager);
  free(pipeline->anchor);
  memset(pipeline, 0, sizeof *pipeline);
}

uattn_error_t *uattn_pass_pipeline_parse(MlirContext context, const char *text,
                                         uattn_verify_mode_t verify_mode,
                                         uattn_pass_pipeline_t *out_pipeline) {
  char *anchor = NULL;
  uattn_error_t *error = uattn_pipeline_text_anchor(text, &anchor);
  if (error)
    return error;
  uattn_pass_pipeline_t pipeline =
      uattn_pass_pipeline_create(context, anchor, verify_mode);
  free(anchor);
  error = uattn_pipeline_text_fill(text, &pipeline);
  if (error)
    uattn_pass_pipeline_destroy(&pipeline);
  else
    *out_pipeline = pipeline;
  return error;
}

uattn_error_t *uattn_pass_pipeline_add(uattn_pass_pipeline_t *pipeline,
                                       const char *text) {
  return uattn_pipeline_text_add_pass(text, pipeline);
}

bool uattn_pass_pipeline_run(const uattn_pass_pipeline_t *pipeline,
                             MlirOperation root) {
  return uattn_verify_module(root) &&
         mlirLogicalResultIsSuccess(
             mlirPassManagerRunOnOp(pipeline->manager, root));
}
