/* Checks a call and enqueues its kernels.
 * Layer: runtime. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything that a call needs lives on the stack: no allocation, no lock, no
 * wait, so that calls may come from several threads and under capture. */
#include <inttypes.h>
#include <string.h>

#include "runtime/program.h"
#include "runtime/tensor.h"
#include "runtime/tensor_map.h"
#include "spec/spec.h"
#include "support/support.h"

#define REFUSE(...)                                                            \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static uattn_error_t *check_place(const call_t *call, const void *data,
                                  const tensor_demand_t *demand) {
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

static uattn_error_t *check_memory(const call_t *call, uint32_t value,
                                   const uattn_tensor_t *tensor,
                                   tensor_demand_t demand) {
  const value_use_t *use = &call->facts->uses[value];
  demand.name = call->function->values[value].name;
  demand.is_mapped = use->is_mapped;
  demand.is_pointed = use->is_pointed;
  uattn_error_t *error = uattn_tensor_check_layout(tensor, &demand);
  if (!error && (use->is_mapped || use->is_pointed))
    error = check_place(call, tensor->data, &demand);
  return error;
}

static uattn_error_t *check_result(const call_t *call, uint32_t index) {
  uint32_t value = (uint32_t)call->function->result_values[index];
  const uattn_artifact_value_t *type = &call->function->values[value];
  const uattn_tensor_t *tensor = &call->launch->results[index];
  int64_t wanted[4];
  if (tensor->rank != type->rank)
    return REFUSE("result %" PRIu32 " (%s) has rank %" PRId32
                  ": wanted %" PRId32,
                  index, type->name, tensor->rank, type->rank);
  if (tensor->dtype != type->dtype)
    return REFUSE("result %" PRIu32 " (%s) has type %s: wanted %s", index,
                  type->name, uattn_dtype_name(tensor->dtype),
                  uattn_dtype_name(type->dtype));
  uattn_function_value_shape(call->function, &call->facts->dims, call->shapes,
                             value, wanted);
  for (int axis = 0; axis < type->rank; ++axis)
    if (tensor->shape[axis] != wanted[axis])
      return REFUSE("result %" PRIu32 " (%s) has %" PRId64
                    " in dimension %d: wanted %" PRId64,
                    index, type->name, tensor->shape[axis], axis, wanted[axis]);
  tensor_demand_t demand = {
      .role = "result", .index = index, .is_written = true};
  return check_memory(call, value, tensor, demand);
}

static uattn_error_t *check_workspace(const call_t *call) {
  size_t wanted = 0;
  const uattn_launch_t *launch = call->launch;
  if (!uattn_call_workspace_bytes(call, &wanted))
    return REFUSE("the values between the ops of %s are beyond 2^63 bytes",
                  call->function->name);
  if (wanted == 0)
    return NULL;
  if (!launch->workspace || launch->workspace_bytes < wanted)
    return REFUSE("workspace of %zu bytes: wanted %zu",
                  launch->workspace ? launch->workspace_bytes : 0, wanted);
  if ((uintptr_t)launch->workspace % 16 != 0)
    return REFUSE("workspace lies at 0x%" PRIxPTR
                  ": wanted a multiple of 16 bytes",
                  (uintptr_t)launch->workspace);
  tensor_demand_t demand = {.role = "buffer", .name = "workspace"};
  return check_place(call, launch->workspace, &demand);
}

static uattn_error_t *check_tensors(const call_t *call) {
  const uattn_launch_t *launch = call->launch;
  if (launch->result_count != call->function->result_count)
    return REFUSE("%zu results: function %s gives %" PRIu32,
                  launch->result_count, call->function->name,
                  call->function->result_count);
  if (launch->result_count > 0 && !launch->results)
    return REFUSE("results is NULL: wanted %" PRIu32 " tensors",
                  call->function->result_count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < call->function->argument_count; ++i)
    error = check_memory(call, i, &launch->arguments[i],
                         (tensor_demand_t){.role = "argument", .index = i});
  for (uint32_t i = 0; !error && i < call->function->result_count; ++i)
    error = check_result(call, i);
  if (!error)
    error = check_workspace(call);
  return error;
}

/* The op as this call wants it: sizes known, scale and cap replaced. */
static uattn_problem_t step_problem(const call_t *call, uint32_t step) {
  uattn_problem_t problem = uattn_function_step_problem(
      call->function, &call->facts->dims, call->shapes, step);
  if (call->launch->sm_scale)
    problem.sm_scale = *call->launch->sm_scale;
  if (call->launch->cap)
    problem.cap = *call->launch->cap;
  return problem;
}

static bool takes_quantity(const uattn_artifact_kernel_t *kernel,
                           uattn_quantity_t quantity) {
  for (uint32_t i = 0; i < kernel->param_count; ++i)
    if (kernel->params[i].kind == UATTN_PARAM_F32 &&
        kernel->params[i].quantity == quantity)
      return true;
  return false;
}

/* A constant that was folded into the kernel cannot be replaced. */
static uattn_error_t *check_folded(const uattn_artifact_kernel_t *kernel,
                                   const uattn_problem_t *compiled,
                                   const uattn_problem_t *wanted) {
  uattn_softmax_constants_t old = uattn_softmax_constants(compiled);
  uattn_softmax_constants_t new = uattn_softmax_constants(wanted);
  const struct {
    bool is_changed;
    uattn_quantity_t quantity;
  } constants[] = {
      {old.pre_scale != new.pre_scale, UATTN_QUANTITY_PRE_SCALE},
      {old.pre_bias != new.pre_bias, UATTN_QUANTITY_PRE_BIAS},
      {old.post_scale != new.post_scale, UATTN_QUANTITY_POST_SCALE},
      {wanted->has_result[UATTN_RESULT_LSE] && old.lse_shift != new.lse_shift,
       UATTN_QUANTITY_LSE_SHIFT},
  };
  for (size_t i = 0; i < sizeof constants / sizeof *constants; ++i)
    if (constants[i].is_changed &&
        !takes_quantity(kernel, constants[i].quantity))
      return REFUSE("kernel %s was compiled for its sm_scale and cap: they "
                    "cannot be replaced",
                    kernel->entry);
  return NULL;
}

static uattn_error_t *check_kernel(const uattn_artifact_kernel_t *kernel,
                                   const uattn_problem_t *compiled,
                                   const uattn_problem_t *problem) {
  bool is_negative = problem->sm_scale < 0;
  if ((kernel->sm_scale_sign > 0 && is_negative) ||
      (kernel->sm_scale_sign < 0 && !is_negative))
    return REFUSE("sm_scale is %g: kernel %s was compiled for one %s 0",
                  problem->sm_scale, kernel->entry,
                  kernel->sm_scale_sign > 0 ? "of at least" : "below");
  double post_scale = uattn_softmax_constants(problem).post_scale;
  if (kernel->largest_post_scale > 0 &&
      !(post_scale <= kernel->largest_post_scale))
    return REFUSE("cap is %g: kernel %s was compiled for one of at most %g",
                  problem->cap.cap, kernel->entry,
                  problem->cap.cap * kernel->largest_post_scale / post_scale);
  int64_t tiles = uattn_ceil_divide(problem->q_tokens, kernel->q_rows_per_cta);
  if (tiles * problem->q_heads > INT32_MAX / problem->batch)
    return REFUSE("batch %" PRId64 ", %" PRId64 " heads and %" PRId64
                  " query tokens make more than 2^31 CTAs of %" PRId32 " rows",
                  problem->batch, problem->q_heads, problem->q_tokens,
                  kernel->q_rows_per_cta);
  return check_folded(kernel, compiled, problem);
}

static uattn_error_t *check_step(const call_t *call, uint32_t index) {
  const uattn_artifact_step_t *step = &call->function->steps[index];
  if (step->kernel_count == 0)
    return uattn_error_create(
        UATTN_ERROR_UNSUPPORTED,
        "%s has no kernel in this artifact: it runs on the reference only",
        step->problem.kind == UATTN_OP_FORWARD ? "uattn.ranker_attention"
                                               : "uattn.ranker_attention_bwd");
  const uattn_cap_t *cap = call->launch->cap;
  if (cap && cap->method != step->problem.cap.method)
    return REFUSE("cap %s cannot replace the compiled cap %s",
                  uattn_cap_method_name(cap->method),
                  uattn_cap_method_name(step->problem.cap.method));
  uattn_problem_t problem = step_problem(call, index);
  uattn_error_t *error = uattn_problem_validate(&problem);
  const uattn_artifact_kernel_t *kernels =
      &call->program->artifact->kernels[step->first_kernel];
  for (uint32_t i = 0; !error && i < step->kernel_count; ++i)
    error = check_kernel(&kernels[i], &step->problem, &problem);
  return error;
}

static uattn_error_t *check_call(const call_t *call) {
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < call->function->step_count; ++i)
    error = uattn_error_annotate(check_step(call, i), "op %" PRIu32, i);
  if (!error)
    error = check_tensors(call);
  return error;
}

/* One kernel parameter, in the form that the driver copies it from. */
typedef union {
  cu_tensor_map_t map;
  cu_address_t address;
  int32_t i32;
  float f32;
} slot_t;

static int32_t integer_quantity(const uattn_problem_t *problem,
                                const uattn_artifact_kernel_t *kernel,
                                uattn_quantity_t quantity) {
  switch (quantity) {
  case UATTN_QUANTITY_BATCH:
    return (int32_t)problem->batch;
  case UATTN_QUANTITY_Q_TOKENS:
    return (int32_t)problem->q_tokens;
  case UATTN_QUANTITY_KV_TOKENS:
    return (int32_t)problem->kv_tokens;
  case UATTN_QUANTITY_Q_HEADS:
    return (int32_t)problem->q_heads;
  case UATTN_QUANTITY_KV_HEADS:
    return (int32_t)problem->kv_heads;
  case UATTN_QUANTITY_Q_TILES:
    return (int32_t)uattn_ceil_divide(problem->q_tokens,
                                      kernel->q_rows_per_cta);
  case UATTN_QUANTITY_Q_OFFSET:
    return (int32_t)problem->q_offset;
  case UATTN_QUANTITY_WINDOW_TOKENS: {
    int64_t longest = problem->q_offset + problem->q_tokens;
    if (longest < 1)
      longest = 1;
    return (int32_t)(problem->window_tokens < longest ? problem->window_tokens
                                                      : longest);
  }
  default:
    UATTN_CHECK(!"quantity is an integer one");
    return 0;
  }
}

static float float_quantity(const uattn_softmax_constants_t *constants,
                            uattn_quantity_t quantity) {
  switch (quantity) {
  case UATTN_QUANTITY_PRE_SCALE:
    return (float)constants->pre_scale;
  case UATTN_QUANTITY_PRE_BIAS:
    return (float)constants->pre_bias;
  case UATTN_QUANTITY_POST_SCALE:
    return (float)constants->post_scale;
  case UATTN_QUANTITY_LSE_SHIFT:
    return (float)constants->lse_shift;
  default:
    UATTN_CHECK(!"quantity is a float one");
    return 0;
  }
}

static uattn_error_t *fill_tensor_slot(const call_t *call,
                                       const uattn_artifact_step_t *step,
                                       const uattn_kernel_param_t *param,
                                       slot_t *slot) {
  int32_t value = param->is_result ? step->result_values[param->tensor_index]
                                   : step->operand_values[param->tensor_index];
  uattn_tensor_t tensor = uattn_call_tensor(call, (uint32_t)value);
  if (param->kind == UATTN_PARAM_POINTER) {
    slot->address = (cu_address_t)(uintptr_t)tensor.data;
    return NULL;
  }
  return uattn_error_annotate(
      uattn_tensor_map_encode(call->program->device, &tensor,
                              param->box_columns, param->box_rows, &slot->map),
      "%s", call->function->values[value].name);
}

static uattn_error_t *launch_kernel(const call_t *call,
                                    const uattn_artifact_step_t *step,
                                    const uattn_problem_t *problem,
                                    uint32_t index) {
  const uattn_artifact_kernel_t *kernel =
      &call->program->artifact->kernels[index];
  uattn_softmax_constants_t constants = uattn_softmax_constants(problem);
  slot_t slots[UATTN_KERNEL_PARAM_LIMIT];
  void *params[UATTN_KERNEL_PARAM_LIMIT];
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < kernel->param_count; ++i) {
    const uattn_kernel_param_t *param = &kernel->params[i];
    params[i] = &slots[i];
    if (param->kind == UATTN_PARAM_I32)
      slots[i].i32 = integer_quantity(problem, kernel, param->quantity);
    else if (param->kind == UATTN_PARAM_F32)
      slots[i].f32 = float_quantity(&constants, param->quantity);
    else
      error = fill_tensor_slot(call, step, param, &slots[i]);
  }
  if (error)
    return error;
  int64_t tiles = uattn_ceil_divide(problem->q_tokens, kernel->q_rows_per_cta);
  const uattn_device_t *device = call->program->device;
  return uattn_device_error(
      device,
      device->driver.launch(
          call->program->kernels[index],
          (unsigned)(tiles * problem->q_heads * problem->batch), 1, 1,
          (unsigned)kernel->threads, 1, 1, (unsigned)kernel->dynamic_smem_bytes,
          call->launch->stream, params, NULL),
      "the launch failed");
}

static uattn_error_t *launch_step(const call_t *call, uint32_t index) {
  const uattn_artifact_step_t *step = &call->function->steps[index];
  uattn_problem_t problem = step_problem(call, index);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < step->kernel_count; ++i)
    error = launch_kernel(call, step, &problem, step->first_kernel + i);
  return error;
}

/* A result that no kernel writes: an argument, or another result again. */
static uattn_error_t *copy_result(const call_t *call, uint32_t index) {
  uint32_t value = (uint32_t)call->function->result_values[index];
  if (call->facts->uses[value].result == (int32_t)index)
    return NULL;
  const uattn_device_t *device = call->program->device;
  uattn_tensor_t source = uattn_call_tensor(call, value);
  size_t bytes = 0;
  UATTN_CHECK(uattn_tensor_bytes(&source, &bytes));
  return uattn_device_error(
      device,
      device->driver.memory_copy(
          (cu_address_t)(uintptr_t)call->launch->results[index].data,
          (cu_address_t)(uintptr_t)source.data, bytes, call->launch->stream),
      "cannot copy a result");
}

static uattn_error_t *enqueue(const call_t *call) {
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < call->function->step_count; ++i)
    error = uattn_error_annotate(launch_step(call, i), "op %" PRIu32, i);
  for (uint32_t i = 0; !error && i < call->function->result_count; ++i)
    error = uattn_error_annotate(copy_result(call, i), "result %" PRIu32, i);
  return error;
}

uattn_error_t *uattn_function_launch(const uattn_program_t *program,
                                     size_t function,
                                     const uattn_launch_t *launch) {
  uattn_launch_t known = {0};
  memcpy(&known, launch,
         launch->struct_size < sizeof known ? launch->struct_size
                                            : sizeof known);
  call_t call = {0};
  uattn_error_t *error = uattn_call_begin(program, function, &known, &call);
  if (error)
    return error;
  error = uattn_device_enter(program->device);
  if (error)
    return error;
  error = check_call(&call);
  if (!error)
    error = enqueue(&call);
  uattn_device_leave(program->device);
  return error;
}
