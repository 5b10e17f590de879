/* Kernels and their launches as data, for callers that launch them themselves.
 * Layer: artifact. Must not know: CUDA, the emulator, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/kernels.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/call.h"
#include "support/support.h"

struct uattn_kernels {
  const uattn_artifact_t *artifact;
  uattn_function_facts_t *facts; /* of each function */
};

uattn_error_t *uattn_kernels_create(const uattn_artifact_t *artifact,
                                    uattn_kernels_t **out_kernels) {
  uattn_kernels_t *kernels = uattn_allocate(sizeof *kernels);
  kernels->artifact = artifact;
  uattn_error_t *error = uattn_artifact_facts_create(artifact, &kernels->facts);
  if (error)
    uattn_kernels_destroy(kernels);
  else
    *out_kernels = kernels;
  return error;
}

void uattn_kernels_destroy(uattn_kernels_t *kernels) {
  if (!kernels)
    return;
  uattn_artifact_facts_destroy(kernels->artifact, kernels->facts);
  free(kernels);
}

size_t uattn_kernels_count(const uattn_kernels_t *kernels, size_t function) {
  const uattn_artifact_function_t *found =
      &kernels->artifact->functions[function];
  size_t count = 0;
  for (uint32_t i = 0; i < found->step_count; ++i)
    count += found->steps[i].kernel_count;
  return count;
}

/* A function's kernel, counted through its ops, and the op that it is of. */
typedef struct {
  const uattn_artifact_step_t *step;
  const uattn_artifact_kernel_t *kernel;
} place_t;

static place_t find_kernel(const uattn_kernels_t *kernels, size_t function,
                           size_t index) {
  const uattn_artifact_t *artifact = kernels->artifact;
  const uattn_artifact_step_t *step = artifact->functions[function].steps;
  for (; index >= step->kernel_count; ++step)
    index -= step->kernel_count;
  return (place_t){step, &artifact->kernels[step->first_kernel + index]};
}

uattn_kernel_info_t uattn_kernels_get(const uattn_kernels_t *kernels,
                                      size_t function, size_t kernel) {
  const uattn_artifact_kernel_t *found =
      find_kernel(kernels, function, kernel).kernel;
  const uattn_artifact_image_t *image =
      &kernels->artifact->images[found->image_index];
  return (uattn_kernel_info_t){.entry = found->entry,
                               .chip = image->chip,
                               .cubin =
                                   image->cubin_bytes > 0 ? image->cubin : NULL,
                               .cubin_bytes = image->cubin_bytes,
                               .ptx = image->ptx,
                               .threads = found->threads,
                               .dynamic_smem_bytes = found->dynamic_smem_bytes,
                               .param_count = found->param_count};
}

static const char *quantity_name(uattn_quantity_t quantity) {
  static const char *const names[] = {
      [UATTN_QUANTITY_BATCH] = "batch",
      [UATTN_QUANTITY_Q_TOKENS] = "q_tokens",
      [UATTN_QUANTITY_KV_TOKENS] = "kv_tokens",
      [UATTN_QUANTITY_Q_HEADS] = "q_heads",
      [UATTN_QUANTITY_KV_HEADS] = "kv_heads",
      [UATTN_QUANTITY_Q_TILES] = "q_tiles",
      [UATTN_QUANTITY_Q_OFFSET] = "q_offset",
      [UATTN_QUANTITY_WINDOW_TOKENS] = "window_tokens",
      [UATTN_QUANTITY_KV_TILES] = "kv_tiles",
      [UATTN_QUANTITY_PRE_SCALE] = "pre_scale",
      [UATTN_QUANTITY_PRE_BIAS] = "pre_bias",
      [UATTN_QUANTITY_POST_SCALE] = "post_scale",
      [UATTN_QUANTITY_LSE_SHIFT] = "lse_shift",
      [UATTN_QUANTITY_Z_LOSS_WEIGHT] = "z_loss_weight",
      [UATTN_QUANTITY_GRADIENT_SCALE] = "gradient_scale"};
  size_t index = (size_t)quantity;
  UATTN_CHECK(index < sizeof names / sizeof *names && names[index]);
  return names[index];
}

static const char *scratch_name(int32_t index) {
  static const char names[UATTN_STEP_SCRATCH_LIMIT][9] = {
      "scratch0", "scratch1", "scratch2", "scratch3",
      "scratch4", "scratch5", "scratch6", "scratch7"};
  return names[index];
}

uattn_param_info_t uattn_kernels_param(const uattn_kernels_t *kernels,
                                       size_t function, size_t kernel,
                                       size_t index) {
  place_t place = find_kernel(kernels, function, kernel);
  const uattn_kernel_param_t *param = &place.kernel->params[index];
  const uattn_problem_t *problem = &place.step->problem;
  uattn_param_info_t info = {.kind = param->kind};
  if (param->kind == UATTN_PARAM_I32 || param->kind == UATTN_PARAM_F32) {
    info.dtype =
        param->kind == UATTN_PARAM_I32 ? UATTN_DTYPE_I32 : UATTN_DTYPE_F32;
    info.name = quantity_name(param->quantity);
  } else if (param->source == UATTN_PARAM_SOURCE_SCRATCH) {
    info.dtype = UATTN_DTYPE_F32;
    info.name = scratch_name(param->tensor_index);
  } else if (param->source == UATTN_PARAM_SOURCE_RESULT) {
    info.dtype = uattn_result_dtype(problem, param->tensor_index);
    info.name = uattn_result_name(problem->kind, param->tensor_index);
  } else {
    uattn_operand_t operand = (uattn_operand_t)param->tensor_index;
    info.dtype = uattn_operand_dtype(problem, operand);
    info.name = uattn_operand_name(operand);
  }
  return info;
}

/* Refused here and not in uattn_call_enqueue: nothing may be half described. */
static uattn_error_t *check_copies(const uattn_call_t *call) {
  for (uint32_t i = 0; i < call->function->result_count; ++i) {
    int32_t value = call->function->result_values[i];
    if (call->facts->uses[value].result != (int32_t)i)
      return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                                "result %" PRIu32
                                " (%s) is no kernel's but a copy: wanted a "
                                "function whose kernels write all results",
                                i, call->function->values[value].name);
  }
  return NULL;
}

static uattn_error_t *note_launch(void *user_data,
                                  const uattn_kernel_launch_t *launch) {
  uattn_kernel_arguments_t **next = user_data;
  (*next)->cta_count = launch->cta_count;
  (*next)->param_count = launch->kernel->param_count;
  memcpy((*next)->params, launch->params,
         launch->kernel->param_count * sizeof launch->params[0]);
  ++*next;
  return NULL;
}

uattn_error_t *uattn_kernels_describe(const uattn_kernels_t *kernels,
                                      size_t function,
                                      const uattn_kernels_call_t *given,
                                      uattn_kernel_arguments_t *out_arguments) {
  uattn_kernels_call_t known = {0};
  memcpy(&known, given,
         given->struct_size < sizeof known ? given->struct_size : sizeof known);
  uattn_call_t call = {.arguments = known.arguments,
                       .argument_count = known.argument_count,
                       .results = known.results,
                       .result_count = known.result_count,
                       .workspace = known.workspace,
                       .workspace_bytes = known.workspace_bytes,
                       .sm_scale = known.sm_scale,
                       .cap = known.cap};
  uattn_kernel_arguments_t *next = out_arguments;
  const uattn_call_device_t recorder = {.launch = note_launch,
                                        .user_data = &next};
  uattn_error_t *error =
      uattn_call_begin(kernels->artifact, kernels->facts, function, &call);
  if (!error)
    error = uattn_call_check(&call);
  if (!error)
    error = check_copies(&call);
  if (!error)
    error = uattn_call_enqueue(&call, &recorder);
  return error;
}
