/* Enqueues a call's kernels on the caller's stream.
 * Layer: runtime. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything that a call needs lives on the stack: no allocation, no lock, no
 * wait, so that calls may come from several threads and under capture. */
#include <inttypes.h>
#include <string.h>

#include "runtime/driver_map.h"
#include "runtime/program.h"
#include "support/support.h"

#define REFUSE(...)                                                            \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

typedef struct {
  const uattn_program_t *program;
  cu_stream_t stream;
} call_t;

static uattn_error_t *check_place(void *user_data, const void *data,
                                  const uattn_tensor_demand_t *demand) {
  const call_t *call = user_data;
  const uattn_device_t *device = call->program->device;
  int ordinal = -1;
  cu_result_t result = device->driver.pointer_get(
      &ordinal, CU_POINTER_DEVICE_ORDINAL, (cu_address_t)(uintptr_t)data);
  if (result != 0)
    return REFUSE("%s %zu (%s) lies at 0x%" PRIxPTR
                  ", which is no CUDA memory: wanted memory of device %d",
                  demand->role, demand->index, demand->name, (uintptr_t)data,
                  device->handle);
  if (ordinal != device->handle)
    return REFUSE("%s %zu (%s) lies on device %d: wanted device %d",
                  demand->role, demand->index, demand->name, ordinal,
                  device->handle);
  return NULL;
}

/* One kernel parameter, in the form that the driver copies it from. */
typedef union {
  cu_tensor_map_t map;
  cu_address_t address;
  int32_t i32;
  float f32;
} slot_t;

static uattn_error_t *fill_slot(const call_t *call, uattn_param_kind_t kind,
                                const uattn_param_value_t *value,
                                slot_t *slot) {
  switch (kind) {
  case UATTN_PARAM_TENSOR_MAP:
    return uattn_error_annotate(
        uattn_tensor_map_encode(call->program->device, &value->map, &slot->map),
        "%s", value->map.name);
  case UATTN_PARAM_POINTER:
    slot->address = (cu_address_t)(uintptr_t)value->address;
    break;
  case UATTN_PARAM_I32:
    slot->i32 = value->i32;
    break;
  case UATTN_PARAM_F32:
    slot->f32 = value->f32;
    break;
  }
  return NULL;
}

static uattn_error_t *launch_kernel(void *user_data,
                                    const uattn_kernel_launch_t *launch) {
  const call_t *call = user_data;
  const uattn_artifact_kernel_t *kernel = launch->kernel;
  slot_t slots[UATTN_KERNEL_PARAM_LIMIT];
  void *params[UATTN_KERNEL_PARAM_LIMIT];
  for (uint32_t i = 0; i < kernel->param_count; ++i) {
    params[i] = &slots[i];
    uattn_error_t *error =
        fill_slot(call, kernel->params[i].kind, &launch->params[i], &slots[i]);
    if (error)
      return error;
  }
  const uattn_device_t *device = call->program->device;
  return uattn_device_error(
      device,
      device->driver.launch(call->program->kernels[launch->kernel_index],
                            launch->cta_count, 1, 1, (unsigned)kernel->threads,
                            1, 1, (unsigned)kernel->dynamic_smem_bytes,
                            call->stream, params, NULL),
      "the launch failed");
}

static uattn_error_t *copy_result(void *user_data, void *target,
                                  const void *source, size_t bytes) {
  const call_t *call = user_data;
  const uattn_device_t *device = call->program->device;
  return uattn_device_error(
      device,
      device->driver.memory_copy((cu_address_t)(uintptr_t)target,
                                 (cu_address_t)(uintptr_t)source, bytes,
                                 call->stream),
      "cannot copy a result");
}

uattn_error_t *uattn_function_results(const uattn_program_t *program,
                                      size_t function,
                                      const uattn_tensor_t *arguments,
                                      size_t argument_count,
                                      uattn_tensor_t *out_results) {
  uattn_call_t call = {.arguments = arguments,
                       .argument_count = argument_count};
  uattn_error_t *error =
      uattn_call_begin(program->artifact, program->functions, function, &call);
  if (!error)
    uattn_call_describe_results(&call, out_results);
  return error;
}

uattn_error_t *uattn_function_workspace_bytes(const uattn_program_t *program,
                                              size_t function,
                                              const uattn_tensor_t *arguments,
                                              size_t argument_count,
                                              size_t *out_bytes) {
  uattn_call_t call = {.arguments = arguments,
                       .argument_count = argument_count};
  uattn_error_t *error =
      uattn_call_begin(program->artifact, program->functions, function, &call);
  return error ? error : uattn_call_workspace_bytes(&call, out_bytes);
}

static uattn_error_t *run_call(call_t *state, size_t function,
                               uattn_call_t *call) {
  const uattn_program_t *program = state->program;
  const uattn_call_device_t device = {
      .launch = launch_kernel, .copy = copy_result, .user_data = state};
  uattn_error_t *error =
      uattn_call_begin(program->artifact, program->functions, function, call);
  if (error)
    return error;
  error = uattn_device_enter(program->device);
  if (error)
    return error;
  error = uattn_call_check(call);
  if (!error)
    error = uattn_call_enqueue(call, &device);
  uattn_device_leave(program->device);
  return error;
}

uattn_error_t *uattn_function_launch(const uattn_program_t *program,
                                     size_t function,
                                     const uattn_launch_t *launch) {
  uattn_launch_t known = {0};
  memcpy(&known, launch,
         launch->struct_size < sizeof known ? launch->struct_size
                                            : sizeof known);
  call_t state = {.program = program, .stream = known.stream};
  uattn_call_t call = {.arguments = known.arguments,
                       .argument_count = known.argument_count,
                       .results = known.results,
                       .result_count = known.result_count,
                       .workspace = known.workspace,
                       .workspace_bytes = known.workspace_bytes,
                       .sm_scale = known.sm_scale,
                       .cap = known.cap,
                       .check_place = known.is_place_known ? NULL : check_place,
                       .user_data = &state};
  return run_call(&state, function, &call);
}
