/* Shared memory, barriers, threads and parameters of planned backward kernels.
 * Layer: plan. Must not know: how the offsets get into code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

/* A full and an empty mbarrier of 8 bytes. */
enum { SLOT_BARRIER_BYTES = 16, SEGMENT_HULL_BYTES = 32 };

/* Barrier 0 is the CTA's own (bar.sync 0). */
enum { FIRST_STORE_BARRIER = 1 };

/* Row data: one consumer, so that several CTAs fit an SM and hide each other's
 * latency. 256 * 64 = 128 * (24 + 104) registers. */
enum {
  ROWS_CONSUMERS = 1,
  ROWS_ENTRY_REGISTERS = 64,
  ROWS_PRODUCER_REGISTERS = 24,
  ROWS_CONSUMER_REGISTERS = 104
};

uattn_backward_layout_t
uattn_backward_layout(const uattn_backward_plan_t *plan,
                      uattn_backward_kernel_kind_t kind) {
  bool is_rows = kind == UATTN_BACKWARD_ROWS || kind == UATTN_BACKWARD_DTEMP;
  int32_t row_bytes = plan->head_dim * (int32_t)uattn_dtype_bytes(plan->dtype);
  int32_t stages = is_rows ? 0 : plan->stage_count;
  int32_t ring_bytes = stages * plan->moving_tile_rows * row_bytes;
  uattn_backward_layout_t layout = {
      .consumer_warpgroups =
          is_rows ? ROWS_CONSUMERS : plan->consumer_warpgroups,
      .entry_registers = is_rows ? ROWS_ENTRY_REGISTERS : plan->entry_registers,
      .producer_registers =
          is_rows ? ROWS_PRODUCER_REGISTERS : plan->producer_registers,
      .consumer_registers =
          is_rows ? ROWS_CONSUMER_REGISTERS : plan->consumer_registers,
      .store_barrier_id = FIRST_STORE_BARRIER};
  layout.clear_barrier_id =
      layout.store_barrier_id + layout.consumer_warpgroups;
  layout.rows_per_cta = UATTN_WARPGROUP_ROWS * layout.consumer_warpgroups;
  layout.threads = UATTN_WARPGROUP_THREADS * (layout.consumer_warpgroups + 1);
  int32_t tile_bytes = layout.rows_per_cta * row_bytes;
  layout.first_offset = 0;
  layout.second_offset = tile_bytes;
  layout.first_ring_offset = layout.second_offset + tile_bytes;
  layout.second_ring_offset = layout.first_ring_offset + ring_bytes;
  layout.first_barrier_offset = layout.second_ring_offset + ring_bytes;
  layout.second_barrier_offset =
      layout.first_barrier_offset + SLOT_BARRIER_BYTES;
  layout.first_ring_barrier_offset =
      layout.second_barrier_offset + SLOT_BARRIER_BYTES;
  layout.second_ring_barrier_offset =
      layout.first_ring_barrier_offset + stages * SLOT_BARRIER_BYTES;
  layout.segment_offset =
      layout.second_ring_barrier_offset + stages * SLOT_BARRIER_BYTES;
  bool has_hull = kind == UATTN_BACKWARD_DQ && plan->masks.has_segments;
  layout.total_bytes =
      layout.segment_offset + (has_hull ? SEGMENT_HULL_BYTES : 0);
  return layout;
}

/* Which kernels take a parameter: bits by kind. */
enum {
  ROWS = 1 << UATTN_BACKWARD_ROWS,
  DK = 1 << UATTN_BACKWARD_DKV | 1 << UATTN_BACKWARD_DK,
  DV = 1 << UATTN_BACKWARD_DKV | 1 << UATTN_BACKWARD_DV,
  DKV = DK | DV,
  DQ = 1 << UATTN_BACKWARD_DQ,
  DTEMP = 1 << UATTN_BACKWARD_DTEMP
};

/* dK and dV of 64 rows, the products of 64 x 64 and their 16-bit forms take 3 D
 * / 2 + 96 registers a thread: with D 128 they just fit, and spill with what
 * some masks, temp and alsc add. */
enum { LARGEST_HEAD_DIM_OF_DKV = 128 };

int32_t uattn_backward_kernels(
    const uattn_backward_plan_t *plan,
    uattn_backward_kernel_kind_t out_kinds[UATTN_BACKWARD_KERNEL_COUNT]) {
  int32_t count = 0;
  out_kinds[count++] = UATTN_BACKWARD_ROWS;
  if (plan->head_dim <= LARGEST_HEAD_DIM_OF_DKV) {
    out_kinds[count++] = UATTN_BACKWARD_DKV;
  } else {
    out_kinds[count++] = UATTN_BACKWARD_DK;
    out_kinds[count++] = UATTN_BACKWARD_DV;
  }
  out_kinds[count++] = UATTN_BACKWARD_DQ;
  if (plan->has_dtemp)
    out_kinds[count++] = UATTN_BACKWARD_DTEMP;
  return count;
}

int uattn_backward_params(const uattn_backward_plan_t *plan,
                          uattn_backward_kernel_kind_t kind,
                          uattn_plan_param_t *out_params) {
  int32_t staying = uattn_backward_layout(plan, kind).rows_per_cta;
  int32_t moving = plan->moving_tile_rows;
  int32_t q_box = uattn_backward_keys_stay(kind) ? moving : staying;
  int32_t kv_box = uattn_backward_keys_stay(kind) ? staying : moving;
  int32_t stored = UATTN_WARPGROUP_ROWS;
  bool is_alsc = plan->cap_method == UATTN_CAP_ALSC;
  bool is_capped = plan->cap_method != UATTN_CAP_NONE;
  uattn_mask_kinds_t masks = plan->masks;
  int share = plan->has_dtemp ? DQ : 0;
  int segments = masks.has_segments ? DKV | DQ : 0;
  int positions =
      masks.has_ranker || masks.is_causal || masks.has_window ? DKV | DQ : 0;
  const struct {
    uattn_backward_param_t what;
    uattn_plan_param_kind_t kind;
    int32_t box_rows;
    int kernels; /* 0: absent */
  } all[UATTN_BACKWARD_PARAM_COUNT] = {
      {UATTN_BACKWARD_PARAM_Q, UATTN_PLAN_PARAM_TENSOR_MAP, q_box, DKV | DQ},
      {UATTN_BACKWARD_PARAM_K, UATTN_PLAN_PARAM_TENSOR_MAP, kv_box, DKV | DQ},
      {UATTN_BACKWARD_PARAM_V, UATTN_PLAN_PARAM_TENSOR_MAP, kv_box, DKV | DQ},
      {UATTN_BACKWARD_PARAM_OUT, UATTN_PLAN_PARAM_TENSOR_MAP, q_box, ROWS},
      {UATTN_BACKWARD_PARAM_DOUT, UATTN_PLAN_PARAM_TENSOR_MAP, q_box,
       ROWS | DKV | DQ},
      {UATTN_BACKWARD_PARAM_DQ, UATTN_PLAN_PARAM_TENSOR_MAP, stored, DQ},
      {UATTN_BACKWARD_PARAM_DK, UATTN_PLAN_PARAM_TENSOR_MAP, stored, DK},
      {UATTN_BACKWARD_PARAM_DV, UATTN_PLAN_PARAM_TENSOR_MAP, stored, DV},
      {UATTN_BACKWARD_PARAM_LSE, UATTN_PLAN_PARAM_POINTER, 0, ROWS | share},
      {UATTN_BACKWARD_PARAM_DLSE, UATTN_PLAN_PARAM_POINTER, 0,
       plan->has_dlse ? ROWS | share : 0},
      {UATTN_BACKWARD_PARAM_TEMP, UATTN_PLAN_PARAM_POINTER, 0,
       plan->has_temp ? DKV | DQ | (is_alsc ? ROWS : 0) : 0},
      {UATTN_BACKWARD_PARAM_BOUNDS, UATTN_PLAN_PARAM_POINTER, 0,
       masks.has_ranker ? DKV | DQ : 0},
      {UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS, UATTN_PLAN_PARAM_POINTER, 0,
       segments},
      {UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS, UATTN_PLAN_PARAM_POINTER, 0,
       segments},
      {UATTN_BACKWARD_PARAM_EXPONENT_SHIFT, UATTN_PLAN_PARAM_POINTER, 0,
       ROWS | DKV | DQ},
      {UATTN_BACKWARD_PARAM_GRADIENT_SHIFT, UATTN_PLAN_PARAM_POINTER, 0,
       ROWS | DK | DQ},
      {UATTN_BACKWARD_PARAM_DTEMP_SHARE, UATTN_PLAN_PARAM_POINTER, 0,
       share | DTEMP},
      {UATTN_BACKWARD_PARAM_DTEMP, UATTN_PLAN_PARAM_POINTER, 0, DTEMP},
      {UATTN_BACKWARD_PARAM_Q_TOKENS, UATTN_PLAN_PARAM_I32, 0,
       ROWS | DKV | DQ | DTEMP},
      {UATTN_BACKWARD_PARAM_KV_TOKENS, UATTN_PLAN_PARAM_I32, 0, DQ | segments},
      {UATTN_BACKWARD_PARAM_Q_HEADS, UATTN_PLAN_PARAM_I32, 0,
       ROWS | DKV | DQ | DTEMP},
      {UATTN_BACKWARD_PARAM_KV_HEADS, UATTN_PLAN_PARAM_I32, 0, DKV | DQ},
      {UATTN_BACKWARD_PARAM_TILES, UATTN_PLAN_PARAM_I32, 0,
       ROWS | DKV | DQ | DTEMP},
      {UATTN_BACKWARD_PARAM_Q_OFFSET, UATTN_PLAN_PARAM_I32, 0, positions},
      {UATTN_BACKWARD_PARAM_WINDOW_TOKENS, UATTN_PLAN_PARAM_I32, 0,
       masks.has_window ? DKV | DQ : 0},
      {UATTN_BACKWARD_PARAM_PRE_SCALE, UATTN_PLAN_PARAM_F32, 0,
       is_capped ? DKV | DQ : 0},
      {UATTN_BACKWARD_PARAM_PRE_BIAS, UATTN_PLAN_PARAM_F32, 0,
       is_alsc ? DKV | DQ : 0},
      {UATTN_BACKWARD_PARAM_POST_SCALE, UATTN_PLAN_PARAM_F32, 0, DKV | DQ},
      {UATTN_BACKWARD_PARAM_LSE_SHIFT, UATTN_PLAN_PARAM_F32, 0,
       is_alsc ? ROWS | share : 0},
      {UATTN_BACKWARD_PARAM_Z_LOSS_WEIGHT, UATTN_PLAN_PARAM_F32, 0,
       ROWS | share},
      {UATTN_BACKWARD_PARAM_GRADIENT_SCALE, UATTN_PLAN_PARAM_F32, 0, DK | DQ},
  };
  int count = 0;
  for (int i = 0; i < UATTN_BACKWARD_PARAM_COUNT; ++i)
    if (all[i].kernels >> kind & 1)
      out_params[count++] = (uattn_plan_param_t){(int32_t)all[i].what,
                                                 all[i].kind, all[i].box_rows};
  return count;
}

void uattn_backward_kernel_name(const uattn_backward_plan_t *plan,
                                uattn_backward_kernel_kind_t kind,
                                uattn_string_t *out_name) {
  static const char *const kinds[] = {"rows", "dkv", "dk", "dv", "dq", "dtemp"};
  uattn_string_appendf(out_name, "ranker_attention_bwd_%s_%s_d%d_%s",
                       kinds[kind], uattn_dtype_name(plan->dtype),
                       plan->head_dim, uattn_cap_method_name(plan->cap_method));
  if (plan->has_temp)
    uattn_string_appendf(out_name, "_temp_%s",
                         uattn_dtype_name(plan->temp_dtype));
  if (plan->has_dlse)
    uattn_string_append(out_name, "_dlse");
  if (plan->has_dtemp)
    uattn_string_append(out_name, "_dtemp");
  if (plan->masks.has_ranker)
    uattn_string_append(out_name, "_ranker");
  if (plan->masks.has_segments)
    uattn_string_append(out_name, "_segments");
  if (plan->masks.is_causal)
    uattn_string_append(out_name, "_causal");
  if (plan->masks.has_window)
    uattn_string_append(out_name, "_window");
}
