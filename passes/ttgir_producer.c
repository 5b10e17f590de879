/* The producer warp: tiles of Q, K and V by TMA.
 * Layer: passes. Must not know: what consumers compute.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm and its barriers: ttgir_kernel.c. */
#include "passes/ttgir.h"

static MlirValue constant(const uattn_ttgir_role_t *role, int32_t value) {
  return uattn_constant_i32(&role->b, value);
}

static void load_q(const uattn_ttgir_role_t *role,
                   const uattn_ttgir_place_t *place) {
  int32_t count = role->kernel->plan->consumer_warpgroups;
  for (int32_t i = 0; i < count; ++i) {
    MlirValue index = constant(role, i);
    MlirValue row =
        uattn_ttgir_binary(role, "arith.addi", place->first_row,
                           constant(role, i * UATTN_WARPGROUP_ROWS));
    MlirValue at[4] = {place->batch, place->head, row, constant(role, 0)};
    uattn_ttgir_tma_load(
        role, UATTN_TTGIR_Q, at,
        uattn_ttgir_tile_at(role, UATTN_TTGIR_Q_TILES, index,
                            UATTN_WARPGROUP_ROWS),
        UATTN_WARPGROUP_ROWS,
        uattn_ttgir_barrier_at(role, UATTN_TTGIR_Q_FULL, index));
  }
}

/* A ring, and where it is filled from. */
typedef struct {
  uattn_ttgir_value_t descriptor;
  uattn_ttgir_value_t tiles;
  uattn_ttgir_value_t full;
  uattn_ttgir_value_t empty;
} ring_t;

static void load_tile(const uattn_ttgir_role_t *role, const ring_t *ring,
                      const MlirValue at[4], MlirValue stage,
                      MlirValue parity) {
  int32_t rows = role->kernel->kv_tile_rows;
  uattn_ttgir_wait(role, uattn_ttgir_barrier_at(role, ring->empty, stage),
                   parity);
  uattn_ttgir_tma_load(role, ring->descriptor, at,
                       uattn_ttgir_tile_at(role, ring->tiles, stage, rows),
                       rows, uattn_ttgir_barrier_at(role, ring->full, stage));
}

void uattn_ttgir_emit_producer(uattn_ttgir_role_t *role) {
  static const ring_t k_ring = {UATTN_TTGIR_K, UATTN_TTGIR_K_RING,
                                UATTN_TTGIR_K_FULL, UATTN_TTGIR_K_EMPTY};
  static const ring_t v_ring = {UATTN_TTGIR_V, UATTN_TTGIR_V_RING,
                                UATTN_TTGIR_V_FULL, UATTN_TTGIR_V_EMPTY};
  MlirType i32 = uattn_type_i32(&role->b);
  uattn_ttgir_place_t place = uattn_ttgir_place(role);
  uattn_ttgir_keys_t keys = uattn_ttgir_keys(role, &place);
  load_q(role, &place);
  uattn_ttgir_role_t body = *role;
  MlirRegion region = uattn_region_create(&role->b, &i32, 1, &body.b);
  MlirValue step = mlirBlockGetArgument(body.b.block, 0);
  MlirValue stages = constant(&body, role->kernel->plan->stage_count);
  MlirValue stage = uattn_ttgir_binary(&body, "arith.remsi", step, stages);
  MlirValue round = uattn_ttgir_binary(&body, "arith.divsi", step, stages);
  /* Every stage is empty before the first round. */
  MlirValue parity = uattn_ttgir_binary(
      &body, "arith.xori",
      uattn_ttgir_binary(&body, "arith.andi", round, constant(&body, 1)),
      constant(&body, 1));
  MlirValue at[4] = {place.batch, place.kv_head,
                     uattn_ttgir_first_key(&body, &keys, step),
                     constant(&body, 0)};
  load_tile(&body, &k_ring, at, stage, parity);
  load_tile(&body, &v_ring, at, stage, parity);
  uattn_yield(&body.b, NULL, 0);
  uattn_for_append(&role->b, constant(role, 0), keys.steps, constant(role, 1),
                   NULL, 0, region);
}
