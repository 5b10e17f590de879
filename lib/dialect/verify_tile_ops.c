/* Rules of arithmetic, loads and stores on tiles.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/verify_pipeline.h"

#include <inttypes.h>

static bool verify_rank_1_rows(MlirOperation op, MlirType rows) {
  return mlirShapedTypeGetRank(rows) == 1 ||
         uattn_refuse_type(op, "rows", rows, "a vector of rank 1");
}

bool uattn_verify_cap_apply(MlirOperation op) {
  MlirStringRef method = {NULL, 0};
  uattn_cap_method_t parsed;
  uattn_string_t name = {0};
  bool is_string = uattn_op_get_string(op, UATTN_ATTR_METHOD, &method);
  if (is_string)
    uattn_string_append_bytes(&name, method.data, method.length);
  bool is_method =
      is_string && uattn_cap_method_parse(uattn_string_get(&name), &parsed);
  if (!is_method)
    uattn_emit_error(op,
                     "method is \"%s\": expected \"none\", \"tanh\", "
                     "\"soft_sign\" or \"alsc\"",
                     uattn_string_get(&name));
  uattn_string_release(&name);
  return is_method;
}

bool uattn_verify_row_broadcast(MlirOperation op) {
  uattn_tile_t tile;
  MlirType rows = uattn_operand_type(op, 0);
  if (!uattn_tile_from_vector(uattn_result_type(op, 0), &tile))
    return uattn_refuse_type(op, "the tile", uattn_result_type(op, 0),
                             "a vector of rank 2");
  if (mlirShapedTypeGetRank(rows) != 1)
    return uattn_refuse_type(op, "rows", rows, "a vector of rank 1");
  uattn_tile_t wanted = {mlirShapedTypeGetDimSize(rows, 0), tile.columns,
                         mlirShapedTypeGetElementType(rows)};
  if (uattn_tile_equals(&tile, &wanted))
    return true;
  return uattn_refuse_tile(op, "the tile", uattn_result_type(op, 0), &wanted);
}

bool uattn_verify_fold_columns(MlirOperation op) {
  uattn_tile_t tile, folded;
  MlirStringRef kind = {NULL, 0};
  if (!uattn_op_get_string(op, UATTN_ATTR_KIND, &kind) ||
      (!uattn_string_ref_is(kind, "add") &&
       !uattn_string_ref_is(kind, "max"))) {
    uattn_emit_error(op, "kind is \"%.*s\": expected \"add\" or \"max\"",
                     (int)kind.length, kind.length ? kind.data : "");
    return false;
  }
  if (!uattn_tile_from_vector(uattn_operand_type(op, 0), &tile))
    return uattn_refuse_type(op, "the tile", uattn_operand_type(op, 0),
                             "a vector of rank 2");
  if (!uattn_tile_from_vector(uattn_result_type(op, 0), &folded))
    return uattn_refuse_type(op, "the folded tile", uattn_result_type(op, 0),
                             "a vector of rank 2");
  if (tile.rows == folded.rows && mlirTypeEqual(tile.element, folded.element) &&
      tile.columns % folded.columns == 0)
    return true;
  return uattn_refuse_type(
      op, "the folded tile", uattn_result_type(op, 0),
      "the tile's rows and element type, and a divisor of its columns");
}

bool uattn_verify_exp2_apply(MlirOperation op) {
  uattn_tile_t tile;
  if (!uattn_tile_from_vector(uattn_operand_type(op, 0), &tile))
    return uattn_refuse_type(op, "exponents", uattn_operand_type(op, 0),
                             "a vector of rank 2");
  return uattn_verify_i64(op, UATTN_ATTR_POLYNOMIAL_PERIOD, 1, 1);
}

bool uattn_verify_mask_apply(MlirOperation op) {
  uattn_tile_t scores;
  if (!uattn_tile_from_vector(uattn_operand_type(op, 0), &scores))
    return uattn_refuse_type(op, "scores", uattn_operand_type(op, 0),
                             "a vector of rank 2");
  for (intptr_t i = 2; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType limits = uattn_operand_type(op, i);
    if (mlirShapedTypeGetRank(limits) != 1 ||
        mlirShapedTypeGetDimSize(limits, 0) != scores.rows ||
        !mlirTypeIsAInteger(mlirShapedTypeGetElementType(limits)))
      return uattn_refuse_type(op, "a limit", limits,
                               "a vector of i32 with an element a row");
  }
  return true;
}

bool uattn_verify_column_load(MlirOperation op) {
  uattn_tile_t tile;
  return uattn_tile_from_vector(uattn_result_type(op, 0), &tile) ||
         uattn_refuse_type(op, "the tile", uattn_result_type(op, 0),
                           "a vector of rank 2");
}

bool uattn_verify_smem_read(MlirOperation op) {
  uattn_tile_t found;
  uattn_tile_t wanted = uattn_inner_tile(uattn_operand_type(op, 0));
  return (uattn_tile_from_vector(uattn_result_type(op, 0), &found) &&
          uattn_tile_equals(&found, &wanted)) ||
         uattn_refuse_tile(op, "the tile", uattn_result_type(op, 0), &wanted);
}

bool uattn_verify_row_dot(MlirOperation op) {
  uattn_tile_t a = uattn_inner_tile(uattn_operand_type(op, 0));
  uattn_tile_t b = uattn_inner_tile(uattn_operand_type(op, 1));
  if (!uattn_tile_equals(&a, &b))
    return uattn_refuse_tile(op, "b",
                             uattn_type_inner(uattn_operand_type(op, 1)), &a);
  return verify_rank_1_rows(op, uattn_result_type(op, 0));
}

bool uattn_verify_row_load(MlirOperation op) {
  return verify_rank_1_rows(op, uattn_result_type(op, 0));
}

bool uattn_verify_row_store(MlirOperation op) {
  return verify_rank_1_rows(op, uattn_operand_type(op, 0));
}

bool uattn_verify_tile_store(MlirOperation op) {
  uattn_tile_t value;
  uattn_tile_t staging = uattn_inner_tile(uattn_operand_type(op, 1));
  if (!uattn_tile_from_vector(uattn_operand_type(op, 0), &value))
    return uattn_refuse_type(op, "value", uattn_operand_type(op, 0),
                             "a vector of rank 2");
  uattn_tile_t wanted = {staging.rows, staging.columns, value.element};
  if (!uattn_tile_equals(&value, &wanted))
    return uattn_refuse_tile(op, "value", uattn_operand_type(op, 0), &wanted);
  return uattn_verify_box(op, uattn_operand_type(op, 2), &staging);
}

bool uattn_verify_smem_transpose(MlirOperation op) {
  uattn_tile_t value;
  if (!uattn_tile_from_vector(uattn_operand_type(op, 0), &value))
    return uattn_refuse_type(op, "value", uattn_operand_type(op, 0),
                             "a vector of rank 2");
  uattn_tile_t target = uattn_inner_tile(uattn_operand_type(op, 1));
  uattn_tile_t wanted = {value.columns, value.rows, value.element};
  return uattn_tile_equals(&target, &wanted) ||
         uattn_refuse_tile(op, "the target",
                           uattn_type_inner(uattn_operand_type(op, 1)),
                           &wanted);
}

bool uattn_verify_record_store(MlirOperation op) {
  for (intptr_t i = 0; i < UATTN_RECORD_NUMBERS; ++i)
    if (!verify_rank_1_rows(op, uattn_operand_type(op, i)))
      return false;
  return true;
}

/* ---- Sums -------------------------------------------------------------------
 */

bool uattn_verify_sums_clear(MlirOperation op) {
  return uattn_verify_i64(op, UATTN_ATTR_COLUMNS, UATTN_COLUMN_BLOCK,
                          UATTN_COLUMN_BLOCK);
}

bool uattn_verify_sums_add(MlirOperation op) {
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(op));
  uattn_tile_t wanted = {UATTN_WARPGROUP_ROWS, UATTN_COLUMN_BLOCK, f32};
  uattn_tile_t value, staging = uattn_inner_tile(uattn_operand_type(op, 1));
  if (!uattn_tile_from_vector(uattn_operand_type(op, 0), &value) ||
      !uattn_tile_equals(&value, &wanted))
    return uattn_refuse_tile(op, "value", uattn_operand_type(op, 0), &wanted);
  return uattn_tile_equals(&staging, &wanted) ||
         uattn_refuse_tile(op, "staging",
                           uattn_type_inner(uattn_operand_type(op, 1)),
                           &wanted);
}

bool uattn_verify_sums_load(MlirOperation op) {
  uattn_tile_t tile;
  return (uattn_tile_from_vector(uattn_result_type(op, 0), &tile) &&
          tile.columns % UATTN_COLUMN_BLOCK == 0) ||
         uattn_refuse_type(op, "the tile", uattn_result_type(op, 0),
                           "a vector of rank 2 and a multiple of 64 columns");
}
