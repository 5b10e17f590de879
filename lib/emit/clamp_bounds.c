/* Clamps the operand bounds to positions that there are.
 * Layer: emit. Must not know: plans, which kernel it is.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/clamp_bounds.h"

MlirValue uattn_emit_clamp_bound(const uattn_builder_t *b,
                                 const uattn_positions_t *positions,
                                 MlirValue bound) {
  MlirValue after_queries =
      uattn_binary(b, "arith.addi", positions->q_offset, positions->q_tokens);
  MlirValue after =
      uattn_binary(b, "arith.maxsi", positions->kv_tokens, after_queries);
  return uattn_binary(
      b, "arith.minsi",
      uattn_binary(b, "arith.maxsi", bound, uattn_constant_i32(b, 0)), after);
}
