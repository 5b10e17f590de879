/* What the library offers: handlers for XLA, and the kernels that they launch.
 * Layer: python_bindings. Must not know: MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_XLA_HANDLERS_H
#define UATTN_XLA_HANDLERS_H

#include "call_frame.h"

/* Handlers of the custom calls uattn.ranker_attention and
 * uattn.ranker_attention_bwd: operands and results that are present, in the
 * order of the op, and the attributes that op_attributes.h names. */

/* Platform cpu. */
UATTN_EXPORT ffi_error_t *uattn_xla_host_execute(ffi_call_frame_t *frame);

/* Platform CUDA. `initialize` loads the kernels of the attribute `artifact`,
 * which names one that was added, and whose op is the one that the attributes
 * describe; `execute` enqueues them on XLA's stream, allocates nothing and does
 * not wait for the GPU, so that it may be captured. The last
 * result is the workspace, u8, where the launch wants one. */
UATTN_EXPORT ffi_error_t *uattn_xla_cuda_initialize(ffi_call_frame_t *frame);
UATTN_EXPORT ffi_error_t *uattn_xla_cuda_execute(ffi_call_frame_t *frame);

/* Parses an artifact that calls shall find by `name`; again with a name that is
 * there, does nothing. The bytes need not outlive the call. Thread safe. */
UATTN_EXPORT UATTN_NODISCARD uattn_error_t *
uattn_xla_add_artifact(const char *name, const void *bytes, size_t size);

#endif /* UATTN_XLA_HANDLERS_H */
