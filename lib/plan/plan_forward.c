/* Candidates for the forward kernel, and the choice among them.
 * Layer: plan. Must not know: MLIR, CUDA, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"
#include "plan/plan_rules.h"

/* Registers a thread at entry, of the producer and of the consumers: multiples
 * of 8 that fill the SM's 64 K after setmaxnreg. Three consumer warpgroups:
 * 128 (32 + 3 * 160) = 65536; two: 128 (24 + 2 * 240) <= 65536. */
static const struct {
  int32_t consumer_warpgroups;
  int32_t entry_registers;
  int32_t producer_registers;
  int32_t consumer_registers;
} role_shapes[] = {
    {2, 168, 24, 240},
    {3, 128, 32, 160},
};
enum { ROLE_SHAPE_COUNT = sizeof role_shapes / sizeof role_shapes[0] };

static uattn_scale_sign_t scale_sign(const uattn_problem_t *problem) {
  bool scores_are_unscaled = problem->cap.method == UATTN_CAP_NONE &&
                             !problem->has_operand[UATTN_OPERAND_TEMP];
  if (!scores_are_unscaled)
    return UATTN_SCALE_SIGN_ANY;
  return problem->sm_scale < 0 ? UATTN_SCALE_SIGN_NEGATIVE
                               : UATTN_SCALE_SIGN_POSITIVE;
}

/* With temp, what rankers use (0.5 to 1.5) shall be within the limit. f16
 * probabilities have too few exponents. */
static bool has_fixed_maximum(const uattn_problem_t *problem,
                              uattn_plan_compiler_t compiler) {
  if (compiler == UATTN_PLAN_COMPILER_TRITON &&
      problem->has_operand[UATTN_OPERAND_TEMP])
    return false;
  bool is_bounded = problem->cap.method == UATTN_CAP_TANH ||
                    problem->cap.method == UATTN_CAP_SOFT_SIGN;
  double typical_temp = problem->has_operand[UATTN_OPERAND_TEMP] ? 1.5 : 1.0;
  return is_bounded && problem->dtype == UATTN_DTYPE_BF16 &&
         uattn_softmax_constants(problem).post_scale * typical_temp <=
             UATTN_FIXED_MAXIMUM_LIMIT;
}

/* Exponentials leave the special function unit where that is what a step waits
 * for, and where a fixed maximum has left room to issue the polynomial. */
static int32_t polynomial_period(const uattn_forward_plan_t *plan,
                                 const uattn_target_t *target,
                                 uattn_plan_compiler_t compiler) {
  uattn_forward_cost_t cost = uattn_forward_cost(plan, target, compiler);
  double excess = cost.special_function_cycles / cost.tensor_cycles;
  if (compiler == UATTN_PLAN_COMPILER_TRITON || !plan->has_fixed_maximum ||
      excess < 1.25)
    return 0;
  return excess < 1.75 ? 4 : 2;
}

/* Of Triton's code two warpgroups were measured without turns, three with. */
static bool is_ping_pong(int32_t consumer_warpgroups,
                         uattn_plan_compiler_t compiler) {
  return compiler == UATTN_PLAN_COMPILER_UATTN || consumer_warpgroups >= 3;
}

static bool is_power_of_two(int32_t value) { return !(value & (value - 1)); }

static bool fits(const uattn_forward_plan_t *plan, const uattn_target_t *target,
                 uattn_plan_compiler_t compiler) {
  uattn_forward_cost_t cost = uattn_forward_cost(plan, target, compiler);
  return cost.consumer_registers_needed <= plan->consumer_registers &&
         cost.smem_bytes <= target->smem_bytes_per_cta &&
         (compiler == UATTN_PLAN_COMPILER_UATTN ||
          is_power_of_two(plan->kv_tile_rows));
}

uattn_error_t *uattn_plan_forward(const uattn_problem_t *problem,
                                  const uattn_target_t *target,
                                  uattn_plan_compiler_t compiler,
                                  uattn_forward_plan_t *out_plan) {
  uattn_forward_plan_t candidate = {
      .dtype = problem->dtype,
      .temp_dtype = problem->temp_dtype,
      .head_dim = (int32_t)problem->head_dim,
      .cap_method = problem->cap.method,
      .has_temp = problem->has_operand[UATTN_OPERAND_TEMP],
      .has_lse = problem->has_result[UATTN_RESULT_LSE],
      .masks = uattn_mask_kinds(problem),
      .scale_sign = scale_sign(problem),
      .stage_count = 2,
      .has_fixed_maximum = has_fixed_maximum(problem, compiler),
  };
  uattn_forward_plan_t best = {0};
  double best_cycles = 0;
  for (int shape = 0; shape < ROLE_SHAPE_COUNT; ++shape) {
    candidate.consumer_warpgroups = role_shapes[shape].consumer_warpgroups;
    candidate.entry_registers = role_shapes[shape].entry_registers;
    candidate.producer_registers = role_shapes[shape].producer_registers;
    candidate.consumer_registers = role_shapes[shape].consumer_registers;
    candidate.is_ping_pong =
        is_ping_pong(candidate.consumer_warpgroups, compiler);
    for (int32_t rows = UATTN_MIN_KV_TILE_ROWS; rows <= UATTN_MAX_KV_TILE_ROWS;
         rows += UATTN_KV_TILE_STEP) {
      candidate.kv_tile_rows = rows;
      if (!fits(&candidate, target, compiler))
        continue;
      double cycles =
          uattn_forward_cost(&candidate, target, compiler).cycles_per_pair;
      if (best_cycles == 0 || cycles < best_cycles) {
        best = candidate;
        best_cycles = cycles;
      }
    }
  }
  if (best_cycles == 0)
    return uattn_error_create(UATTN_ERROR_UNSUPPORTED,
                              "no forward plan for head_dim %d fits %s",
                              candidate.head_dim, target->chip);
  best.polynomial_period = polynomial_period(&best, target, compiler);
  *out_plan = best;
  return NULL;
}

uattn_error_t *uattn_forward_plan_validate(const uattn_forward_plan_t *plan,
                                           const uattn_target_t *target) {
  const uattn_plan_range_t ranges[] = {
      {"consumer_warpgroups", plan->consumer_warpgroups, 1, 3, 1},
      {"kv_tile_rows", plan->kv_tile_rows, UATTN_KV_TILE_STEP,
       UATTN_MAX_KV_TILE_ROWS, UATTN_KV_TILE_STEP},
      {"stage_count", plan->stage_count, 1, 8, 1},
      {"polynomial_period", plan->polynomial_period, 0, 32, 1},
      {"entry_registers", plan->entry_registers, 24, 248, 8},
      {"producer_registers", plan->producer_registers, 24,
       plan->entry_registers, 8},
      {"consumer_registers", plan->consumer_registers, plan->entry_registers,
       240, 8},
  };
  uattn_error_t *error =
      uattn_plan_check_ranges(ranges, sizeof ranges / sizeof ranges[0]);
  if (error)
    return error;
  bool is_bounded = plan->cap_method == UATTN_CAP_TANH ||
                    plan->cap_method == UATTN_CAP_SOFT_SIGN;
  if (plan->has_fixed_maximum &&
      (!is_bounded || plan->dtype != UATTN_DTYPE_BF16))
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan has a fixed maximum for cap %s and %s: expected tanh or "
        "soft_sign and bf16",
        uattn_cap_method_name(plan->cap_method), uattn_dtype_name(plan->dtype));
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  return uattn_plan_check_needs(
      &(uattn_plan_needs_t){.smem_bytes = layout.total_bytes,
                            .threads = layout.threads,
                            .consumer_warpgroups = plan->consumer_warpgroups,
                            .entry_registers = plan->entry_registers,
                            .producer_registers = plan->producer_registers,
                            .consumer_registers = plan->consumer_registers},
      target);
}
