/* Where a CTA works, which tiles of keys it walks and which keys a row sees.
 * Layer: passes. Must not know: the masks' formulas, which lib/mask states over
 * any algebra.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tiles are those of the hull of what the CTA's rows see, first to last,
 * then those of the candidates' own keys. Where both overlap, the tiles of
 * their common hull. */
#include <math.h>

#include "passes/ttgir.h"

/* ---- lib/mask's algebra on Triton's values --------------------------------
 */

/* All on scalars (i32), or all on rows of them. */
typedef struct {
  const uattn_ttgir_role_t *role;
  MlirType type;
} ir_algebra_t;

static uattn_mask_value_t pack(MlirValue value) {
  uattn_mask_value_t packed = {{(uint64_t)(uintptr_t)value.ptr}};
  return packed;
}

static MlirValue unpack(uattn_mask_value_t packed) {
  MlirValue value = {(void *)(uintptr_t)packed.words[0]};
  return value;
}

static uattn_mask_value_t ir_constant(void *context, int32_t value) {
  const ir_algebra_t *ir = context;
  return pack(uattn_constant_i32(&ir->role->b, value));
}

static uattn_mask_value_t ir_binary(void *context, const char *name,
                                    uattn_mask_value_t x,
                                    uattn_mask_value_t y) {
  const ir_algebra_t *ir = context;
  MlirValue lhs = uattn_ttgir_spread(ir->role, unpack(x), ir->type);
  return pack(uattn_ttgir_binary(ir->role, name, lhs, unpack(y)));
}
static uattn_mask_value_t ir_add(void *context, uattn_mask_value_t x,
                                 uattn_mask_value_t y) {
  return ir_binary(context, "arith.addi", x, y);
}
static uattn_mask_value_t ir_subtract(void *context, uattn_mask_value_t x,
                                      uattn_mask_value_t y) {
  return ir_binary(context, "arith.subi", x, y);
}
static uattn_mask_value_t ir_min(void *context, uattn_mask_value_t x,
                                 uattn_mask_value_t y) {
  return ir_binary(context, "arith.minsi", x, y);
}
static uattn_mask_value_t ir_max(void *context, uattn_mask_value_t x,
                                 uattn_mask_value_t y) {
  return ir_binary(context, "arith.maxsi", x, y);
}

static uattn_mask_algebra_t make_algebra(ir_algebra_t *ir) {
  uattn_mask_algebra_t algebra = {ir,          ir_constant, ir_add,
                                  ir_subtract, ir_min,      ir_max};
  return algebra;
}

/* ---- Place ----------------------------------------------------------------
 */

static MlirValue constant(const uattn_ttgir_role_t *role, int64_t value) {
  return uattn_constant_i32(&role->b, (int32_t)value);
}

uattn_ttgir_place_t uattn_ttgir_place(const uattn_ttgir_role_t *role) {
  MlirValue group_heads =
      uattn_ttgir_binary(role, "arith.divsi", role->values[UATTN_TTGIR_Q_HEADS],
                         role->values[UATTN_TTGIR_KV_HEADS]);
  uattn_ttgir_place_t place = {
      .batch = uattn_ttgir_program_id(role, 2),
      .head = uattn_ttgir_program_id(role, 1),
      .first_row = uattn_ttgir_binary(
          role, "arith.muli", uattn_ttgir_program_id(role, 0),
          constant(role, role->kernel->q_tile_rows)),
  };
  place.kv_head =
      uattn_ttgir_binary(role, "arith.divsi", place.head, group_heads);
  return place;
}

MlirValue uattn_ttgir_batch_offset(const uattn_ttgir_role_t *role,
                                   const uattn_ttgir_place_t *place,
                                   MlirValue count) {
  MlirType i64 = uattn_type_i64(&role->b);
  return uattn_ttgir_binary(
      role, "arith.muli",
      uattn_cast(&role->b, "arith.extsi", place->batch, i64),
      uattn_cast(&role->b, "arith.extsi", count, i64));
}

/* ---- Facts ----------------------------------------------------------------
 */

/* Positions are not negative, so a lower bound below 0 is 0. */
typedef struct {
  MlirValue history_lower, history_upper;
  MlirValue candidate_lower, candidate_upper;
} bounds_t;

static MlirValue load_bound(const uattn_ttgir_role_t *role,
                            const uattn_ttgir_place_t *place, int32_t index) {
  MlirValue offset = uattn_ttgir_binary(
      role, "arith.addi",
      uattn_ttgir_batch_offset(role, place, constant(role, 4)),
      uattn_constant_i64(&role->b, index));
  MlirValue bound = uattn_ttgir_load_scalar(
      role, uattn_ttgir_advance(role, role->values[UATTN_TTGIR_BOUNDS], offset),
      uattn_type_i32(&role->b));
  bool is_lower = index % 2 == 0;
  return is_lower
             ? uattn_ttgir_binary(role, "arith.maxsi", bound, constant(role, 0))
             : bound;
}

static bounds_t load_bounds(const uattn_ttgir_role_t *role,
                            const uattn_ttgir_place_t *place) {
  bounds_t bounds = {{NULL}, {NULL}, {NULL}, {NULL}};
  if (role->kernel->plan->masks.has_ranker) {
    bounds.history_lower = load_bound(role, place, 0);
    bounds.history_upper = load_bound(role, place, 1);
    bounds.candidate_lower = load_bound(role, place, 2);
    bounds.candidate_upper = load_bound(role, place, 3);
  }
  return bounds;
}

static uattn_mask_facts_t mask_facts(const uattn_ttgir_role_t *role,
                                     const bounds_t *bounds) {
  const uattn_problem_t *problem = role->kernel->problem;
  uattn_mask_facts_t facts = {
      .q_tokens = pack(role->values[UATTN_TTGIR_Q_TOKENS]),
      .kv_tokens = pack(role->values[UATTN_TTGIR_KV_TOKENS]),
      .q_offset = pack(constant(role, problem->q_offset)),
      .window_tokens = pack(constant(role, problem->window_tokens)),
      .history_lower = pack(bounds->history_lower),
      .history_upper = pack(bounds->history_upper),
  };
  return facts;
}

/* lower <= value < upper, i1 like `value` */
static MlirValue is_within(const uattn_ttgir_role_t *role, MlirValue value,
                           MlirValue lower, MlirValue upper) {
  MlirValue type_like =
      uattn_ttgir_spread(role, lower, mlirValueGetType(value));
  return uattn_ttgir_binary(
      role, "arith.andi",
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLE, type_like, value),
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, value, upper));
}

/* ---- The CTA's tiles ------------------------------------------------------
 */

/* The keys' tiles: first, and how many. */
static void tiles_of(const uattn_ttgir_role_t *role, MlirValue begin,
                     MlirValue end, MlirValue *out_first,
                     MlirValue *out_count) {
  MlirValue rows = constant(role, role->kernel->kv_tile_rows);
  MlirValue up = uattn_ttgir_binary(
      role, "arith.addi", end, constant(role, role->kernel->kv_tile_rows - 1));
  MlirValue is_empty = uattn_ttgir_compare_i(role, UATTN_CMPI_SLE, end, begin);
  *out_first = uattn_ttgir_binary(role, "arith.divsi", begin, rows);
  *out_count = uattn_select(
      &role->b, is_empty, constant(role, 0),
      uattn_ttgir_binary(role, "arith.subi",
                         uattn_ttgir_binary(role, "arith.divsi", up, rows),
                         *out_first));
}

/* The own keys of the CTA's candidates. */
static void own_keys(const uattn_ttgir_role_t *role,
                     const uattn_ttgir_place_t *place, const bounds_t *bounds,
                     MlirValue *out_begin, MlirValue *out_end) {
  MlirValue row_end = uattn_ttgir_binary(
      role, "arith.minsi",
      uattn_ttgir_binary(role, "arith.addi", place->first_row,
                         constant(role, role->kernel->q_tile_rows)),
      role->values[UATTN_TTGIR_Q_TOKENS]);
  MlirValue offset = constant(role, role->kernel->problem->q_offset);
  *out_begin = uattn_ttgir_binary(
      role, "arith.maxsi",
      uattn_ttgir_binary(role, "arith.addi", place->first_row, offset),
      bounds->candidate_lower);
  MlirValue end = uattn_ttgir_binary(
      role, "arith.minsi",
      uattn_ttgir_binary(role, "arith.addi", row_end, offset),
      bounds->candidate_upper);
  *out_end = uattn_ttgir_binary(role, "arith.minsi", end,
                                role->values[UATTN_TTGIR_KV_TOKENS]);
}

/* Where [first, first + count) and the own tiles overlap, the first becomes
 * the hull of both and the second empty. */
static void join_own_tiles(const uattn_ttgir_role_t *role,
                           uattn_ttgir_keys_t *keys, MlirValue *io_own_count) {
  const uattn_builder_t *b = &role->b;
  MlirValue end = uattn_ttgir_binary(role, "arith.addi", keys->first_tile,
                                     keys->tile_count);
  MlirValue own_end = uattn_ttgir_binary(role, "arith.addi",
                                         keys->first_own_tile, *io_own_count);
  MlirValue begin = uattn_ttgir_binary(role, "arith.minsi", keys->first_tile,
                                       keys->first_own_tile);
  MlirValue hull = uattn_ttgir_binary(
      role, "arith.subi", uattn_ttgir_binary(role, "arith.maxsi", end, own_end),
      begin);
  /* Two ranges that are not empty overlap where their hull is shorter than
   * both together; an empty one lengthens nothing. */
  MlirValue sum =
      uattn_ttgir_binary(role, "arith.addi", keys->tile_count, *io_own_count);
  MlirValue shorter =
      uattn_ttgir_binary(role, "arith.minsi", keys->tile_count, *io_own_count);
  MlirValue overlap = uattn_ttgir_binary(
      role, "arith.andi",
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, hull, sum),
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, constant(role, 0), shorter));
  keys->first_tile = uattn_select(b, overlap, begin, keys->first_tile);
  keys->tile_count = uattn_select(b, overlap, hull, keys->tile_count);
  *io_own_count = uattn_select(b, overlap, constant(role, 0), *io_own_count);
}

uattn_ttgir_keys_t uattn_ttgir_keys(const uattn_ttgir_role_t *role,
                                    const uattn_ttgir_place_t *place) {
  const uattn_ttgir_kernel_t *kernel = role->kernel;
  ir_algebra_t ir = {role, uattn_type_i32(&role->b)};
  uattn_mask_algebra_t algebra = make_algebra(&ir);
  bounds_t bounds = load_bounds(role, place);
  uattn_mask_facts_t facts = mask_facts(role, &bounds);
  uattn_key_range_t hull, full;
  uattn_mask_block_keys(kernel->plan->masks, &algebra, &facts,
                        pack(place->first_row), kernel->q_tile_rows, &hull,
                        &full);
  uattn_ttgir_keys_t keys = {.first_own_tile = {NULL}};
  tiles_of(role, unpack(hull.begin), unpack(hull.end), &keys.first_tile,
           &keys.tile_count);
  keys.steps = keys.tile_count;
  if (kernel->plan->masks.has_ranker) {
    MlirValue begin, end, own_count;
    own_keys(role, place, &bounds, &begin, &end);
    tiles_of(role, begin, end, &keys.first_own_tile, &own_count);
    join_own_tiles(role, &keys, &own_count);
    keys.steps =
        uattn_ttgir_binary(role, "arith.addi", keys.tile_count, own_count);
  }
  keys.steps =
      uattn_ttgir_binary(role, "arith.maxsi", keys.steps, constant(role, 1));
  return keys;
}

MlirValue uattn_ttgir_first_key(const uattn_ttgir_role_t *role,
                                const uattn_ttgir_keys_t *keys,
                                MlirValue step) {
  MlirValue tile =
      uattn_ttgir_binary(role, "arith.addi", keys->first_tile, step);
  if (keys->first_own_tile.ptr) {
    MlirValue own = uattn_ttgir_binary(
        role, "arith.addi", keys->first_own_tile,
        uattn_ttgir_binary(role, "arith.subi", step, keys->tile_count));
    MlirValue is_in_hull =
        uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, step, keys->tile_count);
    tile = uattn_select(&role->b, is_in_hull, tile, own);
  }
  return uattn_ttgir_binary(role, "arith.muli", tile,
                            constant(role, role->kernel->kv_tile_rows));
}

/* ---- A consumer's rows ----------------------------------------------------
 */

/* Rows in neither of the ranker's ranges see nothing, candidates their own key
 * too. */
static void apply_bounds(const uattn_ttgir_role_t *role, const bounds_t *bounds,
                         MlirValue positions, uattn_ttgir_rows_t *rows) {
  const uattn_builder_t *b = &role->b;
  MlirType type = mlirValueGetType(positions);
  MlirValue is_history =
      is_within(role, positions, bounds->history_lower, bounds->history_upper);
  MlirValue is_candidate = is_within(role, positions, bounds->candidate_lower,
                                     bounds->candidate_upper);
  MlirValue has_key = uattn_ttgir_compare_i(
      role, UATTN_CMPI_SLT, positions, role->values[UATTN_TTGIR_KV_TOKENS]);
  rows->end = uattn_select(
      b, uattn_ttgir_binary(role, "arith.ori", is_history, is_candidate),
      rows->end, uattn_constant_splat_i32(b, type, 0));
  rows->own = uattn_select(
      b, uattn_ttgir_binary(role, "arith.andi", is_candidate, has_key),
      positions, uattn_constant_splat_i32(b, type, -1));
}

/* Not all of the rows are in the history, and not all of them candidates:
 * there is no key that all see, as far as is looked at. */
static void narrow_full(const uattn_ttgir_role_t *role, const bounds_t *bounds,
                        MlirValue first, uattn_ttgir_rows_t *rows) {
  MlirValue last = uattn_ttgir_binary(role, "arith.addi", first,
                                      constant(role, UATTN_WARPGROUP_ROWS - 1));
  MlirValue in_history = uattn_ttgir_binary(
      role, "arith.andi",
      is_within(role, first, bounds->history_lower, bounds->history_upper),
      is_within(role, last, bounds->history_lower, bounds->history_upper));
  MlirValue in_candidates = uattn_ttgir_binary(
      role, "arith.andi",
      is_within(role, first, bounds->candidate_lower, bounds->candidate_upper),
      is_within(role, last, bounds->candidate_lower, bounds->candidate_upper));
  rows->full_end = uattn_select(
      &role->b,
      uattn_ttgir_binary(role, "arith.ori", in_history, in_candidates),
      rows->full_end, constant(role, 0));
}

static void load_segments(const uattn_ttgir_role_t *role,
                          const uattn_ttgir_place_t *place,
                          MlirValue row_indices, uattn_ttgir_rows_t *rows) {
  MlirType i32 = uattn_type_i32(&role->b);
  MlirValue q_tokens = role->values[UATTN_TTGIR_Q_TOKENS];
  MlirValue ids =
      uattn_ttgir_advance(role, role->values[UATTN_TTGIR_Q_SEGMENT_IDS],
                          uattn_ttgir_batch_offset(role, place, q_tokens));
  rows->segment_ids = uattn_ttgir_load(
      role, ids, i32, row_indices,
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, row_indices, q_tokens));
  rows->kv_segment_ids = uattn_ttgir_advance(
      role, role->values[UATTN_TTGIR_KV_SEGMENT_IDS],
      uattn_ttgir_batch_offset(role, place,
                               role->values[UATTN_TTGIR_KV_TOKENS]));
  rows->full_end = constant(role, 0); /* every tile is looked at */
}

uattn_ttgir_rows_t uattn_ttgir_rows(const uattn_ttgir_role_t *role,
                                    const uattn_ttgir_place_t *place,
                                    MlirValue first_row) {
  uattn_mask_kinds_t kinds = role->kernel->plan->masks;
  MlirType i32 = uattn_type_i32(&role->b);
  MlirType rows_type = uattn_ttgir_rows_type(role->kernel, i32);
  MlirValue offset = constant(role, role->kernel->problem->q_offset);
  bounds_t bounds = load_bounds(role, place);
  uattn_mask_facts_t facts = mask_facts(role, &bounds);
  MlirValue indices = uattn_ttgir_range(role, rows_type, first_row);
  MlirValue positions = uattn_ttgir_binary(role, "arith.addi", indices, offset);
  ir_algebra_t on_rows = {role, rows_type}, on_scalars = {role, i32};
  uattn_mask_algebra_t algebra = make_algebra(&on_rows);
  uattn_mask_algebra_t scalar_algebra = make_algebra(&on_scalars);
  uattn_key_range_t keys =
      uattn_mask_row_keys(kinds, &algebra, &facts, pack(positions));
  uattn_key_range_t hull, full;
  uattn_mask_block_keys(kinds, &scalar_algebra, &facts, pack(first_row),
                        UATTN_WARPGROUP_ROWS, &hull, &full);
  uattn_ttgir_rows_t rows = {
      .begin = uattn_ttgir_spread(role, unpack(keys.begin), rows_type),
      .end = uattn_ttgir_spread(role, unpack(keys.end), rows_type),
      .full_begin = unpack(full.begin),
      .full_end = unpack(full.end),
  };
  if (kinds.has_ranker) {
    apply_bounds(role, &bounds, positions, &rows);
    narrow_full(role, &bounds,
                uattn_ttgir_binary(role, "arith.addi", first_row, offset),
                &rows);
  }
  if (kinds.has_segments)
    load_segments(role, place, indices, &rows);
  return rows;
}

/* ---- Masking --------------------------------------------------------------
 */

static MlirValue has_same_segment(const uattn_ttgir_role_t *role,
                                  const uattn_ttgir_rows_t *rows,
                                  MlirValue keys, MlirType tile) {
  MlirType i32 = uattn_type_i32(&role->b);
  MlirValue ids = uattn_ttgir_load(
      role, rows->kv_segment_ids, i32, keys,
      uattn_ttgir_compare_i(role, UATTN_CMPI_ULT, keys,
                            role->values[UATTN_TTGIR_KV_TOKENS]));
  return uattn_ttgir_compare_i(role, UATTN_CMPI_EQ,
                               uattn_ttgir_spread(role, ids, tile),
                               rows->segment_ids);
}

static MlirValue is_allowed(const uattn_ttgir_role_t *role,
                            const uattn_ttgir_rows_t *rows,
                            MlirValue first_key) {
  MlirType i32 = uattn_type_i32(&role->b);
  MlirType tile = uattn_ttgir_scores_type(role->kernel, i32);
  MlirValue keys = uattn_ttgir_range(
      role, uattn_ttgir_columns_type(role->kernel, i32), first_key);
  MlirValue key = uattn_ttgir_spread(role, keys, tile);
  MlirValue begin = uattn_ttgir_spread(role, rows->begin, tile);
  MlirValue allowed = uattn_ttgir_binary(
      role, "arith.andi",
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLE, begin, key),
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLT, key, rows->end));
  if (rows->own.ptr)
    allowed = uattn_ttgir_binary(
        role, "arith.ori", allowed,
        uattn_ttgir_compare_i(role, UATTN_CMPI_EQ, key, rows->own));
  if (rows->segment_ids.ptr)
    allowed = uattn_ttgir_binary(role, "arith.andi", allowed,
                                 has_same_segment(role, rows, keys, tile));
  return allowed;
}

MlirValue uattn_ttgir_mask(const uattn_ttgir_role_t *role,
                           const uattn_ttgir_rows_t *rows, MlirValue first_key,
                           MlirValue scores) {
  const uattn_builder_t *b = &role->b;
  MlirType type = mlirValueGetType(scores);
  MlirValue end =
      uattn_ttgir_binary(role, "arith.addi", first_key,
                         constant(role, role->kernel->kv_tile_rows));
  MlirValue is_full = uattn_ttgir_binary(
      role, "arith.andi",
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLE, rows->full_begin, first_key),
      uattn_ttgir_compare_i(role, UATTN_CMPI_SLE, end, rows->full_end));
  uattn_ttgir_role_t masked = *role;
  uattn_builder_t whole;
  MlirRegion then = uattn_region_create(b, NULL, 0, &whole);
  uattn_yield(&whole, &scores, 1);
  MlirRegion otherwise = uattn_region_create(b, NULL, 0, &masked.b);
  MlirValue allowed = is_allowed(&masked, rows, first_key);
  MlirValue kept =
      uattn_select(&masked.b, allowed, scores,
                   uattn_constant_splat(&masked.b, type, -INFINITY));
  uattn_yield(&masked.b, &kept, 1);
  return mlirOperationGetResult(
      uattn_if_else_append(b, is_full, &type, 1, then, otherwise), 0);
}
