/* The workspace of a function, for callers that have no program of it.
 * Layer: artifact. Must not know: CUDA, the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "artifact/call.h"
#include "support/support.h"

uattn_error_t *uattn_artifact_workspace_bytes(const uattn_artifact_t *artifact,
                                              size_t function,
                                              const uattn_tensor_t *arguments,
                                              size_t argument_count,
                                              size_t *out_bytes) {
  uint32_t count = artifact->function_count;
  uattn_function_facts_t *facts = uattn_allocate(count * sizeof *facts);
  uattn_error_t *error = NULL;
  uint32_t created = 0;
  for (; !error && created < count; ++created)
    error = uattn_function_facts_create(artifact, created, &facts[created]);
  uattn_call_t call = {.arguments = arguments,
                       .argument_count = argument_count};
  if (!error)
    error = uattn_call_begin(artifact, facts, function, &call);
  if (!error)
    error = uattn_call_workspace_bytes(&call, out_bytes);
  for (uint32_t i = 0; i < created; ++i)
    uattn_function_facts_release(&facts[i]);
  free(facts);
  return error;
}
