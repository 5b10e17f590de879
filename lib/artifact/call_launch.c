/* Makes each kernel's grid and parameters of a call that was checked.
 * Layer: artifact. Must not know: CUDA, the emulator, how kernels run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "artifact/call.h"
#include "spec/spec.h"
#include "support/support.h"

/* Tiles of queries or keys. */
static int64_t tile_count(const uattn_artifact_kernel_t *kernel,
                          int64_t tokens) {
  return uattn_ceil_divide(tokens, kernel->rows_per_cta);
}

bool uattn_kernel_cta_count(const uattn_artifact_kernel_t *kernel,
                            const uattn_problem_t *problem,
                            uint32_t *out_count) {
  bool is_of_queries = kernel->grid_rule == UATTN_GRID_Q_TILES;
  int64_t heads = is_of_queries ? problem->q_heads : problem->kv_heads;
  int64_t tiles = tile_count(kernel, is_of_queries ? problem->q_tokens
                                                   : problem->kv_tokens);
  if (tiles * heads > INT32_MAX / problem->batch)
    return false;
  *out_count = (uint32_t)(tiles * heads * problem->batch);
  return true;
}

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
    return (int32_t)tile_count(kernel, problem->q_tokens);
  case UATTN_QUANTITY_KV_TILES:
    return (int32_t)tile_count(kernel, problem->kv_tokens);
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

static float float_quantity(const uattn_problem_t *problem,
                            const uattn_softmax_constants_t *constants,
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
  case UATTN_QUANTITY_Z_LOSS_WEIGHT:
    return (float)problem->z_loss_weight;
  case UATTN_QUANTITY_GRADIENT_SCALE:
    return (float)constants->gradient_scale;
  default:
    UATTN_CHECK(!"quantity is a float one");
    return 0;
  }
}

/* Innermost first: dimension i of the map is axis 3 - i of the tensor. */
static uattn_map_description_t describe_map(const uattn_tensor_t *tensor,
                                            const uattn_kernel_param_t *param) {
  uint64_t bytes = uattn_dtype_bytes(tensor->dtype);
  uattn_map_description_t map = {
      .data = tensor->data,
      .dtype = tensor->dtype,
      .box = {(uint32_t)param->box_columns, 1, (uint32_t)param->box_rows, 1}};
  for (int i = 0; i < 4; ++i)
    map.sizes[i] = (uint64_t)tensor->shape[3 - i];
  for (int i = 0; i < 3; ++i) {
    /* A dimension of size 1 is never stepped over; its stride may be anything,
     * but a map wants a valid one. */
    bool is_free = map.sizes[i + 1] == 1;
    map.stride_bytes[i] = is_free ? map.sizes[0] * bytes
                                  : (uint64_t)tensor->strides[2 - i] * bytes;
  }
  return map;
}

static void fill_tensor(const uattn_call_t *call, uint32_t step_index,
                        const uattn_kernel_param_t *param,
                        uattn_param_value_t *out_value) {
  const uattn_artifact_step_t *step = &call->function->steps[step_index];
  int32_t index = param->tensor_index;
  if (param->source == UATTN_PARAM_SOURCE_SCRATCH) {
    out_value->address =
        uattn_call_scratch(call, step_index, (uint32_t)index).data;
    return;
  }
  int32_t value = param->source == UATTN_PARAM_SOURCE_RESULT
                      ? step->result_values[index]
                      : step->operand_values[index];
  uattn_tensor_t tensor = uattn_call_tensor(call, (uint32_t)value);
  if (param->kind == UATTN_PARAM_POINTER) {
    out_value->address = tensor.data;
    return;
  }
  out_value->map = describe_map(&tensor, param);
  out_value->map.name = call->function->values[value].name;
}

/* Of `out_launch` only as many parameters are written as the kernel takes. */
static void describe_launch(const uattn_call_t *call,
                            const uattn_problem_t *problem,
                            const uattn_softmax_constants_t *constants,
                            uattn_kernel_launch_t *out_launch) {
  const uattn_artifact_kernel_t *kernel = out_launch->kernel;
  uattn_param_value_t *values = out_launch->params;
  UATTN_CHECK(uattn_kernel_cta_count(kernel, problem, &out_launch->cta_count));
  for (uint32_t i = 0; i < kernel->param_count; ++i) {
    const uattn_kernel_param_t *param = &kernel->params[i];
    if (param->kind == UATTN_PARAM_I32)
      values[i].i32 = integer_quantity(problem, kernel, param->quantity);
    else if (param->kind == UATTN_PARAM_F32)
      values[i].f32 = float_quantity(problem, constants, param->quantity);
    else
      fill_tensor(call, out_launch->step_index, param, &values[i]);
  }
}

static uattn_error_t *enqueue_step(const uattn_call_t *call,
                                   const uattn_call_device_t *device,
                                   uint32_t index) {
  const uattn_artifact_step_t *step = &call->function->steps[index];
  uattn_problem_t problem = uattn_call_problem(call, index);
  uattn_softmax_constants_t constants = uattn_softmax_constants(&problem);
  uattn_kernel_launch_t launch; /* some kilobytes: never cleared */
  launch.step_index = index;
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < step->kernel_count; ++i) {
    launch.kernel_index = step->first_kernel + i;
    launch.kernel = &call->artifact->kernels[launch.kernel_index];
    describe_launch(call, &problem, &constants, &launch);
    error = device->launch(device->user_data, &launch);
  }
  return error;
}

static uattn_error_t *enqueue_copy(const uattn_call_t *call,
                                   const uattn_call_device_t *device,
                                   uint32_t index) {
  uint32_t value = (uint32_t)call->function->result_values[index];
  if (call->facts->uses[value].result == (int32_t)index)
    return NULL;
  uattn_tensor_t source = uattn_call_tensor(call, value);
  size_t bytes = 0;
  UATTN_CHECK(uattn_tensor_bytes(&source, &bytes));
  return device->copy(device->user_data, call->results[index].data, source.data,
                      bytes);
}

uattn_error_t *uattn_call_enqueue(const uattn_call_t *call,
                                  const uattn_call_device_t *device) {
  uattn_error_t *error = NULL;
  for (uint32_t i = 0; !error && i < call->function->step_count; ++i)
    error = uattn_error_annotate(enqueue_step(call, device, i), "op %u", i);
  for (uint32_t i = 0; !error && i < call->function->result_count; ++i)
    error = uattn_error_annotate(enqueue_copy(call, device, i), "result %u", i);
  return error;
}
