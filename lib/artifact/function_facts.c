/* Finds out how a function's kernels use its values.
 * Layer: artifact. Must not know: calls, CUDA, the emulator.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "artifact/call.h"
#include "support/support.h"

static void note_params(const uattn_artifact_t *artifact,
                        const uattn_artifact_step_t *step,
                        uattn_value_use_t *uses) {
  for (uint32_t k = 0; k < step->kernel_count; ++k) {
    const uattn_artifact_kernel_t *kernel =
        &artifact->kernels[step->first_kernel + k];
    for (uint32_t p = 0; p < kernel->param_count; ++p) {
      const uattn_kernel_param_t *param = &kernel->params[p];
      if (param->kind != UATTN_PARAM_TENSOR_MAP &&
          param->kind != UATTN_PARAM_POINTER)
        continue;
      if (param->source == UATTN_PARAM_SOURCE_SCRATCH)
        continue; /* no value of the function */
      bool is_result = param->source == UATTN_PARAM_SOURCE_RESULT;
      int32_t value = is_result ? step->result_values[param->tensor_index]
                                : step->operand_values[param->tensor_index];
      uses[value].is_mapped |= param->kind == UATTN_PARAM_TENSOR_MAP;
      uses[value].is_pointed |= param->kind == UATTN_PARAM_POINTER;
      uses[value].is_written |= is_result;
    }
  }
}

/* A result that is an argument, or another result again, is copied: both then
 * have to be dense. */
static void note_results(const uattn_artifact_function_t *function,
                         uattn_value_use_t *uses) {
  for (uint32_t i = 0; i < function->result_count; ++i) {
    uattn_value_use_t *use = &uses[function->result_values[i]];
    bool is_argument =
        (uint32_t)function->result_values[i] < function->argument_count;
    if (is_argument || use->result >= 0)
      use->is_pointed = true;
    else
      use->result = (int32_t)i;
  }
}

uattn_error_t *uattn_function_facts_create(const uattn_artifact_t *artifact,
                                           uint32_t function_index,
                                           uattn_function_facts_t *out_facts) {
  const uattn_artifact_function_t *function =
      &artifact->functions[function_index];
  uattn_value_use_t *uses =
      uattn_allocate(function->value_count * sizeof *uses);
  for (uint32_t i = 0; i < function->value_count; ++i)
    uses[i].result = -1;
  for (uint32_t i = 0; i < function->step_count; ++i)
    note_params(artifact, &function->steps[i], uses);
  note_results(function, uses);
  out_facts->uses = uses;
  return uattn_function_dims_create(function, &out_facts->dims);
}

void uattn_function_facts_release(uattn_function_facts_t *facts) {
  uattn_function_dims_release(&facts->dims);
  free(facts->uses);
  *facts = (uattn_function_facts_t){0};
}

uattn_error_t *uattn_artifact_facts_create(const uattn_artifact_t *artifact,
                                           uattn_function_facts_t **out_facts) {
  uattn_function_facts_t *facts =
      uattn_allocate(artifact->function_count * sizeof *facts);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < artifact->function_count; ++i)
    error = uattn_function_facts_create(artifact, i, &facts[i]);
  if (error)
    uattn_artifact_facts_destroy(artifact, facts);
  else
    *out_facts = facts;
  return error;
}

void uattn_artifact_facts_destroy(const uattn_artifact_t *artifact,
                                  uattn_function_facts_t *facts) {
  for (uint32_t i = 0; facts && i < artifact->function_count; ++i)
    uattn_function_facts_release(&facts[i]);
  free(facts);
}
