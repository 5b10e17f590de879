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

static bool distribute_extf(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  if (!uattn_is_packed_tile(type))
    return uattn_distribute_copy(d, op);
  uattn_set_distributed(d, op, 0,
                        uattn_emit_widen(b, uattn_distributed_operand(d, op, 0),
                                         uattn_type_element(type)));
  return true;
}

static bool distribute_exp2_apply(uattn_distributor_t *d, MlirOperation op) {
  int64_t period = 0;
  UATTN_CHECK(uattn_op_get_i64(op, UATTN_ATTR_POLYNOMIAL_PERIOD, &period));
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_fragment_exp2(&d->builder, uattn_distributed_operand(d, op, 0),
                               period));
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

/* limit - first_key, a value a row. */
static MlirValue relative_limit(const uattn_distributor_t *d, MlirOperation op,
                                int operand) {
  const uattn_builder_t *b = &d->builder;
  MlirValue limit = uattn_distributed_operand(d, op, operand);
  MlirValue first = uattn_broadcast(b, uattn_distributed_operand(d, op, 1),
                                    mlirValueGetType(limit));
  return uattn_binary(b, "arith.subi", limit, first);
}

static bool distribute_mask_apply(uattn_distributor_t *d, MlirOperation op) {
  const MlirValue none = {NULL};
  bool has_begin = mlirOperationGetNumOperands(op) == 4;
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_fragment_mask(&d->builder, &d->place,
                               uattn_distributed_operand(d, op, 0),
                               relative_limit(d, op, 2),
                               has_begin ? relative_limit(d, op, 3) : none));
  return true;
}

static bool distribute_warp_any(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue rows[2];
  uattn_vector_elements(b, uattn_distributed_operand(d, op, 0), rows);
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_vote_any(b, uattn_binary(b, "arith.ori", rows[0], rows[1])));
  return true;
}

static bool distribute_warpgroup_all(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue rows[2];
  uattn_vector_elements(b, uattn_distributed_operand(d, op, 0), rows);
  uattn_set_distributed(
      d, op, 0,
      uattn_emit_bar_all(b, uattn_distributed_operand(d, op, 1),
                         uattn_binary(b, "arith.andi", rows[0], rows[1])));
  return true;
}

static bool distribute_row_index(uattn_distributor_t *d, MlirOperation op) {
  const uattn_builder_t *b = &d->builder;
  MlirValue rows[2] = {d->place.first_row,
                       uattn_binary(b, "arith.addi", d->place.first_row,
                                    uattn_constant_i32(b, 8))};
  uattn_set_distributed(d, op, 0, uattn_vector_from_elements(b, rows, 2));
  return true;
}

/* ---- Products -------------------------------------------------------------
 */

static bool distribute_wgmma(uattn_distributor_t *d, MlirOperation op) {
  MlirValue a = mlirOperationGetOperand(op, 0);
  MlirValue b_tile = mlirOperationGetOperand(op, 1);
  MlirType b_type = uattn_type_inner(mlirValueGetType(b_tile));
  uattn_wgmma_t wgmma = {
      .dtype = mlirTypeIsABF16(uattn_type_element(b_type)) ? UATTN_DTYPE_BF16
                                                           : UATTN_DTYPE_F16,
      .b_tile = uattn_distributed_smem_tile(d, b_tile),
      .b_is_transposed = uattn_op_has_unit(op, UATTN_ATTR_TRANSPOSE_B),
      .negates_a = uattn_op_has_unit(op, UATTN_ATTR_NEGATE_A),
  };
  wgmma.n = uattn_type_dim(b_type, wgmma.b_is_transposed ? 0 : 1);
  wgmma.k = uattn_type_dim(b_type, wgmma.b_is_transposed ? 1 : 0);
  if (uattn_type_is(mlirValueGetType(a), UATTN_TYPENAME_SMEM))
    wgmma.a_tile = uattn_distributed_smem_tile(d, a);
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

const uattn_distribute_row_t uattn_distribute_tile_ops[] = {
    {"arith.constant", distribute_constant},
    {"arith.truncf", distribute_truncf},
    {"arith.extf", distribute_extf},
    {"math.log2", distribute_log2},
    {UATTN_OPNAME_EXP2_APPLY, distribute_exp2_apply},
    {"vector.multi_reduction", distribute_multi_reduction},
    {UATTN_OPNAME_ROW_BROADCAST, distribute_row_broadcast},
    {UATTN_OPNAME_FOLD_COLUMNS, distribute_fold_columns},
    {UATTN_OPNAME_MASK_APPLY, distribute_mask_apply},
    {UATTN_OPNAME_ROW_INDEX, distribute_row_index},
    {UATTN_OPNAME_WARP_ANY, distribute_warp_any},
    {UATTN_OPNAME_WARPGROUP_ALL, distribute_warpgroup_all},
    {UATTN_OPNAME_WGMMA, distribute_wgmma},
    {UATTN_OPNAME_WGMMA_WAIT, distribute_wgmma_wait},
    {NULL, NULL},
};
