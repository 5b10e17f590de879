/* Where a CTA works, and which tiles of keys it walks.
 * Layer: passes. Must not know: the masks' formulas, which lib/mask states over
 * any algebra.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tiles are those of the hull of what the CTA's rows see, first to last,
 * then those of the candidates' own keys. Where both overlap, the tiles of
 * their common hull. */
#include "passes/ttgir_facts.h"

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
                     const uattn_ttgir_place_t *place,
                     const uattn_ttgir_bounds_t *bounds, MlirValue *out_begin,
                     MlirValue *out_end) {
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
  uattn_ttgir_algebra_t ir = {.role = role, .type = uattn_type_i32(&role->b)};
  uattn_mask_algebra_t algebra = uattn_ttgir_make_algebra(&ir);
  uattn_ttgir_bounds_t bounds = uattn_ttgir_bounds(role, place);
  uattn_mask_facts_t facts = uattn_ttgir_facts(role, &bounds);
  uattn_key_range_t hull, full;
  uattn_mask_block_keys(kernel->plan->masks, &algebra, &facts,
                        uattn_mask_pack(place->first_row), kernel->q_tile_rows,
                        &hull, &full);
  uattn_ttgir_keys_t keys = {.first_own_tile = {NULL}};
  tiles_of(role, uattn_mask_unpack(hull.begin), uattn_mask_unpack(hull.end),
           &keys.first_tile, &keys.tile_count);
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
