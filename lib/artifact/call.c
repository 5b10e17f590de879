/* A call's tensors: which they are, what a caller has to provide for them.
 * Layer: artifact. Must not know: kernels' parameters, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "artifact/call.h"
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

uattn_error_t *uattn_call_begin(const uattn_artifact_t *artifact,
                                const uattn_function_facts_t *facts,
                                size_t index, uattn_call_t *call) {
  if (index >= artifact->function_count)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "function %zu: the artifact has %" PRIu32, index,
                              artifact->function_count);
  const uattn_artifact_function_t *function = &artifact->functions[index];
  if (call->argument_count != function->argument_count)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "%zu arguments: function %s wants %" PRIu32,
                              call->argument_count, function->name,
                              function->argument_count);
  if (call->argument_count > 0 && !call->arguments)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "arguments is NULL: wanted %" PRIu32 " tensors",
                              function->argument_count);
  for (size_t i = 0; i < call->argument_count; ++i) {
    uattn_error_t *error =
        check_argument(&function->values[i], &call->arguments[i], i);
    if (error)
      return error;
  }
  call->artifact = artifact;
  call->function = function;
  call->facts = &facts[index];
  if (call->argument_count > 0)
    call->shapes =
        (uattn_shape_view_t){.first = call->arguments[0].shape,
                             .stride_bytes = sizeof *call->arguments};
  return uattn_function_check_shapes(function, &call->facts->dims,
                                     call->shapes);
}

/* The dense tensor that a value wants, data NULL. */
static uattn_tensor_t describe_value(const uattn_call_t *call, uint32_t value) {
  int64_t shape[4];
  const uattn_artifact_value_t *type = &call->function->values[value];
  uattn_function_value_shape(call->function, &call->facts->dims, call->shapes,
                             value, shape);
  return uattn_tensor_dense(NULL, type->dtype, type->rank, shape);
}

void uattn_call_describe_results(const uattn_call_t *call,
                                 uattn_tensor_t *out_results) {
  for (uint32_t i = 0; i < call->function->result_count; ++i)
    out_results[i] =
        describe_value(call, (uint32_t)call->function->result_values[i]);
}

/* Moves `*offset` past a tensor to where the next may begin. */
static bool add_place(const uattn_tensor_t *tensor, size_t *offset) {
  size_t bytes = 0;
  size_t end = 0;
  if (!uattn_tensor_bytes(tensor, &bytes) ||
      !uattn_size_add(*offset, bytes, &end) ||
      !uattn_size_add(end, WORKSPACE_ALIGNMENT - 1, &end))
    return false;
  *offset = end - end % WORKSPACE_ALIGNMENT;
  return true;
}

/* Where values before `end` that live in the workspace leave off. */
static bool add_values(const uattn_call_t *call, uint32_t end, size_t *offset) {
  for (uint32_t i = call->function->argument_count; i < end; ++i) {
    const uattn_value_use_t *use = &call->facts->uses[i];
    if (use->result >= 0 || (!use->is_mapped && !use->is_pointed))
      continue;
    uattn_tensor_t tensor = describe_value(call, i);
    if (!add_place(&tensor, offset))
      return false;
  }
  return true;
}

enum { RECORD_TILE_ROWS = 64, RECORD_NUMBERS = 4 };

/* The dense tensor that a scratch of this problem is, data NULL. */
static uattn_tensor_t describe_scratch(const uattn_problem_t *problem,
                                       uattn_scratch_kind_t kind) {
  int64_t tokens = problem->q_tokens;
  int64_t shape[] = {problem->batch, problem->q_heads, tokens, 1};
  if (kind == UATTN_SCRATCH_Q_RECORDS) {
    shape[2] =
        (tokens + RECORD_TILE_ROWS - 1) / RECORD_TILE_ROWS * RECORD_TILE_ROWS +
        RECORD_TILE_ROWS;
    shape[3] = RECORD_NUMBERS;
  }
  if (kind == UATTN_SCRATCH_Q_SUMS)
    shape[3] = problem->head_dim;
  return uattn_tensor_dense(NULL, UATTN_DTYPE_F32,
                            kind == UATTN_SCRATCH_Q_ROWS ? 3 : 4, shape);
}

/* Where scratch before `end` of an op leaves off. */
static bool add_scratch(const uattn_call_t *call, uint32_t step, uint32_t end,
                        size_t *offset) {
  uattn_problem_t problem = uattn_call_problem(call, step);
  for (uint32_t i = 0; i < end; ++i) {
    uattn_tensor_t tensor =
        describe_scratch(&problem, call->function->steps[step].scratch[i]);
    if (!add_place(&tensor, offset))
      return false;
  }
  return true;
}

uattn_error_t *uattn_call_workspace_bytes(const uattn_call_t *call,
                                          size_t *out_bytes) {
  const uattn_artifact_function_t *function = call->function;
  size_t values_end = 0;
  bool is_sized = add_values(call, function->value_count, &values_end);
  size_t end = values_end;
  for (uint32_t i = 0; is_sized && i < function->step_count; ++i) {
    size_t step_end = values_end;
    is_sized =
        add_scratch(call, i, function->steps[i].scratch_count, &step_end);
    end = step_end > end ? step_end : end;
  }
  if (!is_sized)
    return uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT,
                              "the values between the ops of %s, and their "
                              "scratch, are beyond 2^63 bytes",
                              function->name);
  *out_bytes = end;
  return NULL;
}

size_t uattn_call_values_bytes(const uattn_call_t *call) {
  size_t end = 0;
  UATTN_CHECK(add_values(call, call->function->value_count, &end));
  return end;
}

uattn_tensor_t uattn_call_tensor(const uattn_call_t *call, uint32_t value) {
  if (value < call->function->argument_count)
    return call->arguments[value];
  int32_t result = call->facts->uses[value].result;
  if (result >= 0)
    return call->results[result];
  uattn_tensor_t tensor = describe_value(call, value);
  size_t offset = 0;
  UATTN_CHECK(add_values(call, value, &offset));
  tensor.data = (char *)call->workspace + offset;
  return tensor;
}

uattn_tensor_t uattn_call_scratch(const uattn_call_t *call, uint32_t step,
                                  uint32_t scratch) {
  const uattn_artifact_step_t *owner = &call->function->steps[step];
  UATTN_CHECK(scratch < owner->scratch_count);
  uattn_problem_t problem = uattn_call_problem(call, step);
  uattn_tensor_t tensor = describe_scratch(&problem, owner->scratch[scratch]);
  size_t offset = uattn_call_values_bytes(call);
  UATTN_CHECK(add_scratch(call, step, scratch, &offset));
  tensor.data = (char *)call->workspace + offset;
  return tensor;
}

uattn_problem_t uattn_call_problem(const uattn_call_t *call, uint32_t step) {
  uattn_problem_t problem = uattn_function_step_problem(
      call->function, &call->facts->dims, call->shapes, step);
  if (call->sm_scale)
    problem.sm_scale = *call->sm_scale;
  if (call->cap)
    problem.cap = *call->cap;
  return problem;
}
