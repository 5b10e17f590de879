/* Shared memory, barriers and threads of a planned forward kernel.
 * Layer: plan. Must not know: how the offsets get into code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

/* A full and an empty mbarrier of 8 bytes. */
enum { SLOT_BARRIER_BYTES = 16, SEGMENT_HULL_BYTES = 32 };

/* Barrier 0 is the CTA's own (bar.sync 0). */
enum { FIRST_TURN_BARRIER = 1 };

uattn_forward_layout_t uattn_forward_layout(const uattn_forward_plan_t *plan) {
  uattn_forward_layout_t layout = {0};
  int32_t row_bytes = plan->head_dim * (int32_t)uattn_dtype_bytes(plan->dtype);
  int32_t ring_bytes = plan->stage_count * plan->kv_tile_rows * row_bytes;
  int32_t ring_barrier_bytes = plan->stage_count * SLOT_BARRIER_BYTES;

  layout.q_tile_rows = UATTN_WARPGROUP_ROWS * plan->consumer_warpgroups;
  layout.q_offset = 0;
  layout.k_offset = layout.q_offset + layout.q_tile_rows * row_bytes;
  layout.v_offset = layout.k_offset + ring_bytes;
  layout.q_barrier_offset = layout.v_offset + ring_bytes;
  layout.k_barrier_offset = layout.q_barrier_offset + SLOT_BARRIER_BYTES;
  layout.v_barrier_offset = layout.k_barrier_offset + ring_barrier_bytes;
  layout.segment_offset = layout.v_barrier_offset + ring_barrier_bytes;
  layout.total_bytes = layout.segment_offset +
                       (plan->masks.has_segments ? SEGMENT_HULL_BYTES : 0);
  layout.threads = UATTN_WARPGROUP_THREADS * (plan->consumer_warpgroups + 1);
  layout.turn_barrier_id = FIRST_TURN_BARRIER;
  layout.store_barrier_id = FIRST_TURN_BARRIER + plan->consumer_warpgroups;
  layout.clear_barrier_id = layout.store_barrier_id + plan->consumer_warpgroups;
  return layout;
}

int uattn_forward_params(const uattn_forward_plan_t *plan,
                         uattn_plan_param_t *out_params) {
  uattn_forward_layout_t layout = uattn_forward_layout(plan);
  bool is_alsc = plan->cap_method == UATTN_CAP_ALSC;
  bool is_capped = plan->cap_method != UATTN_CAP_NONE;
  uattn_mask_kinds_t masks = plan->masks;
  bool has_positions = masks.has_ranker || masks.is_causal || masks.has_window;
  const struct {
    uattn_plan_param_t param;
    bool is_present;
  } all[UATTN_FORWARD_PARAM_COUNT] = {
      {{UATTN_FORWARD_PARAM_Q, UATTN_PLAN_PARAM_TENSOR_MAP, layout.q_tile_rows},
       true},
      {{UATTN_FORWARD_PARAM_K, UATTN_PLAN_PARAM_TENSOR_MAP, plan->kv_tile_rows},
       true},
      {{UATTN_FORWARD_PARAM_V, UATTN_PLAN_PARAM_TENSOR_MAP, plan->kv_tile_rows},
       true},
      {{UATTN_FORWARD_PARAM_OUT, UATTN_PLAN_PARAM_TENSOR_MAP,
        UATTN_WARPGROUP_ROWS},
       true},
      {{UATTN_FORWARD_PARAM_K_DIAGONAL, UATTN_PLAN_PARAM_TENSOR_MAP,
        UATTN_WARPGROUP_ROWS},
       masks.has_ranker},
      {{UATTN_FORWARD_PARAM_V_DIAGONAL, UATTN_PLAN_PARAM_TENSOR_MAP,
        UATTN_WARPGROUP_ROWS},
       masks.has_ranker},
      {{UATTN_FORWARD_PARAM_LSE, UATTN_PLAN_PARAM_POINTER, 0}, plan->has_lse},
      {{UATTN_FORWARD_PARAM_TEMP, UATTN_PLAN_PARAM_POINTER, 0}, plan->has_temp},
      {{UATTN_FORWARD_PARAM_BOUNDS, UATTN_PLAN_PARAM_POINTER, 0},
       masks.has_ranker},
      {{UATTN_FORWARD_PARAM_Q_SEGMENT_IDS, UATTN_PLAN_PARAM_POINTER, 0},
       masks.has_segments},
      {{UATTN_FORWARD_PARAM_KV_SEGMENT_IDS, UATTN_PLAN_PARAM_POINTER, 0},
       masks.has_segments},
      {{UATTN_FORWARD_PARAM_Q_TOKENS, UATTN_PLAN_PARAM_I32, 0}, true},
      {{UATTN_FORWARD_PARAM_KV_TOKENS, UATTN_PLAN_PARAM_I32, 0}, true},
      {{UATTN_FORWARD_PARAM_Q_HEADS, UATTN_PLAN_PARAM_I32, 0}, true},
      {{UATTN_FORWARD_PARAM_KV_HEADS, UATTN_PLAN_PARAM_I32, 0}, true},
      {{UATTN_FORWARD_PARAM_Q_TILES, UATTN_PLAN_PARAM_I32, 0}, true},
      {{UATTN_FORWARD_PARAM_Q_OFFSET, UATTN_PLAN_PARAM_I32, 0}, has_positions},
      {{UATTN_FORWARD_PARAM_WINDOW_TOKENS, UATTN_PLAN_PARAM_I32, 0},
       masks.has_window},
      {{UATTN_FORWARD_PARAM_PRE_SCALE, UATTN_PLAN_PARAM_F32, 0}, is_capped},
      {{UATTN_FORWARD_PARAM_PRE_BIAS, UATTN_PLAN_PARAM_F32, 0}, is_alsc},
      {{UATTN_FORWARD_PARAM_POST_SCALE, UATTN_PLAN_PARAM_F32, 0}, true},
      {{UATTN_FORWARD_PARAM_LSE_SHIFT, UATTN_PLAN_PARAM_F32, 0},
       is_alsc && plan->has_lse},
  };
  int count = 0;
  for (int i = 0; i < UATTN_FORWARD_PARAM_COUNT; ++i)
    if (all[i].is_present)
      out_params[count++] = all[i].param;
  return count;
}

void uattn_forward_kernel_name(const uattn_forward_plan_t *plan,
                               uattn_string_t *out_name) {
  uattn_string_appendf(out_name, "ranker_attention_fwd_%s_d%d_%s",
                       uattn_dtype_name(plan->dtype), plan->head_dim,
                       uattn_cap_method_name(plan->cap_method));
  if (plan->has_temp)
    uattn_string_appendf(out_name, "_temp_%s",
                         uattn_dtype_name(plan->temp_dtype));
  if (plan->has_lse)
    uattn_string_append(out_name, "_lse");
  if (plan->masks.has_ranker)
    uattn_string_append(out_name, "_ranker");
  if (plan->masks.has_segments)
    uattn_string_append(out_name, "_segments");
  if (plan->masks.is_causal)
    uattn_string_append(out_name, "_causal");
  if (plan->masks.has_window)
    uattn_string_append(out_name, "_window");
}
