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

/* A range of bounds, any i32, as one with the same positions whose ends lie
 * between 0 and the first position that no query and no key has. Differences of
 * these to positions then fit i32. */
void uattn_emit_clamp_range(const uattn_builder_t *b,
                            const uattn_positions_t *positions,
                            MlirValue *io_lower, MlirValue *io_upper);

#endif /* UATTN_EMIT_CLAMP_BOUNDS_H */
