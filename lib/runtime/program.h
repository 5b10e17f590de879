/* A loaded artifact and what launches need to know of its functions.
 * Layer: runtime. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_PROGRAM_H
#define UATTN_RUNTIME_PROGRAM_H

#include "artifact/call.h"
#include "runtime/device.h"

struct uattn_program {
  const uattn_device_t *device;
  const uattn_artifact_t *artifact;
  cu_module_t *modules;              /* of each image */
  cu_function_t *kernels;            /* of each kernel */
  uattn_function_facts_t *functions; /* of each function */
};

/* Loads an image into the current context: its cubin where it has one that the
 * driver takes, else its PTX. */
UATTN_NODISCARD uattn_error_t *
uattn_image_load(const uattn_device_t *device,
                 const uattn_artifact_image_t *image, cu_module_t *out_module);

#endif /* UATTN_RUNTIME_PROGRAM_H */
