/* The checks of a tensor's address and strides.
 * Layer: artifact. Must not know: CUDA, kernels, whose memory it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "artifact/call.h"

#include <inttypes.h>

#include "support/support.h"

/* The driver's limit on a stride of a tensor map, in bytes. */
#define MAP_STRIDE_LIMIT (INT64_C(1) << 40)

bool uattn_tensor_bytes(const uattn_tensor_t *tensor, size_t *out_bytes) {
  size_t bytes = uattn_dtype_bytes(tensor->dtype);
  for (int32_t axis = 0; axis < tensor->rank; ++axis)
    if (!uattn_size_multiply(bytes, (size_t)tensor->shape[axis], &bytes))
      return false;
  if (bytes > INT64_MAX)
    return false;
  *out_bytes = bytes;
  return true;
}

#define REFUSE(demand, format, ...)                                            \
  uattn_error_create(UATTN_ERROR_INVALID_ARGUMENT, "%s %zu (%s) " format,      \
                     (demand)->role, (demand)->index, (demand)->name,          \
                     __VA_ARGS__)

static uattn_error_t *
check_mapped_strides(const uattn_tensor_t *tensor,
                     const uattn_tensor_demand_t *demand) {
  int64_t element_bytes = (int64_t)uattn_dtype_bytes(tensor->dtype);
  int32_t inner = tensor->rank - 1;
  for (int32_t axis = inner; axis >= 0; --axis) {
    int64_t stride = tensor->strides[axis];
    if (tensor->shape[axis] == 1)
      continue;
    if (axis == inner && stride != 1)
      return REFUSE(demand,
                    "has stride %" PRId64 " in dimension %" PRId32
                    ": wanted 1, its inner dimension must be contiguous",
                    stride, axis);
    if (axis == inner)
      continue;
    if (stride < 0 || (stride == 0 && demand->is_written))
      return REFUSE(demand,
                    "has stride %" PRId64 " in dimension %" PRId32
                    ": wanted it above 0",
                    stride, axis);
    if (stride >= MAP_STRIDE_LIMIT / element_bytes)
      return REFUSE(demand,
                    "has stride %" PRId64 " in dimension %" PRId32
                    ": wanted less than 2^40 bytes",
                    stride, axis);
    if (stride * element_bytes % 16 != 0)
      return REFUSE(demand,
                    "has stride %" PRId64 " in dimension %" PRId32 ", %" PRId64
                    " bytes: wanted a multiple of 16 bytes",
                    stride, axis, stride * element_bytes);
  }
  return NULL;
}

static uattn_error_t *check_dense_strides(const uattn_tensor_t *tensor,
                                          const uattn_tensor_demand_t *demand) {
  uattn_tensor_t dense =
      uattn_tensor_dense(NULL, tensor->dtype, tensor->rank, tensor->shape);
  for (int32_t axis = tensor->rank - 1; axis >= 0; --axis)
    if (tensor->shape[axis] != 1 &&
        tensor->strides[axis] != dense.strides[axis])
      return REFUSE(demand,
                    "has stride %" PRId64 " in dimension %" PRId32
                    ": wanted %" PRId64 ", it must be dense in C order",
                    tensor->strides[axis], axis, dense.strides[axis]);
  return NULL;
}

uattn_error_t *uattn_tensor_check_layout(const uattn_tensor_t *tensor,
                                         const uattn_tensor_demand_t *demand) {
  size_t bytes = 0;
  if (!demand->is_mapped && !demand->is_pointed)
    return NULL;
  if (!uattn_tensor_bytes(tensor, &bytes))
    return REFUSE(demand, "has a size beyond %s bytes", "2^63");
  if (!tensor->data)
    return REFUSE(demand, "has no %s: wanted an address", "data");
  uintptr_t alignment =
      demand->is_mapped ? 16 : uattn_dtype_bytes(tensor->dtype);
  if ((uintptr_t)tensor->data % alignment != 0)
    return REFUSE(demand,
                  "lies at 0x%" PRIxPTR ": wanted a multiple of %zu bytes",
                  (uintptr_t)tensor->data, (size_t)alignment);
  uattn_error_t *error = NULL;
  if (demand->is_mapped)
    error = check_mapped_strides(tensor, demand);
  if (!error && demand->is_pointed)
    error = check_dense_strides(tensor, demand);
  return error;
}
