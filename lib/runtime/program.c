/* Loads an artifact's kernels and finds out how they use its values.
 * Layer: runtime. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/program.h"

#include <inttypes.h>
#include <stdlib.h>

#include "support/support.h"

static uattn_error_t *load_kernel(uattn_program_t *program, uint32_t index) {
  const uattn_cuda_driver_t *driver = &program->device->driver;
  const uattn_artifact_kernel_t *kernel = &program->artifact->kernels[index];
  cu_function_t *function = &program->kernels[index];
  if (kernel->dynamic_smem_bytes > program->device->smem_limit_bytes)
    return uattn_error_create(
        UATTN_ERROR_DEVICE,
        "kernel %s wants %" PRId32 " bytes of shared memory: %s has %d",
        kernel->entry, kernel->dynamic_smem_bytes, program->device->name,
        program->device->smem_limit_bytes);
  uattn_error_t *error = uattn_device_error(
      program->device,
      driver->module_get_function(
          function, program->modules[kernel->image_index], kernel->entry),
      "cannot find it in its image");
  if (!error)
    error = uattn_device_error(
        program->device,
        driver->function_set(*function, CU_FUNCTION_DYNAMIC_SMEM_BYTES,
                             kernel->dynamic_smem_bytes),
        "cannot raise its limit of shared memory");
  /* A lazy driver would load the code at the first launch, where it may not
   * allocate under stream capture. */
  if (!error && driver->function_load)
    error =
        uattn_device_error(program->device, driver->function_load(*function),
                           "cannot load its code");
  return uattn_error_annotate(error, "kernel %s", kernel->entry);
}

static uattn_error_t *load_all(uattn_program_t *program) {
  const uattn_artifact_t *artifact = program->artifact;
  uattn_error_t *error = uattn_device_enter(program->device);
  if (error)
    return error;
  for (uint32_t i = 0; !error && i < artifact->image_count; ++i)
    error = uattn_image_load(program->device, &artifact->images[i],
                             &program->modules[i]);
  for (uint32_t i = 0; !error && i < artifact->kernel_count; ++i)
    error = load_kernel(program, i);
  uattn_device_leave(program->device);
  return error;
}

static void note_params(const uattn_artifact_t *artifact,
                        const uattn_artifact_step_t *step, value_use_t *uses) {
  for (uint32_t k = 0; k < step->kernel_count; ++k) {
    const uattn_artifact_kernel_t *kernel =
        &artifact->kernels[step->first_kernel + k];
    for (uint32_t p = 0; p < kernel->param_count; ++p) {
      const uattn_kernel_param_t *param = &kernel->params[p];
      if (param->kind != UATTN_PARAM_TENSOR_MAP &&
          param->kind != UATTN_PARAM_POINTER)
        continue;
      int32_t value = param->is_result
                          ? step->result_values[param->tensor_index]
                          : step->operand_values[param->tensor_index];
      uses[value].is_mapped |= param->kind == UATTN_PARAM_TENSOR_MAP;
      uses[value].is_pointed |= param->kind == UATTN_PARAM_POINTER;
      uses[value].is_written |= param->is_result;
    }
  }
}

/* A result that is an argument, or another result again, is copied: both then
 * have to be dense. */
static void note_results(const uattn_artifact_function_t *function,
                         value_use_t *uses) {
  for (uint32_t i = 0; i < function->result_count; ++i) {
    value_use_t *use = &uses[function->result_values[i]];
    bool is_argument =
        (uint32_t)function->result_values[i] < function->argument_count;
    if (is_argument || use->result >= 0)
      use->is_pointed = true;
    else
      use->result = (int32_t)i;
  }
}

static uattn_error_t *study_function(const uattn_artifact_t *artifact,
                                     uint32_t index,
                                     program_function_t *facts) {
  const uattn_artifact_function_t *function = &artifact->functions[index];
  facts->uses = uattn_allocate(function->value_count * sizeof *facts->uses);
  for (uint32_t i = 0; i < function->value_count; ++i)
    facts->uses[i].result = -1;
  for (uint32_t i = 0; i < function->step_count; ++i)
    note_params(artifact, &function->steps[i], facts->uses);
  note_results(function, facts->uses);
  return uattn_function_dims_create(function, &facts->dims);
}

uattn_error_t *uattn_program_create(const uattn_device_t *device,
                                    const uattn_artifact_t *artifact,
                                    uattn_program_t **out_program) {
  uattn_program_t *program = uattn_allocate(sizeof *program);
  program->device = device;
  program->artifact = artifact;
  program->modules =
      uattn_allocate(artifact->image_count * sizeof *program->modules);
  program->kernels =
      uattn_allocate(artifact->kernel_count * sizeof *program->kernels);
  program->functions =
      uattn_allocate(artifact->function_count * sizeof *program->functions);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < artifact->function_count; ++i)
    error = study_function(artifact, i, &program->functions[i]);
  if (!error)
    error = load_all(program);
  if (error)
    uattn_program_destroy(program);
  else
    *out_program = program;
  return error;
}

void uattn_program_destroy(uattn_program_t *program) {
  if (!program)
    return;
  uattn_error_t *error = uattn_device_enter(program->device);
  if (!error) {
    for (uint32_t i = 0; i < program->artifact->image_count; ++i)
      if (program->modules[i])
        program->device->driver.module_unload(program->modules[i]);
    uattn_device_leave(program->device);
  }
  uattn_error_destroy(error);
  for (uint32_t i = 0; i < program->artifact->function_count; ++i) {
    uattn_function_dims_release(&program->functions[i].dims);
    free(program->functions[i].uses);
  }
  free(program->modules);
  free(program->kernels);
  free(program->functions);
  free(program);
}
