/* Where a CTA works in the forward kernel, and which keys its rows see.
 * Layer: emit. Must not know: attributes of the op level; the masks' formulas,
 * which lib/mask states over any algebra.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit/clamp_bounds.h"
#include "emit/forward_kernel.h"
#include "emit/mask_algebra.h"

/* ---- lib/mask's algebra on IR values ---------------------------------------
 */

/* All on scalars (i32), or all on rows (vector<64xi32>). */
typedef struct {
  const uattn_builder_t *b;
  MlirType type;
  uattn_mask_builder_t builder;
} ir_algebra_t;

static MlirValue ir_constant(void *context, int32_t value) {
  const ir_algebra_t *ir = context;
  return mlirTypeIsAVector(ir->type)
             ? uattn_constant_splat_i32(ir->b, ir->type, value)
             : uattn_constant_i32(ir->b, value);
}

static MlirValue ir_binary(void *context, const char *name, MlirValue x,
                           MlirValue y) {
  const ir_algebra_t *ir = context;
  return uattn_binary(ir->b, name, uattn_softmax_spread(ir->b, x, ir->type),
                      uattn_softmax_spread(ir->b, y, ir->type));
}

static uattn_mask_algebra_t make_algebra(ir_algebra_t *ir) {
  ir->builder = (uattn_mask_builder_t){ir, ir_constant, ir_binary};
  return uattn_emit_mask_algebra(&ir->builder);
}

static uattn_mask_facts_t mask_facts(const uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_mask_facts_t facts = {
      .q_tokens = uattn_mask_pack(params[UATTN_FORWARD_PARAM_Q_TOKENS]),
      .kv_tokens = uattn_mask_pack(params[UATTN_FORWARD_PARAM_KV_TOKENS]),
      .q_offset = uattn_mask_pack(params[UATTN_FORWARD_PARAM_Q_OFFSET]),
      .window_tokens =
          uattn_mask_pack(params[UATTN_FORWARD_PARAM_WINDOW_TOKENS]),
      .history_lower = uattn_mask_pack(kernel->history_lower),
      .history_upper = uattn_mask_pack(kernel->history_upper),
  };
  return facts;
}

/* ---- Place ------------------------------------------------------------------
 */

MlirValue uattn_forward_emit_batch_offset(const uattn_builder_t *b,
                                          const uattn_forward_kernel_t *kernel,
                                          MlirValue count) {
  MlirType i64 = uattn_type_i64(b);
  return uattn_binary(b, "arith.muli",
                      uattn_cast(b, "arith.extui", kernel->batch, i64),
                      uattn_cast(b, "arith.extui", count, i64));
}

/* CTA index -> query tile (fastest), head, batch. */
static void emit_indices(const uattn_builder_t *b,
                         uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  MlirValue q_heads = params[UATTN_FORWARD_PARAM_Q_HEADS];
  MlirValue q_tiles = params[UATTN_FORWARD_PARAM_Q_TILES];
  MlirValue cta = uattn_emit_cta_index(b);
  MlirValue q_tile = uattn_binary(b, "arith.remui", cta, q_tiles);
  if (kernel->plan->masks.is_causal) /* the tiles with most keys first */
    q_tile = uattn_binary(b, "arith.subi",
                          uattn_binary(b, "arith.subi", q_tiles, kernel->one),
                          q_tile);
  MlirValue rest = uattn_binary(b, "arith.divui", cta, q_tiles);
  MlirValue group_heads = uattn_binary(b, "arith.divui", q_heads,
                                       params[UATTN_FORWARD_PARAM_KV_HEADS]);
  kernel->head = uattn_binary(b, "arith.remui", rest, q_heads);
  kernel->batch = uattn_binary(b, "arith.divui", rest, q_heads);
  kernel->kv_head = uattn_binary(b, "arith.divui", kernel->head, group_heads);
  kernel->cta_row =
      uattn_binary(b, "arith.muli", q_tile,
                   uattn_constant_i32(b, kernel->layout.q_tile_rows));
}

static MlirValue load_bound(const uattn_builder_t *b,
                            const uattn_forward_kernel_t *kernel,
                            int32_t index) {
  MlirValue offset = uattn_binary(
      b, "arith.addi",
      uattn_forward_emit_batch_offset(b, kernel, uattn_constant_i32(b, 4)),
      uattn_constant_i64(b, index));
  return uattn_emit_scalar_load(b, kernel->params[UATTN_FORWARD_PARAM_BOUNDS],
                                offset);
}

static void emit_bounds(const uattn_builder_t *b,
                        uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  uattn_positions_t positions = {
      .q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS],
      .kv_tokens = params[UATTN_FORWARD_PARAM_KV_TOKENS],
      .q_offset = params[UATTN_FORWARD_PARAM_Q_OFFSET],
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

uattn_forward_kernel_t
uattn_forward_reload_bounds(const uattn_builder_t *b,
                            const uattn_forward_kernel_t *kernel) {
  uattn_forward_kernel_t reloaded = *kernel;
  if (kernel->plan->masks.has_ranker)
    emit_bounds(b, &reloaded);
  return reloaded;
}

/* i1: do [lower, upper) and the CTA's positions [first, after) meet? */
static MlirValue emit_meets(const uattn_builder_t *b, MlirValue lower,
                            MlirValue upper, MlirValue first, MlirValue after) {
  return uattn_compare_i(b, UATTN_CMPI_SLT,
                         uattn_binary(b, "arith.maxsi", lower, first),
                         uattn_binary(b, "arith.minsi", upper, after));
}

/* A CTA without a live row visits nothing; one with candidates starts with
 * their own keys. */
static void emit_liveness(const uattn_builder_t *b,
                          uattn_forward_kernel_t *kernel) {
  const MlirValue *params = kernel->params;
  MlirValue q_offset = params[UATTN_FORWARD_PARAM_Q_OFFSET];
  MlirValue after_row = uattn_binary(
      b, "arith.minsi", params[UATTN_FORWARD_PARAM_Q_TOKENS],
      uattn_binary(b, "arith.addi", kernel->cta_row,
                   uattn_constant_i32(b, kernel->layout.q_tile_rows)));
  MlirValue first = uattn_binary(b, "arith.addi", q_offset, kernel->cta_row);
  MlirValue after = uattn_binary(b, "arith.addi", q_offset, after_row);
  MlirValue has_history =
      emit_meets(b, kernel->history_lower, kernel->history_upper, first, after);
  kernel->has_candidates = emit_meets(b, kernel->candidate_lower,
                                      kernel->candidate_upper, first, after);
  kernel->ring_offset = uattn_select(
      b, kernel->has_candidates,
      uattn_constant_i32(b, kernel->plan->consumer_warpgroups), kernel->zero);
  kernel->keys.steps = uattn_select(
      b, uattn_binary(b, "arith.ori", has_history, kernel->has_candidates),
      kernel->keys.steps, kernel->zero);
}

/* ceil(max(0, end - begin) / tile rows) */
static MlirValue emit_tile_count(const uattn_builder_t *b,
                                 const uattn_forward_kernel_t *kernel,
                                 MlirValue begin, MlirValue end) {
  int32_t rows = kernel->plan->kv_tile_rows;
  MlirValue keys =
      uattn_binary(b, "arith.maxsi", uattn_binary(b, "arith.subi", end, begin),
                   kernel->zero);
  return uattn_binary(
      b, "arith.divui",
      uattn_binary(b, "arith.addi", keys, uattn_constant_i32(b, rows - 1)),
      uattn_constant_i32(b, rows));
}

/* Narrows the hull to keys of the rows' segments. Within it all may be seen
 * where it is one segment, else every tile has to be compared. */
static void narrow_to_segments(const uattn_builder_t *b,
                               const uattn_forward_kernel_t *kernel,
                               MlirValue *io_begin, MlirValue *io_end,
                               MlirValue *io_full_end) {
  const MlirValue *params = kernel->params;
  MlirValue first, after, is_uniform;
  uattn_segment_search_t search = {
      .q_ids = params[UATTN_FORWARD_PARAM_Q_SEGMENT_IDS],
      .q_offset = uattn_forward_emit_batch_offset(
          b, kernel, params[UATTN_FORWARD_PARAM_Q_TOKENS]),
      .first_row = kernel->cta_row,
      .q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS],
      .kv_ids = params[UATTN_FORWARD_PARAM_KV_SEGMENT_IDS],
      .kv_offset = uattn_forward_emit_batch_offset(
          b, kernel, params[UATTN_FORWARD_PARAM_KV_TOKENS]),
      .begin = *io_begin,
      .end = *io_end,
      .rows = kernel->layout.q_tile_rows,
      .threads = kernel->layout.threads,
      .smem_offset = kernel->layout.segment_offset,
  };
  uattn_emit_segment_hull(b, &search, &first, &after, &is_uniform);
  *io_begin = first;
  *io_end = after;
  *io_full_end =
      uattn_select(b, is_uniform,
                   uattn_binary(b, "arith.minsi", *io_full_end, after), first);
}

/* Tiles that lie within [full.begin, full.end) need no mask: those are
 * [ceil, floor) of the range in tiles, counted from the hull's begin. */
static void emit_steps(const uattn_builder_t *b,
                       uattn_forward_kernel_t *kernel) {
  ir_algebra_t ir = {.b = b, .type = uattn_type_i32(b)};
  uattn_mask_algebra_t algebra = make_algebra(&ir);
  uattn_mask_facts_t facts = mask_facts(kernel);
  uattn_key_range_t hull, full;
  uattn_mask_block_keys(kernel->plan->masks, &algebra, &facts,
                        uattn_mask_pack(kernel->cta_row),
                        kernel->layout.q_tile_rows, &hull, &full);
  uattn_forward_steps_t *keys = &kernel->keys;
  MlirValue rows = uattn_constant_i32(b, kernel->plan->kv_tile_rows);
  MlirValue full_end = uattn_mask_unpack(full.end);
  keys->begin = uattn_mask_unpack(hull.begin);
  keys->end = uattn_mask_unpack(hull.end);
  if (kernel->plan->masks.has_segments)
    narrow_to_segments(b, kernel, &keys->begin, &keys->end, &full_end);
  keys->steps = emit_tile_count(b, kernel, keys->begin, keys->end);
  MlirValue full_keys = uattn_binary(
      b, "arith.maxsi", uattn_binary(b, "arith.subi", full_end, keys->begin),
      kernel->zero);
  MlirValue after_tile = uattn_binary(b, "arith.divui", full_keys, rows);
  MlirValue first_tile =
      emit_tile_count(b, kernel, keys->begin, uattn_mask_unpack(full.begin));
  keys->first_full = uattn_binary(b, "arith.subi", keys->steps, after_tile);
  keys->after_full =
      uattn_binary(b, "arith.maxsi", keys->first_full,
                   uattn_binary(b, "arith.subi", keys->steps, first_tile));
}

void uattn_forward_emit_place(const uattn_builder_t *b,
                              uattn_forward_kernel_t *kernel) {
  emit_indices(b, kernel);
  kernel->ring_offset = kernel->zero;
  if (kernel->plan->masks.has_ranker)
    emit_bounds(b, kernel);
  emit_steps(b, kernel);
  if (kernel->plan->masks.has_ranker)
    emit_liveness(b, kernel);
}

MlirValue uattn_forward_emit_first_key(const uattn_builder_t *b,
                                       const uattn_forward_kernel_t *kernel,
                                       MlirValue step) {
  MlirValue last =
      uattn_binary(b, "arith.subi", kernel->keys.steps, kernel->one);
  MlirValue tile = uattn_binary(b, "arith.subi", last, step);
  MlirValue keys = uattn_binary(
      b, "arith.muli", tile, uattn_constant_i32(b, kernel->plan->kv_tile_rows));
  return uattn_binary(b, "arith.addi", kernel->keys.begin, keys);
}

/* ---- Rows of a consumer
 * ------------------------------------------------------ */

/* lower <= position < upper, rows of i1. */
static MlirValue emit_within(const uattn_builder_t *b,
                             const uattn_forward_rows_t *rows, MlirValue lower,
                             MlirValue upper) {
  MlirType type = rows->i32_rows;
  MlirValue is_above = uattn_compare_i(
      b, UATTN_CMPI_SLE, uattn_broadcast(b, lower, type), rows->position);
  MlirValue is_below = uattn_compare_i(b, UATTN_CMPI_SLT, rows->position,
                                       uattn_broadcast(b, upper, type));
  return uattn_binary(b, "arith.andi", is_above, is_below);
}

static void emit_row_kinds(const uattn_builder_t *b,
                           const uattn_forward_kernel_t *kernel,
                           uattn_forward_rows_t *rows) {
  MlirValue is_history =
      emit_within(b, rows, kernel->history_lower, kernel->history_upper);
  MlirValue is_candidate =
      emit_within(b, rows, kernel->candidate_lower, kernel->candidate_upper);
  rows->is_live = uattn_binary(b, "arith.ori", is_history, is_candidate);
  /* A key that is history too was counted as such; one past kv_tokens is not
   * there. */
  MlirValue has_key = emit_within(
      b, rows, kernel->zero, kernel->params[UATTN_FORWARD_PARAM_KV_TOKENS]);
  rows->is_candidate = uattn_binary(
      b, "arith.andi", uattn_binary(b, "arith.andi", is_candidate, has_key),
      uattn_not(b, is_history));
}

uattn_forward_rows_t
uattn_forward_emit_rows(const uattn_builder_t *b,
                        const uattn_forward_kernel_t *kernel,
                        MlirValue first_row) {
  const MlirValue *params = kernel->params;
  uattn_mask_kinds_t masks = kernel->plan->masks;
  uattn_forward_rows_t rows = {
      .i32_rows = uattn_type_vector1(uattn_type_i32(b), UATTN_WARPGROUP_ROWS)};
  if (masks.has_ranker || masks.is_causal || masks.has_window) {
    MlirValue first = uattn_binary(
        b, "arith.addi", params[UATTN_FORWARD_PARAM_Q_OFFSET], first_row);
    rows.position =
        uattn_binary(b, "arith.addi", uattn_emit_row_index(b, rows.i32_rows),
                     uattn_broadcast(b, first, rows.i32_rows));
  }
  ir_algebra_t ir = {.b = b, .type = rows.i32_rows};
  uattn_mask_algebra_t algebra = make_algebra(&ir);
  uattn_mask_facts_t facts = mask_facts(kernel);
  uattn_key_range_t keys = uattn_mask_row_keys(masks, &algebra, &facts,
                                               uattn_mask_pack(rows.position));
  rows.end =
      uattn_softmax_spread(b, uattn_mask_unpack(keys.end), rows.i32_rows);
  /* Tiles start at the hull's begin: only a window's moves with the row. */
  if (masks.has_window)
    rows.begin =
        uattn_softmax_spread(b, uattn_mask_unpack(keys.begin), rows.i32_rows);
  if (masks.has_ranker)
    emit_row_kinds(b, kernel, &rows);
  if (masks.has_segments) {
    MlirValue q_tokens = params[UATTN_FORWARD_PARAM_Q_TOKENS];
    rows.segment_ids = uattn_emit_row_load(
        b, params[UATTN_FORWARD_PARAM_Q_SEGMENT_IDS],
        uattn_forward_emit_batch_offset(b, kernel, q_tokens), first_row,
        q_tokens, rows.i32_rows);
  }
  return rows;
}
