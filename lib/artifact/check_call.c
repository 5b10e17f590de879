/* Checks a call against what the function and its kernels take.
 * Layer: artifact. Must not know: CUDA, the emulator, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "artifact/call.h"
#include "spec/spec.h"
#include "support/support.h"

#define REFUSE(...)                                                            \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static uattn_error_t *check_place(const uattn_call_t *call, const void *data,
                                  const uattn_tensor_demand_t *demand) {
  return call->check_place ? call->check_place(call->user_data, data, demand)
                           : NULL;
}

static uattn_error_t *check_memory(const uattn_call_t *call, uint32_t value,
                                   const uattn_tensor_t *tensor,
                                   uattn_tensor_demand_t demand) {
  const uattn_value_use_t *use = &call->facts->uses[value];
  demand.name = call->function->values[value].name;
  demand.is_mapped = use->is_mapped;
  demand.is_pointed = use->is_pointed;
  uattn_error_t *error = uattn_tensor_check_layout(tensor, &demand);
  if (!error && (use->is_mapped || use->is_pointed))
    error = check_place(call, tensor->data, &demand);
  return error;
}

static uattn_error_t *check_result(const uattn_call_t *call, uint32_t index) {
  uint32_t value = (uint32_t)call->function->result_values[index];
  const uattn_artifact_value_t *type = &call->function->values[value];
  const uattn_tensor_t *tensor = &call->results[index];
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
  uattn_tensor_demand_t demand = {
      .role = "result", .index = index, .is_written = true};
  return check_memory(call, value, tensor, demand);
}

static uattn_error_t *check_workspace(const uattn_call_t *call) {
  size_t wanted = 0;
  uattn_error_t *error = uattn_call_workspace_bytes(call, &wanted);
  if (error || wanted == 0)
    return error;
  if (!call->workspace || call->workspace_bytes < wanted)
    return REFUSE("workspace of %zu bytes: wanted %zu",
                  call->workspace ? call->workspace_bytes : 0, wanted);
  if ((uintptr_t)call->workspace % 16 != 0)
    return REFUSE("workspace lies at 0x%" PRIxPTR
                  ": wanted a multiple of 16 bytes",
                  (uintptr_t)call->workspace);
  uattn_tensor_demand_t demand = {.role = "buffer", .name = "workspace"};
  return check_place(call, call->workspace, &demand);
}

static uattn_error_t *check_tensors(const uattn_call_t *call) {
  if (call->result_count != call->function->result_count)
    return REFUSE("%zu results: function %s gives %" PRIu32, call->result_count,
                  call->function->name, call->function->result_count);
  if (call->result_count > 0 && !call->results)
    return REFUSE("results is NULL: wanted %" PRIu32 " tensors",
                  call->function->result_count);
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < call->function->argument_count; ++i)
    error =
        check_memory(call, i, &call->arguments[i],
                     (uattn_tensor_demand_t){.role = "argument", .index = i});
  for (uint32_t i = 0; !error && i < call->function->result_count; ++i)
    error = check_result(call, i);
  if (!error)
    error = check_workspace(call);
  return error;
}

static bool takes_quantity(const uattn_artifact_kernel_t *kernel,
                           uattn_quantity_t quantity) {
  for (uint32_t i = 0; i < kernel->param_count; ++i)
    if (kernel->params[i].kind == UATTN_PARAM_F32 &&
        kernel->params[i].quantity == quantity)
      return true;
  return false;
}

/* A constant that was folded into the kernels cannot be replaced. Those of one
 * op share the work: it is enough that one of them takes it. */
static uattn_error_t *check_folded(const uattn_artifact_kernel_t *kernels,
                                   uint32_t kernel_count,
                                   const uattn_problem_t *compiled,
                                   const uattn_problem_t *wanted) {
  uattn_softmax_constants_t old = uattn_softmax_constants(compiled);
  uattn_softmax_constants_t new = uattn_softmax_constants(wanted);
  bool is_backward = wanted->kind == UATTN_OP_BACKWARD;
  /* Forward, the shift goes into lse alone; backward, it is taken out. */
  bool wants_shift = is_backward || wanted->has_result[UATTN_RESULT_LSE];
  const struct {
    bool is_changed;
    uattn_quantity_t quantity;
  } constants[] = {
      {old.pre_scale != new.pre_scale, UATTN_QUANTITY_PRE_SCALE},
      {old.pre_bias != new.pre_bias, UATTN_QUANTITY_PRE_BIAS},
      {old.post_scale != new.post_scale, UATTN_QUANTITY_POST_SCALE},
      {wants_shift && old.lse_shift != new.lse_shift, UATTN_QUANTITY_LSE_SHIFT},
      {is_backward && old.gradient_scale != new.gradient_scale,
       UATTN_QUANTITY_GRADIENT_SCALE},
  };
  for (size_t i = 0; i < sizeof constants / sizeof *constants; ++i) {
    bool is_taken = !constants[i].is_changed;
    for (uint32_t k = 0; k < kernel_count; ++k)
      is_taken |= takes_quantity(&kernels[k], constants[i].quantity);
    if (!is_taken)
      return REFUSE("kernel %s was compiled for its sm_scale and cap: they "
                    "cannot be replaced",
                    kernels->entry);
  }
  return NULL;
}

static uattn_error_t *check_grid(const uattn_artifact_kernel_t *kernel,
                                 const uattn_problem_t *problem) {
  uint32_t cta_count = 0;
  if (uattn_kernel_cta_count(kernel, problem, &cta_count))
    return NULL;
  bool is_of_queries = kernel->grid_rule == UATTN_GRID_Q_TILES;
  return REFUSE("batch %" PRId64 ", %" PRId64 " heads and %" PRId64
                " %s tokens make more than 2^31 CTAs of %" PRId32 " rows",
                problem->batch,
                is_of_queries ? problem->q_heads : problem->kv_heads,
                is_of_queries ? problem->q_tokens : problem->kv_tokens,
                is_of_queries ? "query" : "key", kernel->rows_per_cta);
}

static uattn_error_t *check_kernel(const uattn_artifact_kernel_t *kernel,
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
  return check_grid(kernel, problem);
}

static uattn_error_t *check_step(const uattn_call_t *call, uint32_t index) {
  const uattn_artifact_step_t *step = &call->function->steps[index];
  if (step->kernel_count == 0)
    return uattn_error_create(
        UATTN_ERROR_UNSUPPORTED,
        "%s has no kernel in this artifact: it runs on the reference only",
        step->problem.kind == UATTN_OP_FORWARD ? "uattn.ranker_attention"
                                               : "uattn.ranker_attention_bwd");
  const uattn_cap_t *cap = call->cap;
  if (cap && cap->method != step->problem.cap.method)
    return REFUSE("cap %s cannot replace the compiled cap %s",
                  uattn_cap_method_name(cap->method),
                  uattn_cap_method_name(step->problem.cap.method));
  uattn_problem_t problem = uattn_call_problem(call, index);
  uattn_error_t *error = uattn_problem_validate(&problem);
  if (!error)
    error = uattn_problem_check_positions(&problem);
  const uattn_artifact_kernel_t *kernels =
      &call->artifact->kernels[step->first_kernel];
  for (uint32_t i = 0; !error && i < step->kernel_count; ++i)
    error = check_kernel(&kernels[i], &problem);
  if (!error)
    error = check_folded(kernels, step->kernel_count, &step->problem, &problem);
  return error;
}

uattn_error_t *uattn_call_check(const uattn_call_t *call) {
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < call->function->step_count; ++i)
    error = uattn_error_annotate(check_step(call, i), "op %" PRIu32, i);
  if (!error)
    error = check_tensors(call);
  return error;
}
