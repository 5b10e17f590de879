/* Tensors in C order.
 * Layer: spec. Must not know: whose memory a tensor is, MLIR, CUDA.
 * SPDX-License-Identifier: Apache-2.0 */
#include "uattn/tensor.h"

#include "support/support.h"

/* A size that no memory has stays wrong instead of wrapping round. */
static int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

uattn_tensor_t uattn_tensor_dense(void *data, uattn_dtype_t dtype, int32_t rank,
                                  const int64_t *shape) {
  UATTN_CHECK(rank >= 0 && rank <= 4);
  uattn_tensor_t tensor = {.data = data, .dtype = dtype, .rank = rank};
  int64_t stride = 1;
  for (int32_t axis = rank - 1; axis >= 0; --axis) {
    tensor.shape[axis] = shape[axis];
    tensor.strides[axis] = stride;
    stride = saturating_multiply(stride, shape[axis]);
  }
  return tensor;
}
