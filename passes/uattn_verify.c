/* Pass uattn-verify: the semantic verifier on everything in the module.
 * Layer: passes. Must not know: the rules that it asks for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/dialect.h"
#include "passes/pass_runs.h"

bool uattn_verify_run(MlirOperation root, const uattn_pass_options_t *options) {
  (void)options;
  return uattn_verify_module(root);
}
