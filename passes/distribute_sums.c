/* Sums and records for one thread.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "passes/distribute.h"

/* From the operand that is the memory on. */
static uattn_sums_place_t place_of(const uattn_distributor_t *d,
                                   MlirOperation op, int memory) {
  uattn_sums_place_t place = {uattn_distributed_operand(d, op, memory),
                              uattn_distributed_operand(d, op, memory + 1),
                              uattn_distributed_operand(d, op, memory + 2),
                              uattn_distributed_operand(d, op, memory + 3)};
  return place;
}

static bool distribute_record_store(uattn_distributor_t *d, MlirOperation op) {
  uattn_sums_place_t records = place_of(d, op, UATTN_RECORD_NUMBERS);
  MlirValue fields[UATTN_RECORD_NUMBERS];
  for (int i = 0; i < UATTN_RECORD_NUMBERS; ++i)
    fields[i] = uattn_distributed_operand(d, op, i);
  uattn_emit_record_write(&d->builder, &d->place, fields, &records);
  return true;
}

static bool distribute_column_read(uattn_distributor_t *d, MlirOperation op) {
  int64_t field = 0;
  MlirType tile = mlirValueGetType(mlirOperationGetResult(op, 0));
  UATTN_CHECK(uattn_op_get_i64(op, UATTN_ATTR_FIELD, &field));
  uattn_set_distributed(d, op, 0,
                        uattn_emit_record_columns(
                            &d->builder, &d->place,
                            uattn_distributed_operand(d, op, 0), field,
                            uattn_type_dim(tile, 1), uattn_type_element(tile)));
  return true;
}

static bool distribute_sums_clear(uattn_distributor_t *d, MlirOperation op) {
  uattn_sums_place_t sums = place_of(d, op, 0);
  int64_t columns = 0;
  UATTN_CHECK(uattn_op_get_i64(op, UATTN_ATTR_COLUMNS, &columns));
  uattn_emit_sums_zero(&d->builder, d->thread, &sums, columns);
  return true;
}

/* The first thread starts all of the warpgroup's copies and so is the one that
 * can wait for the last. */
static bool distribute_sums_add(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  const MlirValue always = {NULL};
  MlirValue staging = uattn_distributed_operand(d, op, 1);
  uattn_sums_place_t sums = place_of(d, op, 2);
  MlirValue barrier = uattn_distributed_operand(d, op, 6);
  MlirValue is_first = uattn_distributed_elected(d);
  uattn_builder_t waiter, copier;
  MlirRegion wait = uattn_region_create(b, NULL, 0, &waiter);
  uattn_emit_sums_wait(&waiter);
  uattn_yield(&waiter, NULL, 0);
  uattn_if_append(b, is_first, wait);
  uattn_emit_bar(b, true, barrier, UATTN_WARPGROUP_THREADS, always);
  uattn_emit_sums_stage(b, &d->place, uattn_distributed_operand(d, op, 0),
                        staging, sums.first_row);
  uattn_emit_async_proxy_fence(b);
  uattn_emit_bar(b, true, barrier, UATTN_WARPGROUP_THREADS, always);
  MlirRegion copy = uattn_region_create(b, NULL, 0, &copier);
  uattn_emit_sums_copy(&copier, &sums, staging);
  uattn_yield(&copier, NULL, 0);
  uattn_if_append(b, is_first, copy);
  return true;
}

static bool distribute_sums_load(uattn_distributor_t *d, MlirOperation op) {
  uattn_sums_place_t sums = place_of(d, op, 0);
  MlirType tile = mlirValueGetType(mlirOperationGetResult(op, 0));
  uattn_set_distributed(d, op, 0,
                        uattn_emit_sums_fragment(&d->builder, &d->place, &sums,
                                                 uattn_type_dim(tile, 1)));
  return true;
}

const uattn_distribute_row_t uattn_distribute_sum_ops[] = {
    {UATTN_OPNAME_RECORD_STORE, distribute_record_store},
    {UATTN_OPNAME_COLUMN_READ, distribute_column_read},
    {UATTN_OPNAME_SUMS_CLEAR, distribute_sums_clear},
    {UATTN_OPNAME_SUMS_ADD, distribute_sums_add},
    {UATTN_OPNAME_SUMS_LOAD, distribute_sums_load},
    {NULL, NULL},
};
