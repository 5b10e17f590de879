/* What the parts of the verifier share.
 * Layer: dialect. Must not know: plans, kernels, passes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_DIALECT_DIALECT_VERIFY_H
#define UATTN_DIALECT_DIALECT_VERIFY_H

#include "dialect/dialect.h"

/* The segment sizes' entries; every group holds one value or none. */
bool uattn_verify_segments(MlirOperation op);

/* Names, types and ranges of the attention op's attributes. */
bool uattn_verify_attributes(MlirOperation op);

/* One of the two attention ops. */
bool uattn_verify_attention_op(MlirOperation op);

/* Any other op of the dialect. */
bool uattn_verify_pipeline_op(MlirOperation op);

/* False where `type` is no element type of uattn. */
bool uattn_dtype_from_type(MlirType type, uattn_dtype_t *out_dtype);

#endif /* UATTN_DIALECT_DIALECT_VERIFY_H */
