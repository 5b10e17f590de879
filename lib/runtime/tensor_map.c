/* Descriptors by which the GPU's copy engine finds boxes of a tensor.
 * Layer: runtime. Must not know: artifacts, functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/tensor_map.h"

static int map_dtype(uattn_dtype_t dtype) {
  switch (dtype) {
  case UATTN_DTYPE_BF16:
    return CU_TENSOR_MAP_BF16;
  case UATTN_DTYPE_F16:
    return CU_TENSOR_MAP_F16;
  case UATTN_DTYPE_F32:
    return CU_TENSOR_MAP_F32;
  case UATTN_DTYPE_I32:
    return CU_TENSOR_MAP_I32;
  }
  return -1; /* refused by the driver */
}

uattn_error_t *uattn_tensor_map_encode(const uattn_device_t *device,
                                       const uattn_tensor_t *tensor,
                                       int32_t box_columns, int32_t box_rows,
                                       cu_tensor_map_t *out_map) {
  uint64_t bytes = uattn_dtype_bytes(tensor->dtype);
  uint64_t sizes[4];
  uint64_t stride_bytes[3];
  /* Innermost first: dimension i of the map is axis 3 - i of the tensor. */
  static const int axes[4] = {3, 2, 1, 0};
  for (int i = 0; i < 4; ++i)
    sizes[i] = (uint64_t)tensor->shape[axes[i]];
  for (int i = 0; i < 3; ++i) {
    /* A dimension of size 1 is never stepped over; its stride may be anything,
     * but the driver wants a valid one. */
    bool is_free = sizes[i + 1] == 1;
    stride_bytes[i] = is_free ? sizes[0] * bytes
                              : (uint64_t)tensor->strides[axes[i + 1]] * bytes;
  }
  const uint32_t box[4] = {(uint32_t)box_columns, 1, (uint32_t)box_rows, 1};
  const uint32_t element_strides[4] = {1, 1, 1, 1};
  return uattn_device_error(
      device,
      device->driver.tensor_map_encode(
          out_map, map_dtype(tensor->dtype), 4, tensor->data, sizes,
          stride_bytes, box, element_strides, CU_TENSOR_MAP_NO_INTERLEAVE,
          CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_PROMOTE_256B,
          CU_TENSOR_MAP_ZERO_FILL),
      "the driver refuses a tensor map");
}
