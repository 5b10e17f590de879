/* Kernels as IR: from a plan to the pipeline level.
 * Layer: emit. Must not know: attributes of the op level, passes, artifacts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_EMIT_H
#define UATTN_EMIT_EMIT_H

#include "emit/builder.h"
#include "plan/plan.h"

/* Attributes of a kernel's gpu.func, for the passes that lower it. */
#define UATTN_KERNEL_ATTR_THREADS "uattn.threads"
#define UATTN_KERNEL_ATTR_ENTRY_REGISTERS "uattn.entry_registers"
#define UATTN_KERNEL_ATTR_SMEM_BYTES "uattn.smem_bytes"

/* Appends a gpu.func with the forward kernel of `plan` to the body of a
 * gpu.module. The plan must be valid (uattn_forward_plan_validate). */
void uattn_emit_forward_kernel(const uattn_builder_t *module_body,
                               const uattn_forward_plan_t *plan);

/* The same of one of the backward kernels. */
void uattn_emit_backward_kernel(const uattn_builder_t *module_body,
                                const uattn_backward_plan_t *plan,
                                uattn_backward_kernel_kind_t kind);

#endif /* UATTN_EMIT_EMIT_H */
