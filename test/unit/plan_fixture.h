/* Problems and plans that the tests of lib/plan start from.
 * Layer: test. Must not know: MLIR, how plans are chosen.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UATTN_PLAN_FIXTURE_H
#define UATTN_PLAN_FIXTURE_H

#include "unit_test.h"

#include "plan/plan.h"

static inline uattn_problem_t forward_problem(int64_t head_dim) {
  return (uattn_problem_t){
      .kind = UATTN_OP_FORWARD,
      .dtype = UATTN_DTYPE_BF16,
      .temp_dtype = UATTN_DTYPE_F32,
      .batch = UATTN_DIM_DYNAMIC,
      .q_tokens = UATTN_DIM_DYNAMIC,
      .kv_tokens = UATTN_DIM_DYNAMIC,
      .q_heads = UATTN_DIM_DYNAMIC,
      .kv_heads = UATTN_DIM_DYNAMIC,
      .head_dim = head_dim,
      .sm_scale = 0.125,
      .has_operand = {true, true, true},
      .has_result = {true},
  };
}

static inline const uattn_target_t *h100(void) {
  return uattn_target_find("sm_90a");
}

static inline uattn_forward_plan_t
plan_chosen_for(const uattn_problem_t *problem,
                uattn_plan_compiler_t compiler) {
  uattn_forward_plan_t plan;
  assert_ok(uattn_plan_forward(problem, h100(), compiler, &plan));
  return plan;
}

static inline uattn_forward_plan_t chosen_plan(const uattn_problem_t *problem) {
  return plan_chosen_for(problem, UATTN_PLAN_COMPILER_UATTN);
}

/* Every problem that the compiler covers, by index; false past the last. */
enum { COVERED_PROBLEMS = 4 * 2 * 16 * 4 * 4 * 2 * 3 };
static inline bool covered_problem(int index, uattn_problem_t *out_problem) {
  static const uattn_dtype_t temps[] = {UATTN_DTYPE_F32, UATTN_DTYPE_BF16,
                                        UATTN_DTYPE_F16};
  enum {
    HEAD_DIMS = 4,
    TYPES = 2,
    MASKS = 16,
    CAPS = 4,
    TEMPS = 4,
    LSE = 2,
    SIGNS = 3
  };
  static const double scales[SIGNS] = {0.125, -0.125, 0.0};
  if (index >= COVERED_PROBLEMS)
    return false;
  uattn_problem_t problem = forward_problem(64 + index % HEAD_DIMS * 64);
  index /= HEAD_DIMS;
  problem.dtype = index % TYPES ? UATTN_DTYPE_F16 : UATTN_DTYPE_BF16;
  index /= TYPES;
  problem.has_operand[UATTN_OPERAND_BOUNDS] = index & 1;
  problem.has_operand[UATTN_OPERAND_Q_SEGMENT_IDS] = index & 2;
  problem.has_operand[UATTN_OPERAND_KV_SEGMENT_IDS] = index & 2;
  problem.is_causal = index & 4;
  problem.window_tokens = index & 8 ? 100 : 0;
  index /= MASKS;
  problem.cap.method = (uattn_cap_method_t)(index % CAPS);
  if (problem.cap.method != UATTN_CAP_NONE)
    problem.cap.cap = 30.0;
  if (problem.cap.method == UATTN_CAP_ALSC)
    problem.cap.alpha = 8.0;
  index /= CAPS;
  problem.has_operand[UATTN_OPERAND_TEMP] = index % TEMPS > 0;
  if (index % TEMPS > 0)
    problem.temp_dtype = temps[index % TEMPS - 1];
  index /= TEMPS;
  problem.has_result[UATTN_RESULT_LSE] = index % LSE;
  index /= LSE;
  problem.sm_scale = scales[index];
  *out_problem = problem;
  return true;
}

#endif /* UATTN_PLAN_FIXTURE_H */
