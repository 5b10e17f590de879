/* A loaded artifact and what launches need to know of its functions.
 * Layer: runtime. Must not know: MLIR, how kernels are made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_RUNTIME_PROGRAM_H
#define UATTN_RUNTIME_PROGRAM_H

#include "artifact/artifact.h"
#include "runtime/device.h"

/* How kernels reach a value: what its layout must allow. */
typedef struct {
  bool is_mapped;  /* through a tensor map */
  bool is_pointed; /* through its address, as a dense array */
  bool is_written;
  int32_t result; /* the first function result that it is, or -1 */
} value_use_t;

typedef struct {
  uattn_function_dims_t dims;
  value_use_t *uses; /* of each value */
} program_function_t;

struct uattn_program {
  const uattn_device_t *device;
  const uattn_artifact_t *artifact;
  cu_module_t *modules;          /* of each image */
  cu_function_t *kernels;        /* of each kernel */
  program_function_t *functions; /* of each function */
};

/* Loads an image into the current context: its cubin where it has one that the
 * driver takes, else its PTX. */
UATTN_NODISCARD uattn_error_t *
uattn_image_load(const uattn_device_t *device,
                 const uattn_artifact_image_t *image, cu_module_t *out_module);

/* One call's tensors with what the function says of them. */
typedef struct {
  const uattn_program_t *program;
  const uattn_artifact_function_t *function;
  const program_function_t *facts;
  uattn_shape_view_t shapes;
  const uattn_launch_t *launch;
} call_t;

/* Checks the function's index, the arguments' count, ranks, types and shapes.
 * Reads only the arguments of `launch`, which must outlive the call. */
UATTN_NODISCARD uattn_error_t *uattn_call_begin(const uattn_program_t *program,
                                                size_t function,
                                                const uattn_launch_t *launch,
                                                call_t *out_call);

/* A value's tensor: an argument, a result, or a place in the workspace that
 * uattn_call_workspace_bytes lays out. */
uattn_tensor_t uattn_call_tensor(const call_t *call, uint32_t value);

/* False where the size does not fit. */
bool uattn_call_workspace_bytes(const call_t *call, size_t *out_bytes);

#endif /* UATTN_RUNTIME_PROGRAM_H */
