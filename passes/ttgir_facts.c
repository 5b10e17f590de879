/* What masks depend on, as values of Triton's ops; lib/mask's algebra on these.
 * Layer: passes. Must not know: which keys follow from it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/ttgir_facts.h"

#include "emit/clamp_bounds.h"

static MlirValue constant(const uattn_ttgir_role_t *role, int64_t value) {
  return uattn_constant_i32(&role->b, (int32_t)value);
}

/* ---- lib/mask's algebra on Triton's values --------------------------------
 */

static MlirValue ir_constant(void *context, int32_t value) {
  const uattn_ttgir_algebra_t *ir = context;
  return constant(ir->role, value);
}

static MlirValue ir_binary(void *context, const char *name, MlirValue x,
                           MlirValue y) {
  const uattn_ttgir_algebra_t *ir = context;
  return uattn_ttgir_binary(ir->role, name,
                            uattn_ttgir_spread(ir->role, x, ir->type), y);
}

uattn_mask_algebra_t uattn_ttgir_make_algebra(uattn_ttgir_algebra_t *ir) {
  ir->builder = (uattn_mask_builder_t){ir, ir_constant, ir_binary};
  return uattn_emit_mask_algebra(&ir->builder);
}

/* ---- Facts ----------------------------------------------------------------
 */

static MlirValue load_bound(const uattn_ttgir_role_t *role,
                            const uattn_ttgir_place_t *place, int32_t index) {
  MlirValue offset = uattn_ttgir_binary(
      role, "arith.addi",
      uattn_ttgir_batch_offset(role, place, constant(role, 4)),
      uattn_constant_i64(&role->b, index));
  return uattn_ttgir_load_scalar(
      role, uattn_ttgir_advance(role, role->values[UATTN_TTGIR_BOUNDS], offset),
      uattn_type_i32(&role->b));
}

uattn_ttgir_bounds_t uattn_ttgir_bounds(const uattn_ttgir_role_t *role,
                                        const uattn_ttgir_place_t *place) {
  uattn_ttgir_bounds_t bounds = {{NULL}, {NULL}, {NULL}, {NULL}};
  if (role->kernel->plan->masks.has_ranker) {
    bounds.history_lower = load_bound(role, place, 0);
    bounds.history_upper = load_bound(role, place, 1);
    bounds.candidate_lower = load_bound(role, place, 2);
    bounds.candidate_upper = load_bound(role, place, 3);
    uattn_positions_t positions = {
        .q_tokens = role->values[UATTN_TTGIR_Q_TOKENS],
        .kv_tokens = role->values[UATTN_TTGIR_KV_TOKENS],
        .q_offset = constant(role, role->kernel->problem->q_offset),
    };
    uattn_emit_clamp_range(&role->b, &positions, &bounds.history_lower,
                           &bounds.history_upper);
    uattn_emit_clamp_range(&role->b, &positions, &bounds.candidate_lower,
                           &bounds.candidate_upper);
  }
  return bounds;
}

uattn_mask_facts_t uattn_ttgir_facts(const uattn_ttgir_role_t *role,
                                     const uattn_ttgir_bounds_t *bounds) {
  const uattn_problem_t *problem = role->kernel->problem;
  uattn_mask_facts_t facts = {
      .q_tokens = uattn_mask_pack(role->values[UATTN_TTGIR_Q_TOKENS]),
      .kv_tokens = uattn_mask_pack(role->values[UATTN_TTGIR_KV_TOKENS]),
      .q_offset = uattn_mask_pack(constant(role, problem->q_offset)),
      .window_tokens = uattn_mask_pack(constant(role, problem->window_tokens)),
      .history_lower = uattn_mask_pack(bounds->history_lower),
      .history_upper = uattn_mask_pack(bounds->history_upper),
  };
  return facts;
}
