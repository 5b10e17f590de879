/* Tiles in registers for one thread: products, reductions, rows.
 * Layer: passes. Must not know: any particular kernel.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "passes/distribute.h"

/* Fragment elements of a result's type. */
static int64_t fragment_size(MlirOperation op, int result) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, result));
  return uattn_type_dim(uattn_distributed_type(type), 0);
}

/* ---- Constants and elementwise ops that need more than new types ----------
 */

static bool distribute_constant(uattn_distributor_t *d, MlirOperation op) {
  MlirAttribute value = uattn_op_get_attribute(op, "value");
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirTypeIsAVector(type))
    return uattn_distribute_copy(d, op);
  MlirType distributed = uattn_distributed_type(type);
  uattn_op_t made = uattn_op("arith.constant");
  uattn_op_attribute(
      &made, "value",
      mlirDenseElementsAttrSplatGet(distributed,
                                    mlirDenseElementsAttrGetSplatValue(value)));
  uattn_op_result(&made, distributed);
  uattn_set_distributed(d, op, 0, uattn_op_append_value(&d->builder, &made));
  return true;
}

/* LLVM selects no log2 for NVPTX; the instruction is lg2.approx. */
static MlirValue emit_log2(const uattn_builder_t *b, MlirValue value) {
  return mlirOperationGetResult(
      uattn_inline_ptx(b, "lg2.approx.ftz.f32 $0, $1;", "=f,f", &value, 1,
                       uattn_type_f32(b)),
      0);
}

static bool distribute_log2(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue source = uattn_distributed_operand(d, op, 0);
  if (!mlirTypeIsAVector(mlirValueGetType(source))) {
    uattn_set_distributed(d, op, 0, emit_log2(b, source));
    return true;
  }
  int count = (int)fragment_size(op, 0);
  MlirValue *elements = uattn_allocate((size_t)count * sizeof *elements);
  uattn_vector_elements(b, source, elements);
  for (int i = 0; i < count; ++i)
    elements[i] = emit_log2(b, elements[i]);
  uattn_set_distributed(d, op, 0,
                        uattn_vector_from_elements(b, elements, count));
  free(elements);
  return true;
}

/* Two neighbouring columns share a register, as products and stores want. */
static bool distribute_truncf(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!uattn_is_packed_tile(type))
    return uattn_distribute_copy(d, op);
  MlirValue source = uattn_distributed_operand(d, op, 0);
  MlirType narrow = uattn_type_vector1(
      uattn_type_element(type), uattn_type_dim(mlirValueGetType(source), 0));
  uattn_set_distributed(
      d, op, 0,
      uattn_cast(b, "vector.bitcast",
                 uattn_cast(b, "arith.truncf", source, narrow),
                 uattn_distributed_type(type)));
  return true;
}

/* ---- Rows and columns -----------------------------------------------------
 */

static bool distribute_row_broadcast(uattn_distributor_t *d, MlirOperation op) {
  uattn_set_distributed(d, op, 0,
                        uattn_emit_fragment_spread(
                            &d->builder, uattn_distributed_operand(d, op, 0),
                            fragment_size(op, 0)));
  return true;
}

static bool distribute_fold_columns(uattn_distributor_t *d, MlirOperation op) {
  MlirStringRef kind;
  UATTN_CHECK(uattn_op_get_string(op, UATTN_ATTR_KIND, &kind));
  const char *combine =
      uattn_string_ref_is(kind, "max") ? "arith.maxnumf" : "arith.addf";
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_fragment_fold(&d->builder, combine,
                               uattn_distributed_operand(d, op, 0),
                               fragment_size(op, 0)));
  return true;
}

/* The binary op of a vector.kind, or NULL for one that we do not use. */
static const char *combining_op(MlirOperation op) {
  static const struct {
    const char *kind;
    const char *name;
  } known[] = {
      {"#vector.kind<maxnumf>", "arith.maxnumf"},
      {"#vector.kind<add>", "arith.addf"},
  };
  const char *found = NULL;
  uattn_string_t text = {0};
  mlirAttributePrint(uattn_op_get_attribute(op, "kind"),
                     uattn_string_append_ref, &text);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
    if (strcmp(uattn_string_get(&text), known[i].kind) == 0)
      found = known[i].name;
  uattn_string_release(&text);
  return found;
}

static bool distribute_multi_reduction(uattn_distributor_t *d,
                                       MlirOperation op) {
  MlirAttribute dims = uattn_op_get_attribute(op, "reduction_dims");
  const char *combine = combining_op(op);
  if (!combine || mlirDenseArrayGetNumElements(dims) != 1 ||
      mlirDenseI64ArrayGetElement(dims, 0) != 1) {
    uattn_emit_error(op,
                     "a reduction is not by <add> or <maxnumf>, or not over "
                     "dimension 1 alone: no other has a layout");
    return false;
  }
  const uattn_builder_t *b = &d->builder;
  MlirValue reduced = uattn_emit_fragment_reduce(
      b, combine, uattn_distributed_operand(d, op, 0));
  uattn_set_distributed(
      d, op, 0,
      uattn_binary(b, combine, reduced, uattn_distributed_operand(d, op, 1)));
  return true;
}

static bool distribute_column_index(uattn_distributor_t *d, MlirOperation op) {
  uattn_set_distributed(d, op, 0,
                        uattn_emit_fragment_columns(&d->builder, &d->place,
                                                    fragment_size(op, 0)));
  return true;
}

/* ---- Rows in global memory ------------------------------------------------
 */

/* The tensor row of the thread's row `i` (0 or 1) of the tile at `first`. */
static MlirValue tensor_row(const uattn_distributor_t *d, MlirValue first,
                            int i) {
  const uattn_builder_t *b = &d->builder;
  MlirValue row = uattn_binary(b, "arith.addi", first, d->place.first_row);
  return i ? uattn_binary(b, "arith.addi", row, uattn_constant_i32(b, 8)) : row;
}

/* base + offset + row, in elements. */
static MlirValue row_address(const uattn_builder_t *b, MlirValue base,
                             MlirValue offset, MlirValue row,
                             MlirType element) {
  int32_t dynamic_index = INT32_MIN; /* the index is an operand */
  MlirValue index =
      uattn_binary(b, "arith.addi", offset,
                   uattn_cast(b, "arith.extui", row, uattn_type_i64(b)));
  uattn_op_t op = uattn_op("llvm.getelementptr");
  uattn_op_operand(&op, base);
  uattn_op_operand(&op, index);
  uattn_op_attribute(&op, "elem_type", mlirTypeAttrGet(element));
  uattn_op_attribute(&op, "rawConstantIndices",
                     mlirDenseI32ArrayGet(b->context, 1, &dynamic_index));
  uattn_op_result(&op, mlirValueGetType(base));
  return uattn_op_append_value(b, &op);
}

static MlirValue load_f32(const uattn_builder_t *b, MlirValue address,
                          MlirType element) {
  uattn_op_t op = uattn_op("llvm.load");
  uattn_op_operand(&op, address);
  uattn_op_result(&op, element);
  MlirValue loaded = uattn_op_append_value(b, &op);
  return mlirTypeIsAF32(element)
             ? loaded
             : uattn_cast(b, "arith.extf", loaded, uattn_type_f32(b));
}

static bool distribute_row_load(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirType element =
      uattn_type_inner(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  MlirValue rows[2];
  for (int i = 0; i < 2; ++i) {
    MlirValue row = tensor_row(d, uattn_distributed_operand(d, op, 2), i);
    MlirValue is_inside = uattn_compare_i(b, UATTN_CMPI_SLT, row,
                                          uattn_distributed_operand(d, op, 3));
    uattn_builder_t inside, outside;
    uattn_op_t made = uattn_op("scf.if");
    uattn_op_operand(&made, is_inside);
    uattn_op_region(&made, uattn_region_create(b, NULL, 0, &inside));
    MlirValue address =
        row_address(&inside, uattn_distributed_operand(d, op, 0),
                    uattn_distributed_operand(d, op, 1), row, element);
    MlirValue loaded = load_f32(&inside, address, element);
    uattn_yield(&inside, &loaded, 1);
    uattn_op_region(&made, uattn_region_create(b, NULL, 0, &outside));
    MlirValue zero = uattn_constant_f32(&outside, 0.0);
    uattn_yield(&outside, &zero, 1);
    uattn_op_result(&made, uattn_type_f32(b));
    rows[i] = uattn_op_append_value(b, &made);
  }
  uattn_set_distributed(d, op, 0, uattn_vector_from_elements(b, rows, 2));
  return true;
}

/* The four threads of a row hold the same value; the first writes it. */
static bool distribute_row_store(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue rows[2];
  uattn_vector_elements(b, uattn_distributed_operand(d, op, 0), rows);
  for (int i = 0; i < 2; ++i) {
    MlirValue row = tensor_row(d, uattn_distributed_operand(d, op, 3), i);
    MlirValue is_inside = uattn_compare_i(b, UATTN_CMPI_SLT, row,
                                          uattn_distributed_operand(d, op, 4));
    uattn_builder_t then;
    MlirRegion region = uattn_region_create(b, NULL, 0, &then);
    uattn_op_t store = uattn_op("llvm.store");
    uattn_op_operand(&store, rows[i]);
    uattn_op_operand(&store,
                     row_address(&then, uattn_distributed_operand(d, op, 1),
                                 uattn_distributed_operand(d, op, 2), row,
                                 mlirValueGetType(rows[i])));
    uattn_op_append(&then, &store);
    uattn_yield(&then, NULL, 0);
    uattn_if_append(
        b, uattn_binary(b, "arith.andi", d->place.is_row_leader, is_inside),
        region);
  }
  return true;
}

/* ---- Products -------------------------------------------------------------
 */

/* Bytes between panels of an smem value: those of the tile that it is part
 * of. */
static int64_t panel_bytes(MlirValue tile) {
  MlirOperation owner = mlirOpResultGetOwner(tile);
  if (uattn_op_is(owner, UATTN_OPNAME_SMEM_ROWS))
    return panel_bytes(mlirOperationGetOperand(owner, 0));
  return uattn_type_dim(uattn_type_inner(mlirValueGetType(tile)), 0) *
         UATTN_PANEL_ROW_BYTES;
}

static uattn_smem_tile_t smem_tile(const uattn_distributor_t *d,
                                   MlirValue tile) {
  uattn_smem_tile_t result = {uattn_distributed(d, tile), panel_bytes(tile)};
  return result;
}

static bool distribute_wgmma(uattn_distributor_t *d, MlirOperation op) {
  MlirValue a = mlirOperationGetOperand(op, 0);
  MlirValue b_tile = mlirOperationGetOperand(op, 1);
  MlirType b_type = uattn_type_inner(mlirValueGetType(b_tile));
  uattn_wgmma_t wgmma = {
      .dtype = mlirTypeIsABF16(uattn_type_element(b_type)) ? UATTN_DTYPE_BF16
                                                           : UATTN_DTYPE_F16,
      .b_tile = smem_tile(d, b_tile),
      .b_is_transposed = uattn_op_has_unit(op, UATTN_ATTR_TRANSPOSE_B),
      .negates_a = uattn_op_has_unit(op, UATTN_ATTR_NEGATE_A),
  };
  wgmma.n = uattn_type_dim(b_type, wgmma.b_is_transposed ? 0 : 1);
  wgmma.k = uattn_type_dim(b_type, wgmma.b_is_transposed ? 1 : 0);
  if (uattn_type_is(mlirValueGetType(a), UATTN_TYPENAME_SMEM))
    wgmma.a_tile = smem_tile(d, a);
  else
    wgmma.a_fragment = uattn_distributed(d, a);
  if (mlirOperationGetNumOperands(op) == 3)
    wgmma.accumulator = uattn_distributed_operand(d, op, 2);
  uattn_set_distributed(d, op, 0, uattn_emit_wgmma_group(&d->builder, &wgmma));
  return true;
}

static bool distribute_wgmma_wait(uattn_distributor_t *d, MlirOperation op) {
  int count = (int)mlirOperationGetNumOperands(op);
  int64_t pending = 0;
  MlirValue values[2];
  UATTN_CHECK(count <= 2 && uattn_op_get_i64(op, UATTN_ATTR_PENDING, &pending));
  for (int i = 0; i < count; ++i)
    values[i] = uattn_distributed_operand(d, op, i);
  uattn_emit_wgmma_wait_group(&d->builder, pending, values, count);
  for (int i = 0; i < count; ++i)
    uattn_set_distributed(d, op, i, values[i]);
  return true;
}

/* ---- Storing a tile -------------------------------------------------------
 */

static void emit_panel_stores(const uattn_distributor_t *d,
                              const uattn_builder_t *b, MlirOperation op,
                              uattn_smem_tile_t staging, int64_t columns) {
  uattn_tma_coordinates_t at = {
      .head = uattn_distributed_operand(d, op, 3),
      .row = uattn_distributed_operand(d, op, 4),
      .batch = uattn_distributed_operand(d, op, 5),
  };
  for (int64_t panel = 0; panel < columns / UATTN_PANEL_COLUMNS; ++panel) {
    at.column = uattn_constant_i32(b, (int32_t)panel * UATTN_PANEL_COLUMNS);
    MlirValue source = uattn_binary(
        b, "arith.addi", staging.address,
        uattn_constant_i32(b, (int32_t)(panel * staging.panel_bytes)));
    uattn_emit_tma_store(b, uattn_distributed_operand(d, op, 2), &at, source);
  }
  uattn_emit_tma_store_wait(b);
}

/* The warpgroup meets before it writes, since another warp's product may still
 * have read the staging tile, and again before one thread copies it out. */
static bool distribute_tile_store(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  const MlirValue always = {NULL};
  MlirValue barrier = uattn_distributed_operand(d, op, 6);
  uattn_smem_tile_t staging = smem_tile(d, mlirOperationGetOperand(op, 1));
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  uattn_emit_bar(b, true, barrier, UATTN_WARPGROUP_THREADS, always);
  uattn_emit_fragment_store(b, d->thread, uattn_distributed_operand(d, op, 0),
                            staging);
  uattn_emit_async_proxy_fence(b);
  uattn_emit_bar(b, true, barrier, UATTN_WARPGROUP_THREADS, always);
  MlirValue in_warpgroup =
      uattn_binary(b, "arith.andi", d->thread,
                   uattn_constant_i32(b, UATTN_WARPGROUP_THREADS - 1));
  MlirValue is_first =
      uattn_compare_i(b, UATTN_CMPI_EQ, in_warpgroup, uattn_constant_i32(b, 0));
  uattn_builder_t then;
  MlirRegion region = uattn_region_create(b, NULL, 0, &then);
  emit_panel_stores(d, &then, op, staging, uattn_type_dim(type, 1));
  uattn_yield(&then, NULL, 0);
  uattn_if_append(b, is_first, region);
  return true;
}

const uattn_distribute_row_t uattn_distribute_tile_ops[] = {
    {"arith.constant", distribute_constant},
    {"arith.truncf", distribute_truncf},
    {"math.log2", distribute_log2},
    {"vector.multi_reduction", distribute_multi_reduction},
    {UATTN_OPNAME_ROW_BROADCAST, distribute_row_broadcast},
    {UATTN_OPNAME_FOLD_COLUMNS, distribute_fold_columns},
    {UATTN_OPNAME_COLUMN_INDEX, distribute_column_index},
    {UATTN_OPNAME_ROW_LOAD, distribute_row_load},
    {UATTN_OPNAME_ROW_STORE, distribute_row_store},
    {UATTN_OPNAME_WGMMA, distribute_wgmma},
    {UATTN_OPNAME_WGMMA_WAIT, distribute_wgmma_wait},
    {UATTN_OPNAME_TILE_STORE, distribute_tile_store},
    {NULL, NULL},
};
