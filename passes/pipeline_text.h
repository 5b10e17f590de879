/* The text of a pipeline and the pass managers that it fills.
 * Layer: passes. Must not know: the command line, how a pass runs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_PIPELINE_TEXT_H
#define UATTN_PASSES_PIPELINE_TEXT_H

#include "passes/pass_pipeline.h"

/* The anchor in front of the first parenthesis; free with free(). */
UATTN_NODISCARD uattn_error_t *uattn_pipeline_text_anchor(const char *text,
                                                          char **out_anchor);

/* Adds what stands between the outermost parentheses of `text`. */
UATTN_NODISCARD uattn_error_t *
uattn_pipeline_text_fill(const char *text,
                         const uattn_pass_pipeline_t *pipeline);

/* One "pass" or "pass{options}"; nests it under the op that it is for. */
UATTN_NODISCARD uattn_error_t *
uattn_pipeline_text_add_pass(const char *text,
                             const uattn_pass_pipeline_t *pipeline);

#endif /* UATTN_PASSES_PIPELINE_TEXT_H */
