/* Tiles, attributes and messages for the pipeline level's rules.
 * Layer: dialect. Must not know: plans, kernels, how an op is lowered.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dialect/verify_pipeline.h"

#include <inttypes.h>

bool uattn_tile_from_vector(MlirType type, uattn_tile_t *out_tile) {
  if (mlirTypeIsNull(type) || !mlirTypeIsAVector(type) ||
      mlirVectorTypeIsScalable(type) || mlirShapedTypeGetRank(type) != 2)
    return false;
  out_tile->rows = mlirShapedTypeGetDimSize(type, 0);
  out_tile->columns = mlirShapedTypeGetDimSize(type, 1);
  out_tile->element = mlirShapedTypeGetElementType(type);
  return true;
}

bool uattn_tile_equals(const uattn_tile_t *a, const uattn_tile_t *b) {
  return a->rows == b->rows && a->columns == b->columns &&
         mlirTypeEqual(a->element, b->element);
}

MlirType uattn_operand_type(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetOperand(op, index));
}

MlirType uattn_result_type(MlirOperation op, intptr_t index) {
  return mlirValueGetType(mlirOperationGetResult(op, index));
}

bool uattn_refuse_type(MlirOperation op, const char *what, MlirType type,
                       const char *wanted) {
  uattn_string_t text = uattn_type_text(type);
  uattn_emit_error(op, "%s is %s: expected %s", what, uattn_string_get(&text),
                   wanted);
  uattn_string_release(&text);
  return false;
}

bool uattn_refuse_tile(MlirOperation op, const char *what, MlirType type,
                       const uattn_tile_t *wanted) {
  uattn_string_t text = {0};
  uattn_string_appendf(&text, "vector<%" PRId64 "x%" PRId64 "x", wanted->rows,
                       wanted->columns);
  mlirTypePrint(wanted->element, uattn_string_append_ref, &text);
  uattn_string_append(&text, ">");
  uattn_refuse_type(op, what, type, uattn_string_get(&text));
  uattn_string_release(&text);
  return false;
}

uattn_tile_t uattn_inner_tile(MlirType type) {
  uattn_tile_t tile = {0};
  UATTN_CHECK(uattn_tile_from_vector(uattn_type_inner(type), &tile));
  return tile;
}

bool uattn_verify_box(MlirOperation op, MlirType map,
                      const uattn_tile_t *tile) {
  uattn_tile_t box = uattn_inner_tile(map);
  if (box.rows <= tile->rows && box.columns > 0 &&
      tile->columns % box.columns == 0 &&
      mlirTypeEqual(box.element, tile->element))
    return true;
  uattn_emit_error(op,
                   "the tensor map's box is %" PRId64 "x%" PRId64
                   " for a tile of %" PRId64 "x%" PRId64
                   ": expected no more rows, a divisor of the columns and "
                   "the same element type",
                   box.rows, box.columns, tile->rows, tile->columns);
  return false;
}

bool uattn_verify_i64(MlirOperation op, const char *name, int64_t least,
                      int64_t multiple) {
  int64_t value = 0;
  if (!uattn_op_get_i64(op, name, &value)) {
    uattn_emit_error(op, "%s is missing or no i64: expected an i64", name);
    return false;
  }
  if (value >= least && value % multiple == 0)
    return true;
  if (multiple == 1)
    uattn_emit_error(op, "%s is %" PRId64 ": expected at least %" PRId64, name,
                     value, least);
  else
    uattn_emit_error(op,
                     "%s is %" PRId64 ": expected a multiple of %" PRId64
                     ", at least %" PRId64,
                     name, value, multiple, least);
  return false;
}

bool uattn_verify_unit(MlirOperation op, const char *name) {
  if (mlirAttributeIsNull(uattn_op_get_attribute(op, name)) ||
      uattn_op_has_unit(op, name))
    return true;
  uattn_emit_error(op, "%s has a value: expected a unit attribute", name);
  return false;
}
