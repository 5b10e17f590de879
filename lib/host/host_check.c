/* The rules that a problem and its tensors obey, each with its message.
 * Layer: host. Must not know: how anything is computed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "host/host_work.h"
#include "support/support.h"

#define INVALID(...)                                                           \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* What uattn_problem_validate knows of kernels and not of the op: 16-bit
 * numbers and few sizes of head. */
static uattn_error_t *check_problem(const uattn_problem_t *problem) {
  uattn_problem_t of_kernels = *problem;
  if (problem->dtype != UATTN_DTYPE_BF16 && problem->dtype != UATTN_DTYPE_F16 &&
      problem->dtype != UATTN_DTYPE_F32)
    return INVALID("q has element type %s: expected bf16, f16 or f32",
                   uattn_dtype_name(problem->dtype));
  if (problem->head_dim < 1 || problem->head_dim > INT32_MAX)
    return INVALID("head_dim is %" PRId64 ": expected 1 to %d",
                   problem->head_dim, INT32_MAX);
  of_kernels.dtype = UATTN_DTYPE_BF16;
  of_kernels.head_dim = 64;
  return uattn_problem_validate(&of_kernels);
}

static uattn_error_t *check_static(const uattn_problem_t *problem) {
  const struct {
    const char *name;
    int64_t size;
  } sizes[] = {{"batch", problem->batch},
               {"q_tokens", problem->q_tokens},
               {"kv_tokens", problem->kv_tokens},
               {"q_heads", problem->q_heads},
               {"kv_heads", problem->kv_heads}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    if (sizes[i].size == UATTN_DIM_DYNAMIC)
      return INVALID("%s is dynamic: expected a number", sizes[i].name);
  return NULL;
}

/* What a tensor has to be. */
typedef struct {
  const char *role; /* "operand" or "result" */
  const char *name;
  uattn_dtype_t dtype;
  int32_t rank;
  int64_t shape[4];
  bool is_written;
} tensor_demand_t;

#define REFUSE(demand, format, ...)                                            \
  INVALID("%s %s " format, (demand)->role, (demand)->name, __VA_ARGS__)

static uattn_error_t *check_shape(const uattn_tensor_t *tensor,
                                  const tensor_demand_t *demand) {
  if (tensor->dtype != demand->dtype)
    return REFUSE(demand, "has element type %s: wanted %s",
                  uattn_dtype_name(tensor->dtype),
                  uattn_dtype_name(demand->dtype));
  if (tensor->rank != demand->rank)
    return REFUSE(demand, "has %" PRId32 " dimensions: wanted %" PRId32,
                  tensor->rank, demand->rank);
  for (int32_t axis = 0; axis < tensor->rank; ++axis)
    if (tensor->shape[axis] != demand->shape[axis])
      return REFUSE(demand,
                    "has size %" PRId64 " in dimension %" PRId32
                    ": wanted %" PRId64,
                    tensor->shape[axis], axis, demand->shape[axis]);
  return NULL;
}

/* The distance in bytes of no two elements leaves an int64_t. */
static bool has_addresses(const uattn_tensor_t *tensor) {
  int64_t span = (int64_t)uattn_dtype_bytes(tensor->dtype);
  for (int32_t axis = 0; axis < tensor->rank; ++axis) {
    int64_t stride = tensor->strides[axis];
    int64_t reach = 0;
    if (tensor->shape[axis] == 1)
      continue;
    if (stride < -INT64_MAX ||
        __builtin_mul_overflow(stride < 0 ? -stride : stride,
                               tensor->shape[axis] - 1, &reach) ||
        __builtin_mul_overflow(reach, (int64_t)uattn_dtype_bytes(tensor->dtype),
                               &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return false;
  }
  return true;
}

static uattn_error_t *check_layout(const uattn_tensor_t *tensor,
                                   const tensor_demand_t *demand) {
  size_t alignment = uattn_dtype_bytes(tensor->dtype);
  if ((uintptr_t)tensor->data % alignment != 0)
    return REFUSE(demand,
                  "lies at 0x%" PRIxPTR ": wanted a multiple of %zu bytes",
                  (uintptr_t)tensor->data, alignment);
  for (int32_t axis = 0; axis < tensor->rank; ++axis)
    if (demand->is_written && tensor->strides[axis] == 0 &&
        tensor->shape[axis] > 1)
      return REFUSE(demand,
                    "has stride 0 in dimension %" PRId32 " of size %" PRId64
                    ": wanted another, its elements must lie apart",
                    axis, tensor->shape[axis]);
  if (!has_addresses(tensor))
    return REFUSE(demand, "has strides beyond %s bytes", "2^63");
  return NULL;
}

static uattn_error_t *check_operand(const uattn_problem_t *problem,
                                    const uattn_tensor_t *tensor,
                                    uattn_operand_t operand) {
  tensor_demand_t demand = {.role = "operand",
                            .name = uattn_operand_name(operand)};
  if (!problem->has_operand[operand])
    return tensor->data ? REFUSE(&demand, "has data: wanted %s",
                                 "none, the problem is without it")
                        : NULL;
  if (!tensor->data)
    return REFUSE(&demand, "has no %s: wanted an address", "data");
  demand.dtype = uattn_operand_dtype(problem, operand);
  demand.rank = uattn_operand_shape(problem, operand, demand.shape);
  uattn_error_t *error = check_shape(tensor, &demand);
  return error ? error : check_layout(tensor, &demand);
}

static uattn_error_t *check_result(const uattn_problem_t *problem,
                                   const uattn_tensor_t *tensor, int result) {
  if (!tensor->data)
    return NULL;
  if (result >= uattn_result_count(problem->kind))
    return INVALID("result %d has data: the forward op has out and lse alone",
                   result);
  if (problem->kind == UATTN_OP_BACKWARD && result == UATTN_RESULT_DTEMP &&
      !problem->has_operand[UATTN_OPERAND_TEMP])
    return INVALID("dtemp is wanted of an op without temp: expected temp");
  tensor_demand_t demand = {.role = "result",
                            .name = uattn_result_name(problem->kind, result),
                            .dtype = uattn_result_dtype(problem, result),
                            .is_written = true};
  demand.rank = uattn_result_shape(problem, result, demand.shape);
  uattn_error_t *error = check_shape(tensor, &demand);
  return error ? error : check_layout(tensor, &demand);
}

uattn_error_t *uattn_host_check(const uattn_problem_t *problem,
                                const uattn_host_tensors_t *tensors) {
  uattn_error_t *error = check_problem(problem);
  if (!error)
    error = check_static(problem);
  for (int i = 0; !error && i < UATTN_OPERAND_COUNT; ++i)
    error = check_operand(problem, &tensors->operands[i], (uattn_operand_t)i);
  for (int i = 0; !error && i < UATTN_RESULT_COUNT; ++i)
    error = check_result(problem, &tensors->results[i], i);
  return error;
}
