/* Loads an artifact's kernels.
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
  uattn_error_t *error =
      uattn_artifact_facts_create(artifact, &program->functions);
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
  uattn_artifact_facts_destroy(program->artifact, program->functions);
  free(program->modules);
  free(program->kernels);
  free(program);
}
