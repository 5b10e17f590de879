/* Clamps the operand bounds to positions that there are.
 * Layer: emit. Must not know: plans, which kernel it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/clamp_bounds.h"

static MlirValue at_least_zero(const uattn_builder_t *b, MlirValue value) {
  return uattn_binary(b, "arith.maxsi", value, uattn_constant_i32(b, 0));
}

void uattn_emit_clamp_range(const uattn_builder_t *b,
                            const uattn_positions_t *positions,
                            MlirValue *io_lower, MlirValue *io_upper) {
  MlirValue after_queries =
      uattn_binary(b, "arith.addi", positions->q_offset, positions->q_tokens);
  MlirValue after =
      uattn_binary(b, "arith.maxsi", positions->kv_tokens, after_queries);
  *io_upper =
      uattn_binary(b, "arith.minsi", at_least_zero(b, *io_upper), after);
  *io_lower =
      uattn_binary(b, "arith.minsi", at_least_zero(b, *io_lower), *io_upper);
}
