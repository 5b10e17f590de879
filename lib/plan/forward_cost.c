/* What a forward plan costs: registers, shared memory and cycles.
 * Layer: plan. Must not know: how candidates are listed or code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

/* Special-function results and other instructions for one score of the
 * softmax: multiply-add and exponential, maximum, sum and half a conversion,
 * on top of what the cap takes. */
typedef struct {
  double special_functions;
  double instructions;
} element_work_t;

/* 2^x on the FMA units: clamp, round, three multiply-adds, into the exponent.
 */
static const double polynomial_instructions = 9.0;

static element_work_t softmax_work(const uattn_forward_plan_t *plan) {
  element_work_t work = {1.0, 4.5};
  switch (plan->cap_method) {
  case UATTN_CAP_NONE: /* a sign per row, where temp may be negative */
    work.instructions += plan->has_temp ? 1.0 : 0.0;
    break;
  case UATTN_CAP_TANH: /* scale, tanh */
    work.special_functions += 1.0;
    work.instructions += 2.0;
    break;
  case UATTN_CAP_SOFT_SIGN: /* scale, add, reciprocal, multiply */
    work.special_functions += 1.0;
    work.instructions += 4.0;
    break;
  case UATTN_CAP_ALSC: /* multiply-add, exponential, add, reciprocal */
    work.special_functions += 2.0;
    work.instructions += 4.0;
    break;
  }
  if (plan->polynomial_period > 0) { /* not by the special function unit */
    work.special_functions -= 1.0 / plan->polynomial_period;
    work.instructions += polynomial_instructions / plan->polynomial_period;
  }
  return work;
}

/* A consumer thread holds its part of the scores (kv / 2 f32), of out (D / 2
 * f32) and of the probabilities (kv / 4 pairs of 16 bits) at once, and besides
 * them addresses, row values and temporaries. The last term is calibrated on
 * what ptxas 13.0 fits without spilling: 2 warpgroups at D 128 take 176 rows,
 * 3 at D 64 take 128 but not 160. */
/* Segments hold key ids beside the scores; masks on top of each other hold
 * limits for each row. */
static int32_t mask_registers(const uattn_forward_plan_t *plan) {
  uattn_mask_kinds_t masks = plan->masks;
  int32_t kinds = masks.has_ranker + masks.has_segments + masks.is_causal +
                  masks.has_window;
  return (masks.has_segments ? plan->kv_tile_rows / 8 : 0) + (kinds > 2   ? 12
                                                              : kinds > 1 ? 4
                                                                          : 0);
}

static int32_t registers_needed(const uattn_forward_plan_t *plan) {
  int32_t others = 28 + plan->head_dim / 16 + mask_registers(plan);
  return plan->kv_tile_rows / 2 + plan->head_dim / 2 + plan->kv_tile_rows / 4 +
         others;
}

/* Barriers, waits and the rescaling of out that a step pays whatever its size.
 */
static const double step_overhead_cycles = 60.0;

/* The units work side by side only in part: how much of the time of those that
 * do not bound a step shows nevertheless. More warpgroups hide more. From
 * kernels measured on an H200, D 64 and 128, with and without tanh: 0.48 to
 * 0.82 with two consumer warpgroups, 0.48 to 0.57 with three. In Triton's code
 * three hide no more than two: at D 128 without a cap, two with 128 keys are
 * 14 % ahead of three with 64. tools/uattn-bench/NOTES.md has the measurements.
 */
static double exposed_share(const uattn_forward_plan_t *plan,
                            uattn_plan_compiler_t compiler) {
  bool more_hide_more = compiler == UATTN_PLAN_COMPILER_UATTN;
  return more_hide_more && plan->consumer_warpgroups >= 3 ? 0.52 : 0.62;
}

static double max3(double a, double b, double c) {
  double ab = a > b ? a : b;
  return ab > c ? ab : c;
}

/* Of one step of all consumers. */
static double step_cycles(const uattn_forward_plan_t *plan,
                          uattn_plan_compiler_t compiler,
                          const uattn_forward_cost_t *cost) {
  double bound = max3(cost->tensor_cycles, cost->special_function_cycles,
                      cost->issue_cycles);
  double others = cost->tensor_cycles + cost->special_function_cycles +
                  cost->issue_cycles - bound;
  return bound + exposed_share(plan, compiler) * others +
         cost->step_overhead_cycles;
}

uattn_forward_cost_t uattn_forward_cost(const uattn_forward_plan_t *plan,
                                        const uattn_target_t *target,
                                        uattn_plan_compiler_t compiler) {
  uattn_forward_cost_t cost = {0};
  element_work_t work = softmax_work(plan);
  double pairs = (double)UATTN_WARPGROUP_ROWS * plan->consumer_warpgroups *
                 plan->kv_tile_rows;
  cost.tensor_cycles =
      pairs * 4.0 * plan->head_dim / target->tensor_flops_per_cycle;
  cost.special_function_cycles =
      pairs * work.special_functions / target->special_function_per_cycle;
  cost.issue_cycles = pairs * (work.instructions + work.special_functions) /
                      target->lanes_per_cycle;
  cost.step_overhead_cycles = step_overhead_cycles;
  cost.cycles_per_pair = step_cycles(plan, compiler, &cost) / pairs;
  cost.consumer_registers_needed = registers_needed(plan);
  cost.smem_bytes = uattn_forward_layout(plan).total_bytes;
  return cost;
}
