/* Rules of roles, rings and barriers.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/verify_pipeline.h"

#include <inttypes.h>

/* Swizzled tiles start where the 128-byte pattern repeats. */
#define SMEM_TILE_ALIGNMENT_BYTES 1024
#define MBARRIER_BYTES 8
#define WARP_THREADS 32

/* An array of i64, one a role; -1 where it is none. */
static intptr_t role_count(MlirOperation op, const char *name) {
  MlirAttribute array = uattn_op_get_attribute(op, name);
  if (!mlirAttributeIsNull(array) && mlirAttributeIsADenseI64Array(array))
    return mlirDenseArrayGetNumElements(array);
  uattn_emit_error(op, "%s is missing or no array: expected array<i64: ...>",
                   name);
  return -1;
}

/* What setmaxnreg takes. */
static bool verify_role_registers(MlirOperation op) {
  MlirAttribute array = uattn_op_get_attribute(op, UATTN_ATTR_REGISTERS);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(array); ++i) {
    int64_t count = mlirDenseI64ArrayGetElement(array, i);
    if (count >= 24 && count <= 256 && count % 8 == 0)
      continue;
    uattn_emit_error(op,
                     "registers has %" PRId64
                     " at entry %td: expected a multiple of 8 from 24 to 256",
                     count, i);
    return false;
  }
  return true;
}

bool uattn_verify_role(MlirOperation op) {
  intptr_t registers = role_count(op, UATTN_ATTR_REGISTERS);
  intptr_t warpgroups = role_count(op, UATTN_ATTR_WARPGROUPS);
  if (registers < 0 || warpgroups < 0)
    return false;
  if (registers != warpgroups || registers == 0) {
    uattn_emit_error(op,
                     "registers has %td entries and warpgroups %td: expected "
                     "one each a role",
                     registers, warpgroups);
    return false;
  }
  return verify_role_registers(op);
}

bool uattn_verify_segment_hull(MlirOperation op) {
  return uattn_verify_i64(op, UATTN_ATTR_ROWS, 1, 1) &&
         uattn_verify_i64(op, UATTN_ATTR_THREADS, WARP_THREADS, WARP_THREADS) &&
         uattn_verify_i64(op, UATTN_ATTR_SMEM_OFFSET, 0, MBARRIER_BYTES);
}

bool uattn_verify_ring_alloc(MlirOperation op) {
  return uattn_verify_i64(op, UATTN_ATTR_SMEM_OFFSET, 0,
                          SMEM_TILE_ALIGNMENT_BYTES) &&
         uattn_verify_i64(op, UATTN_ATTR_BARRIER_OFFSET, 0, MBARRIER_BYTES) &&
         uattn_verify_i64(op, UATTN_ATTR_CONSUMER_WARPS, 1, 1);
}

bool uattn_verify_ring_produce(MlirOperation op) {
  uattn_tile_t tile = uattn_inner_tile(uattn_operand_type(op, 4));
  return uattn_verify_box(op, uattn_operand_type(op, 0), &tile);
}

static bool verify_records(MlirOperation op, const char *what, MlirType type) {
  uattn_tile_t tile = uattn_inner_tile(type);
  uattn_tile_t wanted = {tile.rows, UATTN_RECORD_NUMBERS,
                         mlirF32TypeGet(mlirOperationGetContext(op))};
  return uattn_tile_equals(&tile, &wanted) ||
         uattn_refuse_tile(op, what, uattn_type_inner(type), &wanted);
}

bool uattn_verify_ring_produce_records(MlirOperation op) {
  return verify_records(op, "the ring's tile", uattn_operand_type(op, 2));
}

bool uattn_verify_column_read(MlirOperation op) {
  uattn_tile_t tile;
  int64_t field = 0;
  if (!verify_records(op, "the tile of records", uattn_operand_type(op, 0)) ||
      !uattn_verify_i64(op, UATTN_ATTR_FIELD, 0, 1))
    return false;
  (void)uattn_op_get_i64(op, UATTN_ATTR_FIELD, &field);
  if (field >= UATTN_RECORD_NUMBERS) {
    uattn_emit_error(op, "field is %" PRId64 ": expected at most %d", field,
                     UATTN_RECORD_NUMBERS - 1);
    return false;
  }
  uattn_tile_t records = uattn_inner_tile(uattn_operand_type(op, 0));
  return (uattn_tile_from_vector(uattn_result_type(op, 0), &tile) &&
          tile.columns == records.rows) ||
         uattn_refuse_type(op, "the tile", uattn_result_type(op, 0),
                           "a vector of rank 2 with a column a record");
}

bool uattn_verify_smem_alloc(MlirOperation op) {
  return uattn_verify_i64(op, UATTN_ATTR_SMEM_OFFSET, 0,
                          SMEM_TILE_ALIGNMENT_BYTES);
}

bool uattn_verify_ring_acquire(MlirOperation op) {
  uattn_tile_t wanted = uattn_inner_tile(uattn_operand_type(op, 0));
  uattn_tile_t found = uattn_inner_tile(uattn_result_type(op, 0));
  if (found.rows < wanted.rows) /* a box of fewer rows was produced */
    wanted.rows = found.rows;
  return uattn_tile_equals(&wanted, &found) ||
         uattn_refuse_tile(op, "the acquired tile",
                           uattn_type_inner(uattn_result_type(op, 0)), &wanted);
}

/* The result is `wanted`, one of the parts of `multiple` rows or columns that
 * the source divides into. */
static bool verify_part(MlirOperation op, const char *kind,
                        int64_t source_count, int64_t multiple,
                        const char *what, const uattn_tile_t *wanted) {
  uattn_tile_t found = uattn_inner_tile(uattn_result_type(op, 0));
  if (source_count % multiple != 0) {
    uattn_emit_error(op,
                     "the source has %" PRId64 " %s: expected a multiple of "
                     "%" PRId64,
                     source_count, kind, multiple);
    return false;
  }
  return uattn_tile_equals(wanted, &found) ||
         uattn_refuse_tile(op, what, uattn_type_inner(uattn_result_type(op, 0)),
                           wanted);
}

bool uattn_verify_smem_rows(MlirOperation op) {
  uattn_tile_t source = uattn_inner_tile(uattn_operand_type(op, 0));
  uattn_tile_t wanted = source;
  wanted.rows = UATTN_WARPGROUP_ROWS;
  return verify_part(op, "rows", source.rows, wanted.rows, "the tile of rows",
                     &wanted);
}

bool uattn_verify_smem_columns(MlirOperation op) {
  uattn_tile_t source = uattn_inner_tile(uattn_operand_type(op, 0));
  uattn_tile_t wanted = source;
  wanted.columns = UATTN_COLUMN_BLOCK;
  return verify_part(op, "columns", source.columns, wanted.columns,
                     "the tile of columns", &wanted);
}

bool uattn_verify_named_barrier(MlirOperation op) {
  return uattn_verify_i64(op, UATTN_ATTR_THREADS, WARP_THREADS, WARP_THREADS);
}
