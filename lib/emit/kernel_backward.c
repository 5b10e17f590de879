/* The backward kernels at the pipeline level: functions, rings, producers.
 * Layer: emit. Must not know: attributes of the op level, how tiles are
 * distributed to threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * With t = temp cap(s), p = exp(t - lse) and e = z_loss_weight lse + dlse:
 *
 *   rows   backward_rows.c: of every row of q
 *            exponent shift = -log2(e) (lse - what cap leaves out)
 *            gradient shift = -(<out, dout> - e)
 *          in records, which come beside Q where keys stay
 *   dkv    backward_products.c: a CTA has 64 C rows of K and V
 *            producer: load K, V; for every tile of Q and dout: load both
 *            consumer c of C (64 rows each):
 *              for every tile:
 *                S = K Q^T   dP = V dout^T
 *                P = 2^(... + exponent shift)
 *                dS = P (dP + gradient shift)
 *                dV += P dout   dK += dS Q
 *
 *   dq     backward_products.c: a CTA has 64 C rows of Q and dout
 *            the same with K and V moving past:
 *                S = Q K^T   dP = dout V^T
 *                dQ += dS K
 *
 *   fused  backward_fused.c: dkv, where each consumer besides does its part of
 *            dQ = dS K
 *          and adds it to sums in global memory, which rows has cleared
 *   finish backward_fused.c: dQ from its sums
 *
 * Rows past the end of a tensor come as zeros. They leave sums alone as long as
 * no exponent overflows: columns past the end are masked where one could.
 *
 *   barrier           count  arrives                  waits
 *   staying full  x2  1      producer (expect_tx)     consumers
 *   moving full   x s 1      producer (expect_tx)     consumers
 *   moving empty  x s 4 C    lane 0 of consumer warps producer
 *   store c           128    consumer c               c: a gradient is staged
 *   clear             128 C  all consumers            all: dead rows are zeros
 *   records       x s as moving
 *   ds                128 C  all consumers            all: dS is there
 */
#include "emit/kernel_backward.h"

#include "dialect/dialect.h"
#include "emit/clamp_bounds.h"
#include "emit/emit.h"

enum { WARPS_PER_WARPGROUP = 4 };
enum { ROLE_PRODUCER = 0, ROLE_CONSUMER = 1, ROLE_COUNT = 2 };

static uattn_dtype_t pointer_dtype(const uattn_backward_plan_t *plan,
                                   int32_t what) {
  switch (what) {
  case UATTN_BACKWARD_PARAM_TEMP:
    return plan->temp_dtype;
  case UATTN_BACKWARD_PARAM_BOUNDS:
  case UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS:
  case UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS:
    return UATTN_DTYPE_I32;
  default:
    return UATTN_DTYPE_F32;
  }
}

/* ---- Place ------------------------------------------------------------------
 */

/* Tile fastest, then head, then batch. */
static void emit_place(const uattn_builder_t *b,
                       uattn_backward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  MlirValue tiles = params[UATTN_BACKWARD_PARAM_TILES];
  MlirValue heads = params[uattn_backward_keys_stay(kernel->kind)
                               ? UATTN_BACKWARD_PARAM_KV_HEADS
                               : UATTN_BACKWARD_PARAM_Q_HEADS];
  MlirValue cta = uattn_emit_cta_index(b);
  MlirValue tile = uattn_binary(b, "arith.remui", cta, tiles);
  MlirValue rest = uattn_binary(b, "arith.divui", cta, tiles);
  kernel->head = uattn_binary(b, "arith.remui", rest, heads);
  kernel->batch = uattn_binary(b, "arith.divui", rest, heads);
  kernel->first_row =
      uattn_binary(b, "arith.muli", tile,
                   uattn_constant_i32(b, kernel->layout.rows_per_cta));
}

/* dQ's own keys are the forward's. */
static bool has_forward(const uattn_backward_kernel_t *kernel) {
  return kernel->kind == UATTN_BACKWARD_DQ ||
         (kernel->kind == UATTN_BACKWARD_FINISH &&
          kernel->plan->masks.has_ranker);
}

/* dq: what the forward says of the CTA's rows of q. */
static void emit_forward_place(const uattn_builder_t *b,
                               uattn_backward_kernel_t *kernel) {
  static const struct {
    uattn_forward_param_t forward;
    uattn_backward_param_t backward;
  } shared[] = {
      {UATTN_FORWARD_PARAM_K_DIAGONAL, UATTN_BACKWARD_PARAM_K},
      {UATTN_FORWARD_PARAM_V_DIAGONAL, UATTN_BACKWARD_PARAM_V},
      {UATTN_FORWARD_PARAM_BOUNDS, UATTN_BACKWARD_PARAM_BOUNDS},
      {UATTN_FORWARD_PARAM_Q_SEGMENT_IDS, UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS},
      {UATTN_FORWARD_PARAM_KV_SEGMENT_IDS, UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS},
      {UATTN_FORWARD_PARAM_Q_TOKENS, UATTN_BACKWARD_PARAM_Q_TOKENS},
      {UATTN_FORWARD_PARAM_KV_TOKENS, UATTN_BACKWARD_PARAM_KV_TOKENS},
      {UATTN_FORWARD_PARAM_Q_HEADS, UATTN_BACKWARD_PARAM_Q_HEADS},
      {UATTN_FORWARD_PARAM_KV_HEADS, UATTN_BACKWARD_PARAM_KV_HEADS},
      {UATTN_FORWARD_PARAM_Q_TILES, UATTN_BACKWARD_PARAM_TILES},
      {UATTN_FORWARD_PARAM_Q_OFFSET, UATTN_BACKWARD_PARAM_Q_OFFSET},
      {UATTN_FORWARD_PARAM_WINDOW_TOKENS, UATTN_BACKWARD_PARAM_WINDOW_TOKENS},
  };
  const uattn_backward_plan_t *plan = kernel->plan;
  kernel->forward_plan = (uattn_forward_plan_t){
      .dtype = plan->dtype,
      .head_dim = plan->head_dim,
      .masks = plan->masks,
      .consumer_warpgroups = kernel->layout.consumer_warpgroups,
      .kv_tile_rows = plan->moving_tile_rows};
  uattn_forward_kernel_t *forward = &kernel->forward;
  *forward = (uattn_forward_kernel_t){
      .plan = &kernel->forward_plan,
      .layout = {.q_tile_rows = kernel->layout.rows_per_cta,
                 .threads = kernel->layout.threads,
                 .segment_offset = kernel->layout.segment_offset},
      .zero = kernel->zero,
      .one = kernel->one};
  for (size_t i = 0; i < sizeof shared / sizeof *shared; ++i)
    forward->params[shared[i].forward] = kernel->params[shared[i].backward];
  uattn_forward_emit_place(b, forward);
  kernel->head = forward->head;
  kernel->batch = forward->batch;
  kernel->first_row = forward->cta_row;
  kernel->steps = kernel->kind == UATTN_BACKWARD_FINISH ? kernel->zero
                                                        : forward->keys.steps;
}

static MlirValue group_heads(const uattn_builder_t *b,
                             const uattn_backward_kernel_t *kernel) {
  return uattn_binary(b, "arith.divui",
                      kernel->params[UATTN_BACKWARD_PARAM_Q_HEADS],
                      kernel->params[UATTN_BACKWARD_PARAM_KV_HEADS]);
}

static MlirValue load_bound(const uattn_builder_t *b,
                            const uattn_backward_kernel_t *kernel,
                            int32_t index) {
  MlirValue batch =
      uattn_cast(b, "arith.extui", kernel->batch, uattn_type_i64(b));
  MlirValue offset = uattn_binary(
      b, "arith.addi",
      uattn_binary(b, "arith.muli", batch, uattn_constant_i64(b, 4)),
      uattn_constant_i64(b, index));
  return uattn_emit_scalar_load(b, kernel->params[UATTN_BACKWARD_PARAM_BOUNDS],
                                offset);
}

static void emit_bounds(const uattn_builder_t *b,
                        uattn_backward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_positions_t positions = {
      .q_tokens = params[UATTN_BACKWARD_PARAM_Q_TOKENS],
      .kv_tokens = params[UATTN_BACKWARD_PARAM_KV_TOKENS],
      .q_offset = params[UATTN_BACKWARD_PARAM_Q_OFFSET],
  };
  kernel->history_lower = load_bound(b, kernel, 0);
  kernel->history_upper = load_bound(b, kernel, 1);
  kernel->candidate_lower = load_bound(b, kernel, 2);
  kernel->candidate_upper = load_bound(b, kernel, 3);
  uattn_emit_clamp_range(b, &positions, &kernel->history_lower,
                         &kernel->history_upper);
  uattn_emit_clamp_range(b, &positions, &kernel->candidate_lower,
                         &kernel->candidate_upper);
}

/* Half-open ranges of i32. */
typedef struct {
  MlirValue begin;
  MlirValue end;
} range_t;

static MlirValue is_filled(const uattn_builder_t *b, range_t range) {
  return uattn_compare_i(b, UATTN_CMPI_SLT, range.begin, range.end);
}

static range_t intersect(const uattn_builder_t *b, range_t x, range_t y) {
  return (range_t){uattn_binary(b, "arith.maxsi", x.begin, y.begin),
                   uattn_binary(b, "arith.minsi", x.end, y.end)};
}

static range_t shift_range(const uattn_builder_t *b, range_t range,
                           MlirValue by) {
  return (range_t){uattn_binary(b, "arith.subi", range.begin, by),
                   uattn_binary(b, "arith.subi", range.end, by)};
}

static range_t select_range(const uattn_builder_t *b, MlirValue condition,
                            range_t x, range_t y) {
  return (range_t){uattn_select(b, condition, x.begin, y.begin),
                   uattn_select(b, condition, x.end, y.end)};
}

/* ceil(max(0, end - begin) / moving_tile_rows) */
static MlirValue count_tiles(const uattn_builder_t *b,
                             const uattn_backward_kernel_t *kernel,
                             range_t range) {
  int32_t rows = kernel->plan->moving_tile_rows;
  MlirValue count = uattn_binary(
      b, "arith.maxsi", uattn_binary(b, "arith.subi", range.end, range.begin),
      kernel->zero);
  return uattn_binary(
      b, "arith.divui",
      uattn_binary(b, "arith.addi", count, uattn_constant_i32(b, rows - 1)),
      uattn_constant_i32(b, rows));
}

/* dkv: rows of q that see one of the CTA's keys at positions [j, j + n) lie in
 * [j - q_offset, q_tokens) with the causal mask, and before j + n - 1 + window
 * - q_offset with the window. */
static range_t seen_rows(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  range_t range = {kernel->zero, params[UATTN_BACKWARD_PARAM_Q_TOKENS]};
  MlirValue first = {NULL};
  if (masks.is_causal || masks.has_window)
    first = uattn_binary(b, "arith.subi", kernel->first_row,
                         params[UATTN_BACKWARD_PARAM_Q_OFFSET]);
  if (masks.is_causal)
    range.begin = uattn_binary(b, "arith.maxsi", first, range.begin);
  if (masks.has_window) {
    MlirValue last =
        uattn_binary(b, "arith.addi", first,
                     uattn_constant_i32(b, kernel->layout.rows_per_cta - 1));
    MlirValue window = params[UATTN_BACKWARD_PARAM_WINDOW_TOKENS];
    range.end = uattn_binary(b, "arith.minsi", range.end,
                             uattn_binary(b, "arith.addi", last, window));
  }
  return range;
}

/* dkv with the ranker mask: history keys are seen by the history's and the
 * candidates' rows of q, which may be one range, candidates by their own row.
 */
static void emit_live_rows(const uattn_builder_t *b,
                           uattn_backward_kernel_t *kernel, range_t seen) {
  MlirValue q_offset = kernel->params[UATTN_BACKWARD_PARAM_Q_OFFSET];
  range_t history = {kernel->history_lower, kernel->history_upper};
  range_t candidates = {kernel->candidate_lower, kernel->candidate_upper};
  range_t keys = {
      kernel->first_row,
      uattn_binary(b, "arith.addi", kernel->first_row,
                   uattn_constant_i32(b, kernel->layout.rows_per_cta))};
  range_t none = {kernel->zero, kernel->zero};
  range_t both = {
      uattn_binary(b, "arith.minsi", history.begin, candidates.begin),
      uattn_binary(b, "arith.maxsi", history.end, candidates.end)};
  range_t common = intersect(b, history, candidates);
  MlirValue is_one = uattn_binary(
      b, "arith.andi",
      uattn_binary(b, "arith.andi", is_filled(b, history),
                   is_filled(b, candidates)),
      uattn_compare_i(b, UATTN_CMPI_SLE, common.begin, common.end));
  MlirValue has_history = is_filled(b, intersect(b, history, keys));
  range_t ranges[2] = {select_range(b, is_one, both, history),
                       select_range(b, is_one, none, candidates)};
  MlirValue tiles[2];
  for (int i = 0; i < 2; ++i) {
    range_t rows = intersect(b, shift_range(b, ranges[i], q_offset), seen);
    kernel->moving_begin[i] = rows.begin;
    kernel->moving_end[i] = rows.end;
    tiles[i] = uattn_select(b, has_history, count_tiles(b, kernel, rows),
                            kernel->zero);
  }
  kernel->first_tiles = tiles[0];
  kernel->moving_tiles = uattn_binary(b, "arith.addi", tiles[0], tiles[1]);
  MlirValue own =
      uattn_binary(b, "arith.muli", group_heads(b, kernel),
                   uattn_constant_i32(b, kernel->plan->consumer_warpgroups));
  kernel->own_steps = uattn_select(
      b, is_filled(b, intersect(b, candidates, keys)), own, kernel->zero);
}

/* With segments: the rows that enclose those whose id lies between the CTA's
 * least and largest. */
static range_t narrow_to_segments(const uattn_builder_t *b,
                                  const uattn_backward_kernel_t *kernel,
                                  range_t seen) {
  const MlirValue *params = kernel->params;
  if (!kernel->plan->masks.has_segments)
    return seen;
  uattn_segment_search_t search = {
      .q_ids = params[UATTN_BACKWARD_PARAM_KV_SEGMENT_IDS],
      .q_offset = uattn_backward_token_offset(b, kernel,
                                              UATTN_BACKWARD_PARAM_KV_TOKENS),
      .first_row = kernel->first_row,
      .q_tokens = params[UATTN_BACKWARD_PARAM_KV_TOKENS],
      .kv_ids = params[UATTN_BACKWARD_PARAM_Q_SEGMENT_IDS],
      .kv_offset =
          uattn_backward_token_offset(b, kernel, UATTN_BACKWARD_PARAM_Q_TOKENS),
      .begin = seen.begin,
      .end = seen.end,
      .rows = kernel->layout.rows_per_cta,
      .threads = kernel->layout.threads,
      .smem_offset = kernel->layout.segment_offset,
  };
  MlirValue is_uniform;
  uattn_emit_segment_hull(b, &search, &seen.begin, &seen.end, &is_uniform);
  /* Without such a row the two may be so far apart that a difference overflows.
   */
  range_t none = {kernel->zero, kernel->zero};
  return select_range(b, is_filled(b, seen), seen, none);
}

static void emit_moving_rows(const uattn_builder_t *b,
                             uattn_backward_kernel_t *kernel) {
  range_t seen = narrow_to_segments(b, kernel, seen_rows(b, kernel));
  if (kernel->plan->masks.has_ranker) {
    emit_live_rows(b, kernel, seen);
  } else {
    kernel->moving_begin[0] = seen.begin;
    kernel->moving_tiles = count_tiles(b, kernel, seen);
  }
  kernel->steps = uattn_binary(b, "arith.muli", group_heads(b, kernel),
                               kernel->moving_tiles);
}

MlirValue uattn_backward_emit_ring_step(const uattn_builder_t *b,
                                        const uattn_backward_kernel_t *kernel,
                                        MlirValue step) {
  bool is_later =
      kernel->kind == UATTN_BACKWARD_DQ && kernel->plan->masks.has_ranker;
  return is_later
             ? uattn_binary(b, "arith.addi", kernel->forward.ring_offset, step)
             : step;
}

/* The first query head of a KV head's group. */
static MlirValue first_head(const uattn_builder_t *b,
                            const uattn_backward_kernel_t *kernel) {
  return uattn_binary(b, "arith.muli", kernel->head, group_heads(b, kernel));
}

uattn_tile_place_t
uattn_backward_emit_own_place(const uattn_builder_t *b,
                              const uattn_backward_kernel_t *kernel,
                              MlirValue step) {
  MlirValue consumers =
      uattn_constant_i32(b, kernel->plan->consumer_warpgroups);
  MlirValue head =
      uattn_binary(b, "arith.addi", first_head(b, kernel),
                   uattn_binary(b, "arith.divui", step, consumers));
  MlirValue in_cta = uattn_binary(
      b, "arith.muli", uattn_binary(b, "arith.remui", step, consumers),
      uattn_constant_i32(b, UATTN_WARPGROUP_ROWS));
  MlirValue position = uattn_binary(b, "arith.addi", kernel->first_row, in_cta);
  return (uattn_tile_place_t){
      head,
      uattn_binary(b, "arith.subi", position,
                   kernel->params[UATTN_BACKWARD_PARAM_Q_OFFSET]),
      kernel->batch};
}

uattn_backward_step_t
uattn_backward_emit_step(const uattn_builder_t *b,
                         const uattn_backward_kernel_t *kernel,
                         MlirValue step) {
  if (kernel->kind == UATTN_BACKWARD_DQ)
    return (uattn_backward_step_t){
        {kernel->forward.kv_head,
         uattn_forward_emit_first_key(b, &kernel->forward, step),
         kernel->batch},
        kernel->head,
        {NULL}};
  MlirValue rows = uattn_constant_i32(b, kernel->plan->moving_tile_rows);
  MlirValue head =
      uattn_binary(b, "arith.addi", first_head(b, kernel),
                   uattn_binary(b, "arith.divui", step, kernel->moving_tiles));
  MlirValue tile = uattn_binary(b, "arith.remui", step, kernel->moving_tiles);
  MlirValue begin = kernel->moving_begin[0];
  MlirValue end = kernel->params[UATTN_BACKWARD_PARAM_Q_TOKENS];
  if (kernel->plan->masks.has_ranker) {
    MlirValue is_first =
        uattn_compare_i(b, UATTN_CMPI_SLT, tile, kernel->first_tiles);
    begin = uattn_select(b, is_first, begin, kernel->moving_begin[1]);
    end =
        uattn_select(b, is_first, kernel->moving_end[0], kernel->moving_end[1]);
    tile =
        uattn_select(b, is_first, tile,
                     uattn_binary(b, "arith.subi", tile, kernel->first_tiles));
  }
  MlirValue row = uattn_binary(b, "arith.addi", begin,
                               uattn_binary(b, "arith.muli", tile, rows));
  return (uattn_backward_step_t){{head, row, kernel->batch}, head, end};
}

MlirValue uattn_backward_own_row(const uattn_builder_t *b,
                                 const uattn_backward_kernel_t *kernel) {
  return uattn_binary(b, "arith.addi", kernel->first_row,
                      uattn_binary_i32(b, "arith.muli", kernel->index_in_role,
                                       UATTN_WARPGROUP_ROWS));
}

MlirValue uattn_backward_store_barrier(const uattn_builder_t *b,
                                       const uattn_backward_kernel_t *kernel) {
  return uattn_binary_i32(b, "arith.addi", kernel->index_in_role,
                          kernel->layout.store_barrier_id);
}

static MlirValue heads_before(const uattn_builder_t *b,
                              const uattn_backward_kernel_t *kernel,
                              MlirValue q_head) {
  return uattn_binary(
      b, "arith.addi",
      uattn_binary(b, "arith.muli", kernel->batch,
                   kernel->params[UATTN_BACKWARD_PARAM_Q_HEADS]),
      q_head);
}

MlirValue uattn_backward_emit_row_offset(const uattn_builder_t *b,
                                         const uattn_backward_kernel_t *kernel,
                                         MlirValue q_head) {
  const MlirValue *params = kernel->params;
  MlirType i64 = uattn_type_i64(b);
  return uattn_binary(
      b, "arith.muli",
      uattn_cast(b, "arith.extui", heads_before(b, kernel, q_head), i64),
      uattn_cast(b, "arith.extui", params[UATTN_BACKWARD_PARAM_Q_TOKENS], i64));
}

MlirValue
uattn_backward_emit_record_offset(const uattn_builder_t *b,
                                  const uattn_backward_kernel_t *kernel,
                                  MlirValue q_head, MlirValue first_row) {
  const MlirValue *params = kernel->params;
  MlirType i64 = uattn_type_i64(b);
  MlirValue tile = uattn_constant_i32(b, UATTN_WARPGROUP_ROWS);
  MlirValue last =
      uattn_binary(b, "arith.addi", params[UATTN_BACKWARD_PARAM_Q_TOKENS],
                   uattn_constant_i32(b, UATTN_WARPGROUP_ROWS - 1));
  MlirValue tiles = uattn_binary(
      b, "arith.addi", uattn_binary(b, "arith.divui", last, tile), kernel->one);
  MlirValue rows = uattn_binary(
      b, "arith.muli",
      uattn_cast(b, "arith.extui", heads_before(b, kernel, q_head), i64),
      uattn_cast(b, "arith.extui", uattn_binary(b, "arith.muli", tiles, tile),
                 i64));
  return uattn_binary(
      b, "arith.muli",
      uattn_binary(b, "arith.addi", rows,
                   uattn_cast(b, "arith.extui", first_row, i64)),
      uattn_constant_i64(b, UATTN_RECORD_NUMBERS));
}

/* ---- Tiles ------------------------------------------------------------------
 */

static bool has_rings(const uattn_backward_kernel_t *kernel) {
  return uattn_backward_keys_stay(kernel->kind) || has_forward(kernel);
}

static bool has_tiles(const uattn_backward_kernel_t *kernel) {
  return has_rings(kernel) || kernel->kind == UATTN_BACKWARD_ROWS;
}

static void emit_tiles(const uattn_builder_t *b,
                       uattn_backward_kernel_t *kernel) {
  const uattn_backward_plan_t *plan = kernel->plan;
  const uattn_backward_layout_t *layout = &kernel->layout;
  MlirType element = uattn_emit_element_type(b, plan->dtype);
  uattn_ring_description_t ring = {
      .tile = uattn_type_vector2(element, layout->rows_per_cta, plan->head_dim),
      .stage_count = 1,
      .smem_offset = layout->first_offset,
      .barrier_offset = layout->first_barrier_offset,
      .consumer_warps = WARPS_PER_WARPGROUP * layout->consumer_warpgroups,
  };
  kernel->first_tile = uattn_emit_ring_alloc(b, &ring);
  ring.smem_offset = layout->second_offset;
  ring.barrier_offset = layout->second_barrier_offset;
  kernel->second_tile = uattn_emit_ring_alloc(b, &ring);
  if (!has_rings(kernel))
    return;
  ring.tile =
      uattn_type_vector2(element, plan->moving_tile_rows, plan->head_dim);
  ring.stage_count = layout->stage_count;
  ring.smem_offset = layout->first_ring_offset;
  ring.barrier_offset = layout->first_ring_barrier_offset;
  kernel->first_ring = uattn_emit_ring_alloc(b, &ring);
  ring.smem_offset = layout->second_ring_offset;
  ring.barrier_offset = layout->second_ring_barrier_offset;
  kernel->second_ring = uattn_emit_ring_alloc(b, &ring);
  kernel->forward.k_ring = kernel->first_ring;
  kernel->forward.v_ring = kernel->second_ring;
  if (!uattn_backward_keys_stay(kernel->kind))
    return;
  ring.tile = uattn_type_vector2(uattn_type_f32(b), plan->moving_tile_rows,
                                 UATTN_RECORD_NUMBERS);
  ring.smem_offset = layout->records_offset;
  ring.barrier_offset = layout->records_barrier_offset;
  kernel->records_ring = uattn_emit_ring_alloc(b, &ring);
}

/* The tensors of the tiles that stay, then of those that move past. */
typedef struct {
  uattn_backward_param_t staying[2];
  uattn_backward_param_t moving[2];
} operands_t;

static operands_t operands_of(uattn_backward_kernel_kind_t kind) {
  static const operands_t of_rows = {
      {UATTN_BACKWARD_PARAM_OUT, UATTN_BACKWARD_PARAM_DOUT}, {0, 0}};
  static const operands_t of_keys = {
      {UATTN_BACKWARD_PARAM_K, UATTN_BACKWARD_PARAM_V},
      {UATTN_BACKWARD_PARAM_Q, UATTN_BACKWARD_PARAM_DOUT}};
  static const operands_t of_queries = {
      {UATTN_BACKWARD_PARAM_Q, UATTN_BACKWARD_PARAM_DOUT},
      {UATTN_BACKWARD_PARAM_K, UATTN_BACKWARD_PARAM_V}};
  if (kind == UATTN_BACKWARD_ROWS)
    return of_rows;
  return uattn_backward_keys_stay(kind) ? of_keys : of_queries;
}

static void emit_moving_loads(const uattn_builder_t *b,
                              const uattn_backward_kernel_t *kernel,
                              uattn_tile_place_t place, MlirValue ring_step) {
  operands_t operands = operands_of(kernel->kind);
  const MlirValue *params = kernel->params;
  uattn_emit_ring_produce(b, params[operands.moving[0]], place,
                          kernel->first_ring, ring_step);
  uattn_emit_ring_produce(b, params[operands.moving[1]], place,
                          kernel->second_ring, ring_step);
}

/* dkv: the candidates' own rows of q, behind all others. */
static void emit_own_loads(const uattn_builder_t *b,
                           const uattn_backward_kernel_t *kernel) {
  uattn_builder_t body;
  MlirType step_type = uattn_type_i32(b);
  MlirRegion loop = uattn_region_create(b, &step_type, 1, &body);
  MlirValue step = mlirBlockGetArgument(body.block, 0);
  emit_moving_loads(&body, kernel,
                    uattn_backward_emit_own_place(&body, kernel, step),
                    uattn_binary(&body, "arith.addi", kernel->steps, step));
  uattn_yield(&body, NULL, 0);
  uattn_for_append(b, kernel->zero, kernel->own_steps, kernel->one, NULL, 0,
                   loop);
}

static void emit_loads(const uattn_builder_t *b,
                       const uattn_backward_kernel_t *kernel) {
  operands_t operands = operands_of(kernel->kind);
  const MlirValue *params = kernel->params;
  uattn_tile_place_t place = {kernel->head, kernel->first_row, kernel->batch};
  uattn_emit_ring_produce(b, params[operands.staying[0]], place,
                          kernel->first_tile, kernel->zero);
  if (kernel->kind != UATTN_BACKWARD_DV) /* P takes no V */
    uattn_emit_ring_produce(b, params[operands.staying[1]], place,
                            kernel->second_tile, kernel->zero);
  if (!has_rings(kernel))
    return;
  if (has_forward(kernel) && kernel->plan->masks.has_ranker)
    uattn_forward_emit_diagonal_loads(b, &kernel->forward);
  if (kernel->kind == UATTN_BACKWARD_FINISH)
    return;
  uattn_builder_t body;
  MlirType step_type = uattn_type_i32(b);
  MlirRegion loop = uattn_region_create(b, &step_type, 1, &body);
  MlirValue step = mlirBlockGetArgument(body.block, 0);
  uattn_backward_step_t at = uattn_backward_emit_step(&body, kernel, step);
  emit_moving_loads(&body, kernel, at.place,
                    uattn_backward_emit_ring_step(&body, kernel, step));
  if (uattn_backward_keys_stay(kernel->kind))
    uattn_emit_ring_produce_records(&body, params[UATTN_BACKWARD_PARAM_RECORDS],
                                    uattn_backward_emit_record_offset(
                                        &body, kernel, at.q_head, at.place.row),
                                    kernel->records_ring, step);
  uattn_yield(&body, NULL, 0);
  uattn_for_append(b, kernel->zero, kernel->steps, kernel->one, NULL, 0, loop);
  if (uattn_backward_keys_stay(kernel->kind) && kernel->plan->masks.has_ranker)
    emit_own_loads(b, kernel);
}

static MlirRegion emit_producer(const uattn_builder_t *b,
                                const uattn_backward_kernel_t *kernel) {
  uattn_builder_t role, thread;
  MlirRegion role_region = uattn_region_create(b, NULL, 0, &role);
  MlirRegion thread_region = uattn_region_create(&role, NULL, 0, &thread);
  if (has_tiles(kernel))
    emit_loads(&thread, kernel);
  uattn_yield(&thread, NULL, 0);
  uattn_if_append(&role, uattn_emit_elect(&role), thread_region);
  uattn_yield(&role, NULL, 0);
  return role_region;
}

/* ---- Function ---------------------------------------------------------------
 */

static MlirRegion emit_consumer(const uattn_builder_t *b,
                                const uattn_backward_kernel_t *kernel) {
  if (kernel->kind == UATTN_BACKWARD_ROWS)
    return uattn_backward_emit_rows(b, kernel);
  if (kernel->kind == UATTN_BACKWARD_DTEMP)
    return uattn_backward_emit_dtemp(b, kernel);
  if (kernel->kind == UATTN_BACKWARD_FINISH)
    return uattn_backward_emit_finish(b, kernel);
  return uattn_backward_emit_products(b, kernel);
}

void uattn_emit_backward_kernel(const uattn_builder_t *module_body,
                                const uattn_backward_plan_t *plan,
                                uattn_backward_kernel_kind_t kind) {
  uattn_backward_kernel_t kernel = {
      .plan = plan, .kind = kind, .layout = uattn_backward_layout(plan, kind)};
  uattn_plan_param_t params[UATTN_BACKWARD_PARAM_COUNT];
  MlirType types[UATTN_BACKWARD_PARAM_COUNT];
  int param_count = uattn_backward_params(plan, kind, params);
  for (int i = 0; i < param_count; ++i)
    types[i] = uattn_emit_param_type(module_body, params[i], plan->dtype,
                                     pointer_dtype(plan, params[i].what));

  uattn_builder_t body;
  MlirRegion region =
      uattn_region_create(module_body, types, param_count, &body);
  for (int i = 0; i < param_count; ++i)
    kernel.params[params[i].what] = mlirBlockGetArgument(body.block, i);
  kernel.zero = uattn_constant_i32(&body, 0);
  kernel.one = uattn_constant_i32(&body, 1);
  if (has_forward(&kernel)) {
    emit_forward_place(&body, &kernel);
  } else {
    emit_place(&body, &kernel);
    if (kernel.params[UATTN_BACKWARD_PARAM_BOUNDS].ptr)
      emit_bounds(&body, &kernel);
  }
  if (uattn_backward_keys_stay(kind))
    emit_moving_rows(&body, &kernel);
  if (has_tiles(&kernel))
    emit_tiles(&body, &kernel);

  int64_t registers[ROLE_COUNT] = {kernel.layout.producer_registers,
                                   kernel.layout.consumer_registers};
  int64_t warpgroups[ROLE_COUNT] = {1, kernel.layout.consumer_warpgroups};
  MlirValue role;
  uattn_emit_role(&body, registers, warpgroups, ROLE_COUNT, &role,
                  &kernel.index_in_role);
  kernel.forward.index_in_role = kernel.index_in_role;
  MlirRegion roles[ROLE_COUNT];
  roles[ROLE_PRODUCER] = emit_producer(&body, &kernel);
  roles[ROLE_CONSUMER] = emit_consumer(&body, &kernel);
  uattn_emit_role_switch(&body, role, roles, ROLE_COUNT);
  uattn_op_t end = uattn_op("gpu.return");
  uattn_op_append(&body, &end);
  uattn_string_t name = {0};
  uattn_backward_kernel_name(plan, kind, &name);
  uattn_emit_kernel_function(
      module_body,
      &(uattn_kernel_function_t){.name = uattn_string_get(&name),
                                 .param_types = types,
                                 .param_count = param_count,
                                 .threads = kernel.layout.threads,
                                 .entry_registers =
                                     kernel.layout.entry_registers,
                                 .smem_bytes = kernel.layout.total_bytes},
      region);
  uattn_string_release(&name);
}
