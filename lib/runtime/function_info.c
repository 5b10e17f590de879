/* A call's tensors: which they are, what a caller has to provide for them.
 * Layer: runtime. Must not know: the driver, kernels' parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "runtime/program.h"
#include "runtime/tensor.h"
#include "support/support.h"

enum { WORKSPACE_ALIGNMENT = 256 };

static uattn_error_t *check_argument(const uattn_artifact_value_t *value,
                                     const uattn_tensor_t *tensor,
                                     size_t index) {
  if (tensor->rank != value->rank)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "argument %zu (%s) has rank %" PRId32
                              ": wanted %" PRId32,
                              index, value->name, tensor->rank, value->rank);
  if (tensor->dtype != value->dtype)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "argument %zu (%s) has type %s: wanted %s", index,
                              value->name, uattn_dtype_name(tensor->dtype),
                              uattn_dtype_name(value->dtype));
  return NULL;
}

uattn_error_t *uattn_call_begin(const uattn_program_t *program, size_t function,
                                const uattn_launch_t *launch,
                                call_t *out_call) {
  const uattn_artifact_t *artifact = program->artifact;
  if (function >= artifact->function_count)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "function %zu: the artifact has %" PRIu32,
                              function, artifact->function_count);
  call_t call = {.program = program,
                 .function = &artifact->functions[function],
                 .facts = &program->functions[function],
                 .launch = launch};
  if (launch->argument_count != call.function->argument_count)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "%zu arguments: function %s wants %" PRIu32,
                              launch->argument_count, call.function->name,
                              call.function->argument_count);
  if (launch->argument_count > 0 && !launch->arguments)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "arguments is NULL: wanted %" PRIu32 " tensors",
                              call.function->argument_count);
  for (size_t i = 0; i < launch->argument_count; ++i) {
    uattn_error_t *error =
        check_argument(&call.function->values[i], &launch->arguments[i], i);
    if (error)
      return error;
  }
  if (launch->argument_count > 0)
    call.shapes =
        (uattn_shape_view_t){.first = launch->arguments[0].shape,
                             .stride_bytes = sizeof *launch->arguments};
  *out_call = call;
  return uattn_function_check_shapes(call.function, &call.facts->dims,
                                     call.shapes);
}

/* The dense tensor that a value wants, without memory. */
static uattn_tensor_t describe_value(const call_t *call, uint32_t value) {
  int64_t shape[4];
  const uattn_artifact_value_t *type = &call->function->values[value];
  uattn_function_value_shape(call->function, &call->facts->dims, call->shapes,
                             value, shape);
  return uattn_tensor_dense(NULL, type->dtype, type->rank, shape);
}

/* Where values before `end` that live in the workspace leave off. */
static bool workspace_offset(const call_t *call, uint32_t end, size_t *out) {
  size_t offset = 0;
  for (uint32_t i = call->function->argument_count; i < end; ++i) {
    const value_use_t *use = &call->facts->uses[i];
    if (use->result >= 0 || (!use->is_mapped && !use->is_pointed))
      continue;
    uattn_tensor_t tensor = describe_value(call, i);
    size_t bytes = 0;
    if (!uattn_tensor_bytes(&tensor, &bytes) ||
        !uattn_size_add(offset, bytes, &offset) ||
        !uattn_size_add(offset, WORKSPACE_ALIGNMENT - 1, &offset))
      return false;
    offset -= offset % WORKSPACE_ALIGNMENT;
  }
  *out = offset;
  return true;
}

bool uattn_call_workspace_bytes(const call_t *call, size_t *out_bytes) {
  return workspace_offset(call, call->function->value_count, out_bytes);
}

uattn_tensor_t uattn_call_tensor(const call_t *call, uint32_t value) {
  if (value < call->function->argument_count)
    return call->launch->arguments[value];
  int32_t result = call->facts->uses[value].result;
  if (result >= 0)
    return call->launch->results[result];
  uattn_tensor_t tensor = describe_value(call, value);
  size_t offset = 0;
  UATTN_CHECK(workspace_offset(call, value, &offset));
  tensor.data = (char *)call->launch->workspace + offset;
  return tensor;
}

uattn_error_t *uattn_function_results(const uattn_program_t *program,
                                      size_t function,
                                      const uattn_tensor_t *arguments,
                                      size_t argument_count,
                                      uattn_tensor_t *out_results) {
  uattn_launch_t launch = {.arguments = arguments,
                           .argument_count = argument_count};
  call_t call = {0};
  uattn_error_t *error = uattn_call_begin(program, function, &launch, &call);
  if (error)
    return error;
  for (uint32_t i = 0; i < call.function->result_count; ++i)
    out_results[i] =
        describe_value(&call, (uint32_t)call.function->result_values[i]);
  return NULL;
}

uattn_error_t *uattn_function_workspace_bytes(const uattn_program_t *program,
                                              size_t function,
                                              const uattn_tensor_t *arguments,
                                              size_t argument_count,
                                              size_t *out_bytes) {
  uattn_launch_t launch = {.arguments = arguments,
                           .argument_count = argument_count};
  call_t call = {0};
  uattn_error_t *error = uattn_call_begin(program, function, &launch, &call);
  if (!error && !uattn_call_workspace_bytes(&call, out_bytes))
    error = uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                               "the values between the ops of %s are beyond "
                               "2^63 bytes",
                               call.function->name);
  return error;
}
