/* A forward plan as text: the decisions, what they cost and what they beat.
 * Layer: plan. Must not know: MLIR.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

static const char *bounding_unit(const uattn_forward_cost_t *cost) {
  if (cost->tensor_cycles >= cost->special_function_cycles &&
      cost->tensor_cycles >= cost->issue_cycles)
    return "tensor cores";
  return cost->special_function_cycles >= cost->issue_cycles
             ? "special functions"
             : "instruction issue";
}

static void print_alternatives(const uattn_forward_plan_t *plan,
                               const uattn_target_t *target,
                               uattn_string_t *out_text) {
  uattn_string_append(out_text, "other KV tiles of these warpgroups:\n");
  for (int32_t step = -2; step <= 2; ++step) {
    uattn_forward_plan_t other = *plan;
    other.kv_tile_rows += UATTN_KV_TILE_STEP * step;
    if (step == 0 || other.kv_tile_rows < UATTN_MIN_KV_TILE_ROWS ||
        other.kv_tile_rows > UATTN_MAX_KV_TILE_ROWS)
      continue;
    uattn_forward_cost_t cost =
        uattn_forward_cost(&other, target, UATTN_PLAN_COMPILER_UATTN);
    const char *verdict = "fits";
    if (cost.consumer_registers_needed > other.consumer_registers)
      verdict = "too many registers";
    else if (cost.smem_bytes > target->smem_bytes_per_cta)
      verdict = "too much shared memory";
    uattn_string_appendf(
        out_text,
        "  %3d rows: %.4f cycles a pair, %d registers, %d bytes, %s\n",
        other.kv_tile_rows, cost.cycles_per_pair,
        cost.consumer_registers_needed, cost.smem_bytes, verdict);
  }
}

static void print_masks(const uattn_forward_plan_t *plan,
                        uattn_string_t *out_text) {
  uattn_mask_kinds_t masks = plan->masks;
  if (!plan->has_fixed_maximum)
    uattn_string_append(out_text, "softmax: base 2, running maximum\n");
  else
    uattn_string_appendf(
        out_text, "softmax: base 2, no maximum: the cap bounds the scores%s\n",
        plan->has_temp ? " (running maximum where temp is too large)" : "");
  if (plan->polynomial_period > 0)
    uattn_string_appendf(
        out_text,
        "exponentials: one of %d groups of 8 columns by a polynomial\n",
        plan->polynomial_period);
  uattn_string_append(out_text, "masks:");
  if (masks.has_ranker)
    uattn_string_append(out_text, " ranker (candidates' own keys row-wise)");
  if (masks.has_segments)
    uattn_string_append(out_text, " segments (every tile compares)");
  if (masks.is_causal)
    uattn_string_append(out_text, " causal");
  if (masks.has_window)
    uattn_string_append(out_text, " window");
  if (!uattn_mask_may_be_empty(masks))
    uattn_string_append(out_text, " none but the last KV tile's end");
  uattn_string_append(out_text, "\n");
}

void uattn_forward_plan_print(const uattn_forward_plan_t *plan,
                              const uattn_target_t *target,
                              uattn_string_t *out_text) {
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  uattn_forward_cost_t cost =
      uattn_forward_cost(plan, target, UATTN_PLAN_COMPILER_UATTN);
  uattn_string_append(out_text, "forward kernel ");
  uattn_forward_kernel_name(plan, out_text);
  uattn_string_appendf(out_text, " on %s\n", target->chip);
  uattn_string_appendf(
      out_text,
      "tiles: %d query rows a CTA (%d consumer warpgroups of %d), %d keys\n",
      layout.q_tile_rows, plan->consumer_warpgroups, UATTN_WARPGROUP_ROWS,
      plan->kv_tile_rows);
  uattn_string_appendf(out_text, "rings: %d stages of K and of V\n",
                       plan->stage_count);
  uattn_string_appendf(
      out_text,
      "registers a thread: %d at entry, producer %d, consumers %d (need %d)\n",
      plan->entry_registers, plan->producer_registers, plan->consumer_registers,
      cost.consumer_registers_needed);
  uattn_string_appendf(out_text, "shared memory: %d of %d bytes; %d threads\n",
                       layout.total_bytes, target->smem_bytes_per_cta,
                       layout.threads);
  uattn_string_appendf(
      out_text,
      "schedule: one CTA a query tile, KV tiles from the last to the "
      "first, %s\n",
      plan->is_ping_pong ? "consumers take turns (ping-pong)"
                         : "consumers run freely");
  print_masks(plan, out_text);
  if (plan->scale_sign == UATTN_SCALE_SIGN_NEGATIVE)
    uattn_string_append(out_text, "scores: negated (sm_scale < 0)\n");
  uattn_string_appendf(
      out_text,
      "a step: tensor %.0f, special functions %.0f, issue %.0f, overhead %.0f "
      "cycles; bound by %s; %.4f cycles a pair\n",
      cost.tensor_cycles, cost.special_function_cycles, cost.issue_cycles,
      cost.step_overhead_cycles, bounding_unit(&cost), cost.cycles_per_pair);
  print_alternatives(plan, target, out_text);
}
