/* Descriptors by which the GPU's copy engine finds boxes of a tensor.
 * Layer: runtime. Must not know: functions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/driver_map.h"

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
                                       const uattn_map_description_t *map,
                                       cu_tensor_map_t *out_map) {
  const uint32_t element_strides[4] = {1, 1, 1, 1};
  return uattn_device_error(
      device,
      device->driver.tensor_map_encode(
          out_map, map_dtype(map->dtype), 4, map->data, map->sizes,
          map->stride_bytes, map->box, element_strides,
          CU_TENSOR_MAP_NO_INTERLEAVE, CU_TENSOR_MAP_SWIZZLE_128B,
          CU_TENSOR_MAP_PROMOTE_256B, CU_TENSOR_MAP_ZERO_FILL),
      "the driver refuses a tensor map");
}
