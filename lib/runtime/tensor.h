/* What a launch demands of a tensor's memory.
 * Layer: runtime. Must not know: the driver, kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_TENSOR_H
#define UATTN_RUNTIME_TENSOR_H

#include "uattn/runtime.h"

typedef struct {
  const char *role; /* "argument" or "result", for messages */
  size_t index;
  const char *name;
  bool is_mapped;
  bool is_pointed;
  bool is_written;
} tensor_demand_t;

/* Address, alignment and strides; the shape is right already. */
UATTN_NODISCARD uattn_error_t *
uattn_tensor_check_layout(const uattn_tensor_t *tensor,
                          const tensor_demand_t *demand);

/* False where it is more than a size can say. */
UATTN_NODISCARD bool uattn_tensor_bytes(const uattn_tensor_t *tensor,
                                        size_t *out_bytes);

#endif /* UATTN_RUNTIME_TENSOR_H */
