/* The operand bounds as kernels use it.
 * Layer: emit. Must not know: plans, which kernel it is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_EMIT_CLAMP_BOUNDS_H
#define UATTN_EMIT_CLAMP_BOUNDS_H

#include "emit/builder.h"

/* What positions there are; i32 each. */
typedef struct {
  MlirValue q_tokens;
  MlirValue kv_tokens;
  MlirValue q_offset;
} uattn_positions_t;

/* A number of bounds, any i32, as one that leaves the same positions in its
 * range: from 0 to the first position that no query and no key has. Differences
 * to positions then fit i32. */
MlirValue uattn_emit_clamp_bound(const uattn_builder_t *b,
                                 const uattn_positions_t *positions,
                                 MlirValue bound);

#endif /* UATTN_EMIT_CLAMP_BOUNDS_H */
