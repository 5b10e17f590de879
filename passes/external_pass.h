/* Rows of the pass table as passes that MLIR's pass manager runs.
 * Layer: passes. Must not know: pipelines' text, the command line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PASSES_EXTERNAL_PASS_H
#define UATTN_PASSES_EXTERNAL_PASS_H

#include <mlir-c/Pass.h>

#include "passes/pass.h"

/* A pass that runs `pass` with the options (taken) and then, if asked, the
 * semantic verifier. */
MlirPass uattn_external_pass_create(const uattn_pass_t *pass,
                                    uattn_pass_options_t *owned_options,
                                    bool verifies_after);

/* A pass on any op that runs the semantic verifier alone, to follow a pass of
 * upstream's. */
MlirPass uattn_external_verifier_create(void);

#endif /* UATTN_PASSES_EXTERNAL_PASS_H */
