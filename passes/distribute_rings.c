/* Rings, shared-memory tiles and their copies for one thread.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/distribute.h"

enum { MBARRIER_BYTES = 8, SLOT_BARRIER_BYTES = 2 * MBARRIER_BYTES };

/* A ring's constants, from its ring_alloc. */
typedef struct {
  int64_t rows;
  int64_t panel_count;
  int64_t panel_bytes;
  int64_t slot_bytes;
  int64_t stage_count;
  int64_t smem_offset;
  int64_t barrier_offset;
  int64_t consumer_warps;
} ring_t;

static int64_t get_i64(MlirOperation op, const char *name) {
  int64_t value = 0;
  UATTN_CHECK(uattn_op_get_i64(op, name, &value));
  return value;
}

static ring_t ring_of(MlirValue value) {
  MlirOperation alloc = mlirOpResultGetOwner(value);
  MlirType type = mlirValueGetType(value);
  MlirType tile = uattn_type_inner(type);
  ring_t ring = {
      .rows = uattn_type_dim(tile, 0),
      .panel_count = uattn_type_dim(tile, 1) / UATTN_PANEL_COLUMNS,
      .stage_count = uattn_ring_stage_count(type),
      .smem_offset = get_i64(alloc, UATTN_ATTR_SMEM_OFFSET),
      .barrier_offset = get_i64(alloc, UATTN_ATTR_BARRIER_OFFSET),
      .consumer_warps = get_i64(alloc, UATTN_ATTR_CONSUMER_WARPS),
  };
  ring.panel_bytes = ring.rows * UATTN_PANEL_ROW_BYTES;
  ring.slot_bytes = mlirTypeIsAF32(uattn_type_element(tile))
                        ? 4 * ring.rows * uattn_type_dim(tile, 1)
                        : ring.panel_count * ring.panel_bytes;
  return ring;
}

static MlirValue add_constant(const uattn_builder_t *b, MlirValue value,
                              int64_t amount) {
  return uattn_binary(b, "arith.addi", value,
                      uattn_constant_i32(b, (int32_t)amount));
}

static MlirValue scale(const uattn_builder_t *b, MlirValue value,
                       int64_t factor) {
  return uattn_binary(b, "arith.muli", value,
                      uattn_constant_i32(b, (int32_t)factor));
}

/* Slot and parity of a step: slot = step % stages; each full pass over the
 * ring flips the parity of both barriers. */
typedef struct {
  MlirValue address;
  MlirValue full_barrier;
  MlirValue empty_barrier;
  MlirValue parity;
} slot_t;

static slot_t slot_of_step(const uattn_distributor_t *d, const ring_t *ring,
                           MlirValue step) {
  const uattn_builder_t *b = &d->builder;
  MlirValue stages = uattn_constant_i32(b, (int32_t)ring->stage_count);
  MlirValue index = uattn_binary(b, "arith.remui", step, stages);
  MlirValue pass = uattn_binary(b, "arith.divui", step, stages);
  MlirValue barriers = uattn_binary(b, "arith.addi", d->smem_base,
                                    scale(b, index, SLOT_BARRIER_BYTES));
  slot_t slot;
  slot.address = add_constant(b,
                              uattn_binary(b, "arith.addi", d->smem_base,
                                           scale(b, index, ring->slot_bytes)),
                              ring->smem_offset);
  slot.full_barrier = add_constant(b, barriers, ring->barrier_offset);
  slot.empty_barrier = add_constant(b, slot.full_barrier, MBARRIER_BYTES);
  slot.parity = uattn_binary(b, "arith.andi", pass, uattn_constant_i32(b, 1));
  return slot;
}

/* Thread 0 initialises the barriers; the role op makes them known to all. */
static bool distribute_ring_alloc(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  ring_t ring = ring_of(mlirOperationGetResult(op, 0));
  MlirValue is_first =
      uattn_compare_i(b, UATTN_CMPI_EQ, d->thread, uattn_constant_i32(b, 0));
  uattn_builder_t then;
  MlirRegion region = uattn_region_create(b, NULL, 0, &then);
  for (int64_t i = 0; i < ring.stage_count; ++i) {
    MlirValue full = add_constant(&then, d->smem_base,
                                  ring.barrier_offset + SLOT_BARRIER_BYTES * i);
    uattn_emit_mbarrier_init(&then, full, 1);
    uattn_emit_mbarrier_init(&then, add_constant(&then, full, MBARRIER_BYTES),
                             (int32_t)ring.consumer_warps);
  }
  uattn_yield(&then, NULL, 0);
  uattn_if_append(b, is_first, region);
  uattn_set_distributed(d, op, 0,
                        add_constant(b, d->smem_base, ring.smem_offset));
  return true;
}

/* Waits until the slot is empty and says how much will come. The first pass
 * over the ring finds its slots empty. */
static void begin_slot(const uattn_builder_t *b, const slot_t *slot,
                       int64_t bytes) {
  uattn_emit_mbarrier_wait(
      b, slot->empty_barrier,
      uattn_binary(b, "arith.xori", slot->parity, uattn_constant_i32(b, 1)));
  uattn_emit_mbarrier_arrive_expect_tx(b, slot->full_barrier, (int32_t)bytes);
}

static bool distribute_ring_produce_records(uattn_distributor_t *d,
                                            MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  ring_t ring = ring_of(mlirOperationGetOperand(op, 2));
  slot_t slot = slot_of_step(d, &ring, uattn_distributed_operand(d, op, 3));
  begin_slot(b, &slot, ring.slot_bytes);
  uattn_emit_bulk_load(
      b,
      uattn_emit_global_address(b, uattn_distributed_operand(d, op, 0),
                                uattn_distributed_operand(d, op, 1),
                                uattn_constant_i32(b, 0), uattn_type_f32(b)),
      (int32_t)ring.slot_bytes, slot.address, slot.full_barrier);
  return true;
}

/* Panels lie as far apart as the box has rows, which may be fewer than the
 * slot's. */
static bool distribute_ring_produce(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  ring_t ring = ring_of(mlirOperationGetOperand(op, 4));
  MlirType box =
      uattn_type_inner(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  int64_t panel_bytes = uattn_type_dim(box, 0) * UATTN_PANEL_ROW_BYTES;
  slot_t slot = slot_of_step(d, &ring, uattn_distributed_operand(d, op, 5));
  uattn_tma_coordinates_t at = {
      .head = uattn_distributed_operand(d, op, 1),
      .row = uattn_distributed_operand(d, op, 2),
      .batch = uattn_distributed_operand(d, op, 3),
  };
  begin_slot(b, &slot, ring.panel_count * panel_bytes);
  for (int64_t panel = 0; panel < ring.panel_count; ++panel) {
    at.column = uattn_constant_i32(b, (int32_t)panel * UATTN_PANEL_COLUMNS);
    uattn_emit_tma_load(b, uattn_distributed_operand(d, op, 0), &at,
                        add_constant(b, slot.address, panel * panel_bytes),
                        slot.full_barrier);
  }
  return true;
}

static bool distribute_ring_acquire(uattn_distributor_t *d, MlirOperation op) {
  ring_t ring = ring_of(mlirOperationGetOperand(op, 0));
  slot_t slot = slot_of_step(d, &ring, uattn_distributed_operand(d, op, 1));
  uattn_emit_mbarrier_wait(&d->builder, slot.full_barrier, slot.parity);
  uattn_set_distributed(d, op, 0, slot.address);
  return true;
}

/* One arrival a warp. */
static bool distribute_ring_release(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  ring_t ring = ring_of(mlirOperationGetOperand(op, 0));
  slot_t slot = slot_of_step(d, &ring, uattn_distributed_operand(d, op, 1));
  MlirValue lane =
      uattn_binary(b, "arith.andi", d->thread, uattn_constant_i32(b, 31));
  MlirValue is_first =
      uattn_compare_i(b, UATTN_CMPI_EQ, lane, uattn_constant_i32(b, 0));
  uattn_emit_mbarrier_arrive_when(b, slot.empty_barrier, is_first);
  return true;
}

static bool distribute_smem_alloc(uattn_distributor_t *d, MlirOperation op) {
  uattn_set_distributed(d, op, 0,
                        add_constant(&d->builder, d->smem_base,
                                     get_i64(op, UATTN_ATTR_SMEM_OFFSET)));
  return true;
}

static bool distribute_smem_columns(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  uattn_smem_tile_t source =
      uattn_distributed_smem_tile(d, mlirOperationGetOperand(op, 0));
  uattn_set_distributed(
      d, op, 0,
      uattn_binary(
          b, "arith.addi", source.address,
          scale(b, uattn_distributed_operand(d, op, 1), source.panel_bytes)));
  return true;
}

static bool distribute_smem_rows(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirType tile =
      uattn_type_inner(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  int64_t row_bytes = mlirTypeIsAF32(uattn_type_element(tile))
                          ? 4 * uattn_type_dim(tile, 1)
                          : UATTN_PANEL_ROW_BYTES;
  MlirValue offset = scale(b, uattn_distributed_operand(d, op, 1),
                           UATTN_WARPGROUP_ROWS * row_bytes);
  uattn_set_distributed(d, op, 0,
                        uattn_binary(b, "arith.addi",
                                     uattn_distributed_operand(d, op, 0),
                                     offset));
  return true;
}

const uattn_distribute_row_t uattn_distribute_ring_ops[] = {
    {UATTN_OPNAME_RING_ALLOC, distribute_ring_alloc},
    {UATTN_OPNAME_RING_PRODUCE, distribute_ring_produce},
    {UATTN_OPNAME_RING_ACQUIRE, distribute_ring_acquire},
    {UATTN_OPNAME_RING_RELEASE, distribute_ring_release},
    {UATTN_OPNAME_RING_PRODUCE_RECORDS, distribute_ring_produce_records},
    {UATTN_OPNAME_SMEM_ALLOC, distribute_smem_alloc},
    {UATTN_OPNAME_SMEM_ROWS, distribute_smem_rows},
    {UATTN_OPNAME_SMEM_COLUMNS, distribute_smem_columns},
    {NULL, NULL},
};
