/* What backward kernels cover, their plan, and the plan as text.
 * Layer: plan. Must not know: MLIR, CUDA, how code is emitted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"
#include "plan/plan_rules.h"

/* What a fused kernel can be: dK and dV of 64 rows a consumer and a consumer's
 * share of a tile of dQ fit the registers up to head_dim 128. dtemp sums over
 * the keys of a row, which several CTAs of the fused kernel have. */
static bool can_fuse(const uattn_backward_plan_t *plan) {
  return !plan->is_deterministic && !plan->has_dtemp &&
         (plan->head_dim == 64 || plan->head_dim == 128);
}

/* Two stages of 64 rows do not fit. Of 32 rows they do: measured on an H200,
 * A-D256 360 TFLOP/s instead of 337 with one stage. */
enum { LARGEST_HEAD_DIM_OF_TWO_STAGES = 192 };
static void choose_small_tiles(uattn_backward_plan_t *plan) {
  if (plan->masks.has_ranker)
    plan->stage_count = 1;
  else
    plan->moving_tile_rows = UATTN_WARPGROUP_ROWS / 2;
}

uattn_error_t *uattn_plan_backward(const uattn_problem_t *problem,
                                   const uattn_target_t *target,
                                   uattn_backward_plan_t *out_plan) {
  (void)target;
  *out_plan = (uattn_backward_plan_t){
      .dtype = problem->dtype,
      .temp_dtype = problem->temp_dtype,
      .head_dim = (int32_t)problem->head_dim,
      .cap_method = problem->cap.method,
      .has_temp = problem->has_operand[UATTN_OPERAND_TEMP],
      .has_dlse = problem->has_operand[UATTN_OPERAND_DLSE],
      .has_dtemp = problem->has_result[UATTN_RESULT_DTEMP],
      .is_deterministic = problem->is_deterministic,
      .masks = uattn_mask_kinds(problem),
      .consumer_warpgroups = 2,
      .moving_tile_rows = UATTN_WARPGROUP_ROWS,
      .stage_count = 2,
      .entry_registers = 168,
      .producer_registers = 24,
      .consumer_registers = 240};
  out_plan->fuses_dq = can_fuse(out_plan);
  if (out_plan->head_dim > LARGEST_HEAD_DIM_OF_TWO_STAGES)
    choose_small_tiles(out_plan);
  return NULL;
}

static uattn_error_t *validate_fusion(const uattn_backward_plan_t *plan) {
  if (!plan->fuses_dq)
    return NULL;
  if (!can_fuse(plan))
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan field fuses_dq is true with head_dim %d%s%s: expected head_dim "
        "64 or 128, neither deterministic nor with dtemp",
        plan->head_dim, plan->is_deterministic ? ", deterministic" : "",
        plan->has_dtemp ? ", with dtemp" : "");
  if (plan->moving_tile_rows != UATTN_WARPGROUP_ROWS)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan field moving_tile_rows is %d: expected %d where dq is fused",
        plan->moving_tile_rows, UATTN_WARPGROUP_ROWS);
  if (plan->consumer_warpgroups != 2)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan field consumer_warpgroups is %d: expected 2 where dq is fused",
        plan->consumer_warpgroups);
  return NULL;
}

/* Of the kernels of products, whose threads are the same, the one with the most
 * shared memory. */
static uattn_backward_layout_t
largest_layout(const uattn_backward_plan_t *plan) {
  uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
  int32_t count = uattn_backward_kernels(plan, kinds);
  uattn_backward_layout_t largest = {0};
  for (int32_t i = 0; i < count; ++i) {
    uattn_backward_layout_t layout = uattn_backward_layout(plan, kinds[i]);
    if (layout.total_bytes > largest.total_bytes)
      largest = layout;
  }
  return largest;
}

uattn_error_t *uattn_backward_plan_validate(const uattn_backward_plan_t *plan,
                                            const uattn_target_t *target) {
  const uattn_plan_range_t ranges[] = {
      {"consumer_warpgroups", plan->consumer_warpgroups, 1, 3, 1},
      {"moving_tile_rows", plan->moving_tile_rows, UATTN_KV_TILE_STEP,
       UATTN_WARPGROUP_ROWS, UATTN_KV_TILE_STEP},
      {"stage_count", plan->stage_count, 1, 8, 1},
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
  /* A candidate's own keys come in boxes of a warpgroup's rows. */
  if (plan->masks.has_ranker && plan->moving_tile_rows != UATTN_WARPGROUP_ROWS)
    return uattn_error_create(
        UATTN_ERROR_INVALID_ARGUMENT,
        "plan field moving_tile_rows is %d: expected %d with bounds",
        plan->moving_tile_rows, UATTN_WARPGROUP_ROWS);
  error = validate_fusion(plan);
  if (error)
    return error;
  uattn_backward_layout_t layout = largest_layout(plan);
  return uattn_plan_check_needs(
      &(uattn_plan_needs_t){.smem_bytes = layout.total_bytes,
                            .threads = layout.threads,
                            .consumer_warpgroups = plan->consumer_warpgroups,
                            .entry_registers = plan->entry_registers,
                            .producer_registers = plan->producer_registers,
                            .consumer_registers = plan->consumer_registers},
      target);
}

void uattn_backward_plan_print(const uattn_backward_plan_t *plan,
                               const uattn_target_t *target,
                               uattn_string_t *out_text) {
  static const char *const works[] = {
      "delta and lse in base 2 of every query row",
      "dK and dV: a CTA a KV tile, all query rows of its heads move past",
      "dK: a CTA a KV tile, all query rows of its heads move past",
      "dV: a CTA a KV tile, all query rows of its heads move past",
      "dQ: a CTA a query tile, all keys move past",
      "dtemp: the sum of all heads' shares, which dQ's kernel leaves",
      "dK and dV, and sums of dQ: a CTA a KV tile, all query rows of its heads "
      "move past",
      "dQ from its sums"};
  uattn_backward_kernel_kind_t kinds[UATTN_BACKWARD_KERNEL_COUNT];
  int32_t count = uattn_backward_kernels(plan, kinds);
  for (int32_t i = 0; i < count; ++i) {
    uattn_backward_kernel_kind_t kind = kinds[i];
    uattn_backward_layout_t layout = uattn_backward_layout(plan, kind);
    uattn_string_append(out_text, "backward kernel ");
    uattn_backward_kernel_name(plan, kind, out_text);
    uattn_string_appendf(out_text, " on %s\nwork: %s\n", target->chip,
                         works[kind]);
    uattn_string_appendf(
        out_text, "tiles: %d rows stay (%d consumer warpgroups of %d)",
        layout.rows_per_cta, layout.consumer_warpgroups, UATTN_WARPGROUP_ROWS);
    if (uattn_backward_keys_stay(kind) || kind == UATTN_BACKWARD_DQ)
      uattn_string_appendf(out_text, ", %d move past, %d stages",
                           plan->moving_tile_rows, plan->stage_count);
    uattn_string_appendf(
        out_text,
        "\nregisters a thread: %d at entry, producer %d, consumers %d\n"
        "shared memory: %d of %d bytes; %d threads\n",
        layout.entry_registers, layout.producer_registers,
        layout.consumer_registers, layout.total_bytes,
        target->smem_bytes_per_cta, layout.threads);
  }
  uattn_string_append(out_text,
                      plan->fuses_dq
                          ? "sums: those of dQ as CTAs come, the others in one "
                            "order\n"
                          : "sums: in one order, whatever CTAs do first\n");
}
