/* The attributes of a custom call, as a problem.
 * Layer: python_bindings. Must not know: how the op is computed.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_XLA_OP_ATTRIBUTES_H
#define UATTN_XLA_OP_ATTRIBUTES_H

#include "ffi_abi.h"
#include "uattn/problem.h"

/* Reads what --uattn-import-stablehlo reads: operandSegmentSizes and
 * resultSegmentSizes (s32 arrays), cap_method (text), cap, cap_alpha, cap_beta,
 * sm_scale (f32), causal (pred), window_len, q_offset (s64), and of a backward
 * op z_loss_weight (f32) and deterministic (pred); all must be there, of those
 * types, and no others but `artifact`. Sizes and types of tensors are not told
 * by attributes: left dynamic, bf16 and f32. */
UATTN_NODISCARD uattn_error_t *
uattn_xla_read_problem(const ffi_attributes_t *attributes,
                       uattn_problem_t *out_problem);

#endif /* UATTN_XLA_OP_ATTRIBUTES_H */
