/* Which keys the rows of a consumer see, and the mask of a tile.
 * Layer: passes. Must not know: the masks' formulas, which lib/mask states over
 * any algebra.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "passes/ttgir_facts.h"

static MlirValue constant(const uattn_ttgir_role_t *role, int64_t value) {
  return uattn_constant_i32(&role->b, (int32_t)value);
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

/* ---- A consumer's rows ----------------------------------------------------
 */

/* Rows in neither of the ranker's ranges see nothing, candidates their own key
 * too. */
static void apply_bounds(const uattn_ttgir_role_t *role,
                         const uattn_ttgir_bounds_t *bounds,
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
static void narrow_full(const uattn_ttgir_role_t *role,
                        const uattn_ttgir_bounds_t *bounds, MlirValue first,
                        uattn_ttgir_rows_t *rows) {
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

/* What causal and window leave: a range a row, and what all rows share. */
static uattn_ttgir_rows_t ranges(const uattn_ttgir_role_t *role,
                                 const uattn_mask_facts_t *facts,
                                 MlirValue first_row, MlirValue positions) {
  uattn_mask_kinds_t kinds = role->kernel->plan->masks;
  MlirType rows_type = mlirValueGetType(positions);
  uattn_ttgir_algebra_t on_rows = {.role = role, .type = rows_type};
  uattn_ttgir_algebra_t on_scalars = {.role = role,
                                      .type = uattn_type_i32(&role->b)};
  uattn_mask_algebra_t row_algebra = uattn_ttgir_make_algebra(&on_rows);
  uattn_mask_algebra_t algebra = uattn_ttgir_make_algebra(&on_scalars);
  uattn_key_range_t keys = uattn_mask_row_keys(kinds, &row_algebra, facts,
                                               uattn_mask_pack(positions));
  uattn_key_range_t hull, full;
  uattn_mask_block_keys(kinds, &algebra, facts, uattn_mask_pack(first_row),
                        UATTN_WARPGROUP_ROWS, &hull, &full);
  return (uattn_ttgir_rows_t){
      .begin =
          uattn_ttgir_spread(role, uattn_mask_unpack(keys.begin), rows_type),
      .end = uattn_ttgir_spread(role, uattn_mask_unpack(keys.end), rows_type),
      .full_begin = uattn_mask_unpack(full.begin),
      .full_end = uattn_mask_unpack(full.end),
  };
}

uattn_ttgir_rows_t uattn_ttgir_rows(const uattn_ttgir_role_t *role,
                                    const uattn_ttgir_place_t *place,
                                    MlirValue first_row) {
  uattn_mask_kinds_t kinds = role->kernel->plan->masks;
  MlirValue offset = constant(role, role->kernel->problem->q_offset);
  uattn_ttgir_bounds_t bounds = uattn_ttgir_bounds(role, place);
  uattn_mask_facts_t facts = uattn_ttgir_facts(role, &bounds);
  MlirValue indices = uattn_ttgir_range(
      role, uattn_ttgir_rows_type(role->kernel, uattn_type_i32(&role->b)),
      first_row);
  MlirValue positions = uattn_ttgir_binary(role, "arith.addi", indices, offset);
  uattn_ttgir_rows_t rows = ranges(role, &facts, first_row, positions);
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
