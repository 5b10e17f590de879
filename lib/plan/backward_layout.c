/* Shared memory, barriers, threads and parameters of planned backward kernels.
 * Layer: plan. Must not know: how the offsets get into code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

/* A full and an empty mbarrier of 8 bytes. */
enum { SLOT_BARRIER_BYTES = 16, SEGMENT_HULL_BYTES = 32 };

enum { STAGING_BYTES = 64 * 64 * 4, RECORD_BYTES = 4 * UATTN_RECORD_NUMBERS };

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

/* Own keys of candidates in dQ's last kernel: 256 * 128 = 128 * (24 + 232). */
enum { OWN_ENTRY_REGISTERS = 128, OWN_CONSUMER_REGISTERS = 232 };

static void choose_warpgroups(const uattn_backward_plan_t *plan,
                              uattn_backward_kernel_kind_t kind,
                              uattn_backward_layout_t *layout) {
  bool is_rows = kind == UATTN_BACKWARD_ROWS || kind == UATTN_BACKWARD_DTEMP ||
                 kind == UATTN_BACKWARD_FINISH;
  bool has_own = kind == UATTN_BACKWARD_FINISH && plan->masks.has_ranker;
  layout->consumer_warpgroups =
      is_rows ? ROWS_CONSUMERS : plan->consumer_warpgroups;
  layout->entry_registers = has_own   ? OWN_ENTRY_REGISTERS
                            : is_rows ? ROWS_ENTRY_REGISTERS
                                      : plan->entry_registers;
  layout->producer_registers =
      is_rows ? ROWS_PRODUCER_REGISTERS : plan->producer_registers;
  layout->consumer_registers = has_own   ? OWN_CONSUMER_REGISTERS
                               : is_rows ? ROWS_CONSUMER_REGISTERS
                                         : plan->consumer_registers;
  layout->rows_per_cta = UATTN_WARPGROUP_ROWS * layout->consumer_warpgroups;
  layout->threads = UATTN_WARPGROUP_THREADS * (layout->consumer_warpgroups + 1);
}

static int32_t count_stages(const uattn_backward_plan_t *plan,
                            uattn_backward_kernel_kind_t kind) {
  if (kind == UATTN_BACKWARD_ROWS || kind == UATTN_BACKWARD_DTEMP)
    return 0;
  if (kind == UATTN_BACKWARD_FINISH)
    return plan->masks.has_ranker ? 1 : 0;
  return plan->stage_count;
}

/* Behind the rings of tiles: dS and what is added from, then the records. */
static void place_records(const uattn_backward_plan_t *plan, bool is_fused,
                          uattn_backward_layout_t *layout) {
  int32_t ds_bytes = plan->moving_tile_rows * layout->rows_per_cta *
                     (int32_t)uattn_dtype_bytes(plan->dtype);
  layout->ds_offset = layout->total_bytes;
  layout->staging_offset =
      layout->ds_offset + (is_fused ? UATTN_BACKWARD_DS_TILES * ds_bytes : 0);
  layout->records_offset =
      layout->staging_offset +
      (is_fused ? layout->consumer_warpgroups * STAGING_BYTES : 0);
  layout->records_barrier_offset =
      layout->records_offset +
      layout->stage_count * plan->moving_tile_rows * RECORD_BYTES;
  layout->total_bytes =
      layout->records_barrier_offset + layout->stage_count * SLOT_BARRIER_BYTES;
}

uattn_backward_layout_t
uattn_backward_layout(const uattn_backward_plan_t *plan,
                      uattn_backward_kernel_kind_t kind) {
  int32_t row_bytes = plan->head_dim * (int32_t)uattn_dtype_bytes(plan->dtype);
  int32_t stages = count_stages(plan, kind);
  int32_t ring_bytes = stages * plan->moving_tile_rows * row_bytes;
  uattn_backward_layout_t layout = {.stage_count = stages,
                                    .store_barrier_id = FIRST_STORE_BARRIER};
  choose_warpgroups(plan, kind, &layout);
  layout.clear_barrier_id =
      layout.store_barrier_id + layout.consumer_warpgroups;
  layout.ds_barrier_id = layout.clear_barrier_id + 1;
  int32_t tile_bytes = layout.rows_per_cta * row_bytes;
  layout.first_offset = 0;
  layout.second_offset = tile_bytes;
  layout.first_ring_offset = layout.second_offset + tile_bytes;
  layout.second_ring_offset = layout.first_ring_offset + ring_bytes;
  layout.total_bytes = layout.second_ring_offset + ring_bytes;
  if (uattn_backward_keys_stay(kind))
    place_records(plan, kind == UATTN_BACKWARD_FUSED, &layout);
  layout.first_barrier_offset = layout.total_bytes;
  layout.second_barrier_offset =
      layout.first_barrier_offset + SLOT_BARRIER_BYTES;
  layout.first_ring_barrier_offset =
      layout.second_barrier_offset + SLOT_BARRIER_BYTES;
  layout.second_ring_barrier_offset =
      layout.first_ring_barrier_offset + stages * SLOT_BARRIER_BYTES;
  layout.segment_offset =
      layout.second_ring_barrier_offset + stages * SLOT_BARRIER_BYTES;
  bool has_hull =
      plan->masks.has_segments &&
      (uattn_backward_keys_stay(kind) || kind == UATTN_BACKWARD_DQ ||
       (kind == UATTN_BACKWARD_FINISH && plan->masks.has_ranker));
  layout.total_bytes =
      layout.segment_offset + (has_hull ? SEGMENT_HULL_BYTES : 0);
  return layout;
}

/* Which kernels take a parameter: bits by kind. */
enum {
  ROWS = 1 << UATTN_BACKWARD_ROWS,
  FUSED = 1 << UATTN_BACKWARD_FUSED,
  FINISH = 1 << UATTN_BACKWARD_FINISH,
  ONLY_DV = 1 << UATTN_BACKWARD_DV,
  DK = 1 << UATTN_BACKWARD_DKV | 1 << UATTN_BACKWARD_DK | FUSED,
  DV = 1 << UATTN_BACKWARD_DKV | ONLY_DV | FUSED,
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
  if (plan->fuses_dq) {
    out_kinds[count++] = UATTN_BACKWARD_FUSED;
    out_kinds[count++] = UATTN_BACKWARD_FINISH;
    return count;
  }
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
  /* Where keys stay, steps take what rows bring from records; own keys, and
   * rows that stay, from where it lies by rows. */
  int sums = plan->fuses_dq ? ROWS | FUSED | FINISH : 0;
  int own = masks.has_ranker ? FINISH : 0;
  int products = DKV | DQ | own;
  int by_row = masks.has_ranker ? products : DQ;
  int shifts = by_row | (plan->fuses_dq && !masks.has_ranker ? 0 : ROWS);
  int positions =
      masks.has_ranker || masks.is_causal || masks.has_window ? products : 0;
  const struct {
    uattn_backward_param_t what;
    uattn_plan_param_kind_t kind;
    int32_t box_rows;
    int kernels; /* 0: absent */
  } all[UATTN_BACKWARD_PARAM_COUNT] = {
      {UATTN_BACKWARD_PARAM_Q, UATTN_PLAN_PARAM_TENSOR_MAP, q_box, products},
      {UATTN_BACKWARD_PARAM_K, UATTN_PLAN_PARAM_TENSOR_MAP, kv_box, products},
      {UATTN_BACKWARD_PARAM_V, UATTN_PLAN_PARAM_TENSOR_MAP, kv_box,
       products & ~ONLY_DV},
      {UATTN_BACKWARD_PARAM_OUT, UATTN_PLAN_PARAM_TENSOR_MAP, q_box, ROWS},
      {UATTN_BACKWARD_PARAM_DOUT, UATTN_PLAN_PARAM_TENSOR_MAP, q_box,
       ROWS | products},
      {UATTN_BACKWARD_PARAM_DQ, UATTN_PLAN_PARAM_TENSOR_MAP, stored,
       DQ | FINISH},
      {UATTN_BACKWARD_PARAM_DK, UATTN_PLAN_PARAM_TENSOR_MAP, stored, DK},
      {UATTN_BACKWARD_PARAM_DV, UATTN_PLAN_PARAM_TENSOR_MAP, stored, DV},
      {UATTN_BACKWARD_PARAM_LSE, UATTN_PLAN_PARAM_POINTER, 0, ROWS | share},
      {UATTN_BACKWARD_PARAM_DLSE, UATTN_PLAN_PARAM_POINTER, 0,
       plan->has_dlse ? ROWS | share : 0},
      {UATTN_BACKWARD_PARAM_TEMP, UATTN_PLAN_PARAM_POINTER, 0,
       plan->has_temp ? by_row | ROWS : 0},
      {UATTN_BACKWARD_PARAM_BOUNDS, UATTN_PLAN_PARAM_POINTER, 0,
       masks.has_ranker ? ROWS | products : 0},
      {UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS, UATTN_PLAN_PARAM_POINTER, 0,
       masks.has_segments ? products | ROWS : 0},
      {UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS, UATTN_PLAN_PARAM_POINTER, 0,
       masks.has_segments ? products : 0},
      {UATTN_BACKWARD_PARAM_EXPONENT_SHIFT, UATTN_PLAN_PARAM_POINTER, 0,
       shifts},
      {UATTN_BACKWARD_PARAM_GRADIENT_SHIFT, UATTN_PLAN_PARAM_POINTER, 0,
       shifts & ~ONLY_DV},
      {UATTN_BACKWARD_PARAM_DTEMP_SHARE, UATTN_PLAN_PARAM_POINTER, 0,
       share | DTEMP},
      {UATTN_BACKWARD_PARAM_RECORDS, UATTN_PLAN_PARAM_POINTER, 0, ROWS | DKV},
      {UATTN_BACKWARD_PARAM_DQ_SUMS, UATTN_PLAN_PARAM_POINTER, 0, sums},
      {UATTN_BACKWARD_PARAM_DTEMP, UATTN_PLAN_PARAM_POINTER, 0, DTEMP},
      {UATTN_BACKWARD_PARAM_Q_TOKENS, UATTN_PLAN_PARAM_I32, 0,
       ROWS | DKV | DQ | DTEMP | FINISH},
      {UATTN_BACKWARD_PARAM_KV_TOKENS, UATTN_PLAN_PARAM_I32, 0,
       DQ | FUSED | own | (masks.has_segments ? products : 0) |
           (masks.has_ranker ? ROWS | products : 0)},
      {UATTN_BACKWARD_PARAM_Q_HEADS, UATTN_PLAN_PARAM_I32, 0,
       ROWS | DKV | DQ | DTEMP | FINISH},
      {UATTN_BACKWARD_PARAM_KV_HEADS, UATTN_PLAN_PARAM_I32, 0, products},
      {UATTN_BACKWARD_PARAM_TILES, UATTN_PLAN_PARAM_I32, 0,
       ROWS | DKV | DQ | DTEMP | FINISH},
      {UATTN_BACKWARD_PARAM_Q_OFFSET, UATTN_PLAN_PARAM_I32, 0,
       positions | (masks.has_ranker ? ROWS : 0)},
      {UATTN_BACKWARD_PARAM_WINDOW_TOKENS, UATTN_PLAN_PARAM_I32, 0,
       masks.has_window ? products : 0},
      {UATTN_BACKWARD_PARAM_PRE_SCALE, UATTN_PLAN_PARAM_F32, 0,
       is_capped ? products : 0},
      {UATTN_BACKWARD_PARAM_PRE_BIAS, UATTN_PLAN_PARAM_F32, 0,
       is_alsc ? products : 0},
      {UATTN_BACKWARD_PARAM_POST_SCALE, UATTN_PLAN_PARAM_F32, 0, products},
      {UATTN_BACKWARD_PARAM_LSE_SHIFT, UATTN_PLAN_PARAM_F32, 0,
       is_alsc ? ROWS | share : 0},
      {UATTN_BACKWARD_PARAM_Z_LOSS_WEIGHT, UATTN_PLAN_PARAM_F32, 0,
       ROWS | share},
      {UATTN_BACKWARD_PARAM_GRADIENT_SCALE, UATTN_PLAN_PARAM_F32, 0,
       DK | DQ | FINISH},
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
  static const char *const kinds[] = {"rows", "dkv",   "dk",   "dv",
                                      "dq",   "dtemp", "dqkv", "dqsum"};
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
  if (plan->fuses_dq)
    uattn_string_append(out_name, "_fused");
  if (plan->masks.has_ranker)
    uattn_string_append(out_name, "_ranker");
  if (plan->masks.has_segments)
    uattn_string_append(out_name, "_segments");
  if (plan->masks.is_causal)
    uattn_string_append(out_name, "_causal");
  if (plan->masks.has_window)
    uattn_string_append(out_name, "_window");
}
