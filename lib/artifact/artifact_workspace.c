/* The workspace of a function, for callers that have no program of it.
 * Layer: artifact. Must not know: CUDA, the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "artifact/call.h"
#include "support/support.h"

uattn_error_t *uattn_artifact_workspace_bytes(const uattn_artifact_t *artifact,
                                              size_t function,
                                              const uattn_tensor_t *arguments,
                                              size_t argument_count,
                                              size_t *out_bytes) {
  uattn_function_facts_t *facts = NULL;
  uattn_error_t *error = uattn_artifact_facts_create(artifact, &facts);
  uattn_call_t call = {.arguments = arguments,
                       .argument_count = argument_count};
  if (!error)
    error = uattn_call_begin(artifact, facts, function, &call);
  if (!error)
    error = uattn_call_workspace_bytes(&call, out_bytes);
  uattn_artifact_facts_destroy(artifact, facts);
  return error;
}
