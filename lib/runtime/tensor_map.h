/* Descriptors by which the GPU's copy engine finds boxes of a tensor.
 * Layer: runtime. Must not know: artifacts, functions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_TENSOR_MAP_H
#define UATTN_RUNTIME_TENSOR_MAP_H

#include "runtime/device.h"

/* Over the 4-d view (head_dim, heads, tokens, batch) of a tensor [batch,
 * tokens, heads, head_dim], whose layout was checked: boxes of {box_columns, 1,
 * box_rows, 1}, 128-byte swizzle, zeros outside. */
UATTN_NODISCARD uattn_error_t *
uattn_tensor_map_encode(const uattn_device_t *device,
                        const uattn_tensor_t *tensor, int32_t box_columns,
                        int32_t box_rows, cu_tensor_map_t *out_map);

#endif /* UATTN_RUNTIME_TENSOR_MAP_H */
