/* Descriptors by which the GPU's copy engine finds boxes of a tensor.
 * Layer: runtime. Must not know: functions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_DRIVER_MAP_H
#define UATTN_RUNTIME_DRIVER_MAP_H

#include "artifact/call.h"
#include "runtime/device.h"

/* The hardware's form of a map whose tensor was checked. */
UATTN_NODISCARD uattn_error_t *
uattn_tensor_map_encode(const uattn_device_t *device,
                        const uattn_map_description_t *map,
                        cu_tensor_map_t *out_map);

#endif /* UATTN_RUNTIME_DRIVER_MAP_H */
