/* A GPU, its context and the driver's functions.
 * Layer: runtime. Must not know: artifacts, attention.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_DEVICE_H
#define UATTN_RUNTIME_DEVICE_H

#include "runtime/cuda_driver.h"
#include "uattn/runtime.h"

struct uattn_device {
  uattn_cuda_driver_t driver;
  cu_device_t handle; /* the ordinal */
  cu_context_t context;
  bool is_primary; /* the context is retained */
  char name[256];
  int compute_capability;
  int smem_limit_bytes; /* of one CTA */
};

/* Makes the device's context current; each success wants one leave. */
UATTN_NODISCARD uattn_error_t *uattn_device_enter(const uattn_device_t *device);
/* Makes the caller's context current again. */
void uattn_device_leave(const uattn_device_t *device);

/* NULL for success. */
UATTN_NODISCARD uattn_error_t *uattn_device_error(const uattn_device_t *device,
                                                  cu_result_t result,
                                                  const char *what);

#endif /* UATTN_RUNTIME_DEVICE_H */
