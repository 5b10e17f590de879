/* Pipelines of uattn's and upstream's passes, from text or one by one.
 * Layer: passes. Must not know: the tools' command lines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_PASS_PIPELINE_H
#define UATTN_PASSES_PASS_PIPELINE_H

#include <mlir-c/Pass.h>

#include "passes/pass.h"
#include "support/support.h"

/* Where the verifiers, MLIR's own and uattn's semantic one, follow a pass. */
typedef enum {
  UATTN_VERIFY_NO_PASS,
  /* MLIR's after each, the semantic one after uattn's passes alone, so that
   * no pass is there that the user did not write (dumps, timing). */
  UATTN_VERIFY_OWN_PASSES,
  UATTN_VERIFY_EACH_PASS
} uattn_verify_mode_t;

/* A pass manager and the op name that it runs on. Upstream's passes are those
 * that the process has registered; uattn_context_create does. */
typedef struct {
  MlirContext context;
  MlirPassManager manager;
  char *anchor; /* "builtin.module", "any" */
  uattn_verify_mode_t verify_mode;
} uattn_pass_pipeline_t;

/* An empty pipeline. */
uattn_pass_pipeline_t
uattn_pass_pipeline_create(MlirContext context, const char *anchor,
                           uattn_verify_mode_t verify_mode);

/* A whole pipeline from "anchor(pass{options},op.name(pass),...)". White space
 * between the parts does not matter. An error names the position and the
 * text. */
UATTN_NODISCARD uattn_error_t *
uattn_pass_pipeline_parse(MlirContext context, const char *text,
                          uattn_verify_mode_t verify_mode,
                          uattn_pass_pipeline_t *out_pipeline);

/* Adds one pass at the end, "pass" or "pass{options}", as a flag of a command
 * line does: a pass for another op than the pipeline's is nested under it. */
UATTN_NODISCARD uattn_error_t *
uattn_pass_pipeline_add(uattn_pass_pipeline_t *pipeline, const char *text);

/* False where the IR is wrong or a pass failed, after diagnostics. Checks the
 * semantic rules before the first pass, whatever the verify mode. */
bool uattn_pass_pipeline_run(const uattn_pass_pipeline_t *pipeline,
                             MlirOperation root);

/* Accepts a zeroed pipeline. */
void uattn_pass_pipeline_destroy(uattn_pass_pipeline_t *pipeline);

#endif /* UATTN_PASSES_PASS_PIPELINE_H */
